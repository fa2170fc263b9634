/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by compute_at and reverse_compute_at: at which position of the body of
 * a loop a block is put. The statements of the body are numbered from 0. */
#ifndef TIRC_COMPUTE_AT_H
#define TIRC_COMPUTE_AT_H

#include "edit.h"

int body_child_count(const struct stmt *loop);
/* The number, in the loop's body, of the statement that contains s. */
int body_child_index(const struct stmt *loop, struct stmt *s);
/* Sets *at to a position in the body of the loop, by the argument `index` of
 * the primitive: -1 means hi, the last possible position; -2 means lo, the
 * first possible one; any other number means itself. False after a diagnostic
 * if the position is not from lo to hi. */
bool body_choose_index(struct edit *e, const struct stmt *loop, int lo, int hi,
		       int64_t index, int *at);
void body_insert_child(struct edit *e, struct stmt *loop, struct stmt *added,
		       int at);
/* Sets ranges to the domains of the block's iter vars. */
void iter_domains(const struct stmt *block, struct range *ranges);

#endif
