/* SPDX-License-Identifier: Apache-2.0 */
/* tirc.PairCoupling: computes the probabilities of classes from the
 * probabilities of pairs of classes; its steps are in
 * passes/ops/steps/coupling.py. */
#include "steps.h"

bool
infer_coupling(struct infer *c, struct node *n)
{
	const struct tensor *q = n->inputs[0];
	int64_t classes;

	if (!infer_form(c, n, 0, TYPES_FLOAT, 3, 3)) {
		return false;
	}
	if (!expr_is_int(q->shape[1], &classes)) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "the number of classes must be constant; "
				   "correct the model");
	}
	if (!infer_size_of(c, n, 0, 2, classes)) {
		return false;
	}
	infer_set(c, n->outputs[0], q->type, 2, q->shape);
	return true;
}

bool
define_coupling(struct define *c, const struct node *n,
		struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const name[] = { "coupling" };
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);
	int64_t classes;
	struct steps s;

	if (!expr_is_int(y->shape[1], &classes)) {
		return false;
	}
	s = steps_begin(c, name[0], "coupling", name, &y->type, &y->ndim,
			(const struct expr *const *[]){ y->shape }, 1, in, 1,
			out);
	steps_row(&s, "q", in[0], &axes[0].var->expr, 1);
	steps_row(&s, "p", out[0], &axes[0].var->expr, 1);
	steps_value(&s, "classes", y->shape[1]);
	steps_value(&s, "even", expr_float(m, y->type, 1 / (double)classes));
	steps_value(&s, "limit",
		    expr_float(m, y->type, 0.005 / (double)classes));
	return steps_run(&s, "coupling", axes, 1);
}
