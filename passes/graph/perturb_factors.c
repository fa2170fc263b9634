/* SPDX-License-Identifier: Apache-2.0 */
/* Adds factors as inputs to a model, with which floats that do not follow from
 * its inputs alone can be perturbed. If inputs are integers: a factor for each
 * tensor of floats that is computed from integers, element by element, where an
 * operator that is not elementwise reads it.
 *
 *	x = Gather (table, ids)            x = Gather (table, ids)
 *	y = Add (x, one)                   y = Add (x, one)
 *	z = MatMul (y, w)           ->     y' = Mul (y, factor)
 *	input ids                          z = MatMul (y', w)
 *	output z                           input ids, factor
 *	                                   output z
 *
 * Floats that are computed from integers are nearly exact, often whole numbers: a
 * factor in front of 1 - mask would make errors of zeros that no rounding makes.
 *
 * The pass `perturb`, with the setting perturb_rounded: a factor for each
 * tensor that the passes `narrow` and `pairs` rounded to the type of weights.
 *
 *	w = Cast (w_bf16)                  w = Cast (w_bf16)
 *	y = MatMul (x, w)           ->     w' = Mul (w, factor)
 *	                                   y = MatMul (x, w')
 *
 * The same for the transformed tiles of convolutions that the pass `winograd`
 * computes: their rounding errors are in proportion to the largest pixel of a tile,
 * also in a result whose own pixels are small, which no change of the inputs in
 * proportion to each shows.
 *
 *	v = WinogradInput (x)              v = WinogradInput (x)
 *	s = WinogradProduct (v, u)  ->     v' = Mul (v, factor)
 *	                                   s = WinogradProduct (v', u)
 *
 * The factor has the shape of x, or, if some dimensions of x are symbolic, of
 * the last dimensions of x. Factors of 1 change nothing but the order of
 * sums. */
#include "rewrite.h"

struct factors {
	struct graph *graph;
	/* by tensor->id: computed from integers, element by element */
	bool *plain;
	int n; /* tensors with a larger id are factors and their products */
};

static bool
is_plain(const struct factors *f, const struct tensor *x)
{
	return x->id < f->n && f->plain[x->id];
}

/* Is n, outside of branches and loops, computed from integers when the model
 * runs, or element by element from floats that are computed from integers?
 * Constant inputs do not count. */
static bool
follows_from_integers(const struct factors *f, const struct node *n)
{
	bool any = false, floats = false;

	for (int i = 0; i < n->n_inputs; i++) {
		const struct tensor *x = n->inputs[i];

		if (x == NULL || tensor_is_constant(x)) {
			continue;
		}
		any = true;
		if (dtype_is_float(x->type)) {
			if (!is_plain(f, x)) {
				return false;
			}
			floats = true;
		}
	}
	return any && n->body == 0 && !node_is_control(n) &&
	       (!floats || n->op->fuse == FUSE_ELEMENTWISE ||
		n->op->fuse == FUSE_BROADCAST ||
		n->op->fuse == FUSE_INJECTIVE || n->op->fuse == FUSE_VIEW);
}

/* Do all nodes that read x compute element by element from integers, so that the
 * factors of their results are enough? */
static bool
read_by_plain(const struct factors *f, const struct tensor *x)
{
	for (int i = 0; i < x->uses.n; i++) {
		if (!follows_from_integers(f, x->uses.data[i].node)) {
			return false;
		}
	}
	return x->uses.n > 0 && !x->is_output;
}

/* Is x a tensor of floats that gets a factor? Floats with known elements are
 * only used to compute shapes. */
static bool
is_perturbed(const struct tensor *x)
{
	return x != NULL && x->typed && x->ndim >= 0 &&
	       dtype_is_float(x->type) && x->elems == NULL;
}

/* The number of dimensions of x from the first up to and including the last
 * symbolic one. */
static int
symbolic_dims(const struct tensor *x)
{
	int d = x->ndim;

	while (d > 0 && expr_is_int(x->shape[d - 1], &(int64_t){ 0 })) {
		d--;
	}
	return d;
}

/* Inserts a product of x and a new input of the graph, which all readers of x
 * then read in place of x. `at`: the index of the node that makes x. */
static bool
add_factor(struct graph *g, int at, struct tensor *x)
{
	const struct node *next = at + 1 < g->nodes.n ? g->nodes.data[at + 1]
						      : NULL;
	int skipped = symbolic_dims(x);
	struct tensor *in[2] = { x, graph_tensor(g, "factor") };
	struct node *n;

	in[1]->type = x->type;
	in[1]->typed = true;
	in[1]->ndim = x->ndim - skipped;
	in[1]->shape = x->shape + skipped;
	in[1]->is_input = true;
	in[1]->model_name = in[1]->name;
	vec_push(&g->module->arena, &g->inputs, in[1]);
	n = insert_node(g, next, "Mul", x->name, in, 2);
	if (!ops_infer_node(g, n)) {
		return false;
	}
	graph_replace_uses(g, x, n->outputs[0]);
	node_set_input(n, 0, x);
	return true;
}

/* Does the same as add_factor, but readers that compute element by element from
 * integers still read x itself, because their results get factors. */
static bool
add_factor_for_others(struct factors *f, int at, struct tensor *x)
{
	VEC(struct use) plain = { 0 };

	for (int i = 0; i < x->uses.n; i++) {
		if (follows_from_integers(f, x->uses.data[i].node)) {
			vec_push(&f->graph->module->arena, &plain,
				 x->uses.data[i]);
		}
	}
	if (!add_factor(f->graph, at, x)) {
		return false;
	}
	for (int i = 0; i < plain.n; i++) {
		node_set_input(plain.data[i].node, plain.data[i].input, x);
	}
	return true;
}

bool
graph_add_factors(struct graph *g)
{
	struct factors f = { .graph = g, .n = g->tensors.n };

	f.plain = arena_array(&g->module->arena, bool, f.n + 1);
	graph_find_bodies(g);
	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];

		for (int k = 0; k < n->n_outputs; k++) {
			if (n->outputs[k] != NULL) {
				f.plain[n->outputs[k]->id] =
					follows_from_integers(&f, n);
			}
		}
	}
	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];
		int before = g->nodes.n;

		for (int k = 0; k < n->n_outputs; k++) {
			struct tensor *x = n->outputs[k];

			if (is_perturbed(x) && is_plain(&f, x) &&
			    !read_by_plain(&f, x) &&
			    !add_factor_for_others(&f, i, x)) {
				return false;
			}
		}
		i += g->nodes.n - before;
	}
	return true;
}

/* Does n widen elements that were rounded to the type of weights? A cast in the
 * model itself counts, too: its input differs slightly from the input of the
 * cast in a reference run, so that single elements may be rounded to the
 * neighbouring number of the type. */
static bool
widens_rounded(const struct graph *g, const struct node *n)
{
	return node_is(n, "Cast") &&
	       n->inputs[0]->type.kind == g->settings->weight_type &&
	       n->outputs[0]->type.kind == DT_F32;
}

/* Does n make numbers whose rounding errors do not follow from changes of the
 * inputs? */
static bool
rounds_apart(const struct graph *g, const struct node *n)
{
	return widens_rounded(g, n) || node_is_internal(n, "WinogradInput");
}

bool
graph_perturb(struct graph *g)
{
	if (!g->settings->perturb_rounded) {
		return true;
	}
	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];
		int before = g->nodes.n;

		if (rounds_apart(g, n) && is_perturbed(n->outputs[0]) &&
		    !add_factor(g, i, n->outputs[0])) {
			return false;
		}
		i += g->nodes.n - before;
	}
	return true;
}
