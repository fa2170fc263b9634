/* SPDX-License-Identifier: Apache-2.0 */
/* Dead code elimination: removes stores to local buffers that nothing loads,
 * LETs of unused variables, ALLOCs without uses, and statements that become
 * empty. */
#include "lower_passes.h"

#include "access.h"
#include "iterate.h"

struct dead {
	struct func *func;
	bool changed;
	VEC(struct stmt *) list;
};

static bool
has_effect(const struct expr *e)
{
	bool found = false;

	for (struct expr_iter it = expr_each_of(e, EXPR_CALL);
	     (e = expr_next(&it));) {
		found |= !intrin_is_pure(e->u.intrin);
	}
	return found;
}

static void
check_let(struct dead *d, struct stmt *s)
{
	if (!stmt_uses_var(s->children[0], s->u.var) &&
	    !has_effect(s->args[0])) {
		stmt_replace(d->func, s, s->children[0]);
		d->changed = true;
	}
}

static void
check_alloc(struct dead *d, struct stmt *s)
{
	struct access_list uses = accesses_of(d->func, s->children[0],
					      s->u.buffer);

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
		struct stmt_iter it = stmt_each(f->body);
		struct stmt *s;

		d.changed = false;
		d.list.n = 0;
		while ((s = stmt_next(&it)) != NULL) {
			if (s->kind == STMT_LET || s->kind == STMT_ALLOC) {
				vec_push(&f->module->arena, &d.list, s);
			}
		}
		for (int i = d.list.n - 1; i >= 0; i--) {
			s = d.list.data[i];
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
