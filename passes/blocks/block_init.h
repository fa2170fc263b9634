/* SPDX-License-Identifier: Apache-2.0 */
/* The init part of a reduction. */
#ifndef TIRC_BLOCK_INIT_H
#define TIRC_BLOCK_INIT_H

#include "func.h"

/* Moves a block's init to a separate nest before outer, the outermost loop
 * around the block that drives a reduction iter var. Returns the nest. If the
 * block's predicate does not allow the move, changes nothing, sets *why to the
 * reason, a text about the predicate, and returns NULL. */
struct stmt *place_init(struct func *f, struct stmt *block, struct stmt *outer,
			const char **why);
/* The fields of a separate block for the init part of `block`: name, spatial
 * iter vars with their bindings (*bindings), and write regions. */
struct block init_header(struct func *f, const struct stmt *block,
			 const struct expr ***bindings);
/* Does the loop's variable occur in the bindings of the block's reduction iter
 * vars (if `reduce` is set), or of its other iter vars (if not)? */
bool loop_drives(const struct stmt *loop, const struct stmt *block,
		 bool reduce);

#endif
