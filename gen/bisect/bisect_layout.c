/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the layout of a constant puts each element where its readers look
 * for it: the two directions of its index map must agree.
 *
 *	[i][j] -> [i / 16][j][i % 16] -> [i][j]
 */
#include "bisect.h"

/* So many elements are checked, at equal distances. */
enum { MOST_ELEMENTS = 4096 };

/* Sets to[n] to the values of the expressions in `list` when the variables
 * `vars` have the values `at`. False if an expression is then not a
 * constant. */
static bool
evaluate(struct module *m, const struct expr *const *list, int n,
	 struct var **vars, int n_vars, const int64_t *at, int64_t *to)
{
	const struct expr **values = arena_exprs(&m->arena, n_vars + 1);
	struct var_map map = { vars, values, n_vars };

	for (int d = 0; d < n_vars; d++) {
		values[d] = expr_int(m, vars[d]->type, at[d]);
	}
	for (int d = 0; d < n; d++) {
		if (!expr_is_int(expr_substitute(m, list[d], &map), &to[d])) {
			return false;
		}
	}
	return true;
}

static const char *
index_text(struct arena *a, const int64_t *at, int n)
{
	const char *text = "";

	for (int d = 0; d < n; d++) {
		text = arena_printf(a, "%s[%lld]", text, (long long)at[d]);
	}
	return text;
}

const char *
layout_fault(struct arena *a, struct module *m, const struct weight *w)
{
	const struct index_map *map = w->map;
	const struct tensor *t = w->tensor;
	int64_t elems, *at, *physical, *back;

	if (map == NULL || !tensor_const_elems(t, &elems)) {
		return NULL;
	}
	at = arena_array(a, int64_t, t->ndim + 1);
	back = arena_array(a, int64_t, t->ndim + 1);
	physical = arena_array(a, int64_t, map->n_physical + 1);
	for (int64_t i = 0; i < elems; i += 1 + elems / MOST_ELEMENTS) {
		int64_t rest = i, extent = 1;

		for (int d = t->ndim - 1; d >= 0; d--) {
			expr_is_int(t->shape[d], &extent);
			at[d] = rest % extent;
			rest /= extent;
		}
		if (!evaluate(m, map->to_physical, map->n_physical,
			      map->logical, map->n_logical, at, physical) ||
		    !evaluate(m, map->to_logical, map->n_logical, map->physical,
			      map->n_physical, physical, back)) {
			return NULL;
		}
		for (int d = 0; d < t->ndim; d++) {
			if (back[d] != at[d]) {
				return arena_printf(
					a, "%s has element %s where %s is read",
					w->name, index_text(a, back, t->ndim),
					index_text(a, at, t->ndim));
			}
		}
	}
	return NULL;
}
