/* SPDX-License-Identifier: Apache-2.0 */
/* GridSample, and the samples of DeformConv: elements of an image at computed
 * positions. All channels have the same positions:
 *
 *	for n, oh, ow:
 *		y, x = grid[n, oh, ow]
 *		y0, x0 = floor(y), floor(x)
 *		for c: out[n, c, oh, ow] = weights * image[n, c, y0.., x0..] */
#include "sampler.h"
#include "window.h"

static int
taps_of(const struct node *n)
{
	const char *mode = node_attr_string(n, "mode", "linear");

	return strcmp(mode, "nearest") == 0 ? 1
	       : strcmp(mode, "linear") == 0 || strcmp(mode, "bilinear") == 0
		       ? 2
	       : strcmp(mode, "cubic") == 0 || strcmp(mode, "bicubic") == 0 ? 4
									    : 0;
}

/* -1: the mode is not known. */
static int
padding_of(const struct node *n)
{
	static const char *const names[] = { "zeros", "border", "reflection" };
	const char *mode = node_attr_string(n, "padding_mode", "zeros");

	for (int k = 0; k < 3; k++) {
		if (strcmp(mode, names[k]) == 0) {
			return k;
		}
	}
	return -1;
}

bool
infer_grid_sample(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0], *grid = n->inputs[1];
	int rank = x->ndim - 2;
	const struct expr *shape[2 + SAMPLER_MAX];

	if (!taps_of(n) || padding_of(n) < 0) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "its mode or padding_mode is not known; "
				   "correct the model");
	}
	if (!infer_form(c, n, 0, TYPES_NUMBER, 3, 2 + SAMPLER_MAX) ||
	    !infer_form(c, n, 1, TYPES_FLOAT, x->ndim, x->ndim)) {
		return false;
	}
	if (!dims_may_equal(grid->shape[rank + 1], expr_i32(c->module, rank)) ||
	    !dims_may_equal(grid->shape[0], x->shape[0])) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "the grid does not have one position of %d "
				   "numbers for each result; correct its shape",
				   rank);
	}
	for (int d = 0; d < rank + 2; d++) {
		shape[d] = d < 2 ? x->shape[d] : grid->shape[d - 1];
	}
	infer_set(c, n->outputs[0], x->type, x->ndim, shape);
	return true;
}

/* x between low and high, also for NaN. */
static const struct expr *
clamp(struct module *m, const struct expr *x, const struct expr *low,
      const struct expr *high)
{
	x = expr_call2(m, INTRIN_FMAX, x, low);
	return expr_select(m, expr_lt(m, high, x), high, x);
}

/* Reflects a position at the ends of [low, high]. */
static const struct expr *
reflect(struct step_names *names, const char *axis, const struct expr *x,
	const struct expr *low, const struct expr *high)
{
	struct module *m = names->s->m;
	struct arena *a = &m->arena;
	struct dtype t = x->type;
	const struct expr *half = expr_float(m, t, 0.5), *far, *times, *rest;
	const struct expr *range = expr_sub(m, high, low), *even;

	if (range->kind == EXPR_FLOAT && range->u.fval == 0) {
		return low;
	}
	far = step_name(names, arena_printf(a, "%s_far", axis),
			expr_call1(m, INTRIN_ABS, expr_sub(m, x, low)));
	times = step_name(names, arena_printf(a, "%s_times", axis),
			  expr_call1(m, INTRIN_FLOOR, expr_div(m, far, range)));
	rest = expr_sub(m, far, expr_mul(m, times, range));
	even = expr_mul(m, times, half);
	even = expr_eq(m, expr_call1(m, INTRIN_FLOOR, even), even);
	return expr_select(m, even, expr_add(m, low, rest),
			   expr_sub(m, high, rest));
}

