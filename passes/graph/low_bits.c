/* SPDX-License-Identifier: Apache-2.0 */
/* An input of integers of fewer than 8 bits has a byte for each element, and
 * the caller may set all bits of the byte. This pass lets all nodes, except
 * those of backends, read only the low bits, so that the values are within the
 * type:
 *
 *	before	y = Gather (table, x)      # x: an input, uint4
 *	after	x_low = tirc.LowBits (x)
 *		y = Gather (table, x_low)
 *
 * Passes before this one depend only on types; passes after it rely on the
 * values. */
#include "rewrite.h"

static bool
reads_bytes(const struct node *n)
{
	return !n->match && !node_is_internal(n, "LowBits");
}

static bool
is_read(const struct tensor *x)
{
	for (int i = 0; i < x->uses.n; i++) {
		if (reads_bytes(x->uses.data[i].node)) {
			return true;
		}
	}
	return false;
}

bool
graph_low_bits(struct graph *g)
{
	for (int i = 0; i < g->inputs.n; i++) {
		struct tensor *x = g->inputs.data[i], *low;
		struct node *n;

		if (!dtype_is_int(x->type) ||
		    dtype_equal(dtype_stored(x->type), x->type) ||
		    !is_read(x)) {
			continue;
		}
		low = graph_tensor(g, arena_printf(&g->module->arena, "%s_low",
						   x->name));
		n = graph_node_at(g, 0, "tirc", "LowBits", low->name, &x, 1,
				  &low, 1);
		n->op = op_find("tirc", "LowBits");
		if (!ops_infer_node(g, n)) {
			return false;
		}
		for (int k = x->uses.n - 1; k >= 0; k--) {
			struct use u = x->uses.data[k];

			if (reads_bytes(u.node)) {
				node_set_input(u.node, u.input, low);
			}
		}
	}
	return true;
}
