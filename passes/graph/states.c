/* SPDX-License-Identifier: Apache-2.0 */
/* The states of a model. A state is an output that is an input of the next run.
 * For each state, this pass adds a copy of the output; at the end of a run the
 * copy overwrites the input. If the kernel that computes the output can itself
 * store it in place of the input, the copy is left out later
 * (passes/kernels/states.c).
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
