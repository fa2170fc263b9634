/* SPDX-License-Identifier: Apache-2.0 */
/* The emitter: prints lowered functions, and the kernels and host functions of
 * tensor programs, as source text in a dialect. */
#ifndef TIRC_EMIT_H
#define TIRC_EMIT_H

#include "dialects.h"
#include "host_device.h"

/* Appends the text of one function. False after a diagnostic. */
bool emit_func(struct module *m, const struct dialect *d, const struct func *f,
	       struct strbuf *out);

/* A function of a tensor program. */
struct program_part {
	/* the lowered function; of a split one, the host function */
	const struct func *func;
	const struct host_device *split; /* its kernels; NULL if it has none */
	const char *schedule; /* for a comment: "split(i, …); …", or NULL */
	int n_params; /* the parameters of the program; scratch memory follows */
};

/* The files of a tensor program. */
struct program_text {
	const char *title;
	const char *stem; /* of the files' names, without suffix */
	const struct program_part *parts;
	int n;
	bool with_header; /* the source includes the header */
	bool no_lanes;    /* the target has no vector registers */
	/* NULL: the source calls functions that it only declares by the names
	 * in the program, with a note for each. Else it calls them by this
	 * prefix and their names: the caller defines them, and no definition
	 * takes the place of a library's function. */
	const char *external_prefix;
};

/* What a compiler and a linker need for a source. */
struct program_needs {
	/* the instructions without which the source is slow */
	VEC(const struct requirement *) relied_on;
	VEC(const char *)
	externals; /* functions that the source only
				      * declares */
};

/* Appends one source file with the functions in the given order. Of a split
 * function it contains the kernels, and the host function if the dialect can
 * launch kernels. needs may be NULL. */
bool emit_program(struct module *m, const struct dialect *d,
		  const struct program_text *p, struct strbuf *out,
		  struct program_needs *needs);
/* Appends a program that calls one of the functions, none of which is split, on
 * raw files. In arguments.txt is the number of the function, then for each
 * parameter the value of a scalar or the bytes of an array. Of the program's
 * own parameters the array at position i is read from array_i.bin and written
 * to result_i.bin. */
bool emit_program_caller(struct module *m, const struct dialect *d,
			 const struct program_text *p, struct strbuf *out);
/* Appends the header: the prototypes of the functions that a host calls.
 * Appends nothing if there are none. */
bool emit_program_header(struct module *m, const struct dialect *d,
			 const struct program_text *p, struct strbuf *out);
/* The name of the header in the dialect: "net.h" for the stem "net". */
const char *emit_program_header_name(struct module *m, const struct dialect *d,
				     const char *stem);
/* The name of the source file in the dialect: "net.c" for the stem "net". */
const char *emit_program_name(struct module *m, const struct dialect *d,
			      const char *stem);
/* The launches as JSON: their arguments, and the extents of grid and block
 * along x, y, z, as numbers or as expressions of the function's scalar
 * arguments. */
bool emit_launches(struct module *m, const struct dialect *d,
		   const struct program_part *parts, int n, struct strbuf *out);

#endif
