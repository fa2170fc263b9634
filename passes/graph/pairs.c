/* SPDX-License-Identifier: Apache-2.0 */
/* If the target has dot products of the type of weights (weight_depth), the
 * tensors that products multiply by weights of this type are rounded to this
 * type, too: once, by the node that computes them. All readers get the rounded
 * elements:
 *
 *	a = Relu (x)                    a = Relu (x)
 *	w = Cast (w_bf16)               a_bf16 = Cast (a)
 *	y = MatMul (a, w)         ->    a_f32 = Cast (a_bf16)
 *	                                w = Cast (w_bf16)
 *	                                y = MatMul (a_f32, w)
 *
 * The narrow tensor is stored; kernels widen the elements that they read, or
 * multiply them by the instruction. Nodes that only move elements move the
 * narrow elements: the rounding is done before such nodes and the widening
 * after them. Inputs and outputs of the graph, tensors that control flow reads
 * or writes, and tensors from which integers, indices or conditions are
 * computed (visible.h) keep their type: a product rounds a copy of such a
 * tensor. */
#include "pairs.h"
#include "visible.h"

/* Fewer channels are not stored in blocks, and are then not adjacent in
 * memory. */
enum { LEAST_BLOCK = 8 };

static struct dtype
narrow_type(const struct graph *g)
{
	return dtype_of(g->settings->weight_type);
}

/* Is each element of n's result an element of an input, whatever the type? */
static bool
moves(const struct node *n)
{
	return n->match == NULL && !*n->domain &&
	       (n->op->fuse == FUSE_VIEW || node_is(n, "Transpose") ||
		node_is(n, "Concat") || node_is(n, "Slice") ||
		node_is(n, "Split"));
}

/* For a node that moves elements: the number of its inputs that hold elements;
 * these come first, before inputs that hold sizes. */
static int
moved_inputs(const struct node *n)
{
	return node_is(n, "Concat") ? n->n_inputs : 1;
}

/* -- which products -- */

/* Can x be stored in blocks of channels, so that the channels of a block are
 * next to each other? It cannot if a kernel moves x's elements. */
static bool
has_blocks(const struct tensor *x)
{
	const struct node *p = x->producer;

	if (p != NULL && node_is(p, "Concat")) {
		for (int i = 0; i < p->n_inputs; i++) {
			if (!has_blocks(p->inputs[i])) {
				return false;
			}
		}
		return true;
	}
	return p == NULL || !moves(p);
}

/* The size of the axis of the weights over which n sums, if elements of the
 * data along this axis are adjacent in memory; 0: there is no such axis. */
static int64_t
summed(const struct node *n)
{
	const struct tensor *x = n->inputs[0], *w = n->inputs[1];
	int64_t size;
	int axis;

	if (node_is(n, "MatMul")) {
		axis = w->ndim - 2;
	} else if (node_is(n, "Gemm")) {
		axis = node_attr_int(n, "transA", 0) != 0   ? -1
		       : node_attr_int(n, "transB", 0) != 0 ? 1
							    : 0;
	} else {
		axis = node_is(n, "Conv") &&
				       node_attr_int(n, "group", 1) == 1 &&
				       has_blocks(x)
			       ? 1
			       : -1;
	}
	if (axis < 0 || !expr_is_int(w->shape[axis], &size)) {
		return 0;
	}
	return node_is(n, "Conv") && size % LEAST_BLOCK != 0 ? 0 : size;
}

static bool
is_f32(const struct tensor *t)
{
	return dtype_equal(t->type, dtype_of(DT_F32));
}

/* Is t float32 widened from the type of weights? */
static bool
is_widened(const struct graph *g, const struct tensor *t)
{
	const struct node *p = t->producer;

	return is_f32(t) && p != NULL && node_is(p, "Cast") &&
	       dtype_equal(p->inputs[0]->type, narrow_type(g));
}

