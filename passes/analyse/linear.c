/* SPDX-License-Identifier: Apache-2.0 */
/* Linear forms. Two sums are equal if they have the same terms; of equal sums,
 * the analyser uses the expression that it met first, so that emitted code has
 * `wo * 7 + wi + kw` as it was written, and not in an order that the analyser
 * chose. */
#include "linear.h"

/* The most nodes visited in nested sums; a part beyond it counts as one atom.
 * Without the limit, shared nodes could expand to sums of exponential
 * length. */
enum { SUM_NODES = 80 };

int64_t
gcd(int64_t x, int64_t y)
{
	while (y != 0) {
		int64_t r = y == -1 ? 0 : x % y;

		x = y;
		y = r;
	}
	if (x == INT64_MIN) {
		/* INT64_MIN has no absolute value in int64; 1 is always a
		 * common divisor */
		return 1;
	}
	return x < 0 ? -x : x;
}

bool
type_is_index(struct dtype t)
{
	return t.lanes == 1 && (t.kind == DT_I32 || t.kind == DT_I64);
}

void
linear_init(struct linear *l, struct analyser *a)
{
	l->analyser = a;
	l->constant = 0;
	l->n = 0;
	l->cap = LINEAR_INLINE;
	l->broken = false;
	l->more = NULL;
}

struct term *
linear_terms(struct linear *l)
{
	return l->more ? l->more : l->inside;
}

const struct term *
linear_at(const struct linear *l, int i)
{
	return l->more ? &l->more[i] : &l->inside[i];
}

void
linear_copy(struct linear *to, const struct linear *from)
{
	*to = *from;
	if (from->more) {
		to->more = arena_copy(from->analyser->arena, from->more,
				      sizeof *from->more * (size_t)from->cap);
	}
}

int64_t
linear_coeff(const struct linear *l, const struct expr *atom)
{
	for (int i = 0; i < l->n; i++) {
		if (linear_at(l, i)->atom == atom) {
			return linear_at(l, i)->coeff;
		}
	}
	return 0;
}

void
linear_add_constant(struct linear *l, int64_t v)
{
	l->broken |= __builtin_add_overflow(l->constant, v, &l->constant) ||
		     l->constant == INT64_MIN;
}

static void
grow(struct linear *l)
{
	struct term *more = arena_array(l->analyser->arena, struct term,
					l->cap * 2);

	memcpy(more, linear_terms(l), sizeof *more * (size_t)l->n);
	l->more = more;
	l->cap *= 2;
}

void
linear_add_term(struct linear *l, const struct expr *atom, int64_t coeff)
{
	struct term *terms = linear_terms(l);

	if (coeff == 0 || coeff == INT64_MIN) {
		l->broken |= coeff != 0;
		return;
	}
	for (int i = 0; i < l->n; i++) {
		if (terms[i].atom != atom) {
			continue;
		}
		l->broken |= __builtin_add_overflow(terms[i].coeff, coeff,
						    &terms[i].coeff) ||
			     terms[i].coeff == INT64_MIN;
		if (terms[i].coeff == 0) {
			l->n--;
			memmove(&terms[i], &terms[i + 1],
				sizeof *terms * (size_t)(l->n - i));
		}
		return;
	}
	if (l->n == l->cap) {
		grow(l);
		terms = linear_terms(l);
	}
	terms[l->n++] = (struct term){ atom, coeff };
}

void
linear_add(struct linear *l, const struct linear *other, int64_t scale)
{
	int64_t v = 0;

	l->broken |= other->broken ||
		     __builtin_mul_overflow(other->constant, scale, &v);
	if (l->broken) {
		return;
	}
	linear_add_constant(l, v);
	for (int i = 0; i < other->n && !l->broken; i++) {
		const struct term *t = linear_at(other, i);

		l->broken |= __builtin_mul_overflow(t->coeff, scale, &v);
		linear_add_term(l, t->atom, v);
	}
}

/* Is v a value of the type t, an index type? */
static bool
is_value_of(int64_t v, struct dtype t)
{
	return v >= dtype_min_int(t) && v <= (int64_t)dtype_max_int(t);
}

/* A product whose factor leaves its type, (x * 70000) * 60000 of int32, stays a
 * product of smaller factors: linear_emit writes factors of that type. */
