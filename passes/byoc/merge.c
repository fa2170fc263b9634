/* SPDX-License-Identifier: Apache-2.0 */
/* Grows regions: if a match reads a result of another match of its backend,
 * both become one region, unless a path leads out of the new region and back
 * into it.
 *
 *	a = conv        dnnl_0: a, b           a, b, d would wait for c,
 *	b = relu (a)            c = TopK (a)   which waits for a: so d is a
 *	c = TopK (a)    dnnl_1: d              region of its own
 *	d = add (b, c)
 *
 * In the order of the graph, each match and the regions whose results it reads
 * become one region, unless that makes a cycle. */
#include "byoc.h"
#include "rewrite.h"

struct merging {
	struct graph *graph;
	struct clusters *clusters;
	VEC(struct region_match *) matches;
	int *size; /* by cluster: the number of matches in it */
};

static void
find_matches(struct merging *x)
{
	struct graph *g = x->graph;

	for (int i = 0; i < g->nodes.n; i++) {
		struct region_match *m = g->nodes.data[i]->match;

		if (m != NULL && m->nodes.data[0].node == g->nodes.data[i]) {
			vec_push(&g->module->arena, &x->matches, m);
		}
	}
}

/* Gives up a match that depends on its own result: its nodes go back to
 * generated code. Annotation takes no match of this kind; a backend's own pass
 * may make one. */
static void
give_up_match(struct merging *x, struct region_match *m)
{
	struct graph *g = x->graph;

	for (int k = 0; k < m->nodes.n; k++) {
		m->nodes.data[k].node->match = NULL;
		byoc_note(g, m->nodes.data[k].node, m->backend, NULL,
			  m->pattern, "its match would create a cycle");
	}
	diag_warning(&g->module->diags, DIAG_BAD_PARTITION,
		     node_place(g, m->nodes.data[0].node),
		     "the match of pattern %s would create a cycle through "
		     "nodes that are not in it; it is left to generated code",
		     m->pattern);
}

/* Joins the nodes of each match to one cluster. */
static void
cluster_matches(struct merging *x)
{
	int kept = 0;

	for (int i = 0; i < x->matches.n; i++) {
		struct region_match *m = x->matches.data[i];

		if (!clusters_join_match(x->clusters, m)) {
			give_up_match(x, m);
			continue;
		}
		x->size[cluster_of(x->clusters, m->nodes.data[0].node)] = 1;
		x->matches.data[kept++] = m;
	}
	x->matches.n = kept;
}

static bool
join_with(struct merging *x, const struct region_match *m,
	  const struct region_match *other)
{
	const struct backend *b = m->backend;
	int ids[2] = { cluster_of(x->clusters, other->nodes.data[0].node),
		       cluster_of(x->clusters, m->nodes.data[0].node) };

	if (ids[0] == ids[1] || other->backend != b ||
	    (b->max_matches > 0 &&
	     x->size[ids[0]] + x->size[ids[1]] > b->max_matches) ||
	    !clusters_may_join(x->clusters, ids, 2)) {
		return false;
	}
	x->size[ids[0]] += x->size[ids[1]];
	clusters_join(x->clusters, ids, 2);
	return true;
}

/* Joins a match with the matches whose results it reads, where that makes no
 * cycle; true if any was joined. */
static bool
grow(struct merging *x, const struct region_match *m)
{
	bool any = false;

	for (int k = 0; k < m->nodes.n && m->backend->merge; k++) {
		const struct node *n = m->nodes.data[k].node;

		for (int i = 0; i < n->n_inputs; i++) {
			const struct tensor *t = n->inputs[i];
			const struct node *p = t != NULL ? t->producer : NULL;

			if (p != NULL && p->match != NULL && p->match != m) {
				any = join_with(x, m, p->match) || any;
			}
		}
	}
	return any;
}

static void
make_regions(struct merging *x)
{
	struct graph *g = x->graph;
	struct graph_region **of = arena_array(&g->module->arena,
					       struct graph_region *,
					       g->nodes.n + 1);

	for (int i = 0; i < x->matches.n; i++) {
		struct region_match *m = x->matches.data[i];
		int id = cluster_of(x->clusters, m->nodes.data[0].node);

		if (of[id] == NULL) {
			of[id] =
				graph_region_new(g, m->backend, m->backend_name,
						 arena_printf(&g->module->arena,
							      "%s_%d",
							      m->backend_name,
							      g->regions.n));
		}
		graph_region_add(g, of[id], m);
	}
}

bool
graph_merge(struct graph *g)
{
	struct merging x = { .graph = g };
	bool any = true;

	if (g->n_backends == 0 || g->regions.n > 0) {
		return true;
	}
	x.clusters = clusters_new(g);
	x.size = arena_array(&g->module->arena, int, g->nodes.n + 1);
	find_matches(&x);
	cluster_matches(&x);
	while (any) {
		any = false;
		for (int i = 0; i < x.matches.n; i++) {
			any = grow(&x, x.matches.data[i]) || any;
		}
	}
	make_regions(&x);
	graph_region_borders(g);
	return byoc_run_passes(g, REGION_MERGED);
}
