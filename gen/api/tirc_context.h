/* SPDX-License-Identifier: Apache-2.0 */
/* The context behind the public interface (tirc.h). */
#ifndef TIRC_CONTEXT_H
#define TIRC_CONTEXT_H

#include "add_pass.h"
#include "firmware.h"
#include "graph_services.h"
#include "hooks.h"
#include "onnx_import.h"
#include "package.h"
#include "program.h"
#include "record_apply.h"
#include "tirc.h"

/* A kernel scheduled by hand (the option schedule_for). */
struct by_hand {
	const char *kernel, *file;
	bool used; /* the model has a kernel of this name */
	/* program: the user's program for the kernel if its signature differs
	 * from that of the unscheduled kernel; it replaces the kernel after the
	 * rules have run. mismatch: how the signatures differ. NULL: there is
	 * no such program. */
	struct func *program;
	const char *mismatch;
};

/* A function of a program, for tirc_function(). */
struct tested {
	const struct program_func *from;
	const struct func *source; /* NULL: it cannot be tested */
	/* the position of `source` among the functions that have a source */
	int number;
	/* tirc_parameter.arithmetic of all results, or NULL */
	const char *arithmetic;
	/* by run: a value for each scalar of the function (see trial.h) */
	VEC(const int64_t *) runs;
};

/* What a tensor program gives for a model: the text of the model (NULL: it is in
 * a file), and values of its inputs, which become constants. */
struct given_model {
	const char *text;
	size_t text_bytes;
	const struct array *values;
	int n_values;
};

struct tirc {
	struct tirc_options options;
	struct module *m;
	struct onnx_file *file;
	struct graph *graph;
	struct settings settings;               /* of the graph */
	const struct const_input *const_inputs; /* of the option const_inputs */
	/* path of the partition whose text names the target; NULL if an option
	 * names it */
	const char *target_file;
	const struct target *target;
	const struct dialect *dialect;
	struct program program;
	struct package package;
	const struct firmware_kind *kind; /* NULL if no firmware package is
					   * made */
	bool partitioned; /* the passes up to the partition have already run */
	bool compiled;    /* tirc_compile has succeeded */
	/* after tirc_compile: the options that shape the source */
	const struct shaping_option *shaping;
	int n_shaping;
	/* for tirc_graph_passes: the names of the passes that ran, and the
	 * number of runs after which no further pass runs */
	VEC(const char *) pass_runs;
	int most_runs;
	/* the function and the context of tirc_run_nodes_by(); NULL: none was
	 * given */
	bool (*run_node)(void *ctx, struct graph *g, const struct node *n);
	void *run_node_ctx;
	/* For a package, after tirc_compile. left: the tensors that a run
	 * leaves in the workspace. exact: by id of a tensor, is the tensor
	 * computed from integers alone? */
	VEC(const struct placement *) left;
	const bool *exact;
	/* After tirc_compile, by id of a tensor: tirc_tensor.arithmetic.
	 * DT_VOID if the tensor has no floats, or only elements of inputs and
	 * constants, which may have been moved or converted to a wider type. */
	const enum dtype_kind *arithmetic;
	VEC(struct tirc_node) nodes;     /* of the model, in its file's order */
	VEC(struct tirc_source) sources; /* of a program, for tirc_source() */
	/* Of a tensor program: its functions; the name that it gives to its
	 * target, if no option gives another one; the C program that calls its
	 * functions; and the compiler's macros without which the source of the
	 * functions does not compile. */
	VEC(struct tested) tested;
	/* the functions that have a source, and their source */
	const struct program_result *with_source;
	const struct program_sources *source;
	const char *named_target;
	/* of a program: the number of its asserts that did not run */
	int unchecked;
	const char *caller_name, *caller;
	const struct requirement *const *relied_on;
	int n_relied_on;
	const char *const *targets; /* for tirc_target() */
	int n_targets;
	VEC(const struct backend *) backends; /* --byoc */
	VEC(struct user_pass) passes;         /* --add-pass */
	VEC(struct tirc_timing) timings;      /* --time-passes */
	bool passes_open;                     /* `passes` were opened */
	/* Of a tensor program: its path, and the contexts of the models that it
	 * read. */
	const char *program_path;
	VEC(struct tirc *) models;
	struct given_model given; /* of a model of a tensor program */
	/* the files of the models that a tensor program named; contexts of the
	 * same model share its file. NULL: the program named no model. */
	struct onnx_file *opened;
	/* the context of the model that a tensor program without functions has
	 * built; the model's source is the source of the program. NULL: no
	 * model was built. */
	struct tirc *built_model;
	VEC(struct by_hand) by_hand;
	/* The option `records`: the records in the files, the number of files
	 * that are read, and the records whose schedules were applied to
	 * kernels. */
	struct records records;
	int n_records_read;
	const char *facts; /* of the target, target_facts_text() */
	VEC(struct tirc_record) used_records;
};

