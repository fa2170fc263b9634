/* SPDX-License-Identifier: Apache-2.0 */
/* Regions and matches of a graph: creation, queries, order. */
#include "graph_region.h"

/* -- matches -- */

struct region_match *
region_match_new(struct graph *g, const struct backend *b,
		 const char *backend_name, const char *pattern)
{
	struct region_match *m = arena_new(&g->module->arena,
					   struct region_match);

	m->backend = b;
	m->backend_name = backend_name;
	m->pattern = pattern;
	return m;
}

void
region_match_add(struct graph *g, struct region_match *m, struct node *n,
		 const char *role, int step, const char *follower)
{
	struct match_node row = { n, role, step, follower, NULL };

	vec_push(&g->module->arena, &m->nodes, row);
	n->match = m;
	if (m->anchor == NULL) {
		m->anchor = n;
	}
	if (step >= m->n_steps) {
		m->n_steps = step + 1;
	}
}

const struct match_node *
region_role(const struct node *n)
{
	for (int i = 0; n->match != NULL && i < n->match->nodes.n; i++) {
		if (n->match->nodes.data[i].node == n) {
			return &n->match->nodes.data[i];
		}
	}
	return NULL;
}

struct node *
region_match_node(const struct region_match *m, const char *role, int step)
{
	for (int i = 0; i < m->nodes.n; i++) {
		const struct match_node *row = &m->nodes.data[i];

		if (row->step == step && strcmp(row->role, role) == 0) {
			return row->node;
		}
	}
	return NULL;
}

struct node *
region_match_last(const struct region_match *m)
{
	return m->nodes.data[m->nodes.n - 1].node;
}

struct node *
region_step_last(const struct region_match *m, int step)
{
	struct node *last = NULL;

	for (int i = 0; i < m->nodes.n; i++) {
		if (m->nodes.data[i].step == step) {
			last = m->nodes.data[i].node;
		}
	}
	return last;
}

const struct fact *
region_match_fact(const struct region_match *m, const char *name, int step)
{
	for (int i = 0; i < m->facts.n; i++) {
		const struct fact *f = &m->facts.data[i];

		if (f->step == step && strcmp(f->name, name) == 0) {
			return f;
		}
	}
	return NULL;
}

/* -- regions -- */

struct graph_region *
graph_region_new(struct graph *g, const struct backend *b,
		 const char *backend_name, const char *name)
{
	struct graph_region *r = arena_new(&g->module->arena,
					   struct graph_region);

	r->id = g->regions.n;
	r->name = name;
	r->backend = b;
	r->backend_name = backend_name;
	vec_push(&g->module->arena, &g->regions, r);
	return r;
}

void
graph_region_add(struct graph *g, struct graph_region *r,
		 struct region_match *m)
{
	vec_push(&g->module->arena, &r->matches, m);
	m->region = r;
}

const struct fact *
region_attr(const struct graph_region *r, const char *name)
{
	for (int i = 0; i < r->attrs.n; i++) {
		if (strcmp(r->attrs.data[i].name, name) == 0) {
			return &r->attrs.data[i];
		}
	}
	return NULL;
}

void
region_set_attr(struct graph *g, struct graph_region *r,
		const struct fact *attr)
{
	for (int i = 0; i < r->attrs.n; i++) {
		if (strcmp(r->attrs.data[i].name, attr->name) == 0) {
			r->attrs.data[i] = *attr;
			return;
		}
	}
	vec_push(&g->module->arena, &r->attrs, *attr);
}

bool
region_has(const struct graph_region *r, const struct node *n)
{
	return n->match != NULL && n->match->region == r;
}

int
region_node_count(const struct graph_region *r)
{
	int n = 0;

	for (int i = 0; i < r->matches.n; i++) {
		n += r->matches.data[i]->nodes.n;
	}
	return n;
}

/* -- inputs, constants and outputs -- */

static bool
read_outside(const struct graph_region *r, const struct tensor *t)
{
	for (int i = 0; i < t->uses.n; i++) {
		if (!region_has(r, t->uses.data[i].node)) {
			return true;
		}
	}
	return t->is_output;
}

/* Adds the inputs of a node of region r, its constants and its outputs to the
 * lists of r, each tensor once. seen[t->id]: 1 plus the id of the last region
 * for which tensor t was added to a list; 0: it was added for no region yet. */
static void
add_borders(struct graph *g, struct graph_region *r,
	    const struct match_node *role, int *seen)
{
	struct arena *a = &g->module->arena;
	const struct node *n = role->node;

	for (int i = 0; i < n->n_inputs; i++) {
		struct tensor *t = n->inputs[i];

		/* Tensors whose elements are known expressions, such as shapes,
		 * are not in memory. */
		if (t == NULL || seen[t->id] == r->id + 1 ||
		    (role->told != NULL && role->told[i]) ||
		    (t->producer == NULL && !t->is_input &&
		     !tensor_is_constant(t)) ||
		    (t->producer != NULL && region_has(r, t->producer))) {
			continue;
		}
		seen[t->id] = r->id + 1;
		if (tensor_is_constant(t)) {
			vec_push(a, &r->constants, t);
		} else {
			vec_push(a, &r->inputs, t);
		}
	}
	for (int k = 0; k < n->n_outputs; k++) {
		struct tensor *t = n->outputs[k];

		if (t != NULL && read_outside(r, t)) {
			vec_push(a, &r->outputs, t);
		}
	}
}

