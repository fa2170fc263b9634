/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor expressions: how an operator computes each element. A tensor is a
 * buffer plus the stage that fills it; a LOAD of the buffer reads it. */
#ifndef TIRC_TE_H
#define TIRC_TE_H

#include "func.h"
#include "iterate.h"

struct te_stage;

struct te_tensor {
	struct buffer *buffer;
	struct te_stage *stage; /* NULL for a placeholder */
	int index;              /* index among the outputs of the stage */
};

enum te_kind {
	TE_COMPUTE,
	TE_SCAN,   /* n_axes is 0; see te_scan */
	TE_EXTERN, /* n_axes is 0, or set by te_extern_axes */
	TE_ORDERED /* n_axes is 0; see te_ordered */
};

/* A stage whose stores are done in order. First, start[k] sets all elements of
 * output k; then, for each point of the axes, the stage's stores are done one
 * after the other. Axes of the kind ITER_SCAN run in order. Iterations of axes
 * of the kind ITER_SPATIAL read and write different elements of every output,
 * so that they may run in any order. */
struct te_ordered {
	/* by output k: the TE_COMPUTE stage that initialises it; NULL if the
	 * stores write each element before they read it */
	struct te_stage **start;
	struct iter_var *axes;
	int n_axes;
	struct te_store *stores;
	int n_stores;
	/* the phases, in place of stores (te_ordered_phases) */
	struct te_phase *phases;
	int n_phases;
};

/* A name for a value of a store: later lets, and the store itself, may use
 * it. */
struct te_let {
	struct var *var;
	const struct expr *value;
};

struct te_store {
	int out; /* index among the outputs of the stage */
	/* The lets of a store: the first n_first are defined before the
	 * condition, the next n_then only if the condition holds. */
	const struct te_let *lets;
	int n_first, n_then;
	const struct expr **at; /* one index per dimension */
	/* the stored value; it may load outputs of the stage */
	const struct expr *value;
	/* the condition under which the store is done; NULL: always */
	const struct expr *condition;
	/* a second condition, which may use all lets */
	const struct expr *then;
};

/* One of the loop nests inside of the loops over the axes of a TE_ORDERED
 * stage: either `sum`, or stores. */
struct te_phase {
	const char *name;
	/* a TE_COMPUTE stage, a reduction that computes one of the outputs
	 * anew; NULL if the phase has stores */
	struct te_stage *sum;
	struct iter_var *axes; /* spatial, around the stores */
	int n_axes;
	struct te_store *stores;
	int n_stores;
};

/* A loop along the first dimension of the states. out[k] takes the shape and
 * type of state[k]; state[k] stands for out[k] at earlier times. */
struct te_scan {
	struct te_tensor **init, **update, **state; /* n_out of the stage */
	/* the axis of time: from the first step after the initial states to the
	 * last step */
	struct iter_var axis;
	struct te_stage **body;  /* stages that run once per step, producers
				 * first; the updates among them */
	struct te_body_time {    /* for each body stage: the times at which a
				  * step computes it */
		int first, last; /* the times are relative to the step's time */
	} * times;
	int n_body;
};

/* A statement that fills the outputs from the inputs. Its buffers stand for the
 * inputs, then for the outputs, by position. */
struct te_extern {
	/* the buffers of the stage's n_inputs inputs, then those of its n_out
	 * outputs */
	const struct buffer **views;
	const struct expr *call; /* an expression that is evaluated once;
				      * NULL if there is a func */
	/* a function whose body, without the root block, is the statement */
	struct func *func;
};

/* A stage: out[k][axes] = bodies[k] for each output k. A body is an expression
 * of the axes, or one REDUCE; then all bodies are the same REDUCE, except for
 * its index. */
struct te_stage {
	enum te_kind kind;
	const char *name;
	const char *tag; /* "elementwise", "broadcast", "injective", "reduce",
			  * "conv", …: a hint for comments only */
	struct iter_var *axes; /* spatial, one per dimension */
	int n_axes;
	int n_out;
	struct te_tensor **out;
	const struct expr **bodies;
	/* the tensors that the bodies read, in order of first use */
	struct te_tensor **inputs;
	int n_inputs;
	struct te_scan *scan;       /* TE_SCAN */
	struct te_extern *external; /* TE_EXTERN */
	struct te_ordered *ordered; /* TE_ORDERED */
};

