/* SPDX-License-Identifier: Apache-2.0 */
/* Which floats are numbers, never NaN? These are: constants, choices that
 * exclude NaN, the larger or smaller of two numbers, and the elements of local
 * arrays to which only numbers are stored:
 *
 *	best = -INFINITY;
 *	for (k)
 *		best = max(best, isnan(x[k]) ? -INFINITY : x[k]);
 *
 * The arrays are found together: first, all arrays are assumed to hold only
 * numbers; arrays to which a value is stored that may be NaN are then removed,
 * until no more are removed. */
#include "iterate.h"
#include "walk_expr.h"

/* DEEPEST: deeper expressions are not searched. MOST_ROUNDS: after more rounds,
 * no array is assumed to hold only numbers. */
enum { DEEPEST = 8, MOST_ROUNDS = 8 };

static bool
has_numbers(const struct walker *w, const struct buffer *b)
{
	return pointer_map_get(&w->numbers, b->data, 0) != 0;
}

static bool
is_number(struct walker *w, const struct expr *e, int depth)
{
	if (!dtype_is_float(e->type) || e->type.lanes > 1 || depth > DEEPEST) {
		return false;
	}
	e = value_range_resolved(&w->ranges, e);
	switch (e->kind) {
	case EXPR_FLOAT:
		return e->u.fval == e->u.fval;
	case EXPR_MIN:
	case EXPR_MAX:
		return is_number(w, e->args[0], depth + 1) &&
		       is_number(w, e->args[1], depth + 1);
	case EXPR_SELECT:
		return is_number(w, e->args[1], depth + 1) &&
		       (is_number(w, e->args[2], depth + 1) ||
			expr_is_isnan_of(e->args[0], e->args[2]));
	case EXPR_LOAD:
		return has_numbers(w, e->u.buffer);
	default:
		return false;
	}
}

/* Does the function pass addresses of its arrays to functions, which may store
 * there? */
static bool
passes_addresses(const struct func *f)
{
	struct tree_iter it = tree_each_of(f->body, EXPR_CALL);
	const struct expr *e;
	bool found = false;

	while (!found && (e = tree_next(&it)) != NULL) {
		found = e->u.intrin == INTRIN_ADDRESS_OF ||
			e->u.intrin == INTRIN_CALL_EXTERN ||
			e->u.intrin == INTRIN_CALL_INTRIN;
	}
	tree_stop(&it);
	return found;
}

/* Assumes that all local arrays of floats hold only numbers. */
static void
take_all(struct walker *w)
{
	struct stmt_iter it = stmt_each_of(w->f->body, STMT_ALLOC);
	const struct stmt *s;

	while ((s = stmt_next(&it)) != NULL) {
		const struct buffer *b = s->u.buffer;

		if (dtype_is_float(b->type) && b->type.lanes == 1) {
			pointer_map_put(&w->numbers, b->data, 1);
		}
	}
}

/* Removes arrays from those that are assumed to hold only numbers: the ones to
 * which a value is stored that may be NaN. True if an array was removed. */
static bool
leave_out(struct walker *w)
{
	struct stmt_iter it = stmt_each_of(w->f->body, STMT_STORE);
	const struct stmt *s;
	bool found = false;

	while ((s = stmt_next(&it)) != NULL) {
		if (has_numbers(w, s->u.buffer) &&
		    !is_number(w, s->args[0], 0)) {
			pointer_map_put(&w->numbers, s->u.buffer->data, 0);
			found = true;
		}
	}
	return found;
}

static void
find_numbers(struct walker *w)
{
	bool changed = true;

	w->knows_numbers = true;
	pointer_map_init(&w->numbers, w->a);
	if (passes_addresses(w->f)) {
		return;
	}
	take_all(w);
	for (int i = 0; i < MOST_ROUNDS && changed; i++) {
		changed = leave_out(w);
	}
	if (changed) {
		pointer_map_init(&w->numbers, w->a);
	}
}

bool
walk_is_number(struct walker *w, const struct expr *e)
{
	if (e->kind == EXPR_BROADCAST) {
		e = e->args[0];
	}
	if (!w->knows_numbers) {
		find_numbers(w);
	}
	return is_number(w, e, 0);
}
