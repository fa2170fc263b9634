/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the pass `partition-loops`. */
#ifndef TIRC_PARTITION_LOOPS_H
#define TIRC_PARTITION_LOOPS_H

#include "analyse.h"
#include "func.h"

/* A body with more statements than this is duplicated only if a note asks for
 * it. */
enum { PARTITION_BODY_LIMIT = 64 };

/* Reads the comparison c as coeff * v + rest <= 0; false if c does not have
 * this form. */
bool partition_guard(struct analyser *a, struct var *v, const struct expr *c,
		     int64_t *coeff, const struct expr **rest);
/* Does the guard at s depend on a tile loop: an unrolled or vectorized loop
 * inside of `loop`, of extent n, where coeff is n times the coefficient of its
 * variable in `rest`? */
bool partition_is_tiled(struct analyser *a, const struct stmt *loop,
			const struct stmt *s, const struct expr *rest,
			int64_t coeff);
/* Is s a loop with the note that its guards must be ignored? */
bool partition_unwanted(const struct stmt *s);
/* Has the loop a note that asks for its partitioning? */
bool partition_forced(const struct stmt *loop);
/* Makes `loop`, which runs the remaining, guarded iterations of a partitioned
 * loop, serial: these are too few for threads. loop may be NULL. */
void partition_rest(struct func *f, struct stmt *loop);
/* Splits off the guarded end of a loop of symbolic extent. */
void partition_tail(struct func *f, struct stmt *loop);

#endif
