/* SPDX-License-Identifier: Apache-2.0 */
/* The caller's functions, which observe or change the work of passes. All
 * members may be zero. */
#ifndef TIRC_HOOKS_H
#define TIRC_HOOKS_H

#include "graph.h"

/* Lowering phases: 0 blocks under loops, scheduled; 1 storage; 2 loops;
 * 3 cleaned up. */
enum { LAST_PHASE = 3 };

/* A pass that the user adds: it runs on each function after tirc's passes of
 * the phase. Edits f in place; false after a diagnostic. */
struct user_pass {
	const char *name;
	int phase;
	bool (*run)(void *ctx, struct func *f);
	void *ctx;
};

struct sched;

enum hook_schedule {
	HOOK_SCHEDULE_NONE,  /* the rules schedule the kernel */
	HOOK_SCHEDULE_DONE,  /* the function has scheduled the kernel */
	HOOK_SCHEDULE_AFTER, /* the rules schedule the kernel, then after_rules
			      * is called */
	HOOK_SCHEDULE_FAILED /* after an error in the module's diagnostics */
};

struct pass_hooks {
	void *ctx;
	/* Schedules a kernel in place of the rules; may be NULL. s has the
	 * unscheduled function; its program may be replaced. */
	enum hook_schedule (*schedule)(void *ctx, const char *kernel,
				       struct sched *s);
	/* Replaces the program that the rules have made; constants are in the
	 * layouts that the rules have chosen. False after a diagnostic. */
	bool (*after_rules)(void *ctx, const char *kernel, struct func *f);
	/* Called after each pass, for --print-after and the verifier. */
	void (*after_graph)(void *ctx, const char *pass, const struct graph *g);
	void (*after_func)(void *ctx, const char *pass, const struct func *f);
	/* Called after all passes of a phase, including the user's. */
	void (*after_phase)(void *ctx, int phase, const struct func *f);
	/* Called with the time that one run of a pass took. */
	void (*took)(void *ctx, const char *pass, double seconds);
	/* Passes to leave out. */
	const char *const *disabled;
	int n_disabled;
	const struct user_pass *added;
	int n_added;
};

bool hooks_disable(const struct pass_hooks *hooks, const char *pass);
/* The current time in seconds; 0 if the hooks do not ask for times. */
double hooks_start(const struct pass_hooks *hooks);
void hooks_took(const struct pass_hooks *hooks, const char *pass, double start);

#endif
