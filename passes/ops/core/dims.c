/* SPDX-License-Identifier: Apache-2.0 */
/* Quotients of products of dimensions, and the mapping of positions between
 * shapes. The sums and products are in dim_arithmetic.c. */
#include "dims.h"

/* ---- products ---- */

/* A product: coeff times the factors, which are sorted by their ids. */
struct product {
	int64_t coeff;
	VEC(const struct expr *) factors;
};

static void
product_times(struct module *m, struct product *p, const struct expr *e)
{
	int64_t v;
	int at;

	if (expr_is_int(e, &v)) {
		if (__builtin_mul_overflow(p->coeff, v, &p->coeff)) {
			p->coeff = INT64_MAX;
		}
		return;
	}
	if (e->kind == EXPR_CAST && dtype_class(e->args[0]->type) == DTC_INT &&
	    dtype_bits(e->args[0]->type) <= dtype_bits(e->type)) {
		product_times(m, p, e->args[0]);
		return;
	}
	if (e->kind == EXPR_MUL) {
		product_times(m, p, e->args[0]);
		product_times(m, p, e->args[1]);
		return;
	}
	vec_push(&m->arena, &p->factors, e);
	for (at = p->factors.n - 1;
	     at > 0 && p->factors.data[at - 1]->id > e->id; at--) {
		p->factors.data[at] = p->factors.data[at - 1];
	}
	p->factors.data[at] = e;
}

static struct product
product_of(struct module *m, const struct expr *const *dims, int n)
{
	struct product p = { .coeff = 1 };

	for (int i = 0; i < n; i++) {
		product_times(m, &p, dims[i]);
	}
	return p;
}

/* Is every factor of a also a factor of b? */
static bool
product_within(const struct product *a, const struct product *b)
{
	int j = 0;

	for (int i = 0; i < a->factors.n; i++, j++) {
		while (j < b->factors.n &&
		       b->factors.data[j] != a->factors.data[i]) {
			j++;
		}
		if (j == b->factors.n) {
			return false;
		}
	}
	return true;
}

static bool
product_equal(const struct product *a, const struct product *b)
{
	return a->coeff == b->coeff && a->factors.n == b->factors.n &&
	       product_within(a, b);
}

/* Are the two products provably equal? */
static bool
dim_products_equal(struct module *m, const struct expr *const *a, int n_a,
		   const struct expr *const *b, int n_b)
{
	struct product p = product_of(m, a, n_a), q = product_of(m, b, n_b);

	return product_equal(&p, &q);
}

static const struct expr *
product_expr(struct module *m, const struct product *p)
{
	const struct expr *e = NULL;

	for (int i = 0; i < p->factors.n; i++) {
		e = e ? dim_mul(m, e, p->factors.data[i]) : p->factors.data[i];
	}
	return e ? dim_mul(m, e, expr_index(m, p->coeff))
		 : expr_index(m, p->coeff);
}

