/* SPDX-License-Identifier: Apache-2.0 */
/* Operators under symbolic sizes: shapes and values are inferred as
 * expressions, and the function of a definition gives at every size what the
 * definition gives where that size is constant. */
#include "check.h"

#include "interp.h"
#include "ops.h"

static const struct expr *const no_dim = NULL;

/* A float input of the given dimensions. */
static struct tensor *
input(struct graph *g, const char *name, int ndim,
      const struct expr *const *shape)
{
	struct tensor *t = graph_tensor(g, name);

	t->type = dtype_of(DT_F32);
	t->typed = true;
	t->ndim = ndim;
	t->shape = arena_copy(&g->module->arena, shape,
			      sizeof *shape * (size_t)(ndim + 1));
	t->is_input = true;
	return t;
}

static struct node *
node(struct graph *g, const char *op, struct tensor *const *in, int n,
     const char *out)
{
	struct tensor *y = graph_tensor(g, out);
	struct node *made = graph_node(g, "", op, "", in, n, &y, 1);

	made->op = op_find("", op);
	return made;
}

static struct tensor *
infer_one(struct graph *g, const char *op, struct tensor *const *in, int n,
	  const char *out)
{
	struct node *made = node(g, op, in, n, out);

	CHECK(ops_infer_node(g, made));
	return made->outputs[0];
}

static void
print_elems(const struct tensor *t, struct strbuf *out)
{
	for (int i = 0; i < t->n_elems; i++) {
		strbuf_puts(out, i ? ", " : "");
		expr_print(t->elems[i], out);
	}
}

static void
check_elems(const struct tensor *t, const char *want)
{
	struct strbuf s;

	strbuf_init(&s);
	print_elems(t, &s);
	CHECK_STR_EQ(s.data, want);
	strbuf_release(&s);
}

static struct node *
cast(struct graph *g, struct tensor *x, int to, const char *out)
{
	struct node *n = node(g, "Cast", &x, 1, out);

	node_set_attr_int(g, n, "to", to);
	CHECK(ops_infer_node(g, n));
	return n;
}

/* Shape, Gather, arithmetic, Cast to float and back, Concat. */
static void
test_values(void)
{
	static const float half = 0.5f;
	struct module *m = module_new();
	struct graph *g = graph_new(m, "g");
	struct var *n = var_new_dim(m, "n", 1, 16);
	const struct expr *shape[] = { n->expr, expr_i32(m, 6), no_dim };
	struct tensor *x = input(g, "x", 2, shape), *s, *b, *c, *in[3];
	int64_t zero = 0, two = 2, none = -1;

	s = infer_one(g, "Shape", &x, 1, "s");
	check_elems(s, "n, 6");
	in[0] = s;
	in[1] = graph_constant_ints(g, "index", 1, &zero);
	b = infer_one(g, "Gather", in, 2, "b");
	check_elems(b, "n");
	in[0] = b;
	in[1] = graph_constant_ints(g, "two", 1, &two);
	c = infer_one(g, "Mul", in, 2, "c");
	check_elems(c, "n * 2");
	in[0] = c;
	c = infer_one(g, "Div", in, 2, "d");
	check_elems(c, "n");
	c = cast(g, s, 1, "f")->outputs[0];
	in[0] = c;
	in[1] = graph_constant(g, "half", dtype_of(DT_F32), 0, NULL, &half);
	c = infer_one(g, "Mul", in, 2, "h");
	c = infer_one(g, "Floor", &c, 1, "w");
	c = cast(g, c, 7, "i")->outputs[0];
	check_elems(c, "n // 2, 3");
	in[0] = s;
	in[1] = graph_constant_ints(g, "none", 1, &none);
	c = infer_one(g, "Equal", in, 2, "equal");
	check_elems(c, "T.bool(False), T.bool(False)");
	CHECK_EQ(m->diags.n_errors, 0);
	module_free(m);
}

/* x * x of x * x …: written out it would have 2^60 factors. */
static void
test_long_values(void)
{
	struct module *m = module_new();
	struct graph *g = graph_new(m, "g");
	struct var *n = var_new_dim(m, "n", 1, 16);
	const struct expr *shape[] = { n->expr, no_dim };
	struct tensor *x = input(g, "x", 1, shape);

	x = infer_one(g, "Shape", &x, 1, "s");
	for (int i = 0; i < 60; i++) {
		struct tensor *in[2] = { x, x };

		x = infer_one(g, "Mul", in, 2,
			      arena_printf(&m->arena, "x%d", i));
	}
	CHECK(!x->elems);
	CHECK_EQ(m->diags.n_errors, 0);
	module_free(m);
}

