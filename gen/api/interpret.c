/* SPDX-License-Identifier: Apache-2.0 */
/* The public interface: runs a loaded model node by node in the interpreter. */
#include <string.h>

#include "ops.h"
#include "passes.h"
#include "tirc_context.h"

static void
give(struct tirc *t, struct tensor *x, const void *data)
{
	struct value *v = arena_new(&t->m->arena, struct value);

	v->type = x->type;
	v->data = data;
	tensor_const_elems(x, &v->elems);
	v->bytes = (size_t)v->elems * (size_t)dtype_bytes(x->type);
	x->value = v;
}

static bool
run_node(struct tirc *t, const struct node *n)
{
	const struct value **results;

	if (node_is_control(n) || node_run_sizes(n) >= 0) {
		return diag_error(&t->m->diags, DIAG_UNSUPPORTED,
				  node_place(t->graph, n),
				  "the interpreter runs no model with %s, as "
				  "%s",
				  node_is_control(n)
					  ? "branches and loops"
					  : "sizes that depend on values",
				  t->options.package != NULL
					  ? "the self-test of a package "
					    "needs; leave --package out"
					  : "--layers needs; give the values "
					    "of its tensors: "
					    "--layers=FILE.npz");
	}
	for (int i = 0; i < n->n_inputs; i++) {
		struct tensor *x = n->inputs[i];

		if (x != NULL && x->value == NULL &&
		    (!tensor_is_constant(x) || !tensor_value(t->graph, x))) {
			return diag_error(&t->m->diags, DIAG_INTERPRET,
					  node_place(t->graph, n),
					  "input '%s' has no value", x->name);
		}
	}
	results = arena_array(&t->m->arena, const struct value *,
			      n->n_outputs + 1);
	if (!ops_evaluate(t->graph, n, results)) {
		return false;
	}
	for (int i = 0; i < n->n_outputs; i++) {
		if (n->outputs[i] != NULL) {
			n->outputs[i]->value = results[i];
		}
	}
	return true;
}

static bool
copy_elements(struct graph *g, struct tensor *y, void *to)
{
	const struct value *v = tensor_value(g, y);

	if (v == NULL) {
		return false;
	}
	for (int64_t k = 0; v->data == NULL && k < v->elems; k++) {
		number_store(v->type, to, (size_t)k, v->fill);
	}
	if (v->data != NULL) {
		memcpy(to, v->data, v->bytes);
	}
	return true;
}

static bool
copy_outputs(struct tirc *t, void *const *outputs)
{
	struct graph *g = t->graph;
	int n = g->outputs.n;

	for (int i = 0; i < n; i++) {
		if (!copy_elements(g, g->outputs.data[i], outputs[i])) {
			return false;
		}
	}
	for (int i = 0; i < t->left.n; i++) {
		struct tensor *x = (struct tensor *)t->left.data[i]->tensor;

		if (!copy_elements(g, x, outputs[n + i])) {
			return false;
		}
	}
	return true;
}

/* Sets the states of a compiled model to zeros: they are no longer inputs, for
 * which the caller gives values. */
static void
give_states(struct tirc *t)
{
	for (int i = 0; t->compiled && i < t->graph->states.n; i++) {
		struct tensor *x = t->graph->states.data[i].before;

		give(t, x, NULL);
	}
}

bool
tirc_interpret(struct tirc *t, const void *const *inputs, void *const *outputs)
{
	struct graph *g = t->graph;
	bool ok = true;

	if (g->dims.n > 0) {
		return diag_error(&t->m->diags, DIAG_UNSUPPORTED,
				  (struct diag_place){ .file = g->file },
				  "the interpreter runs no model of symbolic "
				  "sizes; give each a value with --dim");
	}
	for (int i = 0; i < g->inputs.n; i++) {
		give(t, g->inputs.data[i], inputs[i]);
	}
	give_states(t);
	for (int i = 0; ok && i < g->nodes.n; i++) {
		context_progress(t, "interpreter", i + 1, g->nodes.n);
		ok = run_node(t, g->nodes.data[i]);
	}
	ok = ok && copy_outputs(t, outputs);
	/* Removes the values of tensors that depend on inputs: a tensor with a
	 * value would count as a constant. */
	for (int i = 0; i < g->inputs.n; i++) {
		g->inputs.data[i]->value = NULL;
	}
	for (int i = 0; t->compiled && i < g->states.n; i++) {
		g->states.data[i].before->value = NULL;
	}
	for (int i = 0; i < g->nodes.n; i++) {
		for (int k = 0; k < g->nodes.data[i]->n_outputs; k++) {
			if (g->nodes.data[i]->outputs[k] != NULL) {
				g->nodes.data[i]->outputs[k]->value = NULL;
			}
		}
	}
	return ok;
}
