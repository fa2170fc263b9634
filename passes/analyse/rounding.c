/* SPDX-License-Identifier: Apache-2.0 */
/* Does a function round floats to integers, and could contraction to fused
 * multiply-adds change the rounded values? */
#include "rounding.h"

#include "iterate.h"
#include "stmt.h"

/* The kinds of operations on floats in a function that matter for
 * contraction. */
struct float_uses {
	bool rounds, multiplies, adds, calls;
};

static bool
is_rounding(const struct expr *e)
{
	if (e->kind == EXPR_CAST) {
		return dtype_is_float(e->args[0]->type) &&
		       dtype_is_int(e->type);
	}
	return e->kind == EXPR_CALL &&
	       (e->u.intrin == INTRIN_NEARBYINT ||
		e->u.intrin == INTRIN_ROUND || e->u.intrin == INTRIN_FLOOR ||
		e->u.intrin == INTRIN_CEIL || e->u.intrin == INTRIN_TRUNC ||
		e->u.intrin == INTRIN_TO_INT);
}

/* Is e a call of an intrinsic that a dialect may expand to sums and
 * products? */
static bool
is_expanded_inline(const struct expr *e)
{
	return e->kind == EXPR_CALL &&
	       (e->u.intrin == INTRIN_EXP || e->u.intrin == INTRIN_LOG ||
		e->u.intrin == INTRIN_TANH || e->u.intrin == INTRIN_ERF ||
		e->u.intrin == INTRIN_SIGMOID);
}

static struct float_uses
float_uses(const struct func *f)
{
	struct float_uses uses = { false, false, false, false };
	struct tree_iter it = tree_each(f->body);
	const struct expr *e;

	while ((e = tree_next(&it)) != NULL) {
		uses.rounds |= is_rounding(e);
		if (!dtype_is_float(e->type)) {
			continue;
		}
		uses.multiplies |= e->kind == EXPR_MUL;
		uses.adds |= e->kind == EXPR_ADD || e->kind == EXPR_SUB;
		uses.calls |= is_expanded_inline(e);
	}
	return uses;
}

bool
func_rounds(const struct func *f)
{
	return float_uses(f).rounds;
}

bool
func_forbids_contraction(const struct func *f)
{
	struct float_uses uses = float_uses(f);

	return uses.rounds && ((uses.multiplies && uses.adds) || uses.calls);
}

bool
func_contracts(const struct func *f)
{
	struct float_uses uses = float_uses(f);

	return uses.multiplies && uses.adds && !uses.rounds;
}
