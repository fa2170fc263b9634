/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of integer expressions. */
#include "sum.h"

static bool
add_term(struct sum *l, const struct expr *atom, int64_t coefficient)
{
	for (int i = 0; i < l->n; i++) {
		if (l->atom[i] != atom) {
			continue;
		}
		if (__builtin_add_overflow(l->coefficient[i], coefficient,
					   &l->coefficient[i])) {
			return false;
		}
		if (l->coefficient[i] == 0) {
			l->n--;
			l->atom[i] = l->atom[l->n];
			l->coefficient[i] = l->coefficient[l->n];
		}
		return true;
	}
	if (l->n == SUM_MAX_TERMS || coefficient == 0) {
		return coefficient == 0;
	}
	l->atom[l->n] = atom;
	l->coefficient[l->n++] = coefficient;
	return true;
}

/* Adds factor * e to the sum *l. *left: how many nodes may still be visited.
 * False if there are too many nodes or terms, or a number overflows. */
static bool
add(struct sum *l, const struct expr *e, int64_t factor, int *left)
{
	int64_t value, product;

	if (--*left < 0) {
		return false;
	}
	switch (e->kind) {
	case EXPR_INT:
		return !__builtin_mul_overflow(e->u.ival, factor, &value) &&
		       !__builtin_add_overflow(l->constant, value,
					       &l->constant);
	case EXPR_ADD:
		return add(l, e->args[0], factor, left) &&
		       add(l, e->args[1], factor, left);
	case EXPR_SUB:
		return factor != INT64_MIN &&
		       add(l, e->args[0], factor, left) &&
		       add(l, e->args[1], -factor, left);
	case EXPR_MUL:
		for (int i = 0; i < 2; i++) {
			if (expr_is_int(e->args[i], &value)) {
				return !__builtin_mul_overflow(value, factor,
							       &product) &&
				       add(l, e->args[1 - i], product, left);
			}
		}
		break;
	default:
		break;
	}
	return add_term(l, e, factor);
}

bool
sum_of(const struct expr *e, struct sum *out)
{
	int left = SUM_MAX_NODES;

	out->constant = 0;
	out->n = 0;
	return add(out, e, 1, &left);
}

bool
sum_difference(const struct expr *a, const struct expr *b, int64_t *out)
{
	int left = SUM_MAX_NODES;
	struct sum l;

	if (!sum_of(a, &l) || !add(&l, b, -1, &left) || l.n > 0) {
		return false;
	}
	*out = l.constant;
	return true;
}

const struct expr *
range_extent(struct module *m, const struct expr *min, const struct expr *end)
{
	int64_t extent;

	if (expr_is_value(min, 0)) {
		return end;
	}
	/* if `end` is written as min + extent, the extent is taken from it */
	if (end->kind == EXPR_ADD && end->args[0] == min) {
		return end->args[1];
	}
	if (sum_difference(end, min, &extent)) {
		return expr_int(m, min->type, extent);
	}
	return expr_sub(m, end, min);
}
