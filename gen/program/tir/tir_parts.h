/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules of blocks and loops as values of programs, and the library tir. */
#ifndef TIRC_TIR_PARTS_H
#define TIRC_TIR_PARTS_H

#include "library.h"

/* One function of a tir.Schedule, with the state of its schedule. */
struct work {
	struct sched sched;
	struct func *plain; /* the function before the schedule */
	bool named;         /* the program gave the function its name */
	int line, col;      /* where the program made the schedule */
};

/* tir.Schedule of a program, with the functions that it schedules. */
struct tir_schedule {
	VEC(struct work) works;
	int current;       /* index of the function that get_block searches */
	bool single;       /* made from a single function, not from a module */
	bool from_outside; /* the program is a trace (trace_read_python), which
			    * may use every intrinsic */
};

/* The values of struct library and struct kind_ops (library.h): methods are also
 * the primitives. handle_text: the name of a handle's block or loop, "i_0". */
const struct name_row *schedule_method(struct eval *ev, uint64_t in,
				       enum pv_kind of, const char *name);
void schedule_names(struct eval *ev, uint64_t in, enum pv_kind of,
		    struct pv_names *list);
void handle_text(struct eval *ev, const struct pval *v, bool repr,
		 struct strbuf *out);
/* Appends the script of a schedule or a trace. */
void schedule_text(struct eval *ev, const struct pval *v, struct strbuf *out);
/* At the end of the program, adds the scheduled functions to its result. */
void schedule_finish(struct eval *ev);
/* Reports the last failure of the schedule s at a position in the program;
 * step: with the number and name of the failed step. Returns false. */
bool schedule_error(struct eval *ev, struct py_span at, struct sched *s,
		    bool step);
/* Counts the steps of evaluation that a primitive costs, which walks through
 * the function f: fewer for a query than for one that changes f. False after an
 * error if no steps are left. */
bool schedule_tick(struct eval *ev, struct py_span at, const struct func *f,
		   bool is_query);
/* Are the expressions of f still small enough to print after the primitive of
 * this name? False after an error. */
bool schedule_fits(struct eval *ev, struct py_span at, const char *primitive,
		   const struct func *f);
/* Loads the embedded intrinsic that a schedule names. False after errors in its
 * files. */
bool schedule_instruction(struct eval *ev, const char *name);

#define NAME(in, kind, name, params, function) name_fn function;
#include "tir.def"
#undef NAME

extern const struct library tir_library;
extern const struct kind_ops handle_ops; /* BLOCK, LOOP */
extern const struct kind_ops stmt_ops;

#endif
