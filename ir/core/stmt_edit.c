/* SPDX-License-Identifier: Apache-2.0 */
/* Edits of the statement tree, all of them through stmt_write, so that a
 * rollback undoes them. If f has a journal, an array whose length changes is
 * replaced by a new array. */
#include "stmt.h"

#include <assert.h>

#include "func.h"

void
stmt_set_child(struct func *f, struct stmt *s, int slot, struct stmt *child)
{
	assert(slot >= 0 && slot < s->n_children);
	if (s->children[slot] != child) {
		stmt_write(f, &s->children[slot], &child, sizeof(child));
	}
	if (child && child->parent != s) {
		stmt_write(f, &child->parent, &s, sizeof(s));
	}
	if (child) {
		child->slot = slot;
	}
}

void
stmt_set_arg(struct func *f, struct stmt *s, int i, const struct expr *e)
{
	assert(i >= 0 && i < s->n_args);
	if (s->args[i] != e) {
		stmt_write(f, &s->args[i], &e, sizeof(e));
	}
}

void
stmt_set_block(struct func *f, struct stmt *s, const struct block *b)
{
	assert(s->kind == STMT_BLOCK);
	b = arena_copy(&f->module->arena, b, sizeof *b);
	stmt_write(f, &s->u.block, &b, sizeof(b));
}

void
stmt_set_children(struct func *f, struct stmt *s, struct stmt *const *list,
		  int n)
{
	struct stmt **copy = n > 0 ? arena_copy(&f->module->arena, list,
						sizeof(*list) * (size_t)n)
				   : NULL;

	stmt_write(f, &s->children, &copy, sizeof(copy));
	stmt_write(f, &s->n_children, &n, sizeof n);
	for (int i = 0; i < n; i++) {
		if (copy[i] && copy[i]->parent != s) {
			stmt_write(f, &copy[i]->parent, &s, sizeof(s));
		}
		if (copy[i]) {
			copy[i]->slot = i;
		}
	}
}

void
stmt_set_args(struct func *f, struct stmt *s, const struct expr *const *list,
	      int n)
{
	const struct expr **copy = n > 0 ? arena_copy(&f->module->arena, list,
						      sizeof(*list) * (size_t)n)
					 : NULL;

	stmt_write(f, &s->args, &copy, sizeof(copy));
	stmt_write(f, &s->n_args, &n, sizeof n);
}

void
stmt_set_loop_kind(struct func *f, struct stmt *s, enum for_kind kind,
		   const char *thread)
{
	assert(s->kind == STMT_FOR);
	stmt_write(f, &s->u.loop.kind, &kind, sizeof kind);
	stmt_write(f, &s->u.loop.thread, &thread, sizeof(thread));
}

/* Replaces the child `slot` of seq, the SEQ inner, by the children of inner. */
static void
splice(struct func *f, struct stmt *seq, int slot, struct stmt *inner)
{
	int n = seq->n_children - 1 + inner->n_children;
	struct stmt **list = arena_array(&f->module->arena, struct stmt *,
					 n > 0 ? n : 1);
	int k = 0;

	for (int i = 0; i < seq->n_children; i++) {
		if (i != slot) {
			list[k++] = seq->children[i];
			continue;
		}
		for (int j = 0; j < inner->n_children; j++) {
			list[k++] = inner->children[j];
		}
	}
	stmt_set_children(f, seq, list, n);
}

struct stmt_place
stmt_place_of(const struct stmt *s)
{
	struct stmt_place p = { s->parent, 0 };

	if (s->parent) {
		p.slot = stmt_slot(s);
	}
	return p;
}

void
stmt_put(struct func *f, struct stmt_place place, struct stmt *s)
{
	struct stmt *none = NULL;

	if (!place.parent) {
		stmt_write(f, &f->body, &s, sizeof(s));
		stmt_write(f, &s->parent, &none, sizeof(none));
	} else if (place.parent->kind == STMT_SEQ && s->kind == STMT_SEQ) {
		splice(f, place.parent, place.slot, s);
	} else {
		stmt_set_child(f, place.parent, place.slot, s);
	}
}

void
stmt_replace(struct func *f, struct stmt *s, struct stmt *replacement)
{
	struct stmt_place place = stmt_place_of(s);
	struct stmt *none = NULL;

	/* To wrap s, note its place first: see stmt_put. */
	assert(place.parent != replacement);
	if (s == replacement) {
		return;
	}
	stmt_put(f, place, replacement);
	stmt_write(f, &s->parent, &none, sizeof(none));
}

static void
remove_from_seq(struct func *f, struct stmt *seq, struct stmt *s)
{
	int n = seq->n_children - 1, at = stmt_slot(s);
	struct stmt **list = seq->children;

	if (n == 1) {
		stmt_replace(f, seq, list[1 - at]);
		return;
	}
	if (n == 0 && seq->parent) {
		stmt_remove(f, seq);
		return;
	}
	if (f->journaling) {
		list = arena_copy(&f->module->arena, list,
				  sizeof(struct stmt *) * ((size_t)n + 1));
		stmt_write(f, &seq->children, &list, sizeof(list));
	}
	memmove(list + at, list + at + 1,
		sizeof(struct stmt *) * (size_t)(n - at));
	stmt_write(f, &seq->n_children, &n, sizeof n);
}

