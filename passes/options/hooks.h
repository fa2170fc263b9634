/* SPDX-License-Identifier: Apache-2.0 */
/* The caller's functions that observe or change what passes do. All members may be
 * zero. */
#ifndef TIRC_HOOKS_H
#define TIRC_HOOKS_H

#include "graph.h"

/* Lowering phases: 0 blocks under loops, scheduled; 1 storage; 2 loops;
 * 3 cleaned up. */
enum { LAST_PHASE = 3 };

/* A pass of the user's: run on each function after our own passes of the
 * phase. Edits f in place; false after a diagnostic. */
struct user_pass {
	const char *name;
	int phase;
	bool (*run)(void *ctx, struct func *f);
	void *ctx;
};

struct sched;

enum hook_schedule {
	HOOK_SCHEDULE_NONE, /* leave it to the rules */
	HOOK_SCHEDULE_DONE,
	HOOK_SCHEDULE_AFTER, /* leave it to the rules, then call after_rules */
	HOOK_SCHEDULE_FAILED /* reported on the module's diags */
};

struct pass_hooks {
	void *ctx;
	/* NULL, or: schedules a kernel in place of the rules. s holds its
	 * function as its operators define it; its program may be replaced. */
	enum hook_schedule (*schedule)(void *ctx, const char *kernel,
				       struct sched *s);
	/* Replaces the program that the rules have made, constants being laid
	 * out as they want them; false after reporting. */
	bool (*after_rules)(void *ctx, const char *kernel, struct func *f);
	/* Called after each pass, for --print-after and the verifier. */
	void (*after_graph)(void *ctx, const char *pass, const struct graph *g);
	void (*after_func)(void *ctx, const char *pass, const struct func *f);
	/* Called when all passes of a phase, the user's too, are done. */
	void (*after_phase)(void *ctx, int phase, const struct func *f);
	/* How long one run of a pass took. */
	void (*took)(void *ctx, const char *pass, double seconds);
	/* Passes to leave out. */
	const char *const *disabled;
	int n_disabled;
	const struct user_pass *added;
	int n_added;
};

bool hooks_disable(const struct pass_hooks *hooks, const char *pass);
/* The time in seconds; 0 if nobody wants to know. */
double hooks_start(const struct pass_hooks *hooks);
void hooks_took(const struct pass_hooks *hooks, const char *pass, double start);

#endif
