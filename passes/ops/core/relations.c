/* SPDX-License-Identifier: Apache-2.0 */
/* Relations between sizes on which operators rely. Sizes that contradict each
 * other for all values are an error in the model. A relation that does not hold
 * for some values becomes a condition that the entry function checks:
 *
 *	Conv of x: f32[1, n, 4, 4] and weights f32[2, 3, 1, 1]	-> n == 3
 *	Gather of x: f32[n], n from 0, at 2 indices		-> 0 < n
 *	MaxPool of x: f32[1, 1, n] by windows of 7		-> 0 <= n - 6 */
#include "dims.h"

#include "analyse.h"

/* Can the two dimensions be equal: are they the same expression, or is one of
 * them symbolic? */
static bool
dims_may_equal(const struct expr *a, const struct expr *b)
{
	int64_t x, y;

	return a == b || !expr_is_int(a, &x) || !expr_is_int(b, &y) || x == y;
}

/* The dimension that results from broadcasting dimensions a and b as NumPy
 * does; NULL if a and b are constants that contradict each other. */
static const struct expr *
broadcast_dim(struct module *m, const struct expr *a, const struct expr *b)
{
	int64_t x;

	if (a == b || expr_is_value(b, 1)) {
		return a;
	}
	if (expr_is_value(a, 1)) {
		return b;
	}
	if (expr_is_int(a, &x)) {
		return expr_is_int(b, &x) ? NULL : a;
	}
	return expr_is_int(b, &x) ? b : expr_max(m, a, b);
}

/* Was the condition recorded for runs that take a branch? The importer records
 * the conditions of a branch before passes infer its nodes again. */
static bool
noted_for_branch(const struct graph *g, const struct expr *condition)
{
	for (int i = 0; i < g->checks.n; i++) {
		if (g->checks.data[i].unless != NULL &&
		    g->checks.data[i].condition == condition) {
			return true;
		}
	}
	return false;
}

/* Notes the condition for the entry function to check, unless the condition
 * provably always holds; n is the node that relies on it, or NULL. False if the
 * condition never holds. */
static bool
may_hold(struct graph *g, const struct node *n, const struct expr *condition)
{
	struct analyser a;

	analyser_init(&a, g->module);
	if (prove(&a, condition)) {
		return true;
	}
	condition = simplify(&a, condition);
	if (expr_is_value(condition, 0)) {
		return false;
	}
	if (n == NULL || n->body == 0 || !noted_for_branch(g, condition)) {
		graph_check(g, condition);
	}
	return true;
}

/* Like may_hold; false after a diagnostic if the condition never holds. */
static bool
rely_on(struct infer *c, const struct expr *condition)
{
	return c == NULL || may_hold(c->graph, c->node, condition) ||
	       infer_error(c, DIAG_BAD_SHAPE,
			   "the sizes of its dimensions contradict each other "
			   "for all values that they may have; correct the "
			   "model, or the bounds of --bound and --dim");
}

/* Are both sizes short enough to compare (expr_is_short)? False after a
 * diagnostic. */
static bool
comparable(struct infer *c, const struct expr *a, const struct expr *b)
{
	return (expr_is_short(a) && expr_is_short(b)) ||
	       infer_error(c, DIAG_TOO_LARGE,
			   "the formula for a size that it compares is too "
			   "long; fix a size with --dim");
}

/* The condition that `size` is not negative; NULL if it provably never is. */
static const struct expr *
not_negative(struct module *m, const struct expr *size)
{
	int64_t min, max;

	return size_bounds(size, &min, &max) && min >= 0
		       ? NULL
		       : expr_le(m, expr_int(m, size->type, 0), size);
}

bool
infer_not_negative(struct infer *c, const struct expr *size)
{
	const struct expr *holds = not_negative(c->module, size);

	return holds == NULL || rely_on(c, holds);
}

static bool
check_input(struct graph *g, const struct tensor *t, int d)
{
	const struct expr *holds;

	if (!expr_is_short(t->shape[d])) {
		return diag_error(&g->module->diags, DIAG_TOO_LARGE,
				  (struct diag_place){ .file = g->file },
				  "the formula for dimension %d of the input "
				  "'%s' is too long; fix a size with --dim",
				  d, t->name);
	}
	holds = not_negative(g->module, t->shape[d]);
	return holds == NULL || may_hold(g, NULL, holds) ||
	       diag_error(&g->module->diags, DIAG_BAD_SHAPE,
			  (struct diag_place){ .file = g->file },
			  "dimension %d of the input '%s' is negative for all "
			  "values of its sizes; correct it",
			  d, t->name);
}

