/* SPDX-License-Identifier: Apache-2.0 */
/* The public interface: runs a loaded model node by node in the interpreter. */
#include <string.h>

#include "ops.h"
#include "passes.h"
#include "tirc_context.h"

static bool
can_run(struct tirc *t)
{
	const struct node *n = graph_not_run(t->graph);

	return n == NULL ||
	       diag_error(&t->m->diags, DIAG_UNSUPPORTED,
			  node_place(t->graph, n),
			  "the interpreter runs no model with %s, as %s",
			  node_is_control(n) ? "branches and loops"
					     : "sizes that depend on values",
			  t->options.package != NULL
				  ? "the self-test of a package needs; leave "
				    "--package out"
				  : "--layers needs; give the values of its "
				    "tensors: --layers=FILE.npz");
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

/* The states of a compiled model are no longer inputs, for which the caller
 * gives values: they are zeros, or, at the end, without a value. */
static void
give_states(struct tirc *t, bool zeros)
{
	for (int i = 0; t->compiled && i < t->graph->states.n; i++) {
		struct tensor *x = t->graph->states.data[i].before;
		struct value *v = arena_new(&t->m->arena, struct value);

		v->type = x->type;
		tensor_const_elems(x, &v->elems);
		v->bytes = (size_t)v->elems * (size_t)dtype_bytes(x->type);
		x->value = zeros ? v : NULL;
	}
}

/* How many nodes have run. */
struct running {
	struct tirc *t;
	int done;
};

static bool
show_progress(void *ctx, const struct node *n)
{
	struct running *r = ctx;

	context_progress(r->t, "interpreter", ++r->done, n->graph->nodes.n);
	return true;
}

bool
tirc_interpret(struct tirc *t, const void *const *inputs, void *const *outputs)
{
	struct graph *g = t->graph;
	struct running running = { .t = t };
	const struct graph_run how = { .before = show_progress,
				       .ctx = &running,
				       .run = t->run_node,
				       .run_ctx = t->run_node_ctx };
	bool ok;

	if (g->dims.n > 0) {
		return diag_error(&t->m->diags, DIAG_UNSUPPORTED,
				  (struct diag_place){ .file = g->file },
				  "the interpreter runs no model of symbolic "
				  "sizes; give each a value with --dim");
	}
	if (!can_run(t)) {
		return false;
	}
	give_states(t, true);
	ok = graph_run(g, inputs, &how) && copy_outputs(t, outputs);
	graph_run_end(g);
	give_states(t, false);
	return ok;
}
