/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor programs: files in a subset of Python, which are evaluated with
 * built-in modules such as te, topi and tir. Their time and memory are limited.
 * This header declares the run of a program and the making of its source. */
#ifndef TIRC_PROGRAM_H
#define TIRC_PROGRAM_H

#include "emit.h"
#include "python.h"
#include "schedule.h"

struct graph_services; /* graph_services.h */
struct run_callee;     /* interp.h */
struct target;

struct program_options {
	enum script_version script; /* the version of TVMScript to print */
	const char *dialect_path;
	/* the name of each function to which the program gives no name; NULL:
	 * "program" */
	const char *stem;
	/* the target of the command line; NULL: the target that the program
	 * names */
	const char *target;
	const char *fp; /* the mode of --fp; NULL: "default" */
	/* calls of functions on arrays run without a limit of time */
	bool execute;
	/* the limit of steps of the evaluation; 0: the default limit */
	int64_t max_steps;
	/* the limit of memory in bytes; 0: the default limit */
	int64_t max_bytes;
	void (*print)(void *ctx, const char *text, size_t length);
	void *ctx;
	/* NULL, or a function that is told about long runs of functions in the
	 * interpreter: `done` of `total` parts of the step are finished */
	void (*progress)(void *ctx, const char *step, int done, int total);
	void *progress_ctx;
	/* hooks of lowering passes, or NULL */
	const struct pass_hooks *hooks;
	/* the functions on models; NULL: a program cannot read models */
	const struct graph_services *graphs;
};

/* How a program made a function. */
enum program_stage {
	/* as TVMScript: a decorated def that is bound to a name at the top
	 * level */
	PROGRAM_WRITTEN,
	PROGRAM_CREATED, /* by te.create_prim_func */
	/* made by a tir.Schedule: the function after its last step */
	PROGRAM_SCHEDULED,
	PROGRAM_LOWERED, /* by tvm.lower */
	PROGRAM_BUILT    /* by tvm.build */
};

/* A function that the program has made, either with blocks (phase 0) or
 * lowered. */
struct program_func {
	enum program_stage stage;
	struct func *func;
	/* the function before any schedule and lowering; tests compare with its
	 * results */
	struct func *plain;
	/* LOWERED, BUILT: the function with its schedule, before it was
	 * lowered */
	struct func *scheduled;
	/* the target for which the program built the function, as text for
	 * target_load_named(); or NULL */
	const char *target;
	const char *target_said; /* the text of the target in the program */
	/* the position in the program of the statement that made the
	 * function */
	int line, col;
	/* the steps of the function's schedule, for comments: "split(i, [None,
	 * 32])…" */
	const char *schedule;
	/* the tensor intrinsics that the function calls */
	struct tensor_intrins *intrins;
	bool named; /* the program chose the function's name */
	/* LOWERED, BUILT: the functions of the function's module, which it may
	 * call */
	struct program_func *const *siblings;
	int n_siblings;
	/* Its name in the source. NULL: the name is made from the function's
	 * own name or that of the file, and changed if another function has
	 * it. */
	const char *symbol;
};

struct program_result {
	/* the path of the program, for messages */
	const char *file;
	/* the functions in the order in which the program made them */
	VEC(struct program_func) funcs;
	/* graph_built.model of the last model that the program compiled, or
	 * NULL */
	void *built_model;
	bool printed;          /* the program has printed text */
	int64_t printed_bytes; /* the number of bytes that it printed */
	/* the number of asserts of the program that did not run, because they
	 * need values that tirc does not have */
	int unchecked;
	/* the tensor intrinsics that the program declares, and the external
	 * functions that these call */
	struct tensor_intrins *intrins;
};

/* Runs a program. Returns false after an error with its position in the
 * program. */
bool program_run(struct module *m, const struct source *src,
		 const struct program_options *o, struct program_result *out);

/* Lowers f to the given phase: 0 does nothing, 3 is complete. simple: leaves
 * out the passes that unroll and partition loops. hooks may be NULL. */
bool program_lower(struct func *f, int phase, bool simple,
		   const struct pass_hooks *hooks);

/* The source of a program's functions, with the options that the caller sets. */
struct program_sources {
	bool with_header; /* set by the caller: the source has a header file */
	/* set by the caller: also write a program that calls the functions */
	bool with_caller;
	/* Set by the caller: the prefix of the external functions that
	 * trial_definitions() defines, or NULL; see struct program_text. */
	const char *external_prefix;
	/* Set by the caller: add notes about loops that the program marks for
	 * threads or vectors if the target has no threads or vectors. */
	bool with_notes;
	const char *source_name, *source;
	/* the target's compiler compiles the source; otherwise a driver does so
	 * at run time */
	bool is_compiled;
	/* the text of the header; NULL: it would be empty */
	const char *header_name, *header;
	/* The emitted functions, one for each function of the program. Each
	 * local array that is too large for the stack is a further parameter at
	 * the end. */
	const struct func **funcs;
	/* The text of a JSON file about the launches of kernels; NULL if the
	 * source has no kernels. */
	const char *launches_name, *launches;
	/* The source of a program that calls the functions on raw files
	 * (emit_program_caller). */
	const char *caller_name, *caller;
	const struct target *target;
	struct program_needs needs;
	/* Set by trial_definitions() (trial.h). definitions: source that
	 * defines the functions in needs.externals; NULL if that is empty.
	 * callees: the functions that the source calls, as they are printed:
	 * first the source's own functions in their order, then the functions
	 * of `definitions` and of intrinsics. */
	const char *definitions_name, *definitions;
	const struct run_callee *callees;
	int n_callees;
};

/* Moves each function of the list behind the functions that it calls; apart
 * from that, the order stays the same. */
void program_order_calls(struct module *m, struct program_result *list);

/* Makes the source of the functions of the list, after lowering those that are
 * not lowered. target: NULL is the default target. Returns false after a
 * diagnostic. */
bool program_source(struct module *m, const struct program_result *list,
		    const struct program_options *o, const char *target,
		    struct program_sources *out);

#endif
