/* SPDX-License-Identifier: Apache-2.0 */
#include "storage_align.h"

/* Pads the extent of the dimension inside of an axis (what: [axis, factor,
 * offset]) so that the axis's stride is congruent to offset modulo factor.
 * Callers align innermost axes first: they determine the strides of the outer
 * axes. */
static void
align_axis(struct module *m, const struct expr *what, const struct expr **shape,
	   int ndim)
{
	int64_t axis, factor, offset, stride = 1, n;
	int next = -1;

	if (!expr_is_list(what) || what->n_args != 3 ||
	    !expr_is_int(what->args[0], &axis) ||
	    !expr_is_int(what->args[1], &factor) ||
	    !expr_is_int(what->args[2], &offset) || axis < 0 || factor < 1) {
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
	for (int64_t more = 0; more < factor; more++) {
		if ((n + more) * stride % factor == offset % factor) {
			shape[next] = expr_int(m, shape[next]->type, n + more);
			return;
		}
	}
}

void
storage_align_shape(struct module *m, const struct expr *list,
		    const struct expr **shape, int ndim)
{
	for (int axis = ndim - 2; list && axis >= 0; axis--) {
		for (int i = 0; i < list->n_args; i++) {
			if (expr_is_value(list->args[i]->args[0], axis)) {
				align_axis(m, list->args[i], shape, ndim);
			}
		}
	}
}
