/* SPDX-License-Identifier: Apache-2.0 */
/* The caller's functions, which observe or change the work of passes. All
 * members may be zero. */
#ifndef TIRC_HOOKS_H
#define TIRC_HOOKS_H

#include "graph.h"

/* The phases of lowering, after which passes of the user and checks can run: 0
 * blocks under loops, scheduled; 1 storage; 2 loops; 3 cleaned up. */
enum { LAST_PHASE = 3 };

/* A pass that the user adds. It runs on each function after tirc's passes of
 * the phase `phase`, edits the function f in place, and returns false after a
 * diagnostic. */
struct user_pass {
	const char *name;
	int phase;
	bool (*run)(void *ctx, struct func *f);
	void *ctx;
};

struct kernel;
struct sched;

enum hook_schedule {
	HOOK_SCHEDULE_NONE, /* the rules schedule the kernel */
	/* the callback `schedule` has scheduled the kernel */
	HOOK_SCHEDULE_DONE,
	HOOK_SCHEDULE_AFTER, /* the rules schedule the kernel, then after_rules
			      * is called */
	/* scheduling failed; the module's diagnostics have the error */
	HOOK_SCHEDULE_FAILED
};

struct pass_hooks {
	void *ctx;
	/* Called for each kernel before the rules schedule it; may schedule it
	 * in their place. s has the unscheduled function, which the hook may
	 * replace. *words: the description of the schedule in the kernel's
	 * comment; NULL: the comment lists its steps. The member may be
	 * NULL. */
	enum hook_schedule (*schedule)(void *ctx, const struct kernel *k,
				       struct sched *s, const char **words);
	/* Called after the rules; may replace f, the program that they made, in
	 * which constants have the layouts that the rules chose. False after a
	 * diagnostic. */
	bool (*after_rules)(void *ctx, const char *kernel, struct func *f);
	/* Called after each pass, for --print-after and the verifier. */
	void (*after_graph)(void *ctx, const char *pass, const struct graph *g);
	/* Called at the same times. If it returns true, no further pass over
	 * the graph runs, and the pass manager returns false, without a
	 * diagnostic. The member may be NULL. */
	bool (*ends_graph)(void *ctx, const char *pass);
	void (*after_func)(void *ctx, const char *pass, const struct func *f);
	/* Called after all passes of a phase, including the user's. */
	void (*after_phase)(void *ctx, int phase, const struct func *f);
	/* Called after each run of a pass with the time that it took. */
	void (*took)(void *ctx, const char *pass, double seconds);
	/* The names of the passes to leave out. */
	const char *const *disabled;
	int n_disabled;
	const struct user_pass *added;
	int n_added;
	bool traced; /* sets struct program.traced */
};

bool hooks_disable(const struct pass_hooks *hooks, const char *pass);
/* The current time in seconds; 0 if the hooks do not ask for times. */
double hooks_start(const struct pass_hooks *hooks);
void hooks_took(const struct pass_hooks *hooks, const char *pass, double start);

#endif
