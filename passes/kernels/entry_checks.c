/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the conditions on sizes that are checked, from those that operators
 * note (passes/ops/core/relations.c): a condition that holds whenever another
 * one holds is left out.
 *
 *	before	0 <= n - 2, 0 <= n - 4, 0 < n - 4, n == m
 *	after	0 < n - 4, n == m
 *
 * Conditions keep their order, and a condition that replaces others takes the
 * place of the first one that it replaces: conditions after it may rely on it,
 * as a remainder relies on a divisor that is not 0. */
#include "analyse.h"
#include "entry.h"

/* The most conditions that are compared with each other; if there are more,
 * they are not compared, and the entry function checks all. */
enum { COMPARED_MAX = 64 };

static const struct expr *
wide(struct module *m, const struct expr *e)
{
	return expr_cast(m, dtype_of(DT_I64), e);
}

/* The larger side of the inequality e minus its smaller side, which is at least
 * 0 if e holds. NULL if e is not an inequality. */
static const struct expr *
slack(struct module *m, const struct expr *e)
{
	const struct expr *more;

	if (e->kind != EXPR_LE && e->kind != EXPR_LT) {
		return NULL;
	}
	more = expr_sub(m, wide(m, e->args[1]), wide(m, e->args[0]));
	return e->kind == EXPR_LE ? more : expr_sub(m, more, expr_i32(m, 1));
}

/* Are the conditions a and b checked at the same time? They are if both contain
 * the same of the sizes that are known only at run time. */
static bool
known_together(const struct graph *g, const struct expr *a,
	       const struct expr *b)
{
	for (int i = 0; i < g->run_sizes.n; i++) {
		const struct var *v = g->run_sizes.data[i].var;

		if (expr_uses_var(a, v) != expr_uses_var(b, v)) {
			return false;
		}
	}
	return true;
}

/* Does the inequality b hold whenever a holds? */
static bool
implies(struct analyser *analyser, const struct expr *a, const struct expr *b)
{
	struct module *m = analyser->module;
	const struct expr *x = slack(m, a), *y = slack(m, b);

	return x != NULL && y != NULL && prove(analyser, expr_le(m, x, y));
}

/* Adds a condition to the n conditions in `kept`, unless it holds whenever one
 * of them holds. It replaces those conditions in `kept` that hold whenever it
 * holds. Returns the new number of conditions in `kept`. */
static int
add(struct graph *g, struct analyser *a, const struct expr **kept, int n,
    const struct expr *condition)
{
	bool noted = false;
	int left = 0;

	for (int i = 0; i < n; i++) {
		const struct expr *other = kept[i];

		if (known_together(g, other, condition)) {
			if (!noted && implies(a, other, condition)) {
				return n;
			}
			if (implies(a, condition, other)) {
				if (noted) {
					continue;
				}
				other = condition;
				noted = true;
			}
		}
		kept[left++] = other;
	}
	if (!noted) {
		kept[left++] = condition;
	}
	return left;
}

void
entry_choose_checks(struct graph *g)
{
	const struct expr **kept = arena_exprs(&g->module->arena,
					       g->checks.n + 1);
	struct analyser a;
	int n = 0;

	analyser_init(&a, g->module);
	for (int i = 0; i < g->checks.n; i++) {
		struct size_check *c = &g->checks.data[i];

		if (c->unless != NULL) {
			c->condition = expr_or(g->module, c->unless,
					       c->condition);
			c->unless = NULL;
		}
	}
	if (g->checks.n > COMPARED_MAX) {
		return;
	}
	for (int i = 0; i < g->checks.n; i++) {
		n = add(g, &a, kept, n, g->checks.data[i].condition);
	}
	for (int i = 0; i < n; i++) {
		g->checks.data[i].condition = kept[i];
	}
	g->checks.n = n;
}
