/* SPDX-License-Identifier: Apache-2.0 */
/* Prints and reads sizes: expressions of a graph's symbolic dimensions, in
 * TVMScript's spelling ("batch", "(h + 1) // 2", "T.max(n, 4)"). */
#ifndef TIRC_SIZE_TEXT_H
#define TIRC_SIZE_TEXT_H

#include "graph.h"

/* For each size in g->dims, in the same order: the identifier that stands for
 * it in texts; in the arena. */
const char **size_symbols(const struct graph *g);
/* Appends e as a text, with the identifiers `symbols` for g->dims. */
void size_print(const struct graph *g, const char *const *symbols,
		const struct expr *e, struct strbuf *out);
/* Is t int32 or int64, the types of the sizes in a shape? */
bool size_is_index(struct dtype t);
/* Can e be an element of a tensor of type t? Tensors of integers that are
 * narrower than a size take only literals, since a formula could wrap. */
bool size_is_element(struct dtype t, const struct expr *e);
/* Reads the output of size_print. Returns the node (pointer) that was printed,
 * or NULL after a DIAG_BAD_PROGRAM, whose message has `place` and the
 * column. */
const struct expr *size_read(const struct graph *g, const char *const *symbols,
			     const char *text, const char *place);

#endif
