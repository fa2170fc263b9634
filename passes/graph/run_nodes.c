/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the nodes of a graph, one after the other, in the interpreter. */
#include "ops.h"
#include "passes.h"
#include "rewrite.h"

const struct node *
graph_not_run(const struct graph *g)
{
	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];

		if (node_is_control(n) || node_run_sizes(n) >= 0) {
			return n;
		}
	}
	return NULL;
}

static void
give(struct graph *g, struct tensor *x, const void *data)
{
	struct value *v = arena_new(&g->module->arena, struct value);

	v->type = x->type;
	v->data = data;
	tensor_const_elems(x, &v->elems);
	v->bytes = (size_t)v->elems * (size_t)dtype_bytes(x->type);
	x->value = v;
}

bool
graph_find_inputs(struct graph *g, const struct node *n)
{
	for (int i = 0; i < n->n_inputs; i++) {
		struct tensor *x = n->inputs[i];

		if (x != NULL && x->value == NULL &&
		    (!tensor_is_constant(x) || !tensor_value(g, x))) {
			return diag_error(&g->module->diags, DIAG_INTERPRET,
					  node_place(g, n),
					  "input '%s' has no value", x->name);
		}
	}
	return true;
}

bool
graph_run_node(struct graph *g, const struct node *n)
{
	const struct value **results;

	if (!graph_find_inputs(g, n)) {
		return false;
	}
	results = arena_array(&g->module->arena, const struct value *,
			      n->n_outputs + 1);
	if (!ops_evaluate(g, n, results)) {
		return false;
	}
	for (int i = 0; i < n->n_outputs; i++) {
		if (n->outputs[i] != NULL) {
			n->outputs[i]->value = results[i];
		}
	}
	return true;
}

/* Notes which tensors have known elements for all inputs, before nodes note the
 * elements of this run's small tensors as known (tensor_known). */
static void
note_known(struct graph *g)
{
	bool *known = arena_array(&g->module->arena, bool, g->tensors.n + 1);

	for (int i = 0; i < g->tensors.n; i++) {
		known[i] = g->tensors.data[i]->elems != NULL;
	}
	g->known_before_run = known;
}

bool
graph_run(struct graph *g, const void *const *inputs,
	  const struct graph_run *how)
{
	note_known(g);
	for (int i = 0; i < g->inputs.n; i++) {
		give(g, g->inputs.data[i], inputs[i]);
	}
	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];

		if ((how->before != NULL && !how->before(how->ctx, n)) ||
		    !(how->run != NULL ? how->run(how->run_ctx, g, n)
				       : graph_run_node(g, n)) ||
		    (how->after != NULL && !how->after(how->ctx, n))) {
			return false;
		}
	}
	return true;
}

static void
take_back(struct graph *g, struct tensor *t)
{
	t->value = NULL;
	if (!g->known_before_run[t->id]) {
		t->elems = NULL;
		t->n_elems = 0;
	}
}

void
graph_run_end(struct graph *g)
{
	for (int i = 0; i < g->inputs.n; i++) {
		take_back(g, g->inputs.data[i]);
	}
	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];

		for (int k = 0; k < n->n_outputs; k++) {
			if (n->outputs[k] != NULL) {
				take_back(g, n->outputs[k]);
			}
		}
	}
}
