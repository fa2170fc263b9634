/* SPDX-License-Identifier: Apache-2.0 */
/* Removes temporary files when the program ends, even if a signal ends it. */
#ifndef TIRC_CLEANUP_H
#define TIRC_CLEANUP_H

#include <stdbool.h>

/* Call at the start of the program, before any other thread starts. After that,
 * SIGHUP, SIGINT and SIGTERM end the child processes and clean up before they
 * end the program, and writing to a closed pipe is an error. */
void cleanup_start(void);
/* The path of the temporary folder of this process. The first call makes the
 * folder and sets TMPDIR to it, so that child processes use it, too. Returns
 * NULL after an error message. */
const char *cleanup_scratch(void);
/* Registers the file or folder that the program writes. When the program ends,
 * half-written files (output_temporary) beside it or in it are removed. Keeps
 * the pointer. */
void cleanup_watch_output(const char *path);
/* Removes the temporary folder and half-written files. */
void cleanup_now(void);
/* After this call, the first SIGINT or SIGTERM ends only the child processes,
 * and the program goes on: it must ask cleanup_was_stopped() and then end its
 * work early. A second signal ends the program. */
void cleanup_stop_first(void);
bool cleanup_was_stopped(void);
/* If a signal has stopped the program (cleanup_stop_first), cleans up and ends
 * the program by the same signal; else returns. */
void cleanup_end_if_stopped(void);
/* Returns at once, unless a signal is ending the program; then it never
 * returns. Called after a child process has ended, so that a child that the
 * same signal ended is not reported as an error. */
void cleanup_pause_if_interrupted(void);

#endif
