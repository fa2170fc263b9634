/* SPDX-License-Identifier: Apache-2.0 */
/* Emits a model or a tensor program, builds a C program from it with a C
 * compiler and executes that, for run and test. */
#ifndef TIRC_HARNESS_H
#define TIRC_HARNESS_H

#include "arrays.h"
#include "cli.h"

struct cJSON;
struct command;
struct confinement;

/* The memory that a program on a simulated board uses, in bytes: the sections
 * of the model's own object files, its workspace, its inputs and outputs, and
 * the stack of a run. */
struct board {
	int64_t code_bytes, constant_bytes, data_bytes, bss_bytes;
	int64_t workspace_bytes, io_bytes, stack_bytes;
	int64_t flash_bytes, ram_bytes;
};

/* A model, or a tensor program, that is emitted and built, and the built
 * program. */
struct harness {
	struct cli *cli;
	struct tirc *t;
	struct module *m; /* owns arrays and messages */
	char *folder;     /* in which the program is built and runs */
	/* The durations of the last `repeat` executions in nanoseconds; on a
	 * simulator, their numbers of instructions. */
	double *times_ns;
	struct board board; /* memory use in the last execution on a
			     * simulator */
	/* the states that the next run begins with; NULL: zeros */
	const struct array *states;
	/* observe.c: a program like this one with additional inputs, first
	 * n_from_integers factors of the floats computed from integers, then
	 * those of what --precision rounds; NULL if there is none */
	struct harness *factors;
	int n_from_integers;
	bool tried_factors; /* the attempt to make `factors` was made */
	/* how many of the module's messages harness_messages() has printed */
	int n_told;
	/* the names of the files to compile and link */
	VEC(const char *) sources;
	/* the names of the files that the next run writes; no others */
	VEC(const char *) results;
	int64_t array_bytes; /* of a run, workspace and constants included */
	double most_seconds; /* after which a run is ended; 0: never */
	/* The number of arrays that harness_run() passes to the program, and
	 * gets from it. `run` implements harness_run(); run_ctx is its own. */
	int n_inputs, n_results;
	bool (*run)(struct harness *h, const struct array *inputs,
		    struct array *results);
	void *run_ctx;
};

/* build.c. Each of these functions returns false after an error message.
 * harness_begin makes the folder of the program. */
bool harness_begin(struct harness *h, struct cli *c);
/* Writes the bytes to a file `name` in the folder. False after an error
 * message. */
bool harness_write(const struct harness *h, const char *name, const void *data,
		   size_t bytes);
/* The first function writes the elements of an array to a file of the folder;
 * the second reads them, when the array's type and number of elements are
 * set. */
bool harness_write_array(const struct harness *h, const char *name,
			 const struct array *a);
bool harness_read_array(const struct harness *h, const char *name,
			struct array *a);
/* Adds a file of the folder to the sources that harness_build() compiles. */
void harness_add_source(struct harness *h, const char *name);
/* Writes `text`, the result of tirc_harness(), as one more source of the
 * folder, and compiles and links all sources. */
bool harness_build(struct harness *h, const char *text);
/* The command of the compiler with its flags: --cc, $CC if the program runs on
 * this machine, or the target's. */
const char *harness_compiler(const struct harness *h);
/* Begins the list of files that the next run writes; then adds one, which is
 * made, or emptied. False after an error message. */
void harness_expect_none(struct harness *h);
bool harness_expect(struct harness *h, const char *name);
/* Executes the program in the folder with these arguments. It is confined
 * (--confine) to read the folder and to write the expected files. */
bool harness_execute(struct harness *h, const char *arguments);
/* The same, without error messages and what the program prints. NULL, or why it
 * failed. *status: its exit status; -1: it could not be started. */
const char *harness_try(struct harness *h, const char *arguments, int *status);
/* Did a program end with this status because the processor lacks an instruction? */
bool harness_lacks_instructions(int status);
/* confined.c: how the program, which this command runs in the folder, is
 * confined; *out stays NULL if it is not. False after an error message. */
bool harness_confine(const struct harness *h, const struct command *command,
		     const struct confinement **out);
/* harness.c: reads the times of the last n runs into times_ns. */
bool harness_read_times(struct harness *h, int n);

/* keep.c: is it safe for a compiler and the built program to write into this
 * folder of --keep? False after an error message. */
bool harness_may_keep(const char *path);
/* Generates the model's source and writes it into a new folder, for harness_build().
 * False after an error message. */
bool harness_emit(struct harness *h, struct cli *c);
/* Builds the program that runs the model. False after an error message. */
bool harness_build_model(struct harness *h);
/* Compiles the model, writes it into a new folder and builds it. False after an
 * error message. */
