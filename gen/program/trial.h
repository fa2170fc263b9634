/* SPDX-License-Identifier: Apache-2.0 */
/* Trials of a program's functions: the interpreter runs a function, as it is
 * before any schedule, on random data. Its results are what the source of the
 * function has to compute.
 *
 * `values` has a number for each parameter of a function: the value of a
 * scalar; that of an array is not used. */
#ifndef TIRC_TRIAL_H
#define TIRC_TRIAL_H

#include "program.h"

/* The number of different sizes at which functions with scalars are tried. */
enum { TRIAL_SIZES = 5 };

/* Sets values[k] for each scalar parameter k of f (0 for arrays) in trial i <
 * TRIAL_SIZES: 1, a multiple of common tiles, or a number that no tile divides.
 * Floats get -3 to 3, bools 0 or 1. */
void trial_values(const struct func *f, int i, int64_t *values);

/* The shape of an array at the values. Vector elements have their lanes as a
 * last dimension. An array with strides has one dimension: all elements from
 * its first to its last. dims: room for *ndim + 1. False if a size is negative,
 * too large, or does not follow from the scalars. */
bool trial_shape(const struct func *f, int param, const int64_t *values,
		 int64_t *dims, int *ndim);
/* Sets *elems to the number of its elements. */
bool trial_elems(const struct func *f, int param, const int64_t *values,
		 int64_t *elems);

/* Runs f in the interpreter; data: the elements of each array. False after a
 * DIAG_INTERPRET. */
bool trial_run(struct func *f, const int64_t *values, void *const *data);

/* Fills in[i] of each array with random numbers, and want[i] with what f makes
 * of them. The numbers are such that f is defined for them: wide ranges are
 * tried first, then numbers that are valid as indices and divisors. False
 * after the DIAG_INTERPRET of the last ones. */
bool trial_make(struct func *f, const int64_t *values, uint64_t seed,
		void *const *in, void *const *want);

/* The float type of the least precision in which f computes; DT_VOID if it
 * computes no floats. */
enum dtype_kind trial_arithmetic(const struct func *f);

/* Why the function at this index cannot be tried ("problem; remedy"), or NULL.
 * why: the same of the functions before it, which it may call. */
const char *trial_obstacle(struct module *m, const struct program_result *list,
			   int at, const char *const *why);

/* Adds to m what the interpreter needs to run the functions of the list: the
 * functions that they call, and for each external function whose meaning the
 * program declares (te.decl_tensor_intrin) one that computes it. text: of
 * program_source, called before, so that it declares these; gets a source that
 * defines them. False after a diagnostic: also if the source calls a function
 * that has no definition, since nobody but the program's author knows it. */
bool trial_definitions(struct module *m, const struct program_result *list,
		       const struct program_options *o, const char *target,
		       struct program_sources *text);

/* The text of arguments.txt for a call of the number-th function of the
 * sources, which has scratch memory after the parameters of `plain`; see
 * emit_program_caller. */
const char *trial_arguments(const struct func *plain, const struct func *source,
			    int number, const int64_t *values);

#endif
