/* SPDX-License-Identifier: Apache-2.0 */
/* Random graphs of small integers, and their values node by node. For test
 * programs, each with a copy of its own. */
#ifndef RANDOM_GRAPH_H
#define RANDOM_GRAPH_H

#include <math.h>

#include "check.h"
#include "ops.h"
#include "passes.h"

#define MAX_TENSORS 64
#define SYMBOLIC 0 /* as a batch: 1..3, decided when the program runs */
#define MAX_BATCH 3

struct maker {
	struct module *m;
	struct graph *g;
	uint32_t random;
	struct tensor *pool[MAX_TENSORS]; /* rank 4, batch 1 */
	int n;
};

static int
roll(struct maker *k, int sides)
{
	k->random = k->random * 1664525u + 1013904223u;
	return (int)((k->random >> 10) % (uint32_t)sides);
}

static int64_t
extent(const struct tensor *t, int axis)
{
	int64_t v = 0;

	expr_is_int(t->shape[axis], &v);
	return v;
}

static struct tensor *
constant(struct maker *k, int ndim, const int64_t *shape, int low)
{
	int64_t elems = 1;
	float *data;

	for (int i = 0; i < ndim; i++) {
		elems *= shape[i];
	}
	data = arena_array(&k->m->arena, float, elems + 1);
	for (int64_t i = 0; i < elems; i++) {
		data[i] = (float)(low + roll(k, 4));
	}
	return graph_constant(k->g, "k", dtype_of(DT_F32), ndim, shape, data);
}

static struct tensor *
pick(struct maker *k)
{
	return k->pool[k->n - 1 - roll(k, k->n < 4 ? k->n : 4)];
}

static struct node *
add_node(struct maker *k, const char *op, struct tensor *const *in, int n)
{
	struct tensor *y = graph_tensor(k->g, "t");
	struct node *node = graph_node(k->g, "", op, "", in, n, &y, 1);
	struct origin o = { .within = -1,
			    .index = k->g->origins.n,
			    .op_type = op,
			    .output = y->name };

	vec_push(&k->m->arena, &node->origins, k->g->origins.n);
	vec_push(&k->m->arena, &k->g->origins, o);
	node->op = op_find("", op);
	return node;
}

static void
done(struct maker *k, struct node *n)
{
	CHECK(ops_infer_node(k->g, n));
	if (n->outputs[0]->ndim == 4) {
		k->pool[k->n++] = n->outputs[0];
	}
}

static void
add_unary(struct maker *k)
{
	static const char *const ops[4] = { "Relu", "Neg", "Identity", "Abs" };
	struct tensor *x = pick(k);

	done(k, add_node(k, ops[roll(k, 4)], &x, 1));
}

/* With a constant along one axis, a number, or another tensor. */
static void
add_binary(struct maker *k)
{
	static const char *const ops[3] = { "Add", "Mul", "Sub" };
	const char *op = ops[roll(k, 3)];
	struct tensor *x = pick(k), *in[2] = { x, NULL };
	int64_t shape[3] = { extent(x, 1), 1, 1 };

	switch (roll(k, 4)) {
	case 0:
		in[1] = constant(k, 0, NULL, 1);
		break;
	case 1:
		shape[0] = extent(x, 3);
		in[1] = constant(k, 1, shape, -1);
		break;
	case 2:
		in[1] = constant(k, 3, shape, -1);
		break;
	default:
		for (int i = 0; i < k->n; i++) {
			bool same = true;

			for (int d = 0; d < 4; d++) {
				same &= k->pool[i]->shape[d] == x->shape[d];
			}
			in[1] = same ? k->pool[i] : in[1];
		}
	}
	if (strcmp(op, "Mul") == 0 && !tensor_is_constant(in[1])) {
		op = "Add"; /* squares of squares grow too fast */
	}
	if (roll(k, 3) == 0) {
		in[0] = in[1];
		in[1] = x;
	}
	done(k, add_node(k, op, in, 2));
}

