/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by the files of gen/program/, beside the evaluator's. */
#ifndef TIRC_PROGRAM_PARTS_H
#define TIRC_PROGRAM_PARTS_H

#include "eval.h"

struct pv_names {
	const char **data;
	int n, cap;
};

int64_t range_length(const struct pv_range *r);
/* Compares: -1, 0, 1; 2: unordered; 3: not comparable. */
int pv_order(const struct pval *x, const struct pval *y, int depth);
void dict_set(struct eval *ev, struct pv_dict *d, const struct pval *key,
	      const struct pval *value);
/* NULL: no such key. */
const struct pval *dict_get(struct eval *ev, const struct pv_dict *d,
			    const struct pval *key);
bool eval_closure(struct eval *ev, struct scope *s, const struct py_node *e,
		  const char *name, struct pval *out);

bool module_attribute(struct eval *ev, struct py_span at, unsigned in,
		      const char *name, struct pval *out);

/* -- elements of built-in values -- */
/* Is part of e a reduction? */
bool te_contains_reduce(const struct expr *e);
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
/* "i_0" or the block's name; the script of a function, module, trace. */
void handle_text(struct eval *ev, const struct pval *v, struct strbuf *out);
void pv_script_text(struct eval *ev, const struct pval *v, struct strbuf *out);
/* An operator of Python, or a name of topi, on whole tensors. */
bool topi_operator(struct eval *ev, struct py_span at, const char *op,
		   const struct pval *x, const struct pval *y,
		   struct pval *out);

/* The operator of that name, as names.def, topi.def and Python's math name it,
 * on expressions. */
bool expr_named_operator(struct call *c, const char *name, const struct pval *x,
			 const struct pval *y, struct pval *out);
bool expr_bit_operator(struct eval *ev, struct py_span at, enum intrin op,
		       const struct pval *x, const struct pval *y,
		       struct pval *out);
/* An operator of topi with two operands. */
bool topi_broadcast(struct call *c, const char *op, struct pval *out);
/* Places the diagnostics of a graph's node, from number `first` on, at the
 * call. Returns false. */
bool topi_locate(struct call *c, int first);

/* -- schedules -- */

/* One function of a module, being scheduled. */
struct work {
	struct sched sched;
	struct func *plain; /* before the schedule */
	bool named;
};

struct tir_schedule {
	VEC(struct work) works;
	int current; /* the function that get_block searches */
	bool single; /* made from a function, not a module */
};

const struct name_row *schedule_method(struct eval *ev, const char *name);
void schedule_names(struct arena *a, struct pv_names *list);
void schedule_text(struct eval *ev, const struct pval *v, struct strbuf *out);
/* Adds the results of the schedules, at the end of the program. */
void schedule_finish(struct eval *ev);
/* Reports the last failure of s at a place. Returns false. */
bool schedule_error(struct eval *ev, struct py_span at, struct sched *s);
/* Are f's expressions still small enough to be printed? Else reported. */
bool schedule_fits(struct eval *ev, struct py_span at, const char *primitive,
		   const struct func *f);
/* Loads the embedded intrinsic that a schedule names. False after errors in its
 * description. */
bool schedule_instruction(struct eval *ev, const char *name);
/* The function of a schedule of stages; the call's second argument lists the
 * parameters. */
bool stage_to_func(struct call *c, struct te_schedule *s, const char *name,
		   struct program_func *out);

/* -- results -- */
void remember_func(struct eval *ev, const struct program_func *f);
/* Outputs text of the program. False, reported: there is too much. */
bool print_bytes(struct eval *ev, struct py_span at, const char *text,
		 size_t n);
bool print_text(struct eval *ev, struct py_span at, const char *text);

/* Operators under the names of topi; those of topi.nn if nn. */
void topi_list(struct arena *a, bool nn, struct pv_names *list);
const struct name_row *topi_find(struct eval *ev, const char *name, bool nn);

/* The functions of names.def. */
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
