/* SPDX-License-Identifier: Apache-2.0 */
/* The table of sched_rules.def. */
#include "choose_parts.h"

enum {
#define NEED(name, sentence) NEED_##name,
#include "sched_rules.def"
};

enum {
#define STAGE(name, device, kept, over, sentence) STAGE_##name,
#include "sched_rules.def"
};

static const struct rule_need needs[] = {
#define NEED(name, sentence) { need_##name, sentence },
#include "sched_rules.def"
};

static const struct rule_stage stages[] = {
#define STAGE(name, device, kept, over, sentence)                              \
	{ device, kept, OVER_##over, sentence },
#include "sched_rules.def"
};

static const struct rule rules[] = {
#define RULE(stage, name, blocks, target, what)                                \
	{ #name,                                                               \
	  &stages[STAGE_##stage],                                              \
	  &needs[NEED_##blocks],                                               \
	  &needs[NEED_##target],                                               \
	  rule_##name,                                                         \
	  what },
#include "sched_rules.def"
};

const struct rule *
sched_rules_table(int *n)
{
	*n = (int)(sizeof rules / sizeof *rules);
	return rules;
}
