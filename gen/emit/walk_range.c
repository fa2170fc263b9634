/* SPDX-License-Identifier: Apache-2.0 */
/* Queries about integers: can an operation overflow, is a divisor safe? */
#include "iterate.h"
#include "walk_stmt.h"

bool
walk_is_data(struct walker *w, const struct expr *e)
{
	if (e->kind == EXPR_LOAD) {
		return true;
	}
	if (e->kind == EXPR_VAR) {
		const struct binding *b = walk_find(w, e->u.var);

		return b != NULL && b->data;
	}
	for (int i = 0; i < e->n_args; i++) {
		if (walk_is_data(w, e->args[i])) {
			return true;
		}
	}
	return false;
}

/* Sets w->ranges for those array parameters that are constants of the model.
 * bytes: also for constants with elements of 8 bits. */
static void
state_constants(struct walker *w, bool bytes)
{
	const struct constant_ranges *c = &w->u->constants;

	value_ranges_init(&w->ranges, w->f, w->u->intrins);
	for (int i = 0; i < w->f->params.n && c->range != NULL; i++) {
		const struct buffer *b = w->f->params.data[i].buffer;
		struct bounds range;

		if (b != NULL && dtype_is_int(b->type) &&
		    (bytes || dtype_bits(b->type) > 8) &&
		    c->range(c->ctx, b, &range)) {
			value_ranges_state(&w->ranges, b, range);
		}
	}
}

void
walk_init_ranges(struct walker *w)
{
	state_constants(w, false);
}

/* First tries the range that follows from the types of the operands; then the
 * range that follows from the values of constants of bytes. */
bool
walk_bound(struct walker *w, const struct buffer *b, int64_t *most)
{
	struct buffer_range found;

	if (dtype_class(b->type) != DTC_INT || dtype_bits(b->type) < 32) {
		return false;
	}
	found = value_range_of_buffer(&w->ranges, b);
	if (found.how != RANGE_SUMMED && !w->knows_bytes) {
		w->knows_bytes = true;
		state_constants(w, true);
		found = value_range_of_buffer(&w->ranges, b);
	}
	*most = value_range_magnitude(found.range);
	/* All values of b's type are within the limits of the type, so a range
	 * up to these limits is not a bound. The magnitude of a signed type is
	 * that of its minimum, one more than its maximum. */
	return found.how == RANGE_SUMMED &&
	       *most < value_range_magnitude(value_range_of_type(b->type)) - 1;
}

/* Does e load integers of at least 32 bits, whose type alone does not prove a
 * bound? */
static bool
loads_wide(const struct expr *e)
{
	bool wide = false;

	for (struct expr_iter it = expr_each_of(e, EXPR_LOAD);
	     (e = expr_next(&it));) {
		wide |= dtype_class(e->type) == DTC_INT &&
			dtype_bits(e->type) >= 32;
	}
	return wide;
}

/* A bound that follows from narrow operands is stated in a comment only above
 * this magnitude: below it, the types show that no int32 overflows. */
enum { PLAIN_MAX = 1 << 24 };

bool
walk_value_bound(struct walker *w, const struct expr *e, int64_t *most)
{
	struct bounds range;
	bool fits;

	if (dtype_class(e->type) != DTC_INT || dtype_bits(e->type) < 32 ||
	    (e->kind != EXPR_ADD && e->kind != EXPR_SUB &&
	     e->kind != EXPR_MUL)) {
		return false;
	}
	range = value_range_of(&w->ranges, e, &fits);
	*most = value_range_magnitude(range);
	return fits && (loads_wide(e) || *most > PLAIN_MAX);
}

/* Does an expression in s or below shift `value` left by `by` bits? */
static bool
is_shifted(struct stmt *s, const struct expr *value, int64_t by)
{
	struct tree_iter it = tree_each_of(s, EXPR_CALL);
	const struct expr *e;
	bool found = false;

	while (!found && (e = tree_next(&it)) != NULL) {
		found = e->u.intrin == INTRIN_SHL && e->args[0] == value &&
			expr_is_value(e->args[1], by);
	}
	tree_stop(&it);
	return found;
}

void
walk_shifted_bound(struct walker *w, const struct stmt *let, int64_t *most)
{
	if (w->u->shifted_most > 0 && w->u->shifted_most < *most &&
	    !w->u->shifts_larger &&
	    is_shifted(let->children[0], let->u.var->expr, w->u->shift)) {
		*most = w->u->shifted_most;
	}
}

/* False for loop variables and sizes: their types are chosen so that results
 * fit. */
bool
walk_may_wrap(struct walker *w, const struct expr *e)
{
	bool fits;

	if (dtype_class(e->type) == DTC_UINT) {
		/* a product of narrow types may overflow the int to which they
		 * are promoted */
		return e->kind == EXPR_MUL &&
		       w->d->types[e->type.kind].promoted &&
		       dtype_bits(e->type) * 2 >= w->d->int_bits;
	}
	if (dtype_class(e->type) != DTC_INT || !walk_is_data(w, e)) {
		return false;
	}
	value_range_of(&w->ranges, e, &fits);
	return !fits;
}

bool
walk_is_negative(struct walker *w, const struct expr *e)
{
	bool fits;

	if (dtype_class(e->type) == DTC_UINT ||
	    analyse_bounds(&w->an, e).min >= 0) {
		return false;
	}
	return !walk_is_data(w, e) ||
	       value_range_of(&w->ranges, e, &fits).min < 0;
}

/* Is the divisor proven to be neither 0 nor -1? */
bool
walk_is_safe_divisor(struct walker *w, const struct expr *e)
{
	struct bounds b;
	int64_t v;

	if (expr_is_int(e, &v)) {
		return v != 0 && v != -1;
	}
	if (walk_is_data(w, e)) {
		return false;
	}
	b = analyse_bounds(&w->an, e);
	return b.min > 0 && b.min != BOUND_NEG_INF;
}
