/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver and the shrinker of schedules.c share. */
#ifndef SCHEDULES_H
#define SCHEDULES_H

#include "schedule_batch.h"

/* A whole trial. counts, place may be NULL; b gets the function. False:
 * t->trouble; t is to be released in any case. */
bool schedule_trial_run(struct trial *t, uint64_t seed,
			struct trial_counts *counts, struct trial_place *place,
			struct batch *b);

/* Finds out what is wrong with a seed, and prints the smallest program and
 * the fewest steps it was found to go wrong with. Returns what it is. */
enum trouble shrink(uint64_t seed, const struct batch *settings);

#endif
