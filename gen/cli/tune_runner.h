/* SPDX-License-Identifier: Apache-2.0 */
/* Runners of `tirc tune`: what measures the jobs of the tuner. */
#ifndef TIRC_TUNE_RUNNER_H
#define TIRC_TUNE_RUNNER_H

#include "harness.h"
#include "tune.h"

/* Each function makes a runner for the model of h, which must outlive it. */

/* tune_local.c: compiles jobs in folders of the harness and runs them here, or on
 * the target's simulator, pinned to a core. */
struct tune_runner tune_runner_local(struct harness *h);
/* tune_command.c: writes each job with a description into a folder, and asks the
 * program of the user, `command` in words. NULL ctx after an error message. */
struct tune_runner tune_runner_command(struct harness *h, const char *command);
/* tune_replay.c: answers from a file of records. NULL ctx after an error
 * message. */
struct tune_runner tune_runner_replay(struct harness *h, const char *file);

/* tune_queue.c: asks the workers of a queue. word: that of --runner: NULL, or
 * "replay" for workers that replay records, whose answers have no results. NULL
 * ctx after an error message. */
struct tune_runner tune_runner_queue(struct harness *h, const char *url,
				     const char *word);

/* tune_folder.c */
/* Writes the files of a job and arguments.txt for so many calls into a new folder
 * of the harness. NULL after an error message. */
const char *tune_folder(struct harness *h, const struct tune_job *job,
			long calls);
/* Writes a file of the folder. False after an error message. */
bool tune_write(const char *folder, const char *name, const void *data,
		size_t bytes);
bool tune_write_arguments(const struct tune_job *job, const char *folder,
			  long calls);
/* Reads the arrays that the program wrote. NULL, or why that fails. */
const char *tune_read_outputs(struct arena *a, const struct tune_job *job,
			      const char *folder, const void *const **out);
/* The command that compiles and links the job in its folder. */
struct command tune_compile_command(struct harness *h,
				    const struct tune_job *job);
/* The model of this machine's processor, and the first line of the compiler's
 * version with the flags. */
const char *tune_machine(struct arena *a);
const char *tune_compiler(struct harness *h);

/* cmd_tune.c: makes a runner from the word of --runner. */
bool tune_runner_open(struct harness *h, const char *word,
		      struct tune_runner *out);

#endif
