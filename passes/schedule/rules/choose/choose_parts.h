/* SPDX-License-Identifier: Apache-2.0 */
/* The choice of rules: the rows of sched_rules.def, what a row needs, and what
 * is done after a rule has scheduled the kernel. */
#ifndef TIRC_CHOOSE_PARTS_H
#define TIRC_CHOOSE_PARTS_H

#include "kernel_blocks.h"

/* A condition on the blocks or the target that a rule needs. */
struct rule_need {
	bool (*holds)(struct rules *r, const struct kernel_blocks *k);
	const char *sentence; /* the condition in words, for messages */
};

/* The blocks that a rule schedules. */
enum rule_over {
	/* the stage's rules see all blocks of the kernel that no rule has taken
	 * yet */
	OVER_KERNEL,
	OVER_BLOCKS /* a single block */
};

struct rule_stage {
	/* for targets whose kernels have many threads (true), or one */
	bool device;
	enum inline_kept kept;
	enum rule_over over;
	/* in words, for messages: the blocks that the stage's rules see */
	const char *sentence;
};

struct rule {
	const char *name;
	const struct rule_stage *stage;
	const struct rule_need *blocks, *target;
	bool (*apply)(struct rules *r, const struct kernel_blocks *k);
	const char *what;
};

/* rule_table.c: the rules, which are the rows of sched_rules.def in order; sets
 * *n to the number of rules. */
const struct rule *sched_rules_table(int *n);

/* rule_needs.c */
#define NEED(name, sentence)                                                   \
	bool need_##name(struct rules *r, const struct kernel_blocks *k);
#include "sched_rules.def"

/* explain_rules.c. These functions append lines to the explanation, if the
 * caller asks for it: the heading of a stage; that a rule was taken (why NULL)
 * or why it was not taken, for the block for which it was tried (0: for the
 * kernel); that the stages before took all blocks; which rules were not tried
 * because a rule before them took the kernel. */
void explain_stage(struct rules *r, const struct rule_stage *stage);
void explain_rule(struct rules *r, const struct rule *rule, int block,
		  const char *why);
void explain_nothing_left(struct rules *r);
void explain_rest(struct rules *r, const struct rule *rule);

/* parallel_loops.c: makes loops of the scheduled kernel parallel if the target
 * has threads; on a device whose work-groups have one work-item, binds loops of
 * every nest to the work-groups. */
void rules_parallel(struct rules *r);
/* block_sums.c: annotates the loops of float sums of many terms, which are
 * lowered to sums of blocks. */
void rules_block_sums(struct rules *r);

#endif
