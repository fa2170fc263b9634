/* SPDX-License-Identifier: Apache-2.0 */
/* Drops halos that cost more than their own bytes: a result with a halo cannot
 * be stored over an input without one.
 *
 *   y[c, 1 + h + 1, w]  = conv(x, w)[c, h, w] + z[c, h, w]
 *   ->
 *   y[c, h, w]          = ...                            # may be z's bytes
 *
 * If this is the last use of z, and each kernel that reads beyond the edges of
 * y can copy these elements, with a border, then y gets no halo. When the
 * kernel is lowered, the lowering proves whether the result can overwrite the
 * input. */
#include "access.h"
#include "layouts.h"

struct overwrites {
	const struct program *p;
	struct kernel *const *kernels;
	int n;
	struct tensor_layout *const *of;
};

/* Does the kernel load the input only in statements that store to the same
 * index, so that its result can overwrite the input? */
static bool
reads_own_elements(const struct kernel *k, const struct kernel_arg *in)
{
	struct access_list all = accesses_of(k->func, k->func->body,
					     in->buffer);

	for (int i = 0; i < all.list.n; i++) {
		const struct access *x = &all.list.data[i];

		if (x->address || x->at->kind != STMT_STORE ||
		    x->at->n_args != in->buffer->ndim + 1) {
			return false;
		}
		for (int d = 0; d < in->buffer->ndim; d++) {
			if (x->index[d] != x->at->args[d + 1]) {
				return false;
			}
		}
	}
	return all.list.n > 0;
}

static const struct kernel_arg *
arg_of(const struct kernel *k, const struct tensor *t)
{
	for (int i = 0; i < k->args.n; i++) {
		if (k->args.data[i].kind == ARG_TENSOR &&
		    k->args.data[i].tensor == t) {
			return &k->args.data[i];
		}
	}
	return NULL;
}

static bool
is_used_behind(const struct overwrites *o, const struct tensor *t, int kernel)
{
	for (int i = kernel + 1; i < o->n; i++) {
		if (arg_of(o->kernels[i], t) != NULL) {
			return true;
		}
	}
	return false;
}

/* Has t, a kernel's result, a layout that can be changed without that of
 * another tensor: is it not row-major, not a part of a concatenation, and not
 * the result of a group without a kernel (a view, a concatenation, control
 * flow)? */
static bool
has_own_layout(const struct overwrites *o, const struct tensor *t)
{
	const struct graph *g = o->p->graph;
	const struct node *n = t->producer;

	return o->of[t->id] != NULL && t->part_of == NULL && n != NULL &&
	       n->group >= 0 && !g->groups.data[n->group]->is_view &&
	       !g->groups.data[n->group]->is_control;
}

/* Could kernel k store its result `out` over its input `in` if the two had the
 * same halo? */
static bool
may_overwrite(const struct overwrites *o, int k, const struct kernel_arg *in,
	      const struct kernel_arg *out)
{
	return in->kind == ARG_TENSOR && out->kind == ARG_TENSOR &&
	       !in->written && out->written && has_own_layout(o, in->tensor) &&
	       has_own_layout(o, out->tensor) &&
	       tensor_same_type(in->tensor, out->tensor) &&
	       o->of[in->tensor->id]->block == o->of[out->tensor->id]->block &&
	       !is_used_behind(o, in->tensor, k) &&
	       reads_own_elements(o->kernels[k], in);
}

/* If t had no halo, could every kernel that reads beyond the edges of t copy
 * the elements that it reads? */
static bool
can_be_copied(const struct overwrites *o, const struct tensor *t)
{
	for (int i = 0; i < o->n; i++) {
		const struct kernel *k = o->kernels[i];
		const struct kernel_arg *arg = arg_of(k, t);
		struct guarded_loads loads = { 0 };

		if (arg == NULL) {
			continue;
		}
		guarded_loads_find(k->func, arg->buffer, &loads);
		if (loads.list.n > 0 &&
		    !layouts_copies_border(o->p->graph->module, k->func,
					   arg->buffer, true, o->p->target)) {
			return false;
		}
	}
	return true;
}

static void
drop_halo(struct tensor_layout *l, int ndim)
{
	for (int d = 0; d < ndim; d++) {
		l->before[d] = l->after[d] = 0;
	}
	l->fill = 0;
	l->filled = false;
	l->copied = true;
}

static bool
drop_halos_of(const struct overwrites *o, int k)
{
	const struct kernel *kernel = o->kernels[k];
	bool changed = false;

	for (int i = 0; i < kernel->args.n * kernel->args.n; i++) {
		const struct kernel_arg *in, *out;
		struct tensor_layout *x, *y;

		in = &kernel->args.data[i / kernel->args.n];
		out = &kernel->args.data[i % kernel->args.n];
		if (!may_overwrite(o, k, in, out)) {
			continue;
		}
		x = o->of[in->tensor->id];
		y = o->of[out->tensor->id];
		if (layout_equal(x, y, in->tensor->ndim) ||
		    !can_be_copied(o, in->tensor) ||
		    !can_be_copied(o, out->tensor)) {
			continue;
		}
		drop_halo(x, in->tensor->ndim);
		drop_halo(y, out->tensor->ndim);
		changed = true;
	}
	return changed;
}

void
layouts_drop_halos_of_overwrites(const struct program *p,
				 struct kernel *const *kernels, int n,
				 struct tensor_layout *const *of)
{
	const struct overwrites o = { p, kernels, n, of };
	bool again = p->target->copied_borders;

	while (again) {
		again = false;
		for (int k = 0; k < n; k++) {
			again |= drop_halos_of(&o, k);
		}
	}
}
