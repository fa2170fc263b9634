/* SPDX-License-Identifier: Apache-2.0 */
/* Marks addresses of buffers that the surrounding block only reads, so that the
 * emitted pointers are const.
 *
 *   T.reads(A[v_i, 0:8])
 *   T.writes(B[v_i])
 *   T.evaluate(T.call_extern("f", T.address_of(A[v_i, 0]),
 *                            T.address_of(B[v_i])))
 *   ->
 *   T.evaluate(T.call_extern("f", T.read_address_of(A[v_i, 0]),
 *                            T.address_of(B[v_i])))
 *
 * This applies to parameters, so that the caller sees const, and to shared
 * memory, so that the pass `sync` knows the readers. Local arrays keep plain
 * addresses: compilers warn that a const pointer to a local array, which a loop
 * has filled, points to uninitialized memory. The pass trusts the regions that
 * a block declares; without declared regions an address counts as read and
 * written. Runs while blocks exist. */
#include "lower_passes.h"

#include "thread_loops.h"

struct block_scope {
	struct func *func;
	/* the innermost block around the expression; NULL if there is none */
	const struct block *block;
};

static const struct expr *
replace_address(void *ctx, const struct expr *e)
{
	const struct block_scope *o = ctx;
	const struct block *b = o->block;
	const struct buffer *of;

	if (e->kind != EXPR_CALL || e->u.intrin != INTRIN_ADDRESS_OF) {
		return NULL;
	}
	of = e->args[0]->u.buffer;
	return (func_has_param(o->func, of) || buffer_is_shared(of)) &&
			       regions_have(b->reads, b->n_reads, of) &&
			       !regions_have(b->writes, b->n_writes, of)
		       ? expr_call(o->func->module, INTRIN_READ_ADDRESS_OF,
				   e->type, e->args, 1)
		       : NULL;
}

static void
lower_below(struct func *f, struct stmt *s, const struct block *block)
{
	struct block_scope o = { f, block };

	for (int i = 0; block && i < s->n_args; i++) {
		stmt_set_arg(f, s, i,
			     expr_rewrite(f->module, s->args[i],
					  replace_address, &o));
	}
	if (s->kind == STMT_BLOCK) {
		block = s->u.block;
	}
	for (int i = 0; i < s->n_children; i++) {
		if (s->children[i]) {
			lower_below(f, s->children[i], block);
		}
	}
}

bool
lower_addresses(struct func *f)
{
	lower_below(f, f->body, NULL);
	return true;
}
