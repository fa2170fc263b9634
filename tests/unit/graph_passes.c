/* SPDX-License-Identifier: Apache-2.0 */
/* Each graph pass on a small graph: the text after it. */
#include "check.h"
#include "rewrite.h"

/* A graph under construction. */
static struct module *m;
static struct graph *g;

static const float small_values[64] = { 2, -1, 0.5f, 3, 1, 4, -2, 8 };

static void
start(const char *name)
{
	m = module_new();
	g = graph_new(m, name);
}

static struct tensor *
input(const char *name, int ndim, const int64_t *shape)
{
	struct tensor *t = graph_tensor(g, name);

	t->typed = true;
	t->type = dtype_of(DT_F32);
	t->ndim = ndim;
	t->shape = arena_array(&m->arena, const struct expr *, ndim + 1);
	for (int i = 0; i < ndim; i++) {
		t->shape[i] = expr_index(m, shape[i]);
	}
	t->is_input = true;
	vec_push(&m->arena, &g->inputs, t);
	return t;
}

#define SHAPE(...)                                                             \
	(int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)),           \
		(int64_t[])                                                    \
	{                                                                      \
		__VA_ARGS__                                                    \
	}

static struct tensor *
constant(const char *name, int ndim, const int64_t *shape)
{
	return graph_constant(g, name, dtype_of(DT_F32), ndim, shape,
			      small_values);
}

/* One output; operator, its inputs; attributes are set by the caller, then
 * infer(). */
static struct node *
node(const char *op, const char *output, struct tensor *a, struct tensor *b,
     struct tensor *c)
{
	struct tensor *in[3] = { a, b, c }, *out = graph_tensor(g, output);
	struct node *n = graph_node(g, "", op, "", in,
				    c   ? 3
				    : b ? 2
					: 1,
				    &out, 1);
	struct origin o = { .index = g->origins.n,
			    .op_type = op,
			    .output = output };

	vec_push(&m->arena, &n->origins, g->origins.n);
	vec_push(&m->arena, &g->origins, o);
	return n;
}

static struct tensor *
apply(const char *op, const char *output, struct tensor *a, struct tensor *b)
{
	return node(op, output, a, b, NULL)->outputs[0];
}

static void
output(struct tensor *t)
{
	t->is_output = true;
	vec_push(&m->arena, &g->outputs, t);
}

static void
infer(void)
{
	CHECK(ops_resolve(g));
	CHECK(ops_infer(g));
	CHECK(graph_verify(g));
}

static void
end(bool (*pass)(struct graph *g), const char *want)
{
	struct strbuf text;

	CHECK(pass(g));
	CHECK(graph_dead(g));
	CHECK(graph_verify(g));
	strbuf_init(&text);
	graph_print(g, &text);
	CHECK_STR_EQ(text.data, want);
	for (int i = 0; i < m->diags.list.n; i++) {
		diag_format(&m->diags.list.data[i], &text);
		fprintf(stderr, "%s\n", text.data);
	}
	strbuf_release(&text);
	module_free(m);
}

static void
test_dead(void)
{
	struct tensor *x;

	start("dead");
	x = input("x", SHAPE(8));
	apply("Exp", "unused", apply("Relu", "a", x, NULL), NULL);
	output(apply("Neg", "y", x, NULL));
	infer();
	end(graph_dead, "graph dead\n"
			"  input x: float32[8]\n"
			"  y: float32[8] = Neg (x)\n"
			"  output y\n");
}

static void
test_identity(void)
{
	struct tensor *x, *a;
	int64_t flat[2] = { 4, -1 }, final[2] = { 2, 8 };

	start("identity");
	x = input("x", SHAPE(2, 2, 4));
	a = apply("Identity", "a", x, NULL);
	a = apply("Reshape", "b", a, graph_constant_ints(g, "s", 2, flat));
	a = apply("Reshape", "c", a, graph_constant_ints(g, "t", 2, final));
	output(apply("Identity", "y", a, NULL));
	infer();
	end(graph_identity, "graph identity\n"
			    "  input x: float32[2, 2, 4]\n"
			    "  const c.shape: int64[2] = {2, 8}\n"
			    "  y: float32[2, 8] = Reshape (x, c.shape)\n"
			    "  output y\n");
}

