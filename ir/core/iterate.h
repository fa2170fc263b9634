/* SPDX-License-Identifier: Apache-2.0 */
/* Iterators over expressions, statements, and the expressions of statements:
 *
 *	const struct expr *x;
 *
 *	for (struct expr_iter it = expr_each(e); (x = expr_next(&it));) {
 *		…
 *	}
 *
 * An iterator holds its state in itself, so that iterations can be nested; it
 * must not be copied between two calls of next. Iterators do not recurse: the
 * depth of a tree is limited by memory only. */
#ifndef TIRC_ITERATE_H
#define TIRC_ITERATE_H

#include "memo.h"
#include "stmt.h"

/* Every distinct node at or below an expression, once, children first: the
 * arguments and, of a reduction, its domain, condition and initial values. */
struct expr_frame {
	const struct expr *e;
	int next; /* index of the child that is entered next */
};

enum { EXPR_ITER_INLINE = 16 };

struct expr_iter {
	const struct expr *root;
	enum expr_kind kind; /* EXPR_KIND_COUNT: nodes of all kinds */
	/* n: the number of frames on the stack, -1 before the first node; cap:
	 * the room for frames */
	int n, cap;
	struct expr_frame *stack;
	struct memo seen;
	struct expr_frame inside[EXPR_ITER_INLINE];
};

struct expr_iter expr_each(const struct expr *e);
/* Only the nodes of one kind. */
struct expr_iter expr_each_of(const struct expr *e, enum expr_kind kind);
/* The next node; NULL after the last, which is e. */
const struct expr *expr_next(struct expr_iter *it);
/* Ends an iteration before it has returned all expressions: releases its
 * memory. */
void expr_stop(struct expr_iter *it);

/* Is there a node of the kind? */
bool expr_has(const struct expr *e, enum expr_kind kind);

/* Iterates over a statement and all statements below it, parents first. The
 * statement returned last may be changed, but must stay in its place. The
 * iteration may end at any time. */
struct stmt_iter {
	struct stmt *root; /* NULL at the end */
	/* the statement that was returned last; NULL at first */
	struct stmt *at;
	enum stmt_kind kind; /* STMT_KIND_COUNT: statements of all kinds */
	bool skip;
};

/* Iterates over s and the statements below it. If s is NULL, nothing is
 * visited. */
struct stmt_iter stmt_each(struct stmt *s);
/* Only the statements of one kind. */
struct stmt_iter stmt_each_of(struct stmt *s, enum stmt_kind kind);
struct stmt *stmt_next(struct stmt_iter *it);
/* Skips the statements below the one returned last. */
void stmt_skip(struct stmt_iter *it);

struct stmt_list {
	VEC(struct stmt *) list;
};

/* Is s, or a statement below s, of this kind? */
bool stmt_has(struct stmt *s, enum stmt_kind kind);
/* The statements of one kind at or below s, in the order of the program. */
struct stmt_list stmts_of(struct arena *a, struct stmt *s, enum stmt_kind kind);

struct exprs {
	VEC(const struct expr *) list;
};

/* Iterates over every expression in the arguments of a statement and of all
 * statements below it: statement by statement, argument by argument, each
 * argument in the order of expr_each. */
struct tree_iter {
	/* the statement of the expression that was returned last */
	struct stmt *at;
	/* the arguments of `at` that are not visited yet */
	const struct expr *const *args;
	int n_args;
	bool inside; /* an argument is being visited */
	struct stmt_iter stmts;
	struct expr_iter exprs;
};

/* Iterates over the expressions of s and of the statements below it. If s is
 * NULL, nothing is visited. */
struct tree_iter tree_each(struct stmt *s);
/* Only the expressions of one kind. */
struct tree_iter tree_each_of(struct stmt *s, enum expr_kind kind);
/* Iterates over the expressions of s alone, without those of the statements
 * below it. */
struct tree_iter tree_each_arg(struct stmt *s);
/* Iterates over the n expressions of a list and the expressions in them; list
 * NULL: nothing is visited. NULLs in the list are skipped. */
struct tree_iter exprs_each(const struct expr *const *list, int n);
/* Only the expressions of one kind. */
struct tree_iter exprs_each_of(const struct expr *const *list, int n,
			       enum expr_kind kind);
const struct expr *tree_next(struct tree_iter *it);
/* Ends an iteration before it has returned all expressions: releases its
 * memory. */
void tree_stop(struct tree_iter *it);

/* Does an argument of a statement at or below s use the variable? */
bool stmt_uses_var(struct stmt *s, const struct var *v);
/* Does an argument of a statement at or below s load from the buffer? */
bool stmt_uses_buffer(struct stmt *s, const struct buffer *b);
/* The last call of intrinsic op at s or below whose first argument is the text
 * `name`; NULL if there is no such call. */
const struct expr *stmt_call_of(struct stmt *s, enum intrin op,
				const char *name);

#endif
