/* SPDX-License-Identifier: Apache-2.0 */
/* Dense copies of the tiles that an instruction works on. */
#ifndef TIRC_TENSOR_TILE_H
#define TIRC_TENSOR_TILE_H

#include "tensor_intrin.h"
#include "tensor_match.h"

/* Parameter p of a part, with the shape and the strides of view i (NULL: they
 * are those of a dense buffer) and an id of its own. */
struct buffer *tensor_view_buffer(struct tensor_match *match, int i,
				  const struct buffer *p);
/* Is parameter i declared dense (without strides), passed to a symbol outside,
 * and its view not dense? */
bool tensor_tile_needed(struct tensor_match *match, int i,
			const struct func *part);
/* A dense buffer for that view. NULL, with the reason, if there is none: a tile
 * of variable size, of a target's own scope or shared by several threads, or
 * elements of a parameter of the function that do not follow each other along
 * the tile's last axis, so that a copy would gather them one by one. */
const struct buffer *tensor_tile(struct tensor_match *match, int i,
				 const struct func *part,
				 const struct tensor_intrin *intrin,
				 const char **why);
/* Replaces the parameter below scratch by its tile, which is filled before and
 * stored after the part, as the part reads and writes it:
 *
 *   T.call_extern("f", T.address_of(A[0, 0]))
 * ->
 *   for i, j in T.grid(8, 8):
 *       A_tile[i, j] = A[i, j]
 *   T.call_extern("f", T.address_of(A_tile[0, 0]))
 */
void tensor_tile_use(struct tensor_match *match, int i, const struct func *part,
		     const struct tensor_intrin *intrin,
		     const struct buffer *tile, struct stmt *scratch);

#endif
