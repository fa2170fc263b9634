/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices. */
#include "array.h"
#include "quota.h"

/* The dense elements of x in double or, of integers, in 64 bits. */
static const void *
unpacked(struct array_work *w, const struct array *x, struct dtype type)
{
	struct array *y = array_cast(w, x,
				     dtype_is_float(type) ? dtype_of(DT_F64)
							  : dtype_of(DT_I64));

	return y ? y->data : NULL;
}

/* out[i][j] = sum over k of x[i][k] * y[j][k]. */
static void
multiply(const void *x, const void *y, struct array *out, int64_t at,
	 int64_t rows, int64_t cols, int64_t n)
{
	const double *xf = x, *yf = y;
	const uint64_t *xi = x, *yi = y;
	bool is_float = dtype_is_float(out->type);

	for (int64_t i = 0; i < rows; i++) {
		for (int64_t j = 0; j < cols; j++) {
			union number v = { .u = 0 };
			double sum = 0;

			for (int64_t k = 0; is_float && k < n; k++) {
				sum += xf[i * n + k] * yf[j * n + k];
			}
			for (int64_t k = 0; !is_float && k < n; k++) {
				v.u += xi[i * n + k] * yi[j * n + k];
			}
			if (is_float) {
				v.f = sum;
			} else if (dtype_class(out->type) == DTC_BOOL) {
				v.i = v.u != 0;
			}
			array_set(out, at + i * cols + j,
				  number_round(out->type, v));
		}
	}
}

/* Two matrices for each index of the leading dimensions, which both have. */
static struct array *
batched(struct array_work *w, const struct array *x, const struct array *y)
{
	int r = x->ndim;
	int64_t rows = x->shape[r - 2], n = x->shape[r - 1];
	int64_t cols = y->shape[r - 1], batch = 1, shape[ARRAY_MAX_RANK];
	struct dtype type = array_common(x, y);
	struct array *out;
	const char *a, *b;
	int axes[ARRAY_MAX_RANK];

	for (int d = 0; d < r; d++) {
		shape[d] = x->shape[d];
		batch = d < r - 2 ? quota_times(batch, x->shape[d]) : batch;
		axes[d] = d;
	}
	shape[r - 1] = cols;
	axes[r - 2] = r - 1;
	axes[r - 1] = r - 2;
	out = array_new(w, type, r, shape);
	if (!out || !array_count(w, quota_times(array_elems(out), n) / 8)) {
		return NULL;
	}
	a = unpacked(w, x, type);
	b = unpacked(w, array_transpose(w, y, axes), type);
	for (int64_t i = 0; a && b && i < batch; i++) {
		multiply(a + i * rows * n * 8, b + i * cols * n * 8, out,
			 i * rows * cols, rows, cols, n);
	}
	return a && b ? out : NULL;
}

/* Removes dimension d, of length 1. */
static struct array *
without(struct array_work *w, const struct array *x, int d)
{
	bool drop[ARRAY_MAX_RANK] = { false };
	struct array *out;

	drop[d] = true;
	out = array_squeeze(w, x, drop);
	out->scalar = out->ndim == 0;
	return out;
}

struct array *
array_matmul(struct array_work *w, const struct array *x, const struct array *y)
{
	bool row = x->ndim == 1, column = y->ndim == 1;
	int64_t shape[ARRAY_MAX_RANK];
	struct array *out;
	int rank;

	if (x->ndim == 0 || y->ndim == 0) {
		return array_fail(w, "a product of matrices with a number; "
				     "write *");
	}
	x = row ? array_expand(w, x, 0) : x;
	y = column ? array_expand(w, y, 1) : y;
	if (x->shape[x->ndim - 1] != y->shape[y->ndim - 2]) {
		return array_fail(w,
				  "a product of matrices with %lld columns and "
				  "%lld rows; these must be equal",
				  (long long)x->shape[x->ndim - 1],
				  (long long)y->shape[y->ndim - 2]);
	}
	rank = x->ndim > y->ndim ? x->ndim : y->ndim;
	for (int pass = 0; pass < 2; pass++) {
		const struct array *one = pass ? y : x, *other = pass ? x : y;

		for (int d = 3; d <= rank; d++) {
			int64_t a = d <= one->ndim ? one->shape[one->ndim - d]
						   : 1;
			int64_t b = d <= other->ndim
					    ? other->shape[other->ndim - d]
					    : 1;

			shape[rank - d] = a == 1 ? b : a;
		}
		shape[rank - 2] = one->shape[one->ndim - 2];
		shape[rank - 1] = one->shape[one->ndim - 1];
		one = array_broadcast(w, one, rank, shape);
		if (!one) {
			return NULL;
		}
		*(pass ? &y : &x) = one;
	}
	out = batched(w, x, y);
	if (out && column) {
		out = without(w, out, out->ndim - 1);
	}
	if (out && row) {
		out = without(w, out, out->ndim - 1 - !column);
	}
	return out;
}

struct array *
array_dot(struct array_work *w, const struct array *x, const struct array *y)
{
	int64_t shape[2 * ARRAY_MAX_RANK], rows, cols, n;
	int64_t flat_x[2], flat_y[2];
	int axes[ARRAY_MAX_RANK], ndim = 0;
	struct array *out;

	if (x->ndim == 0 || y->ndim == 0) {
		return array_binary(w, ARRAY_MUL, x, y);
	}
	if (x->ndim <= 2 && y->ndim <= 2) {
		return array_matmul(w, x, y);
	}
	n = x->shape[x->ndim - 1];
	if (y->ndim > 1 ? y->shape[y->ndim - 2] != n : y->shape[0] != n) {
		return array_fail(w,
				  "dot: the summed dimensions have %lld and "
				  "%lld elements; these must be equal",
				  (long long)n,
				  (long long)y->shape[y->ndim > 1 ? y->ndim - 2
								  : 0]);
	}
	for (int d = 0; d < x->ndim - 1; d++) {
		shape[ndim++] = x->shape[d];
	}
	/* y with the summed dimension first */
	axes[0] = y->ndim > 1 ? y->ndim - 2 : 0;
	for (int d = 0, k = 1; d < y->ndim; d++) {
		if (d != axes[0]) {
			axes[k++] = d;
			shape[ndim++] = y->shape[d];
		}
	}
	rows = n > 0 ? array_elems(x) / n : 0;
	cols = n > 0 ? array_elems(y) / n : 0;
	if (n == 0) {
		return array_new(w, array_common(x, y), ndim, shape);
	}
	flat_x[0] = rows;
	flat_x[1] = flat_y[0] = n;
	flat_y[1] = cols;
	x = array_reshape(w, x, 2, flat_x);
	y = array_transpose(w, y, axes);
	y = y ? array_reshape(w, y, 2, flat_y) : NULL;
	out = x && y ? array_matmul(w, x, y) : NULL;
	return out ? array_reshape(w, out, ndim, shape) : NULL;
}
