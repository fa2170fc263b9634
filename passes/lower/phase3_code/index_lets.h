/* SPDX-License-Identifier: Apache-2.0 */
/* Names for integer expressions that do not load: a LET that stands just inside
 * the loop which binds the innermost variable. */
#ifndef TIRC_INDEX_LETS_H
#define TIRC_INDEX_LETS_H

#include "func.h"

/* The outermost statement around s, or s itself, around which a LET of e may
 * stand: what binds the variables of e is further out. */
struct stmt *let_place(struct stmt *s, const struct expr *e);
/* Is s a kernel's outermost loop, or around one? There nothing gets a name: the
 * extents are for whoever launches the kernels, in terms of the function's
 * parameters. */
bool let_is_around_kernel(const struct stmt *s);
/* base, or base, `before` and a number, where another variable around or inside
 * `at`, a parameter or an array has that name. */
const char *let_name(struct func *f, struct stmt *at, const char *base,
		     const char *before);
/* Replaces from by to in all expressions of `at`. */
void let_replace(struct func *f, struct stmt *at, const struct expr *from,
		 const struct expr *to);
/* Puts a LET of value around `at` and gives the LET. */
struct stmt *let_wrap(struct func *f, struct stmt *at, struct var *v,
		      const struct expr *value);

#endif
