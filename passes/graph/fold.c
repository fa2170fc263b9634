/* SPDX-License-Identifier: Apache-2.0 */
/* Constant folding. Small results, and integers known from shape inference, are
 * computed at once; large ones become recipes, evaluated in chunks when the
 * weights are written.
 *
 *	const a: float32[3]           const c: float32[3] = {…}
 *	c = Exp (a)             ->    y = Add (x, c)
 *	y = Add (x, c)
 *
 * There are limits to the total work of folding, to the bytes of a result, and
 * to the bytes that computing the result takes (ir/core/quota.h). Nodes beyond
 * the limits are computed at run time, and the user is told.
 *
 * A DequantizeLinear of a constant is not folded if its result is large or is
 * the weights of a product: the kernel reads the narrow constant. */
#include "rewrite.h"

/* The limit of folding in computed elements, counting each term of a sum:
 * seconds, not minutes, and more for a model that is large itself. Nodes below
 * FREE are not counted. */
#define FOLD_WORK_MAX 400000000
#define FOLD_WORK_PER_BYTE 64
#define FOLD_WORK_FREE 65536

static bool
is_random(const struct node *n)
{
	return strncmp(n->op_type, "Random", 6) == 0 ||
	       node_is(n, "Bernoulli") || node_is(n, "Multinomial");
}

static bool
all_constant(const struct node *n)
{
	for (int i = 0; i < n->n_inputs; i++) {
		if (n->inputs[i] && !tensor_is_constant(n->inputs[i])) {
			return false;
		}
	}
	return true;
}

/* Can n be a recipe? The tensor expression of n must have no reduction, so that
 * it can be composed with those of further recipes into one expression. */
static bool
can_be_lazy(const struct node *n)
{
	switch (n->op->fuse) {
	case FUSE_ELEMENTWISE:
	case FUSE_BROADCAST:
	case FUSE_INJECTIVE:
	case FUSE_VIEW:
		return true;
	default:
		return false;
	}
}

/* Is n a DequantizeLinear that widens a constant which should stay narrow,
 * because the result is large, or because a product reads it? The parameters of
 * channels are small: their results are computed once instead. */
static bool
stays_narrow(const struct node *n)
{
	const struct tensor *y = n->outputs[0];

	if (!node_is(n, "DequantizeLinear") ||
	    dtype_bits(n->inputs[0]->type) >= dtype_bits(y->type)) {
		return false;
	}
	for (int i = 0; i < y->uses.n; i++) {
		if (y->uses.data[i].node->op->fuse == FUSE_COMPUTE) {
			return true;
		}
	}
	return tensor_bytes_max(y) > EAGER_BYTES;
}

/* Folds a node whose integer outputs are known from inference (Shape, Size, …).
 * With the setting small_constants, a result of many integers (Range) keeps its
 * recipe, so that it can be computed at run time (unfold.c). */
static bool
fold_known_elems(struct graph *g, struct node *n)
{
	struct tensor *y = n->outputs[0];
	int64_t elems;
	void *data;

	if (n->n_outputs != 1 || !y->elems || node_run_sizes(n) >= 0 ||
	    (g->settings->small_constants && y->n_elems > FEW_ELEMS &&
	     all_constant(n)) ||
	    dtype_is_float(y->type) || y->is_output ||
	    !tensor_const_elems(y, &elems) || elems != y->n_elems) {
		return false;
	}
	data = arena_alloc(&g->module->arena,
			   (size_t)elems * (size_t)dtype_bytes(y->type) + 1);
	for (int64_t i = 0; i < elems; i++) {
		union number v;

		if (!expr_is_int(y->elems[i], &v.i)) {
			return false;
		}
		number_store(y->type, data, (size_t)i, v);
	}
	graph_remove_node(g, n, "fold", "its value is known from the shapes");
	graph_made_of(g, y, "known from the shapes", n, NULL, 0);
	y->value = arena_copy(&g->module->arena,
			      &(struct value){
				      .type = y->type,
				      .data = data,
				      .elems = elems,
				      .bytes = (size_t)elems *
					       (size_t)dtype_bytes(y->type) },
			      sizeof(struct value));
	return true;
}

