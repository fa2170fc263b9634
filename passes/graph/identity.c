/* SPDX-License-Identifier: Apache-2.0 */
/* Removes identity nodes and biases of zeros, and merges views of views.
 *
 *	a = Dropout (x)
 *	b = Reshape (a, s)     ->     c = Reshape (x, t)
 *	c = Reshape (b, t)
 *
 *	a = DequantizeLinear (x, s, z)     y = QuantizeLinear (a, s, z) is x
 *
 * All rewrites are exact, except that x + 0 of floats becomes x, so that -0 keeps
 * its sign. This one is not done if the graph has the setting exact_rewrites, unless
 * x is a sum that is never -0, or if a later operator makes the sign visible
 * (visible.c). */
#include "quantization.h"
#include "visible.h"

#include <math.h>

static bool
all_zero(const int64_t *v, int n)
{
	for (int i = 0; i < n; i++) {
		if (v[i] != 0) {
			return false;
		}
	}
	return true;
}

static bool
is_true(struct graph *g, struct tensor *t)
{
	return t && !(tensor_is_constant(t) && constant_is_all(g, t, 0));
}

static bool
only_output_used(const struct node *n)
{
	for (int i = 1; i < n->n_outputs; i++) {
		if (n->outputs[i] &&
		    (n->outputs[i]->uses.n || n->outputs[i]->is_output)) {
			return false;
		}
	}
	return true;
}

static bool
steps_forward(struct graph *g, const struct node *n)
{
	const int64_t *steps;
	int count;

	if (!node_input(n, 4)) {
		return true;
	}
	if (!input_ints(g->module, n, 4, &steps, &count)) {
		return false;
	}
	for (int i = 0; i < count; i++) {
		if (steps[i] < 1) {
			return false;
		}
	}
	return true;
}

static bool
is_identity_perm(const struct node *n)
{
	const int64_t *perm;
	int count = node_attr_ints(n, "perm", &perm);

	for (int i = 0; i < count; i++) {
		if (perm[i] != i) {
			return false;
		}
	}
	return count > 0 || n->inputs[0]->ndim <= 1;
}

/* Can x + c (or, if !add, x - c), with c = 0, be replaced by x? For floats, -0
 * + 0 is 0, so that only x + -0 and x - 0 are always x. A c that is the other
 * zero may be dropped, too, unless rewrites must be exact or a later operator
 * makes the difference visible. */
static bool
keeps_zero(struct graph *g, struct visible *visible, const struct node *n,
	   struct tensor *c, bool add)
{
	int64_t count;
	const double *v = constant_doubles(g, c, &count);
	bool exact = !dtype_is_float(c->type) || v != NULL;

	for (int64_t i = 0; v && i < count && dtype_is_float(c->type); i++) {
		exact &= (signbit(v[i]) != 0) == add;
	}
	return exact || (!g->settings->exact_rewrites &&
			 !visible_at(visible, n->outputs[0]));
}

/* Is n one of x + 0, x - 0, x * 1 and x / 1, where the constant is small and
 * does not change the shape of x? If so, sets *kept to the index of the input
 * x. */
static bool
is_neutral(struct graph *g, struct visible *visible, const struct node *n,
	   int *kept)
{
	bool add = node_is(n, "Add"), mul = node_is(n, "Mul");
	bool sub = node_is(n, "Sub"), div = node_is(n, "Div");

	if (!add && !mul && !sub && !div) {
		return false;
	}
	for (int i = add || mul ? 0 : 1; i < 2; i++) {
		struct tensor *x = n->inputs[1 - i], *c = n->inputs[i];

		if (tensor_is_constant(c) && !tensor_is_constant(x) &&
		    tensor_same_shape(x, n->outputs[0]) &&
		    tensor_bytes_max(c) <= EAGER_BYTES &&
		    constant_is_all(g, c, add || sub ? 0 : 1) &&
		    (mul || div || keeps_zero(g, visible, n, c, add))) {
			*kept = 1 - i;
			return true;
		}
	}
	return false;
}

