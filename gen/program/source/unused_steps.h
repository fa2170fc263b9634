/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of schedules that a target does not use: loops for threads where
 * there are none, vectors where there are none. The functions compute the same
 * without them; notes and comments say so. */
#ifndef TIRC_UNUSED_STEPS_H
#define TIRC_UNUSED_STEPS_H

#include "dialect.h"
#include "program.h"

/* The names of a function's loops that may be shared between threads. */
struct shared_loops {
	VEC(const char *) names;
};

/* Appends to *out the name of each parallel loop of f that is in no other
 * parallel loop, once. */
void shared_loops_find(const struct func *f, struct shared_loops *out);

/* The steps of a schedule, which lines or semicolons separate, as one line for a
 * comment: "split(i, 8); parallel(i_0) (unused: the target has no threads)". */
const char *schedule_in_a_row(struct arena *a, const struct target *t,
			      const struct dialect *d, const char *steps);

/* Adds a note about the loops of the function f that the target does not share
 * between threads, or make vectors of, although the program says so. before: its
 * loops of threads before arrays were moved off the stack; f is lowered, and its
 * arrays were moved. */
void note_unused_loops(const struct program_func *from, const char *file,
		       const struct target *t, const struct dialect *d,
		       const struct shared_loops *before, const struct func *f);

#endif
