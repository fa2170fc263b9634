/* SPDX-License-Identifier: Apache-2.0 */
/* Regions: parts of a graph that a backend computes instead of generated loops.
 * A region consists of matches; a match is a set of nodes that a pattern of the
 * backend accepts. (struct region, without graph_, is a part of a buffer.)
 *
 *	match conv      conv  "conv1"           region dnnl_0
 *	                bias  "add1"      ->      conv (conv1, add1, relu1)
 *	                relu  "relu1"             pool (pool1)
 *	match pool      pool  "pool1"
 *
 * Everything is in the module's arena. */
#ifndef TIRC_GRAPH_REGION_H
#define TIRC_GRAPH_REGION_H

#include "graph.h"

struct backend; /* passes/byoc/backend.h */
struct graph_region;

/* A named value: of a match, a property of its nodes that the pattern passes to
 * templates; of a region, an attribute that the user set. */
enum fact_kind { FACT_TEXT, FACT_INT, FACT_FLOAT, FACT_INTS };

struct fact {
	const char *name;
	enum fact_kind kind;
	const char *text;
	int64_t i;
	/* the value of a FACT_FLOAT; of a FACT_INT, the same number as a
	 * float */
	double f;
	int n;
	const int64_t *ints;
	int step; /* of a fact of a match: which step it belongs to, as
		   * match_node.step */
};

/* A node of the graph, and its role in the pattern. */
struct match_node {
	struct node *node;
	const char *role; /* "conv", the id in backend.json */
	/* For a node in a chain of followers: the index of its follower in the
	 * chain, from 0, and the follower's name (a follower such as "swish"
	 * matches two nodes). For a node in the body of the pattern: -1 and
	 * NULL. */
	int step;
	const char *follower;
	/* For each input: true if the region needs no parameter for it, because
	 * the templates take all that they need of this input from facts and
	 * shapes. NULL: false for all inputs. */
	const bool *told;
};

struct region_match {
	const struct backend *backend;
	const char *backend_name;
	const char *pattern;          /* its name */
	VEC(struct match_node) nodes; /* in topological order */
	struct node *anchor; /* the node from which the match was searched */
	VEC(struct fact) facts;
	int n_steps; /* the number of followers (passes/byoc/backend.h) */
	/* The region that the match is part of, after the merge of matches;
	 * NULL if no region takes the match. */
	struct graph_region *region;
};

struct graph_region {
	int id;           /* its index in graph.regions */
	const char *name; /* "dnnl_0": unique */
	const struct backend *backend;
	const char *backend_name;
	VEC(struct region_match *) matches; /* in topological order */
	/* In the order of their first use. Inputs and constants exclude the
	 * tensors that templates know from facts (match_node.told). Constants
	 * have bytes or a recipe. Outputs are read by nodes outside the region,
	 * or are outputs of the graph. */
	VEC(struct tensor *) inputs, constants, outputs;
	VEC(struct fact) attrs; /* set by the user or by region passes */
};

/* The role of n in its match; NULL if n is in no match. */
const struct match_node *region_role(const struct node *n);
/* The first node of the match with the role `role` and the step `step` (-1: the
 * body of the pattern); NULL if it has none. */
struct node *region_match_node(const struct region_match *m, const char *role,
			       int step);
/* The last node of the match in topological order: often the only node whose
 * result is read outside the match. */
struct node *region_match_last(const struct region_match *m);
/* The last node of a step; its output 0 is the step's result. */
struct node *region_step_last(const struct region_match *m, int step);
const struct fact *region_match_fact(const struct region_match *m,
				     const char *name, int step);
const struct fact *region_attr(const struct graph_region *r, const char *name);
/* Sets or replaces an attribute. *attr is copied, but not its texts and
 * arrays. */
void region_set_attr(struct graph *g, struct graph_region *r,
		     const struct fact *attr);
/* Is n one of r's nodes? */
bool region_has(const struct graph_region *r, const struct node *n);
int region_node_count(const struct graph_region *r);

/* A new match without nodes. Add its nodes in topological order; adding a node
 * sets its node.match. */
struct region_match *region_match_new(struct graph *g, const struct backend *b,
				      const char *backend_name,
				      const char *pattern);
void region_match_add(struct graph *g, struct region_match *m, struct node *n,
		      const char *role, int step, const char *follower);
/* A new region at the end of g->regions. Add its matches in topological
 * order. */
struct graph_region *graph_region_new(struct graph *g, const struct backend *b,
				      const char *backend_name,
				      const char *name);
void graph_region_add(struct graph *g, struct graph_region *r,
		      struct region_match *m);
/* Computes the inputs, constants and outputs of all regions anew. */
void graph_region_borders(struct graph *g);
/* Sorts g->nodes so that the nodes of each region are adjacent, and sorts the
 * regions and their matches in the same order; numbers the regions anew, but
 * keeps their names. If regions need each other's outputs, changes nothing,
 * sets *one to such a region, and returns false. */
bool graph_region_sort(struct graph *g, const struct graph_region **one);

#endif
