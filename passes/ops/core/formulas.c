/* SPDX-License-Identifier: Apache-2.0 */
/* Formulas that operators of several families use. */
#include "define.h"

const struct expr *
define_exp_minus_one(struct define *c, const struct expr *e)
{
	return expr_sub(c->module, expr_call1(c->module, INTRIN_EXP, e),
			like(c, e, 1));
}

const struct expr *
define_softplus(struct define *c, const struct expr *e)
{
	struct module *m = c->module;
	const struct expr *decay =
		expr_call1(m, INTRIN_EXP,
			   expr_neg(m, expr_call1(m, INTRIN_ABS, e)));

	return expr_add(m, expr_max(m, e, like(c, e, 0)),
			expr_call1(m, INTRIN_LOG1P, decay));
}

const struct expr *
define_elu(struct define *c, const struct expr *alpha, const struct expr *e)
{
	struct module *m = c->module;

	return expr_select(m, expr_lt(m, e, like(c, e, 0)),
			   expr_mul(m, alpha, define_exp_minus_one(c, e)), e);
}

const struct expr *
power_of_abs(struct define *c, const struct expr *x, double p)
{
	struct module *m = c->module;
	const struct expr *size = expr_call1(m, INTRIN_ABS, x);

	if (p == 1) {
		return size;
	}
	return p == 2 ? expr_mul(m, x, x)
		      : expr_call2(m, INTRIN_POW, size, like(c, x, p));
}

const struct expr *
root_of_sum(struct define *c, const struct expr *sum, double p)
{
	if (p == 1) {
		return sum;
	}
	return p == 2 ? expr_call1(c->module, INTRIN_SQRT, sum)
		      : expr_call2(c->module, INTRIN_POW, sum,
				   like(c, sum, 1 / p));
}