static bool
drop_requantize(struct graph *g, struct node *n)
{
	struct node *p = n->inputs[0]->producer;
	const char *why = fate_of(g, "%s takes the stored integers back", n);

	if (!replace_by(g, n, p->inputs[0], "identity",
			fate_of(g, "quantizes as %s has dequantized", p))) {
		return false;
	}
	if (p->outputs[0]->uses.n == 0 && !p->outputs[0]->is_output) {
		graph_take_up(g, p, NULL, "identity", why);
	}
	return true;
}

/* The reason why n changes nothing, so that its input with index *kept can take
 * the place of its result; NULL if n may change something. */
static const char *
no_op(struct graph *g, struct visible *visible, const struct node *n, int *kept)
{
	const struct tensor *x = n->inputs[0], *y = n->outputs[0];
	const int64_t *v;
	int count;

	*kept = 0;
	if (node_is(n, "Identity")) {
		return "passes its input on";
	}
	if (node_is(n, "Dropout") && only_output_used(n) &&
	    !is_true(g, node_input(n, 2))) {
		return "does nothing at inference";
	}
	if ((node_is(n, "Sum") || node_is(n, "Max") || node_is(n, "Min") ||
	     node_is(n, "Mean") || node_is(n, "Concat")) &&
	    n->n_inputs == 1) {
		return "has one input";
	}
	if (is_neutral(g, visible, n, kept)) {
		return "adds nothing or multiplies by one";
	}
	if (!tensor_same_shape(x, y)) {
		return NULL;
	}
	if (node_is(n, "Cast")) {
		return dtype_equal(x->type, y->type) ? "casts to the same type"
						     : NULL;
	}
	if (node_is(n, "Reshape") || node_is(n, "Flatten") ||
	    node_is(n, "Squeeze") || node_is(n, "Unsqueeze") ||
	    node_is(n, "Expand") || node_is(n, "Tile")) {
		return "leaves the shape as it is";
	}
	if (node_is(n, "Transpose") && is_identity_perm(n)) {
		return "leaves the axes in order";
	}
	if (node_is(n, "Slice") && steps_forward(g, n)) {
		return "takes everything";
	}
	if (node_is(n, "Split") && n->n_outputs == 1) {
		return "takes everything";
	}
	if (node_is(n, "Pad") && input_ints(g->module, n, 1, &v, &count) &&
	    all_zero(v, count)) {
		return "pads nothing";
	}
	if (node_is(n, "Clip") && !node_input(n, 1) && !node_input(n, 2)) {
		return "has no bounds";
	}
	return NULL;
}

/* Sets `shape` to the second input of a Reshape that gives the shape of y, with
 * -1 in place of a single symbolic size. False if y has several symbolic sizes,
 * or a size of 0. */
static bool
reshape_target(const struct tensor *y, int64_t *shape)
{
	bool unknown = false;

	for (int i = 0; i < y->ndim; i++) {
		if (!expr_is_int(y->shape[i], &shape[i])) {
			shape[i] = -1;
			if (unknown) {
				return false;
			}
			unknown = true;
		} else if (shape[i] == 0) {
			return false;
		}
	}
	return true;
}

/* Makes n a Reshape of x to the shape of n's result. False if this shape cannot
 * be a constant (reshape_target). */
static bool
as_reshape(struct graph *g, struct node *n, struct tensor *x)
{
	struct tensor *y = n->outputs[0], *shape;
	struct arena *a = &g->module->arena;
	int64_t *target = arena_array(a, int64_t, y->ndim + 1);

	if (!reshape_target(y, target)) {
		return false;
	}
	shape = graph_constant_ints(g, arena_printf(a, "%s.shape", y->name),
				    y->ndim, target);
	node_resize_inputs(n, 2);
	node_set_input(n, 0, x);
	node_set_input(n, 1, shape);
	n->op_type = "Reshape";
	n->op = op_find("", "Reshape");
	n->attrs.n = 0;
	return true;
}

static bool
is_view(const struct node *n)
{
	return n && n->op && n->op->fuse == FUSE_VIEW && !*n->domain;
}