static void
test_fold(void)
{
	struct tensor *x, *a, *big;
	int64_t size[2] = { 300, 300 };

	start("fold");
	x = input("x", SHAPE(2));
	a = constant("a", SHAPE(2));
	a = apply("Mul", "b", a, a);
	big = apply("ConstantOfShape", "big",
		    graph_constant_ints(g, "size", 2, size), NULL);
	big = apply("Exp", "e", big, NULL);
	output(apply("Add", "y", x, apply("Neg", "c", a, NULL)));
	output(apply("Sub", "z", input("w", SHAPE(300, 300)), big));
	infer();
	end(graph_fold, "graph fold\n"
			"  input x: float32[2]\n"
			"  input w: float32[300, 300]\n"
			"  const big: float32[300, 300] = splat 0\n"
			"  const e: float32[300, 300] = Exp (big)\n"
			"  const c: float32[2] = {-4, -1}\n"
			"  y: float32[2] = Add (x, c)\n"
			"  z: float32[300, 300] = Sub (w, e)\n"
			"  output y\n"
			"  output z\n");
}

/* What takes too long is left to the run, and told once; the rest is folded. */
static void
test_fold_limit(void)
{
	int64_t size[2] = { 2000, 2000 };
	struct tensor *big, *x;

	start("fold_limit");
	x = input("x", SHAPE(2));
	big = apply("ConstantOfShape", "big",
		    graph_constant_ints(g, "size", 2, size), NULL);
	output(apply("Add", "y", input("w", SHAPE(2000, 2000)),
		     apply("MatMul", "product", big, big)));
	output(apply("Add", "z", x,
		     apply("Neg", "a", constant("c", SHAPE(2)), NULL)));
	infer();
	CHECK(graph_fold(g));
	CHECK(graph_fold(g));
	CHECK_EQ(g->assumptions.n, 1);
	CHECK_STR_EQ(g->assumptions.data[0],
		     "MatMul of constants, for "
		     "'product', is computed at run time: folding it would "
		     "take 1.6e+10 operations");
	end(graph_fold, "graph fold_limit\n"
			"  input x: float32[2]\n"
			"  input w: float32[2000, 2000]\n"
			"  const big: float32[2000, 2000] = splat 0\n"
			"  const a: float32[2] = {-2, 1}\n"
			"  product: float32[2000, 2000] = MatMul (big, big)\n"
			"  y: float32[2000, 2000] = Add (w, product)\n"
			"  z: float32[2] = Add (x, a)\n"
			"  output y\n"
			"  output z\n");
}

static void
test_fold_output(void)
{
	struct tensor *a;

	start("fold_output");
	a = constant("a", SHAPE(2));
	output(apply("Neg", "y", a, NULL));
	infer();
	end(graph_fold, "graph fold_output\n"
			"  const y.value: float32[2] = {-2, 1}\n"
			"  y: float32[2] = Identity (y.value)\n"
			"  output y\n");
}

static void
test_fold_scale(void)
{
	struct tensor *x, *c;

	start("fold_scale");
	x = input("x", SHAPE(1, 1, 3, 3));
	c = node("Conv", "conv", x, constant("w", SHAPE(2, 1, 2, 2)),
		 constant("b", SHAPE(2)))
		    ->outputs[0];
	c = apply("Mul", "m", c, constant("s", SHAPE(2, 1, 1)));
	output(apply("Add", "y", c, constant("t", SHAPE(1, 2, 1, 1))));
	infer();
	/* w * s, b * s + t with b = s = t = {2, -1} */
	end(graph_fold_scale,
	    "graph fold_scale\n"
	    "  input x: float32[1, 1, 3, 3]\n"
	    "  const b.bias: float32[2] = {6, 0}\n"
	    "  const w.scaled: float32[2, 1, 2, 2] = "
	    "{4, -2, 1, 6, -1, -4, 2, -8}\n"
	    "  y: float32[1, 2, 2, 2] = Conv (x, w.scaled, b.bias)\n"
	    "  output y\n");
}

