/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions, running sums, sorting. */
#include "array.h"

#include <math.h>

/* The reduced elements of each result: x with the reduced dimensions last. */
struct reducing {
	/* a dense array: first the dimensions that are kept, then the reduced
	 * ones */
	const struct array *x;
	int64_t kept, each; /* their numbers of elements */
	int64_t run;        /* the trailing elements that NumPy adds as a
				* block */
	struct dtype sum;   /* the type in which partial sums are computed */
};

static double
rounded(struct dtype t, double v)
{
	return number_round(t, (union number){ .f = v }).f;
}

/* The sum of n floats of x, starting at element `at`, in the type t, as NumPy's
 * pairwise summation: blocks of at most 128 numbers in 8 partial sums, then the
 * sums of both halves. squares: sums the squares of their differences to
 * `mean`. */
static double
pairwise(const struct array *x, struct dtype t, int64_t at, int64_t n)
{
	double r[8], sum;
	int64_t i;

	if (n < 8) {
		sum = -0.0;
		for (i = 0; i < n; i++) {
			sum = rounded(t, sum + array_float(x, at + i));
		}
		return sum;
	}
	if (n > 128) {
		int64_t half = n / 2;

		half -= half % 8;
		sum = pairwise(x, t, at, half);
		sum += pairwise(x, t, at + half, n - half);
		return rounded(t, sum);
	}
	for (i = 0; i < 8; i++) {
		r[i] = array_float(x, at + i);
	}
	for (i = 8; i < n - n % 8; i++) {
		r[i % 8] = rounded(t, r[i % 8] + array_float(x, at + i));
	}
	for (int k = 1; k < 8; k *= 2) {
		for (int j = 0; j < 8; j += 2 * k) {
			r[j] = rounded(t, r[j] + r[j + k]);
		}
	}
	for (; i < n; i++) {
		r[0] = rounded(t, r[0] + array_float(x, at + i));
	}
	return r[0];
}

/* The sum of the elements of result k. */
static double
float_sum(const struct reducing *r, int64_t k)
{
	double sum = -0.0;

	for (int64_t i = 0; i < r->each; i += r->run) {
		sum = rounded(r->sum, sum + pairwise(r->x, r->sum,
						     k * r->each + i, r->run));
	}
	return r->each == 0 ? 0 : sum;
}

static union number
int_fold(const struct reducing *r, int64_t k, bool product)
{
	union number v = { .u = product };

	for (int64_t i = 0; i < r->each; i++) {
		union number e = array_get(r->x, k * r->each + i);

		v.u = product ? v.u * e.u : v.u + e.u;
	}
	return number_round(r->sum, v);
}

static double
float_product(const struct reducing *r, int64_t k)
{
	double v = 1;

	for (int64_t i = 0; i < r->each; i++) {
		v = rounded(r->sum, v * array_float(r->x, k * r->each + i));
	}
	return v;
}

/* Is a, and not b, a NaN? order: of both. */
static bool
is_nan_beside(int order, union number a, union number b)
{
	return order == 2 && isnan(a.f) && !isnan(b.f);
}

/* The position of the largest (`max`) or smallest of the elements that are
 * reduced to result k; the position of the first NaN if there is one. */
static int64_t
extreme(const struct reducing *r, int64_t k, bool max)
{
	struct dtype t = r->x->type;
	int64_t best = 0;

	for (int64_t i = 1; i < r->each; i++) {
		union number a = array_get(r->x, k * r->each + best);
		union number b = array_get(r->x, k * r->each + i);
		int order = array_order(t, b, a);

		if (order == (max ? 1 : -1) || is_nan_beside(order, b, a)) {
			best = i;
		}
	}
	return best;
}

static bool
any_of(const struct reducing *r, int64_t k, bool truth)
{
	for (int64_t i = 0; i < r->each; i++) {
		if ((array_float(r->x, k * r->each + i) != 0) == truth) {
			return true;
		}
	}
	return false;
}

/* The mean square of the differences to the mean. */
static double
variance(const struct reducing *r, int64_t k, struct array *square)
{
	double mean = rounded(r->sum, float_sum(r, k) / (double)r->each);
	struct reducing of = *r;

	for (int64_t i = 0; i < r->each; i++) {
		union number v = array_get(r->x, k * r->each + i);
		double d = rounded(r->sum, number_double(r->x->type, v) - mean);

		v.f = rounded(r->sum, d * d);
		number_store(square->type, square->data, (size_t)i, v);
	}
	of.x = square;
	return float_sum(&of, 0) / (double)r->each;
}

