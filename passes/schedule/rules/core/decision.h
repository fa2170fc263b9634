/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that rules leave open, such as the size of a tile. The trace holds
 * each as sample_categorical with its candidates and the rule's choice. A
 * number is a candidate only if the same steps give a valid schedule with this
 * number in place of the rules' choice, so that a tuner may change any decision
 * in the trace. */
#ifndef TIRC_DECISION_H
#define TIRC_DECISION_H

#include "sched_rules.h"

struct candidates {
	VEC(int64_t) list;
};

void candidates_add(struct rules *r, struct candidates *c, int64_t n);
/* Adds as candidates the multiples of `step` from `least` to `most` that divide
 * `of`; if `of` is 0, all these multiples. */
void candidates_add_steps(struct rules *r, struct candidates *c, int64_t least,
			  int64_t most, int64_t step, int64_t of);
/* Records a decision, unless it has only one candidate. name: the name of the
 * decision, such as "lanes"; *chosen: the rules' choice, which is added to the
 * candidates. If the caller of the rules prefers another candidate (choices.h),
 * sets *chosen to that candidate. Returns *chosen as an argument for
 * primitives. */
struct sched_value rules_decide(struct rules *r, const char *name,
				struct candidates *c, int64_t *chosen);
/* A decision between different sequences of steps, which the trace cannot
 * represent. Returns `own`, or the candidate that the caller of the rules
 * prefers. */
int64_t rules_way(struct rules *r, const char *name, struct candidates *c,
		  int64_t own);
/* The decided number as an expression, for index maps. */
const struct expr *rules_number(struct rules *r, struct sched_value number);
/* Splits the loop into an outer loop (parts[0]), whose extent is inferred, and
 * an inner loop (parts[1]) of `number` iterations. False after a failure. */
bool rules_split(struct rules *r, int loop, struct sched_value number,
		 int *parts);

#endif
