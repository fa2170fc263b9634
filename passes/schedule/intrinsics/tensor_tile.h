/* SPDX-License-Identifier: Apache-2.0 */
/* Dense copies of the tiles that an instruction works on. */
#ifndef TIRC_TENSOR_TILE_H
#define TIRC_TENSOR_TILE_H

#include "tensor_intrin.h"
#include "tensor_match.h"

/* Parameter p of a part, with the shape and the strides of view i, and with a
 * new id. If the view is dense, the strides are NULL. */
struct buffer *tensor_view_buffer(struct tensor_match *match, int i,
				  const struct buffer *p);
/* Does parameter i of `part` need a dense copy? It does if it is declared dense
 * (without strides) and is passed to an external symbol, although its view is
 * not dense. */
bool tensor_tile_needed(struct tensor_match *match, int i,
			const struct func *part);
/* A dense buffer for view i. NULL, with the reason in *why, if a copy is not
 * possible: the tile has a variable size, is in a memory scope of the target,
 * or is shared by several threads; or it is a tile of a parameter of the
 * function whose elements are not adjacent along the last axis, so that the
 * copy would gather them one by one. */
const struct buffer *tensor_tile(struct tensor_match *match, int i,
				 const struct func *part,
				 const struct tensor_intrin *intrin,
				 const char **why);
/* Replaces parameter i by its tile in the statements below `scratch`. The tile
 * is filled before the part if the part reads it, and stored after the part if
 * the part writes it:
 *
 *   T.call_extern("f", T.address_of(A[0, 0]))
 * ->
 *   for i, j in T.grid(8, 8):
 *       A_tile[i, j] = A[i, j]
 *   T.call_extern("f", T.address_of(A_tile[0, 0])) */
void tensor_tile_use(struct tensor_match *match, int i, const struct func *part,
		     const struct tensor_intrin *intrin,
		     const struct buffer *tile, struct stmt *scratch);

#endif
