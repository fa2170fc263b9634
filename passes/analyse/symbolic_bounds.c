/* SPDX-License-Identifier: Apache-2.0 */
/* Affine decomposition, and symbolic intervals: for example, of the index of an
 * access while some variables run over their ranges.
 *
 *	h * 2 + kh - 1, 0 <= kh < 3     [h * 2 - 1, h * 2 + 1] */
#include "linear.h"

bool
analyse_affine(struct analyser *a, const struct expr *e,
	       struct var *const *vars, int n, int64_t *coeff,
	       const struct expr **rest)
{
	struct linear l, free;

	if (!type_is_index(e->type)) {
		return false;
	}
	linear_init(&l, a);
	linear_add_modulo(&l, simplify(a, e), 1);
	if (l.broken) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		coeff[i] = 0;
	}
	linear_init(&free, a);
	free.constant = l.constant;
	for (int t = 0; t < l.n; t++) {
		struct term term = *linear_at(&l, t);
		bool taken = false;

		for (int i = 0; i < n && !taken; i++) {
			if (term.atom == vars[i]->expr) {
				coeff[i] += term.coeff;
				taken = true;
			} else if (expr_uses_var(term.atom, vars[i])) {
				return false;
			}
		}
		if (!taken) {
			linear_add_term(&free, term.atom, term.coeff);
		}
	}
	linear_fit(&free, e->type);
	if (free.broken) {
		return false;
	}
	*rest = linear_emit(a, &free, e->type);
	return true;
}

struct cover {
	struct analyser *a;
	const struct iter_var *relaxed;
	int n;
	int depth;
};

struct interval {
	const struct expr *min, *max; /* NULL: unbounded */
};

static struct interval cover_expr(struct cover *c, const struct expr *e);

static const struct iter_var *
relaxed_of(const struct cover *c, const struct var *v)
{
	for (int i = 0; i < c->n; i++) {
		if (c->relaxed[i].var == v) {
			return &c->relaxed[i];
		}
	}
	return NULL;
}

static bool
is_free(const struct cover *c, const struct expr *e)
{
	for (int i = 0; i < c->n; i++) {
		if (expr_uses_var(e, c->relaxed[i].var)) {
			return false;
		}
	}
	return true;
}

static const struct expr *
constant_end(struct cover *c, struct dtype t, int64_t v)
{
	if (v == BOUND_NEG_INF || v == BOUND_POS_INF || v < dtype_min_int(t) ||
	    v > (int64_t)dtype_max_int(t)) {
		return NULL;
	}
	return expr_int(c->a->module, t, v);
}

static struct interval
by_bounds(struct cover *c, const struct expr *e)
{
	struct bounds b = analyse_bounds(c->a, e);

	return (struct interval){ constant_end(c, e->type, b.min),
				  constant_end(c, e->type, b.max) };
}

static struct interval
cover_var(struct cover *c, const struct expr *e)
{
	const struct iter_var *r = relaxed_of(c, e->u.var);
	struct module *m = c->a->module;
	struct interval first, last;

	first = cover_expr(c, r->min);
	last = cover_expr(c, expr_sub(m, expr_add(m, r->min, r->extent),
				      expr_int(m, e->type, 1)));
	return (struct interval){ first.min, last.max };
}

/* The simplified x OP y; NULL if an operand is NULL (no bound). */
static const struct expr *
ends(struct cover *c, enum expr_kind kind, const struct expr *x,
     const struct expr *y)
{
	if (!x || !y) {
		return NULL;
	}
	return simplify(c->a, expr_binary(c->a->module, kind, x, y));
}

static struct interval
cover_division(struct cover *c, const struct expr *e)
{
	struct module *m = c->a->module;
	const struct expr *d = e->args[1];
	struct interval x, r;

	if (!is_free(c, d) || analyse_bounds(c->a, d).min <= 0) {
		return by_bounds(c, e);
	}
	x = cover_expr(c, e->args[0]);
	r.min = ends(c, EXPR_FLOORDIV, x.min, d);
	r.max = ends(c, EXPR_FLOORDIV, x.max, d);
	if (e->kind == EXPR_FLOORDIV) {
		return r;
	}
	if (r.min && r.max && prove_equal(c->a, r.min, r.max)) {
		/* If x stays within one period, its remainder is an
		 * interval. */
		r.min = ends(c, EXPR_FLOORMOD, x.min, d);
		r.max = ends(c, EXPR_FLOORMOD, x.max, d);
		return r;
	}
	r = by_bounds(c, e);
	if (!r.min) {
		r.min = expr_int(m, e->type, 0);
	}
	if (!r.max) {
		r.max = ends(c, EXPR_SUB, d, expr_int(m, e->type, 1));
	}
	return r;
}

