/* SPDX-License-Identifier: Apache-2.0 */
/* Default schedules, by the rules of sched_rules.def. */
#ifndef TIRC_DEFAULT_SCHEDULE_H
#define TIRC_DEFAULT_SCHEDULE_H

#include "kernel.h"
#include "schedule.h"

struct choices; /* choices.h */

/* Gives s the target's intrinsics and the alignment of k's constants. */
void sched_for_kernel(struct sched *s, const struct kernel *k,
		      const struct target *target);
/* Schedules k->func, describes the schedule in k->schedule (for the kernel's
 * comment), and sets the map of each weight that gets another layout. *out (or
 * NULL): the schedule with its trace. */
bool default_schedule(struct kernel *k, const struct target *target,
		      struct module *m, struct sched *out);
/* Schedules k->func as default_schedule does, but with the candidates that
 * `choices` prefers. Adds the decisions that the rules asked for to
 * `choices`. */
bool default_schedule_chosen(struct kernel *k, const struct target *target,
			     struct module *m, struct choices *choices,
			     struct sched *out);
/* The name of candidate `row` of the decision CHOICE_RULE: the name of this row
 * of sched_rules.def, or "plain" for the candidate that no rule takes the
 * kernel. */
const char *default_schedule_rule(int64_t row);
/* Schedules k->func as default_schedule does, and appends to explanation a line
 * for each rule: whether it was taken, or why not. */
bool default_schedule_explained(struct kernel *k, const struct target *target,
				struct module *m, struct strbuf *explanation);

/* Sets the maps of the kernel's weights to the layouts that the schedule gave
 * them. False after reporting if the schedule changes the layout of a parameter
 * that is not a constant. */
bool sched_adopt_layouts(const struct sched *s, struct kernel *k);
/* Checks whether sched_adopt_layouts would succeed, without changing the
 * kernel. */
bool sched_check_layouts(const struct sched *s, const struct kernel *k);

#endif
