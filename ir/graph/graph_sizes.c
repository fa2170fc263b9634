/* SPDX-License-Identifier: Apache-2.0 */
/* The sizes that are known only when the model runs, and the nodes that rely on
 * them: the entry function reads and checks a size before the nodes that rely
 * on it.
 *
 * 	n = tirc.RunSize(c)			gives y_count
 * 	y = tirc.NonZero(x, n)	int64[1, y_count]	relies on y_count
 * 	z = Neg(y)		int64[1, y_count]	relies on y_count */
#include "graph.h"

#include "iterate.h"

void
graph_number_sizes(const struct graph *g, struct pointer_map *numbers)
{
	pointer_map_init(numbers, &g->module->arena);
	for (int i = 0; i < g->run_sizes.n; i++) {
		pointer_map_put(numbers, g->run_sizes.data[i].var, i);
	}
}

static void
add_once(struct arena *a, size_numbers *list, int number)
{
	for (int i = 0; i < list->n; i++) {
		if (list->data[i] == number) {
			return;
		}
	}
	vec_push(a, list, number);
}

void
graph_add_sizes(const struct pointer_map *numbers,
		const struct expr *const *list, int n, size_numbers *out)
{
	struct tree_iter it = exprs_each_of(list, n, EXPR_VAR);
	const struct expr *e;

	while ((e = tree_next(&it)) != NULL) {
		int number = pointer_map_get(numbers, e->u.var, -1);

		if (number >= 0) {
			add_once(numbers->arena, out, number);
		}
	}
}

static void
add_tensor_sizes(const struct pointer_map *numbers, const struct tensor *t,
		 size_numbers *out)
{
	if (t != NULL) {
		graph_add_sizes(numbers, t->shape, t->ndim, out);
		graph_add_sizes(numbers, t->elems, t->n_elems, out);
	}
}

void
graph_add_node_sizes(const struct pointer_map *numbers, const struct node *n,
		     size_numbers *out)
{
	/* The node that ends a branch or a loop relies on the sizes of its
	 * input 0, the condition or the number of iterations. Its other inputs
	 * are checked where they are computed. */
	int inputs = node_ends_if(n) || node_ends_loop(n) ? 1 : n->n_inputs;

	for (int i = 0; i < inputs; i++) {
		add_tensor_sizes(numbers, n->inputs[i], out);
	}
	/* A size of an If's result may be read from another result of the If,
	 * so its results are left out. So are those of a RunSize, which gives
	 * the sizes itself. */
	for (int k = 0; k < n->n_outputs; k++) {
		if (!node_needs_body(n) && node_run_sizes(n) < 0) {
			add_tensor_sizes(numbers, n->outputs[k], out);
		}
	}
}
