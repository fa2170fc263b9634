/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the passes of passes/byoc share. */
#ifndef TIRC_BYOC_H
#define TIRC_BYOC_H

#include "backend.h"

/* -- explain.c: reasons why nodes are not taken -- */

/* Notes for byoc_explain why n cannot be the node `role` of pattern p of the
 * backend b; p may be NULL. */
void byoc_note(struct graph *g, const struct node *n, const struct backend *b,
	       const struct pattern *p, const char *role, const char *why);

/* -- conditions.c: each check returns NULL if the condition holds, else the
 * reason as text; the text is "" if reasons are not noted -- */

/* Returns the formatted text if the passes note reasons (byoc_enable_notes),
 * else "". */
const char *byoc_reason(struct graph *g, const char *fmt, ...);

/* Checks all conditions of c on tensor t except its relations to other tensors
 * of the pattern. t may be NULL: an absent input. Returns NULL if the
 * conditions hold, else the reason, in which `what` names the tensor. */
const char *byoc_tensor_fails(struct graph *g, const struct tensor_condition *c,
			      struct tensor *t, const char *what);
const char *byoc_attribute_fails(struct graph *g,
				 const struct attribute_condition *c,
				 const struct node *n);
/* NULL if each window of the pool n contains an element of the input; else the
 * reason why one does not. */
const char *byoc_windows_fail(struct graph *g, const struct node *n);
/* Sets *out to the value of the rule's fact for node n: that of n's attribute,
 * else that of n's constant input, else the default. inputs: the inputs of n in
 * the pattern's order. Returns NULL, or the reason why n has no value. */
const char *byoc_fact(struct graph *g, const struct fact_rule *rule,
		      const struct node *n, struct tensor *const *inputs,
		      struct fact *out);
/* NULL if fact i is a number and not less than the earlier fact `at_least`;
 * else the reason why it is not. */
const char *byoc_order_fails(struct graph *g, const char *at_least,
			     const struct fact *facts, int i);
/* Is each dimension of `from`, counted from the last, 1 or equal to the same
 * dimension of `to`? */
bool byoc_broadcasts_to(const struct tensor *from, const struct tensor *to);
/* If n is a MatMul or a Gemm with symbolic sizes from which it does not follow
 * how its operands are broadcast: a clause that says so, for a message. Else
 * NULL. Templates get the strides between matrices and the kind of bias, which
 * must be right for all sizes. */
const char *byoc_product_fails(const struct node *n);
/* Is the last dimension of `row` equal to that of `of`, and are all other
 * dimensions of `row` 1? */
bool byoc_is_row_of(const struct tensor *row, const struct tensor *of);

/* -- match.c -- */

/* The largest match of p around `anchor` among nodes without a match; NULL if
 * there is none. Does not set node.match. */
struct region_match *byoc_match(struct graph *g, const struct backend *b,
				const struct pattern *p, struct node *anchor);
bool byoc_is_op(const struct pattern_node *p, const struct node *n);

/* -- partition.c -- */

/* Runs the passes that backends provide for the stage `stage`. False after a
 * diagnostic. */
bool byoc_run_passes(struct graph *g, enum region_stage stage);

/* -- clusters.c: sets of nodes that can become one node without a cycle -- */

struct clusters;

/* Makes the clusters of a graph: each node is a cluster of its own. */
struct clusters *clusters_new(struct graph *g);
/* The number of the cluster that contains the node; all nodes of a cluster have
 * the same number. */
int cluster_of(const struct clusters *c, const struct node *n);
/* Does the graph of clusters stay acyclic if the clusters ids[0..n) become
 * one? */
bool clusters_may_join(struct clusters *c, const int *ids, int n);
void clusters_join(struct clusters *c, const int *ids, int n);
/* Joins the clusters of a match's nodes. False, with nothing changed, if that
 * would make a cycle. */
bool clusters_join_match(struct clusters *c, const struct region_match *m);

#endif
