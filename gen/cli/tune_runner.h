/* SPDX-License-Identifier: Apache-2.0 */
/* Runners of tirc tune: a runner measures the jobs of the tuner. */
#ifndef TIRC_TUNE_RUNNER_H
#define TIRC_TUNE_RUNNER_H

#include "harness.h"
#include "tune.h"

/* Each function makes a runner for the model of h, which must outlive it. */

/* tune_local.c: compiles each job in a folder of the harness and runs it on
 * this machine, pinned to a core, or on the target's simulator. */
struct tune_runner tune_runner_local(struct harness *h);
/* tune_command.c: writes each job and its description into a folder and has the
 * user's program `command` measure it. ctx is NULL after an error message. */
struct tune_runner tune_runner_command(struct harness *h, const char *command);
/* tune_replay.c: takes the measurements from a file of records. ctx is NULL
 * after an error message. */
struct tune_runner tune_runner_replay(struct harness *h, const char *file);

/* tune_queue.c: the workers of a queue measure the jobs. word: the argument of
 * --runner; NULL; or "replay" if the workers take measurements from records, so
 * that their answers have no results of kernels. The runner's ctx is NULL after
 * an error message. */
struct tune_runner tune_runner_queue(struct harness *h, const char *url,
				     const char *word);

/* tune_folder.c */
/* Writes the files of a job into a new folder of the harness, with
 * arguments.txt for this number of calls. Returns NULL after an error message. */
const char *tune_folder(struct harness *h, const struct tune_job *job,
			long calls);
/* tune_write writes a file into the folder, tune_write_arguments the file
 * arguments.txt. They return false after an error message. */
bool tune_write(const char *folder, const char *name, const void *data,
		size_t bytes);
bool tune_write_arguments(const struct tune_job *job, const char *folder,
			  long calls);
/* Reads the arrays that the program of a job wrote. Returns NULL, or the reason
 * of a failure. */
const char *tune_read_outputs(struct arena *a, const struct tune_job *job,
			      const char *folder, const void *const **out);
/* The command that compiles and links the job in its folder. */
struct command tune_compile_command(struct harness *h,
				    const struct tune_job *job);
/* tune_machine returns the name of this machine's processor, tune_compiler the
 * first line of the compiler's version with its flags. */
const char *tune_machine(struct arena *a);
const char *tune_compiler(struct harness *h);

/* cmd_tune.c: makes the runner that the argument `word` of --runner names.
 * Returns false after an error message. */
bool tune_runner_open(struct harness *h, const char *word,
		      struct tune_runner *out);

#endif