/* A ConstantOfShape of any size becomes a constant with one number for all
 * elements. */
static bool
fold_splat(struct graph *g, struct node *n)
{
	const struct attr *a = node_attr(n, "value");
	struct tensor *y = n->outputs[0];
	struct value *v;
	int64_t elems;
	char *data;

	if (!tensor_const_elems(y, &elems)) {
		return false;
	}
	v = arena_new(&g->module->arena, struct value);
	v->type = y->type;
	v->elems = elems;
	v->bytes = (size_t)tensor_bytes_max(y);
	if (a && a->tensor) {
		v->fill = a->tensor->data ? number_load(a->tensor->type,
							a->tensor->data, 0)
					  : a->tensor->fill;
	}
	if (v->bytes <= EAGER_BYTES) {
		data = arena_alloc(&g->module->arena, v->bytes + 1);
		for (int64_t i = 0; i < elems; i++) {
			number_store(v->type, data, (size_t)i, v->fill);
		}
		v->data = data;
	}
	graph_remove_node(g, n, "fold", "one constant throughout");
	graph_made_of(g, y, "one number throughout", n, NULL, 0);
	y->value = v;
	return true;
}

/* Reports to the user, once for each node, why it is computed at run time.
 * Returns false. */
static bool
leave(struct graph *g, const struct node *n, const char *why)
{
	graph_assume(
		g, arena_printf(&g->module->arena,
				"%s of constants, for '%s', is computed at run "
				"time: %s",
				n->op_type, n->outputs[0]->name, why));
	return false;
}

/* The bytes of memory that the evaluation of a constant takes, including all
 * tensors from which it is computed. Stops counting beyond `most`. */
static int64_t
expanded_bytes(const struct tensor *t, int64_t most)
{
	int64_t bytes = t->value && t->value->data ? 0 : tensor_bytes_max(t);

	for (int i = 0; t->recipe && i < t->recipe->n_inputs && bytes <= most;
	     i++) {
		if (t->recipe->inputs[i]) {
			bytes = quota_plus(bytes,
					   expanded_bytes(t->recipe->inputs[i],
							  most - bytes));
		}
	}
	return bytes;
}

/* Do n's inputs and first output have fewer than `most` elements each? Tensors
 * whose number of elements is not known count as small. */
static bool
is_small(const struct node *n, int64_t most)
{
	int64_t elems = 0;

	for (int i = 0; i < n->n_inputs; i++) {
		if (n->inputs[i] && tensor_const_elems(n->inputs[i], &elems) &&
		    elems >= most) {
			return false;
		}
	}
	return !tensor_const_elems(n->outputs[0], &elems) || elems < most;
}

/* The cost of folding n, in operations and bytes. The result of a node that can
 * be a recipe is evaluated in parts when it is written; any other result is
 * evaluated in memory as a whole, and so are the inputs. */
static struct ops_cost
folding_cost(struct graph *g, const struct node *n, int64_t most)
{
	struct ops_cost cost = { 0, 0 };
	int64_t bytes = 0;

	for (int i = 0; i < n->n_outputs; i++) {
		bytes = quota_plus(bytes, n->outputs[i] ? tensor_bytes_max(
								  n->outputs[i])
							: 0);
	}
	if (!node_is(n, "ConstantOfShape") && bytes <= most) {
		cost = ops_cost(g, n);
	}
	if (can_be_lazy(n) && bytes > EAGER_BYTES) {
		cost.bytes = bytes;
		return cost;
	}
	for (int i = 0; i < n->n_inputs && bytes <= most; i++) {
		if (n->inputs[i]) {
			bytes = quota_plus(bytes, expanded_bytes(n->inputs[i],
								 most - bytes));
		}
	}
	cost.bytes = quota_plus(cost.bytes, bytes);
	return cost;
}

