/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays: creation, elements, conversion. */
#include "array.h"

#include <assert.h>

#include "quota.h"

struct array *
array_fail(struct array_work *w, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	w->error = arena_vprintf(w->a, fmt, ap);
	va_end(ap);
	return NULL;
}

bool
array_count(struct array_work *w, int64_t n)
{
	w->elems = quota_plus(w->elems, n);
	if (w->elems > w->most_elems) {
		array_fail(w,
			   "the program computes more than %lld elements of "
			   "arrays; make the arrays smaller",
			   (long long)w->most_elems);
		return false;
	}
	return true;
}

/* An array without data. */
static struct array *
header(struct array_work *w, struct dtype type, int ndim, const int64_t *shape)
{
	struct array *x = arena_new(w->a, struct array);
	int64_t stride = 1;

	x->type = type;
	x->ndim = ndim;
	x->shape = arena_array(w->a, int64_t, ndim + 1);
	x->strides = arena_array(w->a, int64_t, ndim + 1);
	for (int d = ndim - 1; d >= 0; d--) {
		x->shape[d] = shape[d];
		x->strides[d] = stride;
		stride = quota_times(stride, shape[d] > 0 ? shape[d] : 1);
	}
	return x;
}

struct array *
array_new(struct array_work *w, struct dtype type, int ndim,
	  const int64_t *shape)
{
	struct array *x;
	int64_t n = 1, bytes;

	if (ndim > ARRAY_MAX_RANK) {
		return array_fail(w, "an array of %d dimensions; at most %d",
				  ndim, ARRAY_MAX_RANK);
	}
	for (int d = 0; d < ndim; d++) {
		if (shape[d] < 0) {
			return array_fail(
				w,
				"dimension %d of an array is %lld; it "
				"must be at least 0",
				d, (long long)shape[d]);
		}
	}
	/* An array without elements counts with its other dimensions, because
	 * functions loop over them. */
	for (int d = 0; d < ndim; d++) {
		n = quota_times(n, shape[d] > 0 ? shape[d] : 1);
	}
	bytes = quota_times(n, dtype_bytes(type));
	if (w->a->used_bytes >= w->most_bytes ||
	    (uint64_t)bytes > w->most_bytes - w->a->used_bytes) {
		return array_fail(w,
				  "an array of %lld bytes exceeds the memory "
				  "of %zu MB for a program; make it smaller",
				  (long long)bytes, w->most_bytes >> 20);
	}
	if (!array_count(w, n / 8)) {
		return NULL;
	}
	x = header(w, type, ndim, shape);
	x->room = array_elems(x);
	x->data = arena_alloc(w->a, (size_t)(x->room * dtype_bytes(type)) + 1);
	return x;
}

struct array *
array_scalar(struct array_work *w, struct dtype type, union number v)
{
	struct array *x = array_new(w, type, 0, NULL);

	if (x) {
		x->scalar = true;
		number_store(type, x->data, 0, v);
	}
	return x;
}

int64_t
array_elems(const struct array *x)
{
	int64_t n = 1;

	for (int d = 0; d < x->ndim; d++) {
		n = quota_times(n, x->shape[d]);
	}
	return n;
}

bool
array_is_dense(const struct array *x)
{
	int64_t stride = 1;

	for (int d = x->ndim - 1; d >= 0; d--) {
		if (x->shape[d] != 1 && x->strides[d] != stride) {
			return false;
		}
		stride = quota_times(stride, x->shape[d]);
	}
	return true;
}

/* The index in x's data of the element whose number in row-major order is
 * `element`. */
static int64_t
array_place(const struct array *x, int64_t element)
{
	int64_t at = x->offset;

	for (int d = x->ndim - 1; d >= 0; d--) {
		at += element % x->shape[d] * x->strides[d];
		element /= x->shape[d];
	}
	return at;
}

void *
array_bytes(const struct array *x, int64_t place, int64_t n)
{
	assert(place >= 0 && n >= 0 && n <= x->room - place);
	return (char *)x->data + place * dtype_bytes(x->type);
}

union number
array_load(const struct array *x, int64_t place)
{
	assert(place >= 0 && place < x->room);
	return number_load(x->type, x->data, (size_t)place);
}

union number
array_get(const struct array *x, int64_t element)
{
	return array_load(x, array_place(x, element));
}

void
array_set(struct array *x, int64_t element, union number v)
{
	int64_t place = array_place(x, element);

	assert(place >= 0 && place < x->room);
	number_store(x->type, x->data, (size_t)place, v);
}

double
number_double(struct dtype t, union number v)
{
	return dtype_is_float(t)            ? v.f
	       : dtype_class(t) == DTC_UINT ? (double)v.u
					    : (double)v.i;
}

union number
number_of_double(struct dtype t, double v)
{
	union number from = { .f = v };

	return number_cast(t, dtype_of(DT_F64), from);
}

double
array_float(const struct array *x, int64_t element)
{
	return number_double(x->type, array_get(x, element));
}

struct array *
array_range(struct array_work *w, struct dtype type, int64_t n, double start,
	    double step)
{
	struct array *x = array_new(w, type, 1, &n);
	double first, second, between;

	if (!x || !array_count(w, n)) {
		return NULL;
	}
	/* as NumPy: the first two numbers are rounded to the type, and their
	 * difference is the step */
	first = number_double(type, number_of_double(type, start));
	second = number_double(type, number_of_double(type, start + step));
	between = second - first;
	for (int64_t i = 0; i < n; i++) {
		number_store(
			type, x->data, (size_t)i,
			number_of_double(type,
					 i == 1 ? second
						: first + (double)i * between));
	}
	return x;
}
