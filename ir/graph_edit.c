/* SPDX-License-Identifier: Apache-2.0 */
/* Edits of graphs: links both ways stay whole, origins keep their story. */
#include "graph.h"

static void
use_remove(struct tensor *t, const struct node *n, int input)
{
	for (int i = 0; i < t->uses.n; i++) {
		struct use *u = &t->uses.data[i];

		if (u->node == n && u->input == input) {
			memmove(u, u + 1,
				sizeof *u * (size_t)(t->uses.n - 1 - i));
			t->uses.n--;
			return;
		}
	}
}

void
node_set_input(struct node *n, int i, struct tensor *t)
{
	if (n->inputs[i]) {
		use_remove(n->inputs[i], n, i);
	}
	n->graph->edits++;
	n->inputs[i] = t;
	if (t) {
		vec_push(&n->graph->module->arena, &t->uses,
			 ((struct use){ n, i }));
	}
}

void
node_resize_inputs(struct node *n, int count)
{
	struct tensor **inputs = arena_array(&n->graph->module->arena,
					     struct tensor *, count + 1);

	for (int i = count; i < n->n_inputs; i++) {
		node_set_input(n, i, NULL);
	}
	for (int i = 0; i < n->n_inputs && i < count; i++) {
		inputs[i] = n->inputs[i];
	}
	n->inputs = inputs;
	n->n_inputs = count;
}

static void
swap_names(struct graph *g, struct tensor *a, struct tensor *b)
{
	const char *name_a = a->name, *name_b = b->name;

	/* A name that nobody has, for the moment between. */
	graph_rename(g, a, arena_printf(&g->module->arena, "%s.swap", name_a));
	graph_rename(g, b, name_a);
	graph_rename(g, a, name_b);
}

void
graph_replace_uses(struct graph *g, struct tensor *from, struct tensor *to)
{
	struct arena *a = &g->module->arena;

	if (from == to) {
		return;
	}
	g->edits++;
	for (int i = 0; i < from->uses.n; i++) {
		struct use *u = &from->uses.data[i];

		u->node->inputs[u->input] = to;
		vec_push(a, &to->uses, *u);
	}
	from->uses.n = 0;
	if (!from->is_output) {
		return;
	}
	for (int i = 0; i < g->outputs.n; i++) {
		if (g->outputs.data[i] == from) {
			g->outputs.data[i] = to;
		}
	}
	from->is_output = false;
	if (!to->is_input && !to->is_output) {
		swap_names(g, from, to);
	}
	to->is_output = true;
}

static void
set_fate(struct graph *g, const struct node *n, const char *pass,
	 const char *why)
{
	for (int i = 0; i < n->origins.n; i++) {
		struct origin *o = &g->origins.data[n->origins.data[i]];

		o->pass = pass;
		o->fate = arena_strdup(&g->module->arena, why);
	}
}

static void
take_from_order(struct graph *g, struct node *n)
{
	g->edits++;
	for (int i = 0; i < n->n_inputs; i++) {
		if (n->inputs[i]) {
			use_remove(n->inputs[i], n, i);
		}
	}
	for (int i = 0; i < g->nodes.n; i++) {
		struct node **at = &g->nodes.data[i];

		if (*at == n) {
			memmove(at, at + 1,
				sizeof *at * (size_t)(g->nodes.n - 1 - i));
			g->nodes.n--;
			return;
		}
	}
}

void
graph_remove_node(struct graph *g, struct node *n, const char *pass,
		  const char *why)
{
	set_fate(g, n, pass, why);
	take_from_order(g, n);
	for (int i = 0; i < n->n_outputs; i++) {
		if (n->outputs[i] && n->outputs[i]->producer == n) {
			n->outputs[i]->producer = NULL;
		}
	}
}

void
graph_make_recipe(struct graph *g, struct node *n, const char *pass,
		  const char *why)
{
	set_fate(g, n, pass, why);
	take_from_order(g, n);
	for (int i = 0; i < n->n_outputs; i++) {
		if (n->outputs[i]) {
			n->outputs[i]->producer = NULL;
			n->outputs[i]->recipe = n;
		}
	}
}

void
graph_absorb(struct graph *g, struct node *into, struct node *from)
{
	for (int i = 0; i < from->origins.n; i++) {
		vec_push(&g->module->arena, &into->origins,
			 from->origins.data[i]);
	}
	from->origins.n = 0;
}

/* Kahn's algorithm that always takes the earliest ready node of the present
 * order, by a binary heap of positions: stable. */
struct ready {
	int *heap;
	int n;
};

static void
ready_push(struct ready *r, int position)
{
	int i = r->n++;

	while (i > 0 && r->heap[(i - 1) / 2] > position) {
		r->heap[i] = r->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	r->heap[i] = position;
}

static int
ready_pop(struct ready *r)
{
	int top = r->heap[0], last = r->heap[--r->n], i = 0;

	for (;;) {
		int child = 2 * i + 1;

		if (child >= r->n) {
			break;
		}
		if (child + 1 < r->n && r->heap[child + 1] < r->heap[child]) {
			child++;
		}
		if (r->heap[child] >= last) {
			break;
		}
		r->heap[i] = r->heap[child];
		i = child;
	}
	r->heap[i] = last;
	return top;
}

static void
report_cycle(struct graph *g, const int *missing, struct node *const *nodes,
	     int n)
{
	for (int i = 0; i < n; i++) {
		if (missing[i] > 0) {
			diag_error(&g->module->diags, DIAG_CYCLE,
				   node_place(g, nodes[i]),
				   "the node needs its own result; "
				   "break the cycle");
			return;
		}
	}
}

bool
graph_sort(struct graph *g)
{
	struct arena *a = &g->module->arena;
	int n = g->nodes.n, done = 0;
	struct node **nodes = arena_copy(a, g->nodes.data,
					 sizeof *nodes * (size_t)n);
	int *missing = arena_array(a, int, n + 1);
	int *ids = arena_array(a, int, n + 1); /* ids by position */
	struct ready r = { arena_array(a, int, n + 1), 0 };

	/* Positions go through node.id, restored at the end. */
	for (int i = 0; i < n; i++) {
		ids[i] = nodes[i]->id;
		nodes[i]->id = i;
	}
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < nodes[i]->n_inputs; k++) {
			struct tensor *t = nodes[i]->inputs[k];

			missing[i] += t && t->producer;
		}
		if (missing[i] == 0) {
			ready_push(&r, i);
		}
	}
	while (r.n > 0) {
		struct node *node = nodes[ready_pop(&r)];

		g->nodes.data[done++] = node;
		for (int k = 0; k < node->n_outputs; k++) {
			struct tensor *t = node->outputs[k];

			for (int u = 0; t && u < t->uses.n; u++) {
				int user = t->uses.data[u].node->id;

				if (--missing[user] == 0) {
					ready_push(&r, user);
				}
			}
		}
	}
	for (int i = 0; i < n; i++) {
		nodes[i]->id = ids[i];
	}
	if (done < n) {
		memcpy(g->nodes.data, nodes, sizeof *nodes * (size_t)n);
		report_cycle(g, missing, nodes, n);
		return false;
	}
	return true;
}