/* Returns the type of the result of the reduction `what` over elements of type
 * t, and sets *sum to the type of its partial sums. */
static struct dtype
result_type(enum array_reduction what, struct dtype t, struct dtype *sum)
{
	bool is_float = dtype_is_float(t);

	*sum = t;
	switch (what) {
	case REDUCE_SUM:
	case REDUCE_PROD:
		if (!is_float) {
			t = dtype_of(dtype_class(t) == DTC_UINT ? DT_U64
								: DT_I64);
		}
		*sum = is_float && dtype_bits(t) < 32 ? dtype_of(DT_F32) : t;
		return t;
	case REDUCE_MEAN:
	case REDUCE_VAR:
	case REDUCE_STD:
		t = is_float ? t : dtype_of(DT_F64);
		*sum = dtype_bits(t) < 32 ? dtype_of(DT_F32) : t;
		return t;
	case REDUCE_ALL:
	case REDUCE_ANY:
		return dtype_of(DT_BOOL);
	case REDUCE_ARGMAX:
	case REDUCE_ARGMIN:
		return dtype_of(DT_I64);
	default:
		return t;
	}
}

static union number
reduce_one(const struct reducing *r, enum array_reduction what, int64_t k,
	   struct array *room)
{
	bool is_float = dtype_is_float(r->sum);
	union number v = { .i = 0 };

	switch (what) {
	case REDUCE_SUM:
		if (!is_float) {
			return int_fold(r, k, false);
		}
		v.f = float_sum(r, k);
		return v;
	case REDUCE_PROD:
		if (!is_float) {
			return int_fold(r, k, true);
		}
		v.f = float_product(r, k);
		return v;
	case REDUCE_MEAN:
		v.f = float_sum(r, k) / (double)r->each;
		return v;
	case REDUCE_VAR:
		v.f = variance(r, k, room);
		return v;
	case REDUCE_STD:
		v.f = sqrt(rounded(r->sum, variance(r, k, room)));
		return v;
	case REDUCE_ALL:
		v.i = !any_of(r, k, false);
		return v;
	case REDUCE_ANY:
		v.i = any_of(r, k, true);
		return v;
	case REDUCE_ARGMAX:
	case REDUCE_ARGMIN:
		v.i = extreme(r, k, what == REDUCE_ARGMAX);
		return v;
	default:
		return array_get(r->x,
				 k * r->each +
					 extreme(r, k, what == REDUCE_MAX));
	}
}

/* Sets r->x, r->kept, r->each and r->run, and shape and *ndim to the shape of
 * the result. False after an error. */
static bool
arrange(struct array_work *w, const struct array *x, const bool *over,
	bool keepdims, struct reducing *r, int64_t *shape, int *ndim)
{
	int axes[ARRAY_MAX_RANK], n = 0;

	r->kept = r->each = r->run = 1;
	*ndim = 0;
	for (int d = 0; d < x->ndim; d++) {
		if (!over[d]) {
			axes[n++] = d;
			r->kept = quota_times(r->kept, x->shape[d]);
			shape[(*ndim)++] = x->shape[d];
		} else if (keepdims) {
			shape[(*ndim)++] = 1;
		}
	}
	for (int d = 0; d < x->ndim; d++) {
		if (over[d]) {
			axes[n++] = d;
			r->each = quota_times(r->each, x->shape[d]);
		}
	}
	for (int d = x->ndim - 1; d >= 0 && over[d]; d--) {
		r->run = quota_times(r->run, x->shape[d]);
	}
	r->x = array_transpose(w, x, axes);
	if (!array_is_dense(r->x) || r->x->offset != 0) {
		r->x = array_cast(w, r->x, x->type);
	}
	return r->x && array_count(w, array_elems(x));
}

