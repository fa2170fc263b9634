/* SPDX-License-Identifier: Apache-2.0 */
/* Legality of cross-thread reductions. */
#include "thread_reduction.h"

#include "access.h"

/* May every thread start from the initial value? A sum of 16 parts that each
 * start from 5 would be 75 too large; a minimum may take the value several
 * times. */
static bool
may_repeat(const struct expr *update, const struct expr *start)
{
	int64_t neutral = update->kind == EXPR_MUL;

	return expr_is_extreme(update) || expr_is_value(start, neutral) ||
	       (start->kind == EXPR_FLOAT && start->u.fval == (double)neutral);
}

const char *
cross_thread_refusal(const struct stmt *block, int *own)
{
	const struct stmt *store = block->children[0];
	const struct stmt *init = block->children[1];
	const struct expr *value;

	*own = -1;
	if (!init) {
		return "it has no init part; do not decompose it";
	}
	if (store->kind != STMT_STORE || init->kind != STMT_STORE ||
	    store->u.buffer != init->u.buffer) {
		return "it has several results, or its update is not a plain "
		       "store; bind a spatial loop";
	}
	if (expr_has_load(init->args[0])) {
		return "its init reads a buffer, which every thread would "
		       "add; combine the values afterwards";
	}
	value = store->args[0];
	if (expr_combines(value)) {
		for (int i = 0; i < 2; i++) {
			const struct expr *e = value->args[i];

			if (*own < 0 && e->kind == EXPR_LOAD &&
			    e->u.buffer == store->u.buffer) {
				*own = i;
			}
		}
	}
	if (*own < 0 ||
	    expr_uses_buffer(value->args[1 - *own], store->u.buffer)) {
		return "only sums, products, minima and maxima can be "
		       "reduced across threads";
	}
	if (!may_repeat(value, init->args[0])) {
		return value->kind == EXPR_MUL
			       ? "its init value is not 1; start from 1, and "
				 "combine the value afterwards"
			       : "its init value is not 0; start from 0, and "
				 "combine the value afterwards";
	}
	return NULL;
}

/* ---- how threads reduce */

/* Reads an update of the form C[v] = op(C[v], x). */
static const char *
read_single(struct func *f, const struct stmt *block,
	    struct thread_reduction *out)
{
	struct arena *a = &f->module->arena;
	const struct stmt *store = block->children[0];
	struct reducer *r = arena_new(a, struct reducer);
	struct dtype t = store->u.buffer->type;
	const struct expr *operands[2];
	int own;
	const char *why = cross_thread_refusal(block, &own);

	if (why) {
		return why;
	}
	r->name = block->u.block->name;
	r->n = 1;
	r->lhs = arena_array(a, struct var *, 1);
	r->rhs = arena_array(a, struct var *, 1);
	r->result = arena_exprs(a, 1);
	r->lhs[0] = var_new(f->module, "x", t);
	r->rhs[0] = var_new(f->module, "y", t);
	operands[0] = r->lhs[0]->expr;
	operands[1] = r->rhs[0]->expr;
	r->result[0] = expr_rebuild(f->module, store->args[0], operands);
	r->identity = &block->children[1]->args[0];
	out->own.reducer = r;
	out->own.buffers = arena_array(a, const struct buffer *, 1);
	out->own.buffers[0] = store->u.buffer;
	out->own.index = store->args + 1;
	out->own.sources = arena_exprs(a, 1);
	out->own.sources[0] = store->args[0]->args[1 - own];
	out->together = r;
	return NULL;
}

/* A reducer like r, in which the place of the element that is taken is one value more:
 * the right operands are taken if `take` holds, the left ones otherwise. */
static const struct reducer *
with_place(struct module *m, const struct reducer *r, struct dtype place,
	   struct var *left, struct var *right, const struct expr *take)
{
	struct arena *a = &m->arena;
	struct reducer *out = arena_new(a, struct reducer);
	const struct expr **identity = arena_exprs(a, r->n + 1);

	*out = *r;
	out->n = r->n + 1;
	out->lhs = arena_array(a, struct var *, out->n);
	out->rhs = arena_array(a, struct var *, out->n);
	out->result = arena_exprs(a, out->n);
	out->identity = identity;
	for (int k = 0; k < r->n; k++) {
		out->lhs[k] = r->lhs[k];
		out->rhs[k] = r->rhs[k];
		identity[k] = r->identity[k];
	}
	out->lhs[r->n] = left;
	out->rhs[r->n] = right;
	identity[r->n] = expr_int(m, place, (int64_t)dtype_max_int(place));
	for (int k = 0; k < out->n; k++) {
		out->result[k] = expr_select(m, take, out->rhs[k]->expr,
					     out->lhs[k]->expr);
	}
	return out;
}

/* Adds the places of elements to the reduction, so that of two elements the one that
 * comes first in the order of the source is the left operand. False if the reducer does
 * not take all values of one of its operands. */
static bool
add_places(struct func *f, struct dtype place, struct thread_reduction *out)
{
	struct module *m = f->module;
	struct arena *a = &m->arena;
	const struct reducer *r = out->own.reducer;
	const struct expr *take = r->n > 1 ? reducer_takes_all(r) : NULL;
	const struct expr **left, **right, *before, *turned;
	struct var *x, *y;

	if (!take) {
		return false;
	}
	left = arena_exprs(a, r->n);
	right = arena_exprs(a, r->n);
	for (int k = 0; k < r->n; k++) {
		left[k] = r->lhs[k]->expr;
		right[k] = r->rhs[k]->expr;
	}
	x = var_new(m, "x_place", place);
	y = var_new(m, "y_place", place);
	before = expr_lt(m, x->expr, y->expr);
	turned = expr_not(m, reducer_combine(m, r, take, right, left));
	out->own.reducer = with_place(m, r, place, x, y, take);
	out->together = with_place(m, r, place, x, y,
				   expr_select(m, before, take, turned));
	out->ordered = true;
	return true;
}

const char *
thread_reduction_read(struct func *f, const struct stmt *block,
		      struct dtype place, struct thread_reduction *out)
{
	const struct stmt *init = block->children[1];
	struct reducer_facts facts;
	const char *why;

	*out = (struct thread_reduction){ 0 };
	if (!init || (init->kind == STMT_STORE &&
		      block->children[0]->kind == STMT_STORE)) {
		return read_single(f, block, out);
	}
	if (!match_reduction(f, block, &out->own, &why)) {
		return arena_printf(&f->module->arena, "it %s", why);
	}
	out->together = out->own.reducer;
	facts = reducer_try(f->module, out->own.reducer);
	if (!facts.neutral || !facts.associative) {
		return "its init value is not the identity of its update, or "
		       "the order of its elements matters; bind a spatial loop";
	}
	if (!facts.commutative && !add_places(f, place, out)) {
		return "the order of its elements matters; bind a spatial loop";
	}
	return NULL;
}