/* A conv whose sizes are symbolic: the result's shape. */
static void
test_conv_shape(void)
{
	static const int64_t strides[] = { 2, 2 }, pads[] = { 1, 1, 1, 1 };
	struct module *m = module_new();
	struct graph *g = graph_new(m, "g");
	struct var *n = var_new_dim(m, "n", 1, 4);
	struct var *h = var_new_dim(m, "h", 8, 64);
	const struct expr *xs[] = { n->expr, expr_i32(m, 3), h->expr,
				    expr_i32(m, 17), no_dim };
	const struct expr *ws[] = { expr_i32(m, 8), expr_i32(m, 3),
				    expr_i32(m, 3), expr_i32(m, 3), no_dim };
	struct tensor *in[2] = { input(g, "x", 4, xs), input(g, "w", 4, ws) };
	struct node *conv = node(g, "Conv", in, 2, "y");
	struct strbuf s;

	node_set_attr_ints(g, conv, "strides", strides, 2);
	node_set_attr_ints(g, conv, "pads", pads, 4);
	CHECK(ops_infer_node(g, conv));
	strbuf_init(&s);
	for (int d = 0; d < conv->outputs[0]->ndim; d++) {
		strbuf_puts(&s, d ? ", " : "");
		expr_print(conv->outputs[0]->shape[d], &s);
	}
	CHECK_STR_EQ(s.data, "n, 8, (h - 1) // 2 + 1, 9");
	strbuf_release(&s);
	module_free(m);
}

/* ---- symbolic against constant sizes ---- */

struct form {
	const char *op;
	int rank; /* of input 0 */
	int n_inputs;
	int other_rank;  /* of the other inputs: the last dimensions */
	bool other_ones; /* or they are [c, 1, 1], [k, k] filters, … */
	int64_t kernel;  /* windows: kernel_shape, pads 1, strides 2 */
};

static const struct form forms[] = {
	{ "Softmax", 2, 1, 0, false, 0 },
	{ "LayerNormalization", 3, 2, 1, false, 0 },
	{ "InstanceNormalization", 4, 3, 0, true, 0 },
	{ "Add", 4, 2, 2, false, 0 },
	{ "ReduceMean", 3, 1, 0, false, 0 },
	{ "ArgMax", 2, 1, 0, false, 0 },
	{ "MaxPool", 4, 1, 0, false, 3 },
	{ "AveragePool", 4, 1, 0, false, 3 },
	{ "GlobalAveragePool", 4, 1, 0, false, 0 },
	{ "Conv", 4, 2, 4, false, 3 },
	{ "ConvTranspose", 4, 2, 4, false, 3 },
	{ "MatMul", 3, 2, 3, false, 0 },
};

enum { ELEMS_MAX = 4096 };

struct data {
	float in[3][ELEMS_MAX];
	unsigned char out[ELEMS_MAX * 8];
};

/* sizes[d]: of dimension d of input 0, as an expression. */
static struct node *
build(struct graph *g, const struct form *f, const struct expr *const *sizes)
{
	static const int64_t ones[] = { 1, 1, 1, 1 }, twos[] = { 2, 2 };
	struct module *m = g->module;
	struct tensor *in[3];
	int64_t kernel[] = { f->kernel, f->kernel };
	struct node *n;

	in[0] = input(g, "x", f->rank, sizes);
	for (int i = 1; i < f->n_inputs; i++) {
		const struct expr *shape[5] = { NULL };
		int rank = f->other_rank;

		for (int d = 0; d < rank; d++) {
			shape[d] = sizes[f->rank - rank + d];
		}
		if (f->other_ones) {
			rank = 1;
			shape[0] = sizes[1];
		}
		if (f->kernel) {
			shape[0] = shape[1];
			shape[2] = shape[3] = expr_i32(m, f->kernel);
		}
		if (strcmp(f->op, "MatMul") == 0) {
			shape[1] = sizes[2];
			shape[2] = sizes[1];
		}
		in[i] = input(g, i == 1 ? "a" : "b", rank, shape);
	}
	n = node(g, f->op, in, f->n_inputs, "y");
	if (f->kernel) {
		node_set_attr_ints(g, n, "kernel_shape", kernel, 2);
		node_set_attr_ints(g, n, "pads", ones, 4);
		node_set_attr_ints(g, n, "strides", twos, 2);
	}
	CHECK(ops_infer_node(g, n));
	return n;
}

