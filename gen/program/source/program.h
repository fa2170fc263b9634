/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor programs: files in a subset of Python, evaluated with the built-in
 * modules te, topi and tir. The output of a program goes to a callback. Its
 * time and memory are limited. */
#ifndef TIRC_PROGRAM_H
#define TIRC_PROGRAM_H

#include "emit.h"
#include "python.h"
#include "schedule.h"

struct graph_services; /* graph_services.h */
struct run_callee;     /* interp.h */
struct target;

struct program_options {
	enum script_version script; /* version of TVMScript to print */
	const char *dialect_path;
	/* name of functions that the program gives no name; NULL: "program" */
	const char *stem;
	const char *target; /* NULL: the target that the program names */
	const char *fp;     /* mode of --fp; NULL: "default" */
	bool execute;       /* calls on arrays run to their end */
	int64_t max_steps;  /* steps of evaluation; 0: the default limit */
	int64_t max_bytes;  /* 0: the default limit */
	void (*print)(void *ctx, const char *text, size_t length);
	void *ctx;
	const struct pass_hooks *hooks;      /* for lowering, or NULL */
	const struct graph_services *graphs; /* for models; NULL: there are
					      * none */
};

enum program_stage {
	PROGRAM_WRITTEN,   /* TVMScript: a decorated def that has a name at the
			    * top level */
	PROGRAM_CREATED,   /* te.create_prim_func */
	PROGRAM_SCHEDULED, /* by a tir.Schedule, after its last step */
	PROGRAM_LOWERED,   /* tvm.lower */
	PROGRAM_BUILT      /* tvm.build */
};

/* A function that the program has made: with blocks (phase 0) or lowered. */
struct program_func {
	enum program_stage stage;
	struct func *func;
	struct func *plain;      /* the function before any schedule, and not
				 * lowered: tests compare with its results */
	struct func *scheduled;  /* LOWERED, BUILT: the function before it was
				 * lowered */
	const char *target;      /* the target for which it was built, or NULL;
				 * for target_load_named() */
	const char *target_said; /* the program's words for it */
	int line, col;        /* the place in the program where it was made */
	const char *schedule; /* the steps of the schedule, for comments:
				 * "split(i, [None, 32])…" */
	struct tensor_intrins *intrins; /* intrinsics that it calls */
	bool named;                     /* the program gave it its name */
	/* BUILT, LOWERED: the functions of its module, which it may call */
	struct program_func *const *siblings;
	int n_siblings;
	/* its name in the source; NULL: the function's own or the file's, changed
	 * where another function has it */
	const char *symbol;
};

struct program_result {
	const char *file;               /* path of the program, for messages */
	VEC(struct program_func) funcs; /* in the order of their creation */
	/* graph_built.model of the model that the program built last, or NULL */
	void *built_model;
	bool printed;          /* the program has printed something */
	int64_t printed_bytes; /* the number of bytes that it has
					 * printed */
	/* intrinsics that the program declares, with the external functions in
	 * them */
	struct tensor_intrins *intrins;
};

/* Runs a program. False after one error with its position. */
bool program_run(struct module *m, const struct source *src,
		 const struct program_options *o, struct program_result *out);

/* Lowers f up to the given phase (0: not at all; 3: completely). simple: skips
 * the passes that unroll and partition loops. hooks may be NULL. */
bool program_lower(struct func *f, int phase, bool simple,
		   const struct pass_hooks *hooks);

/* The source of the functions of a program; those that are not lowered yet are
 * lowered. */
struct program_sources {
	bool with_header; /* the source includes a header */
	bool with_caller; /* a program that calls the functions is written */
	/* NULL, or the prefix of external functions that trial_definitions
	 * defines; see struct program_text */
	const char *external_prefix;
	/* notes are added about loops that the program marks for threads or
	 * vectors, and that the target has no threads or vectors for */
	bool with_notes;
	const char *source_name, *source;
	bool is_compiled; /* by the target's compiler, not when it runs */
	const char *header_name, *header; /* header NULL: it would be empty */
	/* The emitted functions, one for each in the list. Arrays too large for
	 * the stack are additional parameters at the end. */
	const struct func **funcs;
	/* The launches of kernels as the text of a JSON file; NULL if there are
	 * none. */
	const char *launches_name, *launches;
	/* The source of a program that calls the functions on raw files; see
	 * emit_program_caller. */
	const char *caller_name, *caller;
	const struct target *target;
	struct program_needs needs;
	/* Set by trial_definitions (trial.h): source that defines the functions
	 * of needs.externals; NULL if there are none. callees: what the source
	 * calls, as it is printed: its own functions, in their order, then those
	 * of the definitions and the intrinsics. */
	const char *definitions_name, *definitions;
	const struct run_callee *callees;
	int n_callees;
};

/* Makes the source of the functions of the list; those that are not lowered yet
 * are lowered. target NULL: the default target. False after a diagnostic. */
bool program_source(struct module *m, const struct program_result *list,
		    const struct program_options *o, const char *target,
		    struct program_sources *out);

#endif
