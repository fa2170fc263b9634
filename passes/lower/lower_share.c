/* SPDX-License-Identifier: Apache-2.0 */
/* May an input and an output be one pointer? And making them one. */
#include "lower.h"

#include "access.h"

static bool
same_shape(const struct buffer *a, const struct buffer *b)
{
	if (a->ndim != b->ndim || !dtype_equal(a->type, b->type) ||
	    a->strides || b->strides) {
		return false;
	}
	for (int d = 0; d < a->ndim; d++) {
		if (a->shape[d] != b->shape[d]) {
			return false;
		}
	}
	return true;
}

/* Does every loop around s, extent 1 aside, move the element that s stores?
 * Otherwise one element would be stored more than once. */
static bool
each_once(const struct stmt *s)
{
	for (const struct stmt *p = s->parent; p; p = p->parent) {
		bool used = false;

		if (p->kind == STMT_WHILE) {
			return false;
		}
		if (p->kind != STMT_FOR || expr_is_value(p->args[1], 1)) {
			continue;
		}
		for (int i = 1; i < s->n_args; i++) {
			used |= expr_uses_var(s->args[i], p->u.loop.var);
		}
		if (!used) {
			return false;
		}
	}
	return true;
}

bool
lower_can_share(const struct func *f, const struct buffer *in,
		const struct buffer *out)
{
	struct func *func = (struct func *)f; /* only looked at */
	struct access_list loads = { 0 }, stores = { 0 };
	const struct stmt *store;

	if (in == out || !same_shape(in, out)) {
		return false;
	}
	access_collect(func, f->body, in, &loads);
	access_collect(func, f->body, out, &stores);
	if (stores.list.n != 1 || stores.list.data[0].load) {
		return false;
	}
	store = stores.list.data[0].at;
	if (!each_once(store)) {
		return false;
	}
	for (int i = 0; i < loads.list.n; i++) {
		const struct access *x = &loads.list.data[i];

		if (!x->load || x->at != store) {
			return false;
		}
		for (int d = 0; d < in->ndim; d++) {
			if (x->index[d] != store->args[d + 1]) {
				return false;
			}
		}
	}
	return true;
}

void
lower_share(struct func *f, const struct buffer *in, const struct buffer *out)
{
	int k = 0;

	stmt_replace_buffer(f, f->body, in, out);
	for (int i = 0; i < f->params.n; i++) {
		if (f->params.data[i].buffer != in) {
			f->params.data[k++] = f->params.data[i];
		}
	}
	f->params.n = k;
}