static int64_t
common_divisor(int64_t a, int64_t b)
{
	while (b) {
		int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a < 0 ? -a : a;
}

/* Removes the factors that both products have. */
static void
cancel(struct product *p, struct product *q)
{
	int64_t common = common_divisor(p->coeff, q->coeff);

	for (int i = 0; i < q->factors.n; i++) {
		for (int j = 0; j < p->factors.n; j++) {
			if (p->factors.data[j] != q->factors.data[i]) {
				continue;
			}
			for (p->factors.n--; j < p->factors.n; j++) {
				p->factors.data[j] = p->factors.data[j + 1];
			}
			q->factors.n--;
			for (int k = i--; k < q->factors.n; k++) {
				q->factors.data[k] = q->factors.data[k + 1];
			}
			break;
		}
	}
	p->coeff /= common;
	q->coeff /= common;
}

const struct expr *
dim_quotient(struct infer *c, struct module *m, const struct expr *const *num,
	     int n_num, const struct expr *const *den, int n_den)
{
	struct product p = product_of(m, num, n_num);
	struct product q = product_of(m, den, n_den);
	const struct expr *whole, *by;

	if (q.coeff == 0) {
		return p.coeff == 0 ? expr_index(m, 0) : NULL;
	}
	cancel(&p, &q);
	whole = product_expr(m, &p);
	if (q.factors.n == 0 && q.coeff == 1) {
		return whole;
	}
	by = product_expr(m, &q);
	return (p.factors.n == 0 && q.factors.n == 0) ||
			       (c != NULL && !dim_is_multiple(c, whole, by))
		       ? NULL
		       : expr_floordiv(m, whole, by);
}

/* ---- positions ---- */

/* Two groups of dimensions, with the products a and b, have different products.
 * Should the first group, not the second, be extended by a dimension to make
 * them equal? */
static bool
first_lacks(const struct product *a, const struct product *b)
{
	if (!product_within(b, a)) {
		return true;
	}
	return product_within(a, b) && a->coeff < b->coeff;
}

/* Does what dims_reindex does for one group of dimensions with equal products,
 * by computing the row-major offset. */
static void
reindex_group(struct module *m, const struct expr *const *from, int n_from,
	      const struct expr *const *index, const struct expr *const *to,
	      int n_to, const struct expr **out)
{
	const struct expr *flat = expr_i32(m, 0), *stride;
	const struct expr *total = shape_elems(m, from, 0, n_from);
	int first = 0;
	int64_t min, max;
	bool wide = !size_bounds(total, &min, &max) || max > INT32_MAX;

	for (int d = 0; d < n_from; d++) {
		const struct expr *at = index[d];

		if (expr_is_value(from[d], 1)) {
			continue;
		}
		if (wide && n_to > 1) {
			at = expr_cast(m, dtype_of(DT_I64), at);
		}
		flat = expr_add(m, flat,
				expr_mul(m, at,
					 shape_elems(m, from, d + 1, n_from)));
	}
	while (first < n_to - 1 && expr_is_value(to[first], 1)) {
		first++;
	}
	stride = expr_i32(m, 1);
	for (int d = n_to - 1; d >= 0; d--) {
		if (expr_is_value(to[d], 1)) {
			out[d] = expr_i32(m, 0);
			continue;
		}
		out[d] = expr_is_value(stride, 1)
				 ? flat
				 : expr_floordiv(m, flat, stride);
		if (d > first) {
			out[d] = expr_floormod(m, out[d], to[d]);
		}
		stride = expr_mul(m, stride, to[d]);
	}
}

void
dims_reindex(struct module *m, const struct expr *const *from, int n_from,
	     const struct expr *const *index, const struct expr *const *to,
	     int n_to, const struct expr **out)
{
	bool same = dim_products_equal(m, from, n_from, to, n_to);
	int i = 0, o = 0;

	if (expr_is_value(shape_elems(m, from, 0, n_from), 0)) {
		for (; o < n_to; o++) {
			/* the shape is empty: no element is read */
			out[o] = expr_i32(m, 0);
		}
		return;
	}
	while (i < n_from || o < n_to) {
		struct product p = { .coeff = 1 }, q = { .coeff = 1 };
		int i0 = i, o0 = o;

		if (i < n_from && expr_is_value(from[i], 1)) {
			i++;
			continue;
		}
		if (o < n_to && expr_is_value(to[o], 1)) {
			out[o++] = expr_i32(m, 0);
			continue;
		}
		do {
			bool grow = first_lacks(&p, &q) || i == i0;

			if ((grow || o == n_to) && i < n_from) {
				product_times(m, &p, from[i++]);
			} else if (o < n_to) {
				product_times(m, &q, to[o++]);
			}
		} while ((!same || o == o0 || !product_equal(&p, &q)) &&
			 (i < n_from || o < n_to));
		reindex_group(m, from + i0, i - i0, index + i0, to + o0, o - o0,
			      out + o0);
	}
}