static void
add_expr(struct linear *l, const struct expr *e, int64_t scale, bool modulo,
	 int *budget)
{
	int64_t v;

	if (l->broken || scale == 0) {
		return;
	}
	if (e->kind == EXPR_INT) {
		l->broken |= __builtin_mul_overflow(e->u.ival, scale, &v);
		linear_add_constant(l, l->broken ? 0 : v);
		return;
	}
	if (--*budget > 0 && type_is_index(e->type) &&
	    (modulo || !may_wrap(l->analyser, e))) {
		switch (e->kind) {
		case EXPR_ADD:
			add_expr(l, e->args[0], scale, modulo, budget);
			add_expr(l, e->args[1], scale, modulo, budget);
			return;
		case EXPR_SUB:
			add_expr(l, e->args[0], scale, modulo, budget);
			if (scale == INT64_MIN) {
				l->broken = true;
				return;
			}
			add_expr(l, e->args[1], -scale, modulo, budget);
			return;
		case EXPR_MUL:
			for (int i = 0; i < 2; i++) {
				const struct expr *c = e->args[1 - i];

				if (c->kind != EXPR_INT) {
					continue;
				}
				if (__builtin_mul_overflow(c->u.ival, scale,
							   &v) ||
				    !is_value_of(v, e->type)) {
					linear_add_term(l, e, scale);
				} else {
					add_expr(l, e->args[i], v, modulo,
						 budget);
				}
				return;
			}
			break;
		default:
			break;
		}
	}
	linear_add_term(l, e, scale);
}

void
linear_add_expr(struct linear *l, const struct expr *e, int64_t scale)
{
	int budget = SUM_NODES;

	add_expr(l, e, scale, false, &budget);
}

void
linear_add_modulo(struct linear *l, const struct expr *e, int64_t scale)
{
	int budget = SUM_NODES;

	add_expr(l, e, scale, true, &budget);
}

void
linear_fit(struct linear *l, struct dtype t)
{
	l->broken |= !is_value_of(l->constant, t);
	for (int i = 0; i < l->n; i++) {
		l->broken |= !is_value_of(linear_at(l, i)->coeff, t);
	}
}

void
linear_of(struct analyser *a, const struct expr *e, struct linear *out)
{
	linear_init(out, a);
	linear_add_expr(out, e, 1);
}

int64_t
linear_gcd(const struct linear *l)
{
	int64_t g = 0;

	for (int i = 0; i < l->n; i++) {
		g = gcd(g, linear_at(l, i)->coeff);
	}
	return g;
}

/* -- the order in which the parts of a sum or product were first written */

struct analyser_order {
	const struct expr *sorted, *written;
};

static struct analyser_order *
order_slot(struct analyser_order *table, uint32_t cap, const struct expr *e)
{
	uint32_t at = e->hash & (cap - 1);

	while (table[at].sorted && table[at].sorted != e) {
		at = (at + 1) & (cap - 1);
	}
	return &table[at];
}

static struct analyser_order *
order_find(struct analyser *a, const struct expr *sorted)
{
	if ((a->n_orders + 1) * 4 > a->cap_orders * 3) {
		uint32_t cap = a->cap_orders ? a->cap_orders * 2 : 32;
		struct analyser_order *table =
			arena_array(a->arena, struct analyser_order, cap);

		for (uint32_t i = 0; i < a->cap_orders; i++) {
			if (a->orders[i].sorted) {
				*order_slot(table, cap,
					    a->orders[i].sorted) = a->orders[i];
			}
		}
		a->orders = table;
		a->cap_orders = cap;
	}
	return order_slot(a->orders, a->cap_orders, sorted);
}

/* -- products */

bool
product_add(struct product *p, const struct expr *e)
{
	if (e->kind == EXPR_INT) {
		return !__builtin_mul_overflow(p->scale, e->u.ival, &p->scale);
	}
	if (e->kind == EXPR_MUL) {
		return product_add(p, e->args[0]) && product_add(p, e->args[1]);
	}
	if (p->n == PRODUCT_FACTORS) {
		return false;
	}
	p->factor[p->n++] = e;
	return true;
}

