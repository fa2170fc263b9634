/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the place and the name of a LET for an index expression. */
#include "index_lets.h"

#include "iterate.h"
#include "thread_loops.h"

/* -- place */

/* Is s in the chain of thread loops and shared arrays of a device kernel, which
 * must not have other statements in between? */
static bool
stands_in_chain(const struct stmt *s)
{
	return tag_of(s) >= 0 ||
	       (s->kind == STMT_ALLOC && buffer_is_shared(s->u.buffer));
}

struct stmt *
let_place(struct stmt *s, const struct expr *e)
{
	while (s->parent) {
		const struct stmt *p = s->parent;

		if ((p->kind == STMT_FOR && expr_uses_var(e, p->u.loop.var)) ||
		    (tag_of(p) >= 0 && !stands_in_chain(s)) ||
		    (p->kind == STMT_LET && expr_uses_var(e, p->u.var)) ||
		    p->kind == STMT_BLOCK) {
			break;
		}
		s = s->parent;
	}
	return s;
}

bool
let_is_around_kernel(struct stmt *s)
{
	struct stmt_iter it = stmt_each(s);

	while ((s = stmt_next(&it)) != NULL && tag_of(s) < 0) {
	}
	return s != NULL;
}

/* -- names */

/* Does s bind a variable or a buffer that has this name? */
static bool
binds_name(const struct stmt *s, const char *name)
{
	const struct var *v = s->kind == STMT_FOR   ? s->u.loop.var
			      : s->kind == STMT_LET ? s->u.var
						    : NULL;

	return (v && strcmp(v->name, name) == 0) ||
	       (s->kind == STMT_ALLOC && strcmp(s->u.buffer->name, name) == 0);
}

static bool
is_taken(struct func *f, struct stmt *at, const char *name)
{
	struct stmt_iter it = stmt_each(at);
	const struct stmt *s;
	bool taken = false;

	while (!taken && (s = stmt_next(&it)) != NULL) {
		taken = binds_name(s, name);
	}
	for (s = at->parent; s; s = s->parent) {
		taken |= binds_name(s, name);
	}
	for (int i = 0; i < f->params.n; i++) {
		const struct param *p = &f->params.data[i];

		taken |= strcmp(p->var->name, name) == 0 ||
			 (p->buffer && strcmp(p->buffer->name, name) == 0);
	}
	return taken;
}

const char *
let_name(struct func *f, struct stmt *at, const char *base, const char *before)
{
	const char *name = base;

	for (int k = 2; is_taken(f, at, name); k++) {
		name = arena_printf(&f->module->arena, "%s%s%d", base, before,
				    k);
	}
	return name;
}

/* -- insertion */

struct stmt *
let_wrap(struct func *f, struct stmt *at, struct var *v,
	 const struct expr *value)
{
	struct stmt_place place = stmt_place_of(at);
	struct stmt *let = stmt_let(f, v, value, at);

	stmt_put(f, place, let);
	return let;
}
