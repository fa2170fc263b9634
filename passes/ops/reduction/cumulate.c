/* SPDX-License-Identifier: Apache-2.0 */
/* Running sums and products: each row carries one value from element to
 * element.
 *
 *	for i: acc[i] = 0
 *	for i, j in order:
 *		acc[i] = acc[i] + x[i, j]
 *		y[i, j] = acc[i]          (exclusive: this one first) */
#include "dims.h"

bool
infer_cumulate(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];
	const int64_t *axis;
	int count, d;

	if (!input_ints(c->module, n, 1, &axis, &count) || count != 1) {
		return infer_needs_constant(c, n, 1);
	}
	if (!infer_axis(c, axis[0], x->ndim, &d)) {
		return false;
	}
	infer_set(c, n->outputs[0], x->type, x->ndim, x->shape);
	return true;
}

/* The shape of y without its dimension d. */
static const struct expr **
without(struct define *c, const struct tensor *y, int d)
{
	const struct expr **shape = arena_exprs(&c->module->arena, y->ndim + 1);

	for (int k = 0; k < y->ndim; k++) {
		if (k != d) {
			shape[k - (k > d)] = y->shape[k];
		}
	}
	return shape;
}

static bool
define_cumulate(struct define *c, const struct node *n,
		struct te_tensor *const *in, struct te_tensor **out,
		bool product)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	struct dtype wide = accumulator_type(y->type);
	const struct reducer *r = product ? reducer_prod(m, wide)
					  : reducer_sum(m, wide);
	struct iter_var *axes = define_axes(c, y);
	const struct expr **at = axes_exprs(c, axes, y->ndim), **row;
	const struct expr **shape, *acc, *x;
	const char *const names[2] = { "cumulate", "acc" };
	struct te_tensor *made[2];
	struct te_store stores[2] = { { .out = 1 }, { .out = 0 } };
	struct var_map map = { .n = 2 };
	const int64_t *axis;
	int d, count;

	if (!input_ints(m, n, 1, &axis, &count)) {
		return false;
	}
	d = (int)(axis[0] < 0 ? axis[0] + y->ndim : axis[0]);
	shape = without(c, y, d);
	te_ordered(m, names[0], "scan", names,
		   (struct dtype[]){ y->type, wide },
		   (int[]){ y->ndim, y->ndim - 1 },
		   (const struct expr *const *[]){ y->shape, shape }, 2, made);
	te_ordered_start(m, made[1], define_shape_axes(c, y->ndim - 1, shape),
			 r->identity[0]);
	axes[d].kind = ITER_SCAN;
	row = arena_exprs(&m->arena, y->ndim + 1);
	for (int k = 0; k < y->ndim; k++) {
		if (k != d) {
			row[k - (k > d)] = at[k];
		}
	}
	if (node_attr_int(n, "reverse", 0)) {
		at[d] = expr_sub(m, expr_sub(m, y->shape[d], expr_i32(m, 1)),
				 at[d]);
	}
	acc = te_at(m, made[1], row, y->ndim - 1);
	x = expr_cast(m, wide, te_at(m, in[0], at, y->ndim));
	map.from = (struct var *[]){ r->lhs[0], r->rhs[0] };
	map.to = (const struct expr *[]){ acc, x };
	stores[0].at = row;
	stores[0].value = expr_substitute(m, r->result[0], &map);
	stores[1].at = at;
	stores[1].value = expr_cast(m, y->type, acc);
	if (node_attr_int(n, "exclusive", 0)) {
		struct te_store sum = stores[0];

		stores[0] = stores[1];
		stores[1] = sum;
	}
	define_ordered(c, made, 2, axes, y->ndim, stores, 2);
	out[0] = made[0];
	return true;
}

bool
define_cum_sum(struct define *c, const struct node *n,
	       struct te_tensor *const *in, struct te_tensor **out)
{
	return define_cumulate(c, n, in, out, false);
}

bool
define_cum_prod(struct define *c, const struct node *n,
		struct te_tensor *const *in, struct te_tensor **out)
{
	return define_cumulate(c, n, in, out, true);
}