bool harness_open(struct harness *h, struct cli *c);
/* A copy of the options, to build another program of the same model: without
 * schedules by hand, --keep and all that prints. */
struct cli *harness_twin_options(struct harness *h);
/* profile.c: reads the profile of the last harness_run(), prints the table
 * unless quiet, writes the file of --json. False after an error message. */
bool harness_profile(struct harness *h);
/* A JSON object about kernel i: its names and multiply-accumulates. */
struct cJSON *harness_kernel_json(const struct harness *h, int i);
/* Writes `top` to the file of --json, and deletes it. False after an error
 * message. */
bool harness_write_json(struct harness *h, struct cJSON *top);
/* board.c: are the target's compiler and simulator installed? Always true for a
 * target without a simulator. False after an error message. */
bool harness_find_tools(struct harness *h);
/* The path of the program that the first word of the command names; NULL if it
 * is not installed. */
const char *harness_find_command(struct arena *a, const char *command);
/* Reads to h->board the memory use that the program wrote. False after an error
 * message. */
bool harness_read_board(struct harness *h);
/* Prints the memory use and the number of instructions (with --profile, of each
 * kernel), unless quiet; writes the file of --json. False after an error
 * message. */
bool harness_board(struct harness *h);
/* The path of a file in the folder of the harness. */
char *harness_path(const struct harness *h, const char *name);
/* Does the array have the type and the shape of input i? Does not read its
 * data. */
bool harness_check_input(const struct harness *h, int i, const struct array *a);
/* Runs the program. inputs: an array for each input; outputs: gets an array for
 * each output and, after these, for each state of the model. False after an
 * error message. */
bool harness_run(struct harness *h, const struct array *inputs,
		 struct array *outputs);
/* Sets values[i] to the value of the symbolic size tirc_dim(i) that follows
 * from the shapes of the inputs; if none does, harness_dims to its largest
 * value, harness_known_dims to -1. */
void harness_known_dims(const struct harness *h, const struct array *inputs,
			int64_t *values);
void harness_dims(const struct harness *h, const struct array *inputs,
		  int64_t *values);
/* The index of the state that is the model's input, or output, at this position,
 * or -1. Positions do not count constants. */
int state_of_input(struct tirc *t, int position);
int state_of_output(struct tirc *t, int position);
/* The number of results of a run: outputs and states. */
int harness_results(const struct harness *h);
/* Sets the states that each following run begins with; NULL: zeros. False after
 * an error message. */
bool harness_set_states(struct harness *h, const struct array *states);
/* Pads each string of the array with zeros to `bytes` bytes, or shortens it.
 * False, with the array unchanged, if a string is longer than that. */
bool harness_fit_strings(struct harness *h, struct array *a, int64_t bytes);
void harness_close(struct harness *h);
/* An array of zeros with the type and the shape of x. */
struct array harness_zeros(struct arena *a, struct tirc_tensor x);
/* Are the arrays of all inputs and outputs, which become files for the program,
 * within the limit of output bytes (--max-output)? False after an error
 * message. */
bool harness_arrays_fit(struct harness *h);
/* Makes an array for input i, for runs without data: floats repeat -1, -7/8,
 * ... 1, other numbers repeat 0, 1. */
void harness_ramp(struct harness *h, int i, struct array *a);

/* Prints the new messages since the last call to stderr. */
void harness_messages(struct harness *h);
/* report.c: prints element i with as many digits as distinguish it from any
 * other value of its type. bytes > 0: the array has strings of so many bytes,
 * and i is the index of a string. */
void array_print(const struct array *a, int64_t i, int64_t bytes);
/* Counts of the data sets that were tested. */
struct tally {
	int n;
	int passed;
	int equal; /* passed, and every element equals the recorded one */
	/* a failure says little: the results were recorded with the other
	 * rounding */
	int undecided;
};

/* cmd_test.c: runs the program on the data sets at the paths, or without any on
 * random inputs, whose results are the interpreter's; compares, prints a line for
 * each result, and counts. */
void test_on_data(struct harness *h, const char *const *paths, int n,
		  struct tally *tally);
/* each_region.c: test --each-region. Returns the exit status. */
int test_each_region(struct cli *c);
/* layers.c: test --layers. Returns the exit status. */
int test_layers(struct cli *c);
/* test_program.c: test FILE.py. Returns the exit status. */
int test_program(struct cli *c);
/* run_program.c: tirc run FILE.py. Returns the exit status. */
int run_program(struct cli *c);

#endif
