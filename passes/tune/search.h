/* SPDX-License-Identifier: Apache-2.0 */
/* The search for a faster schedule of one kernel: coordinate descent over the
 * decisions of the rules (choices.h). It starts with the rules' own schedule,
 * changes one decision at a time to a neighbouring candidate, and keeps what is
 * faster; then it does the same from schedules by other rules that are nearly as
 * fast. It measures nothing and reads no files: the caller makes each candidate
 * and tells how it went. Equal seeds and equal answers give equal candidates. */
#ifndef TIRC_SEARCH_H
#define TIRC_SEARCH_H

#include "choices.h"

struct search;

enum search_outcome {
	SEARCH_MEASURED, /* it was measured */
	SEARCH_FAILED,   /* it is no valid schedule, or it is wrong */
};

/* A candidate: what the rules are to prefer. n == 0: nothing, which is the
 * rules' own schedule, the first candidate. */
struct search_candidate {
	const struct preference *preferred;
	int n;
};

/* least_gain: a candidate counts as faster if it takes at most 1 - least_gain of
 * the time of the best one so far. */
struct search *search_new(struct arena *a, uint64_t seed, double least_gain);
/* Sets *out to the next candidate; false at the end of the search. */
bool search_next(struct search *s, struct search_candidate *out);
/* Was the schedule with these decisions tried before? Different preferences may
 * lead to the same schedule. */
bool search_knows(const struct search *s, const struct choices *made);
/* Tells how the candidate of the last search_next went. made: the decisions as
 * the rules took them, or NULL if they failed. ratio: its time relative to that
 * of the rules' own schedule, if it was measured. */
void search_tell(struct search *s, enum search_outcome outcome,
		 const struct choices *made, double ratio);

#endif
