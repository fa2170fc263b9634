/* SPDX-License-Identifier: Apache-2.0 */
/* With the setting weight_type, the float32 weights of matrix products and
 * convolutions, and the rows that Gather reads, are stored in a narrower float
 * type. Kernels widen each element and compute in float32:
 *
 *	const w: float32[64, 64]		const w_bf16: bfloat16[64, 64]
 *	y = MatMul (x, w)		->	w = Cast (w_bf16)
 *						y = MatMul (x, w)
 *
 * Weights stay float32 if their range is unknown, if one of them is beyond the
 * largest number of the narrow type, or if all weights of an output channel are
 * below the type's smallest normal number, where it has fewer digits. Also left
 * as float32 are weights that Winograd's algorithm has transformed, in which
 * rounding errors grow, and weights that take few bytes because they repeat. */
#include "repeats.h"

#include <math.h>

#include "identifiers.h"
#include "rewrite.h"
#include "weight_range.h"

/* Constants with fewer bytes stay float32. */
enum { WORTH = 1024 };

/* Does the node read input i as weights of a product, or as rows of a
 * Gather? */
static bool
reads_weights(const struct node *n, int i)
{
	if (node_is(n, "Gather")) {
		return i == 0 && node_reads_elements(n);
	}
	return (node_is(n, "MatMul") || node_is(n, "Gemm") ||
		node_is(n, "Conv") || node_is(n, "ConvTranspose")) &&
	       i < 2 && node_reads_elements(n);
}

static bool
is_weights(struct graph *g, const struct tensor *t)
{
	if (!tensor_is_constant(t) || t->type.kind != DT_F32 || t->ndim < 2 ||
	    t->is_output || constant_bytes_once(g, t) <= WORTH) {
		return false;
	}
	for (int i = 0; i < t->uses.n; i++) {
		if (!reads_weights(t->uses.data[i].node,
				   t->uses.data[i].input)) {
			return false;
		}
	}
	return t->uses.n > 0;
}

/* The axis of the weights, input i of n, whose index selects the output
 * channel, row or column. */
static int
channel_axis(const struct node *n, int i)
{
	int ndim = n->inputs[i]->ndim;

	if (node_is(n, "MatMul")) {
		return i == 1 ? ndim - 1 : ndim - 2;
	}
	if (node_is(n, "Gemm")) {
		return i == 1 ? node_attr_int(n, "transB", 0) == 0
			      : node_attr_int(n, "transA", 0) != 0;
	}
	return node_is(n, "ConvTranspose") ? 1 : 0;
}

/* Can the type hold the weights of each channel along the axis: is none too
 * large, and has each channel a weight of at least the smallest normal number
 * of the type? */
static bool
fits(struct graph *g, struct tensor *t, int axis, struct dtype type)
{
	double least = ldexp(1, 1 - dtype_float_form(type).bias);
	struct weight_range r;
	int64_t channels;

	if (!expr_is_int(t->shape[axis], &channels) ||
	    !weight_range_find(g, t, axis, channels, &r) ||
	    !(r.largest <= dtype_highest(type))) {
		return false;
	}
	for (int64_t c = 0; c < channels; c++) {
		if (r.channel_largest[c] != 0 && r.channel_largest[c] < least) {
			return false;
		}
	}
	return true;
}

/* Does t fit in the type (see fits()) for each node that reads it as
 * weights? */
static bool
all_fit(struct graph *g, struct tensor *t, struct dtype type)
{
	for (int i = 0; i < t->uses.n; i++) {
		if (!fits(g, t,
			  channel_axis(t->uses.data[i].node,
				       t->uses.data[i].input),
			  type)) {
			return false;
		}
	}
	return true;
}

static bool
narrow(struct graph *g, struct tensor *t, struct dtype type)
{
	const struct node *reader = t->uses.data[0].node;
	struct tensor *stored;
	struct node *n;

	n = insert_cast(g, reader, t, type, t->name);
	if (!ops_infer_node(g, n)) {
		return false;
	}
	stored = finish_constant(g, n);
	if (stored == NULL) {
		return false;
	}
	stored->model_name = t->model_name;
	stored->from = constant_name(t);
	n = insert_cast(g, reader, stored, t->type, t->name);
	n->origins.n = 0;
	graph_replace_uses(g, t, n->outputs[0]);
	return ops_infer_node(g, n);
}

bool
graph_narrow(struct graph *g)
{
	struct dtype type = dtype_of(g->settings->weight_type);
	int n = g->tensors.n;

	if (type.kind == DT_VOID) {
		return true;
	}
	for (int i = 0; i < n; i++) {
		struct tensor *t = g->tensors.data[i];

		if (is_weights(g, t) && all_fit(g, t, type) &&
		    !narrow(g, t, type)) {
			return false;
		}
	}
	graph_drop_unused_tensors(g);
	return graph_sort(g);
}