/* Runs n's definition; dims: the values of its size parameters by name. */
static bool
run(struct graph *g, const struct node *n, const int64_t *sizes, struct data *d)
{
	struct te_tensor *in[3] = { NULL }, *out[1] = { NULL }, *params[4];
	struct run_arg args[8] = { { .data = NULL } };
	struct func *f;

	for (int i = 0; i < n->n_inputs; i++) {
		const struct tensor *t = n->inputs[i];

		in[i] = te_placeholder(g->module, t->name, t->type, t->ndim,
				       t->shape);
		params[i] = in[i];
		args[i].data = d->in[i];
	}
	if (!CHECK(ops_define(g, n, in, out))) {
		return false;
	}
	params[n->n_inputs] = out[0];
	args[n->n_inputs].data = d->out;
	f = te_to_func(g->module, "f", params, n->n_inputs + 1);
	CHECK(func_verify(f));
	for (int i = n->n_inputs + 1; i < f->params.n && i < 8; i++) {
		/* Sizes are named "d0", "d1", … */
		args[i].scalar = sizes[f->params.data[i].var->name[1] - '0'];
	}
	return CHECK(interp_run(f, args, f->params.n));
}

static void
fill(struct data *d)
{
	uint32_t state = 12345;

	memset(d, 0, sizeof *d);
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < ELEMS_MAX; k++) {
			state = state * 1664525u + 1013904223u;
			d->in[i][k] = (float)(state >> 24) / 64 - 2;
		}
	}
}

static void
test_form(const struct form *f, const int64_t *sizes)
{
	static struct data want, got;
	struct module *m = module_new();
	struct graph *constant = graph_new(m, "constant");
	struct graph *symbolic = graph_new(m, "symbolic");
	const struct expr *shape[5] = { NULL }, *dims[5] = { NULL };

	for (int d = 0; d < f->rank; d++) {
		shape[d] = expr_i32(m, sizes[d]);
		dims[d] = d == 1 ? shape[d]
				 : var_new_dim(m,
					       arena_printf(&m->arena, "d%d",
							    d),
					       1, 64)
					   ->expr;
	}
	fill(&want);
	fill(&got);
	if (run(constant, build(constant, f, shape), sizes, &want) &&
	    run(symbolic, build(symbolic, f, dims), sizes, &got) &&
	    !CHECK(memcmp(want.out, got.out, sizeof want.out) == 0)) {
		fprintf(stderr, "\tin %s of %lld, …\n", f->op,
			(long long)sizes[0]);
	}
	if (!CHECK_EQ(m->diags.n_errors, 0)) {
		struct strbuf s;

		strbuf_init(&s);
		diag_format(&m->diags.list.data[0], &s);
		fprintf(stderr, "%s: %s\n", f->op, s.data);
		strbuf_release(&s);
	}
	module_free(m);
}

/* What contradicts is refused. */
static void
test_refusals(void)
{
	struct module *m = module_new();
	struct graph *g = graph_new(m, "g");
	const struct expr *a[] = { expr_i32(m, 2), expr_i32(m, 3), no_dim };
	const struct expr *b[] = { expr_i32(m, 2), expr_i32(m, 4), no_dim };
	struct tensor *in[2] = { input(g, "x", 2, a), input(g, "y", 2, b) };
	struct node *n = node(g, "Add", in, 2, "z");

	CHECK(!ops_infer_node(g, n));
	CHECK_EQ(m->diags.list.data[0].id, DIAG_BAD_SHAPE);
	n = node(g, "And", in, 2, "w");
	CHECK(!ops_infer_node(g, n));
	CHECK_EQ(m->diags.list.data[1].id, DIAG_BAD_TYPE);
	n = node(g, "Softmax", in, 2, "v");
	CHECK(!ops_infer_node(g, n));
	CHECK_EQ(m->diags.list.data[2].id, DIAG_BAD_MODEL);
	n = graph_node(g, "", "Frobnicate", "", in, 2, in, 0);
	CHECK(!ops_resolve(g));
	CHECK_EQ(m->diags.list.data[3].id, DIAG_UNSUPPORTED_OPERATOR);
	module_free(m);
}

/* Formulas of sizes end at a number of steps, with the remedy. */
static void
test_steps(void)
{
	struct module *m = module_new();
	struct graph *g = graph_new(m, "g");
	struct var *v = var_new_dim(m, "n", 1, 8);
	struct tensor *x = input(g, "x", 1, &v->expr), *in[2] = { x, x };
	struct node *n = node(g, "Concat", in, 2, "y");

	node_set_attr_int(g, n, "axis", 0);
	m->quota.steps = QUOTA_STEPS;
	CHECK(!ops_infer_node(g, n));
	CHECK_EQ(m->diags.n_errors, 1);
	CHECK(strstr(m->diags.list.data[0].message, "--dim") != NULL);
	m->quota.steps = 0;
	CHECK(ops_infer_node(g, n));
	module_free(m);
}

int
main(void)
{
	static const int64_t sizes[][4] = {
		{ 2, 3, 4, 5 },
		{ 1, 2, 6, 3 },
		{ 3, 4, 1, 7 },
	};

	test_values();
	test_long_values();
	test_conv_shape();
	test_refusals();
	test_steps();
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
			test_form(&forms[i], sizes[k]);
		}
	}
	return check_done();
}
