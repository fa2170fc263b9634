/* SPDX-License-Identifier: Apache-2.0 */
/* If the target multiplies unsigned by signed bytes, intermediate tensors
 * quantized to signed bytes become unsigned with a zero point 128 higher; if it
 * multiplies signed bytes, the reverse:
 *
 *	q = QuantizeLinear (x, s, -5)         q = QuantizeLinear (x, s, 123)
 *	y = DequantizeLinear (q, s, -5)  ->   y = DequantizeLinear (q, s, 123)
 *
 * The represented real numbers do not change. */
#include "quantization.h"

/* Does the node have one zero point for all elements, or none? */
static bool
has_one_zero(const struct node *n)
{
	const struct tensor *zero = node_input(n, 2);

	return !zero || (tensor_is_constant(zero) && zero->ndim == 0);
}

static bool
may_change(const struct node *n, enum dtype_kind from)
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
	return y->type.kind == from && !y->is_output && y->uses.n > 0;
}

/* Changes the type of n's zero point to the byte type `to`, and moves the zero
 * point by 128, so that the same real numbers are meant. False after a
 * diagnostic. */
static bool
move_zero(struct graph *g, struct node *n, enum dtype_kind to)
{
	struct tensor *zero = node_input(n, 2), *moved;
	const double *v = NULL;
	int64_t count = 1;
	uint8_t *data = arena_array(&g->module->arena, uint8_t, 1);

	if (zero && !(v = constant_doubles(g, zero, &count))) {
		return false;
	}
	*data = (uint8_t)((int)(v ? v[0] : 0) + 128);
	moved = graph_constant(g, zero ? zero->name : "zero_point",
			       dtype_of(to), 0, NULL, data);
	if (n->n_inputs < 3) {
		node_resize_inputs(n, 3);
	}
	node_set_input(n, 2, moved);
	return true;
}

bool
graph_signs(struct graph *g)
{
	enum dtype_kind to = g->settings->byte_type;
	enum dtype_kind from = to == DT_U8 ? DT_I8 : DT_U8;
	bool wanted = g->settings->byte_depth > 0;

	for (int i = 0; i < g->nodes.n && wanted; i++) {
		struct node *n = g->nodes.data[i];
		struct tensor *y = n->n_outputs > 0 ? n->outputs[0] : NULL;

		if (!may_change(n, from)) {
			continue;
		}
		if (!move_zero(g, n, to) || !ops_infer_node(g, n)) {
			return false;
		}
		y->stored_offset = to == DT_U8 ? 128 : -128;
		for (int k = 0; k < y->uses.n; k++) {
			if (!move_zero(g, y->uses.data[k].node, to)) {
				return false;
			}
		}
	}
	return true;
}
