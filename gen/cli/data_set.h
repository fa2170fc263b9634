/* SPDX-License-Identifier: Apache-2.0 */
/* The data sets that `tirc test` compares with: folders of ONNX's test data,
 * archives, or files named by options. */
#ifndef TIRC_DATA_SET_H
#define TIRC_DATA_SET_H

#include "harness.h"

struct data_set {
	const char *where;    /* the word with which the lines about it begin:
			       * the name of its folder or file */
	struct array *inputs; /* by input of the program */
	struct array *want;   /* for each result */
	bool *expected;       /* for each result: does `want` have it? */
	bool compared; /* the program ran, and its results were compared */
};

/* Sets *out to the paths of the folders test_data_set_* beside the model,
 * sorted by their numbers; returns how many there are. */
int test_folders(struct arena *a, const char *model, const char ***out);
/* Replaces each argument of the command line that is a folder of folders
 * test_data_set_* by these. */
void data_set_open_folders(struct cli *c);
/* Sets *out to the paths of the data sets: the arguments of the command line;
 * without them, one NULL if there are options --input or --expect; else the
 * folders beside the model. Returns how many, which may be 0. */
int data_set_list(struct harness *h, const char ***out);
/* Is the archive a plain file, if it exists? False after an error message.
 * test_is_plain says nothing; follow: a link to a plain file is one, too. */
bool test_is_file(const char *path);
bool test_is_plain(const char *path, bool follow);
/* Sets *out to the --const-input that makes the model's input at this position
 * a constant; false if there is none. */
bool test_constant_at(const struct harness *h, int position,
		      struct tirc_const_input *out);
/* data_sizes.c: adds an option --dim for each size that the model leaves open
 * and the shapes of the data sets (test) or of --input (run) give: a number, or
 * a range if several are met. A note names them. */
void data_sizes(struct cli *c);
/* Reads the data set; inputs_only: without expected outputs. False after an
 * error, which is printed or in the messages of h (harness_messages). */
bool data_set_read(struct harness *h, const char *path, bool inputs_only,
		   struct data_set *out);

#endif
