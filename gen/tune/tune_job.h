/* SPDX-License-Identifier: Apache-2.0 */
/* Tuning a compiled model: its kernels as tasks, a candidate schedule of one as a
 * job for a runner, and the check of the job's results. A job is all that a
 * machine needs to measure: files, and which of them to compile. */
#ifndef TIRC_TUNE_JOB_H
#define TIRC_TUNE_JOB_H

#include "choices.h"
#include "kernels.h"
#include "records.h"

/* The compiled model, and the options with which its kernels become sources. */
struct tune_model {
	struct program *program;
	const char *facts; /* target_facts_text() */
	const char *dialect_path;
};

/* Kernels with the same workload. */
struct tune_task {
	const struct kernel *kernel; /* the first of them */
	const char *workload;
	int n_kernels;
	double share;         /* of the model's time; negative: not known */
	const char *obstacle; /* why it cannot be tuned, or NULL */
	/* Set by tune_task_prepare: the function before its schedule, by
	 * parameter the random elements of arrays and what they are after it
	 * has run, and whether small numbers make all its sums exact. */
	struct func *plain;
	void **in, **want;
	bool exact;
};

struct tune_tasks {
	VEC(struct tune_task) list;
	VEC(int) of_kernel; /* by kernel of the program: its task */
};

struct tune_file {
	const char *name;
	const void *data;
	size_t bytes;
};

/* A file that the built program writes: an array after a call. */
struct tune_output {
	const char *name; /* "result_3.bin" */
	int param;
	size_t bytes;
};

/* A scheduled kernel with a program that calls it on arrays. */
struct tune_job {
	const struct tune_task *task;
	const struct record_decision *decisions;
	int n_decisions;
	const char *trace; /* JSON */
	/* Everything to write into a folder; the sources among them are to be
	 * compiled and linked with the runtime of the target's simulator. Of a
	 * device whose kernels only a host program can launch there is no
	 * caller, but FILE_launches.json. */
	VEC(struct tune_file) files;
	VEC(const char *) sources;
	bool has_caller;
	/* arguments.txt is "CALLS " and this text */
	const char *arguments;
	VEC(struct tune_output) outputs;
	/* the program writes result_0.bin and so on, of the arrays before this
	 * one */
	int n_given;
	/* the decisions of the rules, for the search */
	struct choices choices;
};

/* Lists the workloads of the model's kernels, in order of execution; regions of
 * backends have an obstacle. False after a diagnostic. */
bool tune_list(struct tune_model *m, struct tune_tasks *out);
/* Makes the task's arrays from a seed. False with the task's obstacle set. */
bool tune_task_prepare(struct tune_model *m, struct tune_task *task,
		       uint64_t seed);
/* Schedules and lowers the task's kernel with the preferred decisions. NULL, or
 * why that fails; out->choices is set if the schedule was made. known(ctx,
 * choices): called with the decisions; if true, the job is not made, and the
 * result is "". */
const char *tune_job_make(struct tune_model *m, const struct tune_task *task,
			  const struct preference *preferred, int n,
			  bool (*known)(void *ctx, const struct choices *made),
			  void *ctx, struct tune_job *out);
/* The same with the trace of a record for the task's workload. */
const char *tune_job_of_record(struct tune_model *m,
			       const struct tune_task *task,
			       const struct record *r, struct tune_job *out);
/* Compares the elements of an output with what the interpreter computed. NULL,
 * or how they differ. */
const char *tune_check(struct tune_model *m, const struct tune_task *task,
		       const struct tune_output *o, const void *got);

#endif
