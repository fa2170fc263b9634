/* SPDX-License-Identifier: Apache-2.0 */
/* Places the initialization of every reduction (T.init()) before its reduction
 * loops.
 *
 *   for i, k, j:                       for i:
 *       with T.block("C"):                 for j:
 *           ...                                with T.block("C_init"):
 *           with T.init():                         C[v_i, v_j] = 0
 *               C[v_i, v_j] = 0            for k, j:
 *           C[v_i, v_j] = C + ...              with T.block("C"):
 *                                                  C[v_i, v_j] = C + ...
 *
 * The init statement gets copies of the spatial loops inside the outermost
 * reduction loop and stands just before that loop. If one (fused) loop drives
 * both spatial and reduction iter vars, the init stays in the block, under the
 * condition that every reduction iter var is at its minimum. */
#include "lower_passes.h"

#include "access.h"
#include "block_init.h"
#include "iterate.h"

static struct stmt *
outermost_reduction(struct stmt *block, bool *mixed)
{
	struct stmt *found = NULL;

	*mixed = false;
	for (struct stmt *p = block->parent; p && p->kind != STMT_BLOCK;
	     p = p->parent) {
		if (p->kind == STMT_FOR && loop_drives(p, block, true)) {
			found = p;
			*mixed |= loop_drives(p, block, false);
		}
	}
	return found;
}

/* Are there only loops and sequences between outer and the block? A LET or an
 * IF would have to be copied with the init. */
static bool
plain_between(const struct stmt *block, const struct stmt *outer)
{
	for (const struct stmt *p = block->parent; p; p = p->parent) {
		if (p->kind != STMT_FOR && p->kind != STMT_SEQ &&
		    p->kind != STMT_ATTR) {
			return false;
		}
		if (p == outer) {
			return true;
		}
	}
	return false;
}

/* The fallback: moves the init into the block's body, under the condition that
 * all reduction iter vars are at their minimum. */
static void
guard_init(struct func *f, struct stmt *block)
{
	struct module *m = f->module;
	const struct block *b = block->u.block;
	struct conjuncts first = { 0 };
	struct stmt *pair[2] = { block->children[1], NULL };
	const struct expr *cond;

	for (int i = 0; i < b->n_iters; i++) {
		if (b->iters[i].kind == ITER_REDUCE) {
			vec_push(&m->arena, &first.list,
				 expr_eq(m, b->iters[i].var->expr,
					 b->iters[i].min));
		}
	}
	cond = expr_conjunction(m, first.list.data, first.list.n);
	stmt_set_child(f, block, 1, NULL);
	if (cond) {
		pair[0] = stmt_if(f, cond, pair[0], NULL);
	}
	pair[1] = block->children[0];
	stmt_set_child(f, block, 0, stmt_seq(f, pair, 2));
}

bool
lower_place_init(struct func *f)
{
	struct stmt_list blocks = stmts_of(&f->module->arena, f->body,
					   STMT_BLOCK);

	for (int i = 0; i < blocks.list.n; i++) {
		struct stmt *block = blocks.list.data[i], *outer;
		const char *why;
		bool mixed;

		if (!block->children[1]) {
			continue;
		}
		outer = outermost_reduction(block, &mixed);
		if (!outer || mixed || !plain_between(block, outer) ||
		    !place_init(f, block, outer, &why)) {
			guard_init(f, block);
		}
	}
	return true;
}
