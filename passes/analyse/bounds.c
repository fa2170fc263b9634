/* SPDX-License-Identifier: Apache-2.0 */
/* The interval of an expression: by arithmetic of intervals (ir/core/bounds.c),
 * where sums are normalized first, so that equal terms cancel; i32 and i64
 * arithmetic is assumed not to overflow, except on loaded values (wraps.c). */
#include "linear.h"

static const struct bounds anything = { BOUND_NEG_INF, BOUND_POS_INF };

static bool
is_inf(int64_t v)
{
	return v == BOUND_NEG_INF || v == BOUND_POS_INF;
}

static struct bounds
variable_bounds(struct analyser *a, const struct var *v)
{
	const struct analyser_var *known = analyser_find(a, v);

	if (known) {
		return known->bounds;
	}
	return bounds_of_operation(v->expr, NULL, NULL);
}

static struct bounds
operand_bounds(void *state, const struct expr *e)
{
	return analyse_bounds(state, e);
}

/* The interval of an expression that is not a sum. */
static struct bounds
atom_bounds(struct analyser *a, const struct expr *e)
{
	return e->kind == EXPR_VAR ? variable_bounds(a, e->u.var)
				   : bounds_of_operation(e, operand_bounds, a);
}

static bool
is_quotient(const struct expr *e, int64_t *divisor)
{
	return e->kind == EXPR_FLOORDIV && expr_is_int(e->args[1], divisor) &&
	       *divisor > 0;
}

/* If term i of l is k * (p // c) and another term is -k * (q // c): sets *out
 * to bounds of both together, computed from the bounds of p - q, which are
 * tighter than the sum of the terms' bounds. Returns the index of the other
 * term, or -1 if there is none. */
static int
quotient_pair(struct analyser *a, const struct linear *l, int i,
	      struct bounds *out)
{
	const struct term *s = linear_at(l, i);
	struct linear d;
	struct bounds b;
	int64_t c, c2;

	if (!is_quotient(s->atom, &c)) {
		return -1;
	}
	for (int j = i + 1; j < l->n; j++) {
		const struct term *t = linear_at(l, j);

		if (t->coeff == INT64_MIN || t->coeff != -s->coeff ||
		    !is_quotient(t->atom, &c2) || c2 != c) {
			continue;
		}
		linear_of(a, s->atom->args[0], &d);
		linear_add_expr(&d, t->atom->args[0], -1);
		if (d.broken || d.n > 0) {
			/* only pairs whose dividends differ by a constant are
			 * used */
			continue;
		}
		b.min = floor_div(d.constant, c);
		b.max = d.constant > INT64_MAX - c
				? BOUND_POS_INF
				: floor_div(d.constant + c - 1, c);
		*out = bounds_scale(b, s->coeff);
		return j;
	}
	return -1;
}

static struct bounds
plain_bounds(struct analyser *a, const struct linear *l)
{
	struct bounds sum = bounds_of_value(l->constant), pair;
	bool used[64] = { false };

	for (int i = 0; i < l->n; i++) {
		const struct term *t = linear_at(l, i);
		int other;

		if (i < 64 && used[i]) {
			continue;
		}
		other = quotient_pair(a, l, i, &pair);
		if (other >= 0 && other < 64) {
			used[other] = true;
			sum = bounds_add(sum, pair);
			continue;
		}
		sum = bounds_add(sum, bounds_scale(analyse_bounds(a, t->atom),
						   t->coeff));
	}
	return sum;
}

/* Do a fact's linear form and l have an atom in common? */
static bool
shares_atom(const struct linear *l, const struct linear *fact)
{
	for (int i = 0; i < l->n; i++) {
		if (linear_coeff(fact, linear_at(l, i)->atom) != 0) {
			return true;
		}
	}
	return false;
}

struct bounds
linear_bounds(struct analyser *a, const struct linear *l)
{
	struct bounds sum;

	if (l->broken) {
		return anything;
	}
	sum = plain_bounds(a, l);
	if (a->plain) {
		return sum;
	}
	/* The bounds of the fact's other atoms could use the same fact, and so
	 * on without end: while `plain` is set, facts are not used. */
	a->plain = true;
	for (int i = 0; i < a->sums.n; i++) {
		const struct linear *fact = &a->sums.data[i]->sum;
		struct linear rest;

		if (!shares_atom(l, fact)) {
			continue;
		}
		/* as fact <= 0: l = fact + (l - fact) <= the maximum of l -
		 * fact */
		linear_copy(&rest, l);
		linear_add(&rest, fact, -1);
		if (!rest.broken && rest.n <= l->n) {
			sum.max = bounds_meet(sum, plain_bounds(a, &rest)).max;
		}
		linear_copy(&rest, l);
		linear_add(&rest, fact, 1);
		if (!rest.broken && rest.n <= l->n) {
			sum.min = bounds_meet(sum, plain_bounds(a, &rest)).min;
		}
	}
	a->plain = false;
	return sum;
}

static struct bounds
fresh_bounds(struct analyser *a, const struct expr *e)
{
	struct linear l;

	if (may_wrap(a, e)) {
		return anything;
	}
	if (type_is_index(e->type) &&
	    (e->kind == EXPR_ADD || e->kind == EXPR_SUB ||
	     e->kind == EXPR_MUL)) {
		linear_of(a, e, &l);
		if (!l.broken && !(l.n == 1 && linear_at(&l, 0)->atom == e)) {
			return linear_bounds(a, &l);
		}
	}
	return atom_bounds(a, e);
}

/* The interval of one variable that follows from the facts; the bounds of all
 * other atoms are taken without facts. */
static struct bounds
variable_with_facts(struct analyser *a, const struct expr *e)
{
	struct bounds b = variable_bounds(a, e->u.var);

	for (int i = 0; i < a->sums.n; i++) {
		const struct linear *fact = &a->sums.data[i]->sum;
		int64_t coeff = linear_coeff(fact, e);
		struct bounds rest = bounds_of_value(fact->constant);

		if (coeff != 1 && coeff != -1) {
			continue;
		}
		for (int j = 0; j < fact->n; j++) {
			const struct term *t = linear_at(fact, j);
			struct bounds x = anything;

			if (t->atom == e) {
				continue;
			}
			if (t->atom->kind == EXPR_VAR) {
				x = variable_bounds(a, t->atom->u.var);
			}
			rest = bounds_add(rest, bounds_scale(x, t->coeff));
		}
		/* coeff * v <= -rest <= -min(rest) */
		if (is_inf(rest.min)) {
			continue;
		}
		if (coeff == 1 && -rest.min < b.max) {
			b.max = -rest.min;
		} else if (coeff == -1 && rest.min > b.min) {
			b.min = rest.min;
		}
	}
	return b;
}

struct bounds
analyse_bounds(struct analyser *a, const struct expr *e)
{
	struct analyser_entry *entry;
	struct bounds b;

	if (e->kind == EXPR_INT) {
		return atom_bounds(a, e);
	}
	if (e->kind == EXPR_VAR) {
		return a->sums.n > 0 && !a->plain && dtype_is_int(e->type)
			       ? variable_with_facts(a, e)
			       : variable_bounds(a, e->u.var);
	}
	entry = analyser_entry(a, e);
	if (entry->bounds_version[a->plain] == a->version) {
		return entry->bounds[a->plain];
	}
	b = fresh_bounds(a, e);
	entry = analyser_entry(a, e);
	entry->bounds[a->plain] = b;
	entry->bounds_version[a->plain] = a->version;
	return b;
}
