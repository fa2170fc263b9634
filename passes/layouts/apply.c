/* SPDX-License-Identifier: Apache-2.0 */
/* Rewrites a kernel's parameters to the layouts of its tensors:
 *
 *   y[n, oc, oh, ow]   ->   y[n, oc // 16, oh + 1, ow + 1, oc % 16] */
#include "layouts.h"
#include "scope.h"

bool
layout_equal(const struct tensor_layout *a, const struct tensor_layout *b,
	     int ndim)
{
	if (a == NULL || b == NULL || a == b) {
		return a == b;
	}
	for (int d = 0; d < ndim; d++) {
		if (a->before[d] != b->before[d] ||
		    a->after[d] != b->after[d]) {
			return false;
		}
	}
	return a->axis == b->axis && a->block == b->block && a->fill == b->fill;
}

const struct expr **
layout_shape(struct module *m, const struct tensor *t,
	     const struct tensor_layout *l, int *ndim)
{
	const struct expr **shape = arena_exprs(&m->arena, t->ndim + 1);
	int n = t->ndim;

	for (int d = 0; d < t->ndim; d++) {
		const struct expr *extent = t->shape[d];

		if (l != NULL && d == l->axis) {
			extent = expr_floordiv(m, extent,
					       expr_int(m, extent->type,
							l->block));
		} else if (l != NULL && l->before[d] + l->after[d] > 0) {
			extent = expr_add(m, extent,
					  expr_int(m, extent->type,
						   l->before[d] + l->after[d]));
		}
		shape[d] = extent;
	}
	if (l != NULL && l->axis >= 0) {
		shape[n++] = expr_i32(m, l->block);
	}
	*ndim = n;
	return shape;
}

struct placing {
	struct module *module;
	const struct tensor_layout *layout;
	int ndim;
};

static void
place_index(void *ctx, const struct stmt *at, const struct expr *const *old,
	    const struct expr **new)
{
	const struct placing *p = ctx;
	const struct tensor_layout *l = p->layout;
	struct module *m = p->module;
	struct analyser a;

	analyser_init(&a, m);
	analyser_enter_scope(&a, at);
	for (int d = 0; d < p->ndim; d++) {
		const struct expr *block = expr_int(m, old[d]->type, l->block);

		new[d] = old[d];
		if (d == l->axis) {
			new[d] = expr_floordiv(m, simplify(&a, old[d]), block);
			new[p->ndim] = expr_floormod(m, simplify(&a, old[d]),
						     block);
		} else if (l->before[d] > 0) {
			new[d] = simplify(&a, expr_add(m, old[d],
						       expr_int(m, old[d]->type,
								l->before[d])));
		}
	}
}

void
layouts_apply(struct module *m, struct kernel *k)
{
	bool changed = false;

	for (int i = 0; i < k->args.n; i++) {
		struct kernel_arg *arg = &k->args.data[i];
		const struct tensor *t = arg->tensor;
		const struct expr **shape;
		const struct buffer *to;
		struct placing p = { .module = m };
		int ndim;

		if (arg->kind != ARG_TENSOR || t->layout == NULL) {
			continue;
		}
		guarded_loads_drop_tests(k->func, arg->buffer, t->layout);
		shape = layout_shape(m, t, t->layout, &ndim);
		to = buffer_with_shape(m, arg->buffer, ndim, shape);
		p.layout = t->layout;
		p.ndim = t->ndim;
		buffer_remap(k->func, k->func->body, arg->buffer, to,
			     place_index, &p);
		arg->buffer = to;
		changed = true;
	}
	if (changed) {
		blocks_refresh(k->func);
		func_commit(k->func);
	}
}
