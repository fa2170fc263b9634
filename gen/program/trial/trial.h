/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a program's functions: the interpreter runs a function, in the form
 * before any schedule, on random data. The function's source must compute the
 * same results.
 *
 * The parameter `values` of these functions has a number for each parameter of
 * f: the value of a scalar; the number for an array is not used. */
#ifndef TIRC_TRIAL_H
#define TIRC_TRIAL_H

#include "program.h"

/* A function with scalars is tested at this many sets of values. */
enum { TRIAL_SIZES = 5 };

/* Sets values[k] for each scalar parameter k of f (0 for arrays) in test i <
 * TRIAL_SIZES. Values are 1, multiples of common tiles, and numbers that no
 * tile divides. A float is from -3 to 3, a bool 0 or 1. */
void trial_values(const struct func *f, int i, int64_t *values);

/* trial_timed_values() does the same for a run that is timed: integers are
 * TIMED_SIZE. */
enum { TIMED_SIZE = 256 };
void trial_timed_values(const struct func *f, int64_t *values);

/* Sets *ndim and dims to the shape of an array parameter of f at these values.
 * If the elements are vectors, their lanes are a further last dimension. An
 * array with strides has one dimension, with all elements from the first to the
 * last one. dims has room for two dimensions more than the buffer has. Returns
 * false if a size is negative, too large, or does not follow from the scalars. */
bool trial_shape(const struct func *f, int param, const int64_t *values,
		 int64_t *dims, int *ndim);
/* Sets *elems to the number of elements of array parameter `param`, whose shape
 * trial_shape() gives. Returns false if trial_shape() does. */
bool trial_elems(const struct func *f, int param, const int64_t *values,
		 int64_t *elems);

/* A map from f's integer parameters to their values as expressions in m. */
struct var_map trial_map(struct module *m, const struct func *f,
			 const int64_t *values);

/* The number of statements that one run in the interpreter may take; so many
 * take some minutes. */
#define TRIAL_STEPS INT64_C(3000000000)

/* The number of statements that a run executes between two messages about its
 * progress. */
#define TRIAL_PART INT64_C(1000000)

struct run_steps; /* interp.h */

/* A function that a run in the interpreter calls from time to time to tell its
 * progress: taken is the number of statements that it has run so far. */
struct trial_watch {
	void (*tell)(void *ctx, int64_t taken);
	void *ctx;
};

/* The steps of a run that may take TRIAL_STEPS; watch may be NULL, as in all that
 * follows. */
struct run_steps trial_run_steps(const struct trial_watch *watch);

/* Runs f in the interpreter. data[i]: the elements of array i, which f may
 * change. Returns false after a diagnostic DIAG_INTERPRET. */
bool trial_run(struct func *f, const int64_t *values, void *const *data,
	       const struct trial_watch *watch);

/* Fills in[i], for each array i, with random numbers, and want[i] with the
 * elements that the array has after f has run on them. Tries ranges of random
 * numbers until f is defined: wide ranges first, then numbers that are valid as
 * indices and divisors. Returns false after a DIAG_INTERPRET if f is not
 * defined even for the last range. */
bool trial_make(struct func *f, const int64_t *values, uint64_t seed,
		void *const *in, void *const *want,
		const struct trial_watch *watch);

/* Fills in[i], for each array i, with random numbers for which f is defined.
 * Runs f in the interpreter only if it depends on the numbers whether f is
 * defined. Returns false after DIAG_INTERPRET, as trial_make() does. */
bool trial_fill(struct func *f, const int64_t *values, uint64_t seed,
		void *const *in, const struct trial_watch *watch);

/* Runs function `at` of a program's source in the interpreter, in the form in
 * which it is printed, on copies of the arrays `in`, and checks each access.
 * This also checks what schedule and lowering have done. text: after
 * trial_definitions(). Returns false after a diagnostic. */
bool trial_check(struct module *m, const struct program_result *list,
		 const struct program_sources *text, int at,
		 const int64_t *values, void *const *in,
		 const struct trial_watch *watch);

/* Sets *floats and *ints to the numbers of operations on floats and on integers
 * that f, in the form before any schedule, executes at these values. Returns
 * false if they are unknown, because f calls other functions or cannot be
 * lowered. */
bool trial_operations(const struct func *f, const int64_t *values,
		      double *floats, double *ints);

/* Does f only add, multiply, compare and choose floats? Then the random numbers
 * of trial_fill() are small whole numbers, whose sums are exact in any order. */
bool trial_is_exact(const struct func *f);
/* The least precise float type in which f computes; DT_VOID if f does not
 * compute with floats. */
enum dtype_kind trial_arithmetic(const struct func *f);

/* The reason why the function at this index of the list cannot be tested, as
 * "problem; remedy", or NULL. why[i]: the reason of each function i before it,
 * which it may call. */
const char *trial_obstacle(struct module *m, const struct program_result *list,
			   int at, const char *const *why);

/* Adds to m the functions that the interpreter needs to run the functions of
 * the list: the program's functions, and a definition of each external function
 * for which the program declares a computation (te.decl_tensor_intrin). text:
 * the result of program_source() for the list; its source declares the external
 * functions, and text->definitions becomes a source that defines them. Returns
 * false after a diagnostic; a call in the source of an external function
 * without a definition is an error. */
bool trial_definitions(struct module *m, const struct program_result *list,
		       const struct program_options *o, const char *target,
		       struct program_sources *text);

/* Adds to m a definition of each external function that f calls and for which
 * the program declares a computation, so that the interpreter can run f.
 * Returns false after a diagnostic. */
bool trial_define_called(struct module *m, const struct program_result *list,
			 const struct func *f);

/* The text of arguments.txt (emit_program_caller) for `calls` calls of
 * `source`, the function with index `number` in the program's source. Its
 * parameters are those of `plain`, the function before any schedule, followed
 * by scratch memory. values: the values of the scalars. */
const char *trial_arguments(const struct func *plain, const struct func *source,
			    int calls, int number, const int64_t *values);

#endif
