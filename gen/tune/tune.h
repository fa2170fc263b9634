/* SPDX-License-Identifier: Apache-2.0 */
/* The tuner: makes candidate schedules of a model's kernels, has a runner measure
 * them, checks their results, and passes on records. All measuring is behind
 * struct tune_runner: a job goes in, a measurement comes out. */
#ifndef TIRC_TUNE_H
#define TIRC_TUNE_H

#include "tune_job.h"

/* What a runner found out about a candidate. */
struct measurement {
	/* times of the candidate and of the rules' schedule, one directly after
	 * the other */
	const struct record_round *rounds;
	int n_rounds;
	const char *unit; /* "ns" or "instructions" */
	/* by output of the candidate's job: the array that the program wrote;
	 * NULL: the results were checked when the time was recorded */
	const void *const *outputs;
	const char *machine, *compiler; /* as in struct record */
};

struct tune_runner {
	void *ctx;
	/* as in struct record, where it is known before a measurement; else
	 * NULL */
	const char *machine, *compiler;
	/* Measures a candidate beside the rules' schedule, which may be the same
	 * job. Texts and arrays of *out are in the arena. NULL, or why there is
	 * no measurement: it does not compile, crashes, hangs, … Sets *out's
	 * machine and compiler then, too. */
	const char *(*measure)(void *ctx, struct arena *a,
			       const struct tune_job *candidate,
			       const struct tune_job *rules,
			       struct measurement *out);
	/* For a runner that has several jobs measured at once, else NULL: begins
	 * a measurement of the task with this number, whose jobs stay where they
	 * are. NULL, or why it cannot. */
	const char *(*start)(void *ctx, int task,
			     const struct tune_job *candidate,
			     const struct tune_job *rules);
	/* Waits for a measurement, about a second: sets *task, and *why as
	 * measure() returns it; *task is -1 if none has ended. False: the
	 * runner is lost. */
	bool (*finish)(void *ctx, struct arena *a, int *task, const char **why,
		       struct measurement *out);
	/* Gives up what was begun and has not ended. */
	void (*give_up)(void *ctx);
};

/* The state of a task, for a view. */
struct tune_state {
	const struct tune_task *task;
	int trials, failed;
	int known; /* of the trials, those that were measured earlier */
	const char *unit;
	double rules_time; /* 0: not measured yet */
	double best_ratio; /* 1 until something faster is found */
	const char *best;  /* the decisions of the best, or NULL */
	bool ended;        /* no trial is left */
};

struct tune_options {
	uint64_t seed;
	int trials;         /* of each workload */
	double least_gain;  /* see search_new */
	double least_share; /* of the model's time: smaller tasks are left out */
	/* Earlier records: a candidate with one of the same kernel, target,
	 * steps, machine and compiler counts as a trial, and is not measured
	 * again. NULL: there are none. */
	const struct records *earlier;
	void *ctx;
	/* Called after each trial with its record; false ends the tuning. */
	bool (*record)(void *ctx, const struct tune_state *state,
		       const struct record *r);
	/* Called before each trial, and without a state while measurements are
	 * waited for; false ends the tuning. */
	bool (*go_on)(void *ctx, const struct tune_state *state);
};

/* Tunes the tasks: each trial is for the task with the largest share of the time
 * for its number of trials. states: one for each task. */
void tune_run(struct tune_model *m, struct tune_tasks *tasks,
	      const struct tune_runner *runner, const struct tune_options *o,
	      struct tune_state *states);

#endif
