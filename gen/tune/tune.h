/* SPDX-License-Identifier: Apache-2.0 */
/* The tuner: makes candidate schedules of a model's kernels, has a runner
 * measure them, checks their results, and passes on records. The runner (struct
 * tune_runner) gets a job and returns a measurement; the tuner itself measures
 * nothing. */
#ifndef TIRC_TUNE_H
#define TIRC_TUNE_H

#include "tune_job.h"

/* The result of measuring a candidate. */
struct measurement {
	/* the times of the candidate and of the rules' schedule in each round */
	const struct record_round *rounds;
	int n_rounds;
	const char *unit; /* "ns" or "instructions" */
	/* For each output of the candidate's job: the array that the program
	 * wrote. NULL: the job replays a record, whose results were checked
	 * when the record was made. */
	const void *const *outputs;
	const char *machine, *compiler; /* the same as in struct record */
};

struct tune_runner {
	void *ctx;
	/* The same as in struct record, if they are known before a measurement;
	 * else NULL. */
	const char *machine, *compiler;
	/* Measures a candidate and the rules' schedule, which may be the same
	 * job. Texts and arrays of *out are in the arena. Returns NULL, or the
	 * reason why there is no measurement: a program does not compile,
	 * crashes, hangs, … In both cases sets the machine and the compiler in
	 * *out. */
	const char *(*measure)(void *ctx, struct arena *a,
			       const struct tune_job *candidate,
			       const struct tune_job *rules,
			       struct measurement *out);
	/* Starts a measurement of the task with this number; the jobs must stay
	 * in memory until the measurement ends. Returns NULL, or the reason why
	 * it cannot start. If the runner measures only one job at a time, the
	 * pointers start, finish and give_up are NULL. */
	const char *(*start)(void *ctx, int task,
			     const struct tune_job *candidate,
			     const struct tune_job *rules);
	/* Waits about a second for the end of a measurement. Sets *task to its
	 * task, *why to what measure() would return, and *out; sets *task to -1
	 * if no measurement has ended. Returns false if the connection to the
	 * workers is lost. */
	bool (*finish)(void *ctx, struct arena *a, int *task, const char **why,
		       struct measurement *out);
	/* Drops the measurements that have not ended. */
	void (*give_up)(void *ctx);
};

/* The state of a task, for the display of the progress. */
struct tune_state {
	const struct tune_task *task;
	int trials, failed;
	/* the number of trials whose results come from earlier records */
	int known;
	const char *unit;
	/* the time of the rules' own schedule; 0 before it is measured */
	double rules_time;
	/* the ratio of the best schedule; 1 before a faster one is found */
	double best_ratio;
	const char *best; /* the decisions of the best schedule, or NULL */
	bool ended;       /* the task has no more trials */
};

struct tune_options {
	uint64_t seed;
	int trials;        /* the number of trials of each workload */
	double least_gain; /* the argument of search_new() */
	/* tasks with a smaller share of the model's time are left out */
	double least_share;
	/* Records of earlier runs, or NULL. If a candidate has a record with
	 * the same kernel, target, steps, machine and compiler, it counts as a
	 * trial and is not measured again. */
	const struct records *earlier;
	void *ctx;
	/* Called after each trial with its record. If it returns false, the
	 * tuning ends. */
	bool (*record)(void *ctx, const struct tune_state *state,
		       const struct record *r);
	/* Called before each trial, and, with state NULL, while the tuner waits
	 * for measurements. If it returns false, the tuning ends. */
	bool (*go_on)(void *ctx, const struct tune_state *state);
};

/* Tunes the tasks. Each trial goes to the task with the largest share of the
 * model's time divided by its number of trials. states: one for each task. */
void tune_run(struct tune_model *m, struct tune_tasks *tasks,
	      const struct tune_runner *runner, const struct tune_options *o,
	      struct tune_state *states);

#endif
