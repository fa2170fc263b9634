/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the stack size of local arrays, and moves arrays from the stack to
 * the workspace. */
#include "iterate.h"
#include "lower.h"
#include "thread_loops.h"

static int64_t
alloc_bytes(const struct stmt *s)
{
	const struct buffer *b = s->u.buffer;
	int64_t elems;

	return buffer_max_elems(b, &elems)
		       ? elems * dtype_bytes(b->type) * b->type.lanes
		       : 0;
}

static int64_t
stack_bytes(const struct stmt *s)
{
	int64_t below = 0;

	/* Device kernels are skipped: their arrays are not on the stack. */
	if (!s || tag_of(s) >= 0) {
		return 0;
	}
	for (int i = 0; i < s->n_children; i++) {
		int64_t bytes = stack_bytes(s->children[i]);

		below = bytes > below ? bytes : below;
	}
	return s->kind == STMT_ALLOC ? below + alloc_bytes(s) : below;
}

int64_t
lower_stack_bytes(const struct func *f)
{
	return stack_bytes(f->body);
}

/* The ALLOC of the largest array outside of device kernels; NULL if there is
 * none. An array of unknown size is skipped. */
static struct stmt *
find_largest(struct func *f)
{
	struct stmt *s, *found = NULL;
	int64_t bytes = 0;

	for (struct stmt_iter it = stmt_each(f->body); (s = stmt_next(&it));) {
		if (tag_of(s) >= 0) {
			stmt_skip(&it);
		} else if (s->kind == STMT_ALLOC && alloc_bytes(s) > bytes) {
			found = s;
			bytes = alloc_bytes(s);
		}
	}
	return found;
}

/* The workspace has one copy of the array, so the loops around it become
 * serial. */
static void
serialize_loops_around(struct func *f, struct stmt *alloc)
{
	for (struct stmt *p = alloc->parent; p; p = p->parent) {
		if (p->kind == STMT_FOR && p->u.loop.kind == FOR_PARALLEL) {
			stmt_set_loop_kind(f, p, FOR_SERIAL, NULL);
		}
	}
}

/* Does a size of the buffer depend on a variable that is no parameter of f,
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

/* The first ALLOC outside of device kernels whose size has no known maximum and
 * depends only on the function's parameters, so that the caller can compute it;
 * NULL if there is none. */
static struct stmt *
find_unsized(struct func *f)
{
	struct stmt *s;
	int64_t elems;

	for (struct stmt_iter it = stmt_each(f->body); (s = stmt_next(&it));) {
		if (tag_of(s) >= 0) {
			stmt_skip(&it);
		} else if (s->kind == STMT_ALLOC &&
			   !buffer_max_elems(s->u.buffer, &elems) &&
			   !has_inner_size(f, s->u.buffer)) {
			return s;
		}
	}
	return NULL;
}

/* The ALLOC of the next array to move off the stack: first the arrays of
 * find_unsized, then, while the stack exceeds the limit, the largest array.
 * NULL if there is nothing more to move. */
static struct stmt *
next_scratch(struct func *f, int64_t limit_bytes)
{
	struct stmt *s = find_unsized(f);

	if (!s && lower_stack_bytes(f) > limit_bytes) {
		s = find_largest(f);
	}
	return s;
}

int
lower_scratch(struct func *f, int64_t limit_bytes)
{
	struct stmt *alloc;
	int n = 0;

	while ((alloc = next_scratch(f, limit_bytes)) != NULL) {
		const struct buffer *b = alloc->u.buffer, *outside;

		serialize_loops_around(f, alloc);
		outside = buffer_with_scope(f->module, b, "global");
		stmt_replace(f, alloc, alloc->children[0]);
		stmt_replace_buffer(f, f->body, b, outside);
		func_add_param(f, outside->data, outside);
		n++;
	}
	return n;
}
