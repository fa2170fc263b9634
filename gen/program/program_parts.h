/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of gen/program/ share, besides the evaluator's
 * (eval.h). */
#ifndef TIRC_PROGRAM_PARTS_H
#define TIRC_PROGRAM_PARTS_H

#include "eval.h"

struct pv_names {
	const char **data;
	int n, cap;
};

/* The number of elements of a range. */
int64_t range_length(const struct pv_range *r);
/* dict_set() gives a key a value, dict_get() sets *out to the value of a key,
 * or to NULL if the dict does not have it. False after an error, since the
 * search counts steps. */
bool dict_set(struct eval *ev, struct py_span at, struct pv_dict *d,
	      const struct pval *key, const struct pval *value);
bool dict_get(struct eval *ev, struct py_span at, const struct pv_dict *d,
	      const struct pval *key, const struct pval **out);
/* Removes a key, which the dict must have. */
bool dict_delete(struct eval *ev, struct py_span at, struct pv_dict *d,
		 const struct pval *key);
/* Appends n items to a list. False after an error if it becomes too long. */
bool list_add(struct eval *ev, struct py_span at, struct pv_list *list,
	      const struct pval *items, int n);
/* Reverses the order of n values. */
void pv_reverse(struct pval *items, int n);
/* Reports that tirc has no module of this name, with the nearest one, or with
 * all. Returns false. */
bool names_absent(struct eval *ev, struct py_span at, const char *path);
/* Makes the function of e, a lambda or def, in the scope s: evaluates the
 * defaults of its parameters. */
bool eval_closure(struct eval *ev, struct scope *s, const struct py_node *e,
		  const char *name, struct pval *out);

/* Has the scope itself the name? scope_delete also removes it. */
bool scope_has(const struct scope *s, const char *name);
bool scope_delete(struct scope *s, const char *name);

bool module_attribute(struct eval *ev, struct py_span at, uint64_t in,
		      const char *name, struct pval *out);

/* -- elements of built-in values -- */
bool te_call_reducer(struct eval *ev, struct py_span at, const struct pval *f,
		     const struct call_args *args, struct pval *out);
bool te_index(struct eval *ev, struct py_span at, const struct pval *of,
	      const struct pval *index, int n, struct pval *out);
bool te_schedule_stage(struct eval *ev, struct py_span at,
		       const struct pval *of, const struct pval *index,
		       struct pval *out);
bool module_function(struct eval *ev, struct py_span at, const struct pval *of,
		     const struct pval *name, struct pval *out);
bool module_set(struct eval *ev, struct py_span at, const struct pval *of,
		const struct pval *name, const struct pval *f);
/* These append the text that print shows for a value. handle_text: for a handle
 * of a schedule, the name of its loop, "i_0", or of its block. pv_script_text:
 * for a function, module or trace, its script. */
void handle_text(struct eval *ev, const struct pval *v, struct strbuf *out);
void pv_script_text(struct eval *ev, const struct pval *v, struct strbuf *out);
/* Applies an operator of Python, or a function of topi, to whole tensors. */
bool topi_operator(struct eval *ev, struct py_span at, const char *op,
		   const struct pval *x, const struct pval *y,
		   struct pval *out);

/* Calls a function of ir/typed by its name. args: by parameter; those of *args
 * follow. */
bool expr_function(struct call *c, const char *name, const struct pval *args,
		   int n, struct pval *out);
/* Applies an operator of topi to the two arguments of the call, element by
 * element. */
bool topi_broadcast(struct call *c, const char *op, struct pval *out);
/* Gives the errors from index `first` on the position of the call: they are
 * about the node that a function of topi made. Returns false. */
bool topi_locate(struct call *c, int first);

/* -- schedules -- */

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

const struct name_row *schedule_method(struct eval *ev, const char *name);
void schedule_names(struct arena *a, struct pv_names *list);
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
/* Lowers a schedule of stages to a function; the second argument of the call
 * lists the parameters. */
bool stage_to_func(struct call *c, struct te_schedule *s, const char *name,
		   struct program_func *out);

/* Reads argument i of the call, a target or its text. False after an error. */
bool read_target(struct call *c, int i, struct pv_target *out);
/* relay_values.h: calls a value of kind PASS. */
bool pass_call(struct eval *ev, struct py_span at, const struct pval *f,
	       const struct call_args *args, struct pval *out);

/* -- results -- */
/* Appends a function to the program's result, unless it has it already. */
void remember_func(struct eval *ev, const struct program_func *f);
/* Passes text that the program prints to the callback of its options. False
 * after an error if it is too much. */
bool print_bytes(struct eval *ev, struct py_span at, const char *text,
		 size_t n);
bool print_text(struct eval *ev, struct py_span at, const char *text);

/* Appends the names of the functions in topi to the list; nn: of those in
 * topi.nn. */
void topi_list(struct arena *a, bool nn, struct pv_names *list);
const struct name_row *topi_find(struct eval *ev, const char *name, bool nn);

/* Declares the functions in names.def. */
#define FUNCTION(in, name, params, function) name_fn function;
#define METHOD(kind, name, params, function) name_fn function;
#define ATTRIBUTE(kind, name, function) name_fn function;
#define ATTRIBUTE_OF(in, name, function) name_fn function;
#include "names.def"
#undef FUNCTION
#undef METHOD
#undef ATTRIBUTE
#undef ATTRIBUTE_OF

#endif
