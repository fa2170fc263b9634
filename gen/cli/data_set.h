/* SPDX-License-Identifier: Apache-2.0 */
/* The data sets with which `tirc test` compares results: folders of ONNX's test
 * data, archives (.npz), or the files of options. */
#ifndef TIRC_DATA_SET_H
#define TIRC_DATA_SET_H

#include "harness.h"

struct data_set {
	/* the name of the data set's folder or file, with which the printed
	 * lines about this data set begin */
	const char *where;
	struct array *inputs; /* for each input of the program */
	struct array *want;   /* for each result */
	/* for each result: is its expected value in `want`? */
	bool *expected;
	bool compared; /* the program ran, and its results were compared */
};

/* Sets *out to the paths of the folders test_data_set_* beside the model,
 * sorted by their numbers, and returns their number. */
int test_folders(struct arena *a, const char *model, const char ***out);
/* If an argument of the command line is a folder that contains folders
 * test_data_set_*, replaces it by these folders. */
void data_set_open_folders(struct cli *c);
/* Sets *out to the paths of the data sets: the arguments of the command line;
 * without arguments, one NULL, which stands for the options --input and
 * --expect if they are given; else the folders beside the model. Returns the
 * number of paths, which may be 0. */
int data_set_list(struct harness *h, const char ***out);
/* Is the path a regular file, or absent? test_is_file() prints an error message
 * if not; test_is_plain() prints nothing. follow: a link to a regular file
 * counts as a regular file. */
bool test_is_file(const char *path);
bool test_is_plain(const char *path, bool follow);
/* Sets *out to the --const-input that makes the model's input at this position
 * a constant; returns false if there is none. */
bool test_constant_at(const struct harness *h, int position,
		      struct tirc_const_input *out);
/* data_sizes.c: adds an option --dim for each size that the model leaves open
 * and that follows from the shapes of the data sets (tirc test) or of --input
 * (tirc run). The option has a number, or a range if the data sets have
 * different sizes. A note names the added options. */
void data_sizes(struct cli *c);
/* Reads the data set at the path. inputs_only: does not read expected outputs. The
 * inputs have the types and shapes of the model's; the expected outputs may have
 * others. Returns false after an error, which is printed or is among the messages
 * of h (harness_messages). */
bool data_set_read(struct harness *h, const char *path, bool inputs_only,
		   struct data_set *out);
/* Can the n data sets at the paths be read? Returns false after an error message
 * otherwise. */
bool data_sets_check(struct harness *h, const char *const *paths, int n);

#endif