bool
product_divide(struct product *p, const struct product *d)
{
	struct product left = *p;

	if (d->scale == 0 || d->scale == -1 || left.scale % d->scale != 0) {
		return false;
	}
	left.scale /= d->scale;
	for (int i = 0; i < d->n; i++) {
		int j = 0;

		while (j < left.n && left.factor[j] != d->factor[i]) {
			j++;
		}
		if (j == left.n) {
			return false;
		}
		left.n--;
		memmove(&left.factor[j], &left.factor[j + 1],
			sizeof left.factor[0] * (size_t)(left.n - j));
	}
	*p = left;
	return true;
}

static const struct expr *
multiply(struct module *m, const struct product *p)
{
	const struct expr *e = p->factor[0];

	for (int i = 1; i < p->n; i++) {
		e = expr_mul(m, e, p->factor[i]);
	}
	return e;
}

void
linear_add_product(struct analyser *a, struct linear *l,
		   const struct product *p)
{
	struct product sorted = *p;
	struct analyser_order *order;
	const struct expr *node;

	if (p->n == 0) {
		linear_add_constant(l, p->scale);
		return;
	}
	/* a factor may be a sum only if it is the only factor */
	if (p->n == 1) {
		linear_add_modulo(l, p->factor[0], p->scale);
		return;
	}
	for (int i = 1; i < sorted.n; i++) {
		const struct expr *e = sorted.factor[i];
		int j = i;

		while (j > 0 && sorted.factor[j - 1]->id > e->id) {
			sorted.factor[j] = sorted.factor[j - 1];
			j--;
		}
		sorted.factor[j] = e;
	}
	node = multiply(a->module, &sorted);
	order = order_find(a, node);
	if (!order->sorted) {
		order->sorted = node;
		order->written = multiply(a->module, p);
		a->n_orders++;
	}
	linear_add_term(l, order->written, p->scale);
}

/* -- back to an expression */

static const struct expr *
emit_term(struct module *m, struct dtype t, struct term term)
{
	return expr_mul(m, term.atom, expr_int(m, t, term.coeff));
}

/* Emits the positive terms, then the negative terms, then the constant. If no
 * term is positive, the constant comes first. */
static const struct expr *
emit_in_order(struct module *m, const struct linear *l, struct dtype t)
{
	const struct expr *e = NULL;
	int64_t constant = l->constant;

	for (int i = 0; i < l->n; i++) {
		if (linear_at(l, i)->coeff > 0) {
			const struct expr *x = emit_term(m, t,
							 *linear_at(l, i));

			e = e ? expr_add(m, e, x) : x;
		}
	}
	if (!e) {
		e = expr_int(m, t, constant);
		constant = 0;
	}
	for (int i = 0; i < l->n; i++) {
		struct term term = *linear_at(l, i);

		if (term.coeff < 0) {
			term.coeff = -term.coeff;
			e = expr_sub(m, e, emit_term(m, t, term));
		}
	}
	if (constant < 0 && constant != INT64_MIN) {
		return expr_sub(m, e, expr_int(m, t, -constant));
	}
	return expr_add(m, e, expr_int(m, t, constant));
}

static void
sort_terms(struct linear *l)
{
	struct term *terms = linear_terms(l);

	for (int i = 1; i < l->n; i++) {
		struct term t = terms[i];
		int j = i;

		while (j > 0 && terms[j - 1].atom->id > t.atom->id) {
			terms[j] = terms[j - 1];
			j--;
		}
		terms[j] = t;
	}
}

static bool
is_sorted(const struct linear *l)
{
	for (int i = 1; i < l->n; i++) {
		if (linear_at(l, i - 1)->atom->id > linear_at(l, i)->atom->id) {
			return false;
		}
	}
	return true;
}

const struct expr *
linear_emit(struct analyser *a, const struct linear *l, struct dtype t)
{
	struct linear sorted;
	struct analyser_order *order;
	const struct expr *node, *written;

	if (l->n < 2) {
		return emit_in_order(a->module, l, t);
	}
	if (is_sorted(l)) {
		node = written = emit_in_order(a->module, l, t);
	} else {
		linear_copy(&sorted, l);
		sort_terms(&sorted);
		node = emit_in_order(a->module, &sorted, t);
		written = NULL;
	}
	order = order_find(a, node);
	if (!order->sorted) {
		order->sorted = node;
		order->written = written ? written
					 : emit_in_order(a->module, l, t);
		a->n_orders++;
	}
	return order->written;
}
