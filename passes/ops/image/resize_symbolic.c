/* SPDX-License-Identifier: Apache-2.0 */
/* Resize between sizes that are known only when the model runs. The scale is a
 * ratio of integers, enlarged / reduced, and so is each position of the input:
 *
 *	x(i) = (i * p + q) / r
 *
 * half_pixel, for example, has p = 2 reduced, q = reduced - enlarged, r = 2
 * enlarged. No position is less than -1/2. */
#include "resize.h"

static const struct expr *
times(struct module *m, const struct expr *e, int64_t by)
{
	return expr_mul(m, e, expr_int(m, e->type, by));
}

/* Do the product of a and b, and eight times this product, provably fit in 32
 * bits? */
static bool
is_narrow(const struct expr *a, const struct expr *b)
{
	int64_t min, most[2];

	return size_bounds(a, &min, &most[0]) &&
	       size_bounds(b, &min, &most[1]) &&
	       most[0] < INT32_MAX / 8 / (most[1] > 0 ? most[1] : 1);
}

/* max(e, 1) */
static const struct expr *
positive(struct module *m, const struct expr *e)
{
	int64_t min, max;

	return size_bounds(e, &min, &max) && min >= 1
		       ? e
		       : expr_max(m, e, expr_int(m, e->type, 1));
}

bool
resize_map_symbolic(struct module *m, const struct node *n,
		    struct resize_axis *a)
{
	const char *mode = node_attr_string(n, "coordinate_transformation_mode",
					    "half_pixel");
	bool aligned = strcmp(mode, "align_corners") == 0;
	bool narrow = is_narrow(a->size, a->result) &&
		      is_narrow(a->size, a->enlarged) &&
		      is_narrow(a->reduced, a->result) &&
		      (a->by_sizes || !aligned);
	struct dtype t = dtype_of(narrow ? DT_I32 : DT_I64);
	const struct expr *s = expr_cast(m, t, a->size);
	const struct expr *count = expr_cast(m, t, a->result);
	const struct expr *d = expr_cast(m, t, a->reduced);
	const struct expr *e = expr_cast(m, t, positive(m, a->enlarged));
	const struct expr *one = expr_int(m, t, 1), *zero = expr_int(m, t, 0);

	a->virtual_size = a->virtual_result = 1;
	if (strcmp(mode, "asymmetric") == 0) {
		a->p = d;
		a->q = zero;
		a->r = e;
		return true;
	}
	if (aligned) {
		a->p = expr_sub(m, s, one);
		a->q = zero;
		a->r = expr_sub(m, count, one);
		if (!a->by_sizes) {
			a->p = expr_mul(m, a->p, d);
			a->r = expr_sub(m, expr_mul(m, s, e), d);
		}
		a->r = positive(m, a->r);
		return true;
	}
	a->p = times(m, d, 2);
	a->q = strcmp(mode, "tf_half_pixel_for_nn") == 0 ? d
							 : expr_sub(m, d, e);
	a->r = times(m, e, 2);
	if (strcmp(mode, "half_pixel_symmetric") == 0 && !a->by_sizes) {
		a->q = expr_add(m, a->q,
				expr_sub(m, expr_mul(m, s, e),
					 expr_mul(m, count, d)));
	} else if (strcmp(mode, "pytorch_half_pixel") == 0) {
		a->q = expr_select(m, expr_lt(m, one, count), a->q, zero);
	}
	return strcmp(mode, "tf_crop_and_resize") != 0;
}

/* The numerator i * p + q of the position x(i) = (i * p + q) / r. */
static const struct expr *
numerator(struct module *m, const struct resize_axis *a, const struct expr *i)
{
	return expr_add(m, expr_mul(m, expr_cast(m, a->p->type, i), a->p),
			a->q);
}

static const struct expr *
as_index(struct module *m, const struct expr *e)
{
	return expr_cast(m, dtype_of(DT_I32), e);
}

const struct expr *
resize_nearest_symbolic(struct module *m, const struct node *n,
			const struct resize_axis *a, const struct expr *i)
{
	const char *mode = resize_rounding(n, a);
	const struct expr *x = numerator(m, a, i), *r = a->r;
	const struct expr *zero = expr_int(m, r->type, 0);
	const struct expr *one = expr_int(m, r->type, 1);
	const struct expr *last = expr_sub(m, a->size, expr_i32(m, 1));

	if (strcmp(mode, "ceil") == 0) {
		x = expr_add(m, x, expr_sub(m, r, one));
	} else if (strcmp(mode, "floor") != 0) {
		/* floor(x + 1/2), or ceil(x - 1/2) */
		x = expr_add(m, times(m, x, 2), r);
		r = times(m, r, 2);
		if (strcmp(mode, "round_prefer_ceil") != 0) {
			x = expr_sub(m, x, one);
		}
	}
	x = as_index(m, expr_floordiv(m, expr_max(m, x, zero), r));
	return expr_min(m, x, last);
}

void
resize_taps_symbolic(struct module *m, const struct resize_axis *a,
		     struct dtype t, const struct expr *i,
		     const struct expr *tap[2], const struct expr **weight)
{
	const struct expr *last = expr_sub(m, a->size, expr_i32(m, 1));
	const struct expr *end = expr_mul(m, expr_cast(m, a->r->type, last),
					  a->r);
	const struct expr *x = expr_max(m, numerator(m, a, i),
					expr_int(m, a->r->type, 0));
	const struct expr *whole;

	x = expr_min(m, x, end);
	whole = expr_floordiv(m, x, a->r);
	x = expr_sub(m, x, expr_mul(m, whole, a->r));
	*weight = expr_div(m, expr_cast(m, t, x), expr_cast(m, t, a->r));
	tap[0] = as_index(m, whole);
	tap[1] = expr_min(m, expr_add(m, tap[0], expr_i32(m, 1)), last);
}

void
resize_split_symbolic(struct module *m, const struct resize_axis *a,
		      struct dtype t, const struct expr *i,
		      const struct expr **whole, const struct expr **fraction)
{
	const struct expr *one = expr_int(m, a->r->type, 1);
	/* x(i) + 1, which is positive, in units of 1 / r, minus one unit */
	const struct expr *x = expr_add(m, numerator(m, a, i),
					expr_sub(m, a->r, one));
	const struct expr *above = expr_floordiv(m, x, a->r);

	*whole = expr_sub(m, as_index(m, above), expr_i32(m, 1));
	x = expr_add(m, expr_sub(m, x, expr_mul(m, above, a->r)), one);
	*fraction = expr_div(m, expr_cast(m, t, x), expr_cast(m, t, a->r));
}
