/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns nodes of a graph to patterns of backends.
 *
 *	a = Conv (x, w)            a = Conv (x, w)    conv of dnnl
 *	b = Relu (a)       ->      b = Relu (a)       relu of the same match
 *	y = TopK (b, k)            y = TopK (b, k)
 *
 * All matches of all patterns are sorted: by the backends' order on the command
 * line, then by priority, then by size. In this order, each match is taken if
 * its nodes are free; if some of its nodes are taken, the pattern is matched
 * again with the nodes that are still free. So patterns may overlap. A match
 * that would depend on its own result, through nodes outside of it, is not
 * taken. */
#include <stdlib.h>

#include "byoc.h"
#include "rewrite.h"

/* A match that may be taken, with the keys of the order in which the candidates
 * are tried. */
struct candidate {
	struct region_match *match;
	const struct pattern *pattern;
	int rank;     /* the index of the match's backend in graph.backends */
	int row;      /* the index of the match's pattern in backend.patterns */
	int position; /* the index of the match's anchor in graph.nodes */
};

struct annotation {
	struct graph *graph;
	struct clusters *clusters;
	VEC(struct candidate) list;
	/* candidates before this index are decided: they were taken or
	 * refused */
	int next;
};

static int
compare(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;

	if (a->rank != b->rank) {
		return a->rank < b->rank ? -1 : 1;
	}
	if (a->pattern->priority != b->pattern->priority) {
		return a->pattern->priority > b->pattern->priority ? -1 : 1;
	}
	if (a->match->nodes.n != b->match->nodes.n) {
		return a->match->nodes.n > b->match->nodes.n ? -1 : 1;
	}
	if (a->position != b->position) {
		return a->position < b->position ? -1 : 1;
	}
	return a->row < b->row ? -1 : a->row > b->row;
}

static const struct pattern_node *
anchor_of(const struct pattern *p)
{
	return &p->variants[0].nodes[p->variants[0].order[0]];
}

static void
find_candidates(struct annotation *x, int rank)
{
	struct graph *g = x->graph;
	const struct backend *b = g->backends[rank];

	for (int k = 0; k < b->n_patterns; k++) {
		const struct pattern *p = &b->patterns[k];

		for (int i = 0; i < g->nodes.n; i++) {
			struct candidate c = { NULL, p, rank, k, i };
			struct node *n = g->nodes.data[i];

			if (!byoc_is_op(anchor_of(p), n)) {
				continue;
			}
			c.match = byoc_match(g, b, p, n);
			if (c.match != NULL) {
				vec_push(&g->module->arena, &x->list, c);
			}
		}
	}
}

static bool
is_free(const struct region_match *m)
{
	for (int i = 0; i < m->nodes.n; i++) {
		if (m->nodes.data[i].node->match != NULL) {
			return false;
		}
	}
	return true;
}

/* Inserts a candidate at its place in the order among the candidates that are
 * not decided yet. */
static void
insert(struct annotation *x, struct candidate c)
{
	int at = x->next;

	while (at < x->list.n && compare(&x->list.data[at], &c) < 0) {
		at++;
	}
	vec_push(&x->graph->module->arena, &x->list, c);
	memmove(&x->list.data[at + 1], &x->list.data[at],
		sizeof c * (size_t)(x->list.n - 1 - at));
	x->list.data[at] = c;
}

static void
accept_match(struct annotation *x, struct region_match *m)
{
	if (!clusters_join_match(x->clusters, m)) {
		byoc_note(x->graph, m->anchor, m->backend, NULL, m->pattern,
			  "a path between its nodes leads through other nodes");
		return;
	}
	for (int i = 0; i < m->nodes.n; i++) {
		m->nodes.data[i].node->match = m;
	}
}

/* Tells the user that backends get no nodes, because the model has control
 * flow. */
static void
note_control(struct graph *g)
{
	graph_assume(g, "backends compute nothing, because the model has "
			"branches or loops; the code for all nodes is "
			"generated");
}

bool
graph_annotate(struct graph *g)
{
	struct annotation x = { .graph = g };

	if (g->n_backends == 0 || g->regions.n > 0) {
		return true;
	}
	if (graph_has_control(g)) {
		note_control(g);
		return true;
	}
	for (int i = 0; i < g->nodes.n; i++) {
		g->nodes.data[i]->match = NULL;
	}
	for (int rank = 0; rank < g->n_backends; rank++) {
		find_candidates(&x, rank);
	}
	if (x.list.n > 0) {
		qsort(x.list.data, (size_t)x.list.n, sizeof *x.list.data,
		      compare);
	}
	x.clusters = clusters_new(g);
	while (x.next < x.list.n) {
		struct candidate c = x.list.data[x.next++];

		if (is_free(c.match)) {
			accept_match(&x, c.match);
			continue;
		}
		c.match = c.match->anchor->match != NULL
				  ? NULL
				  : byoc_match(g, g->backends[c.rank],
					       c.pattern, c.match->anchor);
		if (c.match != NULL) {
			insert(&x, c);
		}
	}
	return byoc_run_passes(g, REGION_ANNOTATED);
}
