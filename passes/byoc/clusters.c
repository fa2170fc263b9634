/* SPDX-License-Identifier: Apache-2.0 */
/* Clusters of nodes. A set of clusters can be joined to one cluster if no path
 * leads from one cluster of the set through a cluster outside of the set back
 * to a cluster of the set:
 *
 *	a -> x -> b      a and b may join only together with x
 *
 * The order of the graph bounds the search: from a cluster that starts after
 * the last node of the set, a path can lead back only through a cluster that
 * starts before that node. */
#include "byoc.h"

struct clusters {
	struct graph *graph;
	int *position; /* by node->id */
	int *of;       /* by position: the number of the node's cluster */
	/* by position: the position of the next node of the same cluster, or
	 * -1 */
	int *next;
	/* by cluster: the first and the last node in the list of the cluster's
	 * nodes */
	int *head, *tail;
	/* by cluster: the first and the last position of a node of the
	 * cluster */
	int *min, *max;
	/* by cluster: the stamp of the last search that visited the cluster */
	int *mark, stamp;
	int *stack;
};

struct clusters *
clusters_new(struct graph *g)
{
	struct arena *a = &g->module->arena;
	struct clusters *c = arena_new(a, struct clusters);
	int n = g->nodes.n;

	c->graph = g;
	c->position = arena_array(a, int, g->next_node_id + 1);
	c->of = arena_array(a, int, n + 1);
	c->next = arena_array(a, int, n + 1);
	c->head = arena_array(a, int, n + 1);
	c->tail = arena_array(a, int, n + 1);
	c->min = arena_array(a, int, n + 1);
	c->max = arena_array(a, int, n + 1);
	c->mark = arena_array(a, int, n + 1);
	c->stack = arena_array(a, int, n + 1);
	for (int i = 0; i < n; i++) {
		c->position[g->nodes.data[i]->id] = i;
		c->of[i] = c->head[i] = c->tail[i] = i;
		c->min[i] = c->max[i] = i;
		c->next[i] = -1;
	}
	return c;
}

int
cluster_of(const struct clusters *c, const struct node *n)
{
	return c->of[c->position[n->id]];
}

static bool
is_one_of(const int *ids, int n, int id)
{
	for (int i = 0; i < n; i++) {
		if (ids[i] == id) {
			return true;
		}
	}
	return false;
}

/* The state of clusters_may_join: a search from the clusters ids[0..n) for a
 * path that leaves these clusters and leads back to one of them. */
struct search {
	const int *ids;
	int n;
	/* the last position of a node of the clusters ids[], and of all
	 * clusters that start before this position: clusters that start later
	 * are not searched */
	int last;
	int depth;
};

/* Pushes the clusters that read results of cluster `id` and were not seen yet.
 * False if a path leads back: cluster `id` is not among ids, and one of its
 * readers is. */
static bool
push_readers(struct clusters *c, struct search *s, int id)
{
	bool inside = is_one_of(s->ids, s->n, id);

	for (int p = c->head[id]; p >= 0; p = c->next[p]) {
		const struct node *n = c->graph->nodes.data[p];

		for (int k = 0; k < n->n_outputs; k++) {
			const struct tensor *t = n->outputs[k];

			for (int u = 0; t != NULL && u < t->uses.n; u++) {
				int to = cluster_of(c, t->uses.data[u].node);

				if (is_one_of(s->ids, s->n, to)) {
					if (!inside) {
						return false;
					}
				} else if (c->mark[to] != c->stamp &&
					   c->min[to] <= s->last) {
					c->mark[to] = c->stamp;
					c->stack[s->depth++] = to;
				}
			}
		}
	}
	return true;
}

bool
clusters_may_join(struct clusters *c, const int *ids, int n)
{
	struct search s = { ids, n, 0, 0 };

	c->stamp++;
	for (int i = 0; i < n; i++) {
		s.last = c->max[ids[i]] > s.last ? c->max[ids[i]] : s.last;
	}
	for (int p = 0; p <= s.last; p++) {
		s.last = c->max[c->of[p]] > s.last ? c->max[c->of[p]] : s.last;
	}
	for (int i = 0; i < n; i++) {
		push_readers(c, &s, ids[i]);
	}
	while (s.depth > 0) {
		if (!push_readers(c, &s, c->stack[--s.depth])) {
			return false;
		}
	}
	return true;
}

void
clusters_join(struct clusters *c, const int *ids, int n)
{
	int to = ids[0];

	for (int i = 1; i < n; i++) {
		int from = ids[i];

		if (from == to || c->head[from] < 0) {
			continue;
		}
		for (int p = c->head[from]; p >= 0; p = c->next[p]) {
			c->of[p] = to;
		}
		c->next[c->tail[to]] = c->head[from];
		c->tail[to] = c->tail[from];
		c->head[from] = -1;
		c->min[to] = c->min[from] < c->min[to] ? c->min[from]
						       : c->min[to];
		c->max[to] = c->max[from] > c->max[to] ? c->max[from]
						       : c->max[to];
	}
}

bool
clusters_join_match(struct clusters *c, const struct region_match *m)
{
	int *ids = arena_array(&c->graph->module->arena, int, m->nodes.n);

	for (int i = 0; i < m->nodes.n; i++) {
		ids[i] = cluster_of(c, m->nodes.data[i].node);
	}
	if (!clusters_may_join(c, ids, m->nodes.n)) {
		return false;
	}
	clusters_join(c, ids, m->nodes.n);
	return true;
}
