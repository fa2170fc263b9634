/* SPDX-License-Identifier: Apache-2.0 */
/* Gradient: the derivatives of the tensor y with respect to the tensors xs, by
 * reverse-mode differentiation.
 *
 *	before	c = Mul(a, b)
 *		da = Gradient<xs=["a", "b"], y="c">(a, b)
 *	after	da_one = Expand(1, shape of c)
 *		da = Mul(da_one, b)
 *
 * If y has several elements, their sum is differentiated. The node has an input
 * for each name in xs and zs, the value at which the derivative is taken;
 * nodes.c appends the tensors that xs, zs and y name. Where a value is not the
 * named tensor itself, the nodes from there to y are computed again with it. */
#include "text_body.h"

#include "ops.h"

/* A tensor of the model that is named in xs or zs, or depends on a tensor named
 * there. */
struct slot {
	/* the tensor with the values at which the derivative is taken: the
	 * tensor itself, or the output of a node that computes it again */
	struct tensor *value;
	/* the derivative of y with respect to the tensor; NULL if it is 0 so
	 * far */
	struct tensor *slope;
	bool wanted; /* the tensor is in xs or depends on one of xs */
};

struct gradient {
	struct compose *c;
	struct pointer_map slot_of; /* from a tensor to its index in slots */
	VEC(struct slot) slots;
	/* the nodes on the way from the tensors in xs and zs to y, the last
	 * node first */
	VEC(struct node *) path;
};

static struct slot *
find_slot(struct gradient *g, const struct tensor *t)
{
	int at = t ? pointer_map_get(&g->slot_of, t, -1) : -1;

	return at < 0 ? NULL : &g->slots.data[at];
}

static void
add_slot(struct gradient *g, const struct tensor *t, struct tensor *value,
	 bool wanted)
{
	struct slot s = { .value = value, .wanted = wanted };

	pointer_map_put(&g->slot_of, t, g->slots.n);
	vec_push(&g->c->imp->tmp, &g->slots, s);
}

/* -- shapes -- */

static struct tensor *
expand_to(struct gradient *g, struct tensor *t, const struct tensor *x)
{
	return tensor_same_shape(t, x)
		       ? t
		       : compose_2(g->c, "expanded", "Expand", t,
				   compose_sizes(g->c, "shape", x->ndim,
						 x->shape));
}

/* Returns t, which has the shape to which an operator broadcast x, reduced to
 * the shape of x: for each element of x, the sum of the elements of t to which
 * it was copied. */
static struct tensor *
sum_to(struct gradient *g, struct tensor *t, const struct tensor *x)
{
	int64_t axes[ONNX_MAX_RANK];
	int n = 0, more = t->ndim - x->ndim;

	for (int d = 0; d < t->ndim; d++) {
		if (d < more || (expr_is_value(x->shape[d - more], 1) &&
				 !expr_is_value(t->shape[d], 1))) {
			axes[n++] = d;
		}
	}
	if (n > 0) {
		t = compose_2(g->c, "sum", "ReduceSum", t,
			      compose_ints(g->c, "axes", n, axes));
	}
	return more > 0 ? compose_reshape(g->c, "shaped", t, x->ndim, x->shape)
			: t;
}

/* -- the derivatives of operators -- */

/* One step backward: y is output 0 of the node n, dy the derivative with
 * respect to y. */
struct step {
	struct gradient *g;
	struct compose *c;
	const struct node *n;
	struct tensor *y, *dy;
};

static struct tensor *
input(const struct step *s, int i)
{
	struct tensor *t = node_input(s->n, i);
	const struct slot *slot = find_slot(s->g, t);

	return slot ? slot->value : t;
}

static bool
is_wanted(const struct step *s, int i)
{
	const struct slot *slot = find_slot(s->g, node_input(s->n, i));

	return slot && slot->wanted;
}

/* Adds t to the derivative of y with respect to input i. If the operator has
 * broadcast the input, t is first summed to the input's shape. */
static void
give(const struct step *s, int i, struct tensor *t)
{
	struct slot *slot = find_slot(s->g, node_input(s->n, i));

	t = sum_to(s->g, t, slot->value);
	slot->slope = slot->slope
			      ? compose_2(s->c, "slope", "Add", slot->slope, t)
			      : t;
}

static bool
add(const struct step *s)
{
	for (int i = 0; i < s->n->n_inputs; i++) {
		if (is_wanted(s, i)) {
			give(s, i, s->dy);
		}
	}
	return true;
}

/* The step of an operator that only changes the shape: input 0 gets dy,
 * reshaped to its shape. */
static bool
reshape(const struct step *s)
{
	const struct tensor *x = input(s, 0);

	give(s, 0, compose_reshape(s->c, "back", s->dy, x->ndim, x->shape));
	return true;
}

/* ReduceSum and ReduceMean: the derivative of each input element is the
 * derivative of the sum that it is added to; for ReduceMean, divided by the
 * number of elements of the sum. */
