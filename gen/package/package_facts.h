/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a package beside its texts, for programs that describe it. */
#ifndef TIRC_PACKAGE_FACTS_H
#define TIRC_PACKAGE_FACTS_H

#include "bounds.h"
#include "dialect.h"
#include "package.h"

/* The lines of a kernel's functions with their comment, both ends included. */
struct package_lines {
	const char
		*file; /* NULL if the kernel's function is another kernel's */
	int first, last;
	int function; /* the line that defines the function */
};

struct package_lines package_kernel_lines(const struct package *pkg,
					  int kernel);
/* The name of weight i in the source. */
const char *package_weight_symbol(const struct package *pkg, int i);
/* The name of the pointer to a place in the workspace; NULL if there is none. */
const char *package_pointer(const struct placement *at);
/* The functions of C's mathematical library that the source calls: "expf
 * sqrtf", or "none". */
const char *package_math_functions(const struct package *pkg);
/* Has it a table of kernels instead of an entry function (--form graph)? */
bool package_is_table(const struct package *pkg);
/* Sets *out to the range of the constants that kernels pass for parameter b of
 * their function; false if it is not known. */
bool package_range_of_parameter(const struct package *pkg,
				const struct buffer *b, struct bounds *out);
/* The work of a kernel in words. */
const char *package_work(const struct package *pkg,
			 const struct kernel *kernel);
/* Type, shape and layout of the array that the argument is: "f32
 * [1][64][56][56], at [c/16][h][w][c%16]". */
const char *package_array(const struct package *pkg,
			  const struct kernel_arg *arg);
/* The number of loops in helper functions, and the most iterations of one. */
int package_helper_loops(const struct package *pkg, int *longest);
/* The kernel that writes t; NULL if none does. */
const struct kernel *package_writer(const struct package *pkg,
				    const struct tensor *t);
/* The alignment of the workspace in bytes. */
int64_t package_workspace_align(const struct package *pkg);

/* Where a deviation from a rule of the dialect's standard occurs. */
struct deviation_place {
	const char *file;
	int line;
};

struct deviation_places {
	VEC(struct deviation_place) list;
};

struct deviation_places package_deviation(const struct package *pkg,
					  const struct deviation *d);

#endif
