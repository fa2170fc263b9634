/* SPDX-License-Identifier: Apache-2.0 */
/* Inside package/: what the text of one region is made of. */
#ifndef TIRC_REGIONS_H
#define TIRC_REGIONS_H

#include "backend.h"
#include "packer.h"

/* A tensor and what the region's functions call it. */
struct region_name {
	const struct tensor *tensor;
	const char *name;
};

struct region_text {
	struct packer *k;
	struct unit *u;
	const struct kernel *kernel;
	const struct graph_region *r;
	const struct backend *b;
	struct binding *bound; /* the function's parameters, then init's */
	int n_bound;
	struct name_set names;
	VEC(struct region_name) tensors;
};

/* An expression of sizes, as the region's functions write it. */
const char *region_expr(struct region_text *x, const struct expr *e);
/* region_tensors.c: finds the region's tensors and names them. */
void region_name_tensors(struct region_text *x);
const char *region_name_of(const struct region_text *x, const struct tensor *t);
/* "text" of an item for a tensor: name, kind, type, sizes. against: the result
 * that it is spread over, or NULL. */
void region_tensor(struct region_text *x, struct tdata *item,
		   const struct tensor *t, const struct tensor *against);
/* The same as the one item of a list, which is empty where t is NULL. */
void region_tensor_in(struct region_text *x, struct tdata *data,
		      const char *list, const struct tensor *t,
		      const struct tensor *against);
/* region_match.c: "matches", with what their patterns found. */
void region_matches(struct region_text *x, struct tdata *data);
/* region_facts.c: what follows from a node's operator, by name: windows,
 * products of matrices, axes. */
void region_node_facts(struct region_text *x, struct tdata *data,
		       const struct node *n);
/* "value" and "index" of each item. */
void region_ints(struct tdata *data, const char *list, const int64_t *v, int n);

/* region_counts.c: "count_NAME", sums of what the patterns of its matches
 * count. */
void region_counts(struct region_text *x, struct tdata *data);

#endif
