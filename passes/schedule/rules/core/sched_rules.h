/* SPDX-License-Identifier: Apache-2.0 */
/* Default schedules: rules over the structure of blocks (how many there are,
 * which of them reduce, which axis appears in which load) and the target's
 * facts. No rule looks at an operator's name. sched_rules.def lists the rules
 * in the order in which they are tried.
 *
 * This header declares the state that the rules share. */
#ifndef TIRC_SCHED_RULES_H
#define TIRC_SCHED_RULES_H

#include "choices.h"
#include "kernel.h"
#include "schedule.h"

/* The state of scheduling one kernel. */
struct rules {
	struct sched s;
	struct kernel *kernel;
	const struct target *target;
	struct module *module;
	/* the description of the schedule, for the kernel's comment */
	struct strbuf words;
	/* For the description, on a device: the number of nests whose threads
	 * compute single elements or vectors, and the largest number of lanes
	 * of these vectors. */
	int nests;
	int64_t most_lanes;
	/* Receives the reasons why rules do not apply; NULL if the caller does
	 * not want them. */
	struct strbuf *explanation;
	/* the decisions that the rules make, with the candidates that the
	 * caller prefers; NULL: the caller prefers nothing */
	struct choices *choices;
	/* the text that rules_no() got last, if the caller wants an
	 * explanation; else NULL */
	const char *refusal;
	/* the number of messages in s.diags at the last call of rules_no */
	int refused_after;
};

/* A checkpoint: a state to which rules_undo goes back. */
struct rules_mark {
	struct sched_mark sched;
	size_t words;
	int asked; /* the number of choices.asked */
};

struct rules_mark rules_checkpoint(struct rules *r);
/* Goes back to the checkpoint. Returns false. */
bool rules_undo(struct rules *r, struct rules_mark mark);

/* Notes why a rule does not apply, if the caller asked for an explanation.
 * Returns false. */
bool rules_no(struct rules *r, const char *fmt, ...) TIRC_PRINTF(2, 3);
/* Why a rule failed: the text that rules_no() got, or the last message of a
 * primitive. messages: the number of messages in s.diags when the rule
 * began. */
const char *rules_refusal(const struct rules *r, int messages);

struct kernel_blocks;

/* The rules. Each returns true if it scheduled the blocks that its row names;
 * if it returns false, the caller must roll the schedule back. */
#define RULE(stage, name, needs, target, what)                                 \
	bool rule_##name(struct rules *r, const struct kernel_blocks *k);
#include "sched_rules.def"

#endif