/* Is t a constant, or a widened constant of the type of weights? */
static bool
is_weights(const struct graph *g, const struct tensor *t)
{
	return tensor_is_constant(t) ||
	       (is_widened(g, t) && tensor_is_constant(t->producer->inputs[0]));
}

bool
pairs_can_compute(const struct graph *g, const struct node *n)
{
	int depth = g->settings->weight_depth;
	int64_t size;

	if (depth == 0 || n->n_inputs < 2 || !node_reads_elements(n) ||
	    (!node_is(n, "MatMul") && !node_is(n, "Gemm") &&
	     !node_is(n, "Conv")) ||
	    !is_f32(n->inputs[0]) || tensor_is_constant(n->inputs[0]) ||
	    !is_weights(g, n->inputs[1])) {
		return false;
	}
	size = summed(n);
	return size > 0 && size % depth == 0;
}

static bool
takes_pairs(const struct graph *g, const struct node *n)
{
	return pairs_can_compute(g, n) && is_widened(g, n->inputs[1]);
}

/* -- rounding -- */

/* Inserts, before the node `before`, a cast of x that has no origins, and
 * returns its result; NULL after a diagnostic. */
static struct tensor *
cast(struct graph *g, const struct node *before, struct tensor *x,
     struct dtype to, const char *base)
{
	struct node *n = insert_cast(g, before, x, to, base);

	n->origins.n = 0;
	n->outputs[0]->model_name = x->model_name;
	return ops_infer_node(g, n) ? n->outputs[0] : NULL;
}

/* Inserts, before the node `before`, a cast of x to the type of weights and a
 * cast back, and returns the result of the second cast; NULL after a
 * diagnostic. */
static struct tensor *
insert_rounding(struct graph *g, const struct node *before, struct tensor *x)
{
	struct tensor *narrow = cast(g, before, x, narrow_type(g), x->name);

	return narrow != NULL ? cast(g, before, narrow, x->type, x->name)
			      : NULL;
}

/* Makes all nodes except `except` read `to` in place of `from`. */
static void
replace_readers(struct tensor *from, struct tensor *to,
		const struct node *except)
{
	for (int i = from->uses.n - 1; i >= 0; i--) {
		struct use u = from->uses.data[i];

		if (u.node != except) {
			node_set_input(u.node, u.input, to);
		}
	}
}

/* May the elements of x change for all readers: is x neither an output nor a
 * value of control flow, and is it read only by kernels of the body that
 * computes it? */
static bool
is_free(const struct tensor *x)
{
	const struct node *p = x->producer;

	if (p == NULL || p->op->fuse == FUSE_CONTROL || x->is_output ||
	    !is_f32(x)) {
		return false;
	}
	for (int i = 0; i < x->uses.n; i++) {
		const struct node *user = x->uses.data[i].node;

		if (user->op->fuse == FUSE_CONTROL || user->body != p->body) {
			return false;
		}
	}
	return true;
}

struct rounding {
	struct graph *g;
	bool *seen; /* by tensor id */
	int n;      /* the number of the graph's tensors when the pass began */
	struct visible visible;
};

/* Rounds x where x is computed; if x's elements are only moved from a tensor,
 * rounds that tensor instead. Does so only for a tensor for which is_free() is
 * true. False after a diagnostic. */
static bool
round_source(struct rounding *r, struct tensor *x)
{
	struct node *p = x->producer;
	struct tensor *wide;

	if (x->id >= r->n || r->seen[x->id] || is_widened(r->g, x)) {
		return true;
	}
	r->seen[x->id] = true;
	if (p != NULL && moves(p)) {
		for (int i = 0; i < moved_inputs(p); i++) {
			if (!round_source(r, p->inputs[i])) {
				return false;
			}
		}
		return true;
	}
	if (!is_free(x) || visible_at(&r->visible, x)) {
		return true;
	}
	wide = insert_rounding(r->g, x->uses.data[0].node, x);
	if (wide == NULL) {
		return false;
	}
	replace_readers(x, wide, wide->producer->inputs[0]->producer);
	return true;
}

/* Does n only move elements, of inputs that are all widened, and may all its
 * results have the narrow type? */