void
graph_region_borders(struct graph *g)
{
	int *seen = arena_array(&g->module->arena, int, g->tensors.n + 1);

	for (int i = 0; i < g->regions.n; i++) {
		struct graph_region *r = g->regions.data[i];

		r->inputs.n = r->constants.n = r->outputs.n = 0;
		for (int k = 0; k < r->matches.n; k++) {
			const struct region_match *m = r->matches.data[k];

			for (int x = 0; x < m->nodes.n; x++) {
				add_borders(g, r, &m->nodes.data[x], seen);
			}
		}
	}
}

/* -- order -- */

enum colour { UNSEEN, OPEN, DONE };

struct sorter {
	struct graph *graph;
	int *position;        /* by node id: the node's position in the order
			       * before the sort */
	enum colour *nodes;   /* by old position */
	enum colour *regions; /* by region->id */
	VEC(struct node *) order;
	VEC(struct graph_region *) region_order;
	const struct graph_region *cycle;
};

static bool visit(struct sorter *s, struct node *n,
		  const struct graph_region *inside);

static bool
visit_inputs(struct sorter *s, const struct node *n,
	     const struct graph_region *inside)
{
	for (int i = 0; i < n->n_inputs; i++) {
		struct tensor *t = n->inputs[i];

		if (t != NULL && t->producer != NULL &&
		    (inside == NULL || !region_has(inside, t->producer)) &&
		    !visit(s, t->producer, NULL)) {
			return false;
		}
	}
	return true;
}

/* Places in the order the matches of the region that m depends on, then m
 * itself. False if they depend on m. */
static bool
place_match(struct sorter *s, const struct region_match *m)
{
	int first = s->position[m->nodes.data[0].node->id];

	if (s->nodes[first] != UNSEEN) {
		s->cycle = s->nodes[first] == OPEN ? m->region : s->cycle;
		return s->nodes[first] == DONE;
	}
	s->nodes[first] = OPEN;
	for (int x = 0; x < m->nodes.n; x++) {
		const struct node *n = m->nodes.data[x].node;

		for (int i = 0; i < n->n_inputs; i++) {
			const struct tensor *t = n->inputs[i];

			if (t != NULL && t->producer != NULL &&
			    region_has(m->region, t->producer) &&
			    t->producer->match != m &&
			    !place_match(s, t->producer->match)) {
				return false;
			}
		}
	}
	for (int x = 0; x < m->nodes.n; x++) {
		struct node *n = m->nodes.data[x].node;

		s->nodes[s->position[n->id]] = DONE;
		vec_push(&s->graph->module->arena, &s->order, n);
	}
	return true;
}

static bool
visit_region(struct sorter *s, struct graph_region *r)
{
	if (s->regions[r->id] != UNSEEN) {
		s->cycle = s->regions[r->id] == OPEN ? r : s->cycle;
		return s->regions[r->id] == DONE;
	}
	s->regions[r->id] = OPEN;
	for (int k = 0; k < r->matches.n; k++) {
		const struct region_match *m = r->matches.data[k];

		for (int x = 0; x < m->nodes.n; x++) {
			if (!visit_inputs(s, m->nodes.data[x].node, r)) {
				s->cycle = s->cycle != NULL ? s->cycle : r;
				return false;
			}
		}
	}
	for (int k = 0; k < r->matches.n; k++) {
		if (!place_match(s, r->matches.data[k])) {
			return false;
		}
	}
	s->regions[r->id] = DONE;
	vec_push(&s->graph->module->arena, &s->region_order, r);
	return true;
}

static bool
visit(struct sorter *s, struct node *n, const struct graph_region *inside)
{
	int position = s->position[n->id];

	if (n->match != NULL && n->match->region != NULL) {
		return visit_region(s, n->match->region);
	}
	if (s->nodes[position] != UNSEEN) {
		return s->nodes[position] == DONE;
	}
	s->nodes[position] = OPEN;
	if (!visit_inputs(s, n, inside)) {
		return false;
	}
	s->nodes[position] = DONE;
	vec_push(&s->graph->module->arena, &s->order, n);
	return true;
}

/* Sorts the matches of a region by the order of their nodes. */
static void
sort_matches(struct graph_region *r, const int *position)
{
	for (int i = 1; i < r->matches.n; i++) {
		struct region_match *m = r->matches.data[i];
		int at = position[m->nodes.data[0].node->id], k = i;

		for (;
		     k > 0 &&
		     position[r->matches.data[k - 1]->nodes.data[0].node->id] >
			     at;
		     k--) {
			r->matches.data[k] = r->matches.data[k - 1];
		}
		r->matches.data[k] = m;
	}
}

bool
graph_region_sort(struct graph *g, const struct graph_region **one)
{
	struct arena *a = &g->module->arena;
	struct sorter s = {
		.graph = g,
		.position = arena_array(a, int, g->next_node_id + 1),
		.nodes = arena_array(a, enum colour, g->nodes.n + 1),
		.regions = arena_array(a, enum colour, g->regions.n + 1),
	};

	for (int i = 0; i < g->nodes.n; i++) {
		s.position[g->nodes.data[i]->id] = i;
	}
	for (int i = 0; i < g->nodes.n; i++) {
		if (!visit(&s, g->nodes.data[i], NULL)) {
			*one = s.cycle;
			return false;
		}
	}
	for (int i = 0; i < s.order.n; i++) {
		g->nodes.data[i] = s.order.data[i];
		s.position[s.order.data[i]->id] = i;
	}
	for (int i = 0; i < s.region_order.n; i++) {
		g->regions.data[i] = s.region_order.data[i];
		g->regions.data[i]->id = i;
		sort_matches(g->regions.data[i], s.position);
	}
	return true;
}
