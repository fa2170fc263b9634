/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the source of a tensor program together with a main program that calls
 * its functions on raw files, and runs it, for tirc run and tirc test. */
#ifndef TIRC_PROGRAM_HARNESS_H
#define TIRC_PROGRAM_HARNESS_H

#include "harness.h"

/* Repeated calls of a function with the same arguments. The harness gets it as
 * its run_ctx. */
struct call {
	int function, run;
	int calls;
	struct tirc_function of;
	const char *where; /* the text "row_squares(n=33)" for messages */
};

/* Writes the sources of the program's functions into the folder. Adds the
 * number of printed messages to *told. Returns false after an error message. */
bool program_open(struct harness *h, struct cli *c,
		  const struct tirc_program_options *o, int *told);
/* Builds the program that calls the functions. The caller has checked each call
 * that it will run with tirc_function_check(). */
bool program_compile(struct harness *h);
struct call call_of(struct harness *h, int function, int run, int calls);
/* An array of zeros for parameter i. */
struct array call_array(struct harness *h, const struct call *call, int i);
/* Runs the built program, which calls the function. inputs: an array for each
 * given parameter that is an array, in their order. results: gets the arrays
 * that the function writes, or NULL to drop them. */
bool call_run(struct harness *h, const struct array *inputs,
	      struct array *results);
/* If the interpreter takes more than some seconds for the run of the call, tells
 * how much it does, unless quiet. */
void call_note_work(const struct harness *h, const struct call *call);
/* Are the arrays of the run together within the limit of --max-output? Returns
 * false after a message of h otherwise. */
bool call_within_limit(struct harness *h, const struct call *call);

#endif
