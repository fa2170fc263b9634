/* SPDX-License-Identifier: Apache-2.0 */
/* Emits a model or a tensor program, builds an executable program from the
 * source with a C compiler and runs it, for tirc run and tirc test. */
#ifndef TIRC_HARNESS_H
#define TIRC_HARNESS_H

#include "arrays.h"
#include "cli.h"

struct cJSON;
struct command;
struct confinement;

/* The memory that a program on a simulated board uses, in bytes: the sections
 * of the model's own object files, the workspace, the inputs and outputs, and
 * the stack of a run. */
struct board {
	int64_t code_bytes, constant_bytes, data_bytes, bss_bytes;
	int64_t workspace_bytes, io_bytes, stack_bytes;
	int64_t flash_bytes, ram_bytes;
};

/* A model or a tensor program with the executable program that is built from
 * its source. */
struct harness {
	struct cli *cli;
	struct tirc *t;
	struct module *m; /* owns arrays and messages */
	/* the folder in which the program is built and runs */
	char *folder;
	/* For each of the last `repeat` runs: its duration in nanoseconds, or,
	 * on a simulator, its number of instructions. */
	double *times_ns;
	struct board board; /* memory use in the last run on a simulator */
	/* the states with which the next run begins; NULL: all states are
	 * zeros */
	const struct array *states;
	/* observe.c: another program for the same model, with additional inputs
	 * by which floats inside the model are multiplied. The first
	 * n_from_integers of them multiply floats that are computed from
	 * integers, the others floats that --precision rounds. NULL if the
	 * model has no such floats. */
	struct harness *factors;
	int n_from_integers;
	bool tried_factors; /* `factors` was built, or the attempt failed */
	/* the number of the module's messages that are already printed */
	int n_told;
	/* the names of the files to compile and link */
	VEC(const char *) sources;
	/* the names of the files that the next run may write; it may write no
	 * other file */
	VEC(const char *) results;
	/* the bytes of all arrays of a run, including the workspace and the
	 * constants */
	int64_t array_bytes;
	/* a run is ended after this time; 0: a run has no limit of time */
	double most_seconds;
	/* The numbers of arrays that harness_run() gives to the program and
	 * gets from it. `run` implements harness_run() and uses run_ctx. */
	int n_inputs, n_results;
	bool (*run)(struct harness *h, const struct array *inputs,
		    struct array *results);
	void *run_ctx;
	/* `run` is another program than the one whose results are compared. */
	bool twin;
};

/* build.c: each of these functions returns false after an error message.
 * harness_begin makes the folder of the program. */
bool harness_begin(struct harness *h, struct cli *c);
/* Writes the bytes to a file `name` in the folder. Returns false after an error
 * message. */
bool harness_write(const struct harness *h, const char *name, const void *data,
		   size_t bytes);
/* harness_write_array writes the elements of an array to a file in the folder.
 * harness_read_array reads such a file; the caller sets the array's type and
 * number of elements before. */
bool harness_write_array(const struct harness *h, const char *name,
			 const struct array *a);
bool harness_read_array(const struct harness *h, const char *name,
			struct array *a);
/* Adds a file of the folder to the sources that harness_build() compiles. */
void harness_add_source(struct harness *h, const char *name);
/* Writes `text`, the result of tirc_harness(), as one more source of the
 * folder, and compiles and links all sources. */
bool harness_build(struct harness *h, const char *text);
/* The command of the compiler: --cc; else the variable CC if the program runs
 * on this machine; else the target's compiler. */
const char *harness_compiler(const struct harness *h);
/* harness_expect_none empties the list of files that the next run may write;
 * harness_expect adds a file to the list, and makes the file or empties it.
 * Returns false after an error message. */
void harness_expect_none(struct harness *h);
bool harness_expect(struct harness *h, const char *name);
/* Runs the program in the folder with these arguments. The program may read the
 * folder and write only the expected files (--confine). */
bool harness_execute(struct harness *h, const char *arguments);
/* Does the same as harness_execute(), but prints neither error messages nor the
 * program's output. Returns NULL, or the reason of the failure. *status: the
 * exit status; -1: the program could not be started. */
const char *harness_try(struct harness *h, const char *arguments, int *status);
/* Does this machine's processor have the instructions for which the program will
 * be compiled? True if a runner or a simulator executes it. Returns false after an
 * error message. */
bool harness_fits_processor(const struct harness *h);
/* Does this exit status mean that the processor lacks an instruction of the
 * program? */
bool harness_lacks_instructions(int status);
/* build.c: does the exit status of a program say that the machine has too little
 * memory for its arrays? */
bool harness_lacks_memory(int status);
/* confined.c: sets *out to the confinement of the program that this command
 * runs in the folder, or to NULL if it runs unconfined. Returns false after an
 * error message. */
bool harness_confine(const struct harness *h, const struct command *command,
		     const struct confinement **out);
/* harness.c: reads the times of the last n runs of the program to times_ns. */
bool harness_read_times(struct harness *h, int n);

/* keep.c: is it safe for a compiler and the built program to write into the
 * folder `path` of --keep? If not, prints an error message and returns
 * false. */
bool harness_may_keep(const char *path);
/* A new module, which the caller frees. Its limits of memory and output are
 * those of the options c, or, if the options have none, follow from the number
 * of bytes of the model's file. */
struct module *harness_module(const struct cli *c);
/* Generates the model's source and writes it into a new folder, for
 * harness_build(). Returns false after an error message. */
