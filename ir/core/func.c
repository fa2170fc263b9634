/* SPDX-License-Identifier: Apache-2.0 */
/* Functions: parameters, notes, the journal, and searches of the body. */
#include "func.h"

#include <assert.h>

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
	struct param p = { var, buffer, SPACE_INTERFACE };

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
	const struct expr **sizes = arena_array(arena, const struct expr *,
						n + 1);
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
		/* so that the journal records the old value */
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

struct search {
	int id;
	const char *name;
	struct stmt *found;
};

static bool
search_stmt(void *ctx, struct stmt *s)
{
	struct search *q = ctx;

	if (q->found) {
		return false;
	}
	if (q->name ? s->kind == STMT_BLOCK &&
			      strcmp(s->u.block->name, q->name) == 0
		    : s->id == q->id) {
		q->found = s;
	}
	return !q->found;
}

struct stmt *
func_find(const struct func *f, int id)
{
	struct search q = { .id = id };

	stmt_visit(f->body, search_stmt, &q);
	return q.found;
}

struct stmt *
func_find_block(const struct func *f, const char *name)
{
	struct search q = { .name = name };

	stmt_visit(f->body, search_stmt, &q);
	return q.found;
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

struct call_search {
	enum intrin op;
	bool found;
};

static void
search_call(void *ctx, const struct expr *e)
{
	struct call_search *q = ctx;

	q->found |= e->kind == EXPR_CALL && e->u.intrin == q->op;
}

static bool
search_calls(void *ctx, struct stmt *s)
{
	struct call_search *q = ctx;

	for (int i = 0; i < s->n_args && !q->found; i++) {
		expr_visit(s->args[i], search_call, q);
	}
	return !q->found;
}

bool
func_calls(const struct func *f, enum intrin op)
{
	struct call_search q = { .op = op };

	stmt_visit(f->body, search_calls, &q);
	return q.found;
}

struct usage {
	const struct buffer *buffer;
	bool read, written;
};

/* Finds uses of the buffer's address: a call that gets the address of an
 * element, or the buffer's pointer, may read and write the buffer. */
static void
find_address(void *ctx, const struct expr *e)
{
	struct usage *q = ctx;

	if (e->kind == EXPR_CALL && e->u.intrin == INTRIN_ADDRESS_OF &&
	    e->args[0]->kind == EXPR_LOAD &&
	    e->args[0]->u.buffer == q->buffer) {
		q->written = true;
	}
	for (int i = 1; e->kind == EXPR_CALL &&
			(e->u.intrin == INTRIN_CALL_EXTERN ||
			 e->u.intrin == INTRIN_CALL_FUNC) &&
			i < e->n_args;
	     i++) {
		if (e->args[i] == q->buffer->data->expr) {
			q->read = q->written = true;
		}
	}
}

static bool
usage_stmt(void *ctx, struct stmt *s)
{
	struct usage *q = ctx;

	for (int i = 0; i < s->n_args; i++) {
		if (expr_uses_buffer(s->args[i], q->buffer)) {
			q->read = true;
		}
		expr_visit(s->args[i], find_address, q);
	}
	if (s->kind == STMT_STORE && s->u.buffer == q->buffer) {
		q->written = true;
	}
	return !(q->read && q->written);
}

bool
func_reads(const struct func *f, const struct buffer *b)
{
	struct usage q = { .buffer = b };

	stmt_visit(f->body, usage_stmt, &q);
	return q.read;
}

bool
func_writes(const struct func *f, const struct buffer *b)
{
	struct usage q = { .buffer = b };

	stmt_visit(f->body, usage_stmt, &q);
	return q.written;
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
