/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: files in the subset of Python that tensor programs use, evaluated
 * with built-in modules te, topi and tir. The program's output goes to a
 * callback. Time and memory are bounded for every file. */
#ifndef TIRC_PROGRAM_H
#define TIRC_PROGRAM_H

#include "python.h"
#include "schedule.h"

struct program_options {
	enum script_version script; /* of scripts that the program prints */
	const char *dialect_path;
	/* of names that the program does not give; NULL: the file's */
	const char *stem;
	const char *target; /* NULL: as the program says */
	const char *fp;     /* the mode of --fp; NULL: default */
	int64_t max_steps;  /* 0: the default limit */
	int64_t max_bytes;  /* 0: plenty */
	void (*print)(void *ctx, const char *text, size_t length);
	void *ctx;
	const struct pass_hooks *hooks; /* of the lowering; NULL: none */
};

enum program_stage {
	PROGRAM_WRITTEN,   /* a function or module bound at the top level */
	PROGRAM_CREATED,   /* te.create_prim_func */
	PROGRAM_SCHEDULED, /* a tir.Schedule, as it was in the end */
	PROGRAM_LOWERED,   /* tvm.lower */
	PROGRAM_BUILT      /* tvm.build */
};

/* A function that the program made, as it is (phase 0 or lowered). */
struct program_func {
	enum program_stage stage;
	struct func *func;
	struct func *plain; /* the same before any schedule; NULL: none such */
	struct func *scheduled; /* LOWERED, BUILT: as it was before that */
	const char *target;   /* that it was built for; NULL: none was named */
	const char *schedule; /* "split(i, [None, 32])…": for the comment */
	struct tensor_intrins *intrins; /* the intrinsics of its calls */
	bool named;                     /* the program gave it its name */
};

struct program_result {
	const char *file;               /* the program's, for messages */
	VEC(struct program_func) funcs; /* in the order they came to be */
	bool printed;
	int64_t printed_bytes;
	/* declared by the program, and calls of external functions */
	struct tensor_intrins *intrins;
};

/* Runs a program. False after one error with position. */
bool program_run(struct module *m, const struct source *src,
		 const struct program_options *o, struct program_result *out);

/* Lowers f up to and including the phase (0: not at all; 3: all). simple:
 * without the passes that unroll and partition loops. hooks may be NULL. */
bool program_lower(struct func *f, int phase, bool simple,
		   const struct pass_hooks *hooks);

/* The source of functions. Lowers functions that are not lowered yet. */
struct program_sources {
	bool with_header; /* the source includes a header */
	const char *source_name, *source;
	const char *header_name, *header; /* header NULL: nothing to declare */
	/* as emitted, one per function of the list; arrays too large for the
	 * stack are additional parameters at the end */
	const struct func **funcs;
	/* How the kernels are launched, as JSON; NULL: there are none. */
	const char *launches_name, *launches;
};

/* target NULL: the default one. */
bool program_source(struct module *m, const struct program_result *list,
		    const struct program_options *o, const char *target,
		    struct program_sources *out);

#endif
