/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by compute_at and reverse_compute_at: the position of a block in the
 * body of a loop, whose statements are numbered from 0. */
#ifndef TIRC_COMPUTE_AT_H
#define TIRC_COMPUTE_AT_H

#include "edit.h"

int body_child_count(const struct stmt *loop);
/* The number, in the loop's body, of the statement that contains s. */
int body_child_index(const struct stmt *loop, struct stmt *s);
/* Sets *at to the position of a block in the body of the loop, which the
 * argument index gives: -1: the last possible position, hi; -2: the first, lo;
 * else a number. False after a diagnostic if it is not from lo to hi. */
bool body_choose_index(struct edit *e, const struct stmt *loop, int lo, int hi,
		       int64_t index, int *at);
void body_insert_child(struct edit *e, struct stmt *loop, struct stmt *added,
		       int at);
/* Sets ranges to the domains of the block's iter vars. */
void iter_domains(const struct stmt *block, struct range *ranges);

#endif
