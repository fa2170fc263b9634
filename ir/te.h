/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor expressions: how an operator computes each element. A tensor is a
 * buffer plus the stage that fills it; a LOAD of the buffer reads it. */
#ifndef TIRC_IR_TE_H
#define TIRC_IR_TE_H

#include "func.h"

struct te_stage;

struct te_tensor {
	const struct buffer *buffer;
	struct te_stage *stage; /* NULL: a placeholder */
	int index;              /* which output of the stage */
};

/* out[k][axes] = bodies[k]. A body is an expression of the axes, or one
 * REDUCE (all bodies the same reduction, differing in its index). */
struct te_stage {
	const char *name;
	const char *tag; /* "elementwise", "broadcast", "injective", "reduce",
			  * "conv", …: a hint for comments only */
	struct iter_var *axes; /* spatial, one per dimension */
	int n_axes;
	int n_out;
	struct te_tensor **out;
	const struct expr **bodies;
	struct te_tensor **inputs; /* tensors read, in order of first use */
	int n_inputs;
};

struct te_tensor *te_placeholder(struct module *m, const char *name,
				 struct dtype type, int ndim,
				 const struct expr *const *shape);
/* Fresh spatial axes 0..shape[d); names NULL: "i0", "i1", … */
struct iter_var *te_axes(struct module *m, int ndim,
			 const struct expr *const *shape,
			 const char *const *names);
struct iter_var te_reduce_axis(struct module *m, const char *name,
			       const struct expr *extent);
/* inputs: every tensor whose buffer the body loads (copied). */
struct te_tensor *te_compute(struct module *m, const char *name,
			     const char *tag, int n_axes,
			     struct iter_var *axes, const struct expr *body,
			     struct te_tensor *const *inputs, int n_inputs);
/* Several outputs from one reduction; fills out[n]. */
void te_compute_multi(struct module *m, const char *const *names,
		      const char *tag, int n_axes, struct iter_var *axes,
		      const struct expr *const *bodies, int n,
		      struct te_tensor *const *inputs, int n_inputs,
		      struct te_tensor **out);
/* Names a tensor, its buffer and (first output) its stage in place. */
void te_rename(struct module *m, struct te_tensor *t, const char *name);
const struct expr *te_at(struct module *m, const struct te_tensor *t,
			 const struct expr *const *index, int n);
/* sum/max/min/prod of source over axes. */
const struct expr *te_sum(struct module *m, const struct expr *source,
			  struct iter_var *axes, int n_axes);
const struct expr *te_reduce(struct module *m, const struct reducer *r,
			     const struct expr *source,
			     struct iter_var *axes, int n_axes);

/* The phase-0 function of the given parameters (placeholders and outputs, in
 * signature order); stages in between become buffers of the root block. The
 * size variables in use are appended as scalar parameters, in order of first
 * use. One block per stage, named after it (unique); reductions with init. */
struct func *te_to_func(struct module *m, const char *name,
			struct te_tensor *const *params, int n_params);

/* Substitutes a stage without reduction into an expression that loads it. */
const struct expr *te_inline(struct module *m, const struct expr *e,
			     const struct te_tensor *t);

#endif
