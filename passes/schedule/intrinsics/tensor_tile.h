/* SPDX-License-Identifier: Apache-2.0 */
/* Dense copies of the tiles that an instruction works on. */
#ifndef TIRC_TENSOR_TILE_H
#define TIRC_TENSOR_TILE_H

#include "tensor_intrin.h"
#include "tensor_match.h"

/* Parameter p of a part, with the shape and the strides of view i, and with a
 * new id. The strides are NULL if they are those of a dense buffer. */
struct buffer *tensor_view_buffer(struct tensor_match *match, int i,
				  const struct buffer *p);
/* Does parameter i need a dense copy: is it declared dense (without strides)
 * and passed to an external symbol, although its view is not dense? */
bool tensor_tile_needed(struct tensor_match *match, int i,
			const struct func *part);
/* A dense buffer for view i. NULL, with the reason, if a copy is not possible:
 * the tile has a variable size, is in a scope of the target, or is shared by
 * several threads; or it is a tile of a parameter of the function with elements
 * that are not adjacent along the last axis, so that a copy would gather them
 * one by one. */
const struct buffer *tensor_tile(struct tensor_match *match, int i,
				 const struct func *part,
				 const struct tensor_intrin *intrin,
				 const char **why);
/* Replaces a parameter by its tile in the statements below scratch. The tile is
 * filled before the part if the part reads it, and stored after the part if the
 * part writes it:
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
