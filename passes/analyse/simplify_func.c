/* SPDX-License-Identifier: Apache-2.0 */
/* Simplifies a whole function, each expression under the facts of the loops,
 * conditions and LETs around it.
 *
 *	for h in range(56):                 for h in range(56):
 *	    for n in range(1):                  y[h] = x[h]
 *	        if n * 56 + h < 56:
 *	            y[n * 56 + h] = x[h]
 *
 * Keeps blocks and thread-bound loops. Afterwards there is no constant
 * condition, no loop of extent 0 or 1 and no LET of a constant. */
#include "linear.h"

struct walk {
	struct func *func;
	struct analyser a;
};

static struct stmt *walk(struct walk *w, struct stmt *s);

static const struct expr *
simple(struct walk *w, const struct expr *e)
{
	return e ? simplify(&w->a, e) : NULL;
}

static void
simplify_args(struct walk *w, struct stmt *s)
{
	for (int i = 0; i < s->n_args; i++) {
		if (s->args[i]) {
			stmt_set_arg(w->func, s, i, simple(w, s->args[i]));
		}
	}
}

/* Simplifies the child in slot `slot` of s; false if nothing is left of the
 * child. */
static bool
walk_child(struct walk *w, struct stmt *s, int slot)
{
	struct stmt *child = s->children[slot], *now;

	if (!child) {
		return false;
	}
	now = walk(w, child);
	if (now) {
		stmt_set_child(w->func, s, slot, now);
	}
	return now != NULL;
}

static struct stmt *
walk_for(struct walk *w, struct stmt *s)
{
	struct analyser_mark mark = analyser_mark(&w->a);
	const struct expr *min, *extent, *one;
	struct stmt *body;
	bool left;

	simplify_args(w, s);
	min = s->args[0];
	extent = s->args[1];
	if (analyse_bounds(&w->a, extent).max <= 0) {
		return NULL;
	}
	if (expr_is_value(extent, 1) && s->u.loop.kind != FOR_THREAD) {
		analyser_bind_inlined(&w->a, s->u.loop.var, min);
		body = walk(w, s->children[0]);
		analyser_pop(&w->a, mark);
		return body;
	}
	analyser_bind(&w->a, s->u.loop.var, min, extent);
	if (analyse_bounds(&w->a, extent).min < 1) {
		one = expr_int(w->func->module, extent->type, 1);
		analyser_assume(&w->a, expr_le(w->func->module, one, extent));
	}
	left = walk_child(w, s, 0);
	analyser_pop(&w->a, mark);
	return left ? s : NULL;
}

static struct stmt *
walk_if(struct walk *w, struct stmt *s)
{
	struct module *m = w->func->module;
	struct analyser_mark mark = analyser_mark(&w->a);
	const struct expr *c;
	bool then, otherwise;

	simplify_args(w, s);
	c = s->args[0];
	if (c->kind == EXPR_INT) {
		struct stmt *taken = s->children[c->u.ival ? 0 : 1];

		return taken ? walk(w, taken) : NULL;
	}
	analyser_assume(&w->a, c);
	then = walk_child(w, s, 0);
	analyser_pop(&w->a, mark);
	analyser_assume(&w->a, expr_not(m, c));
	otherwise = walk_child(w, s, 1);
	analyser_pop(&w->a, mark);
	if (!then && !otherwise) {
		return NULL;
	}
	if (!then) {
		stmt_set_arg(w->func, s, 0, simple(w, expr_not(m, c)));
		stmt_set_child(w->func, s, 0, s->children[1]);
	}
	if (!then || !otherwise) {
		stmt_set_child(w->func, s, 1, NULL);
	}
	return s;
}

static struct stmt *
walk_let(struct walk *w, struct stmt *s)
{
	struct analyser_mark mark = analyser_mark(&w->a);
	const struct expr *value;
	struct stmt *body;
	bool left;

	simplify_args(w, s);
	value = s->args[0];
	if (value->kind == EXPR_INT || value->kind == EXPR_FLOAT ||
	    value->kind == EXPR_VAR) {
		analyser_bind_inlined(&w->a, s->u.var, value);
		body = walk(w, s->children[0]);
		analyser_pop(&w->a, mark);
		return body;
	}
	analyser_bind_value(&w->a, s->u.var, value);
	left = walk_child(w, s, 0);
	analyser_pop(&w->a, mark);
	return left ? s : NULL;
}

static bool
simplify_regions(struct walk *w, struct region **list, int n)
{
	struct arena *arena = &w->func->module->arena;
	struct region *copy = arena_copy(arena, *list,
					 sizeof *copy * (size_t)n);
	bool changed = false;

	for (int i = 0; i < n; i++) {
		int ndim = copy[i].buffer->ndim;
		struct range *ranges = arena_copy(arena, copy[i].ranges,
						  sizeof *ranges *
							  (size_t)ndim);

		copy[i].ranges = ranges;
		for (int d = 0; d < ndim; d++) {
			struct range old = ranges[d];

			ranges[d].min = simple(w, old.min);
			ranges[d].extent = simple(w, old.extent);
			changed |= ranges[d].min != old.min ||
				   ranges[d].extent != old.extent;
		}
	}
	if (changed) {
		*list = copy;
	}
	return changed;
}

