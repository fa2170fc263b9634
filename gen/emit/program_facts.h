/* SPDX-License-Identifier: Apache-2.0 */
/* What comments state about a function of a tensor program: its arrays, its
 * scratch memory, its schedule. */
#ifndef TIRC_PROGRAM_FACTS_H
#define TIRC_PROGRAM_FACTS_H

#include "emit.h"
#include "unit.h"

/* Adds a row to the list "facts" of data. */
void program_add_fact(struct tdata *data, const char *label, const char *text);
/* Adds a row for each array of the function: type, shape, whether it is
 * written, and of scratch memory its bytes. */
void program_add_arrays(struct unit *u, const struct program_part *part,
			struct tdata *data);
/* Adds the steps of its schedule, if it has any. */
void program_add_schedule(struct unit *u, const struct program_part *part,
			  struct tdata *data);
/* Must the function's arrays not overlap: has it several, does it write at least
 * one of them, and has it no note "aliased"? */
bool program_has_overlap(const struct program_part *part);

#endif