static void
add_conv(struct maker *k)
{
	struct tensor *x = pick(k), *in[3] = { x, NULL, NULL };
	int64_t kernel = extent(x, 2) > 2 && extent(x, 3) > 2 && roll(k, 2) ? 3
									    : 1;
	int64_t shape[4] = { 2 + roll(k, 3), extent(x, 1), kernel, kernel };
	int64_t pads[4] = { 1, 0, 1, 0 };
	struct node *n;

	in[1] = constant(k, 4, shape, -2);
	in[2] = constant(k, 1, shape, -2);
	n = add_node(k, "Conv", in, 2 + roll(k, 2));
	if (roll(k, 2)) {
		node_set_attr_ints(k->g, n, "pads", pads, 4);
	}
	done(k, n);
}

static void
add_batchnorm(struct maker *k)
{
	struct tensor *x = pick(k), *in[5] = { x };
	int64_t channels = extent(x, 1);

	for (int i = 1; i < 5; i++) {
		in[i] = constant(k, 1, &channels, i == 4 ? 1 : -1);
	}
	done(k, add_node(k, "BatchNormalization", in, 5));
}

static void
add_transpose(struct maker *k)
{
	static const int64_t perms[3][4] = { { 0, 2, 3, 1 },
					     { 0, 3, 1, 2 },
					     { 0, 1, 3, 2 } };
	struct tensor *x = pick(k);
	struct node *n = add_node(k, "Transpose", &x, 1);

	node_set_attr_ints(k->g, n, "perm", perms[roll(k, 3)], 4);
	done(k, n);
}

static void
add_reshape(struct maker *k)
{
	struct tensor *x = pick(k), *in[2] = { x, NULL };
	int64_t shape[4] = { 0, extent(x, 1), extent(x, 2) * extent(x, 3),
			     1 }; /* 0: the batch as it is */

	if (roll(k, 2)) {
		shape[1] = extent(x, 2);
		shape[2] = extent(x, 1);
		shape[3] = extent(x, 3);
	}
	in[1] = graph_constant_ints(k->g, "s", 4, shape);
	done(k, add_node(k, "Reshape", in, 2));
}

static void
add_pad(struct maker *k)
{
	struct tensor *x = pick(k), *in[2] = { x, NULL };
	int64_t pads[8] = { 0, 0, roll(k, 2), 1, 0, 0, 1, roll(k, 2) };

	in[1] = graph_constant_ints(k->g, "p", 8, pads);
	done(k, add_node(k, "Pad", in, 2));
}

static void
add_concat(struct maker *k)
{
	struct tensor *x = pick(k), *in[2] = { x, x };
	struct node *n;

	for (int i = 0; i < k->n; i++) {
		if (k->pool[i]->shape[2] == x->shape[2] &&
		    k->pool[i]->shape[3] == x->shape[3]) {
			in[1] = k->pool[i];
		}
	}
	n = add_node(k, "Concat", in, 2);
	node_set_attr_int(k->g, n, "axis", 1);
	done(k, n);
}

static void
add_pool(struct maker *k)
{
	struct tensor *x = pick(k);
	struct node *n = add_node(k, roll(k, 2) ? "MaxPool" : "AveragePool", &x,
				  1);
	int64_t kernel[2] = { extent(x, 2) > 1 ? 2 : 1, 1 };
	int64_t pads[4] = { roll(k, 2), 0, 0, 0 };

	node_set_attr_ints(k->g, n, "kernel_shape", kernel, 2);
	if (kernel[0] > 1) {
		node_set_attr_ints(k->g, n, "pads", pads, 4);
	}
	if (roll(k, 2) && strcmp(n->op_type, "AveragePool") == 0) {
		node_set_attr_int(k->g, n, "count_include_pad", 1);
	}
	done(k, n);
}

/* Along some axis; large inputs make it a choice of the largest. */
static void
add_rowwise(struct maker *k)
{
	struct tensor *x = pick(k);
	struct node *n = add_node(k, "Softmax", &x, 1);

	node_set_attr_int(k->g, n, "axis", 1 + roll(k, 3));
	done(k, n);
}

