/* SPDX-License-Identifier: Apache-2.0 */
/* Finds accesses of a program's source that are inside of their arrays only if
 * floats are rounded in a certain way. */
#ifndef TIRC_FLOAT_CHECKS_H
#define TIRC_FLOAT_CHECKS_H

#include "func.h"

struct run_callee; /* interp.h */

/* A function of a source, and what it may call. */
struct float_check {
	const struct run_callee *callees; /* the function, too */
	int n_callees, first;             /* first: the function's index */
	struct var_map values;            /* of its scalar parameters */
	/* by parameter of the function: has the array that it gets fewer
	 * elements than its shape says? */
	const bool *is_short;
	/* The proof is wanted of every access of the function, not only of
	 * those that depend on floats; then there are no other callees. */
	bool all;
	/* of messages */
	const char *file;
	int line, col;
	const char *ending;
};

/* False after an error, if an access of the function, or of a function that it
 * calls, has an index, or is guarded by a condition, that depends on floats, and
 * is not proven to be inside of its array. All other accesses are, for the same
 * arrays, the same in the interpreter and in the compiled source. */
bool program_check_floats(struct module *m, const struct float_check *of);
/* False after an error, if an access of the lowered function is not proven to be
 * inside of its array for all values of its arrays and scalars, or if the
 * function gives an array to another one. */
bool program_prove_indices(const struct func *f, const char *file);

#endif
