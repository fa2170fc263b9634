/* SPDX-License-Identifier: Apache-2.0 */
/* An order of a graph's nodes, tensors and uses that depends only on the edges:
 * depth first from the outputs, each node after the producers of its inputs, in
 * the inputs' order.
 *
 *   b = Relu(x)                    a = Abs(x)
 *   a = Abs(x)          ->         b = Relu(x)
 *   y = Add(a, b)                  y = Add(a, b)
 * */
#include "graph.h"

struct visit {
	struct node *node;
	int next; /* index of the node's next input to visit */
};

struct ordering {
	struct graph *g;
	struct arena *a;
	bool *seen; /* by node->id */
	VEC(struct visit) stack;
	VEC(struct node *) nodes;
};

static void
enter(struct ordering *o, const struct tensor *t)
{
	struct node *n = t != NULL ? t->producer : NULL;

	if (n != NULL && !o->seen[n->id]) {
		o->seen[n->id] = true;
		vec_push(o->a, &o->stack, ((struct visit){ n, 0 }));
	}
}

/* Appends to the order the producers that n needs and that the order does not
 * contain yet, then n itself. */
static void
finish_stack(struct ordering *o)
{
	while (o->stack.n > 0) {
		struct visit *top = &o->stack.data[o->stack.n - 1];

		if (top->next < top->node->n_inputs) {
			enter(o, top->node->inputs[top->next++]);
		} else {
			vec_push(o->a, &o->nodes, top->node);
			o->stack.n--;
		}
	}
}

static void
order_nodes(struct ordering *o)
{
	struct graph *g = o->g;
	int last = 0;

	for (int i = 0; i < g->nodes.n; i++) {
		last = g->nodes.data[i]->id > last ? g->nodes.data[i]->id
						   : last;
	}
	o->seen = arena_array(o->a, bool, last + 1);
	for (int i = 0; i < g->outputs.n; i++) {
		enter(o, g->outputs.data[i]);
		finish_stack(o);
	}
	/* Nodes that no output needs come last. */
	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];

		if (!o->seen[n->id]) {
			o->seen[n->id] = true;
			vec_push(o->a, &o->stack, ((struct visit){ n, 0 }));
			finish_stack(o);
		}
	}
	memcpy(g->nodes.data, o->nodes.data,
	       sizeof *g->nodes.data * (size_t)g->nodes.n);
}

static void
put_tensor(struct tensor *t, bool *seen, struct tensor **list, int *n)
{
	if (t != NULL && !seen[t->id]) {
		seen[t->id] = true;
		list[(*n)++] = t;
	}
}

static void
order_tensors(struct ordering *o)
{
	struct graph *g = o->g;
	int n_tensors = g->tensors.n, n = 0;
	bool *seen = arena_array(o->a, bool, n_tensors + 1);
	struct tensor **list = arena_array(o->a, struct tensor *,
					   n_tensors + 1);

	for (int i = 0; i < g->inputs.n; i++) {
		put_tensor(g->inputs.data[i], seen, list, &n);
	}
	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *node = g->nodes.data[i];

		for (int k = 0; k < node->n_inputs; k++) {
			put_tensor(node->inputs[k], seen, list, &n);
		}
		for (int k = 0; k < node->n_outputs; k++) {
			put_tensor(node->outputs[k], seen, list, &n);
		}
	}
	for (int i = 0; i < n_tensors; i++) {
		put_tensor(g->tensors.data[i], seen, list, &n);
	}
	for (int i = 0; i < n; i++) {
		g->tensors.data[i] = list[i];
		list[i]->id = i;
		list[i]->uses.n = 0;
	}
}

/* Rebuilds the lists of uses, in the order in which node_set_input would add
 * the uses: by the order of the nodes. */
static void
order_uses(struct ordering *o)
{
	for (int i = 0; i < o->g->nodes.n; i++) {
		struct node *n = o->g->nodes.data[i];

		for (int k = 0; k < n->n_inputs; k++) {
			if (n->inputs[k] != NULL) {
				vec_push(o->a, &n->inputs[k]->uses,
					 ((struct use){ n, k }));
			}
		}
	}
}

void
graph_order(struct graph *g)
{
	struct ordering o = { .g = g, .a = &g->module->arena };

	order_nodes(&o);
	order_tensors(&o);
	order_uses(&o);
	g->edits++;
}
