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
	/* the paths of the data sets; n_paths 0: random inputs are used */
	const char **paths;
	int n_paths;
	/* the verdicts on the runs of the model's program on the data sets */
	struct tally runs;
	/* the last line of the output, which names what made the model wrong;
	 * NULL: nothing wrong was found */
	const char *verdict;
	/* The part of the model that is wrong; part.n_results is 0 if no such
	 * part is known. in_kernels: a kernel is wrong, not the graph. */
	struct model_part part;
	bool in_kernels;
	/* data: the data set that was compared last (NULL: the interpreter
	 * cannot run the model). The second member: the number of runs of
	 * passes after which the graph is the reference. */
	const struct data_set *data;
	int base;
	/* the folder for the program of the wrong kernel, or NULL */
	const char *kernel_folder;
};

/* bisect_graph.c: compares the results of the graph, as it was read and after
 * the passes over it, with those of the data sets, and finds the pass and the
 * node that made them wrong. Prints what it does; sets b->verdict. False after
 * an error message. */
bool bisect_graph(struct bisecting *b);

/* Loads the reference: the model as it was read, or after the passes that
 * choose how results are rounded. Sets *out to the right values of its tensors
 * for b->data. NULL after an error message. */
struct tirc *bisect_right(struct bisecting *b, struct right_values *out);

/* cmd_bisect.c: is the model of b->cli, which is a part of a wrong model, wrong
 * as well? It compares a kernel if b->in_kernels is set, else the graph. Prints
 * nothing. */
bool bisect_part_is_wrong(struct bisecting *b);

/* bisect_minimal.c: writes the smallest model that is wrong, and a program of its
 * kernel, into the folder of -o. False after an error message. */
bool bisect_minimal(struct bisecting *b);

/* bisect_kernels.c: runs each kernel by itself, and finds what made a kernel
 * wrong: a pass or a flag. Prints what it does; sets b->verdict. False after an
 * error message. */
bool bisect_kernels(struct bisecting *b);

/* bisect_text.c */
/* Names n in words: "node Conv 'conv1'". If n computes nodes of the model that
 * have other names, their names follow. */
const char *bisect_node_text(struct arena *a, const struct graph *g,
			     const struct node *n);
/* "kernel conv1 (nodes Conv 'conv1', Relu 'relu1')", by the nodes of the model. */
const char *kernel_nodes_text(struct arena *a, const struct graph *g,
			      const struct kernel *k);
const char *bisect_kernel_text(const struct bisecting *b,
			       const struct kernel *k);
/* Unless quiet, prints a line about a stage, "graph" or "kernels". */
void bisect_line(const struct bisecting *b, const char *stage, const char *fmt,
		 ...) TIRC_PRINTF(3, 4);

#endif
