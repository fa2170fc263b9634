/* SPDX-License-Identifier: Apache-2.0 */
/* Dead code elimination: drops nodes without used results, and unused optional
 * results.
 *
 *	a = Relu (x)           b = Exp (x)
 *	b = Exp (x)       ->   output b
 *	output b
 */
#include "rewrite.h"

static bool
is_used(const struct tensor *t)
{
	return t && (t->uses.n > 0 || t->is_output);
}

/* -- the nodes that are needed -- */

struct needed {
	struct graph *g;
	struct arena *a;
	struct pointer_map numbers; /* the numbers of sizes, from
				     * graph_number_sizes */
	/* by size: the node that reads it at run time, or NULL */
	struct node **reads;
	/* by body: the node that ends the body, or NULL */
	VEC(struct node *) ends;
	bool *seen; /* by node->id */
	VEC(struct node *)
	open; /* the nodes in `seen` that are still to be
				  * visited */
};

static void
note_end(struct needed *x, struct node *end, const char *attr)
{
	int64_t body = node_attr_int(end, attr, 0);

	while (x->ends.n <= body) {
		vec_push(x->a, &x->ends, NULL);
	}
	x->ends.data[body] = end;
}

/* Finds the nodes that read sizes, and the nodes that end branches and
 * loops. */
static void
find_reads_and_ends(struct needed *x)
{
	const struct graph *g = x->g;
	int64_t count;

	graph_number_sizes(g, &x->numbers);
	x->reads = arena_array(x->a, struct node *, g->run_sizes.n + 1);
	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];
		int first = node_run_sizes(n);

		if (first >= 0 && tensor_const_elems(n->outputs[0], &count)) {
			for (int64_t k = 0; k < count; k++) {
				x->reads[first + k] = n;
			}
		} else if (node_ends_if(n)) {
			note_end(x, n, "then");
			note_end(x, n, "else");
		} else if (node_ends_loop(n)) {
			note_end(x, n, "loop");
		}
	}
}

static void
need(struct needed *x, struct node *n)
{
	if (n != NULL && !x->seen[n->id]) {
		x->seen[n->id] = true;
		vec_push(x->a, &x->open, n);
	}
}

static void
need_sizes(struct needed *x, const size_numbers *sizes)
{
	for (int i = 0; i < sizes->n; i++) {
		need(x, x->reads[sizes->data[i]]);
	}
}

/* Visits the nodes that the nodes in x->open need: the producers of their
 * inputs, and the nodes that read sizes on which they rely. */
static void
visit_open(struct needed *x)
{
	while (x->open.n > 0) {
		struct node *n = x->open.data[--x->open.n];
		size_numbers sizes = { 0 };

		for (int i = 0; i < n->n_inputs; i++) {
			if (n->inputs[i] != NULL) {
				need(x, n->inputs[i]->producer);
			}
		}
		if (x->g->run_sizes.n > 0) {
			graph_add_node_sizes(&x->numbers, n, &sizes);
			need_sizes(x, &sizes);
		}
	}
}

static void
need_outputs(struct needed *x)
{
	for (int i = 0; i < x->g->outputs.n; i++) {
		const struct tensor *t = x->g->outputs.data[i];
		size_numbers sizes = { 0 };

		need(x, t->producer);
		graph_add_sizes(&x->numbers, t->shape, t->ndim, &sizes);
		need_sizes(x, &sizes);
	}
	visit_open(x);
}

/* Does the attribute of n name no branch or loop, or one that is needed? */
static bool
has_needed_end(const struct needed *x, const struct node *n)
{
	int64_t body = node_is_control(n) ? node_attr_int(n, "body", 0) : 0;

	return body == 0 || (body < x->ends.n && x->ends.data[body] != NULL &&
			     x->seen[x->ends.data[body]->id]);
}

/* Is n in a branch or loop that is not needed, or is a producer of its inputs,
 * directly or indirectly? */
static bool
is_in_dead_body(struct needed *x, const struct node *n)
{
	VEC(const struct node *) open = { 0 };
	struct pointer_map seen;
	bool dead = false;

	pointer_map_init(&seen, x->a);
	vec_push(x->a, &open, n);
	while (open.n > 0 && !dead) {
		n = open.data[--open.n];
		if (x->seen[n->id] || !pointer_map_add(&seen, n)) {
			continue;
		}
		dead = !has_needed_end(x, n);
		for (int i = 0; i < n->n_inputs; i++) {
			if (n->inputs[i] != NULL &&
			    n->inputs[i]->producer != NULL) {
				vec_push(x->a, &open, n->inputs[i]->producer);
			}
		}
	}
	return dead;
}

/* Marks the nodes that read the sizes in conditions that the entry function
 * checks, and drops the conditions on sizes of branches and loops that are not
 * needed. */
static void
need_checks(struct needed *x)
{
	struct graph *g = x->g;
	int kept = 0;

	for (int i = 0; i < g->checks.n; i++) {
		const struct expr *both[2] = { g->checks.data[i].condition,
					       g->checks.data[i].unless };
		size_numbers sizes = { 0 };
		bool dead = false;

		graph_add_sizes(&x->numbers, both, both[1] != NULL ? 2 : 1,
				&sizes);
		for (int k = 0; k < sizes.n && !dead; k++) {
			const struct node *n = x->reads[sizes.data[k]];

			dead = n != NULL && is_in_dead_body(x, n);
		}
		if (!dead) {
			need_sizes(x, &sizes);
			visit_open(x);
			g->checks.data[kept++] = g->checks.data[i];
		}
	}
	g->checks.n = kept;
}

/* Drops unused optional results. If the operator has a variable number of
 * outputs, as Split has, its result depends on this number: then unused outputs
 * become NULL and keep their positions. */
static void
drop_optional_outputs(struct graph *g, struct node *n)
{
	int required = n->op ? n->op->min_outputs : n->n_outputs;
	bool counted = n->op && n->op->max_outputs < 0;

	for (int i = required; i < n->n_outputs; i++) {
		if (n->outputs[i] && !is_used(n->outputs[i])) {
			n->outputs[i]->producer = NULL;
			n->outputs[i] = NULL;
			g->edits++;
		}
	}
	while (!counted && n->n_outputs > required &&
	       !n->outputs[n->n_outputs - 1]) {
		n->n_outputs--;
	}
}

bool
graph_dead(struct graph *g)
{
	struct needed x = { .g = g, .a = &g->module->arena };

	x.seen = arena_array(x.a, bool, g->next_node_id + 1);
	find_reads_and_ends(&x);
	need_outputs(&x);
	need_checks(&x);
	for (int i = g->nodes.n - 1; i >= 0; i--) {
		struct node *n = g->nodes.data[i];

		if (x.seen[n->id]) {
			drop_optional_outputs(g, n);
		} else {
			graph_remove_node(g, n, "dead",
					  "nothing reads its results");
		}
	}
	graph_drop_unused_tensors(g);
	return true;
}
