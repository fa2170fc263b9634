/* SPDX-License-Identifier: Apache-2.0 */
/* Makes LETs for integer expressions without loads, just inside the loop that
 * binds the expression's innermost variable. */
#ifndef TIRC_INDEX_LETS_H
#define TIRC_INDEX_LETS_H

#include "func.h"

/* The outermost statement, s or a statement around s, around which a LET of e
 * can be put: the variables of e are bound outside of it. */
struct stmt *let_place(struct stmt *s, const struct expr *e);
/* Is s the outermost loop of a device kernel, or does s contain one? No LET
 * must be put around such an s: the extents of a launch must be expressions of
 * the host function's parameters. */
bool let_is_around_kernel(struct stmt *s);
/* A name that is not used yet: `base`, or `base` followed by `before` and a
 * number if a parameter, an array or a variable in scope around or inside `at`
 * has the name base. */
const char *let_name(struct func *f, struct stmt *at, const char *base,
		     const char *before);
/* Puts a LET of value around `at` and returns the LET. */
struct stmt *let_wrap(struct func *f, struct stmt *at, struct var *v,
		      const struct expr *value);

#endif
