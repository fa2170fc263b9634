/* SPDX-License-Identifier: Apache-2.0 */
/* Divisibility: value == coeff * k + base for some integer k. */
#include "linear.h"

static struct modular
reduced(int64_t coeff, int64_t base)
{
	struct modular r = { coeff, base };

	if (coeff == INT64_MIN) {
		return (struct modular){ 1, 0 };
	}
	if (r.coeff < 0) {
		r.coeff = -r.coeff;
	}
	if (r.coeff > 0) {
		r.base = floor_mod(base, r.coeff);
	}
	return r;
}

static struct modular
of_sum(struct analyser *a, const struct linear *l)
{
	struct modular sum = { 0, l->constant };

	for (int i = 0; i < l->n; i++) {
		const struct term *t = linear_at(l, i);
		struct modular x = analyse_modular(a, t->atom);
		int64_t coeff, base;

		if (__builtin_mul_overflow(x.coeff, t->coeff, &coeff) ||
		    __builtin_mul_overflow(x.base, t->coeff, &base) ||
		    __builtin_add_overflow(sum.base, base, &sum.base)) {
			return (struct modular){ 1, 0 };
		}
		sum.coeff = gcd(sum.coeff, coeff);
	}
	return reduced(sum.coeff, sum.base);
}

static struct modular
joined(struct modular x, struct modular y)
{
	int64_t apart;

	if (__builtin_sub_overflow(x.base, y.base, &apart)) {
		return (struct modular){ 1, 0 };
	}
	return reduced(gcd(gcd(x.coeff, y.coeff), apart), x.base);
}

struct modular
analyse_modular(struct analyser *a, const struct expr *e)
{
	const struct modular unknown = { 1, 0 };
	const struct analyser_var *v;
	struct modular x, y;
	struct linear l;
	int64_t c, base;

	if (!dtype_is_int(e->type) || e->type.lanes != 1 || may_wrap(a, e)) {
		return unknown;
	}
	switch (e->kind) {
	case EXPR_INT:
		return (struct modular){ 0, e->u.ival };
	case EXPR_VAR:
		v = analyser_find(a, e->u.var);
		if (v && v->value) {
			return analyse_modular(a, v->value);
		}
		if (v && v->bounds.min == v->bounds.max) {
			return (struct modular){ 0, v->bounds.min };
		}
		return unknown;
	case EXPR_MIN:
	case EXPR_MAX:
		return joined(analyse_modular(a, e->args[0]),
			      analyse_modular(a, e->args[1]));
	case EXPR_SELECT:
	case EXPR_IF:
		return joined(analyse_modular(a, e->args[1]),
			      analyse_modular(a, e->args[2]));
	case EXPR_FLOORDIV:
		x = analyse_modular(a, e->args[0]);
		if (expr_is_int(e->args[1], &c) && c > 0 && x.coeff % c == 0) {
			return reduced(x.coeff / c, floor_div(x.base, c));
		}
		return unknown;
	case EXPR_FLOORMOD:
		x = analyse_modular(a, e->args[0]);
		if (expr_is_int(e->args[1], &c) && c > 0) {
			return x.coeff % c == 0
				       ? (struct modular){ 0, floor_mod(x.base,
									c) }
				       : reduced(gcd(x.coeff, c), x.base);
		}
		return unknown;
	case EXPR_ADD:
	case EXPR_SUB:
	case EXPR_MUL:
		break;
	default:
		return unknown;
	}
	if (!type_is_index(e->type)) {
		return unknown;
	}
	linear_of(a, e, &l);
	if (l.broken) {
		return unknown;
	}
	if (l.n != 1 || linear_at(&l, 0)->atom != e) {
		return of_sum(a, &l);
	}
	/* (p k + b) (q l + d) = p q k l + p d k + b q l + b d */
	x = analyse_modular(a, e->args[0]);
	y = analyse_modular(a, e->args[1]);
	{
		int64_t pq, pd, bq;

		if (__builtin_mul_overflow(x.coeff, y.coeff, &pq) ||
		    __builtin_mul_overflow(x.coeff, y.base, &pd) ||
		    __builtin_mul_overflow(x.base, y.coeff, &bq) ||
		    __builtin_mul_overflow(x.base, y.base, &base)) {
			return unknown;
		}
		return reduced(gcd(gcd(pq, pd), bq), base);
	}
}
