/* SPDX-License-Identifier: Apache-2.0 */
/* Emits a model, builds it with a C compiler and executes it, for run and
 * test. */
#ifndef TIRC_CLI_HARNESS_H
#define TIRC_CLI_HARNESS_H

#include "arrays.h"
#include "cli.h"

struct cJSON;

/* Bytes of a program on a simulated board: of the model's own object files, its
 * workspace, its inputs and outputs, and the stack that a run used. */
struct board {
	int64_t code_bytes, constant_bytes, data_bytes, bss_bytes;
	int64_t workspace_bytes, io_bytes, stack_bytes;
	int64_t flash_bytes, ram_bytes;
};

struct harness {
	struct cli *cli;
	struct tirc *t;
	struct module *m; /* owns arrays and messages */
	char *folder;
	/* Of the last execution, `repeat` of them; instructions, where a
	 * simulator executes. */
	double *times_ns;
	struct board board; /* of the last execution by a simulator */
	/* the states that the next run begins with; NULL: zeros */
	const struct array *states;
	/* observe.c: the program in which the floats behind integers are
	 * multiplied by more inputs; NULL: none */
	struct harness *factors;
	bool tried_factors; /* factors was looked for */
	int n_told;         /* messages of m that harness_messages() printed */
};

/* keep.c: may a compiler and the program that it builds write into this folder of
 * --keep? False: reported. */
bool harness_may_keep(const char *path);
/* Compiles the model, writes it into a fresh folder and builds it. False:
 * reported on stderr. */
bool harness_open(struct harness *h, struct cli *c);
/* profile.c: reads the profile that harness_run() wrote, prints the table
 * unless quiet, writes --json. */
bool harness_profile(struct harness *h);
/* The JSON object of kernel i: its names and multiplications. */
struct cJSON *harness_kernel_json(const struct harness *h, int i);
/* Writes --json and frees top. */
bool harness_write_json(struct harness *h, struct cJSON *top);
/* board.c: whether the compiler and the simulator of a target that has one are
 * there; reported if not. */
bool harness_find_tools(struct harness *h);
/* Reads what the program wrote of its bytes. */
bool harness_read_board(struct harness *h);
/* Prints that, the instructions and with --profile those of each kernel unless
 * quiet, and writes --json. */
bool harness_board(struct harness *h);
/* The path of the file in the folder. */
char *harness_path(const struct harness *h, const char *name);
/* Has the array the type and the shape of input i? Its data is not read. */
bool harness_check_input(const struct harness *h, int i, const struct array *a);
/* Runs on one array per input; outputs, and behind them the model's states,
 * get data and shape. */
bool harness_run(struct harness *h, const struct array *inputs,
		 struct array *outputs);
/* The values of the symbolic sizes (tirc_dim) for these inputs. */
void harness_dims(const struct harness *h, const struct array *inputs,
		  int64_t *values);
/* The number of arrays that a run makes. */
int harness_results(const struct harness *h);
/* The next runs begin with these states; NULL: with zeros. */
bool harness_set_states(struct harness *h, const struct array *states);
/* Gives the strings of an array another number of bytes; false: one is longer,
 * and nothing is changed. */
bool harness_fit_strings(struct harness *h, struct array *a, int64_t bytes);
void harness_close(struct harness *h);
/* An array of zeros with the tensor's type and shape. */
struct array harness_zeros(struct arena *a, struct tirc_tensor x);
/* Fills an array with small distinct numbers, for runs without data. */
void harness_ramp(struct harness *h, int i, struct array *a);

/* Prints the messages that are new since the last call, on stderr. */
void harness_messages(struct harness *h);
/* report.c: prints element i with as many digits as tell it from any other.
 * bytes > 0: the array has strings of so many bytes each, and i is the number of
 * a string. */
void array_print(const struct array *a, int64_t i, int64_t bytes);
/* each_region.c: test --each-region. The verb's exit status. */
int test_each_region(struct cli *c);
/* layers.c: test --layers. The verb's exit status. */
int test_layers(struct cli *c);

#endif