static void
add_slice(struct maker *k)
{
	struct tensor *x = pick(k), *in[4] = { x };
	int64_t axis = 1 + roll(k, 3), from = roll(k, 2);
	int64_t to = extent(x, (int)axis);

	from = from < to ? from : 0;
	in[1] = graph_constant_ints(k->g, "from", 1, &from);
	in[2] = graph_constant_ints(k->g, "to", 1, &to);
	in[3] = graph_constant_ints(k->g, "axis", 1, &axis);
	done(k, add_node(k, "Slice", in, 4));
}

/* To int8 and back, by a scale of which small fractions are no halves: those go
 * either way with the order of what is rounded before. */
static void
add_quantize(struct maker *k)
{
	static const float scale = 0.373F;
	static const int8_t zero = 3;
	struct tensor *in[3] = { pick(k) };
	struct node *n;

	in[1] = graph_constant(k->g, "scale", dtype_of(DT_F32), 0, NULL,
			       &scale);
	in[2] = graph_constant(k->g, "zero", dtype_of(DT_I8), 0, NULL, &zero);
	n = add_node(k, "QuantizeLinear", in, 3);
	CHECK(ops_infer_node(k->g, n));
	in[0] = n->outputs[0];
	done(k, add_node(k, "DequantizeLinear", in, 3));
}

static void
add_matmul(struct maker *k)
{
	struct tensor *x = pick(k), *in[2] = { x, NULL };
	int64_t shape[2] = { extent(x, 3), 2 + roll(k, 3) };

	in[1] = constant(k, 2, shape, -2);
	for (int i = 0; i < k->n && roll(k, 2); i++) {
		if (k->pool[i]->shape[1] == x->shape[1] &&
		    k->pool[i]->shape[2] == x->shape[3]) {
			in[1] = k->pool[i];
		}
	}
	done(k, add_node(k, "MatMul", in, 2));
}

/* A product with a large constant that is computed from another: a recipe.
 * A few columns of the result go on. */
static void
add_recipe(struct maker *k)
{
	struct tensor *x = pick(k), *in[4] = { x };
	int64_t inner = extent(x, 3), wide = 70000 / 4 / inner + 5;
	int64_t shape[2] = { wide, inner }, turned[2] = { inner, wide };
	int64_t from = roll(k, 7), to = from + 2, axis = 3;
	struct tensor *w = constant(k, 2, shape, -2);
	struct node *n;

	if (roll(k, 2)) {
		in[0] = w;
		in[1] = constant(k, 1, shape + 1, -1);
		n = add_node(k, "Add", in, 2);
		done(k, n);
		w = n->outputs[0];
	}
	if (roll(k, 2)) {
		n = add_node(k, "Transpose", &w, 1);
	} else {
		in[0] = w;
		in[1] = graph_constant_ints(k->g, "s", 2, turned);
		n = add_node(k, "Reshape", in, 2);
	}
	done(k, n);
	in[0] = x;
	in[1] = n->outputs[0];
	n = add_node(k, "MatMul", in, 2);
	CHECK(ops_infer_node(k->g, n));
	in[0] = n->outputs[0];
	in[1] = graph_constant_ints(k->g, "from", 1, &from);
	in[2] = graph_constant_ints(k->g, "to", 1, &to);
	in[3] = graph_constant_ints(k->g, "axis", 1, &axis);
	done(k, add_node(k, "Slice", in, 4));
}

