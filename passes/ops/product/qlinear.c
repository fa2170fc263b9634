/* SPDX-License-Identifier: Apache-2.0 */
/* Quantized operators that include requantization: an integer sum, then
 *
 *	y = saturate(round(sum * x_scale * w_scale / y_scale) + y_zero)
 *
 * and dynamic quantization, whose scale comes from the data. */
#include "define.h"

/* round(e) + zero in the type of the output. */
static const struct expr *
requantised(struct define *c, const struct expr *e, const struct expr *zero,
	    struct dtype type)
{
	struct module *m = c->module;

	e = expr_add(m, expr_call1(m, INTRIN_NEARBYINT, e),
		     expr_cast(m, e->type, zero));
	return expr_call(m, INTRIN_TO_INT, type, &e, 1);
}

/* Requantizes an integer sum. The node's inputs are x, w and y, each with scale
 * and zero point, and a bias. If the scales and zero points of x and y are
 * vectors, the index in dimension `row` of the result selects their elements;
 * if those of w are vectors, the index in dimension `channel` does. -1: they
 * are scalars. */
static struct te_tensor *
requantise(struct define *c, const struct node *n, struct te_tensor *const *in,
	   struct te_tensor *sum, int row, int channel)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	struct dtype f = dtype_of(DT_F32);
	struct iter_var *axes = define_axes(c, y);
	const struct expr **index = axes_exprs(c, axes, y->ndim);
	const struct expr *at = channel >= 0 ? index[channel] : NULL;
	const struct expr *rows = row >= 0 ? index[row] : NULL;
	const struct expr *e = te_at(m, sum, index, y->ndim), *scale;

	if (node_input(n, 8)) {
		e = expr_add(m, e,
			     expr_cast(m, e->type, te_at(m, in[8], &at, 1)));
	}
	scale = expr_mul(m, expr_cast(m, f, define_param(c, n, 1, in, rows, f)),
			 expr_cast(m, f, define_param(c, n, 4, in, at, f)));
	scale = expr_div(m, scale,
			 expr_cast(m, f, define_param(c, n, 6, in, rows, f)));
	e = expr_mul(m, expr_cast(m, f, e), scale);
	e = requantised(c, e, define_param(c, n, 7, in, rows, y->type),
			y->type);
	return define_stage(c, "requantize", "broadcast", y->ndim, axes, e);
}

bool
define_qlinear_conv(struct define *c, const struct node *n,
		    struct te_tensor *const *in, struct te_tensor **out)
{
	static const struct conv_inputs which = { 3, 2, 5, NULL };
	struct te_tensor *sum = define_integer_conv(c, n, &which, in);

	if (!sum) {
		return false;
	}
	out[0] = requantise(c, n, in, sum, -1, 1);
	return true;
}

bool
define_qlinear_matmul(struct define *c, const struct node *n,
		      struct te_tensor *const *in, struct te_tensor **out)
{
	struct te_tensor *sum = define_integer_product(c, n, in, 3, 2, 5);
	int rank = n->outputs[0]->ndim;
	bool columns = n->inputs[3]->ndim > 1, rows = n->inputs[0]->ndim > 1;

	if (!sum) {
		return false;
	}
	out[0] = requantise(c, n, in, sum, rows ? rank - 1 - columns : -1,
			    columns ? rank - 1 : -1);
	return true;
}

/* ---- DynamicQuantizeLinear ---- */

bool
infer_dynamic_quantize(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];

	infer_set(c, n->outputs[0], dtype_of(DT_U8), x->ndim, x->shape);
	infer_set(c, node_output(n, 1), x->type, 0, NULL);
	infer_set(c, node_output(n, 2), dtype_of(DT_U8), 0, NULL);
	return true;
}

static const struct expr *
extreme_of_all(struct define *c, struct te_tensor *x, bool max)
{
	struct module *m = c->module;
	bool *reduced = arena_array(&m->arena, bool, x->buffer->ndim + 1);
	struct dtype t = x->buffer->type;
	struct te_tensor *stage;
	struct reduce_plan p;
	const struct expr *e;

	memset(reduced, 1, (size_t)x->buffer->ndim);
	p = reduce_plan(c, x, reduced, false);
	e = te_at(m, x, p.at, x->buffer->ndim);
	if (p.n_over > 0) {
		stage = define_stage(c, max ? "max" : "min", "reduce", 0,
				     p.axes,
				     te_reduce(m, reducer_extreme(m, t, max), e,
					       p.over, p.n_over));
		e = te_at(m, stage, NULL, 0);
	}
	return max ? expr_max(m, e, like(c, e, 0))
		   : expr_min(m, e, like(c, e, 0));
}

/* The scale maps the range of the data, extended to contain 0, to 0…255. */
bool
define_dynamic_quantize(struct define *c, const struct node *n,
			struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	struct dtype u8 = dtype_of(DT_U8);
	const struct expr *high = extreme_of_all(c, in[0], true);
	const struct expr *low = extreme_of_all(c, in[0], false);
	const struct expr *range = expr_sub(m, high, low), *e, *scale;
	struct te_tensor *scales, *zero;
	struct iter_var *axes;

	e = expr_select(m, expr_eq(m, range, like(c, range, 0)),
			like(c, range, 1),
			expr_div(m, range, like(c, range, 255)));
	scales = define_stage(c, "scale", "elementwise", 0, NULL, e);
	scale = te_at(m, scales, NULL, 0);
	e = expr_call1(m, INTRIN_NEARBYINT,
		       expr_div(m, expr_sub(m, like(c, low, 0), low), scale));
	zero = define_stage(c, "zero", "elementwise", 0, NULL,
			    expr_call(m, INTRIN_TO_INT, u8, &e, 1));
	axes = define_axes(c, y);
	e = te_at(m, in[0], axes_exprs(c, axes, y->ndim), y->ndim);
	e = requantised(c, expr_div(m, e, scale), te_at(m, zero, NULL, 0), u8);
	out[0] = define_stage(c, "quantize", "broadcast", y->ndim, axes, e);
	if (node_output(n, 1)) {
		out[1] = scales;
	}
	if (node_output(n, 2)) {
		out[2] = zero;
	}
	return true;
}
