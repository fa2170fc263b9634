/* SPDX-License-Identifier: Apache-2.0 */
/* What the walker asks of integers: may this wrap, is that divisor safe? */
#include "walk.h"

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

struct span {
	int64_t min, max;
};

static struct span
type_span(struct dtype t)
{
	uint64_t max = dtype_max_int(t);

	return (struct span){ dtype_min_int(t),
			      max > INT64_MAX ? INT64_MAX : (int64_t)max };
}

/* Where an integer value lies; true for the exact result, too, or *wraps. */
static struct span
value_span(struct walker *w, const struct expr *e, bool *wraps)
{
	struct span all = type_span(e->type);
	struct span a, b, r;
	struct bounds known;
	bool inner = false, over = false;
	int64_t corner[4], divisor;

	*wraps = false;
	switch (e->kind) {
	case EXPR_INT:
		return (struct span){ e->u.ival, e->u.ival };
	case EXPR_CAST:
		if (!dtype_is_int(e->args[0]->type)) {
			return all;
		}
		a = value_span(w, e->args[0], &inner);
		return a.min >= all.min && a.max <= all.max ? a : all;
	case EXPR_ADD:
	case EXPR_SUB:
	case EXPR_MUL:
		a = value_span(w, e->args[0], &inner);
		b = value_span(w, e->args[1], &inner);
		if (e->kind == EXPR_ADD) {
			over |= __builtin_add_overflow(a.min, b.min, &r.min);
			over |= __builtin_add_overflow(a.max, b.max, &r.max);
		} else if (e->kind == EXPR_SUB) {
			over |= __builtin_sub_overflow(a.min, b.max, &r.min);
			over |= __builtin_sub_overflow(a.max, b.min, &r.max);
		} else {
			const int64_t x[] = { a.min, a.max };
			const int64_t y[] = { b.min, b.max };

			for (int i = 0; i < 4; i++) {
				over |= __builtin_mul_overflow(
					x[i / 2], y[i % 2], &corner[i]);
			}
			r.min = r.max = corner[0];
			for (int i = 1; i < 4; i++) {
				r.min = corner[i] < r.min ? corner[i] : r.min;
				r.max = corner[i] > r.max ? corner[i] : r.max;
			}
		}
		if (over || r.min < all.min || r.max > all.max) {
			*wraps = true;
			return all;
		}
		return r;
	case EXPR_BROADCAST:
		return value_span(w, e->args[0], wraps);
	case EXPR_IF:
	case EXPR_SELECT:
		a = value_span(w, e->args[1], &inner);
		b = value_span(w, e->args[2], &inner);
		r.min = a.min < b.min ? a.min : b.min;
		r.max = a.max > b.max ? a.max : b.max;
		return r;
	case EXPR_MIN:
	case EXPR_MAX:
		a = value_span(w, e->args[0], &inner);
		b = value_span(w, e->args[1], &inner);
		if (e->kind == EXPR_MIN) {
			r.min = a.min < b.min ? a.min : b.min;
			r.max = a.max < b.max ? a.max : b.max;
		} else {
			r.min = a.min > b.min ? a.min : b.min;
			r.max = a.max > b.max ? a.max : b.max;
		}
		return r;
	case EXPR_FLOORMOD:
		if (expr_is_int(e->args[1], &divisor) && divisor > 0) {
			return (struct span){ 0, divisor - 1 };
		}
		return all;
	case EXPR_VAR:
		known = analyse_bounds(&w->an, e);
		r = all;
		if (known.min != BOUND_NEG_INF && known.min > r.min) {
			r.min = known.min;
		}
		if (known.max != BOUND_POS_INF && known.max < r.max) {
			r.max = known.max;
		}
		return r;
	default:
		return all;
	}
}

/* May the operation leave its type? Loops and sizes are planned to fit. */
bool
walk_may_wrap(struct walker *w, const struct expr *e)
{
	bool wraps;

	if (dtype_class(e->type) == DTC_UINT) {
		/* Products of short ones may leave the int they become. */
		return e->kind == EXPR_MUL &&
		       w->d->types[e->type.kind].promoted &&
		       dtype_bits(e->type) * 2 >= w->d->int_bits;
	}
	if (dtype_class(e->type) != DTC_INT || !walk_is_data(w, e)) {
		return false;
	}
	value_span(w, e, &wraps);
	return wraps;
}

bool
walk_is_negative(struct walker *w, const struct expr *e)
{
	struct bounds b;

	if (dtype_class(e->type) == DTC_UINT) {
		return false;
	}
	b = analyse_bounds(&w->an, e);
	return b.min < 0;
}

/* Is the divisor known to be neither 0 nor -1? */
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