static void
resize(const char *name, float factor, const char *nearest)
{
	static float scales[2][4];
	float *s = scales[factor == 2.0f];
	struct node *n;

	s[0] = s[1] = 1.0f;
	s[2] = s[3] = factor;
	n = node("Resize", name, input(nearest, SHAPE(1, 3, 4, 5)), NULL, NULL);
	node_resize_inputs(n, 3);
	node_set_input(n, 2,
		       graph_constant(g, "scales", dtype_of(DT_F32), 1,
				      (const int64_t[]){ 4 }, s));
	node_set_attr_string(g, n, "coordinate_transformation_mode",
			     "asymmetric");
	node_set_attr_string(g, n, "nearest_mode", nearest);
	output(n->outputs[0]);
}

/* Twice as large is so from the middles, too; by 1.5, the sizes are not. */
static void
test_resize(void)
{
	start("resize");
	resize("y", 2.0f, "floor");
	resize("z", 1.5f, "ceil");
	infer();
	end(graph_resize,
	    "graph resize\n"
	    "  input floor: float32[1, 3, 4, 5]\n"
	    "  input ceil: float32[1, 3, 4, 5]\n"
	    "  const scales_1: float32[4] = {1, 1, 1.5, 1.5}\n"
	    "  const y.sizes: int64[2] = {8, 10}\n"
	    "  y: float32[1, 3, 8, 10] = Resize (floor, _, _, y.sizes) "
	    "{coordinate_transformation_mode = half_pixel, "
	    "nearest_mode = round_prefer_ceil, axes = [2, 3]}\n"
	    "  z: float32[1, 3, 6, 7] = Resize (ceil, _, scales_1) "
	    "{coordinate_transformation_mode = asymmetric, "
	    "nearest_mode = ceil}\n"
	    "  output y\n"
	    "  output z\n");
}

/* Without a convolution before it a chain is one Mul and one Add. */
static void
test_fold_chain(void)
{
	struct tensor *x, *a;

	start("chain");
	x = input("x", SHAPE(1, 2, 2, 2));
	a = apply("Mul", "a", x, constant("s", SHAPE(2, 1, 1)));
	a = apply("Add", "b", a, constant("t", SHAPE(2, 1, 1)));
	a = apply("Sub", "c", a, constant("u", SHAPE(1)));
	output(apply("Mul", "y", a, constant("v", SHAPE(2, 1, 1))));
	infer();
	end(graph_fold_scale,
	    "graph chain\n"
	    "  input x: float32[1, 2, 2, 2]\n"
	    "  const y.scale: float32[2, 1, 1] = {4, 1}\n"
	    "  const y.shift: float32[2, 1, 1] = {0, 3}\n"
	    "  y.scaled: float32[1, 2, 2, 2] = Mul (x, y.scale)\n"
	    "  y: float32[1, 2, 2, 2] = Add (y.scaled, y.shift)\n"
	    "  output y\n");
}