struct array *
array_reduce(struct array_work *w, enum array_reduction what,
	     const struct array *x, const bool *over, bool keepdims)
{
	struct reducing r = { 0 };
	struct dtype type = result_type(what, x->type, &r.sum);
	int64_t shape[ARRAY_MAX_RANK];
	struct array *out, *room = NULL;
	int ndim;

	if (!arrange(w, x, over, keepdims, &r, shape, &ndim)) {
		return NULL;
	}
	if (r.each == 0 && (what == REDUCE_MAX || what == REDUCE_MIN ||
			    what == REDUCE_ARGMAX || what == REDUCE_ARGMIN)) {
		return array_fail(w, "the largest of no elements; the array is "
				     "empty");
	}
	if (what == REDUCE_VAR || what == REDUCE_STD) {
		room = array_new(w, r.sum, 1, &r.each);
		if (!room || !array_count(w, quota_times(array_elems(x), 4))) {
			return NULL;
		}
	}
	out = array_new(w, type, ndim, shape);
	for (int64_t k = 0; out && k < r.kept; k++) {
		number_store(type, out->data, (size_t)k,
			     number_round(type, reduce_one(&r, what, k, room)));
	}
	if (out) {
		out->scalar = ndim == 0;
	}
	return out;
}

struct array *
array_cumulate(struct array_work *w, const struct array *x, int axis,
	       bool product)
{
	struct dtype sum;
	struct dtype type = result_type(REDUCE_SUM, x->type, &sum);
	struct array *out = array_cast(w, x, type);
	int64_t before = 1, n, after = 1;

	if (!out) {
		return NULL;
	}
	n = x->shape[axis];
	for (int d = 0; d < x->ndim; d++) {
		if (d < axis) {
			before = quota_times(before, x->shape[d]);
		} else if (d > axis) {
			after = quota_times(after, x->shape[d]);
		}
	}
	for (int64_t b = 0; b < before; b++) {
		for (int64_t i = n > 0; i < n; i++) {
			for (int64_t k = 0; k < after; k++) {
				int64_t at = (b * n + i) * after + k;
				union number u = array_get(out, at - after);
				union number v = array_get(out, at);

				if (dtype_is_float(type)) {
					v.f = product ? u.f * v.f : u.f + v.f;
				} else {
					v.u = product ? u.u * v.u : u.u + v.u;
				}
				array_set(out, at, number_round(type, v));
			}
		}
	}
	return out;
}

/* -- sorting */

/* Is element i of the run behind element k? NaNs are behind all numbers. */
static bool
is_behind(struct dtype t, union number a, union number b)
{
	int order = array_order(t, a, b);

	return order == 1 || is_nan_beside(order, a, b);
}

/* Sorts the places of n elements by a stable merge. */
static void
merge(struct dtype t, const union number *v, int64_t *places, int64_t *room,
      int64_t n)
{
	int64_t half = n / 2, a = 0, b = half;

	if (n < 2) {
		return;
	}
	merge(t, v, places, room, half);
	merge(t, v, places + half, room, n - half);
	for (int64_t i = 0; i < n; i++) {
		bool second = a == half || (b < n && is_behind(t, v[places[a]],
							       v[places[b]]));

		room[i] = second ? places[b++] : places[a++];
	}
	memcpy(places, room, sizeof *places * (size_t)n);
}

struct array *
array_sort(struct array_work *w, const struct array *x, int axis, bool places)
{
	int64_t n = x->shape[axis], rows;
	struct array *from, *out;
	union number *v;
	int64_t *at, *room;
	int axes[ARRAY_MAX_RANK];

	for (int d = 0; d < x->ndim; d++) {
		axes[d] = d;
	}
	axes[axis] = x->ndim - 1;
	axes[x->ndim - 1] = axis;
	/* the sorted axis becomes the last one; afterwards the result's axes
	 * are exchanged back */
	from = array_cast(w, array_transpose(w, x, axes), x->type);
	if (!from || !array_count(w, quota_times(array_elems(x), 32))) {
		return NULL;
	}
	out = array_new(w, places ? dtype_of(DT_I64) : x->type, from->ndim,
			from->shape);
	if (!out) {
		return NULL;
	}
	v = arena_array(w->a, union number, n + 1);
	at = arena_array(w->a, int64_t, n + 1);
	room = arena_array(w->a, int64_t, n + 1);
	rows = n > 0 ? array_elems(x) / n : 0;
	for (int64_t r = 0; r < rows; r++) {
		for (int64_t i = 0; i < n; i++) {
			v[i] = array_get(from, r * n + i);
			at[i] = i;
		}
		merge(x->type, v, at, room, n);
		for (int64_t i = 0; i < n; i++) {
			array_set(out, r * n + i,
				  places ? (union number){ .i = at[i] }
					 : v[at[i]]);
		}
	}
	return array_transpose(w, out, axes);
}
