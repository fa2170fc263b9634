/* SPDX-License-Identifier: Apache-2.0 */
/* A lowering pass of one's own: innermost loops that only move along the last
 * dimension of what they store become vector loops of at most 16 lanes.
 *
 *	for i in range(64):               for i_o in range(4):
 *	    y[c, i] = x[c, i] + 1.0   ->      for i_i in T.vectorized(16):
 *	                                          y[c, i_o * 16 + i_i] = ...
 *
 *	cc -shared -fPIC $(pkg-config --cflags tirc) vectorize.c -o vectorize.so
 *	tirc compile model.onnx --add-pass 3:./vectorize.so
 */
#include <tirc_pass.h>

enum { MAX_LANES = 16 };

/* Does element e move by one while v does, or stay where it is? */
static bool
moves_by_one(struct analyser *a, const struct expr *const *index, int ndim,
	     struct var *v, bool *stays)
{
	*stays = true;
	for (int d = 0; d < ndim; d++) {
		const struct expr *rest;
		int64_t step;

		if (!analyse_affine(a, index[d], &v, 1, &step, &rest) ||
		    (step != 0 && (d < ndim - 1 || step != 1))) {
			return false;
		}
		*stays = *stays && step == 0;
	}
	return true;
}

struct loads {
	struct analyser *analyser;
	struct var *var;
	const struct stmt *store;
	bool ok;
};

static void
check_load(void *ctx, const struct expr *e)
{
	struct loads *l = ctx;
	bool stays;

	if (e->kind == EXPR_LOAD) {
		l->ok = l->ok && moves_by_one(l->analyser, e->args, e->n_args,
					      l->var, &stays);
		/* What is stored may be read again only where it was. */
		if (e->u.buffer == l->store->u.buffer) {
			for (int d = 0; d < e->n_args; d++) {
				l->ok = l->ok &&
					e->args[d] == l->store->args[d + 1];
			}
		}
	}
}

/* The largest width that needs no tail. */
static int64_t
lanes_of(int64_t extent)
{
	int64_t lanes = extent < MAX_LANES ? extent : MAX_LANES;

	while (lanes > 1 && extent % lanes != 0) {
		lanes--;
	}
	return lanes;
}

static bool
is_candidate(struct func *f, struct stmt *s)
{
	struct analyser a;
	struct loads loads = { .analyser = &a, .ok = true };
	const struct stmt *body;
	int64_t extent;
	bool stays;

	if (s->kind != STMT_FOR || s->u.loop.kind != FOR_SERIAL ||
	    !expr_is_value(s->args[0], 0) ||
	    !expr_is_int(s->args[1], &extent) || lanes_of(extent) < 2) {
		return false;
	}
	body = s->children[0];
	if (body->kind != STMT_STORE || body->n_args < 2) {
		return false;
	}
	analyser_init(&a, f->module);
	loads.var = s->u.loop.var;
	loads.store = body;
	if (!moves_by_one(&a, body->args + 1, body->n_args - 1, s->u.loop.var,
			  &stays) ||
	    stays) {
		return false;
	}
	expr_visit(body->args[0], check_load, &loads);
	return loads.ok;
}

struct candidates {
	struct func *func;
	VEC(struct stmt *) list;
};

static bool
collect(void *ctx, struct stmt *s)
{
	struct candidates *c = ctx;

	if (is_candidate(c->func, s)) {
		vec_push(&c->func->module->arena, &c->list, s);
	}
	return true;
}

static void
vectorize(struct func *f, struct stmt *loop)
{
	struct module *m = f->module;
	struct var *old = loop->u.loop.var;
	struct var *outer = var_new(m,
				    arena_printf(&m->arena, "%s_o", old->name),
				    old->type);
	struct var *inner = var_new(m,
				    arena_printf(&m->arena, "%s_i", old->name),
				    old->type);
	int64_t extent = loop->args[1]->u.ival, n = lanes_of(extent);
	const struct expr *lanes = expr_int(m, old->type, n);
	const struct expr *value = expr_add(m, expr_mul(m, outer->expr, lanes),
					    inner->expr);
	struct var_map map = { &old, &value, 1 };
	struct stmt_place place = stmt_place_of(loop);
	struct stmt *body = loop->children[0];

	if (n == extent) {
		stmt_set_loop_kind(f, loop, FOR_VECTORIZED, NULL);
		return;
	}
	stmt_substitute(f, body, &map);
	stmt_put(f, place,
		 stmt_for(f, outer, expr_int(m, old->type, 0),
			  expr_floordiv(m, loop->args[1], lanes), FOR_SERIAL,
			  stmt_for(f, inner, expr_int(m, old->type, 0), lanes,
				   FOR_VECTORIZED, body)));
}

TIRC_PASS(f)
{
	struct candidates c = { .func = f };

	stmt_visit(f->body, collect, &c);
	for (int i = 0; i < c.list.n; i++) {
		vectorize(f, c.list.data[i]);
	}
	return true;
}
