/* SPDX-License-Identifier: Apache-2.0 */
/* The width of index arithmetic. The analyser treats loop variables, sizes and
 * indices as unbounded integers; this analysis gives each operation a type: 32
 * bits if its result provably fits, else 64.
 *
 *	i * m + j     if i, m < 1000: unchanged
 *	              else: int64(i) * int64(m) + int64(j)
 *
 * Arithmetic on data wraps, as in the interpreter, and is not changed. */
#ifndef TIRC_WIDTH_H
#define TIRC_WIDTH_H

#include "analyse.h"

/* The assumed distance from a size without an upper bound to the maximum of its
 * type: tiles, windows and thread blocks do not extend further than this beyond
 * the end of a dimension. */
#define WIDTH_ROOM 65536

/* A fact about the variable `from`: the variable of another type that replaces
 * it, or that it holds loaded data. */
struct width_var {
	const struct var *from;
	/* the expression that replaces it; NULL if it is not replaced */
	const struct expr *to;
	bool data;
};

struct widths {
	struct analyser *analyser;
	VEC(struct width_var) vars; /* innermost last */
	/* the expression is a sum over dimensions in 64 bits, which never
	 * wraps: operations that fit in 32 bits are narrowed */
	bool address;
};

/* Gives the analyser bounds of the sizes in the shapes of f's parameters: a
 * size without a declared bound is taken to be at most INT32_MAX - WIDTH_ROOM.
 * If object_bytes > 0, no array has more than object_bytes bytes, which bounds
 * the sizes and the number of elements of each array. */
void width_bind_sizes(struct analyser *a, const struct func *f,
		      int64_t object_bytes);
/* e with each operation in a type that holds its result. The result has the
 * type i64 instead of i32 if the outermost operation does not fit in 32
 * bits. */
const struct expr *width_of(struct widths *w, const struct expr *e);
/* Does e load, or use a variable bound to a loaded value? */
bool width_is_data(struct widths *w, const struct expr *e);

#endif
