/* SPDX-License-Identifier: Apache-2.0 */
/* How wide index arithmetic has to be. Loops, sizes and indices are whole
 * numbers to the analyser; here they get types that hold them: 32 bits where
 * each operation is proven to fit, else 64.
 *
 *	i * m + j     i, m < 1000: as it is; else int64(i) * int64(m) + int64(j)
 *
 * Arithmetic on data wraps, as the interpreter has it, and is left alone. */
#ifndef TIRC_WIDTH_H
#define TIRC_WIDTH_H

#include "analyse.h"

/* A size without an upper bound leaves that much below what its type holds: no
 * tile, window or block of threads goes further beyond the end. */
#define WIDTH_ROOM 65536

/* What a variable has become, or that it holds data. */
struct width_var {
	const struct var *from;
	const struct expr *to; /* NULL: itself */
	bool data;
};

struct widths {
	struct analyser *analyser;
	VEC(struct width_var) vars; /* innermost last */
	bool address; /* a sum over dimensions, in 64 bits: it never wraps, and
		       * what fits 32 becomes that */
};

/* Tells the analyser what sizes that f's arrays mention can be: from 0, up to
 * their own bound, what their type leaves and, with object_bytes > 0, as many
 * as the largest array has elements; and that the elements of each array are no
 * more than that. */
void width_bind_sizes(struct analyser *a, const struct func *f,
		      int64_t object_bytes);
/* e with operations that hold their results; of type i64, where e is i32, if
 * the last one needs it. */
const struct expr *width_of(struct widths *w, const struct expr *e);
/* Does e load anything, or use a variable that did? */
bool width_is_data(struct widths *w, const struct expr *e);

#endif
