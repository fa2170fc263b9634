/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces every block by its body.
 *
 *   for i in range(50):
 *       with T.block("B"):
 *           v = T.axis.spatial(800, i * 16)      for i in range(50):
 *           T.where(i * 16 < 790)         ->         if i * 16 < 790:
 *           B[v] = A[v]                                  B[i*16] = A[i*16]
 *
 * The buffers that a block owns become ALLOCs around its body; storage moves
 * them. Needs place-init to have been there. */
#include "lower_passes.h"

#include <assert.h>

static struct stmt *
lower_block(struct func *f, struct stmt *s)
{
	struct arena *arena = &f->module->arena;
	const struct block *b = s->u.block;
	struct var_map map = { .n = b->n_iters };
	struct stmt *body = s->children[0];

	assert(!s->children[1]);
	map.from = arena_array(arena, struct var *, b->n_iters + 1);
	map.to = arena_array(arena, const struct expr *, b->n_iters + 1);
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
			/* A SEQ grows by what is spliced into it, all of it
			 * lowered. */
			i += s->n_children - n;
		}
	}
}

bool
lower_blocks(struct func *f)
{
	struct stmt_place body = { NULL, 0 };

	lower_below(f, f->body);
	if (f->body->kind == STMT_BLOCK) {
		stmt_put(f, body, lower_block(f, f->body));
	}
	return true;
}
