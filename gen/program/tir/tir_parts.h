/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules of blocks and loops as values of programs, and the library tir. */
#ifndef TIRC_TIR_PARTS_H
#define TIRC_TIR_PARTS_H

#include "library.h"

/* A function of a tir.Schedule, with the state of the function's schedule. */
struct work {
	struct sched sched;
	struct func *plain; /* the function before the schedule */
	bool named;         /* the program gave the function its name */
	/* the position of the program's call of tir.Schedule */
	int line, col;
};

/* A tir.Schedule of a program: the functions that it schedules. */
struct tir_schedule {
	VEC(struct work) works;
	/* the index of the function in which get_block searches */
	int current;
	/* the schedule was made from a single function, not from a module */
	bool single;
	/* the program is a trace (trace_read_python), which may use any
	 * intrinsic */
	bool from_outside;
};

/* Functions of struct library and struct kind_ops (library.h). schedule_method
 * and schedule_names add the primitives to the methods of a schedule.
 * handle_text appends the name of the block or loop of a handle, such as
 * "i_0". */
const struct name_row *schedule_method(struct eval *ev, uint64_t in,
				       enum pv_kind of, const char *name);
void schedule_names(struct eval *ev, uint64_t in, enum pv_kind of,
		    struct pv_names *list);
void handle_text(struct eval *ev, const struct pval *v, bool repr,
		 struct strbuf *out);
/* Appends the text that print() shows for v, a schedule or a trace. */
void schedule_text(struct eval *ev, const struct pval *v, struct strbuf *out);
/* Called at the end of the program: adds the scheduled functions to its
 * result. */
void schedule_finish(struct eval *ev);
/* Reports the last failure of the schedule s at a position in the program.
 * step: with the number and the name of the failed step. Returns false. */
bool schedule_error(struct eval *ev, struct py_span at, struct sched *s,
		    bool step);
/* Counts the steps for a primitive that visits the function f; a query costs
 * fewer steps than a change of f. Returns false after an error if no steps are
 * left. */
bool schedule_tick(struct eval *ev, struct py_span at, const struct func *f,
		   bool is_query);
/* Are the expressions of f still small enough to print after the primitive was
 * applied? Only primitives that inline are checked. Returns false after an
 * error otherwise. */
bool schedule_fits(struct eval *ev, struct py_span at, const char *primitive,
		   const struct func *f);
/* Loads the embedded tensor intrinsic that a schedule names. Returns false
 * after errors in its files. */
bool schedule_instruction(struct eval *ev, const char *name);

#define NAME(in, kind, name, params, function) name_fn function;
#include "tir.def"
#undef NAME

extern const struct library tir_library;
extern const struct kind_ops handle_ops; /* for BLOCK and LOOP */
extern const struct kind_ops stmt_ops;

#endif
