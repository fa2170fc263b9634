/* SPDX-License-Identifier: Apache-2.0 */
/* Dead code elimination: removes stores to local buffers that nothing loads,
 * LETs of unused variables, ALLOCs without uses, and statements that become
 * empty. */
#include "lower_passes.h"

#include "access.h"

struct dead {
	struct func *func;
	const struct var *var;
	bool used, changed;
	VEC(struct stmt *) list;
};

static bool
find_var(void *ctx, struct stmt *s)
{
	struct dead *d = ctx;

	for (int i = 0; i < s->n_args && !d->used; i++) {
		d->used = expr_uses_var(s->args[i], d->var);
	}
	return !d->used;
}

static bool
find_candidates(void *ctx, struct stmt *s)
{
	struct dead *d = ctx;

	if (s->kind == STMT_LET || s->kind == STMT_ALLOC) {
		vec_push(&d->func->module->arena, &d->list, s);
	}
	return true;
}

static void
find_effect(void *ctx, const struct expr *e)
{
	if (e->kind == EXPR_CALL && !intrin_is_pure(e->u.intrin)) {
		*(bool *)ctx = true;
	}
}

static void
check_let(struct dead *d, struct stmt *s)
{
	bool effect = false;

	d->var = s->u.var;
	d->used = false;
	stmt_visit(s->children[0], find_var, d);
	expr_visit(s->args[0], find_effect, &effect);
	if (!d->used && !effect) {
		stmt_replace(d->func, s, s->children[0]);
		d->changed = true;
	}
}

static void
check_alloc(struct dead *d, struct stmt *s)
{
	struct access_list uses = { 0 };

	access_collect(d->func, s->children[0], s->u.buffer, &uses);
	for (int i = 0; i < uses.list.n; i++) {
		const struct access *x = &uses.list.data[i];

		/* A load of the buffer in an update of the same buffer does not
		 * count as a use. */
		if (x->load && !(x->at->kind == STMT_STORE &&
				 x->at->u.buffer == s->u.buffer)) {
			return;
		}
	}
	for (int i = 0; i < uses.list.n; i++) {
		if (!uses.list.data[i].load) {
			stmt_remove(d->func, uses.list.data[i].at);
		}
	}
	/* Removing the last store may have taken the ALLOC with it. */
	if (stmt_contains(d->func->body, s)) {
		stmt_replace(d->func, s, s->children[0]);
	}
	d->changed = true;
}

bool
lower_dead(struct func *f)
{
	struct dead d = { .func = f, .changed = true };

	while (d.changed) {
		d.changed = false;
		d.list.n = 0;
		stmt_visit(f->body, find_candidates, &d);
		for (int i = d.list.n - 1; i >= 0; i--) {
			struct stmt *s = d.list.data[i];

			if (!stmt_contains(f->body, s)) {
				continue;
			}
			if (s->kind == STMT_LET) {
				check_let(&d, s);
			} else {
				check_alloc(&d, s);
			}
		}
	}
	return true;
}
