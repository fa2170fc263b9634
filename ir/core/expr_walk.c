/* SPDX-License-Identifier: Apache-2.0 */
/* Walks over expressions as graphs: every shared node is visited once. */

#include "buffer.h"
#include "expr_build.h"
#include "iterate.h"
#include "memo.h"

/* -- visiting */

void
expr_visit(const struct expr *e, void (*visit)(void *ctx, const struct expr *e),
	   void *ctx)
{
	for (struct expr_iter it = expr_each(e); (e = expr_next(&it));) {
		visit(ctx, e);
	}
}

bool
expr_uses_var(const struct expr *e, const struct var *v)
{
	struct expr_iter it;

	if ((e->var_bits & var_bit(v)) == 0) {
		return false;
	}
	if (e->n_args == 0) {
		return e->kind == EXPR_VAR && e->u.var == v;
	}
	it = expr_each_of(e, EXPR_VAR);
	while ((e = expr_next(&it)) != NULL && e->u.var != v) {
	}
	expr_stop(&it);
	return e != NULL;
}

bool
expr_uses_buffer(const struct expr *e, const struct buffer *b)
{
	struct expr_iter it;

	if (e->n_args == 0 && e->kind != EXPR_LOAD) {
		return false;
	}
	it = expr_each_of(e, EXPR_LOAD);
	while ((e = expr_next(&it)) != NULL && e->u.buffer != b) {
	}
	expr_stop(&it);
	return e != NULL;
}

/* -- rebuilding */

/* The call e with the arguments `args` in place of its own. For a pure
 * intrinsic that gives no address, arguments with fewer lanes than the widest
 * are broadcast, and the call's type follows from them. */
static const struct expr *
rebuild_call(struct module *m, const struct expr *e,
	     const struct expr *const *args)
{
	const struct expr *wide[8];
	struct dtype t = e->type;
	int lanes = 1;

	if (e->n_args == 0 || !intrin_is_pure(e->u.intrin) ||
	    intrin_is_address(e->u.intrin) || e->u.intrin == INTRIN_PTR_ADD ||
	    (e->u.intrin == INTRIN_REINTERPRET &&
	     t.lanes != e->args[0]->type.lanes) ||
	    e->n_args > 8) {
		return expr_call(m, e->u.intrin, t, args, e->n_args);
	}
	for (int i = 0; i < e->n_args; i++) {
		if (args[i]->type.lanes > lanes) {
			lanes = args[i]->type.lanes;
		}
	}
	for (int i = 0; i < e->n_args; i++) {
		wide[i] = args[i]->type.lanes == lanes
				  ? args[i]
				  : expr_broadcast(m, args[i], lanes);
	}
	t.lanes = (uint16_t)lanes;
	if (e->n_args == 1 && e->u.intrin == INTRIN_LIKELY) {
		return expr_call1(m, e->u.intrin, wide[0]);
	}
	return expr_call(m, e->u.intrin,
			 expr_call_type(e->u.intrin, t, wide[0]->type), wide,
			 e->n_args);
}

const struct expr *
expr_rebuild(struct module *m, const struct expr *e,
	     const struct expr *const *args)
{
	struct dtype t = e->type;

	switch (e->kind) {
	case EXPR_NOT:
		return expr_not(m, args[0]);
	case EXPR_SELECT:
		return expr_select(m, args[0], args[1], args[2]);
	case EXPR_IF:
		return expr_if(m, args[0], args[1], args[2]);
	case EXPR_CAST:
		t.lanes = args[0]->type.lanes;
		return expr_cast(m, t, args[0]);
	case EXPR_LOAD:
		return expr_load(m, e->u.buffer, args, e->n_args);
	case EXPR_CALL:
		return rebuild_call(m, e, args);
	case EXPR_RAMP:
		return expr_ramp(m, args[0], args[1], e->type.lanes);
	case EXPR_BROADCAST:
		return expr_broadcast(m, args[0], e->type.lanes);
	case EXPR_REDUCE:
		return expr_reduce(m, e->u.reduce, args, e->n_args);
	default:
		break;
	}
	if (e->kind >= EXPR_ADD && e->kind <= EXPR_OR) {
		return expr_binary(m, e->kind, args[0], args[1]);
	}
	return e; /* a leaf */
}

/* -- rewriting */

struct rewriter {
	struct module *m;
	struct memo done;
	const struct expr *(*pre)(void *ctx, const struct expr *e);
	void *ctx;
};

static const struct expr *rewrite_node(struct rewriter *w,
				       const struct expr *e);

/* The reduction with its domain and condition rewritten. An axis whose variable
 * is replaced by a variable is renamed. */
