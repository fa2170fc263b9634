/* SPDX-License-Identifier: Apache-2.0 */
/* Moves views (Reshape and similar) out of fusion groups: after nodes that keep
 * or narrow the type, and before nodes that widen it, so that the narrow tensor
 * is stored.
 *
 *	a = Conv (x, w)                  a = Conv (x, w)
 *	b = Reshape (a, s)        ->     c = Relu (a)
 *	y = Relu (b)                     y = Reshape (c, s)
 *
 *	a = DequantizeLinear (x, 0.5)    b = Reshape (x, s)
 *	y = Reshape (a, s)        ->     y = DequantizeLinear (b, 0.5)
 *
 * Other inputs of these nodes must be scalars, vectors along a last axis that
 * the view keeps, or views with the same shapes. */
#include "rewrite.h"

static bool
is_view(const struct node *n)
{
	return n && n->op && n->op->fuse == FUSE_VIEW && !*n->domain;
}

/* Is n elementwise in its first input, and is each of its other inputs a
 * scalar? */
static bool
is_unary(const struct node *n)
{
	if (!n || !n->op || node_is_control(n) || n->n_outputs != 1 ||
	    !n->inputs[0] ||
	    (n->op->fuse != FUSE_ELEMENTWISE &&
	     n->op->fuse != FUSE_BROADCAST) ||
	    !tensor_same_shape(n->inputs[0], n->outputs[0])) {
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

/* Swaps two nodes. x: the input of `first`; t: the tensor between the nodes,
 * which becomes the result of `second`; y: the result of both, which `first`
 * then computes. False after a diagnostic. */
static bool
swap(struct graph *g, struct node *first, struct node *second, int input)
{
	struct tensor *x = first->inputs[0], *t = first->outputs[0];
	struct tensor *y = second->outputs[0];
	int at = 0;

	node_set_input(second, input, x);
	node_set_input(first, 0, t);
	second->outputs[0] = t;
	t->producer = second;
	first->outputs[0] = y;
	y->producer = first;
	while (g->nodes.data[at] != first) {
		at++;
	}
	do { /* `first` moves after `second`, its only reader */
		g->nodes.data[at] = g->nodes.data[at + 1];
		at++;
	} while (g->nodes.data[at - 1] != second);
	g->nodes.data[at] = first;
	t->model_name = NULL;
	t->elems = y->elems = NULL;
	t->n_elems = y->n_elems = 0;
	return ops_infer_node(g, second) && ops_infer_node(g, first);
}

static bool
widens(const struct node *n)
{
	return dtype_bits(n->inputs[0]->type) < dtype_bits(n->outputs[0]->type);
}

/* Do x and `view`, its view, have the same last extent? */
static bool
keeps_last(const struct tensor *x, const struct tensor *view)
{
	return x->ndim > 0 && view->ndim > 0 &&
	       x->shape[x->ndim - 1] == view->shape[view->ndim - 1];
}

/* n = op (view of x, other): can it become the view of op (x, other')? other
 * must be a scalar, a vector along a last axis that the view keeps, or a view
 * with the same shapes. */
static bool
can_follow(const struct node *n, const struct tensor *x,
	   const struct tensor *other)
{
	int64_t elems;

	if (tensor_is_constant(other)) {
		return other->ndim == 0 ||
		       (other->ndim == 1 && keeps_last(x, n->outputs[0]));
	}
	return tensor_same_shape(other, n->outputs[0]) &&
	       tensor_const_elems(x, &elems);
}

static struct tensor *
reshaped_like(struct graph *g, const struct node *before, struct tensor *t,
	      const struct tensor *like)
{
	struct arena *a = &g->module->arena;
	int64_t *shape = arena_array(a, int64_t, like->ndim + 1);
	struct node *n;

	for (int i = 0; i < like->ndim; i++) {
		expr_is_int(like->shape[i], &shape[i]);
	}
	n = insert_reshape(g, before, t,
			   arena_printf(a, "%s.reshaped", t->name), like->ndim,
			   shape);
	return ops_infer_node(g, n) ? n->outputs[0] : NULL;
}

/* Rewrites Add (Reshape (x), r) to Reshape (Add (x, Reshape (r))), so that the
 * sum is fused with the node that computes x; the view of r costs nothing. */
static bool
move_behind_binary(struct graph *g, struct node *view, struct node *n,
		   int input)
{
	struct tensor *x = view->inputs[0], *other = n->inputs[1 - input];

	if (!tensor_is_constant(other)) {
		other = reshaped_like(g, n, other, x);
		if (!other) {
			return false;
		}
		node_set_input(n, 1 - input, other);
	}
	return swap(g, view, n, input);
}

static bool
visit_binary(struct graph *g, struct node *n)
{
	if (!n->op || !n->op->body || n->n_inputs != 2 || n->n_outputs != 1 ||
	    !n->inputs[0] || !n->inputs[1]) {
		return true;
	}
	for (int i = 0; i < 2; i++) {
		struct node *view = n->inputs[i]->producer;
		struct tensor *x = is_view(view) ? view->inputs[0] : NULL;

		if (x && sole_user(n->inputs[i]) && x->producer &&
		    !is_view(x->producer) && sole_user(x) &&
		    tensor_same_shape(n->inputs[i], n->outputs[0]) &&
		    !widens(n) && can_follow(n, x, n->inputs[1 - i])) {
			return move_behind_binary(g, view, n, i);
		}
	}
	return true;
}

/* A Reshape's 0 and Flatten's axis refer to the shape of the input, which both
 * nodes share; so a view may move freely. */
static bool
visit(struct graph *g, struct node *n)
{
	struct tensor *x = n->n_inputs > 0 ? n->inputs[0] : NULL;
	struct node *p = x ? x->producer : NULL;

	if (!p || !sole_user(x)) {
		return visit_binary(g, n);
	}
	if (is_view(p) && is_unary(n) && !widens(n) && p->inputs[0]->producer &&
	    sole_user(p->inputs[0])) {
		return swap(g, p, n, 0);
	}
	if (is_view(n) && is_unary(p) && widens(p)) {
		return swap(g, p, n, 0);
	}
	return visit_binary(g, n);
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
