/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the stack size of local arrays, and moves arrays from the stack to
 * results that replace them, or to the workspace:
 *
 *   e: [30522]                           for k: y[i, k] = exp(x[i, k])
 *   for k: e[k] = exp(x[i, k])     ->    for k: s += y[i, k]
 *   for k: s += e[k]                     for k: y[i, k] = y[i, k] / s
 *   for k: y[i, k] = e[k] / s */
#include "access.h"
#include "iterate.h"
#include "lower.h"
#include "thread_loops.h"

#include <stdlib.h>
#include <string.h>

static int64_t
alloc_bytes(const struct stmt *s)
{
	const struct buffer *b = s->u.buffer;
	int64_t elems;

	return buffer_max_elems(b, &elems)
		       ? elems * dtype_bytes(b->type) * b->type.lanes
		       : 0;
}

/* The arrays of a host's function, or of a thread. */
enum whose_arrays { OF_HOST, OF_THREAD };

static int64_t
stack_bytes(const struct stmt *s, enum whose_arrays whose)
{
	int64_t below = 0;

	/* The arrays of device kernels are not on the host's stack. */
	if (!s || (whose == OF_HOST && tag_of(s) >= 0)) {
		return 0;
	}
	for (int i = 0; i < s->n_children; i++) {
		int64_t bytes = stack_bytes(s->children[i], whose);

		below = bytes > below ? bytes : below;
	}
	if (s->kind != STMT_ALLOC ||
	    (whose == OF_THREAD && buffer_is_shared(s->u.buffer))) {
		return below;
	}
	return below + alloc_bytes(s);
}

int64_t
lower_stack_bytes(const struct func *f)
{
	return stack_bytes(f->body, OF_HOST);
}

int64_t
lower_thread_bytes(const struct func *kernel)
{
	return stack_bytes(kernel->body, OF_THREAD);
}

/* -- arrays in a result -- */

/* Are the last indices of `store`, one for each dimension of b, equal to
 * `index`, the indices of an access of b? */
static bool
same_element(const struct buffer *b, const struct expr *const *index,
	     const struct stmt *store)
{
	int before = store->u.buffer->ndim - b->ndim;

	for (int d = 0; d < b->ndim; d++) {
		if (index[d] != store->args[1 + before + d]) {
			return false;
		}
	}
	return true;
}

/* Has b the type of the result y, and the extents of y's last dimensions? */
static bool
is_part_of(const struct buffer *b, const struct buffer *y)
{
	int before = y->ndim - b->ndim;

	if (before < 0 || y == b || !dtype_equal(b->type, y->type)) {
		return false;
	}
	for (int d = 0; d < b->ndim; d++) {
		if (b->shape[d] != y->shape[before + d]) {
			return false;
		}
	}
	return true;
}

/* Are the first indices of a store to y the variables of all loops around the
 * array? Then each iteration of these loops has a part of y for itself. */
static bool
is_own_part(const struct stmt *alloc, const struct buffer *b,
	    const struct stmt *store)
{
	int before = store->u.buffer->ndim - b->ndim, n = 0;

	for (const struct stmt *p = alloc->parent; p; p = p->parent) {
		bool found = p->kind != STMT_FOR;

		for (int d = 0; d < before && !found; d++) {
			found = store->args[1 + d] == p->u.loop.var->expr;
			n += found;
		}
		if (!found) {
			return false;
		}
	}
	return n == before;
}

/* The outermost loop or condition around s that is inside of the ALLOC; s
 * itself if there is none. */
static const struct stmt *
top_below(const struct stmt *alloc, const struct stmt *s)
{
	const struct stmt *top = s;

	for (const struct stmt *p = s->parent; p != alloc; p = p->parent) {
		top = p->kind == STMT_SEQ || p->kind == STMT_ALLOC ? top : p;
	}
	return top;
}

static bool
is_below(const struct stmt *s, const struct stmt *top)
{
	while (s != NULL && s != top) {
		s = s->parent;
	}
	return s != NULL;
}

/* Can y hold the array until stores replace it element by element? y must be a
 * result that only stores in the ALLOC's body access. These stores must come
 * after all other accesses of the array, and each must read only the element of
 * the array that it replaces. uses: the accesses of the array; stores: the
 * accesses of y. */
static bool
can_hold(const struct stmt *alloc, const struct access_list *uses,
	 const struct buffer *y, const struct access_list *stores)
{
	const struct buffer *b = alloc->u.buffer;
	const struct stmt *top;
	bool last = false;

	for (int i = 0; i < stores->list.n; i++) {
		const struct access *a = &stores->list.data[i];

		if (a->load != NULL || a->address || !is_below(a->at, alloc) ||
		    !is_own_part(alloc, b, a->at)) {
			return false;
		}
	}
	if (stores->list.n == 0) {
		return false;
	}
	top = top_below(alloc, stores->list.data[0].at);
	for (int i = 0; i < uses->list.n; i++) {
		const struct access *a = &uses->list.data[i];
		bool replaced = a->load != NULL && a->at->kind == STMT_STORE &&
				a->at->u.buffer == y &&
				same_element(b, a->index, a->at);

		if (a->address ||
		    (!replaced && (last || is_below(a->at, top)))) {
			return false;
		}
		last |= replaced;
	}
	return last;
}

struct held {
	const struct buffer *b;
	const struct stmt *store; /* a store that replaces the array */
};