static void
test_fold_batchnorm(void)
{
	static const float mean[1] = { 1 }, var[1] = { 4 }, scale[1] = { 6 };
	static const float bias[1] = { 5 };
	struct tensor *in[5], *y;
	struct node *n;

	start("batchnorm");
	in[0] = input("x", SHAPE(1, 1, 2));
	in[1] = graph_constant(g, "scale", dtype_of(DT_F32), SHAPE(1), scale);
	in[2] = graph_constant(g, "bias", dtype_of(DT_F32), SHAPE(1), bias);
	in[3] = graph_constant(g, "mean", dtype_of(DT_F32), SHAPE(1), mean);
	in[4] = graph_constant(g, "var", dtype_of(DT_F32), SHAPE(1), var);
	y = graph_tensor(g, "y");
	n = graph_node(g, "", "BatchNormalization", "bn", in, 5, &y, 1);
	node_set_attr_float(g, n, "epsilon", 0);
	output(y);
	infer();
	end(graph_fold_batchnorm,
	    "graph batchnorm\n"
	    "  input x: float32[1, 1, 2]\n"
	    "  const y.scale: float32[1, 1] = {3}\n"
	    "  const y.shift: float32[1, 1] = {2}\n"
	    "  y.scaled: float32[1, 1, 2] = Mul bn (x, y.scale)\n"
	    "  y: float32[1, 1, 2] = Add bn (y.scaled, y.shift)\n"
	    "  output y\n");
}

static void
test_fold_pad(void)
{
	int64_t pads[8] = { 0, 0, 1, 2, 0, 0, 3, 4 };
	int64_t own[4] = { 1, 1, 1, 1 };
	struct tensor *x, *p;
	struct node *n;

	start("pad");
	x = input("x", SHAPE(1, 1, 4, 4));
	p = apply("Pad", "p", x, graph_constant_ints(g, "pads", 8, pads));
	n = node("Conv", "y", p, constant("w", SHAPE(1, 1, 3, 3)), NULL);
	node_set_attr_ints(g, n, "pads", own, 4);
	output(n->outputs[0]);
	infer();
	end(graph_fold_pad, "graph pad\n"
			    "  input x: float32[1, 1, 4, 4]\n"
			    "  const w: float32[1, 1, 3, 3]\n"
			    "  y: float32[1, 1, 8, 10] = Conv (x, w) "
			    "{pads = [2, 3, 4, 5]}\n"
			    "  output y\n");
}

static struct tensor *
transpose(const char *name, struct tensor *x, const int64_t *perm)
{
	struct node *n = node("Transpose", name, x, NULL, NULL);

	node_set_attr_ints(g, n, "perm", perm, 4);
	return n->outputs[0];
}

static void
test_transpose(void)
{
	static const int64_t to_last[4] = { 0, 2, 3, 1 };
	static const int64_t to_first[4] = { 0, 3, 1, 2 };
	struct tensor *x, *a;

	start("transpose");
	x = input("x", SHAPE(1, 2, 3, 4));
	a = transpose("a", x, to_last);
	a = apply("Relu", "b", a, NULL);
	a = apply("Add", "c", a, constant("k", SHAPE(2)));
	output(transpose("y", a, to_first));
	infer();
	CHECK(graph_transpose(g));
	CHECK(graph_transpose(g));
	end(graph_identity, "graph transpose\n"
			    "  input x: float32[1, 2, 3, 4]\n"
			    "  const k_2: float32[1, 2, 1, 1] = {2, -1}\n"
			    "  b.before: float32[1, 2, 3, 4] = Relu (x)\n"
			    "  y: float32[1, 2, 3, 4] = Add (b.before, k_2)\n"
			    "  output y\n");
}

static void
test_views(void)
{
	int64_t shape[2] = { 4, 2 };
	struct tensor *x, *a;

	start("views");
	x = input("x", SHAPE(2, 2, 2));
	a = apply("Exp", "a", x, NULL);
	a = apply("Reshape", "b", a, graph_constant_ints(g, "s", 2, shape));
	output(apply("Relu", "y", a, NULL));
	infer();
	end(graph_views, "graph views\n"
			 "  input x: float32[2, 2, 2]\n"
			 "  const s: int64[2] = {4, 2}\n"
			 "  a: float32[2, 2, 2] = Exp (x)\n"
			 "  b: float32[2, 2, 2] = Relu (a)\n"
			 "  y: float32[4, 2] = Reshape (b, s)\n"
			 "  output y\n");
}

