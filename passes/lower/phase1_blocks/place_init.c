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
 * The init statement is put just before the outermost reduction loop, inside of
 * copies of the spatial loops that are within this loop. If one (fused) loop
 * drives both spatial and reduction iter vars, the init stays in the block,
 * under the condition that every reduction iter var is at its minimum. It also
 * stays there if it uses a reduction iter var, if other statements of the loops
 * use what it writes or write what it reads, or if the loops do not begin with it.
 *
 * The result of a block with the note written_out is one expression of all terms,
 * without an init:
 *
 *   for i in range(2):
 *       with T.block("s"):             with T.block("s"):
 *           ...                    ->      s[0] = x[0] + x[1]
 *           s[0] = s[0] + x[v_i] */
#include "lower_passes.h"

#include "access.h"
#include "block_init.h"
#include "iterate.h"
#include "written_out.h"

/* The most terms of a written-out sum; an expression with more terms would not
 * be readable. */
enum { WRITTEN_OUT_MOST = 16 };

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

/* Does the init use a reduction iter var? Then it is meaningful only inside of
 * the block. */
static bool
init_reduces(const struct stmt *block)
{
	const struct block *b = block->u.block;

	for (int i = 0; i < b->n_iters; i++) {
		if (b->iters[i].kind == ITER_REDUCE &&
		    stmt_uses_var(block->children[1], b->iters[i].var)) {
			return true;
		}
	}
	return false;
}

/* Is each reduction iter var at its minimum in the first iteration of the loops that
 * drive it? Else the init does not run then, or not at all. */
static bool
begins_with_init(struct func *f, const struct stmt *block)
{
	struct module *m = f->module;
	const struct block *b = block->u.block;
	struct analyser a;
	bool begins = true;

	analyser_at(&a, m, block);
	for (int i = 0; i < b->n_iters && begins; i++) {
		const struct expr *x = block->args[i + 1];

		for (const struct stmt *s = block->parent;
		     s && s->kind != STMT_BLOCK &&
		     b->iters[i].kind == ITER_REDUCE;
		     s = s->parent) {
			struct var *v = s->kind == STMT_FOR ? s->u.loop.var
							    : NULL;
			struct var_map map = { &v, &s->args[0], v != NULL };

			x = expr_substitute(m, x, &map);
		}
		begins = b->iters[i].kind != ITER_REDUCE ||
			 prove(&a, expr_eq(m, x, b->iters[i].min));
	}
	return begins;
}

/* Is the block's body a store, and does it load elements of the array that the init
 * stores to, with other indices than those of the store? Before an element's own turn,
 * such a load must not see the element's init. */
