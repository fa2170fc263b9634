/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the verb bisect: the model, its data sets, and the results so
 * far. */
#ifndef TIRC_BISECT_CMD_H
#define TIRC_BISECT_CMD_H

#include "bisect.h"
#include "bisecting.h"
#include "data_set.h"
#include "verify_cmd.h"

struct bisecting {
	struct cli *cli;
	struct arena *a;
	/* the model, compiled (verify.fresh), and its kernels */
	struct verifying verify;
	/* the data sets; n_paths 0: random inputs */
	const char **paths;
	int n_paths;
	/* the verdicts on the runs of the model's program on the data sets */
	struct tally runs;
	/* The last line of the output, which names the fault; NULL: none was
	 * found. */
	const char *verdict;
	/* The part of the model that is wrong; n_results 0: no part is known.
	 * in_kernels: the fault is in a kernel, not in the graph. */
	struct model_part part;
	bool in_kernels;
	/* the last data set that was compared (NULL: the interpreter cannot
	 * run the model), and the number of runs of passes after which the
	 * graph is the reference */
	const struct data_set *data;
	int base;
	/* the folder for the program of the wrong kernel, or NULL */
	const char *kernel_folder;
};

/* bisect_graph.c: compares the graph, as it was read and after the passes over it, with
 * the data sets, and finds the pass and the node. Prints what it does; sets
 * b->verdict. False after an error message. */
bool bisect_graph(struct bisecting *b);

/* Loads the reference: the model as it was read, or after the passes that set
 * its rounding. Sets *out to the right values of its tensors for b->data.
 * NULL after an error message. */
struct tirc *bisect_right(struct bisecting *b, struct right_values *out);

/* cmd_bisect.c: is the model of b->cli, which is a part of a wrong model,
 * wrong too: in a kernel (b->in_kernels), or else in its graph? Prints
 * nothing. */
bool bisect_part_is_wrong(struct bisecting *b);

/* bisect_minimal.c: writes the smallest model that is wrong, and a program of its
 * kernel, into the folder of -o. False after an error message. */
bool bisect_minimal(struct bisecting *b);

/* bisect_kernels.c: runs each kernel by itself, and finds the pass or the flag that
 * made one wrong. Prints what it does; sets b->verdict. False after an error
 * message. */
bool bisect_kernels(struct bisecting *b);

/* bisect_text.c */
/* "node Conv 'conv1'", with the nodes of the model that it computes if these have
 * other names. */
const char *bisect_node_text(struct arena *a, const struct graph *g,
			     const struct node *n);
/* "kernel conv1 (nodes Conv 'conv1', Relu 'relu1')", by the nodes of the model. */
const char *bisect_kernel_text(const struct bisecting *b,
			       const struct kernel *k);
/* Unless quiet, prints a line about a stage, "graph" or "kernels". */
void bisect_line(const struct bisecting *b, const char *stage, const char *fmt,
		 ...) TIRC_PRINTF(3, 4);

#endif
