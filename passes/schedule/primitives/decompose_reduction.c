/* SPDX-License-Identifier: Apache-2.0 */
/* decompose_reduction: the init part of a reduction becomes a separate block.
 *
 *   for i, k:                               for i:
 *       with T.block("C"):                      with T.block("C_init"): ...
 *           with T.init(): ...        ->        for k:
 *           C[v_i] += A[v_i, v_k]                   with T.block("C_update"): ...
 */
#include "block_init.h"
#include "loop_legality.h"

bool
prim_decompose_reduction(struct edit *e, const struct sched_value *args,
			 struct sched_value *out)
{
	const char *why;
	struct stmt *b = edit_block(e, args[0].u.id);
	struct stmt *l = edit_loop(e, args[1].u.id), *nest;
	struct stmt_list made = { 0 };
	struct block copy;

	if (!l) {
		return false;
	}
	if (!b->children[1]) {
		return edit_fail(e,
				 "block %s has no init part; only a "
				 "reduction with one can be decomposed",
				 b->u.block->name);
	}
	if (!stmt_contains(l, b) || scope_of(l) != scope_of(b)) {
		return edit_fail(e,
				 "loop %s is not around block %s; choose "
				 "one of its loops",
				 l->u.loop.var->name, b->u.block->name);
	}
	for (struct stmt *p = b->parent; p && p->kind != STMT_BLOCK;
	     p = p->parent) {
		if (p->kind != STMT_FOR) {
			continue;
		}
		if (loop_drives(p, b, true) &&
		    (!stmt_contains(l, p) || loop_drives(p, b, false))) {
			return edit_fail(e,
					 "reduction loop %s is outside of "
					 "this loop; choose the outermost "
					 "reduction loop",
					 p->u.loop.var->name);
		}
		/* A loop that drives no iter var of the block repeats the
		 * reduction with its init. */
		if (stmt_contains(l, p) && !loop_drives(p, b, true) &&
		    !loop_drives(p, b, false) &&
		    !expr_is_value(p->args[1], 1)) {
			return edit_fail(e,
					 "loop %s repeats block %s; choose "
					 "a loop inside of it",
					 p->u.loop.var->name, b->u.block->name);
		}
	}
	/* Loops whose bindings are not injective, such as i + j, would repeat
	 * the block, too. */
	if (!bindings_injective(e->f, l, b)) {
		return edit_fail(e,
				 "the loops from %s on compute elements of "
				 "block %s more than once; choose an inner "
				 "loop",
				 l->u.loop.var->name, b->u.block->name);
	}
	if (!part_is_apart(e->f, l, b, b->children[1])) {
		return edit_fail(e,
				 "other statements of loop %s use what the "
				 "init of block %s writes, or write what it "
				 "reads; choose an inner loop",
				 l->u.loop.var->name, b->u.block->name);
	}
	nest = place_init(e->f, b, l, &why);
	if (!nest) {
		return edit_fail(e, "the predicate of block %s %s",
				 b->u.block->name, why);
	}
	blocks_below(e->f, nest, &made);
	copy = *b->u.block;
	copy.name = arena_printf(&e->m->arena, "%s_update", copy.name);
	stmt_set_block(e->f, b, &copy);
	block_refresh(e->f, made.list.data[0]);
	block_refresh(e->f, b);
	*out = sv_block(made.list.data[0]->id);
	return true;
}
