/* SPDX-License-Identifier: Apache-2.0 */
/* The target's product instructions that a reduction may use, for the rules for
 * dot products, tile registers and tensor cores. */
#ifndef TIRC_PRODUCT_CHOICE_H
#define TIRC_PRODUCT_CHOICE_H

#include "product_instr.h"
#include "sched_rules.h"

/* The types of a product's two operands and of its sum. */
struct product_types {
	struct dtype operand[2], sum;
};

/* Describes the first product instruction from number *next on that multiplies
 * the types t, whose intrinsics all exist, and that rounds operands only if the
 * target allows this; sets *next to the number after this instruction's. False
 * if there is no further such instruction. */
bool rules_next_product(const struct rules *r, const struct product_types *t,
			int *next, struct product_desc *out);
/* Replaces the loop by a call of the intrinsic. */
bool rules_tensorize(struct rules *r, int loop, const char *intrin);

#endif
