/* SPDX-License-Identifier: Apache-2.0 */
/* Views (Reshape and kin) move away from between element-wise nodes and what
 * they fuse with: behind nodes that keep or narrow the type, before nodes
 * that widen it, so that the narrow tensor is the one stored.
 *
 *	a = Conv (x, w)                  a = Conv (x, w)
 *	b = Reshape (a, s)        ->     c = Relu (a)
 *	y = Relu (b)                     y = Reshape (c, s)
 *
 *	a = DequantizeLinear (x, 0.5)    b = Reshape (x, s)
 *	y = Reshape (a, s)        ->     y = DequantizeLinear (b, 0.5)
 *
 * Only nodes whose other inputs are single numbers, so that no shape other
 * than the view's own is involved. */
#include "rewrite.h"

static bool
is_view(const struct node *n)
{
	return n && n->op && n->op->fuse == FUSE_VIEW;
}

/* Element-wise in its first input, with one number for each other. */
static bool
is_unary(const struct node *n)
{
	if (!n || !n->op || n->n_outputs != 1 || !n->inputs[0] ||
	    tensor_is_constant(n->inputs[0]) ||
	    (n->op->fuse != FUSE_ELEMENTWISE &&
	     n->op->fuse != FUSE_BROADCAST) ||
	    !same_shape(n->inputs[0], n->outputs[0])) {
		return false;
	}
	for (int i = 1; i < n->n_inputs; i++) {
		const struct tensor *c = n->inputs[i];

		if (c && (!tensor_is_constant(c) || c->ndim > 0)) {
			return false;
		}
	}
	return true;
}

/* first, second  ->  second, first: the tensor between changes its meaning.
 * x = first's input, t = between, y = second's result. */
static bool
swap(struct graph *g, struct node *first, struct node *second)
{
	struct tensor *x = first->inputs[0], *t = first->outputs[0];
	struct tensor *y = second->outputs[0];
	int at = 0;

	node_set_input(second, 0, x);
	node_set_input(first, 0, t);
	second->outputs[0] = t;
	t->producer = second;
	first->outputs[0] = y;
	y->producer = first;
	while (g->nodes.data[at] != second) {
		at++;
	}
	while (g->nodes.data[at] != first) { /* second moves before first */
		g->nodes.data[at] = g->nodes.data[at - 1];
		g->nodes.data[at - 1] = second;
		at -= g->nodes.data[at] != first;
	}
	t->elems = y->elems = NULL;
	t->n_elems = y->n_elems = 0;
	return ops_infer_node(g, second) && ops_infer_node(g, first);
}

static bool
widens(const struct node *n)
{
	return dtype_bytes(n->inputs[0]->type) <
	       dtype_bytes(n->outputs[0]->type);
}

/* A Reshape's 0 and Flatten's axis mean the input's shape, which both nodes
 * share; so a view may move freely. */
static bool
visit(struct graph *g, struct node *n)
{
	struct tensor *x = n->n_inputs > 0 ? n->inputs[0] : NULL;
	struct node *p = x ? x->producer : NULL;

	if (!p || !sole_user(x)) {
		return true;
	}
	if (is_view(p) && is_unary(n) && !widens(n) &&
	    p->inputs[0]->producer && sole_user(p->inputs[0])) {
		return swap(g, p, n);
	}
	if (is_view(n) && is_unary(p) && widens(p)) {
		return swap(g, p, n);
	}
	return true;
}

bool
graph_views(struct graph *g)
{
	for (int i = 0; i < g->nodes.n; i++) {
		if (!visit(g, g->nodes.data[i])) {
			return false;
		}
	}
	return true;
}
