/* SPDX-License-Identifier: Apache-2.0 */
/* Moves the init part of a reduction to a separate nest. */
#include "block_init.h"

#include "access.h"
#include "iterate.h"
#include "scope.h"

bool
loop_drives(const struct stmt *loop, const struct stmt *block, bool reduce)
{
	const struct block *b = block->u.block;

	for (int i = 0; i < b->n_iters; i++) {
		if ((b->iters[i].kind == ITER_REDUCE) == reduce &&
		    expr_uses_var(block->args[i + 1], loop->u.loop.var)) {
			return true;
		}
	}
	return false;
}

/* Sets *out to the conjuncts of the block's predicate that use only loops of
 * the init nest. False, with the reason in *why, if a conjunct uses both a loop
 * of the nest and a loop outside of it, or contains a load or division that a
 * conjunct which is left out may guard. */
static bool
init_predicate(struct func *f, struct stmt *block, struct stmt *outer,
	       const struct expr **out, const char **why)
{
	struct conjuncts all = { 0 }, kept = { 0 };
	bool guarded = false;
	struct analyser a;

	analyser_at(&a, f->module, outer);
	expr_conjuncts(f->module, block->args[0], &all);
	for (int i = 0; i < all.list.n; i++) {
		const struct expr *c = all.list.data[i];
		bool reduces = false, spatial = false;

		for (struct stmt *p = block->parent; p; p = p->parent) {
			if (p->kind != STMT_FOR ||
			    !expr_uses_var(c, p->u.loop.var)) {
				continue;
			}
			/* The nest has no loops that only reduction iter vars
			 * of the block depend on. */
			if (stmt_contains(outer, p) &&
			    !loop_drives(p, block, false)) {
				reduces = true;
			} else {
				spatial = true;
			}
		}
		if (reduces && spatial) {
			*why = "mixes reduction and spatial loops; split loops "
			       "by factors that divide them";
			return false;
		}
		if (!reduces && guarded && !expr_is_total(&a, c)) {
			*why = "has a load or division that a condition on "
			       "reduction loops may guard; test that condition "
			       "last";
			return false;
		}
		guarded |= reduces;
		if (!reduces) {
			vec_push(&f->module->arena, &kept.list, c);
		}
	}
	*out = expr_conjunction(f->module, kept.list.data, kept.list.n);
	return true;
}

/* Sets init's read regions: the whole of each buffer that the block reads and
 * that the init part uses. */
static void
init_regions(struct func *f, struct stmt *block, struct block *init)
{
	const struct block *b = block->u.block;
	struct module *m = f->module;

	init->reads = arena_array(&m->arena, struct region, b->n_reads + 1);
	for (int i = 0; i < b->n_reads; i++) {
		const struct buffer *buffer = b->reads[i].buffer;
		struct region *r = &init->reads[init->n_reads];

		if (!stmt_uses_buffer(block->children[1], buffer)) {
			continue;
		}
		init->n_reads++;
		r->buffer = buffer;
		r->ranges = arena_array(&m->arena, struct range,
					buffer->ndim + 1);
		for (int d = 0; d < buffer->ndim; d++) {
			r->ranges[d].min = expr_int(m, buffer->shape[d]->type,
						    0);
			r->ranges[d].extent = buffer->shape[d];
		}
	}
}

struct block
init_header(struct func *f, const struct stmt *block,
	    const struct expr ***bindings)
{
	struct arena *a = &f->module->arena;
	const struct block *b = block->u.block;
	struct block init = { .name = arena_printf(a, "%s_init", b->name),
			      .writes = b->writes,
			      .n_writes = b->n_writes };

	init.iters = arena_array(a, struct iter_var, b->n_iters + 1);
	*bindings = arena_exprs(a, b->n_iters + 1);
	for (int i = 0; i < b->n_iters; i++) {
		if (b->iters[i].kind != ITER_REDUCE) {
			init.iters[init.n_iters] = b->iters[i];
			(*bindings)[init.n_iters++] = block->args[i + 1];
		}
	}
	return init;
}

/* A copy of the block that has the init part as its body, only the spatial iter
 * vars, and the given predicate. */
static struct stmt *
init_block(struct func *f, struct stmt *block, const struct expr *predicate)
{
	const struct expr **bindings;
	struct block init = init_header(f, block, &bindings);
	struct stmt *body = block->children[1], *made;

	init_regions(f, block, &init);
	stmt_set_child(f, block, 1, NULL);
	made = stmt_block(f, &init, predicate, bindings, NULL, body);
	if (body->kind != STMT_STORE || expr_has_load(body->args[0]) ||
	    init.n_writes > 1) {
		block_refresh(f, made);
	}
	return made;
}

struct stmt *
place_init(struct func *f, struct stmt *block, struct stmt *outer,
	   const char **why)
{
	const struct expr *predicate;
	struct stmt_place place = stmt_place_of(outer);
	struct stmt *nest, *pair[2];

	if (!init_predicate(f, block, outer, &predicate, why)) {
		return NULL;
	}
	nest = init_block(f, block, predicate);
	for (struct stmt *p = block->parent;; p = p->parent) {
		if (p->kind == STMT_FOR && loop_drives(p, block, false)) {
			enum for_kind kind = p->u.loop.kind;

			if (kind == FOR_PARALLEL) {
				kind = FOR_SERIAL;
			}
			nest = stmt_for(f, p->u.loop.var, p->args[0],
					p->args[1], kind, nest);
			nest->u.loop.thread = p->u.loop.thread;
			nest->notes = p->notes;
		}
		if (p == outer) {
			break;
		}
	}
	nest = stmt_clone(f, nest, true);
	pair[0] = nest;
	pair[1] = outer;
	stmt_put(f, place, stmt_seq(f, pair, 2));
	return nest;
}
