/* SPDX-License-Identifier: Apache-2.0 */
/* Private to package/: data of one region for its templates. */
#ifndef TIRC_REGIONS_H
#define TIRC_REGIONS_H

#include "backend.h"
#include "packer.h"

/* A tensor and its name in the region's functions. */
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

/* The text of an expression over sizes in the region's functions. */
const char *region_expr(struct region_text *x, const struct expr *e);
/* region_tensors.c: finds the region's tensors and names them. */
void region_name_tensors(struct region_text *x);
const char *region_name_of(const struct region_text *x, const struct tensor *t);
/* Sets a tensor's name, kind, type and sizes. against: the result to which it
 * is broadcast, or NULL. */
void region_tensor(struct region_text *x, struct tdata *item,
		   const struct tensor *t, const struct tensor *against);
/* The same for the only item of a list, which is empty if t is NULL. */
void region_tensor_in(struct region_text *x, struct tdata *data,
		      const char *list, const struct tensor *t,
		      const struct tensor *against);
/* region_match.c: sets a text of the model or the partition, which must be plain;
 * else reports the fact or attribute of that name. */
void region_plain_text(struct region_text *x, struct tdata *data,
		       const char *key, const char *name, const char *text);
/* Sets "matches", with their nodes and facts. */
void region_matches(struct region_text *x, struct tdata *data);
/* region_facts.c: sets facts of a node's operator: windows, matrix products,
 * axes. */
void region_node_facts(struct region_text *x, struct tdata *data,
		       const struct node *n);
/* Sets a list of integers, with "value" and "index" of each item. */
void region_ints(struct tdata *data, const char *list, const int64_t *v, int n);

/* region_counts.c: sets "count_NAME", the sums of the counts of the patterns of
 * its matches. */
void region_counts(struct region_text *x, struct tdata *data);

#endif