static bool
moves_widened(const struct graph *g, const struct node *n)
{
	if (!moves(n)) {
		return false;
	}
	for (int i = 0; i < moved_inputs(n); i++) {
		if (n->inputs[i] == NULL || !is_widened(g, n->inputs[i])) {
			return false;
		}
	}
	for (int i = 0; i < n->n_outputs; i++) {
		if (n->outputs[i] != NULL && !is_free(n->outputs[i])) {
			return false;
		}
	}
	return true;
}

/* Makes n move the narrow elements, and widens its results. False after a
 * diagnostic. */
static bool
move_narrow(struct graph *g, struct node *n)
{
	for (int i = 0; i < moved_inputs(n); i++) {
		node_set_input(n, i, n->inputs[i]->producer->inputs[0]);
	}
	if (!ops_infer_node(g, n)) {
		return false;
	}
	for (int i = 0; i < n->n_outputs; i++) {
		struct tensor *y = n->outputs[i], *wide;

		if (y == NULL || y->uses.n == 0) {
			continue;
		}
		wide = cast(g, y->uses.data[0].node, y, dtype_of(DT_F32),
			    y->name);
		if (wide == NULL) {
			return false;
		}
		replace_readers(y, wide, wide->producer);
	}
	return true;
}

/* A copy of the graph's list of nodes, because the pass inserts nodes into the
 * list. Sets *n to its length. */
static struct node **
list_nodes(const struct graph *g, int *n)
{
	*n = g->nodes.n;
	return arena_copy(&g->module->arena, g->nodes.data,
			  sizeof *g->nodes.data * (size_t)*n);
}

static bool
round_sources(struct graph *g, struct node *const *products, int n)
{
	struct rounding r = {
		.g = g,
		.seen = arena_array(&g->module->arena, bool, g->tensors.n + 1),
		.n = g->tensors.n,
		.visible = { .graph = g },
	};

	for (int i = 0; i < n; i++) {
		if (!round_source(&r, products[i]->inputs[0])) {
			return false;
		}
	}
	return graph_sort(g);
}

static bool
move_all_narrow(struct graph *g)
{
	int n;
	struct node **nodes = list_nodes(g, &n);

	for (int i = 0; i < n; i++) {
		if (moves_widened(g, nodes[i]) && !move_narrow(g, nodes[i])) {
			return false;
		}
	}
	return true;
}

/* Makes the products that read x, from number `first` on (if `alone`, only
 * number `first`), read `to` instead. */
static void
replace_in_products(struct node *const *products, int n, int first, bool alone,
		    const struct tensor *x, struct tensor *to)
{
	for (int i = first; i < (alone ? first + 1 : n); i++) {
		if (products[i]->inputs[0] == x) {
			node_set_input(products[i], 0, to);
		}
	}
}

/* Rounds the data of products that are not rounded where they are computed: one
 * rounded copy for all products that read a tensor or, in graphs with branches
 * or loops, one copy for each product. */
static bool
round_copies(struct graph *g, struct node *const *products, int n)
{
	bool alone = graph_has_control(g);

	for (int i = 0; i < n; i++) {
		struct tensor *x = products[i]->inputs[0], *wide;

		if (is_widened(g, x)) {
			continue;
		}
		wide = insert_rounding(g, products[i], x);
		if (wide == NULL) {
			return false;
		}
		replace_in_products(products, n, i, alone, x, wide);
	}
	return true;
}

bool
graph_pairs(struct graph *g)
{
	int n, n_products = 0;
	struct node **products = list_nodes(g, &n);

	for (int i = 0; i < n; i++) {
		if (takes_pairs(g, products[i])) {
			products[n_products++] = products[i];
		}
	}
	if (n_products == 0) {
		return true;
	}
	if (graph_has_control(g)) {
		graph_find_bodies(g);
	}
	return round_sources(g, products, n_products) && move_all_narrow(g) &&
	       round_copies(g, products, n_products) && graph_sort(g);
}
