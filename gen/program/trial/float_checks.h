/* SPDX-License-Identifier: Apache-2.0 */
/* Finds accesses of a program's source that are inside of their arrays only if
 * floats are rounded in a certain way. */
#ifndef TIRC_FLOAT_CHECKS_H
#define TIRC_FLOAT_CHECKS_H

#include "func.h"

struct run_callee; /* interp.h */

/* A function of a source to be checked, and the functions that it may call. */
struct float_check {
	/* all functions that may be called, with the checked one among them */
	const struct run_callee *callees;
	/* first: the index of the checked function */
	int n_callees, first;
	/* the values of the function's scalar parameters */
	struct var_map values;
	/* for each parameter: does its array have fewer elements than its shape
	 * says? */
	const bool *is_short;
	/* If set, every access of the function must be proven, not only those
	 * that depend on floats. Then the function must not call other
	 * functions. */
	bool all;
	/* for messages */
	const char *file;
	int line, col;
	const char *ending;
};

/* Returns false after an error unless these accesses of the function and of the
 * functions that it calls are proven to be inside of their arrays: those whose
 * index depends on floats, or that are guarded by a condition which does. All
 * other accesses are the same in the interpreter and in the compiled source. */
bool program_check_floats(struct module *m, const struct float_check *of);
/* Returns false after an error unless each access of the lowered function is
 * proven to be inside of its array for all values of arrays and scalars. It is
 * also an error if the function passes an array to another function. */
bool program_prove_indices(const struct func *f, const char *file);

#endif