static bool
reduce(const struct step *s)
{
	struct compose *c = s->c;
	struct tensor *x = input(s, 0), *t = s->dy, *count;
	const struct expr **shape = arena_exprs(&c->imp->tmp, x->ndim + 1);
	const int64_t *axes;
	int n = 0;

	if (node_input(s->n, 1) && !input_ints(c->m, s->n, 1, &axes, &n)) {
		return compose_refuse(c,
				      "it needs the gradient of %s, whose "
				      "axes must be constants",
				      s->n->op_type);
	}
	for (int d = 0; d < x->ndim; d++) {
		bool all = n == 0 &&
			   !node_attr_int(s->n, "noop_with_empty_axes", 0);

		shape[d] = all ? expr_index(c->m, 1) : x->shape[d];
	}
	for (int k = 0; k < n; k++) {
		shape[axes[k] + (axes[k] < 0 ? x->ndim : 0)] = expr_index(c->m,
									  1);
	}
	if (strcmp(s->n->op_type, "ReduceMean") == 0) {
		count = compose_2(c, "count", "Div",
				  compose_1(c, "elements", "Size", x),
				  compose_1(c, "results", "Size", s->y));
		t = compose_2(c, "part", "Div", t,
			      compose_cast(c, "divisor", count, t->type));
	}
	t = compose_reshape(c, "kept", t, x->ndim, shape);
	give(s, 0, expand_to(s->g, t, x));
	return true;
}

static const struct {
	const char *op;
	bool (*fn)(const struct step *s);
} rows[] = {
	{ "Add", add },           { "Flatten", reshape },
	{ "Identity", reshape },  { "ReduceMean", reduce },
	{ "ReduceSum", reduce },  { "Reshape", reshape },
	{ "Squeeze", reshape },   { "Sum", add },
	{ "Unsqueeze", reshape },
};

/* Adds the derivatives with respect to the inputs of an operator that has one
 * or two. `piece`, a function of compositions/gradient.onnxtxt, computes
 * them. */
static bool
derive_by(const struct step *s, const char *piece)
{
	struct tensor *in[] = { s->dy, s->y, input(s, 0), input(s, 1) };
	const bool wanted[] = { is_wanted(s, 0), is_wanted(s, 1) };
	struct tensor *out[2];

	for (int i = 0; i < s->n->attrs.n; i++) {
		compose_set_attr(s->c, s->n->attrs.data[i]);
	}
	compose_piece(s->c, piece, in, 4, wanted, out, 2);
	for (int i = 0; i < 2 && !s->c->failed; i++) {
		if (wanted[i]) {
			give(s, i, out[i]);
		}
	}
	return true;
}

static bool
derive(const struct step *s)
{
	const char *piece = arena_printf(&s->c->imp->tmp, "DerivativeOf%s",
					 s->n->op_type);

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (strcmp(rows[i].op, s->n->op_type) == 0 && !*s->n->domain) {
			return rows[i].fn(s);
		}
	}
	if (!*s->n->domain && composition_text_find("tirc", piece)) {
		return derive_by(s, piece);
	}
	return compose_refuse(s->c,
			      "it needs the gradient of %s, which is not "
			      "supported",
			      s->n->op_type);
}

/* -- the nodes from xs and zs to y -- */

/* Lists the nodes that y depends on, from y back to the tensors of xs and
 * zs. */
static void
find_path(struct gradient *g, const struct tensor *y)
{
	struct compose *c = g->c;
	struct pointer_map needed;

	pointer_map_init(&needed, &c->imp->tmp);
	pointer_map_add(&needed, y);
	for (int pos = c->pos - 1; pos >= 0; pos--) {
		struct node *n = c->g->nodes.data[pos];
		bool leads = false;

		for (int k = 0; k < n->n_outputs; k++) {
			leads = leads ||
				(!find_slot(g, n->outputs[k]) &&
				 pointer_map_get(&needed, n->outputs[k], -1) >=
					 0);
		}
		if (leads) {
			vec_push(&c->imp->tmp, &g->path, n);
			for (int i = 0; i < n->n_inputs; i++) {
				if (n->inputs[i]) {
					pointer_map_put(&needed, n->inputs[i],
							0);
				}
			}
		}
	}
}

/* Makes a copy of node n that reads the values at which the derivative is taken
 * (slot.value), and sets `out` to its outputs. */
static void
compute_again(struct gradient *g, const struct node *n, struct tensor **out)
{
	struct arena *a = &g->c->imp->tmp;
	struct tensor **in = arena_array(a, struct tensor *, n->n_inputs + 1);
	const char **whats = arena_array(a, const char *, n->n_outputs + 1);

	for (int i = 0; i < n->n_inputs; i++) {
		const struct slot *slot = find_slot(g, n->inputs[i]);

		in[i] = slot ? slot->value : n->inputs[i];
	}
	for (int k = 0; k < n->n_outputs; k++) {
		whats[k] = n->outputs[k] ? "again" : NULL;
	}
	for (int i = 0; i < n->attrs.n; i++) {
		vec_push(&g->c->m->arena, &g->c->attrs, n->attrs.data[i]);
	}
	compose_nodes(g->c, n->domain, n->op_type, in, n->n_inputs, whats,
		      n->n_outputs, out);
}

