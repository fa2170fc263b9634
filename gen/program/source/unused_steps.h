/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of schedules that a target does not use: loops for threads or vectors,
 * if the target has no threads or vectors. The functions compute the same
 * without these steps; notes and comments tell the user. */
#ifndef TIRC_UNUSED_STEPS_H
#define TIRC_UNUSED_STEPS_H

#include "dialect.h"
#include "program.h"

/* The names of loops of a function that may be shared between threads. */
struct shared_loops {
	VEC(const char *) names;
};

/* Appends to *out the name of each parallel loop of f that is not inside
 * another parallel loop. A name that several loops have is appended once. */
void shared_loops_find(const struct func *f, struct shared_loops *out);

/* The steps of a schedule on one line, for a comment: "split(i, 8);
 * parallel(i_0) (unused: the target has no threads)". In `steps` they are
 * separated by newlines or semicolons. */
const char *schedule_in_a_row(struct arena *a, const struct target *t,
			      const struct dialect *d, const char *steps);

/* Adds a note about the loops that the program marks for threads or vectors and
 * for which the target has no threads or vectors. before: the parallel loops
 * before arrays were moved off the stack. f: the lowered function after that. */
void note_unused_loops(const struct program_func *from, const char *file,
		       const struct target *t, const struct dialect *d,
		       const struct shared_loops *before, const struct func *f);

#endif
