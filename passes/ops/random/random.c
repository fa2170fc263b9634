/* SPDX-License-Identifier: Apache-2.0 */
/* tirc.Random: 64 random bits for each element of a shape, as two words, which depend only
 * on the element's number, on `run` and on two keys; the steps are
 * passes/ops/steps/random.py. Inputs: the sizes of the shape; run, one int64. */
#include "dims.h"
#include "steps.h"

bool
infer_random(struct infer *c, struct node *n)
{
	const struct tensor *run = n->inputs[1];
	const struct expr *const *shape;
	int64_t elems;
	int count;

	if (!input_elems(c->module, n, 0, &shape, &count)) {
		return infer_needs_constant(c, n, 0);
	}
	if (run->type.kind != DT_I64 || run->ndim != 1 ||
	    !tensor_const_elems(run, &elems) || elems != 1) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "the number of the run must be one int64; "
				   "correct the model");
	}
	for (int k = 0; k < 2; k++) {
		infer_set(c, n->outputs[k], dtype_of(DT_U32), count, shape);
	}
	return true;
}

static const struct expr *
low_word(struct module *m, const struct expr *e)
{
	return expr_cast(m, dtype_of(DT_U32), e);
}

static const struct expr *
word(struct module *m, int64_t v)
{
	return expr_int(m, dtype_of(DT_U32), v);
}

/* The number of the element at the axes in row-major order. */
static const struct expr *
element_number(struct module *m, const struct tensor *y, struct iter_var *axes)
{
	const struct expr *e = word(m, 0);

	for (int d = 0; d < y->ndim; d++) {
		e = expr_add(m, expr_mul(m, e, low_word(m, y->shape[d])),
			     low_word(m, axes[d].var->expr));
	}
	return e;
}

bool
define_random(struct define *c, const struct node *n,
	      struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const names[] = { "first", "second" };
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);
	const struct expr **at = axes_exprs(c, axes, y->ndim);
	struct steps s = steps_begin(c, "random", "random", names,
				     (struct dtype[]){ y->type, y->type },
				     (int[]){ y->ndim, y->ndim },
				     (const struct expr *const *[]){ y->shape,
								     y->shape },
				     2, in + 1, 1, out);

	steps_tensor(&s, "run", in[1]);
	steps_row(&s, "first", out[0], at, y->ndim);
	steps_row(&s, "second", out[1], at, y->ndim);
	steps_value(&s, "element", element_number(m, y, axes));
	steps_value(&s, "seed", word(m, node_attr_int(n, "seed", 0)));
	steps_value(&s, "stream", word(m, node_attr_int(n, "stream", 0)));
	return steps_run(&s, "random", axes, y->ndim);
}
