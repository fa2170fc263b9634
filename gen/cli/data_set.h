/* SPDX-License-Identifier: Apache-2.0 */
/* The data sets that `tirc test` compares with: folders of ONNX's test data,
 * archives, or files that options name. */
#ifndef TIRC_CLI_DATA_SET_H
#define TIRC_CLI_DATA_SET_H

#include "harness.h"

struct data_set {
	const char *where;    /* the first word of its lines */
	struct array *inputs; /* one for each input of the program */
	struct array *want;   /* one for each result */
	bool *expected;       /* per result: is it in want? */
	bool compared; /* the program ran, and its results were compared */
};

/* test_data_set_* beside the model, in order of their numbers. */
int test_folders(struct arena *a, const char *model, const char ***out);
/* The paths of the data sets, and their number: the arguments of the command line;
 * else one NULL, if there are --input or --expect; else the folders beside the
 * model. 0: there are none. */
int data_set_list(struct harness *h, const char ***out);
/* Is the archive of a data set a plain file, if it is there? False: reported. */
bool test_is_file(const char *path);
/* Reads the data set; inputs_only: without the expected outputs. False: the cause
 * is on stderr, or among h's messages (harness_messages). */
bool data_set_read(struct harness *h, const char *path, bool inputs_only,
		   struct data_set *out);

#endif
