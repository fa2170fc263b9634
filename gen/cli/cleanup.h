/* SPDX-License-Identifier: Apache-2.0 */
/* Removal of temporary files when the program ends, also by a signal. */
#ifndef TIRC_CLI_CLEANUP_H
#define TIRC_CLI_CLEANUP_H

/* At the start of the program, before any other thread: SIGHUP, SIGINT and
 * SIGTERM end child processes and clean up before they end the program; writing
 * to a closed pipe is an error. */
void cleanup_start(void);
/* The process's temporary folder, made by the first call; TMPDIR names it from
 * then on, so that child processes work there, too. NULL: reported. */
const char *cleanup_scratch(void);
/* A file or folder that the program writes, with half-written files beside or
 * in it (output_temporary). Borrowed until the end. */
void cleanup_watch_output(const char *path);
/* Removes the temporary folder and half-written files. */
void cleanup_now(void);
/* Does not return once a signal is ending the program: a child that the same
 * signal ended is no error. */
void cleanup_pause_if_interrupted(void);

#endif
