/* SPDX-License-Identifier: Apache-2.0 */
/* Which product instructions of the target a reduction may use: shared by the
 * rules for dot products, for tile registers and for tensor cores. */
#ifndef TIRC_PRODUCT_CHOICE_H
#define TIRC_PRODUCT_CHOICE_H

#include "product_instr.h"
#include "sched_rules.h"

/* The types of a product: both operands, and the sum. */
struct product_types {
	struct dtype operand[2], sum;
};

/* Describes the first product instruction from number *next on that multiplies
 * the types, all of whose intrinsics there are, and which rounds operands only
 * where the target lets it; *next becomes the number behind it. False: none is
 * left. */
bool rules_next_product(const struct rules *r, const struct product_types *t,
			int *next, struct product_desc *out);
/* Makes what the loop does the intrinsic. */
bool rules_tensorize(struct rules *r, int loop, const char *intrin);

#endif
