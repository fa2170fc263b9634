/* SPDX-License-Identifier: Apache-2.0 */
/* The states of a model: each output that is the input of the next run is copied
 * over that input at the end of a run. The copy is left out if the kernel of the
 * output can store in place of the input (passes/kernels/states.c).
 *
 *	before	h = Tanh (past)      # past: an input, h: an output
 *	after	h = Tanh (past)
 *		past_kept = tirc.Copy (h) */
#include "rewrite.h"

bool
graph_states(struct graph *g)
{
	for (int i = 0; i < g->states.n; i++) {
		struct graph_state *s = &g->states.data[i];
		struct node *copy;

		s->before = g->inputs.data[s->input];
		s->after = g->outputs.data[s->output];
		s->kept = graph_tensor(g, arena_printf(&g->module->arena,
						       "%s_kept",
						       s->before->name));
		copy = graph_node(g, "tirc", "Copy", s->kept->name, &s->after,
				  1, &s->kept, 1);
		copy->op = op_find("tirc", "Copy");
		s->kept->is_output = true;
		g->outputs.data[s->output] = s->kept;
		if (!ops_infer_node(g, copy)) {
			return false;
		}
	}
	return true;
}
