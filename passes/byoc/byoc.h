/* SPDX-License-Identifier: Apache-2.0 */
/* Between the passes of backends. */
#ifndef TIRC_BYOC_H
#define TIRC_BYOC_H

#include "backend.h"

/* -- explain.c: why not -- */

/* n could not be `role` of the pattern (which may be NULL): why, in words. */
void byoc_note(struct graph *g, const struct node *n, const struct backend *b,
	       const struct pattern *p, const char *role, const char *why);

/* -- conditions.c: each gives NULL if it holds, else why not ("" where nobody
 * wants to know) -- */

/* All but what depends on other tensors of the pattern. t may be NULL. */
const char *byoc_tensor_fails(struct graph *g, const struct tensor_condition *c,
			      struct tensor *t, const char *what);
const char *byoc_attribute_fails(struct graph *g,
				 const struct attribute_condition *c,
				 const struct node *n);
/* inputs: n's, in the pattern's order. */
const char *byoc_fact(struct graph *g, const struct fact_rule *rule,
		      const struct node *n, struct tensor *const *inputs,
		      struct fact *out);
bool byoc_broadcasts_to(const struct tensor *from, const struct tensor *to);
bool byoc_is_row_of(const struct tensor *row, const struct tensor *of);

/* -- match.c -- */

/* The largest match of p around `anchor`, of nodes without a match; node.match
 * is not set. NULL: none. */
struct region_match *byoc_match(struct graph *g, const struct backend *b,
				const struct pattern *p, struct node *anchor);
bool byoc_is_op(const struct pattern_node *p, const struct node *n);

/* -- partition.c -- */

/* The backends' own passes of that stage. False after a diagnostic. */
bool byoc_run_passes(struct graph *g, enum region_stage stage);

/* -- clusters.c: sets of nodes that are to become one, without cycles -- */

struct clusters;

/* Each node is a cluster of its own. */
struct clusters *clusters_new(struct graph *g);
/* The cluster of a node: the same number for all of its nodes. */
int cluster_of(const struct clusters *c, const struct node *n);
/* Would the graph of clusters stay without a cycle if these were one? */
bool clusters_may_join(struct clusters *c, const int *ids, int n);
void clusters_join(struct clusters *c, const int *ids, int n);

#endif
