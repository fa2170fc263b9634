/* SPDX-License-Identifier: Apache-2.0 */
/* If a parameter of a kernel in a loop is an element of a larger tensor, the
 * kernel takes the larger tensor, and the variables in the index of the element
 * and in its sizes:
 *
 *	cell(x, h, y)  x[i], y[i]   ->   cell(x, h, y, t)  x[t][i], y[t][i] */
#include "access.h"
#include "iterate.h"
#include "kernel_build.h"
#include "scope.h"

static void
add_element(void *ctx, const struct stmt *at, const struct expr *const *old,
	    const struct expr **new)
{
	const struct tensor *t = ctx;

	(void)at;
	new[0] = t->element;
	for (int d = 0; d < t->ndim; d++) {
		new[d + 1] = old[d];
	}
}

static void
add_vars(struct func *f, const struct expr *e)
{
	for (struct expr_iter it = expr_each_of(e, EXPR_VAR);
	     (e = expr_next(&it));) {
		if (!func_has_var(f, e->u.var)) {
			func_add_param(f, e->u.var, NULL);
		}
	}
}

/* The shape of the tensor that t is an element of. If its first size is known
 * only when the model runs, the largest value is taken if there is one: a
 * kernel does not need the exact size. */
static const struct expr *const *
shape_around(struct module *m, const struct tensor *t)
{
	const struct tensor *all = t->element_of;
	const struct expr **shape = arena_exprs(&m->arena, all->ndim + 1);
	struct tensor first = { .ndim = 1, .shape = all->shape };
	int64_t most;

	for (int d = 0; d < all->ndim; d++) {
		shape[d] = all->shape[d];
	}
	if (tensor_max_elems(&first, &most)) {
		shape[0] = expr_index(m, most);
	}
	return shape;
}

/* Is a parameter an element of a tensor that is also another parameter, or that
 * another parameter is an element of? Then both parameters point into the same
 * array, so that no parameter may be restrict. */
static bool
is_aliased(const struct kernel *k)
{
	for (int i = 0; i < k->args.n; i++) {
		const struct kernel_arg *a = &k->args.data[i];

		for (int n = 0; n < k->args.n && a->is_element; n++) {
			const struct kernel_arg *b = &k->args.data[n];

			if (i != n && a->tensor == b->tensor) {
				return true;
			}
		}
	}
	return false;
}

/* Notes that the tensor of the argument now has `count` times as many elements
 * as before. */
static void
note_elements(struct kernel_arg *arg, const struct expr *count)
{
	int64_t n;

	arg->n_elements = arg->is_element ? arg->n_elements : 1;
	arg->is_element = true;
	if (expr_is_int(count, &n) && n > 0) {
		arg->n_elements *= n;
	}
}

void
kernel_place_elements(struct module *m, struct kernel *k)
{
	bool changed = false;

	for (int i = 0; i < k->args.n; i++) {
		struct kernel_arg *arg = &k->args.data[i];
		struct tensor *t = arg->tensor;

		/* A slice of a slice is an element of an element. */
		for (; arg->kind == ARG_TENSOR && t->element_of != NULL;
		     t = t->element_of) {
			const struct buffer *to =
				buffer_with_shape(m, arg->buffer, t->ndim + 1,
						  shape_around(m, t));

			buffer_remap(k->func, k->func->body, arg->buffer, to,
				     add_element, t);
			add_vars(k->func, t->element);
			for (int d = 1; d < to->ndim; d++) {
				add_vars(k->func, to->shape[d]);
			}
			arg->buffer = to;
			arg->tensor = t->element_of;
			note_elements(arg, to->shape[0]);
			changed = true;
		}
	}
	if (is_aliased(k)) {
		func_set_note(k->func, "aliased", expr_bool(m, true));
	}
	if (changed) {
		blocks_refresh(k->func);
		func_commit(k->func);
	}
}
