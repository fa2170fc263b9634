/* SPDX-License-Identifier: Apache-2.0 */
/* Statements: their constructors, stmt_write(), which records the old content
 * in the journal of the function, and read-only walks. The edits are in
 * stmt_edit.c. BLOCK and IF always have two child slots, the second of which
 * may be NULL. */
#include "stmt.h"

#include <assert.h>

#include "func.h"
#include "iterate.h"

const char *
stmt_kind_name(enum stmt_kind kind)
{
	static const char *const names[] = {
#define STMT(id) #id,
#include "stmt.def"
#undef STMT
	};

	assert((unsigned)kind < STMT_KIND_COUNT);
	return names[kind];
}

const char *
for_kind_name(enum for_kind kind)
{
	static const char *const names[] = {
		[FOR_SERIAL] = "serial",         [FOR_PARALLEL] = "parallel",
		[FOR_VECTORIZED] = "vectorized", [FOR_UNROLLED] = "unroll",
		[FOR_THREAD] = "thread_binding",
	};

	assert((unsigned)kind <= FOR_THREAD);
	return names[kind];
}

void
stmt_write(struct func *f, void *dst, const void *src, size_t bytes)
{
	if (f->journaling) {
		struct arena *arena = &f->module->arena;
		struct journal_entry entry = { dst, NULL, bytes };

		entry.old = arena_copy(arena, dst, bytes);
		vec_push(arena, &f->journal, entry);
	}
	memcpy(dst, src, bytes);
}

static void
attach(struct func *f, struct stmt *child, struct stmt *parent)
{
	if (child && child->parent != parent) {
		stmt_write(f, &child->parent, &parent, sizeof parent);
	}
}

static struct stmt *
make(struct func *f, enum stmt_kind kind, const struct expr *const *args,
     int n_args, struct stmt *const *children, int n_children)
{
	struct arena *arena = &f->module->arena;
	struct stmt *s = arena_new(arena, struct stmt);

	s->kind = kind;
	s->id = f->next_id++;
	s->n_args = n_args;
	s->n_children = n_children;
	if (n_args > 0) {
		s->args = arena_copy(arena, args,
				     sizeof *args * (size_t)n_args);
	}
	if (n_children > 0) {
		s->children = arena_copy(arena, children,
					 sizeof(*children) *
						 (size_t)n_children);
	}
	for (int i = 0; i < n_children; i++) {
		attach(f, children[i], s);
		if (children[i]) {
			children[i]->slot = i;
		}
	}
	return s;
}

struct stmt *
stmt_for(struct func *f, struct var *v, const struct expr *min,
	 const struct expr *extent, enum for_kind kind, struct stmt *body)
{
	const struct expr *args[] = { min, extent };
	struct stmt *s = make(f, STMT_FOR, args, 2, &body, 1);

	s->u.loop.var = v;
	s->u.loop.kind = kind;
	return s;
}

struct stmt *
stmt_block(struct func *f, const struct block *b, const struct expr *predicate,
	   const struct expr *const *bindings, struct stmt *init,
	   struct stmt *body)
{
	struct arena *arena = &f->module->arena;
	struct stmt *children[] = { body, init };
	struct stmt *s;
	const struct expr **args = arena_exprs(arena, b->n_iters + 1);

	args[0] = predicate ? predicate : expr_bool(f->module, true);
	for (int i = 0; i < b->n_iters; i++) {
		args[i + 1] = bindings[i];
	}
	s = make(f, STMT_BLOCK, args, b->n_iters + 1, children, 2);
	s->u.block = arena_copy(arena, b, sizeof *b);
	return s;
}

struct stmt *
stmt_store(struct func *f, const struct buffer *b, const struct expr *value,
	   const struct expr *const *index, int n)
{
	const struct expr **args = arena_exprs(&f->module->arena, n + 1);
	struct stmt *s;

	assert(n == b->ndim);
	args[0] = value;
	for (int i = 0; i < n; i++) {
		args[i + 1] = index[i];
	}
	s = make(f, STMT_STORE, args, n + 1, NULL, 0);
	s->u.buffer = b;
	return s;
}

struct stmt *
stmt_if(struct func *f, const struct expr *cond, struct stmt *then,
	struct stmt *otherwise)
{
	struct stmt *children[] = { then, otherwise };

	return make(f, STMT_IF, &cond, 1, children, 2);
}

struct stmt *
stmt_let(struct func *f, struct var *v, const struct expr *value,
	 struct stmt *body)
{
	struct stmt *s = make(f, STMT_LET, &value, 1, &body, 1);

	s->u.var = v;
	return s;
}

struct stmt *
stmt_alloc(struct func *f, const struct buffer *b, struct stmt *body)
{
	struct stmt *s = make(f, STMT_ALLOC, NULL, 0, &body, 1);

	s->u.buffer = b;
	return s;
}

struct stmt *
stmt_attr(struct func *f, const char *key, const struct expr *value,
	  struct stmt *body)
{
	struct stmt *s = make(f, STMT_ATTR, &value, 1, &body, 1);

	s->u.key = key;
	return s;
}

struct stmt *
stmt_evaluate(struct func *f, const struct expr *value)
{
	return make(f, STMT_EVALUATE, &value, 1, NULL, 0);
}

struct stmt *
stmt_while(struct func *f, const struct expr *cond, struct stmt *body)
{
	return make(f, STMT_WHILE, &cond, 1, &body, 1);
}

struct stmt *
stmt_assert(struct func *f, const struct expr *cond, const char *message)
{
	const struct expr *args[] = { cond, expr_string(f->module, message) };

	return make(f, STMT_ASSERT, args, 2, NULL, 0);
}

struct stmt *
stmt_return(struct func *f, const struct expr *value)
{
	return make(f, STMT_RETURN, &value, value ? 1 : 0, NULL, 0);
}

static int
count_flat(struct stmt *const *list, int n)
{
	int count = 0;

	for (int i = 0; i < n; i++) {
		if (!list[i]) {
			continue;
		}
		count += list[i]->kind == STMT_SEQ
				 ? count_flat(list[i]->children,
					      list[i]->n_children)
				 : 1;
	}
	return count;
}

static int
fill_flat(struct stmt **out, struct stmt *const *list, int n)
{
	int count = 0;

	for (int i = 0; i < n; i++) {
		if (!list[i]) {
			continue;
		}
		if (list[i]->kind == STMT_SEQ) {
			count += fill_flat(out + count, list[i]->children,
					   list[i]->n_children);
		} else {
			out[count++] = list[i];
		}
	}
	return count;
}

struct stmt *
stmt_seq(struct func *f, struct stmt *const *list, int n)
{
	int count = count_flat(list, n);
	struct stmt **flat, *only;

	if (count == 1) {
		fill_flat(&only, list, n);
		return only;
	}
	flat = arena_array(&f->module->arena, struct stmt *, count + 1);
	fill_flat(flat, list, n);
	return make(f, STMT_SEQ, NULL, 0, flat, count);
}

void
stmt_visit(struct stmt *s, bool (*visit)(void *ctx, struct stmt *s), void *ctx)
{
	for (struct stmt_iter it = stmt_each(s); (s = stmt_next(&it));) {
		if (!visit(ctx, s)) {
			stmt_skip(&it);
		}
	}
}

const char *
note_text(const struct expr *value)
{
	return value != NULL && value->kind == EXPR_STRING ? value->u.text
							   : NULL;
}

const struct expr *
stmt_note(const struct stmt *s, const char *key)
{
	for (const struct note *n = s->notes; n; n = n->next) {
		if (strcmp(n->key, key) == 0) {
			return n->value;
		}
	}
	return NULL;
}