static const struct reduction *
rewrite_reduction(struct rewriter *w, const struct reduction *r)
{
	struct arena *arena = &w->m->arena;
	struct reduction *copy = arena_copy(arena, r, sizeof *r);
	bool changed = false;

	copy->axes = arena_copy(arena, r->axes,
				sizeof *r->axes * (size_t)r->n_axes);
	for (int i = 0; i < r->n_axes; i++) {
		struct iter_var *axis = &copy->axes[i];
		const struct expr *var = rewrite_node(w, axis->var->expr);

		axis->min = rewrite_node(w, axis->min);
		axis->extent = rewrite_node(w, axis->extent);
		if (var->kind == EXPR_VAR) {
			axis->var = var->u.var;
		}
		changed |= axis->var != r->axes[i].var ||
			   axis->min != r->axes[i].min ||
			   axis->extent != r->axes[i].extent;
	}
	if (r->condition) {
		copy->condition = rewrite_node(w, r->condition);
		changed |= copy->condition != r->condition;
	}
	if (r->init) {
		const struct expr **init = arena_exprs(arena, r->reducer->n);

		for (int i = 0; i < r->reducer->n; i++) {
			init[i] = rewrite_node(w, r->init[i]);
			changed |= init[i] != r->init[i];
		}
		copy->init = init;
	}
	return changed ? copy : r;
}

static const struct expr *
rewrite_children(struct rewriter *w, const struct expr *e)
{
	const struct expr *few[8], **args = few, *result = e;
	const struct reduction *r = NULL;
	bool changed = false;

	if (e->n_args > 8) {
		args = arena_exprs(&w->m->arena, e->n_args);
	}
	for (int i = 0; i < e->n_args; i++) {
		args[i] = rewrite_node(w, e->args[i]);
		changed |= args[i] != e->args[i];
	}
	if (e->kind == EXPR_REDUCE) {
		r = rewrite_reduction(w, e->u.reduce);
		changed |= r != e->u.reduce;
		if (changed) {
			result = expr_reduce(w->m, r, args, e->n_args);
		}
	} else if (changed) {
		result = expr_rebuild(w->m, e, args);
	}
	return result;
}

static const struct expr *
rewrite_node(struct rewriter *w, const struct expr *e)
{
	const struct memo_entry *known;
	const struct expr *result;

	if (e->n_args == 0) { /* a leaf is rewritten at once: its result need
			       * not be stored */
		result = w->pre(w->ctx, e);
		return result ? result : e;
	}
	known = memo_get(&w->done, e);
	if (known) {
		return known->value;
	}
	result = w->pre(w->ctx, e);
	if (!result) {
		result = rewrite_children(w, e);
	}
	memo_put(&w->done, e, result);
	return result;
}

const struct expr *
expr_rewrite(struct module *m, const struct expr *e,
	     const struct expr *(*pre)(void *ctx, const struct expr *e),
	     void *ctx)
{
	struct rewriter w = { .m = m, .pre = pre, .ctx = ctx };
	const struct expr *result;

	memo_init(&w.done);
	result = rewrite_node(&w, e);
	memo_release(&w.done);
	return result;
}

static const struct expr *
pre_substitute(void *ctx, const struct expr *e)
{
	const struct var_map *map = ctx;

	if (e->kind == EXPR_VAR) {
		for (int i = 0; i < map->n; i++) {
			if (map->from[i] == e->u.var) {
				return map->to[i];
			}
		}
	}
	return NULL;
}

const struct expr *
expr_substitute(struct module *m, const struct expr *e,
		const struct var_map *map)
{
	struct var_map copy = *map;

	if (map->n == 0) {
		return e;
	}
	return expr_rewrite(m, e, pre_substitute, &copy);
}

struct replacement {
	const struct expr *const *from, *const *to;
	int n;
};

static const struct expr *
pre_replace(void *ctx, const struct expr *e)
{
	const struct replacement *r = ctx;

	for (int i = 0; i < r->n; i++) {
		if (r->from[i] == e) {
			return r->to[i];
		}
	}
	return NULL;
}

const struct expr *
expr_replace(struct module *m, const struct expr *e,
	     const struct expr *const *from, const struct expr *const *to,
	     int n)
{
	struct replacement r = { from, to, n };

	return expr_rewrite(m, e, pre_replace, &r);
}

struct buffer_swap {
	struct module *m;
	const struct buffer *from, *to;
	struct rewriter w;
};

static const struct expr *
swap_buffer(struct buffer_swap *s, const struct expr *e)
{
	const struct memo_entry *known = memo_get(&s->w.done, e);
	const struct expr *result;

	if (e->n_args == 0 && e->kind != EXPR_LOAD) {
		return e;
	}
	if (known) {
		return known->value;
	}
	result = rewrite_children(&s->w, e);
	if (result->kind == EXPR_LOAD && result->u.buffer == s->from) {
		result = expr_load(s->m, s->to, result->args, result->n_args);
	}
	memo_put(&s->w.done, e, result);
	return result;
}

static const struct expr *
pre_swap_buffer(void *ctx, const struct expr *e)
{
	return swap_buffer(ctx, e);
}

const struct expr *
expr_replace_buffer(struct module *m, const struct expr *e,
		    const struct buffer *from, const struct buffer *to)
{
	struct buffer_swap s = { .m = m, .from = from, .to = to };
	const struct expr *result;

	s.w.m = m;
	s.w.pre = pre_swap_buffer;
	s.w.ctx = &s;
	memo_init(&s.w.done);
	result = swap_buffer(&s, e);
	memo_release(&s.w.done);
	return result;
}
