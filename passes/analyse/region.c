/* SPDX-License-Identifier: Apache-2.0 */
/* Coverage of boxes, and the box that accesses need. */
#include "region.h"

static const struct expr *
range_end(struct module *m, const struct range *r)
{
	return expr_add(m, r->min, r->extent);
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
region_accessed(struct func *f, const struct stmt *top, struct stmt *s,
		const struct buffer *buffer, bool writes, struct range *out)
{
	int n = 0;
	struct access_list all = accesses_of(f, s, buffer);

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