/* The sum moves before the view; its other operand is viewed, for free. */
static void
test_views_binary(void)
{
	int64_t shape[2] = { 4, 2 };
	struct tensor *x, *a;

	start("views_binary");
	x = input("x", SHAPE(2, 2, 2));
	a = apply("Exp", "a", x, NULL);
	a = apply("Reshape", "b", a, graph_constant_ints(g, "s", 2, shape));
	output(apply("Add", "y", input("r", SHAPE(4, 2)), a));
	infer();
	end(graph_views, "graph views_binary\n"
			 "  input x: float32[2, 2, 2]\n"
			 "  input r: float32[4, 2]\n"
			 "  const s: int64[2] = {4, 2}\n"
			 "  const r.shape: int64[3] = {2, 2, 2}\n"
			 "  a: float32[2, 2, 2] = Exp (x)\n"
			 "  r.reshaped: float32[2, 2, 2] = "
			 "Reshape (r, r.shape)\n"
			 "  b: float32[2, 2, 2] = Add (r.reshaped, a)\n"
			 "  y: float32[4, 2] = Reshape (b, s)\n"
			 "  output y\n");
}

static void
test_cse(void)
{
	struct tensor *x, *a, *b;

	start("cse");
	x = input("x", SHAPE(2));
	a = apply("Add", "a", x, constant("k", SHAPE(1)));
	b = apply("Add", "b", x, constant("l", SHAPE(1)));
	a = apply("Exp", "c", a, NULL);
	output(apply("Mul", "y", a, apply("Exp", "d", b, NULL)));
	infer();
	end(graph_cse, "graph cse\n"
		       "  input x: float32[2]\n"
		       "  const k: float32[1] = {2}\n"
		       "  a: float32[2] = Add (x, k)\n"
		       "  c: float32[2] = Exp (a)\n"
		       "  y: float32[2] = Mul (c, c)\n"
		       "  output y\n");
}

static void
test_fuse(void)
{
	static const int64_t flip[4] = { 0, 1, 3, 2 };
	struct tensor *x, *a, *b;

	start("fuse");
	x = input("x", SHAPE(1, 2, 4, 4));
	a = node("Conv", "a", x, constant("w", SHAPE(2, 2, 1, 1)), NULL)
		    ->outputs[0];
	a = apply("Relu", "b", a, NULL);
	b = node("Conv", "c", a, constant("v", SHAPE(2, 2, 1, 1)), NULL)
		    ->outputs[0];
	b = apply("Add", "d", b, a);
	b = apply("Relu", "e", b, NULL);
	b = apply("MatMul", "f", x, transpose("h", b, flip));
	b = apply("Mul", "i", b, constant("half", SHAPE(1)));
	b = apply("Neg", "j", b, NULL);
	output(apply("Softmax", "y", b, NULL));
	infer();
	end(graph_fuse, "graph fuse\n"
			"  input x: float32[1, 2, 4, 4]\n"
			"  const w: float32[2, 2, 1, 1] = {2, -1, 0.5, 3}\n"
			"  const v: float32[2, 2, 1, 1] = {2, -1, 0.5, 3}\n"
			"  const half: float32[1] = {2}\n"
			"  group 0 (Conv):\n"
			"    a: float32[1, 2, 4, 4] = Conv (x, w)\n"
			"    b: float32[1, 2, 4, 4] = Relu (a)\n"
			"  group 1 (Conv):\n"
			"    c: float32[1, 2, 4, 4] = Conv (b, v)\n"
			"    d: float32[1, 2, 4, 4] = Add (c, b)\n"
			"    e: float32[1, 2, 4, 4] = Relu (d)\n"
			"  group 2 (MatMul):\n"
			"    h: float32[1, 2, 4, 4] = Transpose (e) "
			"{perm = [0, 1, 3, 2]}\n"
			"    f: float32[1, 2, 4, 4] = MatMul (x, h)\n"
			"    i: float32[1, 2, 4, 4] = Mul (f, half)\n"
			"    j: float32[1, 2, 4, 4] = Neg (i)\n"
			"  group 3 (Softmax):\n"
			"    y: float32[1, 2, 4, 4] = Softmax (j)\n"
			"  output y\n");
}