/* If n reads a tensor that has a slot, gives slots to the outputs of n, which
 * then depend on xs or zs, too. If an input has another value than in the
 * model, a copy of n computes the values of the outputs. */
static void
follow(struct gradient *g, const struct node *n)
{
	struct tensor **out = arena_array(&g->c->imp->tmp, struct tensor *,
					  n->n_outputs + 1);
	bool depends = false, wanted = false, other = false;

	for (int i = 0; i < n->n_inputs; i++) {
		const struct slot *slot = find_slot(g, n->inputs[i]);

		depends = depends || slot;
		wanted = wanted || (slot && slot->wanted);
		other = other || (slot && slot->value != n->inputs[i]);
		/* `slot` is not kept: add_slot may move the slots */
	}
	for (int k = 0; k < n->n_outputs; k++) {
		out[k] = n->outputs[k];
	}
	if (other) {
		compute_again(g, n, out);
	}
	for (int k = 0; k < n->n_outputs && depends; k++) {
		if (n->outputs[k] && !find_slot(g, n->outputs[k])) {
			add_slot(g, n->outputs[k], out[k], wanted);
		}
	}
}

/* -- the composition -- */

/* The number of strings of the attribute. */
static int
count_names(const struct compose *c, const char *name)
{
	const struct attr *a = node_attr(c->node, name);

	return a && a->kind == ATTR_STRINGS ? a->n : 0;
}

/* Gives slots to the n tensors that xs and zs name; the first inputs of the
 * model's node are their values. False after a diagnostic. */
static bool
read_names(struct gradient *g, int n_xs, int n)
{
	struct compose *c = g->c;

	if (n_xs == 0 || c->node->n_inputs != 2 * n + 1) {
		return compose_error(c, DIAG_BAD_ATTRIBUTE,
				     "it must have xs and y, and an input for "
				     "each of xs and zs; correct the model");
	}
	for (int i = 0; i <= n; i++) {
		const struct tensor *t = compose_input(c, n + i);

		if (!t || (i < n && !compose_input(c, i))) {
			return compose_error(c, DIAG_MISSING_TENSOR,
					     "its xs, zs or y names a tensor "
					     "that the model does not have; "
					     "correct the name");
		}
		if (i < n && !find_slot(g, t)) {
			add_slot(g, t, compose_input(c, i), i < n_xs);
		}
	}
	return true;
}

/* Counts the nodes on the path. A Gradient of the result of another one has all
 * nodes of that one on its path, so that a few of them multiply the graph. False
 * after a diagnostic. */
static bool
count_path(struct gradient *g)
{
	struct importer *imp = g->c->imp;
	const int64_t bytes = imp->m->quota.input_bytes;
	const int64_t most = bytes < ONNX_LEAST_DERIVED ? ONNX_LEAST_DERIVED
			     : bytes > ONNX_MAX_DERIVED ? ONNX_MAX_DERIVED
							: bytes;

	imp->n_derived += g->path.n;
	return imp->n_derived <= most ||
	       compose_error(g->c, DIAG_TOO_LARGE,
			     "it and the Gradients before it differentiate "
			     "more than %lld nodes, the most for a model of "
			     "%lld bytes; nest fewer",
			     (long long)most, (long long)bytes);
}

bool
compose_gradient(struct compose *c)
{
	struct gradient g = { .c = c };
	int n_xs = count_names(c, "xs"), n = n_xs + count_names(c, "zs");
	struct tensor *y = compose_input(c, 2 * n), *t;
	struct slot *slot;

	pointer_map_init(&g.slot_of, &c->imp->tmp);
	if (!read_names(&g, n_xs, n)) {
		return false;
	}
	find_path(&g, y);
	if (!count_path(&g)) {
		return false;
	}
	for (int i = g.path.n - 1; i >= 0; i--) {
		follow(&g, g.path.data[i]);
	}
	slot = find_slot(&g, y);
	if (slot && slot->wanted) {
		t = compose_scalar(c, "one", y->type, 1);
		t = expand_to(&g, t, slot->value);
		slot->slope = t;
	}
	for (int i = 0; i < g.path.n; i++) {
		struct step s = { .g = &g, .c = c, .n = g.path.data[i] };

		slot = find_slot(&g, s.n->outputs[0]);
		if (slot && slot->slope) {
			s.y = slot->value;
			s.dy = slot->slope;
			if (!derive(&s)) {
				return false;
			}
		}
	}
	for (int k = 0; k < n_xs; k++) {
		slot = find_slot(&g, compose_input(c, n + k));
		t = slot->slope;
		if (!t) {
			t = compose_scalar(c, "zero", slot->value->type, 0);
			t = expand_to(&g, t, slot->value);
		}
		if (k < c->node->n_outputs) {
			compose_result(c, k, t);
		}
	}
	return true;
}