static void
make_graph(struct maker *k, uint32_t seed, int batch)
{
	static void (*const makers[])(struct maker * k) = {
		add_unary,     add_binary,    add_binary,  add_conv,
		add_batchnorm, add_transpose, add_reshape, add_pad,
		add_concat,    add_pool,      add_rowwise, add_slice,
		add_quantize,  add_matmul,    add_recipe,
	};
	struct tensor *x;
	int64_t shape[4] = { batch, 2, 3, 4 };

	k->m = module_new();
	k->g = graph_new(k->m, "random");
	k->random = seed;
	k->n = 0;
	x = graph_tensor(k->g, "x");
	x->typed = true;
	x->type = dtype_of(DT_F32);
	x->ndim = 4;
	x->shape = arena_array(&k->m->arena, const struct expr *, 4);
	for (int i = 0; i < 4; i++) {
		x->shape[i] = expr_index(k->m, shape[i]);
	}
	if (batch == SYMBOLIC) {
		struct var *n = var_new_dim(k->m, "n", 1, 3);

		vec_push(&k->m->arena, &k->g->dims, n);
		x->shape[0] = n->expr;
	}
	x->is_input = true;
	vec_push(&k->m->arena, &k->g->inputs, x);
	k->pool[k->n++] = x;
	for (int i = 0; i < 12; i++) {
		makers[roll(k, (int)(sizeof makers / sizeof *makers))](k);
	}
	for (int i = 0; i < k->n; i++) {
		struct tensor *t = k->pool[i];

		if (!t->is_input &&
		    (t->uses.n == 0 || i == k->n - 1 || roll(k, 6) == 0)) {
			t->is_output = true;
			vec_push(&k->m->arena, &k->g->outputs, t);
		}
	}
}

static const float input_data[MAX_BATCH * 24] = {
	1,  -2, 3, 0,  2,  -1, 1, 1, -3, 2,  0,  1, 2,  2,  -1, 0,  1, 3,
	-2, 1,  0, -1, 2,  1,  0, 1, -1, 2,  3,  3, -2, 0,  1,  1,  2, -1,
	-1, 0,  2, 1,  -3, 1,  0, 2, 2,  -2, 1,  3, 3,  0,  1,  -1, 2, -2,
	1,  0,  1, 2,  -1, 2,  1, 1, 0,  3,  -1, 2, 2,  -2, 0,  1,  3, 1
};

static inline void
evaluate(struct graph *g, int batch)
{
	struct value v = { .type = dtype_of(DT_F32),
			   .data = input_data,
			   .elems = 24 * batch,
			   .bytes = sizeof(float) * 24 * (size_t)batch };

	g->inputs.data[0]->value = arena_copy(&g->module->arena, &v, sizeof v);
	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];
		const struct value *out[2] = { NULL, NULL };

		for (int k = 0; k < n->n_inputs; k++) {
			if (n->inputs[k]) {
				CHECK(tensor_value(g, n->inputs[k]));
			}
		}
		CHECK(ops_evaluate(g, n, out));
		n->outputs[0]->value = out[0];
	}
}

static inline void
compare(const struct tensor *a, const struct tensor *b, uint32_t seed)
{
	const struct value *v = a->value, *w = b->value;
	double largest = 1, worst = 0;

	if (!CHECK(v && w && v->elems == w->elems)) {
		return;
	}
	for (int64_t i = 0; i < v->elems; i++) {
		double x = ((const float *)v->data)[i];
		double y = ((const float *)w->data)[i];

		largest = fabs(x) > largest ? fabs(x) : largest;
		worst = fabs(x - y) > worst ? fabs(x - y) : worst;
	}
	if (!CHECK(worst <= 1e-4 * largest)) {
		fprintf(stderr, "seed %u: %s: %g of %g\n", seed, a->name, worst,
			largest);
	}
}

static inline void
verify(void *ctx, const char *pass, const struct graph *g)
{
	(void)ctx;
	if (!CHECK(graph_verify((struct graph *)(uintptr_t)g))) {
		fprintf(stderr, "after %s\n", pass);
	}
}

static inline void
print_graph(const struct graph *g)
{
	struct strbuf text;

	strbuf_init(&text);
	graph_print(g, &text);
	fprintf(stderr, "%s", text.data);
	strbuf_release(&text);
}

static void
print_diags(const struct module *m)
{
	struct strbuf text;

	strbuf_init(&text);
	for (int i = 0; i < m->diags.list.n; i++) {
		diag_format(&m->diags.list.data[i], &text);
		strbuf_putc(&text, '\n');
	}
	fprintf(stderr, "%s", text.data ? text.data : "");
	strbuf_release(&text);
}

#endif
