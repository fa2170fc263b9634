/* SPDX-License-Identifier: Apache-2.0 */
/* Default schedules: rules over the structure of blocks (how many there are,
 * which of them reduce, which axis appears in which load) and the target's
 * facts. No rule looks at an operator's name. sched_rules.def lists the rules in
 * the order in which they are tried.
 *
 * This is the state that the rules share. */
#ifndef TIRC_SCHED_RULES_H
#define TIRC_SCHED_RULES_H

#include "kernel.h"
#include "schedule.h"

/* The state of scheduling one kernel. */
struct rules {
	struct sched s;
	struct kernel *kernel;
	const struct target *target;
	struct module *module;
	struct strbuf words; /* the description of the schedule */
	/* On a device, the nests whose threads compute single elements or
	 * vectors, and the most lanes of these; for the description. */
	int nests;
	int64_t most_lanes;
	/* Where the caller wants to read why rules do not apply; or NULL */
	struct strbuf *explanation;
	const char *refusal; /* of the last rules_no, if it is read; or NULL */
	int refused_after;   /* how many messages s.diags had then */
};

/* A state to go back to. */
struct rules_mark {
	struct sched_mark sched;
	size_t words;
};

struct rules_mark rules_checkpoint(struct rules *r);
/* Back to the checkpoint. Returns false. */
bool rules_undo(struct rules *r, struct rules_mark mark);

/* Notes why a rule does not apply, if the caller asks for it. Returns false. */
bool rules_no(struct rules *r, const char *fmt, ...) TIRC_PRINTF(2, 3);
/* Why a rule failed that was begun at the checkpoint `messages`, a number of
 * messages of s.diags: what it told rules_no, or else the message of the
 * primitive that failed last. */
const char *rules_refusal(const struct rules *r, int messages);

struct kernel_blocks;

/* The rules. Each returns true if it scheduled what its row says; if it returns
 * false, the schedule is to be rolled back. */
#define RULE(stage, name, needs, target, what)                                 \
	bool rule_##name(struct rules *r, const struct kernel_blocks *k);
#include "sched_rules.def"

#endif
