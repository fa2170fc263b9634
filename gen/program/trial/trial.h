/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a program's functions: the interpreter runs a function, as it is
 * before any schedule, on random data. The function's source must compute the
 * same results.
 *
 * The parameter `values` has a number for each parameter of the function: the
 * value of a scalar; the number of an array is not used. */
#ifndef TIRC_TRIAL_H
#define TIRC_TRIAL_H

#include "program.h"

/* The number of sizes at which a function with scalars is tested. */
enum { TRIAL_SIZES = 5 };

/* Sets values[k] for each scalar parameter k of f (0 for arrays) in test i <
 * TRIAL_SIZES: 1, a multiple of common tiles, or a number that no tile divides.
 * A float is -3 to 3, a bool 0 or 1. */
void trial_values(const struct func *f, int i, int64_t *values);

/* The same for a run that is timed: integers are TIMED_SIZE. */
enum { TIMED_SIZE = 256 };
void trial_timed_values(const struct func *f, int64_t *values);

/* Sets *ndim and dims to the shape of an array of f at the values. If the
 * elements are vectors, the last dimension is that of their lanes. An array with
 * strides has one dimension: all elements from the first to the last one. dims
 * has room for two dimensions more than the buffer has. False if a size is
 * negative, too large, or does not follow from the scalars. */
bool trial_shape(const struct func *f, int param, const int64_t *values,
		 int64_t *dims, int *ndim);
/* Sets *elems to the number of elements of an array with this shape. False as
 * trial_shape. */
bool trial_elems(const struct func *f, int param, const int64_t *values,
		 int64_t *elems);

/* The values of f's integers, as expressions in m. */
struct var_map trial_map(struct module *m, const struct func *f,
			 const int64_t *values);

/* The statements that one run in the interpreter may take: some minutes. */
#define TRIAL_STEPS INT64_C(3000000000)

/* Runs f in the interpreter; data[i]: the elements of array i, which f
 * changes. False after a DIAG_INTERPRET. */
bool trial_run(struct func *f, const int64_t *values, void *const *data);

/* Fills in[i], for each array i, with random numbers, and want[i] with the
 * elements that the array has after f has run on these. Tries ranges of random
 * numbers until f is defined: wide ranges first, then numbers that are valid as
 * indices and divisors. False after the DIAG_INTERPRET of the last range. */
bool trial_make(struct func *f, const int64_t *values, uint64_t seed,
		void *const *in, void *const *want);

/* Fills in[i], for each array i, with random numbers for which f is defined. Runs
 * f in the interpreter only if that depends on the numbers. False after the
 * DIAG_INTERPRET of trial_make. */
bool trial_fill(struct func *f, const int64_t *values, uint64_t seed,
		void *const *in);

/* Runs function `at` of a program's source in the interpreter, as it is printed,
 * on copies of the arrays `in`, and checks each access: what the schedule and
 * the lowering have made of it, too. text: after trial_definitions. False after
 * a diagnostic. */
bool trial_check(struct module *m, const struct program_result *list,
		 const struct program_sources *text, int at,
		 const int64_t *values, void *const *in);
/* Sets the numbers of operations on floats and on integers that f, a function
 * before any schedule, does at the values. False if they are not known: it calls
 * other functions, or cannot be lowered. */
bool trial_operations(const struct func *f, const int64_t *values,
		      double *floats, double *ints);

/* Does f only add, multiply, compare and choose floats? Then the random numbers
 * of trial_fill are small whole ones, and sums of them are exact in any order. */
bool trial_is_exact(const struct func *f);
/* The float type of the least precision in which f computes; DT_VOID if f
 * computes no floats. */
enum dtype_kind trial_arithmetic(const struct func *f);

/* The reason why the function at this index of the list cannot be tested, as
 * "problem; remedy", or NULL. why[i]: the reason of function i, for each one
 * before this function, which may call it. */
const char *trial_obstacle(struct module *m, const struct program_result *list,
			   int at, const char *const *why);

/* Adds to m the functions that the interpreter calls when it runs the functions
 * of the list: functions of the program, and a definition of each external
 * function whose results the program declares (te.decl_tensor_intrin). text:
 * the result of program_source for the list, whose source declares the external
 * functions; text->definitions becomes a source that defines them. False after
 * a diagnostic; that the source calls an external function without a definition
 * is one. */
bool trial_definitions(struct module *m, const struct program_result *list,
		       const struct program_options *o, const char *target,
		       struct program_sources *text);

/* Adds to m a definition of each external function that f calls and the program
 * declares, for the interpreter. False after a diagnostic. */
bool trial_define_called(struct module *m, const struct program_result *list,
			 const struct func *f);

/* The text of arguments.txt (see emit_program_caller) for `calls` calls of
 * `source`, the function of this number in the program's source. Its parameters
 * are those of `plain`, the function before any schedule, then scratch memory. */
const char *trial_arguments(const struct func *plain, const struct func *source,
			    int calls, int number, const int64_t *values);

#endif
