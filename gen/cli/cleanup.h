/* SPDX-License-Identifier: Apache-2.0 */
/* Removal of temporary files when the program ends, also by a signal. */
#ifndef TIRC_CLEANUP_H
#define TIRC_CLEANUP_H

#include <stdbool.h>

/* Call at the start of the program, before any other thread starts. After that,
 * SIGHUP, SIGINT and SIGTERM end the child processes and clean up before they
 * end the program, and writing to a closed pipe is an error. */
void cleanup_start(void);
/* The path of the temporary folder of this process; the first call makes it and
 * sets TMPDIR, so that child processes use it, too. NULL after an error
 * message. */
const char *cleanup_scratch(void);
/* Registers a file or folder that the program writes: the half-written files
 * beside or in it (output_temporary) are removed at the end. Keeps the
 * pointer. */
void cleanup_watch_output(const char *path);
/* Removes the temporary folder and half-written files. */
void cleanup_now(void);
/* From now on the first SIGINT or SIGTERM ends the child processes, but not the
 * program, which asks cleanup_was_stopped() and ends its work. The second signal
 * ends the program as any other signal does. */
void cleanup_stop_first(void);
bool cleanup_was_stopped(void);
/* Ends the program as the signal that stopped it would have; returns if there was
 * none. */
void cleanup_end_if_stopped(void);
/* Returns at once, unless a signal is ending the program: then it never
 * returns. So a child that the same signal has ended is not reported as an
 * error. */
void cleanup_pause_if_interrupted(void);

#endif
