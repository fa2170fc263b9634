/* SPDX-License-Identifier: Apache-2.0 */
/* The choice of a product instruction for a reduction. */
#include "product_choice.h"

/* Does the target have all intrinsics of the instruction, and does it allow the
 * rounding (to tf32) that the instruction does? */
static bool
may_use(const struct rules *r, const struct product_desc *p)
{
	return (p->multiply->rounds_to == NULL || r->target->tf32) &&
	       product_is_complete(r->target, p);
}

bool
rules_next_product(const struct rules *r, const struct product_types *t,
		   int *next, struct product_desc *out)
{
	while (*next < r->target->n_products) {
		const struct product_instr *p = &r->target->products[*next];

		++*next;
		if (product_describe(r->target, p, out) &&
		    dtype_equal(out->operand[0]->type, t->operand[0]) &&
		    dtype_equal(out->operand[1]->type, t->operand[1]) &&
		    dtype_equal(out->sum->type, t->sum) && may_use(r, out)) {
			return true;
		}
	}
	return false;
}

bool
rules_tensorize(struct rules *r, int loop, const char *intrin)
{
	struct sched_value args[2] = { sv_loop(loop), sv_string(intrin) };

	return sched_apply(&r->s, "tensorize", args, 2, NULL);
}
