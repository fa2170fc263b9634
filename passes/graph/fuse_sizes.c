/* SPDX-License-Identifier: Apache-2.0 */
/* Orders the nodes so that each comes after the nodes that read the sizes on
 * which it relies, and decides which outputs of the model are views.
 *
 *	t = Neg (s)		float32[n]
 *	c = Max (j, one)
 *	k = tirc.RunSize (c)
 *	y = Reshape (t, k)	float32[k], an output, relies on k == n
 *
 * The kernel of t writes into the memory of y, which has room for k elements. So
 * k is read, and compared with n, before: the group of t waits for k. If k
 * depended on t, y would be a copy. */
#include "fuse.h"

typedef VEC(struct node *) node_list;

struct fuse_sizes {
	struct pointer_map numbers; /* the numbers of sizes, from
				     * graph_number_sizes */
	size_numbers *of; /* by node->id: the sizes on which the node relies */
	node_list *users; /* by size: the nodes that rely on the size */
};

void
fuse_find_sizes(struct fusion *f)
{
	struct graph *g = f->graph;
	struct arena *a = &g->module->arena;
	struct fuse_sizes *s;

	if (g->run_sizes.n == 0) {
		return;
	}
	s = f->sizes = arena_new(a, struct fuse_sizes);
	graph_number_sizes(g, &s->numbers);
	s->of = arena_array(a, size_numbers, g->next_node_id + 1);
	s->users = arena_array(a, node_list, g->run_sizes.n + 1);
	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];

		graph_add_node_sizes(&s->numbers, n, &s->of[n->id]);
		for (int k = 0; k < s->of[n->id].n; k++) {
			vec_push(a, &s->users[s->of[n->id].data[k]], n);
		}
	}
}

static struct node *
last_of(const struct group *group)
{
	return group->nodes.data[group->nodes.n - 1];
}

/* The region of a backend to which n belongs, as a group; NULL if n belongs to
 * none. (Other groups compute n only for their last node.) */
static const struct group *
region_of(const struct fusion *f, const struct node *n)
{
	const struct group *group = n->group >= 0 ? f->groups.data[n->group]
						  : NULL;

	return group != NULL && group->region != NULL ? group : NULL;
}

/* -- what is computed after a group -- */

struct search {
	const struct fusion *f;
	bool *seen; /* by node->id */
	node_list open;
};

static void
visit(struct search *s, struct node *n)
{
	if (n != NULL && !s->seen[n->id]) {
		s->seen[n->id] = true;
		vec_push(&s->f->graph->module->arena, &s->open, n);
	}
}

static void
visit_group(struct search *s, const struct group *group)
{
	for (int i = 0; group->region != NULL && i < group->nodes.n; i++) {
		visit(s, group->nodes.data[i]);
	}
	visit(s, last_of(group));
}

/* Visits the nodes that rely on the sizes that n reads, and the groups that
 * wait for these sizes. */
static void
visit_size_users(struct search *s, const struct node *n)
{
	const struct fusion *f = s->f;
	const struct graph *g = f->graph;

	for (int i = 0; node_run_sizes(n) >= 0 && i < g->run_sizes.n; i++) {
		if (g->run_sizes.data[i].read_by != n) {
			continue;
		}
		for (int k = 0; k < f->sizes->users[i].n; k++) {
			visit(s, f->sizes->users[i].data[k]);
		}
		for (int k = 0; k < f->groups.n; k++) {
			const struct group *group = f->groups.data[k];

			for (int w = 0; w < group->waits.n; w++) {
				if (group->waits.data[w] == i) {
					visit_group(s, group);
				}
			}
		}
	}
}

/* Marks all nodes that are computed after the group, or as a part of it. If a
 * node in the body of a branch or loop is marked, the whole body is computed
 * after the group. */
static void
find_later(struct search *s, const struct group *group)
{
	const struct graph *g = s->f->graph;

	visit_group(s, group);
	while (s->open.n > 0) {
		const struct node *n = s->open.data[--s->open.n];

		for (int k = 0; k < n->n_outputs; k++) {
			const struct tensor *t = n->outputs[k];

			for (int i = 0; t != NULL && i < t->uses.n; i++) {
				visit(s, t->uses.data[i].node);
			}
		}
		visit_size_users(s, n);
		if (region_of(s->f, n) != NULL) {
			visit_group(s, region_of(s->f, n));
		}
		if (n->body > 0) {
			visit(s, g->bodies.data[n->body].end);
		}
	}
}

/* -- outputs that are views -- */

/* Adds the sizes of t, and of those views of t that lead to an output of the
 * graph. */
static void
add_sizes_behind(const struct fusion *f, const struct tensor *t,
		 size_numbers *sizes)
{
	graph_add_sizes(&f->sizes->numbers, t->shape, t->ndim, sizes);
	for (int i = 0; i < t->uses.n; i++) {
		const struct node *user = t->uses.data[i].node;

		if (user->op->fuse == FUSE_VIEW && t->uses.data[i].input == 0 &&
		    fuse_outputs_behind(user->outputs[0]) > 0) {
			add_sizes_behind(f, user->outputs[0], sizes);
		}
	}
}

