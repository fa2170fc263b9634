/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks and jobs of the tuner. A task is a kernel of a compiled model; a job is
 * a candidate schedule of a task. A job has everything that a machine needs to
 * measure it: the files, and which of them are to be compiled. This header also
 * declares the check of a job's results. */
#ifndef TIRC_TUNE_JOB_H
#define TIRC_TUNE_JOB_H

#include "choices.h"
#include "kernels.h"
#include "records.h"

/* The compiled model, and the options for printing the sources of its kernels. */
struct tune_model {
	struct program *program;
	const char *facts; /* the text of target_facts_text() */
	const char *dialect_path;
};

/* The kernels with the same workload, which are tuned together. */
struct tune_task {
	const struct kernel *kernel; /* the first of these kernels */
	const char *workload;
	int n_kernels;
	/* the share of the model's time that this task's kernels take;
	 * negative: not known */
	double share;
	const char *obstacle; /* why the kernels cannot be tuned, or NULL */
	/* Set by tune_task_prepare(): the kernel's function before its
	 * schedule; for each parameter, the random elements of its array, and
	 * the elements after this function has run; and whether all sums are
	 * exact because the elements are small whole numbers. */
	struct func *plain;
	void **in, **want;
	bool exact;
};

struct tune_tasks {
	VEC(struct tune_task) list;
	VEC(int) of_kernel; /* for each kernel of the program: its task */
};

struct tune_file {
	const char *name;
	const void *data;
	size_t bytes;
};

/* A file that the built program writes: the elements of an array after a call. */
struct tune_output {
	const char *name; /* "result_3.bin" */
	int param;
	size_t bytes;
};

/* A scheduled kernel, and a program that calls it on arrays. */
struct tune_job {
	const struct tune_task *task;
	const struct record_decision *decisions;
	int n_decisions;
	const char *trace; /* the trace of the schedule's steps as JSON */
	/* All files to be written into a folder. The sources among them are
	 * compiled and linked with the runtime of the target's simulator. If
	 * the user's host program must launch the kernels of a device, the
	 * files contain no program that calls them, but FILE_launches.json. */
	VEC(struct tune_file) files;
	VEC(const char *) sources;
	bool has_caller;
	/* the arguments in arguments.txt after its first word, which is the
	 * number of calls */
	const char *arguments;
	VEC(struct tune_output) outputs;
	/* The program writes result_0.bin and so on for the first n_given
	 * arrays. */
	int n_given;
	/* the decisions that the rules made, for the search */
	struct choices choices;
};

/* Lists the workloads of the model's kernels in the order of execution. A
 * region of a backend has an obstacle. Returns false after a diagnostic. */
bool tune_list(struct tune_model *m, struct tune_tasks *out);
/* Fills the task's arrays with random numbers from the seed. Returns false if
 * the task has an obstacle, which it may set. */
bool tune_task_prepare(struct tune_model *m, struct tune_task *task,
		       uint64_t seed);
/* Schedules and lowers the task's kernel with the preferred decisions, and sets
 * *out. Returns NULL, or the reason of a failure; out->choices is set if the
 * schedule could be made. known(ctx, made) is called with the decisions that
 * were made; if it returns true, the job is not completed, and tune_job_make
 * returns "". */
const char *tune_job_make(struct tune_model *m, const struct tune_task *task,
			  const struct preference *preferred, int n,
			  bool (*known)(void *ctx, const struct choices *made),
			  void *ctx, struct tune_job *out);
/* Makes the job of a record: applies the record's trace to the kernel of
 * `task`. Returns what tune_job_make() returns, and fills in *out like it. */
const char *tune_job_of_record(struct tune_model *m,
			       const struct tune_task *task,
			       const struct record *r, struct tune_job *out);
/* Compares `got`, the elements that a candidate gave for the output o, with
 * those that the interpreter computed. Returns NULL if they are equal within
 * the tolerance, else a text about the difference. */
const char *tune_check(struct tune_model *m, const struct tune_task *task,
		       const struct tune_output *o, const void *got);

#endif
