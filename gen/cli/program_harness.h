/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the source of a tensor program with a program that calls its functions
 * on raw files, and executes that, for run and test. */
#ifndef TIRC_PROGRAM_HARNESS_H
#define TIRC_PROGRAM_HARNESS_H

#include "harness.h"

/* Calls of a function with the same arguments; the run_ctx of the harness. */
struct call {
	int function, run;
	int calls;
	struct tirc_function of;
	const char *where; /* "row_squares(n=33)" */
};

/* Writes the sources of the program's functions into the folder. Adds to *told
 * the number of messages that are printed. False after a message. */
bool program_open(struct harness *h, struct cli *c,
		  const struct tirc_program_options *o, int *told);
/* Builds the program that calls the functions. Only after tirc_function_check of
 * each call that it will run. */
bool program_compile(struct harness *h);
struct call call_of(struct harness *h, int function, int run, int calls);
/* An array of zeros for parameter i. */
struct array call_array(struct harness *h, const struct call *call, int i);
/* Calls the built function. inputs: the arrays of its given parameters, in their
 * order. results: the arrays among these that the function writes, or NULL. */
bool call_run(struct harness *h, const struct array *inputs,
	      struct array *results);
/* Are the arrays of the run within the limit of bytes (--max-output)? False
 * after a message of h. */
bool call_within_limit(struct harness *h, const struct call *call);

#endif
