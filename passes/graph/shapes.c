/* SPDX-License-Identifier: Apache-2.0 */
/* Removes computations of shapes whose results shape inference knows, as
 * expressions of the dimensions, if the definitions of all readers contain
 * these expressions.
 *
 *	s = Shape (x)                 [n, 8, 8]
 *	b = Gather (s, 0)             n
 *	t = Concat (b, -1)            [n, -1]
 *	y = Reshape (x, t)        ->  y = Reshape (x, t)    t: no producer
 *
 * Known values (tensor.elems) are used and kept. After the pass, no kernel
 * reads a tensor that has no producer and is neither an input nor a
 * constant. */
#include "rewrite.h"

static bool
stage_reads(const struct te_tensor *t, const struct buffer *b)
{
	if (!t->stage) {
		return t->buffer == b;
	}
	for (int i = 0; i < t->stage->n_inputs; i++) {
		if (stage_reads(t->stage->inputs[i], b)) {
			return true;
		}
	}
	return false;
}

/* Does the definition of n load elements of its input x when the model runs? */
static bool
loads(struct graph *g, const struct node *n, const struct tensor *x)
{
	struct module *m = g->module;
	struct te_tensor **in = arena_array(&m->arena, struct te_tensor *,
					    n->n_inputs + 1);
	struct te_tensor **out = arena_array(&m->arena, struct te_tensor *,
					     n->n_outputs + 1);

	if (!ops_define_alone(g, n, in, out)) {
		return true;
	}
	for (int k = 0; k < n->n_outputs; k++) {
		for (int i = 0; n->outputs[k] && out[k] && i < n->n_inputs;
		     i++) {
			if (n->inputs[i] == x &&
			    stage_reads(out[k], in[i]->buffer)) {
				return true;
			}
		}
	}
	return false;
}

bool
graph_only_defines(struct graph *g, const struct tensor *t)
{
	if (t->is_output || (t->uses.n > 0 && !t->elems)) {
		return false;
	}
	for (int i = 0; i < t->uses.n; i++) {
		if (loads(g, t->uses.data[i].node, t)) {
			return false;
		}
	}
	return true;
}

bool
graph_shapes(struct graph *g)
{
	for (int i = g->nodes.n - 1; i >= 0; i--) {
		struct node *n = g->nodes.data[i];
		bool made = node_run_sizes(n) >= 0;

		for (int k = 0; k < n->n_outputs && !made; k++) {
			made = n->outputs[k] &&
			       !graph_only_defines(g, n->outputs[k]);
		}
		if (!made) {
			graph_remove_node(g, n, "shapes",
					  "its values are part of what reads "
					  "them");
		}
	}
	return true;
}
