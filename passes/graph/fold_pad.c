/* SPDX-License-Identifier: Apache-2.0 */
/* A Pad before a convolution or a pool becomes the window's own padding.
 *
 *	a = Pad (x, [0,0,1,1,0,0,1,1])
 *	y = Conv (a, w)                  ->   y = Conv (x, w) {pads = [1,1,1,1]}
 *
 * Conv pads with 0, MaxPool with -inf or the lowest integer; AveragePool with 0
 * if it counts the padding (and then count_include_pad is set). Exact, unless
 * weights that are inputs are infinite, or the only element in a MaxPool's
 * window is NaN. Not done with ceil_mode, which drops windows that begin in a
 * pool's own padding, but not windows that begin in elements of a Pad. */
#include "rewrite.h"
#include "weight_range.h"

#include <math.h>

static bool
pad_value(struct graph *g, const struct node *pad, double *v)
{
	struct tensor *t = node_input(pad, 2);
	double *values;
	int64_t n;

	*v = 0;
	if (!t) {
		return true;
	}
	values = constant_doubles(g, t, &n);
	if (!values || n != 1) {
		return false;
	}
	*v = values[0];
	return true;
}

/* The pads for all axes: first those at the start of each axis, then those at
 * its end. The Pad itself may list only some axes. NULL if the pads are not
 * constant. */
static int64_t *
full_pads(struct graph *g, const struct node *pad)
{
	int ndim = pad->inputs[0]->ndim, n, n_axes;
	int64_t *full = arena_array(&g->module->arena, int64_t, 2 * ndim + 1);
	const int64_t *pads, *axes = NULL;

	if (!input_ints(g->module, pad, 1, &pads, &n)) {
		return NULL;
	}
	if (node_input(pad, 3)) {
		if (!input_ints(g->module, pad, 3, &axes, &n_axes) ||
		    n != 2 * n_axes) {
			return NULL;
		}
	} else {
		n_axes = ndim;
	}
	if (n != 2 * n_axes) {
		return NULL;
	}
	for (int i = 0; i < n_axes; i++) {
		int64_t axis = axes ? axes[i] : i;

		axis += axis < 0 ? ndim : 0;
		full[axis] = pads[i];
		full[ndim + axis] = pads[n_axes + i];
	}
	return full;
}

/* Does n have constant float weights, of known range, that contain an infinity
 * or NaN? The product of such a weight with a 0 of the Pad is NaN, but not
 * every kernel computes products with its own padding. */
static bool
has_infinite_weights(struct graph *g, const struct node *n)
{
	struct tensor *w = n->inputs[1];
	struct weight_range r;
	int64_t channels;

	return tensor_is_constant(w) && dtype_is_float(w->type) &&
	       expr_is_int(w->shape[0], &channels) &&
	       weight_range_find(g, w, 0, channels, &r) && !isfinite(r.largest);
}

static bool
takes_value(struct graph *g, const struct node *n, double v)
{
	if (node_is(n, "Conv")) {
		return v == 0 && !has_infinite_weights(g, n);
	}
	if (node_is(n, "MaxPool")) {
		struct dtype t = n->inputs[0]->type;

		return (dtype_is_float(t) ? isinf(v) && v < 0
					  : v <= dtype_lowest(t)) &&
		       n->n_outputs == 1 &&
		       node_attr_int(n, "ceil_mode", 0) == 0;
	}
	if (node_is(n, "AveragePool") && v == 0) {
		const int64_t *pads;
		int count = node_attr_ints(n, "pads", &pads);

		if (node_attr_int(n, "ceil_mode", 0) != 0) {
			return false;
		}
		for (int i = 0; i < count; i++) {
			if (pads[i] != 0 &&
			    !node_attr_int(n, "count_include_pad", 0)) {
				return false;
			}
		}
		return true;
	}
	return false;
}

static bool
fold_into(struct graph *g, struct node *n, const struct node *pad)
{
	int ndim = pad->inputs[0]->ndim, spatial = ndim - 2;
	const char *auto_pad = node_attr_string(n, "auto_pad", "NOTSET");
	int64_t *full = full_pads(g, pad), *sum;
	const int64_t *own;
	int n_own = strcmp(auto_pad, "VALID") == 0
			    ? 0
			    : node_attr_ints(n, "pads", &own);
	double v;

	if (strncmp(auto_pad, "SAME", 4) == 0 || spatial < 1 || !full ||
	    (n_own && n_own != 2 * spatial) || !pad_value(g, pad, &v) ||
	    !takes_value(g, n, v)) {
		return false;
	}
	for (int i = 0; i < 2 * ndim; i++) {
		if (full[i] < 0 || (i % ndim < 2 && full[i] != 0)) {
			return false;
		}
	}
	sum = arena_array(&g->module->arena, int64_t, 2 * spatial);
	for (int i = 0; i < 2 * spatial; i++) {
		sum[i] = full[i / spatial * ndim + 2 + i % spatial];
		sum[i] += n_own ? own[i] : 0;
		if (sum[i] > INT32_MAX) {
			return false;
		}
	}
	node_remove_attr(n, "auto_pad");
	node_set_attr_ints(g, n, "pads", sum, 2 * spatial);
	if (node_is(n, "AveragePool")) {
		node_set_attr_int(g, n, "count_include_pad", 1);
	}
	node_set_input(n, 0, pad->inputs[0]);
	return true;
}

bool
graph_fold_pad(struct graph *g)
{
	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i], *pad;
		struct tensor *x = node_input(n, 0);

		pad = x ? x->producer : NULL;
		if (!pad || !node_is(pad, "Pad") || *n->domain ||
		    strcmp(node_attr_string(pad, "mode", "constant"),
			   "constant") != 0 ||
		    !fold_into(g, n, pad)) {
			continue;
		}
		graph_share_origins(n, pad);
		if (x->uses.n == 0 && !x->is_output) {
			graph_remove_node(g, pad, "fold_pad",
					  fate_of(g,
						  "the padding of %s's window",
						  n));
			i--;
		}
	}
	return true;
}
