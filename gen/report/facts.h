/* SPDX-License-Identifier: Apache-2.0 */
/* Private to report/: facts of the passes about the functions of a program, as
 * rows that every form of the report prints. */
#ifndef TIRC_FACTS_H
#define TIRC_FACTS_H

#include "access_ranges.h"
#include "formula.h"
#include "loop_bounds.h"
#include "package_facts.h"
#include "report.h"

/* The proof that an access is within its array. */
enum access_proof {
	/* the access is proven to be inside of the array for all values of the
	 * indices */
	ACCESS_PROVEN,
	/* an index of the access is a value that the kernel loads */
	ACCESS_BY_DATA,
	/* the access is the address of an element, for an instruction */
	ACCESS_ADDRESS,
	ACCESS_NOT_PROVEN
};

/* Accesses of an array with the same indices in the same ranges. */
struct access_row {
	const struct buffer *buffer;
	bool writes;
	const char *index;   /* "[oc][oh * 2 + kh - 1]" */
	const char *range;   /* "[0..15][0..7]" */
	const char *extents; /* "[16][8]" */
	enum access_proof proof;
	int count;
};

/* A local array of integers in which a kernel sums. */
struct sum_row {
	const struct buffer *buffer;
	struct bounds range;
	bool is_proven; /* false: the range is only that of the type */
};

struct func_facts {
	const struct func *func;
	VEC(struct access_row) accesses;
	VEC(struct sum_row) sums;
	struct loop_bounds loops;
	/* the bytes of all local arrays that are live at the same time, at
	 * most */
	int64_t stack_bytes;
};

/* The facts of a function of the package, in the module's arena. */
struct func_facts *func_facts_of(const struct report_request *r,
				 const struct func *f);

#endif