static void
held_index(void *ctx, const struct stmt *at, const struct expr *const *old,
	   const struct expr **new)
{
	const struct held *h = ctx;
	int before = h->store->u.buffer->ndim - h->b->ndim;

	(void)at;
	for (int d = 0; d < before; d++) {
		new[d] = h->store->args[1 + d];
	}
	for (int d = 0; d < h->b->ndim; d++) {
		new[before + d] = old[d];
	}
}

/* If possible, lets the array use the memory of a result whose elements replace
 * it: the result to which the statement of the array's last use stores. */
static bool
hold_in_result(struct func *f, const struct access_index *index,
	       struct stmt *alloc)
{
	const struct buffer *b = alloc->u.buffer, *y;
	struct access_list uses = access_index_of(index, f, alloc, b), stores;
	const struct stmt *last = uses.list.n > 0
					  ? uses.list.data[uses.list.n - 1].at
					  : NULL;
	struct held h = { b, NULL };

	if (last == NULL || last->kind != STMT_STORE) {
		return false;
	}
	y = last->u.buffer;
	if (!func_has_param(f, y) || !is_part_of(b, y)) {
		return false;
	}
	stores = access_index_of(index, f, f->body, y);
	if (!can_hold(alloc, &uses, y, &stores)) {
		return false;
	}
	h.store = stores.list.data[0].at;
	uses_remap(f, alloc, &uses, y, held_index, &h);
	stmt_replace(f, alloc, alloc->children[0]);
	return true;
}

/* -- arrays in the workspace -- */

/* Makes the loops around the array serial, because the workspace has only one
 * copy of the array. */
static void
serialize_loops_around(struct func *f, struct stmt *alloc)
{
	for (struct stmt *p = alloc->parent; p; p = p->parent) {
		if (p->kind == STMT_FOR && p->u.loop.kind == FOR_PARALLEL) {
			stmt_set_loop_kind(f, p, FOR_SERIAL, NULL);
		}
	}
}

/* Does a size of the buffer depend on a variable that is not a parameter of f,
 * such as a loop variable? */
static bool
has_inner_size(const struct func *f, const struct buffer *b)
{
	struct tree_iter it = exprs_each_of(b->shape, b->ndim, EXPR_VAR);
	const struct expr *e;
	bool inner = false;

	while ((e = tree_next(&it)) != NULL) {
		inner |= !func_has_var(f, e->u.var);
	}
	return inner;
}

/* An array that may move off the stack. */
struct scratch {
	struct stmt *alloc;
	/* the size of the array in bytes; INT64_MAX: the size has no known
	 * maximum */
	int64_t bytes;
	/* the position of the array's ALLOC among the ALLOCs of the function */
	int order;
};

static int
by_size(const void *a, const void *b)
{
	const struct scratch *x = a, *y = b;

	return x->bytes != y->bytes
		       ? (x->bytes < y->bytes) - (x->bytes > y->bytes)
		       : x->order - y->order;
}

typedef VEC(struct scratch) scratch_list;

/* The arrays outside of device kernels that may move, in the order in which
 * they move: first those whose size has no known maximum and depends only on
 * the function's parameters, so that the caller can compute it; then the
 * remaining arrays, larger ones before smaller ones. */
static scratch_list
list_scratch(struct func *f)
{
	scratch_list all = { 0 };
	struct stmt *s;
	int64_t elems;

	for (struct stmt_iter it = stmt_each(f->body); (s = stmt_next(&it));) {
		if (tag_of(s) >= 0) {
			stmt_skip(&it);
		} else if (s->kind == STMT_ALLOC) {
			bool sized = buffer_max_elems(s->u.buffer, &elems);
			struct scratch one = {
				s, sized ? alloc_bytes(s) : INT64_MAX, all.n
			};

			if (sized ? one.bytes > 0
				  : !has_inner_size(f, s->u.buffer)) {
				vec_push(&f->module->arena, &all, one);
			}
		}
	}
	if (all.n > 0) {
		qsort(all.data, (size_t)all.n, sizeof all.data[0], by_size);
	}
	return all;
}

static void
same_index(void *ctx, const struct stmt *at, const struct expr *const *old,
	   const struct expr **new)
{
	const int *ndim = ctx;

	(void)at;
	memcpy(new, old, sizeof *new *(size_t)*ndim);
}

static void
move_to_workspace(struct func *f, const struct access_index *index,
		  struct stmt *alloc)
{
	const struct buffer *b = alloc->u.buffer, *outside;
	struct access_list uses = access_index_of(index, f, alloc, b);
	int ndim = b->ndim;

	serialize_loops_around(f, alloc);
	outside = buffer_with_scope(f->module, b, "global");
	uses_remap(f, alloc, &uses, outside, same_index, &ndim);
	stmt_replace(f, alloc, alloc->children[0]);
	func_add_param(f, outside->data, outside);
}

static bool
must_move(const struct func *f, const struct scratch *s, int64_t limit_bytes)
{
	return s->bytes == INT64_MAX || lower_stack_bytes(f) > limit_bytes;
}

int
lower_scratch(struct func *f, int64_t limit_bytes)
{
	scratch_list all = list_scratch(f);
	struct access_index index;
	int n = 0;

	if (all.n == 0 || !must_move(f, &all.data[0], limit_bytes)) {
		return 0;
	}
	access_index_init(&index, f);
	for (int i = 0; i < all.n && must_move(f, &all.data[i], limit_bytes);
	     i++) {
		struct stmt *alloc = all.data[i].alloc;

		if (!hold_in_result(f, &index, alloc)) {
			move_to_workspace(f, &index, alloc);
			n++;
		}
	}
	return n;
}
