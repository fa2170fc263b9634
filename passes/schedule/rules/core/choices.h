/* SPDX-License-Identifier: Apache-2.0 */
/* The decisions that the rules leave open for one kernel, so that a tuner can
 * make them: each with its name, its candidates and the candidate that was
 * taken. A tuner runs the rules several times, each time with other
 * preferences. */
#ifndef TIRC_CHOICES_H
#define TIRC_CHOICES_H

#include "arena.h"

/* The name of the decision that says which row of sched_rules.def takes the
 * kernel. The candidates are the indices of the rows, and the total number of
 * rows, which means that no row takes the kernel. */
#define CHOICE_RULE "rule"

/* A decision that the rules asked for. */
struct choice {
	const char *name; /* "lanes" */
	/* the number of decisions before this one that have the same name */
	int nth;
	const int64_t *candidates; /* ascending */
	int n;
	int rules; /* the index of the rules' own candidate */
	int taken; /* the index of the candidate that was taken */
};

/* A number that the caller prefers to the rules' own choice. The number is
 * taken if it is a candidate of the decision number `nth` among those with the
 * name `name`. */
struct preference {
	const char *name;
	int nth;
	int64_t number;
};

struct choices {
	const struct preference *preferred;
	int n_preferred;
	VEC(struct choice) asked; /* in the order of the rules */
};

/* Records a decision. Returns the index of the candidate to take: that of the
 * preferred number, if it is a candidate, else `rules`. c may be NULL. Copies
 * the candidates to the arena. */
int choices_ask(struct choices *c, struct arena *a, const char *name,
		const int64_t *candidates, int n, int rules);
/* Records a decision that was taken elsewhere. */
void choices_note(struct choices *c, struct arena *a, const char *name,
		  const int64_t *candidates, int n, int rules, int taken);
/* Sets *number to the value that the caller prefers for the next decision named
 * `name`; false if the caller prefers none. c may be NULL. */
bool choices_preferred(const struct choices *c, const char *name,
		       int64_t *number);

#endif
