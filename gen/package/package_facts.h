/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about a package in addition to its texts, for reports and other
 * descriptions of it. */
#ifndef TIRC_PACKAGE_FACTS_H
#define TIRC_PACKAGE_FACTS_H

#include "bounds.h"
#include "dialect.h"
#include "package.h"

/* The first and the last line of a kernel's functions with their comment. */
struct package_lines {
	/* NULL if the kernel shares the function of another kernel */
	const char *file;
	int first, last;
	int function; /* the line that defines the function */
};

struct package_lines package_kernel_lines(const struct package *pkg,
					  int kernel);
/* The name of weight i in the source. */
const char *package_weight_symbol(const struct package *pkg, int i);
/* The name of the pointer to a place in the workspace, or NULL. */
const char *package_pointer(const struct placement *at);
/* The functions of C's mathematical library that the source calls: "expf
 * sqrtf", or "none". */
const char *package_math_functions(const struct package *pkg);
/* Does the package have a table of kernels in place of an entry function
 * (--form graph)? */
bool package_is_table(const struct package *pkg);
/* Sets *out to the range of the constants that kernels pass for parameter b of
 * their function. Returns false if the range is unknown. */
bool package_range_of_parameter(const struct package *pkg,
				const struct buffer *b, struct bounds *out);
/* The work of a kernel as text (work_text). */
const char *package_work(const struct package *pkg,
			 const struct kernel *kernel);
/* The type, shape and layout of an argument that is an array: "f32
 * [1][64][56][56], at [c/16][h][w][c%16]". */
const char *package_array(const struct package *pkg,
			  const struct kernel_arg *arg);
/* The number of loops in helper functions. *longest: the largest number of
 * iterations of such a loop. */
int package_helper_loops(const struct package *pkg, int *longest);
/* The kernel that writes t; NULL if no kernel writes it. */
const struct kernel *package_writer(const struct package *pkg,
				    const struct tensor *t);
/* The alignment of the workspace in bytes. */
int64_t package_workspace_align(const struct package *pkg);

/* A place at which the source deviates from a rule of the dialect's standard. */
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