/* tirc_hooks.c: sets *out to the hooks (struct pass_hooks) that the options ask
 * for; may be called several times. False after a diagnostic about an
 * option. */
bool context_hooks(struct tirc *t, struct pass_hooks *out);
void context_close_passes(struct tirc *t);
/* tirc_byoc.c: loads the backends of the options, with the facts of the graph,
 * at the first call. False after a diagnostic. */
bool context_backends(struct tirc *t);
/* loads the backends without a graph */
bool context_load_backends(struct tirc *t);
/* Makes t the owner of a backend that was loaded elsewhere: it is closed with
 * the other backends of t. */
void context_keep_backend(struct tirc *t, const struct backend *b);
void context_close_backends(struct tirc *t);
/* tirc_states.c: finds the tensors of the option states in the graph. False
 * after a diagnostic. */
bool context_states(struct tirc *t);
/* The tensor that has the value of state i after a run. */
const struct tensor *context_state_tensor(const struct tirc *t, int i);
/* tirc_left.c: context_find_left sets t->left, context_exact sets and returns
 * t->exact. */
void context_find_left(struct tirc *t);
const bool *context_exact(struct tirc *t);
/* tirc_arithmetic.c: computes t->arithmetic. */
const enum dtype_kind *context_arithmetic(struct tirc *t);
/* tirc_info.c: the description of the tensor x for users of tirc.h. */
struct tirc_tensor context_tensor(struct tirc *t, const struct tensor *x);
/* schedule_for.c, the option schedule_for. context_schedules reads it;
 * context_schedule and context_after_rules are hooks of struct pass_hooks,
 * called for each kernel; context_schedules_used checks that every named kernel
 * exists. False after a diagnostic. */
bool context_schedules(struct tirc *t);
enum hook_schedule context_schedule(struct tirc *t, const struct kernel *k,
				    struct sched *s);
bool context_after_rules(void *ctx, const char *kernel, struct func *f);
bool context_schedules_used(struct tirc *t);
/* Has the kernel f only accesses within its arrays? If its source will run, it
 * must also call no functions of the machine. `by`: the file that scheduled the
 * kernel; by_schedule: the file is a schedule, not a program. False after a
 * diagnostic. */
bool context_check_schedule(struct tirc *t, const char *by,
			    const struct func *f, bool by_schedule);
/* records_option.c: the option records. context_records reads the files of
 * records; context_schedule_record schedules a kernel with the best record for
 * the kernel, if a record applies. */
bool context_records(struct tirc *t);
enum hook_schedule context_schedule_record(struct tirc *t,
					   const struct kernel *k,
					   struct sched *s, const char **words);
/* tirc_program.c: runs a tensor program, chooses the functions to write and
 * their target, and applies the schedule of the options. False after a
 * diagnostic. */
bool context_program(struct tirc *t, const char *path,
		     const struct tirc_program_options *o,
		     struct program_options *options,
		     struct program_result *chosen, const char **target);
/* graph_services.c: the functions by which the program of t reads models. */
struct graph_services context_graph_services(struct tirc *t);
/* Writes the files of t->built_model into a folder. False after a diagnostic. */
bool context_write_model(struct tirc *t, const char *folder);
/* tirc.c: loads the target of the options and sets the settings of the graph. False
 * after a diagnostic. */
bool context_prepare(struct tirc *t);
/* Adds a file to the files that tirc_source() returns. */
struct tirc_source *context_add_source(struct tirc *t, const char *name,
				       const char *text);
/* Reports that an option has a wrong value; expected: the values that it takes.
 * Returns false. */
bool context_bad_option(struct tirc *t, const char *option, const char *value,
			const char *expected);
/* Calls the function `progress` of the options, if there is one. */
void context_progress(struct tirc *t, const char *step, int done, int total);

/* tirc_report.c: adds the files that were read: the text of a partition, then the
 * files that are mapped into memory. files: one more than onnx_file_count().
 * False after a diagnostic. */
struct report_file;
bool context_read_files(struct tirc *t, struct report_file *files, int *n);

/* shaping_options.c: are convolutions of the target direct, whatever --conv says? */
bool context_takes_direct_alone(const struct target *target);
/* shaping_options.c: the algorithm of convolutions for the target where --conv says
 * nothing. */
enum conv_algorithm context_default_conv(const struct target *target);

/* shaping_options.c: adds the options of the import, or only this one, to
 * graph.import_options. */
void context_note_options(struct tirc *t, const char *option);
/* shaping_options.c: the options that shape the source, those with their defaults,
 * too. *n: their number. The graph's passes have run. */
const struct shaping_option *context_shaping(struct tirc *t, int *n);

#endif
