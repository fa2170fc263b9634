/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: files in the subset of Python that tensor programs use, run here
 * with our own te, topi and tir. Nothing is printed: what the program prints
 * goes to a callback. Time and memory are bounded, whatever the file says. */
#ifndef TIRC_PROGRAM_H
#define TIRC_PROGRAM_H

#include "python.h"
#include "schedule.h"

struct program_options {
	enum script_version script; /* of what the program prints */
	const char *dialect_path;
	const char *stem;   /* of names that the program leaves open;
				      * NULL: the file's */
	const char *target; /* NULL: as the program says */
	const char *fp;     /* the mode of --fp; NULL: default */
	int64_t max_steps;  /* 0: as many as a person would wait for */
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
	struct tensor_intrins *intrins; /* that its calls belong to */
	bool named;                     /* the program gave it its name */
};

struct program_result {
	VEC(struct program_func) funcs; /* in the order they came to be */
	bool printed;
	struct tensor_intrins *intrins; /* declared by the program, and the
					 * calls of outside functions */
};

/* Runs a program. False after one error with position. */
bool program_run(struct module *m, const struct source *src,
		 const struct program_options *o, struct program_result *out);

/* Lowers f up to and including the phase (0: not at all; 3: all), every pass
 * or, simply, without those that unroll and partition loops. hooks may be
 * NULL. */
bool program_lower(struct func *f, int phase, bool simple,
		   const struct pass_hooks *hooks);

/* The source of functions; those that are not lowered yet are. */
struct program_sources {
	bool with_header; /* wanted: the source includes it */
	const char *source_name, *source;
	const char *header_name, *header; /* header NULL: nothing to declare */
	const struct func **funcs; /* as written, one per function of the list;
				    * arrays that the stack could not hold are
				    * parameters behind the others */
	/* How the kernels are launched, as JSON; NULL: there are none. */
	const char *launches_name, *launches;
};

/* target NULL: the default one. */
bool program_source(struct module *m, const struct program_result *list,
		    const struct program_options *o, const char *target,
		    struct program_sources *out);

#endif