bool
fuse_waits_for_sizes(struct fusion *f, const struct node *view)
{
	struct arena *a = &f->graph->module->arena;
	const struct tensor *t = view->inputs[0];
	struct search s = { .f = f };
	size_numbers sizes = { 0 };
	struct group *group;

	if (f->sizes == NULL) {
		return true;
	}
	while (f->groups.data[t->producer->group]->is_view) {
		t = t->producer->inputs[0];
	}
	group = f->groups.data[t->producer->group];
	add_sizes_behind(f, t, &sizes);
	if (sizes.n == 0) {
		return true;
	}
	s.seen = arena_array(a, bool, f->graph->next_node_id + 1);
	find_later(&s, group);
	for (int i = 0; i < sizes.n; i++) {
		const struct node *n =
			f->graph->run_sizes.data[sizes.data[i]].read_by;

		if (n != NULL && s.seen[n->id]) {
			return false;
		}
	}
	for (int i = 0; i < sizes.n; i++) {
		vec_push(a, &group->waits, sizes.data[i]);
	}
	return true;
}

/* -- the order of nodes -- */

struct ordering {
	struct fusion *f;
	struct arena *a;
	/* By node->id: the nodes that must come before the node: nodes of the
	 * same body, or nodes that end branches and loops in this body. */
	node_list *before;
	bool *seen;
	int *next;       /* by node->id: the index in `before` of the next node
			  * to visit */
	node_list stack; /* the nodes that are being visited */
	node_list done;  /* the new order */
};

/* The node of the body `in` that contains n: n itself, or the end of a branch
 * or loop that contains n. */
static struct node *
within(const struct graph *g, struct node *n, int in)
{
	while (n->body != in) {
		n = g->bodies.data[n->body].end;
	}
	return n;
}

static void
add_before(struct ordering *o, struct node *n, struct node *before)
{
	const struct graph *g = o->f->graph;
	int in;

	if (before == NULL) {
		return;
	}
	in = graph_common_body(g, n->body, before->body);
	n = within(g, n, in);
	before = within(g, before, in);
	if (n != before) {
		vec_push(o->a, &o->before[n->id], before);
	}
}

static void
add_sizes_before(struct ordering *o, struct node *n, const size_numbers *sizes)
{
	for (int i = 0; i < sizes->n; i++) {
		add_before(o, n,
			   o->f->graph->run_sizes.data[sizes->data[i]].read_by);
	}
}

static void
find_before(struct ordering *o)
{
	struct fusion *f = o->f;

	for (int i = 0; i < f->graph->nodes.n; i++) {
		struct node *n = f->graph->nodes.data[i];
		const struct group *region = region_of(f, n);

		for (int k = 0; k < n->n_inputs; k++) {
			if (n->inputs[k] != NULL) {
				add_before(o, n, n->inputs[k]->producer);
			}
		}
		add_sizes_before(o, n, &f->sizes->of[n->id]);
		/* The nodes of a region stay together. */
		for (int k = 0; region != NULL && k < region->nodes.n; k++) {
			int id = region->nodes.data[k]->id;

			add_sizes_before(o, n, &f->sizes->of[id]);
		}
		if (region != NULL) {
			add_sizes_before(o, n, &region->waits);
		}
	}
	for (int i = 0; i < f->groups.n; i++) {
		const struct group *group = f->groups.data[i];

		add_sizes_before(o, last_of(group), &group->waits);
	}
}

static void
enter(struct ordering *o, struct node *n)
{
	if (!o->seen[n->id]) {
		o->seen[n->id] = true;
		vec_push(o->a, &o->stack, n);
	}
}

/* Appends the nodes that come before n and are not in the order yet, then n. */
static void
append(struct ordering *o, struct node *n)
{
	enter(o, n);
	while (o->stack.n > 0) {
		struct node *top = o->stack.data[o->stack.n - 1];

		if (o->next[top->id] < o->before[top->id].n) {
			enter(o, o->before[top->id].data[o->next[top->id]++]);
		} else {
			vec_push(o->a, &o->done, top);
			o->stack.n--;
		}
	}
}

void
fuse_order_by_sizes(struct fusion *f)
{
	struct graph *g = f->graph;
	struct arena *a = &g->module->arena;
	struct ordering o = { .f = f, .a = a };

	if (f->sizes == NULL) {
		return;
	}
	o.before = arena_array(a, node_list, g->next_node_id + 1);
	o.seen = arena_array(a, bool, g->next_node_id + 1);
	o.next = arena_array(a, int, g->next_node_id + 1);
	find_before(&o);
	for (int i = 0; i < g->nodes.n; i++) {
		append(&o, g->nodes.data[i]);
	}
	memcpy(g->nodes.data, o.done.data,
	       sizeof *g->nodes.data * (size_t)g->nodes.n);
	graph_order_by_body(g);
	for (int i = 0; i < g->nodes.n; i++) {
		f->position[g->nodes.data[i]->id] = i;
	}
}
