/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes and what they have in common. */
#include "region.h"

const struct expr *
range_last(struct module *m, const struct range *r)
{
	return expr_sub(m, expr_add(m, r->min, r->extent), expr_i32(m, 1));
}

static const struct expr *
range_end(struct module *m, const struct range *r)
{
	return expr_add(m, r->min, r->extent);
}

bool
region_equal(struct analyser *a, const struct range *x, const struct range *y,
	     int ndim)
{
	for (int d = 0; d < ndim; d++) {
		if (!prove_equal(a, x[d].min, y[d].min) ||
		    !prove_equal(a, x[d].extent, y[d].extent)) {
			return false;
		}
	}
	return true;
}

static bool
is_empty(struct analyser *a, const struct range *x, int ndim)
{
	for (int d = 0; d < ndim; d++) {
		if (prove(a, expr_le(a->module, x[d].extent,
				     expr_i32(a->module, 0)))) {
			return true;
		}
	}
	return false;
}

static bool
covers(struct analyser *a, const struct range *x, const struct range *y)
{
	struct module *m = a->module;

	return prove(a, expr_le(m, x->min, y->min)) &&
	       prove(a, expr_le(m, range_end(m, y), range_end(m, x)));
}

bool
region_covers(struct analyser *a, const struct range *x, const struct range *y,
	      int ndim)
{
	for (int d = 0; d < ndim; d++) {
		if (!covers(a, &x[d], &y[d])) {
			return is_empty(a, y, ndim);
		}
	}
	return true;
}

bool
region_disjoint(struct analyser *a, const struct range *x,
		const struct range *y, int ndim)
{
	struct module *m = a->module;

	for (int d = 0; d < ndim; d++) {
		if (prove(a, expr_le(m, range_end(m, &x[d]), y[d].min)) ||
		    prove(a, expr_le(m, range_end(m, &y[d]), x[d].min))) {
			return true;
		}
	}
	return is_empty(a, x, ndim) || is_empty(a, y, ndim);
}

/* The smaller or larger of the two. */
static const struct expr *
extreme(struct analyser *a, const struct expr *x, const struct expr *y,
	bool smaller)
{
	struct module *m = a->module;

	if (x == y || prove(a, expr_le(m, x, y))) {
		return smaller ? x : y;
	}
	if (prove(a, expr_le(m, y, x))) {
		return smaller ? y : x;
	}
	return smaller ? expr_min(m, x, y) : expr_max(m, x, y);
}

static void
combine(struct analyser *a, const struct range *x, const struct range *y,
	bool both, struct range *out)
{
	struct module *m = a->module;
	const struct expr *min = extreme(a, x->min, y->min, !both);
	const struct expr *end = extreme(a, range_end(m, x), range_end(m, y),
					 both);

	out->min = simplify(a, min);
	out->extent = simplify(a, expr_sub(m, end, min));
}

void
region_union(struct analyser *a, const struct range *x, const struct range *y,
	     int ndim, struct range *out)
{
	for (int d = 0; d < ndim; d++) {
		combine(a, &x[d], &y[d], false, &out[d]);
	}
}

void
region_intersect(struct analyser *a, const struct range *x,
		 const struct range *y, int ndim, struct range *out)
{
	for (int d = 0; d < ndim; d++) {
		combine(a, &x[d], &y[d], true, &out[d]);
	}
}

bool
region_difference(struct analyser *a, const struct range *x,
		  const struct range *y, int ndim, struct range *out)
{
	struct module *m = a->module;
	int open = -1, n_open = 0;

	for (int d = 0; d < ndim; d++) {
		out[d] = x[d];
		if (!covers(a, &y[d], &x[d])) {
			open = d;
			n_open++;
		}
	}
	if (n_open == 0) {
		return false;
	}
	if (n_open > 1 || region_disjoint(a, x, y, ndim)) {
		return true;
	}
	if (prove(a, expr_le(m, y[open].min, x[open].min))) {
		/* y takes the front. */
		out[open].min = extreme(a, range_end(m, &y[open]), x[open].min,
					false);
		out[open].extent = expr_sub(m, range_end(m, &x[open]),
					    out[open].min);
	} else if (prove(a, expr_le(m, range_end(m, &x[open]),
				    range_end(m, &y[open])))) {
		out[open].extent = expr_sub(m,
					    extreme(a, y[open].min,
						    range_end(m, &x[open]),
						    true),
					    x[open].min);
	}
	out[open].min = simplify(a, out[open].min);
	out[open].extent = simplify(a, out[open].extent);
	return true;
}

bool
region_touched(struct func *f, const struct stmt *top, struct stmt *s,
	       const struct buffer *buffer, bool writes, struct range *out)
{
	struct access_list all = { 0 };
	int n = 0;

	access_collect(f, s, buffer, &all);
	for (int i = 0; i < all.list.n; i++) {
		if (!all.list.data[i].load == writes) {
			all.list.data[n++] = all.list.data[i];
		}
	}
	return n > 0 && access_box(f, top, all.list.data, n, out);
}

void
region_full(struct module *m, const struct buffer *b, struct range *out)
{
	for (int d = 0; d < b->ndim; d++) {
		out[d].min = expr_int(m, b->shape[d]->type, 0);
		out[d].extent = b->shape[d];
	}
}
