/* SPDX-License-Identifier: Apache-2.0 */
#include "storage_align.h"

/* No array is padded to more elements. */
#define MOST_ELEMS ((int64_t)1 << 40)

const struct expr *
storage_align_next(const struct expr *note, int *i)
{
	int n = note != NULL && expr_is_list(note) ? note->n_args : 0;

	while (*i < n) {
		const struct expr *entry = note->args[(*i)++];

		if (expr_is_list(entry) && entry->n_args == 4) {
			return entry;
		}
	}
	return NULL;
}

/* The least k >= 0 for which (n + k) * stride is congruent to `offset` modulo
 * `factor`; -1 if there is no such k. factor is at most STORAGE_ALIGN_MOST. */
static int64_t
padding_for(int64_t n, int64_t stride, int64_t factor, int64_t offset)
{
	int64_t step = stride % factor, rest = n % factor * step % factor;

	for (int64_t k = 0; k < factor; k++) {
		if (rest == offset % factor) {
			return k;
		}
		rest = (rest + step) % factor;
	}
	return -1;
}

/* Can an array of the shape, with `extent` in dimension d, exist: does its
 * number of elements, as far as extents are constant, fit in 64 bits? */
static bool
is_possible(const struct expr *const *shape, int ndim, int d, int64_t extent)
{
	int64_t elems = extent, n;

	for (int i = 0; i < ndim; i++) {
		if (i != d && expr_is_int(shape[i], &n) &&
		    __builtin_mul_overflow(elems, n, &elems)) {
			return false;
		}
	}
	return extent <= INT32_MAX && elems <= MOST_ELEMS;
}

/* Pads the extent of the dimension inside of an axis (what: [axis, factor,
 * offset]) so that the axis's stride is congruent to offset modulo factor.
 * Callers align innermost axes first: they determine the strides of the outer
 * axes. */
static void
align_axis(struct module *m, const struct expr *what, const struct expr **shape,
	   int ndim)
{
	int64_t axis, factor, offset, stride = 1, n, more;
	int next = -1;

	if (!expr_is_list(what) || what->n_args != 3 ||
	    !expr_is_int(what->args[0], &axis) ||
	    !expr_is_int(what->args[1], &factor) ||
	    !expr_is_int(what->args[2], &offset) || axis < 0 || factor < 1 ||
	    factor > STORAGE_ALIGN_MOST || offset < 0) {
		return;
	}
	for (int d = ndim - 1; d > axis; d--) {
		if (!expr_is_int(shape[d], &n) ||
		    __builtin_mul_overflow(stride, n, &stride)) {
			return;
		}
		if (n != 1) {
			next = d;
		}
	}
	if (next < 0 || stride < 1 || !expr_is_int(shape[next], &n)) {
		return;
	}
	stride /= n;
	more = padding_for(n, stride, factor, offset);
	if (more > 0 && is_possible(shape, ndim, next, n + more)) {
		shape[next] = expr_int(m, shape[next]->type, n + more);
	}
}

void
storage_align_shape(struct module *m, const struct expr *list,
		    const struct expr **shape, int ndim)
{
	for (int axis = ndim - 2; list && axis >= 0; axis--) {
		for (int i = 0; i < list->n_args; i++) {
			const struct expr *what = list->args[i];

			if (expr_is_list(what) && what->n_args > 0 &&
			    expr_is_value(what->args[0], axis)) {
				align_axis(m, what, shape, ndim);
			}
		}
	}
}
