/* SPDX-License-Identifier: Apache-2.0 */
/* MaxUnpool, the inverse of a MaxPool with indices (input 1):
 *
 *	y[n, c, h, w] = x[n, c, ph, pw] if indices[n, c, ph, pw] is the
 *	flat position of (n, c, h, w), else 0
 *
 * The flat position refers to the tensor for which the indices were computed:
 * the input of the MaxPool, if it is in the graph; else a tensor of the size
 * that follows from the windows. Input 2 may make y larger.
 *
 * Only windows that contain (h, w) are read. An index of an element outside of
 * its window cannot come from a MaxPool, and is ignored. */
#include "window.h"

static bool
unpool_window(struct infer *c, struct module *m, const struct node *n,
	      struct window *w)
{
	const char *wrong = window_of_node(m, n, NULL, true, w);

	return !wrong || infer_error(c, DIAG_BAD_ATTRIBUTE, "%s", wrong);
}

bool
infer_max_unpool(struct infer *c, struct node *n)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0], *index = n->inputs[1];
	const struct expr *const *sizes;
	const struct expr *shape[2 + WINDOW_MAX];
	struct window w;
	int count;

	if (!unpool_window(c, m, n, &w)) {
		return false;
	}
	if (index->ndim != x->ndim || index->type.kind != DT_I64) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "the indices do not have the type and "
				   "rank that MaxPool returns; pass its "
				   "second output");
	}
	for (int d = 0; d < x->ndim; d++) {
		if (!dims_equal(c, index->shape[d], x->shape[d])) {
			return infer_error(c, DIAG_BAD_SHAPE,
					   "dimension %d of the indices "
					   "differs from that of the input; "
					   "correct the shapes",
					   d);
		}
		shape[d] = d < 2 ? x->shape[d] : w.out[d - 2];
	}
	if (node_input(n, 2)) {
		if (!input_elems(m, n, 2, &sizes, &count) || count != x->ndim) {
			return infer_error(c, DIAG_UNKNOWN_SHAPE,
					   "output_shape must be a constant "
					   "with one size per dimension; "
					   "make it constant");
		}
		for (int d = 0; d < x->ndim; d++) {
			if (d < 2 && !dims_equal(c, sizes[d], x->shape[d])) {
				return infer_error(
					c, DIAG_BAD_SHAPE,
					"dimension %d of output_shape differs "
					"from that of the input; correct it",
					d);
			}
			shape[d] = sizes[d];
		}
	}
	infer_set(c, n->outputs[0], x->type, x->ndim, shape);
	return true;
}

/* The size of spatial dimension d in the tensor into which the indices point:
 * the input of the MaxPool that computes them, or else w->out. */
static const struct expr *
indexed_size(const struct node *n, const struct window *w, int d)
{
	const struct tensor *index = n->inputs[1];
	const struct node *pool = index->producer != NULL ? index->producer
							  : index->made_by;

	return pool != NULL && strcmp(pool->op_type, "MaxPool") == 0
		       ? pool->inputs[0]->shape[2 + d]
		       : w->out[d];
}

/* A reducer that takes the last value that is not 0. If windows overlap,
 * several of them may have the index of the same element, each with the value
 * of this element, which must be stored once and not summed. */
static const struct reducer *
reducer_once(struct module *m, struct dtype t)
{
	struct reducer *r = arena_copy(&m->arena, reducer_max(m, t), sizeof *r);
	const struct expr *zero = expr_const(m, t, 0);

	r->name = "once";
	r->result = arena_exprs(&m->arena, 1);
	r->identity = arena_exprs(&m->arena, 1);
	r->result[0] = expr_select(m, expr_eq(m, r->rhs[0]->expr, zero),
				   r->lhs[0]->expr, r->rhs[0]->expr);
	r->identity[0] = zero;
	return r;
}

static bool
windows_overlap(const struct window *w)
{
	for (int d = 0; d < w->n; d++) {
		if (w->kernel[d] > w->stride[d]) {
			return true;
		}
	}
	return false;
}

bool
define_max_unpool(struct define *c, const struct node *n,
		  struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	struct dtype i64 = dtype_of(DT_I64);
	struct iter_var *axes, taps[WINDOW_MAX];
	const struct expr *at[2 + WINDOW_MAX], *position, *e;
	const struct expr *inside = expr_bool(m, true), *zero = expr_i32(m, 0);
	struct window w;

	if (!unpool_window(NULL, m, n, &w)) {
		return false;
	}
	axes = window_axes(c, &w, y, "c");
	at[0] = axes[0].var->expr;
	at[1] = axes[1].var->expr;
	position = expr_add(m, expr_mul(m, at[0], y->shape[1]), at[1]);
	position = expr_cast(m, i64, position);
	for (int d = 0; d < w.n; d++) {
		const struct expr *o = axes[2 + d].var->expr;
		const struct expr *stride = expr_i32(m, w.stride[d]), *first;

		position = expr_add(m,
				    expr_mul(m, position,
					     indexed_size(n, &w, d)),
				    o);
		taps[d] = te_reduce_axis(m, window_axis_name(m, &w, d, "t"),
					 expr_i32(m,
						  (w.kernel[d] + w.stride[d] -
						   1) / w.stride[d]));
		first = expr_floordiv(m,
				      expr_add(m, window_index(m, &w, d, o),
					       w.begin[d]),
				      stride);
		at[2 + d] = expr_sub(m, first, taps[d].var->expr);
		inside = expr_and(m, inside, expr_lt(m, o, w.out[d]));
		inside = expr_and(m, inside, expr_le(m, zero, at[2 + d]));
		inside = expr_and(m, inside, expr_lt(m, at[2 + d], w.in[d]));
	}
	inside = expr_and(m, inside,
			  expr_eq(m, te_at(m, in[1], at, y->ndim), position));
	e = expr_if(m, inside, te_at(m, in[0], at, y->ndim),
		    expr_const(m, y->type, 0));
	e = windows_overlap(&w)
		    ? te_reduce(m, reducer_once(m, y->type), e, taps, w.n)
		    : te_sum(m, e, taps, w.n);
	out[0] = define_stage(c, "unpool", "pool", y->ndim, axes, e);
	return true;
}
