/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of schedule primitives: see schedules/README.md. */
#ifndef SCHEDULES_H
#define SCHEDULES_H

#include "trace.h"

struct schedule_case {
	const char *path;      /* of its file */
	const char *primitive; /* from the title */
	const char *title;     /* what it shows */
	const char *intrinsic; /* the script of "own", or NULL */
	const char *before, *steps;
	const char *after, *refused; /* NULL: no such section */
	const char *not_run;         /* the reason; NULL: it is run */
	const char *python, *json;   /* the trace; not part of the file */
};

struct schedule_cases {
	VEC(struct schedule_case) list;
};

/* The text of docs/reference/schedules.md. */
void schedules_docs(struct arena *a, const struct schedule_cases *cases,
		    struct strbuf *out);

#endif
