/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces every block by its body.
 *
 *   for i in range(50):
 *       with T.block("B"):
 *           v = T.axis.spatial(800, i * 16)      for i in range(50):
 *           T.where(i * 16 < 790)         ->         if i * 16 < 790:
 *           B[v] = A[v]                                  B[i*16] = A[i*16]
 *
 * The buffers that a block allocates become ALLOCs around its body; the pass
 * `storage` moves them. Runs after place-init, so that no block has an init
 * part. */
#include "lower_passes.h"

#include <assert.h>

#include "iterate.h"
#include "storage_align.h"
#include "thread_loops.h"

static struct stmt *
lower_block(struct func *f, struct stmt *s)
{
	struct arena *arena = &f->module->arena;
	const struct block *b = s->u.block;
	struct var_map map = { .n = b->n_iters };
	struct stmt *body = s->children[0];

	assert(!s->children[1]);
	map.from = arena_array(arena, struct var *, b->n_iters + 1);
	map.to = arena_exprs(arena, b->n_iters + 1);
	for (int i = 0; i < b->n_iters; i++) {
		map.from[i] = b->iters[i].var;
		map.to[i] = s->args[i + 1];
	}
	stmt_substitute(f, body, &map);
	for (int i = b->n_allocs - 1; i >= 0; i--) {
		body = stmt_alloc(f, b->allocs[i], body);
	}
	if (!expr_is_value(s->args[0], 1)) {
		body = stmt_if(f, s->args[0], body, NULL);
	}
	return body;
}

static void
lower_below(struct func *f, struct stmt *s)
{
	for (int i = 0; i < s->n_children; i++) {
		struct stmt *child = s->children[i];

		if (!child) {
			continue;
		}
		lower_below(f, child);
		if (child->kind == STMT_BLOCK) {
			int n = s->n_children;
			struct stmt_place place = { s, i };

			stmt_put(f, place, lower_block(f, child));
			/* stmt_replace() has put the statements of a SEQ in
			 * place of the child: they are lowered already, and are
			 * skipped */
			i += s->n_children - n;
		}
	}
}

/* A storage_align annotation of a block, and the written buffer to which it
 * applies. */
struct alignment {
	const struct buffer *buffer;
	/* the list [axis, factor, offset] of the note */
	const struct expr *padding;
};

struct alignments {
	struct func *func;
	VEC(struct alignment) list;
};

static void
find_alignments(struct alignments *a, struct stmt *s)
{
	struct module *m = a->func->module;

	for (struct stmt_iter it = stmt_each_of(s, STMT_BLOCK);
	     (s = stmt_next(&it));) {
		const struct expr *list = stmt_note(s, STORAGE_ALIGN), *x;
		int i = 0;

		while ((x = storage_align_next(list, &i))) {
			struct alignment found;
			int64_t which;

			if (!expr_is_int(x->args[0], &which) || which < 0 ||
			    which >= s->u.block->n_writes) {
				continue;
			}
			found.buffer = s->u.block->writes[which].buffer;
			found.padding = expr_list(m, x->args + 1, 3);
			vec_push(&m->arena, &a->list, found);
		}
	}
}

/* Copies each annotation to the ALLOC of its buffer, where the pass `storage`,
 * which pads the array, reads it. */
static void
mark_allocs(const struct alignments *a, struct stmt *s)
{
	struct module *m = a->func->module;

	for (struct stmt_iter it = stmt_each_of(s, STMT_ALLOC);
	     (s = stmt_next(&it));) {
		const struct expr **list = arena_exprs(&m->arena,
						       a->list.n + 1);
		int n = 0;

		for (int i = 0; i < a->list.n; i++) {
			if (a->list.data[i].buffer == s->u.buffer) {
				list[n++] = a->list.data[i].padding;
			}
		}
		if (n > 0) {
			stmt_set_note(a->func, s, STORAGE_ALIGN,
				      expr_list(m, list, n));
		}
	}
}

/* A buffer of which a call takes the address of an element. outer: the number
 * of outer dimensions in which the surrounding block accesses only that
 * element's index. */
struct addressed {
	const struct buffer *buffer;
	int outer;
};

struct addresses {
	struct func *func;
	VEC(struct addressed) list;
};

static const struct region *
region_of(const struct region *list, int n, const struct buffer *b)
{
	for (int i = 0; i < n; i++) {
		if (list[i].buffer == b) {
			return &list[i];
		}
	}
	return NULL;
}

static int
outer_dims(const struct region *r, const struct expr *const *index)
{
	int d = 0;

	while (r && d < r->buffer->ndim &&
	       expr_is_value(r->ranges[d].extent, 1) &&
	       r->ranges[d].min == index[d]) {
		d++;
	}
	return d;
}

static void
note_address(struct addresses *a, const struct stmt *s, const struct expr *e)
{
	const struct region *read, *written;
	struct addressed x;

	if (!intrin_is_address(e->u.intrin) || e->args[0]->kind != EXPR_LOAD) {
		return;
	}
	while (s && s->kind != STMT_BLOCK) {
		s = s->parent;
	}
	x.buffer = e->args[0]->u.buffer;
	read = s ? region_of(s->u.block->reads, s->u.block->n_reads, x.buffer)
		 : NULL;
	written = s ? region_of(s->u.block->writes, s->u.block->n_writes,
				x.buffer)
		    : NULL;
	x.outer = outer_dims(read ? read : written, e->args[0]->args);
	if (written && outer_dims(written, e->args[0]->args) < x.outer) {
		x.outer = outer_dims(written, e->args[0]->args);
	}
	for (int i = 0; i < a->list.n; i++) {
		if (a->list.data[i].buffer == x.buffer) {
			if (x.outer < a->list.data[i].outer) {
				a->list.data[i].outer = x.outer;
			}
			return;
		}
	}
	vec_push(&a->func->module->arena, &a->list, x);
}

/* Adds a note to the ALLOC: the number of inner dimensions that the pass
 * `storage` must keep. The pass may shrink the outer dimensions, in each of
 * which a call accesses only one index. The note counts inner dimensions,
 * because passes add and drop outer dimensions. A note with this key that the
 * program itself contains is dropped, because nothing proves it. */
static void
mark_addressed(const struct addresses *a, struct stmt *s)
{
	for (struct stmt_iter it = stmt_each_of(s, STMT_ALLOC);
	     (s = stmt_next(&it));) {
		stmt_set_note(a->func, s, ADDRESS_INNER_DIMS, NULL);
		for (int i = 0; i < a->list.n; i++) {
			if (a->list.data[i].buffer == s->u.buffer &&
			    a->list.data[i].outer > 0) {
				stmt_set_note(a->func, s, ADDRESS_INNER_DIMS,
					      expr_i32(a->func->module,
						       s->u.buffer->ndim -
							       a->list.data[i]
								       .outer));
			}
		}
	}
}

bool
lower_blocks(struct func *f)
{
	struct stmt_place body = { NULL, 0 };
	struct alignments aligned = { .func = f };
	struct addresses taken = { .func = f };
	struct tree_iter calls = tree_each_of(f->body, EXPR_CALL);
	const struct expr *call;

	find_alignments(&aligned, f->body);
	while ((call = tree_next(&calls)) != NULL) {
		note_address(&taken, calls.at, call);
	}
	lower_below(f, f->body);
	if (f->body->kind == STMT_BLOCK) {
		stmt_put(f, body, lower_block(f, f->body));
	}
	if (aligned.list.n > 0) {
		mark_allocs(&aligned, f->body);
	}
	mark_addressed(&taken, f->body);
	return true;
}
