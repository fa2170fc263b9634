/* SPDX-License-Identifier: Apache-2.0 */
/* The search for a faster schedule of one kernel: coordinate descent over the
 * decisions of the rules (choices.h). It starts with the rules' own schedule,
 * changes one decision at a time to a neighbouring candidate, and keeps the
 * change if the schedule is faster. Then it does the same starting from those
 * schedules by other rules that are nearly as fast. The search measures nothing
 * and reads no files: the caller makes each candidate and tells the search its
 * result. The same seed and the same results give the same candidates. */
#ifndef TIRC_SEARCH_H
#define TIRC_SEARCH_H

#include "choices.h"

struct search;

enum search_outcome {
	SEARCH_MEASURED, /* the schedule was measured */
	/* the schedule is not valid, or its results are wrong */
	SEARCH_FAILED,
};

/* A candidate: the values that the rules should prefer in their decisions. If n
 * is 0, they prefer nothing; the result is the rules' own schedule, the first
 * candidate. */
struct search_candidate {
	const struct preference *preferred;
	int n;
};

/* Starts a search. A candidate counts as faster if it takes at most 1 -
 * least_gain of the time of the fastest candidate so far. */
struct search *search_new(struct arena *a, uint64_t seed, double least_gain);
/* Sets *out to the next candidate. Returns false if the search has ended. */
bool search_next(struct search *s, struct search_candidate *out);
/* Was a schedule already tried for which the rules made the decisions `made`?
 * The rules may make the same decisions for different preferences. */
bool search_knows(const struct search *s, const struct choices *made);
/* Tells the search the result of the candidate of the last search_next(). made:
 * the decisions that the rules made for this candidate, or NULL if the rules
 * failed. ratio: the candidate's time divided by that of the rules' own
 * schedule, if the candidate was measured. */
void search_tell(struct search *s, enum search_outcome outcome,
		 const struct choices *made, double ratio);

#endif