/* Does folding n stay within the limits of bytes and operations? If so, adds
 * the operations of a large node to g->folded_work; else tells the user why n
 * is not folded. */
static bool
within_limits(struct graph *g, const struct node *n)
{
	const int64_t most = quota_output(g->module);
	struct arena *a = &g->module->arena;
	struct ops_cost cost;

	if (is_small(n, FOLD_WORK_FREE / 16)) {
		return true;
	}
	cost = folding_cost(g, n, most);
	if (cost.bytes > most) {
		return leave(g, n,
			     arena_printf(a,
					  "folding it would take %lld bytes, "
					  "more than the limit of %s, which "
					  "--max-output sets",
					  (long long)cost.bytes,
					  quota_output_text(g->module)));
	}
	if (cost.work < FOLD_WORK_FREE) {
		return true;
	}
	if (cost.work <=
	    quota_plus(FOLD_WORK_MAX, quota_times(g->module->quota.input_bytes,
						  FOLD_WORK_PER_BYTE)) -
		    g->folded_work) {
		g->folded_work += cost.work;
		return true;
	}
	return leave(g, n,
		     arena_printf(a, "folding it would take %.2g operations",
				  (double)cost.work));
}

static bool
fold_node(struct graph *g, struct node *n)
{
	bool lazy = can_be_lazy(n);

	graph_make_recipe(g, n, "fold", "computed from constants");
	for (int i = 0; i < n->n_outputs; i++) {
		struct tensor *y = n->outputs[i];

		if (!y) {
			continue;
		}
		if ((!lazy || tensor_bytes_max(y) <= EAGER_BYTES) &&
		    !tensor_value(g, y)) {
			return false;
		}
	}
	return true;
}

/* If a result of n is an output of the graph, inserts an Identity that makes
 * the output from the result, so that n itself can be folded. */
static bool
detach_outputs(struct graph *g, struct node *n)
{
	struct arena *a = &g->module->arena;

	for (int i = 0; i < n->n_outputs; i++) {
		struct tensor *y = n->outputs[i], *c;
		struct node *copy;

		if (!y || !y->is_output) {
			continue;
		}
		c = graph_tensor(g, arena_printf(a, "%s.value", y->name));
		y->producer = NULL;
		n->outputs[i] = c;
		c->producer = n;
		c->output_index = i;
		while (y->uses.n > 0) {
			struct use *u = &y->uses.data[0];

			node_set_input(u->node, u->input, c);
		}
		copy = graph_node(g, "", "Identity", "", &c, 1, &y, 1);
		copy->op = op_find("", "Identity");
		graph_share_origins(copy, n);
		if (!ops_infer_node(g, n) || !ops_infer_node(g, copy)) {
			return false;
		}
	}
	return true;
}

static bool
is_output_copy(const struct node *n)
{
	return node_is(n, "Identity") && n->outputs[0]->is_output;
}

bool
graph_fold(struct graph *g)
{
	for (int i = 0; i < g->nodes.n;) {
		struct node *n = g->nodes.data[i];
		int64_t elems;

		if (fold_known_elems(g, n)) {
			continue;
		}
		if (!all_constant(n) || node_is_control(n) || is_random(n) ||
		    node_run_sizes(n) >= 0 || stays_narrow(n) || !n->op ||
		    is_output_copy(n) || !n->outputs[0] ||
		    !tensor_const_elems(n->outputs[0], &elems)) {
			i++;
			continue;
		}
		if (!within_limits(g, n)) {
			i++;
			continue;
		}
		if (!detach_outputs(g, n)) {
			return false;
		}
		if (node_is(n, "ConstantOfShape") && fold_splat(g, n)) {
			continue;
		}
		if (!fold_node(g, n)) {
			return false;
		}
	}
	return true;
}
