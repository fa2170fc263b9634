/* SPDX-License-Identifier: Apache-2.0 */
/* Determinants and inverses of the matrices of a batch; their steps are
 * passes/ops/steps/elimination.py, det.py and inverse.py. */
#include "steps.h"

static bool
check_square(struct infer *c, const struct tensor *x)
{
	return (x->ndim >= 2 &&
		dims_equal(c, x->shape[x->ndim - 2], x->shape[x->ndim - 1])) ||
	       infer_error(c, DIAG_BAD_SHAPE,
			   "the last two dimensions must be equal; correct the "
			   "model");
}

bool
infer_det(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];

	if (!check_square(c, x)) {
		return false;
	}
	infer_set(c, n->outputs[0], x->type, x->ndim - 2, x->shape);
	return true;
}

bool
infer_inverse(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];

	if (!check_square(c, x)) {
		return false;
	}
	infer_set(c, n->outputs[0], x->type, x->ndim, x->shape);
	return true;
}

bool
define_det(struct define *c, const struct node *n, struct te_tensor *const *in,
	   struct te_tensor **out)
{
	static const char *const names[] = { "det", "lu" };
	const struct tensor *x = n->inputs[0], *y = n->outputs[0];
	struct dtype wide = accumulator_type(x->type);
	struct iter_var *axes = define_axes(c, y);
	const struct expr **point = axes_exprs(c, axes, y->ndim);
	struct te_tensor *made[2];
	struct steps s = steps_begin(c, names[0], "det", names,
				     (struct dtype[]){ y->type, wide },
				     (int[]){ y->ndim, x->ndim },
				     (const struct expr *const *[]){ y->shape,
								     x->shape },
				     2, in, 1, made);

	steps_row(&s, "x", in[0], point, y->ndim);
	steps_row(&s, "det", made[0], point, y->ndim);
	steps_row(&s, "lu", made[1], point, y->ndim);
	steps_value(&s, "size", x->shape[y->ndim]);
	steps_type(&s, "wide", wide);
	out[0] = made[0];
	return steps_run(&s, "det", axes, y->ndim);
}

bool
define_inverse(struct define *c, const struct node *n,
	       struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const names[] = { "inverse", "lu" };
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0];
	int batch = x->ndim - 2;
	struct iter_var *axes = define_shape_axes(c, batch, x->shape);
	const struct expr **point = axes_exprs(c, axes, batch);
	const struct expr *size = x->shape[batch];
	const struct expr **shape = arena_exprs(&m->arena, x->ndim);
	struct dtype wide = accumulator_type(x->type);
	struct te_tensor *made[2];
	struct steps s;

	for (int d = 0; d <= batch; d++) {
		shape[d] = x->shape[d];
	}
	shape[batch + 1] = expr_mul(m, size, expr_int(m, size->type, 2));
	s = steps_begin(c, names[0], "inverse", names,
			(struct dtype[]){ x->type, wide },
			(int[]){ x->ndim, x->ndim },
			(const struct expr *const *[]){ x->shape, shape }, 2,
			in, 1, made);
	steps_row(&s, "x", in[0], point, batch);
	steps_row(&s, "inverse", made[0], point, batch);
	steps_row(&s, "lu", made[1], point, batch);
	steps_value(&s, "size", size);
	steps_type(&s, "wide", wide);
	out[0] = made[0];
	return steps_run(&s, "inverse", axes, batch);
}