bool harness_emit(struct harness *h, struct cli *c);
/* Builds the program that runs the model. Returns false after an error
 * message. */
bool harness_build_model(struct harness *h);
/* Compiles the model, writes its source into a new folder and builds it.
 * Returns false after an error message. */
bool harness_open(struct harness *h, struct cli *c);
/* A copy of the user's options with which another program of the same model is
 * built: without the options for schedules of single kernels, for --keep and
 * for printing. */
struct cli *harness_twin_options(struct harness *h);
/* profile.c: reads the profile of the last harness_run(), prints a table of it
 * unless --quiet is given, and writes the file of --json. Returns false after
 * an error message. */
bool harness_profile(struct harness *h);
/* A JSON object with kernel i's name, title, schedule and number of
 * multiply-accumulate operations. */
struct cJSON *harness_kernel_json(const struct harness *h, int i);
/* Writes the object `top` to the file of --json and frees it. Returns false
 * after an error message. */
bool harness_write_json(struct harness *h, struct cJSON *top);
/* board.c: are the target's compiler and simulator installed? True for a target
 * without a simulator. Returns false after an error message. */
bool harness_find_tools(struct harness *h);
/* The path of the program that the first word of the command names; NULL if no
 * such program is installed. */
const char *harness_find_command(struct arena *a, const char *command);
/* Reads the memory use that the program has written to h->board. Returns false
 * after an error message. */
bool harness_read_board(struct harness *h);
/* Prints the memory use and the number of instructions, with --profile that of
 * each kernel, unless --quiet is given; writes the file of --json. Returns
 * false after an error message. */
bool harness_board(struct harness *h);
/* The path of a file in the folder of the harness. */
char *harness_path(const struct harness *h, const char *name);
/* Does the array have the type and the shape of input i? Returns false after an
 * error message otherwise. Its data need not be there. */
bool harness_check_input(struct arena *m, struct tirc *t, int i,
			 const struct array *a);
/* Pads the strings of the array with zeros to the length of the strings of input
 * i, then checks it like harness_check_input(). Returns false after an error
 * message. */
bool harness_fit_input(struct arena *m, struct tirc *t, int i, struct array *a);
/* Runs the program. inputs: an array for each input. outputs: gets an array for
 * each output and then one for each state of the model. Returns false after an
 * error message. */
bool harness_run(struct harness *h, const struct array *inputs,
		 struct array *outputs);
/* Sets values[i] to the value of the symbolic size tirc_dim(i) that follows
 * from the shapes of the inputs. If no value follows, harness_dims() takes the
 * largest value of the size, harness_known_dims() -1. */
void harness_known_dims(const struct harness *h, const struct array *inputs,
			int64_t *values);
void harness_dims(const struct harness *h, const struct array *inputs,
		  int64_t *values);
/* The index of the state that belongs to the model's input (output) at this
 * position, or -1. Positions do not count the constants of --const-input. */
int state_of_input(struct tirc *t, int position);
int state_of_output(struct tirc *t, int position);
/* The number of results of a run: outputs and states. */
int harness_results(const struct harness *h);
/* Sets the states with which each following run begins; `states` NULL: zeros.
 * Returns false after an error message. */
bool harness_set_states(struct harness *h, const struct array *states);
/* Pads each string of the array with zeros to `bytes` bytes, or removes zeros
 * at its end. Returns false, with the array unchanged, if a string is longer
 * than that. */
bool harness_fit_strings(struct arena *m, struct array *a, int64_t bytes);
void harness_close(struct harness *h);
/* An array of zeros with the type and the shape of x. */
struct array harness_zeros(struct arena *a, struct tirc_tensor x);
/* Are the arrays of all inputs and outputs of the program, whose values are
 * written to files, together within the limit of --max-output? Returns false
 * after an error message otherwise. */
bool harness_arrays_fit(struct harness *h);
/* Makes an array for input i, for runs without data: floats repeat the series
 * -1, -7/8, … 1, other numbers the series 0, 1. */
void harness_ramp(struct harness *h, int i, struct array *a);

/* Prints to stderr the module's messages that were added since the last
 * call. */
void harness_messages(struct harness *h);
/* report.c: prints element i with enough digits to distinguish it from any
 * other value of its type. bytes > 0: the array has strings of that many bytes,
 * and i is the index of a string. */
void array_print(const struct array *a, int64_t i, int64_t bytes);
/* The numbers of data sets by verdict. */
struct tally {
	int n;
	int passed;
	int equal; /* passed, with every element equal to the expected one */
	/* the number of pairs whose verdict is open: the results differ, but
	 * the data set was recorded with the other rounding (PAIR_UNDECIDED) */
	int undecided;
	/* the first run that failed: the path of its data set or the sizes of
	 * its random inputs; NULL: no run failed */
	const char *failed_path;
	const int64_t *failed_sizes;
};

/* cmd_test.c: runs the program on the data sets at the paths or, if n is 0, on
 * random inputs, whose expected results the interpreter computes. Compares the
 * results, prints a line for each, and counts the verdicts in *tally. */
void test_on_data(struct harness *h, const char *const *paths, int n,
		  struct tally *tally);
/* each_region.c: runs tirc test --each-region. Returns the exit status. */
int test_each_region(struct cli *c);
/* layers.c: runs tirc test --layers. Returns the exit status. */
int test_layers(struct cli *c);
/* test_program.c: runs tirc test FILE.py. Returns the exit status. */
int test_program(struct cli *c);
/* run_program.c: runs tirc run FILE.py. Returns the exit status. */
int run_program(struct cli *c);

#endif
