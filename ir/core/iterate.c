/* SPDX-License-Identifier: Apache-2.0 */
/* Iterators over expressions as graphs, where every shared node is visited
 * once, and over statements as trees. */
#include "iterate.h"

#include <assert.h>
#include <stdlib.h>

/* -- expressions */

struct expr_iter
expr_each_of(const struct expr *e, enum expr_kind kind)
{
	struct expr_iter it;

	/* The other fields, which are large, are set when they are first
	 * used. */
	it.root = e;
	it.kind = kind;
	it.n = -1;
	return it;
}

struct expr_iter
expr_each(const struct expr *e)
{
	return expr_each_of(e, EXPR_KIND_COUNT);
}

/* Child i of a reduction besides its arguments; NULL after the last. */
static const struct expr *
part_of_reduction(const struct reduction *r, int i)
{
	if (i < 2 * r->n_axes) {
		const struct iter_var *axis = &r->axes[i / 2];

		return i % 2 == 0 ? axis->min : axis->extent;
	}
	i -= 2 * r->n_axes;
	if (r->condition != NULL && i-- == 0) {
		return r->condition;
	}
	return r->init != NULL && i < r->reducer->n ? r->init[i] : NULL;
}

static const struct expr *
child_of(const struct expr *e, int i)
{
	if (i < e->n_args) {
		return e->args[i];
	}
	return e->kind == EXPR_REDUCE
		       ? part_of_reduction(e->u.reduce, i - e->n_args)
		       : NULL;
}

static void
push(struct expr_iter *it, const struct expr *e)
{
	if (it->n == it->cap) {
		bool inside = it->stack == it->inside;
		size_t room = (size_t)it->cap * 2;
		struct expr_frame *stack = realloc(inside ? NULL : it->stack,
						   room * sizeof *stack);

		if (stack == NULL) {
			memory_exhausted();
		}
		if (inside) {
			memcpy(stack, it->inside, sizeof it->inside);
		}
		it->stack = stack;
		it->cap = (int)room;
	}
	it->stack[it->n++] = (struct expr_frame){ e, 0 };
}

static void
enter_root(struct expr_iter *it)
{
	it->n = 0;
	it->cap = EXPR_ITER_INLINE;
	it->stack = it->inside;
	memo_init(&it->seen);
	push(it, it->root);
}

const struct expr *
expr_next(struct expr_iter *it)
{
	if (it->n < 0) {
		enter_root(it);
	}
	while (it->n > 0) {
		struct expr_frame *top = &it->stack[it->n - 1];
		const struct expr *e = child_of(top->e, top->next++);

		if (e == NULL) {
			e = top->e;
			it->n--;
		} else if (!memo_add(&it->seen, e)) {
			continue;
		} else if (e->n_args > 0 || e->kind == EXPR_REDUCE) {
			push(it, e);
			continue;
		}
		if (it->kind == EXPR_KIND_COUNT || e->kind == it->kind) {
			return e;
		}
	}
	expr_stop(it);
	return NULL;
}

void
expr_stop(struct expr_iter *it)
{
	if (it->n < 0) {
		memo_init(&it->seen);
		it->stack = it->inside;
	}
	memo_release(&it->seen);
	if (it->stack != it->inside) {
		free(it->stack);
	}
	it->stack = it->inside;
	it->n = 0;
}

bool
expr_has(const struct expr *e, enum expr_kind kind)
{
	struct expr_iter it = expr_each_of(e, kind);
	bool found = expr_next(&it) != NULL;

	expr_stop(&it);
	return found;
}

/* -- statements */

struct stmt_iter
stmt_each_of(struct stmt *s, enum stmt_kind kind)
{
	struct stmt_iter it;

	it.root = s;
	it.at = NULL;
	it.kind = kind;
	it.skip = false;
	return it;
}

struct stmt_iter
stmt_each(struct stmt *s)
{
	return stmt_each_of(s, STMT_KIND_COUNT);
}

int
stmt_slot(const struct stmt *s)
{
	const struct stmt *parent = s->parent;

	/* s->slot says where s was last seen; a rollback may have moved it. */
	if (s->slot < parent->n_children && parent->children[s->slot] == s) {
		return s->slot;
	}
	for (int n = parent->n_children, i = 0; i < n; i++) {
		/* searches from the slot on to the left, because removals shift
		 * statements to the left */
		int at = ((s->slot < n ? s->slot : n - 1) - i + n) % n;

		if (parent->children[at] == s) {
			return at;
		}
	}
	assert(!"a statement's parent does not have it as a child");
	return -1;
}

/* The statement that comes after it->at in the order of the program, in which a
 * parent comes before its children; NULL after the last statement. */
static struct stmt *
following(struct stmt_iter *it)
{
	struct stmt *s = it->at;
	int i = it->skip ? s->n_children : 0;

	it->skip = false;
	for (;;) {
		while (i < s->n_children && s->children[i] == NULL) {
			i++;
		}
		if (i < s->n_children) {
			assert(s->children[i]->parent == s);
			s->children[i]->slot = i;
			return s->children[i];
		}
		if (s == it->root) {
			return NULL;
		}
		i = 1 + stmt_slot(s);
		s = s->parent;
	}
}

