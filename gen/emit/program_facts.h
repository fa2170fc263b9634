/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about a function of a tensor program that are printed in a comment: its
 * arrays, its scratch memory, its schedule. */
#ifndef TIRC_PROGRAM_FACTS_H
#define TIRC_PROGRAM_FACTS_H

#include "emit.h"
#include "unit.h"

/* Adds a row to the list "facts" of data. */
void program_add_fact(struct tdata *data, const char *label, const char *text);
/* Adds a row for each array of the function: type, shape, whether it is
 * written; for scratch memory, the bytes. */
void program_add_arrays(struct unit *u, const struct program_part *part,
			struct tdata *data);
/* Adds the steps of the function's schedule, if it has a schedule. */
void program_add_schedule(struct unit *u, const struct program_part *part,
			  struct tdata *data);
/* Is it forbidden that the function's arrays overlap: does it have several
 * arrays, write at least one of them, and have no note "aliased"? */
bool program_has_overlap(const struct program_part *part);

#endif