static struct stmt *
walk_block(struct walk *w, struct stmt *s)
{
	struct arena *arena = &w->func->module->arena;
	struct analyser_mark mark = analyser_mark(&w->a);
	struct block *b = arena_copy(arena, s->u.block, sizeof *b);
	bool changed = false;

	simplify_args(w, s);
	b->iters = arena_copy(arena, b->iters,
			      sizeof *b->iters * (size_t)b->n_iters);
	for (int i = 0; i < b->n_iters; i++) {
		struct iter_var *iter = &b->iters[i];
		struct iter_var old = *iter;

		iter->min = simple(w, iter->min);
		iter->extent = simple(w, iter->extent);
		changed |= iter->min != old.min || iter->extent != old.extent;
	}
	for (int i = 0; i < b->n_iters; i++) {
		analyser_bind(&w->a, b->iters[i].var, b->iters[i].min,
			      b->iters[i].extent);
	}
	changed |= simplify_regions(w, &b->reads, b->n_reads);
	changed |= simplify_regions(w, &b->writes, b->n_writes);
	if (changed) {
		stmt_set_block(w->func, s, b);
	}
	if (s->children[0] && !walk_child(w, s, 0)) {
		stmt_set_child(w->func, s, 0, stmt_seq(w->func, NULL, 0));
	}
	if (s->children[1] && !walk_child(w, s, 1)) {
		stmt_set_child(w->func, s, 1, NULL);
	}
	analyser_pop(&w->a, mark);
	return s;
}

/* Simplifies the statements of a SEQ. The condition of an assertion is a fact
 * for the statements after it. */
static struct stmt *
walk_seq(struct walk *w, struct stmt *s)
{
	struct arena *arena = &w->func->module->arena;
	struct analyser_mark mark = analyser_mark(&w->a);
	struct stmt **list = arena_array(arena, struct stmt *, s->n_children);
	bool changed = false;
	int n = 0;

	for (int i = 0; i < s->n_children; i++) {
		struct stmt *now = walk(w, s->children[i]);

		changed |= now != s->children[i];
		if (now) {
			list[n++] = now;
			if (now->kind == STMT_ASSERT) {
				analyser_assume(&w->a, now->args[0]);
			}
		}
	}
	analyser_pop(&w->a, mark);
	if (!changed) {
		return s;
	}
	return n == 0 ? NULL : stmt_seq(w->func, list, n);
}

/* Is s the store b[i] = b[i], which remains of an update by a neutral element
 * (b[i] + 0)? */
static bool
changes_nothing(const struct stmt *s)
{
	const struct expr *value = s->args[0];
	bool same = value->kind == EXPR_LOAD && value->u.buffer == s->u.buffer;

	for (int i = 0; same && i < value->n_args; i++) {
		same = value->args[i] == s->args[i + 1];
	}
	return same;
}

/* Simplifies s. Returns its replacement, or NULL if s is to be removed. */
static struct stmt *
walk(struct walk *w, struct stmt *s)
{
	switch (s->kind) {
	case STMT_FOR:
		return walk_for(w, s);
	case STMT_IF:
		return walk_if(w, s);
	case STMT_LET:
		return walk_let(w, s);
	case STMT_BLOCK:
		return walk_block(w, s);
	case STMT_SEQ:
		return walk_seq(w, s);
	default:
		break;
	}
	simplify_args(w, s);
	switch (s->kind) {
	case STMT_ALLOC:
	case STMT_ATTR:
		return walk_child(w, s, 0) ? s : NULL;
	case STMT_WHILE:
		if (expr_is_value(s->args[0], 0)) {
			return NULL;
		}
		if (!walk_child(w, s, 0)) {
			stmt_set_child(w->func, s, 0,
				       stmt_seq(w->func, NULL, 0));
		}
		return s;
	case STMT_STORE:
		return changes_nothing(s) ? NULL : s;
	case STMT_ASSERT:
		return expr_is_value(s->args[0], 1) ? NULL : s;
	default:
		return s;
	}
}

void
simplify_func(struct func *f)
{
	struct walk w = { .func = f };
	struct stmt *body, *none = NULL;

	if (!f->body) {
		return;
	}
	analyser_init(&w.a, f->module);
	body = walk(&w, f->body);
	if (!body) {
		body = stmt_seq(f, NULL, 0);
	}
	if (body != f->body) {
		stmt_write(f, &f->body, &body, sizeof(body));
		stmt_write(f, &body->parent, &none, sizeof(none));
	}
}
