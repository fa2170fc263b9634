/* SPDX-License-Identifier: Apache-2.0 */
/* Random steps of a schedule, chosen from the table of primitives: any
 * primitive, with arguments of the kinds that its row accepts. Many are
 * refused, which is wanted. */
#ifndef RANDOM_STEPS_H
#define RANDOM_STEPS_H

#include "random_te.h"
#include "schedule.h"

enum { RANDOM_MAX_STEP_ARGS = 8 };

struct random_step {
	const struct primitive *primitive;
	struct sched_value args[RANDOM_MAX_STEP_ARGS];
	int n_args;
};

/* Chooses a step for what s->func is now; device: also what stages for
 * threads are made with. Handles come from queries, which are recorded. False:
 * the function has no block to choose. */
bool random_step_choose(struct sched *s, struct rng *r, bool device,
			struct random_step *out);

/* Chooses a step towards a function of which threads run everything. certain:
 * one that will be applied, so that two of these for each block are enough.
 * False: there is none to choose. In random_threads.c. */
bool random_thread_choose(struct sched *s, struct rng *r, bool certain,
			  struct random_step *out);

/* Declares an intrinsic (in s->intrins) that computes what the innermost loops
 * around a block do, if it is a sum of products, a copy or a sum of two;
 * NULL: it is none. In random_intrin.c. */
const char *random_intrin(struct sched *s, struct rng *r,
			  struct stmt *block_or_loop);

#endif