bool
ops_check_inputs(struct graph *g)
{
	for (int i = 0; i < g->inputs.n; i++) {
		const struct tensor *t = g->inputs.data[i];

		for (int d = 0; d < t->ndim; d++) {
			if (!check_input(g, t, d)) {
				return false;
			}
		}
	}
	return true;
}

void
infer_reads(struct infer *c, const struct expr *size, int ndim,
	    const struct expr *const *result)
{
	struct module *m = c->module;
	const struct expr *holds = expr_lt(m, expr_int(m, size->type, 0), size);

	if (expr_is_int(size, &(int64_t){ 0 })) {
		return;
	}
	for (int d = 0; d < ndim; d++) {
		if (expr_is_value(result[d], 0)) {
			return;
		}
		if (size_may_be_empty(result[d])) {
			holds = expr_or(m, holds,
					expr_le(m, result[d],
						expr_int(m, result[d]->type,
							 0)));
		}
	}
	rely_on(c, holds);
}

bool
infer_can_fill(struct infer *c, int d, const struct expr *size,
	       const struct expr *result)
{
	if (expr_is_value(size, 0) && !expr_is_value(result, 0)) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "dimension %d is empty, so that no element "
				   "can fill it; correct the model",
				   d);
	}
	infer_reads(c, size, 1, &result);
	return true;
}

bool
dim_is_multiple(struct infer *c, const struct expr *size, const struct expr *of)
{
	struct module *m = c->module;
	int64_t known, by;

	if (expr_is_int(size, &known) && expr_is_int(of, &by)) {
		return known % by == 0;
	}
	if (comparable(c, size, of)) {
		if (size_may_be_empty(of)) {
			rely_on(c, expr_lt(m, expr_int(m, of->type, 0), of));
		}
		rely_on(c, expr_eq(m, expr_floormod(m, size, of),
				   expr_int(m, size->type, 0)));
	}
	return true;
}

bool
dims_equal(struct infer *c, const struct expr *a, const struct expr *b)
{
	if (!dims_may_equal(a, b)) {
		return false;
	}
	if (c != NULL && a != b && comparable(c, a, b)) {
		rely_on(c, expr_eq(c->module, a, b));
	}
	return true;
}

/* The condition that a is 1, so that b is the result of broadcasting. If b is
 * not constant, it must also be above 0, because the result is computed as the
 * larger of a and b. */
static const struct expr *
stretches(struct module *m, const struct expr *a, const struct expr *b)
{
	const struct expr *is_one = expr_eq(m, a, expr_i32(m, 1));

	return expr_is_int(b, &(int64_t){ 0 })
		       ? is_one
		       : expr_and(m, is_one, expr_lt(m, expr_i32(m, 0), b));
}

bool
dims_at_most(struct infer *c, const struct expr *a, const struct expr *b)
{
	int64_t x, y;

	if (expr_is_int(a, &x) && expr_is_int(b, &y)) {
		return x <= y;
	}
	if (a != b && comparable(c, a, b)) {
		rely_on(c, expr_le(c->module, a, b));
	}
	return true;
}

bool
infer_broadcasts_to(struct infer *c, const struct expr *dim,
		    const struct expr *result)
{
	struct module *m = c->module;

	if (dim == result || expr_is_value(dim, 1)) {
		return true;
	}
	if (!dims_may_equal(dim, result)) {
		return false;
	}
	if (comparable(c, dim, result)) {
		rely_on(c, expr_or(m, expr_eq(m, dim, result),
				   expr_eq(m, dim, expr_int(m, dim->type, 1))));
	}
	return true;
}

/* The result of broadcasting dimension a with b. If this is not clear, the
 * condition is noted that a and b are equal, or one of them is 1. */
const struct expr *
infer_broadcast_dim(struct infer *c, struct module *m, const struct expr *a,
		    const struct expr *b)
{
	const struct expr *dim = broadcast_dim(m, a, b);
	const struct expr *holds;

	if (c == NULL || dim == NULL || a == b || expr_is_value(a, 1) ||
	    expr_is_value(b, 1) || !comparable(c, a, b)) {
		return dim;
	}
	holds = expr_eq(m, a, b);
	if (!expr_is_int(a, &(int64_t){ 0 })) {
		holds = expr_or(m, holds, stretches(m, a, b));
	}
	if (!expr_is_int(b, &(int64_t){ 0 })) {
		holds = expr_or(m, holds, stretches(m, b, a));
	}
	rely_on(c, holds);
	return dim;
}