void
stmt_remove(struct func *f, struct stmt *s)
{
	struct stmt *parent = s->parent, *none = NULL;
	int slot;

	if (!parent) {
		/* A function's body must stay: an empty SEQ replaces its only
		 * statement. */
		if (f->body == s) {
			stmt_replace(f, s, stmt_seq(f, NULL, 0));
		}
		return;
	}
	slot = stmt_slot(s);
	switch (parent->kind) {
	case STMT_SEQ:
		remove_from_seq(f, parent, s);
		break;
	case STMT_IF:
		if (slot == 0 && parent->children[1]) {
			stmt_set_arg(f, parent, 0,
				     expr_not(f->module, parent->args[0]));
			stmt_set_child(f, parent, 0, parent->children[1]);
			stmt_set_child(f, parent, 1, NULL);
		} else if (slot == 1) {
			stmt_set_child(f, parent, 1, NULL);
		} else {
			stmt_remove(f, parent);
		}
		break;
	case STMT_BLOCK:
		if (slot == 1) {
			stmt_set_child(f, parent, 1, NULL);
		} else if (!parent->parent) {
			stmt_set_child(f, parent, 0, stmt_seq(f, NULL, 0));
		} else {
			stmt_remove(f, parent);
		}
		break;
	default:
		stmt_remove(f, parent);
		break;
	}
	stmt_write(f, &s->parent, &none, sizeof(none));
}

/* A copy of the list `old` without the note `key`: the nodes of the list are
 * new, their keys and values are shared with the old list. */
static struct note *
notes_without(struct arena *arena, const struct note *old, const char *key)
{
	struct note *head = NULL, **tail = &head;

	for (; old; old = old->next) {
		if (strcmp(old->key, key) == 0) {
			continue;
		}
		*tail = arena_copy(arena, old, sizeof *old);
		(*tail)->next = NULL;
		tail = &(*tail)->next;
	}
	return head;
}

void
stmt_set_note(struct func *f, struct stmt *s, const char *key,
	      const struct expr *value)
{
	struct arena *arena = &f->module->arena;
	struct note *list = notes_without(arena, s->notes, key);

	if (value) {
		struct note *added = arena_new(arena, struct note);
		struct note **tail = &list;

		added->key = arena_strdup(arena, key);
		added->value = value;
		while (*tail) {
			tail = &(*tail)->next;
		}
		*tail = added;
	}
	stmt_write(f, &s->notes, &list, sizeof(list));
}

/* -- deep copies */

struct clone {
	struct func *func;
	bool fresh;
	VEC(struct var *) from;
	VEC(const struct expr *) to;
};

static struct var *
clone_var(struct clone *c, struct var *v)
{
	struct arena *arena = &c->func->module->arena;
	struct var *copy;

	if (!c->fresh || !v) {
		return v;
	}
	copy = var_new(c->func->module, v->name, v->type);
	copy->min = v->min;
	copy->max = v->max;
	vec_push(arena, &c->from, v);
	vec_push(arena, &c->to, copy->expr);
	return copy;
}

static const struct expr *
clone_expr(struct clone *c, const struct expr *e)
{
	struct var_map map = { c->from.data, c->to.data, c->from.n };

	return e && map.n > 0 ? expr_substitute(c->func->module, e, &map) : e;
}

static const struct block *
clone_block(struct clone *c, const struct block *b)
{
	struct arena *arena = &c->func->module->arena;
	struct block *copy;
	struct var_map map;

	if (!c->fresh) {
		return b;
	}
	copy = arena_copy(arena, b, sizeof *b);
	if (b->n_iters > 0) {
		copy->iters = arena_copy(arena, b->iters,
					 sizeof *b->iters * (size_t)b->n_iters);
	}
	for (int i = 0; i < b->n_iters; i++) {
		copy->iters[i].min = clone_expr(c, b->iters[i].min);
		copy->iters[i].extent = clone_expr(c, b->iters[i].extent);
		copy->iters[i].var = clone_var(c, b->iters[i].var);
	}
	map = (struct var_map){ c->from.data, c->to.data, c->from.n };
	copy->reads = regions_substitute(c->func->module, b->reads, b->n_reads,
					 &map);
	copy->writes = regions_substitute(c->func->module, b->writes,
					  b->n_writes, &map);
	return copy;
}

static struct stmt *
clone_stmt(struct clone *c, const struct stmt *s)
{
	struct arena *arena = &c->func->module->arena;
	struct stmt *copy;

	if (!s) {
		return NULL;
	}
	copy = arena_copy(arena, s, sizeof *s);
	copy->id = c->func->next_id++;
	copy->parent = NULL;
	if (s->n_args > 0) {
		copy->args = arena_exprs(arena, s->n_args);
	}
	for (int i = 0; i < s->n_args; i++) {
		copy->args[i] = clone_expr(c, s->args[i]);
	}
	switch (s->kind) {
	case STMT_FOR:
		copy->u.loop.var = clone_var(c, s->u.loop.var);
		break;
	case STMT_LET:
		copy->u.var = clone_var(c, s->u.var);
		break;
	case STMT_BLOCK:
		copy->u.block = clone_block(c, s->u.block);
		break;
	default:
		break;
	}
	if (s->n_children > 0) {
		copy->children = arena_array(arena, struct stmt *,
					     s->n_children);
	}
	for (int i = 0; i < s->n_children; i++) {
		copy->children[i] = clone_stmt(c, s->children[i]);
		if (copy->children[i]) {
			copy->children[i]->parent = copy;
		}
	}
	return copy;
}

struct stmt *
stmt_clone(struct func *f, const struct stmt *s, bool fresh_vars)
{
	struct clone c = { .func = f, .fresh = fresh_vars };

	return clone_stmt(&c, s);
}