static bool
moves_only_ones(const struct node *n)
{
	const int64_t *perm;
	int count = node_attr_ints(n, "perm", &perm), last = -1;

	for (int i = 0; i < count; i++) {
		const struct expr *extent = n->inputs[0]->shape[perm[i]];

		if (expr_is_value(extent, 1)) {
			continue;
		}
		if (perm[i] < last) {
			return false;
		}
		last = (int)perm[i];
	}
	return count > 0;
}

/* Does `between` have a size that is known only when the model runs, and that
 * neither x nor y has? The conditions that make x, `between` and y equally
 * large then contain it, and can be checked only when this size is known. */
static bool
has_own_size(const struct graph *g, const struct tensor *x,
	     const struct tensor *between, const struct tensor *y)
{
	size_numbers sizes = { 0 };
	struct pointer_map numbers;
	int others;

	graph_number_sizes(g, &numbers);
	graph_add_sizes(&numbers, x->shape, x->ndim, &sizes);
	graph_add_sizes(&numbers, y->shape, y->ndim, &sizes);
	others = sizes.n;
	graph_add_sizes(&numbers, between->shape, between->ndim, &sizes);
	return sizes.n > others;
}

static bool
merge_views(struct graph *g, struct node *n)
{
	struct tensor *x = n->inputs[0];
	struct node *p = x->producer;

	if (node_is(n, "Transpose") && moves_only_ones(n)) {
		return as_reshape(g, n, x);
	}
	if (!is_view(n) || !is_view(p) || tensor_is_constant(p->inputs[0]) ||
	    has_own_size(g, p->inputs[0], x, n->outputs[0])) {
		return false;
	}
	if (!as_reshape(g, n, p->inputs[0])) {
		return false;
	}
	graph_share_origins(n, p);
	if (x->uses.n == 0 && !x->is_output) {
		graph_note(g, p, "identity",
			   fate_of(g, "a view, one with %s", n));
		p->origins.n = 0;
		graph_remove_node(g, p, NULL, "");
	}
	return true;
}

/* The index of the input that n adds to a sum of products; -1 if n adds
 * none. */
static int
bias_of_sum(const struct node *n)
{
	return node_is(n, "Gemm") || node_is(n, "Conv") ||
			       node_is(n, "ConvTranspose")
		       ? 2
		       : -1;
}

/* Removes a bias of zeros: if the sum without the bias is never -0, or if no
 * later operator makes the sign of a zero visible. A sum of rounded products
 * starts with 0 and is never -0; a sum that Gemm multiplies by alpha, or to
 * which a product is added before it is rounded, can be so small that it
 * becomes -0. */
static void
drop_bias(struct graph *g, struct visible *visible, struct node *n)
{
	int at = bias_of_sum(n);
	struct tensor *bias = at >= 0 ? node_input(n, at) : NULL;
	bool exact = g->settings->exact_rewrites;

	if (bias != NULL && tensor_is_constant(bias) &&
	    tensor_bytes_max(bias) <= EAGER_BYTES &&
	    constant_is_all(g, bias, 0) &&
	    (exact ? node_attr_float(n, "alpha", 1) == 1
		   : !visible_at(visible, n->outputs[0]))) {
		node_resize_inputs(n, at);
		graph_note(g, n, "identity", "its bias is zero");
	}
}

bool
graph_identity(struct graph *g)
{
	struct visible visible = { .graph = g };

	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];
		const char *why;
		int kept;

		if (n->n_inputs == 0 || !n->inputs[0] || !n->outputs[0]) {
			continue;
		}
		why = no_op(g, &visible, n, &kept);
		if (why && replace_by(g, n, n->inputs[kept], "identity", why)) {
			i--;
			continue;
		}
		drop_bias(g, &visible, n);
		if (quantizes_back(g, n) && drop_requantize(g, n)) {
			i--;
			continue;
		}
		if (merge_views(g, n)) {
			/* A producer before this position was removed: goes
			 * back to visit the nodes from there on again. */
			i = i > 0 ? i - 2 : -1;
			i = i < -1 ? -1 : i;
		}
	}
	return true;
}
