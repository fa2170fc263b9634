/* SPDX-License-Identifier: Apache-2.0 */
/* How much of the stack local arrays take, and moving the largest elsewhere. */
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

	/* What a kernel has is its device's. */
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

struct largest {
	struct stmt *alloc;
	int64_t bytes;
};

static bool
find_largest(void *ctx, struct stmt *s)
{
	struct largest *l = ctx;

	if (tag_of(s) >= 0) {
		return false;
	}
	if (s->kind == STMT_ALLOC && alloc_bytes(s) > l->bytes) {
		l->alloc = s;
		l->bytes = alloc_bytes(s);
	}
	return true;
}

/* In the workspace there is one for all threads: a loop around it has none. */
static void
share_nothing(struct func *f, struct stmt *alloc)
{
	for (struct stmt *p = alloc->parent; p; p = p->parent) {
		if (p->kind == STMT_FOR && p->u.loop.kind == FOR_PARALLEL) {
			stmt_set_loop_kind(f, p, FOR_SERIAL, NULL);
		}
	}
}

int
lower_scratch(struct func *f, int64_t limit_bytes)
{
	int n = 0;

	while (lower_stack_bytes(f) > limit_bytes) {
		struct largest l = { 0 };
		const struct buffer *b, *outside;

		stmt_visit(f->body, find_largest, &l);
		if (!l.alloc) {
			break;
		}
		share_nothing(f, l.alloc);
		b = l.alloc->u.buffer;
		outside = buffer_with_scope(f->module, b, "global");
		stmt_replace(f, l.alloc, l.alloc->children[0]);
		stmt_replace_buffer(f, f->body, b, outside);
		func_add_param(f, outside->data, outside);
		n++;
	}
	return n;
}
