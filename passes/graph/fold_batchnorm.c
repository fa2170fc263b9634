/* SPDX-License-Identifier: Apache-2.0 */
/* BatchNormalization with constant parameters becomes a multiplication and an
 * addition per channel, which fold_scale folds into weights.
 *
 *	y = BatchNormalization (x, scale, bias, mean, var)
 *   ->
 *	a = Mul (x, s)      s = scale / sqrt(var + epsilon)
 *	y = Add (a, t)      t = bias - mean * s
 */
#include "rewrite.h"

#include <math.h>

static bool
read_parameters(struct graph *g, const struct node *n, double **p,
		int64_t *channels)
{
	for (int i = 0; i < 4; i++) {
		struct tensor *t = node_input(n, i + 1);
		int64_t count;

		if (!t || !tensor_is_constant(t)) {
			return false;
		}
		p[i] = constant_doubles(g, t, &count);
		if (!p[i] || (i > 0 && count != *channels)) {
			return false;
		}
		*channels = count;
	}
	return true;
}

/* [C, 1, 1] for a tensor of rank 4: broadcasts along axis 1. */
static struct tensor *
per_channel(struct graph *g, const struct node *n, const char *suffix,
	    int64_t channels, const double *values, const char *form)
{
	const struct tensor *x = n->inputs[0];
	int ndim = x->ndim > 1 ? x->ndim - 1 : 1;
	int64_t *shape = arena_array(&g->module->arena, int64_t, ndim);

	for (int i = 0; i < ndim; i++) {
		shape[i] = i == 0 ? channels : 1;
	}
	return graph_made_of(g,
			     constant_floats(g,
					     arena_printf(&g->module->arena,
							  "%s.%s",
							  n->outputs[0]->name,
							  suffix),
					     x->type, ndim, shape, values),
			     form, n, n->inputs + 1, 4);
}

static bool
fold_node(struct graph *g, struct node *n)
{
	double epsilon = node_attr_float(n, "epsilon", 1e-5);
	double *p[4], *scale, *shift;
	struct tensor *in[2];
	struct node *mul, *add;
	const char *form;
	int64_t channels = 0;

	if (n->n_outputs != 1 || n->inputs[0]->ndim < 2 ||
	    !dtype_is_float(n->inputs[0]->type) ||
	    !dtype_equal(n->inputs[0]->type, n->outputs[0]->type) ||
	    !read_parameters(g, n, p, &channels)) {
		return true;
	}
	scale = arena_array(&g->module->arena, double, channels + 1);
	shift = arena_array(&g->module->arena, double, channels + 1);
	for (int64_t c = 0; c < channels; c++) {
		scale[c] = p[0][c] / sqrt(p[3][c] + epsilon);
		shift[c] = p[1][c] - p[2][c] * scale[c];
	}
	in[0] = n->inputs[0];
	form = arena_printf(&g->module->arena, "$0 / sqrt($3 + %g)", epsilon);
	in[1] = per_channel(g, n, "scale", channels, scale, form);
	mul = insert_node(g, n, "Mul",
			  arena_printf(&g->module->arena, "%s.scaled",
				       n->outputs[0]->name),
			  in, 2);
	in[0] = mul->outputs[0];
	form = arena_printf(&g->module->arena, "$1 - $2 * $0 / sqrt($3 + %g)",
			    epsilon);
	in[1] = per_channel(g, n, "shift", channels, shift, form);
	add = insert_node(g, n, "Add",
			  arena_printf(&g->module->arena, "%s.shifted",
				       n->outputs[0]->name),
			  in, 2);
	mul->name = add->name = n->name;
	if (!ops_infer_node(g, mul) || !ops_infer_node(g, add)) {
		return false;
	}
	graph_note(g, n, "fold_batchnorm", "a scale and a shift by constants");
	graph_absorb(g, add, n);
	graph_replace_uses(g, n->outputs[0], add->outputs[0]);
	graph_remove_node(g, n, "fold_batchnorm", "");
	return true;
}

bool
graph_fold_batchnorm(struct graph *g)
{
	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];

		if (node_is(n, "BatchNormalization") && !fold_node(g, n)) {
			return false;
		}
	}
	return true;
}
