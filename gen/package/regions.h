/* SPDX-License-Identifier: Apache-2.0 */
/* Private to package/: the data of one region for its templates. */
#ifndef TIRC_REGIONS_H
#define TIRC_REGIONS_H

#include "backend.h"
#include "packer.h"

/* A tensor of the region and its name in the region's functions. */
struct region_name {
	const struct tensor *tensor;
	const char *name;
};

/* The state during the rendering of a region's functions. */
struct region_text {
	struct packer *k;
	struct unit *u;
	const struct kernel *kernel; /* the kernel that is the region */
	const struct graph_region *r;
	const struct backend *b;
	/* The names of the parameters: first those of the function that runs
	 * the region, then those of the function that prepares its state
	 * (kernel.init). */
	struct binding *bound;
	int n_bound;
	/* the names that these functions already use */
	struct name_set names;
	/* every tensor that the region's nodes read or write, with the name
	 * that region_name_tensors() gives to it */
	VEC(struct region_name) tensors;
};

/* The text of an expression of sizes in the functions of the region: a number,
 * a name, or a formula in parentheses, so that templates can use it as an
 * operand. */
const char *region_expr(struct region_text *x, const struct expr *e);
/* region_tensors.c: lists the region's inputs, constants and computed values,
 * and names them. */
void region_name_tensors(struct region_text *x);
/* The name of a listed tensor in the functions of the region. */
const char *region_name_of(const struct region_text *x, const struct tensor *t);
/* Adds to item the name, kind, type and sizes of the tensor t. against: the
 * result to whose shape t is broadcast, or NULL. */
void region_tensor(struct region_text *x, struct tdata *item,
		   const struct tensor *t, const struct tensor *against);
/* Adds to data a list whose only item is the tensor t (see region_tensor); the
 * list is empty if t is NULL. */
void region_tensor_in(struct region_text *x, struct tdata *data,
		      const char *list, const struct tensor *t,
		      const struct tensor *against);
/* region_match.c: adds a text from the model or the partition. If the text
 * contains characters other than plain ones, reports an error about the fact or
 * attribute `name`. */
void region_plain_text(struct region_text *x, struct tdata *data,
		       const char *key, const char *name, const char *text);
/* Adds "matches" with their nodes and facts. */
void region_matches(struct region_text *x, struct tdata *data);
/* region_facts.c: adds facts about the operator of a node: windows, matrix
 * products, axes. */
void region_node_facts(struct region_text *x, struct tdata *data,
		       const struct node *n);
/* Adds a list of integers; each item has "value" and "index". */
void region_ints(struct tdata *data, const char *list, const int64_t *v, int n);

/* region_counts.c: adds "count_NAME" for each count that the backend's patterns
 * declare: its sum over the region's matches. */
void region_counts(struct region_text *x, struct tdata *data);

#endif
