/* SPDX-License-Identifier: Apache-2.0 */
/* Dead code elimination: removes stores to local buffers that nothing loads,
 * LETs of unused variables, ALLOCs without uses, and statements that become
 * empty. Uses are counted in one walk; when a statement is removed, the uses in
 * it are subtracted, so that no second walk is needed. */
#include "lower_passes.h"

#include "access.h"
#include "iterate.h"

/* A LET or an ALLOC, with the number of its uses. */
struct declared {
	struct stmt *at; /* NULL: removed */
	/* the number of times that arguments of statements use the variable, or
	 * load from the buffer; a load in a store to the same buffer does not
	 * count */
	int uses;
	struct stmt_list stores;
};

/* The declarations (as indices in `declared`) that one statement uses; a
 * declaration is listed once for each use. */
struct used {
	VEC(int) list;
};

struct dead {
	struct func *func;
	struct arena tmp;
	/* maps a variable or buffer, and its LET or ALLOC, to the index of the
	 * declaration */
	struct pointer_map number;
	VEC(struct declared) declared;
	/* maps a statement to its index in `used` */
	struct pointer_map number_used;
	VEC(struct used) used;
	/* indices of declarations that have lost their last use */
	VEC(int) work;
};

/* Does the removal of s, with the statements around it that become empty, drop a call
 * that has an effect? */
static bool
drops_effect(const struct stmt *s)
{
	for (; s; s = s->parent) {
		for (int i = 0; i < s->n_args; i++) {
			if (expr_has_effect(s->args[i])) {
				return true;
			}
		}
	}
	return false;
}

/* -- counting */

static void
declare(struct dead *d, struct stmt *s)
{
	const void *key = s->kind == STMT_LET ? (const void *)s->u.var
					      : s->u.buffer;
	struct declared one = { .at = s };

	/* Consecutive declarations may share a buffer (unroll copies them):
	 * each declaration hides the one before it. */
	pointer_map_put(&d->number, key, d->declared.n);
	pointer_map_put(&d->number, s, d->declared.n);
	vec_push(&d->tmp, &d->work, d->declared.n);
	vec_push(&d->tmp, &d->declared, one);
}

/* The index of the declaration of the variable or buffer that e, an expression
 * of statement s, uses; -1 if it has none. */
static int
used_by(const struct dead *d, const struct stmt *s, const struct expr *e)
{
	if (e->kind == EXPR_VAR) {
		return pointer_map_get(&d->number, e->u.var, -1);
	}
	if (e->kind != EXPR_LOAD ||
	    (s->kind == STMT_STORE && s->u.buffer == e->u.buffer)) {
		return -1;
	}
	return pointer_map_get(&d->number, e->u.buffer, -1);
}

static void
count_uses(struct dead *d, struct stmt *s)
{
	struct tree_iter it = tree_each_arg(s);
	struct used used = { 0 };
	const struct expr *e;

	while ((e = tree_next(&it)) != NULL) {
		int number = used_by(d, s, e);

		if (number >= 0) {
			d->declared.data[number].uses++;
			vec_push(&d->tmp, &used.list, number);
		}
	}
	if (used.list.n > 0) {
		pointer_map_put(&d->number_used, s, d->used.n);
		vec_push(&d->tmp, &d->used, used);
	}
	if (s->kind == STMT_STORE) {
		int number = pointer_map_get(&d->number, s->u.buffer, -1);

		if (number >= 0) {
			vec_push(&d->tmp, &d->declared.data[number].stores.list,
				 s);
			d->declared.data[number].uses += drops_effect(s);
		}
	}
}

static void
count(struct dead *d)
{
	struct stmt_iter it = stmt_each(d->func->body);
	struct stmt *s;

	while ((s = stmt_next(&it)) != NULL) {
		count_uses(d, s);
		if (s->kind == STMT_LET || s->kind == STMT_ALLOC) {
			declare(d, s);
		}
	}
}

/* -- removing */

/* Subtracts the uses of a statement that has been removed. */
static void
forget(struct dead *d, const struct stmt *s)
{
	int at = pointer_map_get(&d->number_used, s, -1);

	for (int i = 0; at >= 0 && i < d->used.data[at].list.n; i++) {
		int number = d->used.data[at].list.data[i];

		if (--d->declared.data[number].uses == 0) {
			vec_push(&d->tmp, &d->work, number);
		}
	}
	at = pointer_map_get(&d->number, s, -1);
	if (at >= 0) {
		d->declared.data[at].at = NULL;
	}
}

static bool
is_gone(const struct dead *d, const struct stmt *s)
{
	return s->parent == NULL && s != d->func->body;
}

/* Removes s, with the statements around it that become empty. */
static void
remove_stmt(struct dead *d, struct stmt *s)
{
	struct stmt_list around = { 0 };

	for (; s; s = s->parent) {
		if (s->kind == STMT_SEQ && s->n_children > 1) {
			break; /* the SEQ does not become empty, so it stays */
		}
		vec_push(&d->tmp, &around.list, s);
	}
	stmt_remove(d->func, around.list.data[0]);
	for (int i = 0; i < around.list.n && is_gone(d, around.list.data[i]);
	     i++) {
		forget(d, around.list.data[i]);
	}
}

static void
check(struct dead *d, int number)
{
	struct declared *one = &d->declared.data[number];
	struct stmt *s = one->at;

	if (s == NULL || one->uses > 0 ||
	    (s->kind == STMT_LET && expr_has_effect(s->args[0]))) {
		return;
	}
	for (int i = 0; i < one->stores.list.n; i++) {
		if (!is_gone(d, one->stores.list.data[i])) {
			remove_stmt(d, one->stores.list.data[i]);
		}
	}
	/* If the last store to the array of this ALLOC was removed, the ALLOC
	 * may have been removed with it. */
	if (one->at != NULL) {
		one->at = NULL;
		stmt_replace(d->func, s, s->children[0]);
		forget(d, s);
	}
}

bool
lower_dead(struct func *f)
{
	struct dead d = { .func = f };

	arena_init(&d.tmp);
	pointer_map_init(&d.number, &d.tmp);
	pointer_map_init(&d.number_used, &d.tmp);
	count(&d);
	while (d.work.n > 0) {
		check(&d, d.work.data[--d.work.n]);
	}
	arena_release(&d.tmp);
	return true;
}
