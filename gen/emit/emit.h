/* SPDX-License-Identifier: Apache-2.0 */
/* Interface of the emitter: lowered functions, and the kernels and host
 * functions of tensor programs, as source text of a dialect. */
#ifndef TIRC_EMIT_H
#define TIRC_EMIT_H

#include "dialects.h"
#include "host_device.h"

/* The text of one function as its dialect spells it. */
bool emit_func(struct module *m, const struct dialect *d, const struct func *f,
	       struct strbuf *out);

/* A function of a tensor program. */
struct program_part {
	const struct func *func;         /* lowered; the host's, if split */
	const struct host_device *split; /* NULL: the function has no kernels */
	const char *schedule; /* for the comment: "split(i, …); …"; or NULL */
};

/* The files of a tensor program. */
struct program_text {
	const char *title;
	const char *stem; /* of the file names */
	const struct program_part *parts;
	int n;
	bool with_header; /* the source includes a header */
};

/* One source file with the functions in this order; a split function is its
 * kernels, plus its host function if the dialect has launches. */
bool emit_program(struct module *m, const struct dialect *d,
		  const struct program_text *p, struct strbuf *out);
/* The header: prototypes of the functions that a host calls. Appends nothing if
 * there are none. */
bool emit_program_header(struct module *m, const struct dialect *d,
			 const struct program_text *p, struct strbuf *out);
const char *emit_program_header_name(struct module *m, const struct dialect *d,
				     const char *stem);
/* The file's name in the dialect: "net.c" for "net". */
const char *emit_program_name(struct module *m, const struct dialect *d,
			      const char *stem);
/* The launches as JSON: extents of grid and block along x, y, z (numbers, or
 * expressions of the function's scalar arguments), and the arguments. */
bool emit_launches(struct module *m, const struct dialect *d,
		   const struct program_part *parts, int n, struct strbuf *out);

#endif