static bool
loads_others(struct func *f, const struct stmt *block)
{
	struct stmt *body = block->children[0], *s;
	bool loads = false;

	if (body->kind != STMT_STORE) {
		return false;
	}
	for (struct stmt_iter it = stmt_each_of(block->children[1], STMT_STORE);
	     (s = stmt_next(&it));) {
		loads |= access_loads_others(f, body, s->u.buffer);
	}
	return loads;
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

/* -- reductions that are written out -- */

/* If a single loop runs over terms of the block, and only loops over results
 * are between this loop and the block, returns the loop; else NULL. */
static struct stmt *
loop_of_terms(struct stmt *block)
{
	struct stmt *found = NULL, *inside;
	int n = 0;

	for (struct stmt *p = block->parent; p && p->kind != STMT_BLOCK;
	     p = p->parent) {
		if (p->kind == STMT_FOR && loop_drives(p, block, true)) {
			found = p;
			n++;
		}
	}
	inside = found;
	while (inside != NULL && inside->kind == STMT_FOR) {
		inside = inside->children[0];
	}
	return n == 1 && inside == block && !loop_drives(found, block, false)
		       ? found
		       : NULL;
}

/* The identity element of this kind of operator; NULL: none is known. */
static const struct expr *
identity_of(struct module *m, enum expr_kind kind, struct dtype t)
{
	switch (kind) {
	case EXPR_ADD:
		return expr_const(m, t, 0);
	case EXPR_MUL:
		return expr_const(m, t, 1);
	case EXPR_MIN:
		return reducer_min(m, t)->identity[0];
	case EXPR_MAX:
		return reducer_max(m, t)->identity[0];
	default:
		return NULL;
	}
}

/* Does the block combine its result, which starts as the identity, with a term by
 * an operator whose left operand is the result? */
static bool
is_update(struct module *m, const struct stmt *init, const struct stmt *update)
{
	const struct expr *e;

	if (init == NULL || init->kind != STMT_STORE ||
	    update->kind != STMT_STORE) {
		return false;
	}
	e = update->args[0];
	if (init->args[0] != identity_of(m, e->kind, e->type) ||
	    e->args[0]->kind != EXPR_LOAD ||
	    expr_uses_buffer(e->args[1], update->u.buffer) ||
	    e->args[0]->u.buffer != update->u.buffer ||
	    init->u.buffer != update->u.buffer) {
		return false;
	}
	for (int i = 1; i < update->n_args; i++) {
		if (update->args[i] != e->args[0]->args[i - 1] ||
		    update->args[i] != init->args[i]) {
			return false;
		}
	}
	return true;
}

/* Term k of the sum that the block's update computes: the term for the value k
 * of the loop's variable. */
static const struct expr *
term_of(struct func *f, const struct stmt *block, const struct stmt *loop,
	int64_t k)
{
	struct module *m = f->module;
	const struct block *b = block->u.block;
	struct var *var = loop->u.loop.var;
	const struct expr *at = expr_int(m, var->type, k);
	struct var_map value = { &var, &at, 1 }, terms = { 0 };

	terms.from = arena_array(&m->arena, struct var *, b->n_iters + 1);
	terms.to = arena_exprs(&m->arena, b->n_iters + 1);
	for (int i = 0; i < b->n_iters; i++) {
		if (b->iters[i].kind == ITER_REDUCE) {
			terms.from[terms.n] = b->iters[i].var;
			terms.to[terms.n++] =
				expr_substitute(m, block->args[i + 1], &value);
		}
	}
	return expr_substitute(m, block->children[0]->args[0]->args[1], &terms);
}

/* If the block has the note WRITTEN_OUT, makes it store a single expression
 * with all of its terms, without an init. Returns whether it did. */
static bool
write_out(struct func *f, struct stmt *block)
{
	struct stmt *loop = loop_of_terms(block);
	struct stmt *update = block->children[0];
	const struct expr *sum = NULL;
	int64_t extent;

	if (stmt_note(block, WRITTEN_OUT) == NULL || loop == NULL ||
	    !is_update(f->module, block->children[1], update) ||
	    !expr_is_value(loop->args[0], 0) ||
	    !expr_is_int(loop->args[1], &extent) || extent < 1 ||
	    extent > WRITTEN_OUT_MOST ||
	    expr_uses_var(block->args[0], loop->u.loop.var)) {
		return false;
	}
	for (int64_t k = 0; k < extent; k++) {
		const struct expr *args[2] = { sum,
					       term_of(f, block, loop, k) };

		sum = sum == NULL
			      ? args[1]
			      : expr_rebuild(f->module, update->args[0], args);
	}
	stmt_set_arg(f, update, 0, sum);
	stmt_set_child(f, block, 1, NULL);
	stmt_set_arg(f, loop, 1,
		     expr_int(f->module, loop->u.loop.var->type, 1));
	return true;
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

		bool begins = block->children[1] && begins_with_init(f, block);

		if (!block->children[1] || (begins && write_out(f, block))) {
			continue;
		}
		outer = outermost_reduction(block, &mixed);
		if (!outer || !begins || loads_others(f, block) || mixed ||
		    init_reduces(block) || !plain_between(block, outer) ||
		    !part_is_apart(f, outer, block, block->children[1]) ||
		    !place_init(f, block, outer, &why)) {
			guard_init(f, block);
		}
	}
	return true;
}
