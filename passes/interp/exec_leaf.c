/* SPDX-License-Identifier: Apache-2.0 */
/* The executor's code for statements without loops. Each statement runs in all
 * lanes before the next statement; exec_choose.c has made sure that no lane
 * reads an element that another lane stores. */
#include "exec.h"
#include "iterate.h"

bool
exec_is_leaf(const struct stmt *s)
{
	switch (s->kind) {
	case STMT_STORE:
		return true;
	case STMT_EVALUATE:
		return s->args[0]->kind == EXPR_INT;
	case STMT_SEQ:
	case STMT_IF:
	case STMT_LET:
	case STMT_ATTR:
		break;
	case STMT_BLOCK:
		if (s->u.block->n_allocs > 0) {
			return false;
		}
		break;
	default:
		return false;
	}
	for (int i = 0; i < s->n_children; i++) {
		if (s->children[i] && !exec_is_leaf(s->children[i])) {
			return false;
		}
	}
	return true;
}

bool
exec_let_is_symbolic(const struct stmt *s)
{
	return !expr_has(s->args[0], EXPR_LOAD) &&
	       dtype_is_int(s->args[0]->type);
}

void
exec_bind_block(struct exec_builder *b, const struct stmt *s)
{
	for (int i = 0; i < s->u.block->n_iters; i++) {
		exec_bind(b, s->u.block->iters[i].var, s->args[1 + i], -1, -1);
	}
}

/* The register of the condition that all reduction variables of the block are
 * at their first value; -1 if the block has no reduction variables. */
static int
exec_first_iteration(struct exec_builder *b, const struct stmt *s)
{
	struct module *m = b->func->module;
	const struct expr *first = NULL;

	for (int i = 0; i < s->u.block->n_iters; i++) {
		const struct iter_var *iter = &s->u.block->iters[i];
		const struct expr *at;

		if (iter->kind != ITER_REDUCE) {
			continue;
		}
		at = expr_eq(m, s->args[1 + i], iter->min);
		first = first ? expr_and(m, first, at) : at;
	}
	return first ? exec_value(b, first) : -1;
}

const struct expr *
exec_folded_value(const struct stmt *store)
{
	const struct expr *e = store->args[0];
	const struct expr *load;

	if (e->kind != EXPR_ADD && e->kind != EXPR_MUL && e->kind != EXPR_MIN &&
	    e->kind != EXPR_MAX) {
		return NULL;
	}
	load = e->args[0];
	if (load->kind != EXPR_LOAD || load->u.buffer != store->u.buffer ||
	    expr_uses_buffer(e->args[1], store->u.buffer)) {
		return NULL;
	}
	for (int i = 0; i < load->n_args; i++) {
		if (load->args[i] != store->args[1 + i]) {
			return NULL;
		}
	}
	return e->args[1];
}

static void
leaf_store(struct exec_builder *b, const struct stmt *s,
	   const struct stmt *folded)
{
	if (s == folded) {
		exec_fold(b, s->u.buffer, s->args + 1, s->args[0]->kind,
			  exec_folded_value(s));
	} else {
		exec_store(b, s->u.buffer, s->args + 1, s->args[0]);
	}
}

static void
leaf_if(struct exec_builder *b, const struct stmt *s, const struct stmt *folded)
{
	int condition = exec_value(b, s->args[0]);
	struct exec_region region;

	if (b->failed) {
		return;
	}
	region = exec_region_begin(b, condition, false);
	exec_leaf(b, s->children[0], folded);
	exec_region_end(b, region);
	if (s->n_children > 1 && s->children[1]) {
		region = exec_region_begin(b, condition, true);
		exec_leaf(b, s->children[1], folded);
		exec_region_end(b, region);
	}
}

static void
leaf_let(struct exec_builder *b, const struct stmt *s,
	 const struct stmt *folded)
{
	int mark = b->bindings.n;

	if (exec_let_is_symbolic(s)) {
		exec_bind(b, s->u.var, s->args[0], -1, -1);
	} else {
		int reg = exec_value(b, s->args[0]);

		exec_bind(b, s->u.var, s->args[0], reg, -1);
	}
	exec_leaf(b, s->children[0], folded);
	b->bindings.n = mark;
}

static void
leaf_block(struct exec_builder *b, const struct stmt *s,
	   const struct stmt *folded)
{
	int mark = b->bindings.n;
	bool guarded = !expr_is_value(s->args[0], 1);
	struct exec_region region;
	int first;

	if (guarded) {
		int condition = exec_value(b, s->args[0]);

		if (b->failed) {
			return;
		}
		region = exec_region_begin(b, condition, false);
	}
	exec_bind_block(b, s);
	if (s->children[1]) {
		first = exec_first_iteration(b, s);
		if (b->failed) {
			return;
		}
		if (first < 0) {
			exec_leaf(b, s->children[1], NULL);
		} else {
			struct exec_region init = exec_region_begin(b, first,
								    false);

			exec_leaf(b, s->children[1], NULL);
			exec_region_end(b, init);
		}
	}
	exec_leaf(b, s->children[0], folded);
	b->bindings.n = mark;
	if (guarded) {
		exec_region_end(b, region);
	}
}

void
exec_leaf(struct exec_builder *b, const struct stmt *s,
	  const struct stmt *folded)
{
	if (b->failed) {
		return;
	}
	switch (s->kind) {
	case STMT_STORE:
		leaf_store(b, s, folded);
		break;
	case STMT_IF:
		leaf_if(b, s, folded);
		break;
	case STMT_LET:
		leaf_let(b, s, folded);
		break;
	case STMT_BLOCK:
		leaf_block(b, s, folded);
		break;
	default: /* SEQ, ATTR, or an EVALUATE without effect */
		for (int i = 0; i < s->n_children; i++) {
			exec_leaf(b, s->children[i], folded);
		}
		break;
	}
}
