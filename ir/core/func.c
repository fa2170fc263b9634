/* SPDX-License-Identifier: Apache-2.0 */
/* Functions: parameters, notes, the journal, and searches of the body. */
#include "func.h"

#include <assert.h>

#include "iterate.h"

struct func *
func_new(struct module *m, const char *name)
{
	struct func *f = arena_new(&m->arena, struct func);

	f->module = m;
	f->name = arena_strdup(&m->arena, name);
	f->ret = dtype_of(DT_VOID);
	f->next_id = 1;
	f->facts = target_facts_unknown;
	return f;
}

void
func_add_param(struct func *f, struct var *var, const struct buffer *buffer)
{
	struct param p = { var, buffer, SPACE_INTERFACE, false };

	assert(var || buffer);
	if (!var) {
		p.var = buffer->data;
	}
	vec_push(&f->module->arena, &f->params, p);
}

void
func_set_note(struct func *f, const char *key, const struct expr *value)
{
	struct arena *arena = &f->module->arena;
	struct note **at = &f->notes;

	while (*at && strcmp((*at)->key, key) != 0) {
		at = &(*at)->next;
	}
	if (!value) {
		if (*at) {
			*at = (*at)->next;
		}
		return;
	}
	if (!*at) {
		*at = arena_new(arena, struct note);
		(*at)->key = arena_strdup(arena, key);
	}
	(*at)->value = value;
}

const struct expr *
func_note(const struct func *f, const char *key)
{
	for (const struct note *n = f->notes; n; n = n->next) {
		if (strcmp(n->key, key) == 0) {
			return n->value;
		}
	}
	return NULL;
}

void
func_note_fused(struct func *f, const struct var *loop, int n,
		const char *const *digits, const struct expr *const *extents)
{
	struct arena *arena = &f->module->arena;
	const char **names = arena_array(arena, const char *, n + 1);
	const struct expr **sizes = arena_exprs(arena, n + 1);
	struct fused_axis axis = { .loop = loop, .name = loop->name };

	for (int i = 0; i < n; i++) {
		if (!expr_is_value(extents[i], 1)) {
			names[axis.n] = digits[i];
			sizes[axis.n++] = extents[i];
		}
	}
	axis.digits = names;
	axis.extents = sizes;
	if (axis.n >= 2) {
		int count = f->fused.n;

		vec_push(arena, &f->fused, axis);
		/* writes the length through the journal, so that a rollback
		 * restores it */
		f->fused.n = count++;
		stmt_write(f, &f->fused.n, &count, sizeof count);
	}
}

struct func *
func_clone(const struct func *f, const char *name)
{
	struct func *copy = func_new(f->module, name);

	for (int i = 0; i < f->params.n; i++) {
		vec_push(&f->module->arena, &copy->params, f->params.data[i]);
	}
	copy->ret = f->ret;
	copy->facts = f->facts;
	for (const struct note *n = f->notes; n; n = n->next) {
		func_set_note(copy, n->key, n->value);
	}
	for (int i = 0; i < f->fused.n; i++) {
		vec_push(&f->module->arena, &copy->fused, f->fused.data[i]);
	}
	if (f->body) {
		copy->body = stmt_clone(copy, f->body, false);
	}
	return copy;
}

int
func_checkpoint(struct func *f)
{
	f->journaling = true;
	return f->journal.n;
}

void
func_rollback(struct func *f, int checkpoint)
{
	assert(checkpoint >= 0 && checkpoint <= f->journal.n);
	while (f->journal.n > checkpoint) {
		const struct journal_entry *e =
			&f->journal.data[--f->journal.n];

		memcpy(e->dst, e->old, e->bytes);
	}
}

void
func_commit(struct func *f)
{
	f->journal.n = 0;
	f->journaling = false;
}

struct stmt *
func_find(const struct func *f, int id)
{
	struct stmt_iter it = stmt_each(f->body);
	struct stmt *s;

	while ((s = stmt_next(&it)) != NULL && s->id != id) {
	}
	return s;
}

struct stmt *
func_find_block(const struct func *f, const char *name)
{
	struct stmt_iter it = stmt_each_of(f->body, STMT_BLOCK);
	struct stmt *s;

	while ((s = stmt_next(&it)) != NULL &&
	       strcmp(s->u.block->name, name) != 0) {
	}
	return s;
}

bool
func_has_param(const struct func *f, const struct buffer *b)
{
	for (int i = 0; i < f->params.n; i++) {
		if (f->params.data[i].buffer == b) {
			return true;
		}
	}
	return false;
}

bool
func_has_var(const struct func *f, const struct var *v)
{
	for (int i = 0; i < f->params.n; i++) {
		if (f->params.data[i].var == v) {
			return true;
		}
	}
	return false;
}

bool
func_implies(const struct func *f, const struct var *v)
{
	for (int i = 0; i < f->params.n; i++) {
		if (f->params.data[i].var == v) {
			return f->params.data[i].implied;
		}
	}
	return false;
}

bool
func_calls(const struct func *f, enum intrin op)
{
	struct tree_iter it = tree_each_of(f->body, EXPR_CALL);
	const struct expr *e;

	while ((e = tree_next(&it)) != NULL && e->u.intrin != op) {
	}
	tree_stop(&it);
	return e != NULL;
}

struct usage {
	bool read, written;
};

/* Finds uses of the buffer's address: a call that gets the address of an
 * element, or the buffer's pointer, may read and write the buffer. */
static void
find_address(struct usage *u, const struct expr *e, const struct buffer *b)
{
	if (e->kind == EXPR_CALL && e->u.intrin == INTRIN_ADDRESS_OF &&
	    e->args[0]->kind == EXPR_LOAD && e->args[0]->u.buffer == b) {
		u->written = true;
	}
	for (int i = 1; e->kind == EXPR_CALL &&
			(e->u.intrin == INTRIN_CALL_EXTERN ||
			 e->u.intrin == INTRIN_CALL_INTRIN ||
			 e->u.intrin == INTRIN_CALL_FUNC) &&
			i < e->n_args;
	     i++) {
		const struct expr *one = e->args[i];

		if (one == b->data->expr ||
		    (e->u.intrin == INTRIN_CALL_INTRIN &&
		     one->kind == EXPR_LOAD && one->u.buffer == b)) {
			u->read = u->written = true;
		}
	}
}

static struct usage
usage_of(const struct func *f, const struct buffer *b)
{
	struct tree_iter it = tree_each(f->body);
	struct usage u = { false, false };
	const struct expr *e;

	while (!(u.read && u.written) && (e = tree_next(&it)) != NULL) {
		u.read |= e->kind == EXPR_LOAD && e->u.buffer == b;
		u.written |= it.at->kind == STMT_STORE && it.at->u.buffer == b;
		find_address(&u, e, b);
	}
	tree_stop(&it);
	return u;
}

bool
func_reads(const struct func *f, const struct buffer *b)
{
	return usage_of(f, b).read;
}

bool
func_writes(const struct func *f, const struct buffer *b)
{
	return usage_of(f, b).written;
}

void
func_replace_param(struct func *f, const struct buffer *from, struct buffer *to)
{
	stmt_replace_buffer(f, f->body, from, to);
	for (int i = 0; i < f->params.n; i++) {
		if (f->params.data[i].buffer == from) {
			f->params.data[i].buffer = to;
			f->params.data[i].var = to->data;
		}
	}
}
