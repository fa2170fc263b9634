/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the pass "partition-loops" share. */
#ifndef TIRC_LOWER_PARTITION_H
#define TIRC_LOWER_PARTITION_H

#include "analyse.h"
#include "func.h"

/* Statements; a larger body is not written twice unless asked for. */
enum { PARTITION_BODY_LIMIT = 64 };

/* coeff * v + rest <= 0 is what c says. */
bool partition_guard(struct analyser *a, struct var *v, const struct expr *c,
		     int64_t *coeff, const struct expr **rest);
/* Does the guard at s move with a tile: an unrolled or vectorized loop of
 * extent n inside loop, n steps of which are one step of it? */
bool partition_is_tiled(struct analyser *a, const struct stmt *loop,
			const struct stmt *s, const struct expr *rest,
			int64_t coeff);
/* A loop whose guards are no reason for it. */
bool partition_unwanted(const struct stmt *s);
/* Is there a note that asks for it? */
bool partition_forced(const struct stmt *loop);
/* Sets the end of a loop of symbolic extent apart. */
/* The rest of a loop, or NULL: too little for threads. */
void partition_rest(struct func *f, struct stmt *loop);
void partition_tail(struct func *f, struct stmt *loop);

#endif