/* The position in dimension d that the grid gives, brought to the image. */
static const struct expr *
grid_position(struct step_names *names, const struct node *n, int rank, int d,
	      const struct expr *given, const struct expr *size)
{
	struct module *m = names->s->m;
	const char *axis = sampler_axis(m, rank, d);
	struct dtype t = accumulator_type(given->type);
	bool align = node_attr_int(n, "align_corners", 0) != 0;
	const struct expr *one = expr_float(m, t, 1);
	const struct expr *half = expr_float(m, t, 0.5);
	const struct expr *zero = expr_float(m, t, 0);
	const struct expr *length = expr_cast(m, t, size), *x, *low, *high;
	const struct expr *last = expr_sub(m, length, one), *inner;
	int taps = taps_of(n);

	x = expr_add(m, expr_cast(m, t, given), one);
	if (align) {
		x = expr_mul(m, expr_mul(m, x, half), last);
	} else {
		x = expr_mul(m, expr_sub(m, expr_mul(m, x, length), one), half);
	}
	if (taps == 1) {
		x = expr_call1(m, INTRIN_NEARBYINT, x);
	}
	x = step_name(names, arena_printf(&m->arena, "%s_grid", axis), x);
	switch (padding_of(n)) {
	case PADDING_ZEROS:
		/* Farther positions have no tap inside, either. */
		low = expr_float(m, t, -3);
		high = expr_add(m, length, expr_float(m, t, 2));
		x = clamp(m, x, low, high);
		break;
	case PADDING_BORDER:
		/* Half an element outside, both taps are the border's, each
		 * with half of the weight. */
		low = expr_float(m, t, -0.5);
		high = expr_sub(m, length, half);
		inner = taps == 2 ? clamp(m, x, low, high)
				  : clamp(m, x, zero, last);
		if (taps == 4 && !align) {
			/* A position up to half an element outside stays. */
			inner = expr_select(m,
					    expr_and(m, expr_le(m, low, x),
						     expr_le(m, x, high)),
					    x, inner);
		}
		x = inner;
		break;
	default:
		low = align ? zero : expr_float(m, t, -0.5);
		high = align ? last : expr_sub(m, length, half);
		x = clamp(m, reflect(names, axis, x, low, high), low, high);
		break;
	}
	return step_name(names, axis, x);
}

bool
define_grid_sample(struct define *c, const struct node *n,
		   struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const name[] = { "sample" };
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0], *y = n->outputs[0];
	struct sampler p = { .rank = x->ndim - 2, .n_taps = taps_of(n) };
	struct iter_var *axes = define_axes(c, y);
	struct iter_var channel = axes[1];
	const struct expr **at = axes_exprs(c, axes, y->ndim), *sum;
	const struct expr *from[2 + SAMPLER_MAX];
	struct steps s = steps_begin(c, name[0], "sample", name, &y->type,
				     &y->ndim,
				     (const struct expr *const *[]){ y->shape },
				     1, in, 2, out);
	struct step_names names = { .s = &s };
	struct dtype wide = p.n_taps == 1 ? x->type
			    : dtype_is_float(x->type)
				    ? accumulator_type(x->type)
				    : dtype_of(DT_F64);
	struct stmt *body;

	from[0] = at[0];
	for (int d = 0; d < p.rank; d++) {
		from[1 + d] = at[2 + d];
	}
	for (int d = 0; d < p.rank; d++) {
		const struct expr *given;

		from[1 + p.rank] = expr_i32(m, p.rank - 1 - d);
		given = te_at(m, in[1], from, 2 + p.rank);
		given = grid_position(&names, n, p.rank, d, given,
				      x->shape[2 + d]);
		sampler_set(&p, &names, d, given, x->shape[2 + d],
			    (enum sampler_padding)padding_of(n),
			    node_attr_int(n, "align_corners", 0) != 0);
	}
	sum = sampler_sum(&p, m, in[0], at[0], at[1], wide);
	body = stmt_store(s.f, out[0]->buffer, convert_to(c, y->type, sum), at,
			  y->ndim);
	body = step_named(&names,
			  step_for(&s, channel.var, channel.extent, body));
	for (int d = 1; d <= p.rank; d++) {
		axes[d] = axes[d + 1];
	}
	steps_end(&s, axes, y->ndim - 1, body);
	return true;
}
