/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the stack size of local arrays, and moves arrays from the stack to
 * the workspace. */
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

	/* Arrays of a device kernel are not on the stack. */
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

struct unsized {
	const struct func *func;
	struct stmt *alloc;
	bool inner; /* a size depends on a variable bound in the body */
};

static void
find_inner(void *ctx, const struct expr *e)
{
	struct unsized *u = ctx;
	bool given = e->kind != EXPR_VAR;

	for (int i = 0; i < u->func->params.n && !given; i++) {
		given = u->func->params.data[i].var == e->u.var;
	}
	u->inner |= !given;
}

static bool
find_unsized(void *ctx, struct stmt *s)
{
	struct unsized *u = ctx;
	int64_t elems;

	if (tag_of(s) >= 0 || u->alloc) {
		return false;
	}
	if (s->kind != STMT_ALLOC || buffer_max_elems(s->u.buffer, &elems)) {
		return true;
	}
	u->inner = false;
	for (int d = 0; d < s->u.buffer->ndim; d++) {
		expr_visit(s->u.buffer->shape[d], find_inner, u);
	}
	u->alloc = u->inner ? NULL : s;
	return true;
}

/* The ALLOC of the next array to move off the stack: first arrays of unbounded
 * size, then the largest. NULL if the others fit. */
static struct stmt *
next_scratch(struct func *f, int64_t limit_bytes)
{
	struct unsized u = { .func = f };
	struct largest l = { 0 };

	stmt_visit(f->body, find_unsized, &u);
	if (!u.alloc && lower_stack_bytes(f) > limit_bytes) {
		stmt_visit(f->body, find_largest, &l);
	}
	return u.alloc ? u.alloc : l.alloc;
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