struct te_tensor *te_placeholder(struct module *m, const char *name,
				 struct dtype type, int ndim,
				 const struct expr *const *shape);
/* Makes new spatial axes, one for each dimension d, from 0 to shape[d]. names
 * NULL: "i0", "i1", … */
struct iter_var *te_axes(struct module *m, int ndim,
			 const struct expr *const *shape,
			 const char *const *names);
struct iter_var te_reduce_axis(struct module *m, const char *name,
			       const struct expr *extent);
/* A tensor that has the value of `body` at each point of the axes. inputs:
 * every tensor whose buffer the body loads; the array is copied. */
struct te_tensor *te_compute(struct module *m, const char *name,
			     const char *tag, int n_axes, struct iter_var *axes,
			     const struct expr *body,
			     struct te_tensor *const *inputs, int n_inputs);
/* Several outputs from one reduction; fills out[n]. */
void te_compute_multi(struct module *m, const char *const *names,
		      const char *tag, int n_axes, struct iter_var *axes,
		      const struct expr *const *bodies, int n,
		      struct te_tensor *const *inputs, int n_inputs,
		      struct te_tensor **out);
/* Gives a tensor the name `name`, and also its buffer, and, if the tensor is
 * the stage's first output, its stage. */
void te_rename(struct module *m, struct te_tensor *t, const char *name);
const struct expr *te_at(struct module *m, const struct te_tensor *t,
			 const struct expr *const *index, int n);
/* Appends the expressions in the body of a stage: the body itself; if the body
 * is a reduction, its values, its condition and its initial values. */
void te_body_parts(struct arena *a, const struct expr *body, struct exprs *out);
/* A body that is the sum, maximum, minimum or product of source over axes. */
const struct expr *te_sum(struct module *m, const struct expr *source,
			  struct iter_var *axes, int n_axes);
const struct expr *te_reduce(struct module *m, const struct reducer *r,
			     const struct expr *source, struct iter_var *axes,
			     int n_axes);

/* Sets out[k] to the body of output k of a reduction with the reducer r, for
 * each of its r->n values. condition: the condition under which an iteration is
 * part of the reduction; NULL: every iteration is. Pass all of out[] to
 * te_compute_multi. */
void te_reduce_multi(struct module *m, const struct reducer *r,
		     const struct expr *const *sources, struct iter_var *axes,
		     int n_axes, const struct expr *condition,
		     const struct expr **out);

/* Like te_reduce_multi, but out[k] starts at init[k] instead of the reducer's
 * identity; init NULL: at the identity. init must not use the reduction's
 * axes. */
void te_reduce_from(struct module *m, const struct reducer *r,
		    const struct expr *const *sources, struct iter_var *axes,
		    int n_axes, const struct expr *condition,
		    const struct expr *const *init, const struct expr **out);

/* A reducer that the caller defines, over n values of the types types[i]:
 * te_reducer_declare makes the variables lhs and rhs (names NULL: "x0", "y0",
 * …); the caller computes result[i] and identity[i] of these and passes both to
 * reducer_define, which checks that types fit and that the identity is
 * constant. */
struct reducer *te_reducer_declare(struct module *m, const char *name, int n,
				   const struct dtype *types);
bool te_reducer_define(struct module *m, struct reducer *r,
		       const struct expr *const *result,
		       const struct expr *const *identity, const char **why);

/* te.scan: out[k][t] for t below the extent of init[k]'s first dimension is
 * init[k][t]; after that update[k][t], which may read state[k] at earlier
 * times, directly or through stages between. inputs is not used: te_scan finds
 * the tensors that the scan's bodies read. False after an error: *why then says
 * what is wrong ("problem; what to do"). */
bool te_scan(struct module *m, const char *name, const char *tag,
	     struct te_tensor *const *init, struct te_tensor *const *update,
	     struct te_tensor *const *state, int n,
	     struct te_tensor *const *inputs, int n_inputs,
	     struct te_tensor **out, const char **why);

/* Call this after a change of stages that the scan reads. Finds anew the stages
 * of a step, their times, and the stages that run before the scan. */
bool te_scan_settle(struct module *m, struct te_stage *scan, const char **why);

/* te.extern. Call this first: it makes the outputs (shapes[k] has ndims[k]
 * extents), so that the statement that fills them may name out[k]->buffer. */
