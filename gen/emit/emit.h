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

/* One function of a tensor program, with the kernels into which it was
 * split. */
struct program_part {
	/* the lowered function; of a split one, the host function */
	const struct func *func;
	/* the kernels of the function, which is split into host and device
	 * code; NULL: it has no kernels */
	const struct host_device *split;
	const char *schedule; /* for a comment: "split(i, …); …", or NULL */
	int n_params; /* the number of the program's own parameters; scratch
		       * memory follows them */
};

/* A tensor program to emit: its functions, and how they are emitted. */
struct program_text {
	const char *origin; /* "from matmul.py, tirc 0.1.0, target …" */
	const char *stem;   /* the common part of the files' names, without
			     * suffix */
	/* the flags for which the source is made: cflags of the compiler,
	 * device_cflags of the device compiler (NULL if there is no device
	 * compiler) */
	const char *cflags, *device_cflags;
	const struct program_part *parts;
	int n;
	bool with_header; /* the source includes the header */
	bool no_lanes;    /* the target has no vector registers */
	bool on_board;    /* the caller runs on a simulated board */
	/* How functions are named that the source calls but does not define.
	 * NULL: as in the program, and a note about each function says that the
	 * user must link it. Else each name gets this prefix: the caller
	 * defines the functions, and a library's function of the same name
	 * cannot take the place of one. */
	const char *external_prefix;
};

/* The needs of a source that the build must satisfy: the compiler needs flags
 * for the instructions in relied_on, the linker the functions in externals. */
struct program_needs {
	/* the instructions without which the source is slow, as macros */
	VEC(const struct requirement *) relied_on;
	/* names of the functions that the source declares and does not
	 * define */
	VEC(const char *) externals;
};

/* Appends one source file with the functions in the given order: of a split
 * function the kernels, and the host function if the dialect can launch
 * kernels. Adds the needs of the source to *needs, which may be NULL. False
 * after a diagnostic. */
bool emit_program(struct module *m, const struct dialect *d,
		  const struct program_text *p, struct strbuf *out,
		  struct program_needs *needs);
/* Appends a program that calls one of the functions, none of which may be
 * split, with data from raw files. In arguments.txt are the number of calls,
 * the number of the function, then for each parameter the value of a scalar or
 * the bytes of an array. If parameter i is an array and not scratch memory, the
 * array is read from array_i.bin, has these elements before each call, and is
 * written to result_i.bin. times.txt gets the time of each call in nanoseconds;
 * on a board, its number of instructions. */
bool emit_program_caller(struct module *m, const struct dialect *d,
			 const struct program_text *p, struct strbuf *out);
/* Appends the text of the header: the prototypes of the functions that a host
 * calls, with comments about their arrays. Appends nothing if a host calls no
 * function. */
bool emit_program_header(struct module *m, const struct dialect *d,
			 const struct program_text *p, struct strbuf *out);
/* The size of an array in bytes, as a number or an expression of sizes: "n *
 * 256". */
const char *program_bytes(struct module *m, const struct buffer *b);
/* The name of the header in the dialect: "net.h" for the stem "net". */
const char *emit_program_header_name(struct module *m, const struct dialect *d,
				     const char *stem);
/* The name of the source file in the dialect: "net.c" for the stem "net". */
const char *emit_program_name(struct module *m, const struct dialect *d,
			      const char *stem);
/* Appends the launches of all kernels as JSON: their arguments, and the extents
 * of grid and block along x, y, z, as numbers or as expressions of the
 * function's scalar arguments. False after a diagnostic. */
bool emit_launches(struct module *m, const struct dialect *d,
		   const struct program_part *parts, int n, struct strbuf *out);

#endif