static struct interval
cover_product(struct cover *c, const struct expr *e)
{
	struct bounds b;
	struct interval x;

	for (int i = 0; i < 2; i++) {
		const struct expr *factor = e->args[1 - i];

		if (!is_free(c, factor)) {
			continue;
		}
		b = analyse_bounds(c->a, factor);
		x = cover_expr(c, e->args[i]);
		if (b.min >= 0) {
			return (struct interval){
				ends(c, EXPR_MUL, x.min, factor),
				ends(c, EXPR_MUL, x.max, factor)
			};
		}
		if (b.max <= 0) {
			return (struct interval){
				ends(c, EXPR_MUL, x.max, factor),
				ends(c, EXPR_MUL, x.min, factor)
			};
		}
	}
	return by_bounds(c, e);
}

/* The interval of a minimum or maximum. The upper bound of a minimum needs only
 * one operand with an upper bound. */
static struct interval
cover_extreme(struct cover *c, enum expr_kind kind, struct interval x,
	      struct interval y)
{
	struct interval r = { ends(c, kind, x.min, y.min),
			      ends(c, kind, x.max, y.max) };

	if (kind == EXPR_MIN && !r.max) {
		r.max = x.max ? x.max : y.max;
	}
	if (kind == EXPR_MAX && !r.min) {
		r.min = x.min ? x.min : y.min;
	}
	return r;
}

/* The interval of an expression that is not a sum. */
static struct interval
cover_atom(struct cover *c, const struct expr *e)
{
	struct interval x, y;

	if (is_free(c, e)) {
		return (struct interval){ e, e };
	}
	if (may_wrap(c->a, e)) {
		return by_bounds(c, e);
	}
	switch (e->kind) {
	case EXPR_VAR:
		return cover_var(c, e);
	case EXPR_FLOORDIV:
	case EXPR_FLOORMOD:
		return cover_division(c, e);
	case EXPR_MUL:
		return cover_product(c, e);
	case EXPR_MIN:
	case EXPR_MAX:
		x = cover_expr(c, e->args[0]);
		y = cover_expr(c, e->args[1]);
		return cover_extreme(c, e->kind, x, y);
	case EXPR_SELECT:
	case EXPR_IF:
		x = cover_expr(c, e->args[1]);
		y = cover_expr(c, e->args[2]);
		return (struct interval){ ends(c, EXPR_MIN, x.min, y.min),
					  ends(c, EXPR_MAX, x.max, y.max) };
	case EXPR_CAST:
		if (!type_is_index(e->args[0]->type)) {
			return by_bounds(c, e);
		}
		x = cover_expr(c, e->args[0]);
		if (x.min) {
			x.min = expr_cast(c->a->module, e->type, x.min);
		}
		if (x.max) {
			x.max = expr_cast(c->a->module, e->type, x.max);
		}
		return x;
	default:
		return by_bounds(c, e);
	}
}

/* Adds the interval x, times coeff, to the linear forms of the lower end (low)
 * and the upper end (high). Sets *no_low or *no_high if x has no end on that
 * side. */
static void
add_interval(struct linear *low, struct linear *high, struct interval x,
	     int64_t coeff, bool *no_low, bool *no_high)
{
	const struct expr *at_low = coeff > 0 ? x.min : x.max;
	const struct expr *at_high = coeff > 0 ? x.max : x.min;

	*no_low |= !at_low;
	*no_high |= !at_high;
	if (at_low) {
		linear_add_expr(low, at_low, coeff);
	}
	if (at_high) {
		linear_add_expr(high, at_high, coeff);
	}
}

static struct interval
cover_expr(struct cover *c, const struct expr *e)
{
	struct interval r = { NULL, NULL };
	struct linear l, low, high;
	bool no_low = false, no_high = false;

	e = simplify(c->a, e);
	if (is_free(c, e)) {
		return (struct interval){ e, e };
	}
	if (++c->depth > 64 || !type_is_index(e->type)) {
		r = by_bounds(c, e);
		c->depth--;
		return r;
	}
	linear_of(c->a, e, &l);
	linear_init(&low, c->a);
	linear_init(&high, c->a);
	low.constant = high.constant = l.constant;
	for (int i = 0; i < l.n; i++) {
		struct term t = *linear_at(&l, i);

		add_interval(&low, &high, cover_atom(c, t.atom), t.coeff,
			     &no_low, &no_high);
	}
	linear_fit(&low, e->type);
	linear_fit(&high, e->type);
	if (l.broken || low.broken || high.broken) {
		r = by_bounds(c, e);
	} else {
		if (!no_low) {
			r.min = linear_emit(c->a, &low, e->type);
		}
		if (!no_high) {
			r.max = linear_emit(c->a, &high, e->type);
		}
	}
	c->depth--;
	return r;
}

bool
analyse_cover(struct analyser *a, const struct expr *e,
	      const struct iter_var *relaxed, int n, const struct expr **min,
	      const struct expr **max)
{
	struct cover c = { a, relaxed, n, 0 };
	struct analyser_mark mark = analyser_mark(a);
	struct interval r;

	for (int i = 0; i < n; i++) {
		analyser_bind(a, relaxed[i].var, relaxed[i].min,
			      relaxed[i].extent);
	}
	r = cover_expr(&c, e);
	analyser_pop(a, mark);
	*min = r.min ? simplify(a, r.min) : NULL;
	*max = r.max ? simplify(a, r.max) : NULL;
	return r.min && r.max;
}