struct stmt *
stmt_next(struct stmt_iter *it)
{
	if (it->root == NULL) {
		return NULL;
	}
	do {
		it->at = it->at == NULL ? it->root : following(it);
	} while (it->at != NULL && it->kind != STMT_KIND_COUNT &&
		 it->at->kind != it->kind);
	if (it->at == NULL) {
		it->root = NULL;
	}
	return it->at;
}

void
stmt_skip(struct stmt_iter *it)
{
	it->skip = true;
}

bool
stmt_has(struct stmt *s, enum stmt_kind kind)
{
	struct stmt_iter it = stmt_each_of(s, kind);

	return stmt_next(&it) != NULL;
}

struct stmt_list
stmts_of(struct arena *a, struct stmt *s, enum stmt_kind kind)
{
	struct stmt_iter it = stmt_each_of(s, kind);
	struct stmt_list found = { 0 };

	while ((s = stmt_next(&it)) != NULL) {
		vec_push(a, &found.list, s);
	}
	return found;
}

/* -- the expressions of statements */

/* Initialises *it in place. The member of type expr_iter is large: it is not
 * copied, and is only written when it is first used. */
static void
begin(struct tree_iter *it, struct stmt *below, const struct expr *const *list,
      int n, enum expr_kind kind)
{
	it->at = NULL;
	it->args = list;
	it->n_args = list != NULL ? n : 0;
	it->inside = false;
	it->stmts = stmt_each(below);
	it->exprs.kind = kind;
}

struct tree_iter
tree_each_of(struct stmt *s, enum expr_kind kind)
{
	struct tree_iter it;

	begin(&it, s, NULL, 0, kind);
	return it;
}

struct tree_iter
tree_each(struct stmt *s)
{
	return tree_each_of(s, EXPR_KIND_COUNT);
}

struct tree_iter
tree_each_arg(struct stmt *s)
{
	struct tree_iter it;

	begin(&it, NULL, s->args, s->n_args, EXPR_KIND_COUNT);
	it.at = s;
	return it;
}

struct tree_iter
exprs_each_of(const struct expr *const *list, int n, enum expr_kind kind)
{
	struct tree_iter it;

	begin(&it, NULL, list, n, kind);
	return it;
}

struct tree_iter
exprs_each(const struct expr *const *list, int n)
{
	return exprs_each_of(list, n, EXPR_KIND_COUNT);
}

/* The next argument of the statement that is being visited, or of the list;
 * NULL if no argument is left. */
static const struct expr *
next_arg(struct tree_iter *it)
{
	const struct expr *e = NULL;

	while (e == NULL) {
		while (it->n_args == 0) {
			it->at = stmt_next(&it->stmts);
			if (it->at == NULL) {
				return NULL;
			}
			it->args = it->at->args;
			it->n_args = it->at->n_args;
		}
		e = *it->args++;
		it->n_args--;
	}
	return e;
}

/* Moves to the next argument. Most arguments are leaves: a leaf of the right
 * kind is returned. An argument with children is entered, and NULL returned.
 * Without further arguments, sets *end and returns NULL. */
static const struct expr *
enter_arg(struct tree_iter *it, bool *end)
{
	enum expr_kind kind = it->exprs.kind;
	const struct expr *e;

	while ((e = next_arg(it)) != NULL && child_of(e, 0) == NULL) {
		if (kind == EXPR_KIND_COUNT || e->kind == kind) {
			return e;
		}
	}
	*end = e == NULL;
	it->inside = e != NULL;
	it->exprs.root = e;
	it->exprs.n = -1;
	return NULL;
}

const struct expr *
tree_next(struct tree_iter *it)
{
	const struct expr *e = NULL;
	bool end = false;

	while (e == NULL && !end) {
		if (!it->inside) {
			e = enter_arg(it, &end);
		} else {
			e = expr_next(&it->exprs);
			it->inside = e != NULL;
		}
	}
	return e;
}

void
tree_stop(struct tree_iter *it)
{
	if (it->inside) {
		expr_stop(&it->exprs);
	}
	it->inside = false;
	it->n_args = 0;
	it->stmts.root = NULL;
}

bool
stmt_uses_var(struct stmt *s, const struct var *v)
{
	for (struct stmt_iter it = stmt_each(s); (s = stmt_next(&it));) {
		for (int i = 0; i < s->n_args; i++) {
			if (s->args[i] != NULL &&
			    expr_uses_var(s->args[i], v)) {
				return true;
			}
		}
	}
	return false;
}

bool
stmt_uses_buffer(struct stmt *s, const struct buffer *b)
{
	struct tree_iter it = tree_each_of(s, EXPR_LOAD);
	const struct expr *e;

	while ((e = tree_next(&it)) != NULL && e->u.buffer != b) {
	}
	tree_stop(&it);
	return e != NULL;
}

const struct expr *
stmt_call_of(struct stmt *s, enum intrin op, const char *name)
{
	const struct expr *e, *found = NULL;

	for (struct tree_iter it = tree_each_of(s, EXPR_CALL);
	     (e = tree_next(&it));) {
		if (e->u.intrin == op &&
		    strcmp(e->args[0]->u.text, name) == 0) {
			found = e;
		}
	}
	return found;
}