/* What parts and meets again is one epilogue; what escapes is none. */
static void
test_fuse_diamond(void)
{
	struct tensor *x, *a, *b;

	start("diamond");
	x = input("x", SHAPE(1, 2, 4, 4));
	a = node("Conv", "a", x, constant("w", SHAPE(2, 2, 1, 1)), NULL)
		    ->outputs[0];
	b = apply("Sigmoid", "b", a, NULL);
	b = apply("Mul", "c", a, b);
	a = node("Conv", "d", b, constant("v", SHAPE(2, 2, 1, 1)), NULL)
		    ->outputs[0];
	b = apply("Relu", "e", a, NULL);
	output(apply("Exp", "f", a, NULL));
	output(apply("Neg", "y", b, NULL));
	infer();
	end(graph_fuse, "graph diamond\n"
			"  input x: float32[1, 2, 4, 4]\n"
			"  const w: float32[2, 2, 1, 1] = {2, -1, 0.5, 3}\n"
			"  const v: float32[2, 2, 1, 1] = {2, -1, 0.5, 3}\n"
			"  group 0 (Conv):\n"
			"    a: float32[1, 2, 4, 4] = Conv (x, w)\n"
			"    b: float32[1, 2, 4, 4] = Sigmoid (a)\n"
			"    c: float32[1, 2, 4, 4] = Mul (a, b)\n"
			"  group 1 (Conv):\n"
			"    d: float32[1, 2, 4, 4] = Conv (c, v)\n"
			"  group 2 (Exp):\n"
			"    f: float32[1, 2, 4, 4] = Exp (d)\n"
			"  group 3 (Relu):\n"
			"    e: float32[1, 2, 4, 4] = Relu (d)\n"
			"    y: float32[1, 2, 4, 4] = Neg (e)\n"
			"  output f\n"
			"  output y\n");
}

static void
test_fuse_concat(void)
{
	struct tensor *x, *a, *b, *c;
	struct node *n;

	start("concat");
	x = input("x", SHAPE(1, 2, 4));
	a = apply("Exp", "a", x, NULL);
	b = apply("Neg", "b", x, NULL);
	n = node("Concat", "c", a, b, NULL);
	node_set_attr_int(g, n, "axis", 1);
	c = n->outputs[0];
	output(apply("Relu", "y", c, NULL));
	infer();
	CHECK(graph_fuse(g));
	CHECK(b->part_of == c);
	CHECK_EQ(b->part_offset_bytes, 32);
	CHECK(g->groups.data[2]->is_view);
	end(graph_fuse, "graph concat\n"
			"  input x: float32[1, 2, 4]\n"
			"  group 0 (Exp):\n"
			"    a: float32[1, 2, 4] = Exp (x)\n"
			"  group 1 (Neg):\n"
			"    b: float32[1, 2, 4] = Neg (x)\n"
			"  view 2 (Concat):\n"
			"    c: float32[1, 4, 4] = Concat (a, b) "
			"{axis = 1}\n"
			"  group 3 (Relu):\n"
			"    y: float32[1, 4, 4] = Relu (c)\n"
			"  output y\n");
}

int
main(void)
{
	test_dead();
	test_identity();
	test_fold();
	test_fold_limit();
	test_fold_output();
	test_fold_scale();
	test_resize();
	test_fold_chain();
	test_fold_batchnorm();
	test_fold_pad();
	test_transpose();
	test_views();
	test_views_binary();
	test_cse();
	test_fuse();
	test_fuse_diamond();
	test_fuse_concat();
	return check_done();
}