void te_extern(struct module *m, const char *name, const char *tag,
	       const struct dtype *types, const int *ndims,
	       const struct expr *const *const *shapes, int n,
	       struct te_tensor *const *inputs, int n_inputs,
	       struct te_tensor **out);
/* Sets the body of a te.extern: either call or func; the other one is NULL.
 * views: the buffers that the body names, first those for the inputs, then
 * those for the outputs; views NULL: the body names the tensors' buffers.
 * False, with the reason in *why, if body and tensors do not fit together. */
bool te_extern_body(struct module *m, struct te_tensor *out,
		    const struct buffer *const *views, const struct expr *call,
		    struct func *func, const char **why);
/* Call this before te_extern_body. The body runs once at each point of these
 * spatial axes. The body may use the variables of the axes, must name the
 * tensors' own buffers, and must store to different elements at each point. */
void te_extern_axes(struct te_tensor *out, struct iter_var *axes, int n_axes);

/* Stages of the kind TE_ORDERED. Call this first: it makes the outputs
 * (shapes[k] has ndims[k] extents), so that stores may name out[k]->buffer. */
void te_ordered(struct module *m, const char *name, const char *tag,
		const char *const *names, const struct dtype *types,
		const int *ndims, const struct expr *const *const *shapes,
		int n, struct te_tensor **out);
/* Output `out` starts as value, an expression of axes, which are spatial, one
 * per dimension. */
void te_ordered_start(struct module *m, struct te_tensor *out,
		      struct iter_var *axes, const struct expr *value);
/* Call this last: it sets the stores. inputs: every tensor that a store or a
 * start loads (copied; tensors that are not loaded are left out). */
void te_ordered_stores(struct module *m, struct te_tensor *out,
		       struct iter_var *axes, int n_axes,
		       const struct te_store *stores, int n_stores,
		       struct te_tensor *const *inputs, int n_inputs);

/* Like te_ordered_stores, but with phases in place of stores: for each point of
 * the axes, which are all of the kind ITER_SCAN, the phases are done one after
 * the other, each to its end. The phases become blocks inside of one block for
 * the step.
 *
 *	for t in order:
 *		for j, k: gates[j] += h[k] * r[k, j]
 *		for j: h[j] = tanh(x[t, j] + gates[j]) */
void te_ordered_phases(struct module *m, struct te_tensor *out,
		       struct iter_var *axes, int n_axes,
		       const struct te_phase *phases, int n_phases,
		       struct te_tensor *const *inputs, int n_inputs);
/* A phase that computes sums: out[axes] = body, where body is a REDUCE over
 * axes other than the outer axes and `axes`. */
struct te_phase te_phase_sum(struct module *m, struct te_tensor *out,
			     const char *name, struct iter_var *axes,
			     const struct expr *body);

/* Can te_to_func build a function with these parameters? Every placeholder that
 * is read must be a parameter or the state of a scan, every extern must have a
 * body. If not, false, with the reason in *why. */
bool te_check_params(struct module *m, struct te_tensor *const *params, int n,
		     const char **why);

/* The phase-0 function with the given parameters (placeholders and outputs, in
 * the order of the signature). Stages between these become buffers of the root
 * block. The size variables in use are appended as scalar parameters, in order
 * of first use. Each stage becomes a block, with a unique name made from the
 * stage's name; a reduction becomes a block with an init. */
struct func *te_to_func(struct module *m, const char *name,
			struct te_tensor *const *params, int n_params);

/* The block that a TE_COMPUTE stage became. */
struct te_block {
	const struct te_stage *stage;
	int block; /* the id of the block's statement */
};

struct te_blocks {
	struct te_block *data;
	int n, cap;
};

/* Like te_to_func; also adds the block of each TE_COMPUTE stage to the list.
 * Names of stages may be equal, and stages of a scan may share its result, so
 * only this list tells which block belongs to which stage. */
struct func *te_to_func_blocks(struct module *m, const char *name,
			       struct te_tensor *const *params, int n_params,
			       struct te_blocks *blocks);

/* Replaces in e the loads of t, whose stage has no reduction, by the body of
 * the stage. */
const struct expr *te_inline(struct module *m, const struct expr *e,
			     const struct te_tensor *t);

#endif
