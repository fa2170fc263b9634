/* SPDX-License-Identifier: Apache-2.0 */
/* Where the target multiplies unsigned by signed bytes, what is quantized to
 * signed bytes inside of the graph is quantized to unsigned ones, 128 up:
 *
 *	q = QuantizeLinear (x, s, -5)         q = QuantizeLinear (x, s, 123)
 *	y = DequantizeLinear (q, s, -5)  ->   y = DequantizeLinear (q, s, 123)
 *
 * The numbers that they stand for are the same. */
#include "quantization.h"

/* One zero point for all, or none? */
static bool
has_one_zero(const struct node *n)
{
	const struct tensor *zero = node_input(n, 2);

	return !zero || (tensor_is_constant(zero) && zero->ndim == 0);
}

static bool
may_change(const struct node *n)
{
	const struct tensor *y;

	if (!node_is(n, "QuantizeLinear") || !node_input(n, 2) ||
	    !has_one_zero(n)) {
		return false;
	}
	y = n->outputs[0];
	for (int i = 0; i < y->uses.n; i++) {
		const struct use *u = &y->uses.data[i];

		if (u->input != 0 || !node_is(u->node, "DequantizeLinear") ||
		    !has_one_zero(u->node)) {
			return false;
		}
	}
	return y->type.kind == DT_I8 && !y->is_output && y->uses.n > 0;
}

static bool
raise_zero(struct graph *g, struct node *n)
{
	struct tensor *zero = node_input(n, 2), *up;
	const double *v = NULL;
	int64_t count = 1;
	uint8_t *data = arena_array(&g->module->arena, uint8_t, 1);

	if (zero && !(v = constant_doubles(g, zero, &count))) {
		return false;
	}
	*data = (uint8_t)((v ? v[0] : 0) + 128);
	up = graph_constant(g, zero ? zero->name : "zero_point",
			    dtype_of(DT_U8), 0, NULL, data);
	if (n->n_inputs < 3) {
		node_resize_inputs(n, 3);
	}
	node_set_input(n, 2, up);
	return true;
}

bool
graph_unsigned(struct graph *g)
{
	for (int i = 0; i < g->nodes.n && g->unsigned_bytes; i++) {
		struct node *n = g->nodes.data[i];
		struct tensor *y = n->n_outputs > 0 ? n->outputs[0] : NULL;

		if (!may_change(n)) {
			continue;
		}
		if (!raise_zero(g, n) || !ops_infer_node(g, n)) {
			return false;
		}
		for (int k = 0; k < y->uses.n; k++) {
			if (!raise_zero(g, y->uses.data[k].node)) {
				return false;
			}
		}
	}
	return true;
}
