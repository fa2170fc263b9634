/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: names, links both ways, edits, order, attributes, text. */
#include "graph.h"
#include "check.h"
#include "pointer_map.h"

static struct tensor *
make_tensor(struct graph *g, const char *name, int64_t extent)
{
	struct tensor *t = graph_tensor(g, name);

	t->typed = true;
	t->type = dtype_of(DT_F32);
	t->ndim = 1;
	t->shape = arena_array(&g->module->arena, const struct expr *, 1);
	t->shape[0] = expr_index(g->module, extent);
	return t;
}

static struct node *
make_node(struct graph *g, const char *op, struct tensor *x, struct tensor *y)
{
	return graph_node(g, "", op, "", &x, 1, &y, 1);
}

static void
set_input(struct graph *g, struct tensor *t)
{
	t->is_input = true;
	vec_push(&g->module->arena, &g->inputs, t);
}

static void
set_output(struct graph *g, struct tensor *t)
{
	t->is_output = true;
	vec_push(&g->module->arena, &g->outputs, t);
}

static void
check_text(const struct graph *g, const char *want)
{
	struct strbuf text;

	strbuf_init(&text);
	graph_print(g, &text);
	CHECK_STR_EQ(text.data, want);
	strbuf_release(&text);
}

static void
test_names(void)
{
	struct module *m = module_new();
	struct graph *g = graph_new(m, "names");
	char name[32];

	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof name, "t%d", i);
		graph_tensor(g, name);
	}
	CHECK(graph_find_tensor(g, "t777")->id == 777);
	CHECK(graph_find_tensor(g, "t1000") == NULL);
	CHECK_STR_EQ(graph_tensor(g, "t5")->name, "t5_1");
	CHECK_STR_EQ(graph_fresh_name(g, "t5"), "t5_2");
	CHECK_STR_EQ(graph_tensor(g, "t5")->name, "t5_2");
	CHECK_STR_EQ(graph_tensor(g, "t5")->name, "t5_3");
	graph_rename(g, graph_find_tensor(g, "t5_1"), "free");
	CHECK_STR_EQ(graph_tensor(g, "t5")->name, "t5_1");
	CHECK_STR_EQ(graph_tensor(g, "t5")->name, "t5_4");
	graph_rename(g, graph_find_tensor(g, "t5"), "other");
	CHECK_STR_EQ(graph_tensor(g, "t5")->name, "t5");
	CHECK_STR_EQ(graph_tensor(g, "t5")->name, "t5_5");
	graph_rename(g, graph_find_tensor(g, "t9"), "nine");
	CHECK(graph_find_tensor(g, "t9") == NULL);
	CHECK(graph_find_tensor(g, "nine")->id == 9);
	graph_drop_unused_tensors(g);
	CHECK_EQ(g->tensors.n, 0);
	CHECK(graph_find_tensor(g, "t777") == NULL);
	module_free(m);
}

/* Uses stay in their order, whichever goes; nodes are found from any place. */
static void
test_removal(void)
{
	enum { N = 9 };
	static const int gone[] = { 4, 0, 8, 7, 2, 5 };
	struct module *m = module_new();
	struct graph *g = graph_new(m, "removal");
	struct tensor *x = make_tensor(g, "x", 8), *y[N];
	struct node *nodes[N];
	bool left[N];

	set_input(g, x);
	for (int i = 0; i < N; i++) {
		y[i] = make_tensor(g, "y", 8);
		nodes[i] = make_node(g, "Relu", x, y[i]);
		left[i] = true;
	}
	for (size_t k = 0; k < sizeof gone / sizeof *gone; k++) {
		int at = 0;

		graph_remove_node(g, nodes[gone[k]], NULL, NULL);
		left[gone[k]] = false;
		CHECK_EQ(x->uses.n, N - 1 - (int)k);
		CHECK_EQ(g->nodes.n, N - 1 - (int)k);
		for (int i = 0; i < N; i++) {
			if (left[i]) {
				CHECK(x->uses.data[at].node == nodes[i]);
				CHECK(g->nodes.data[at++] == nodes[i]);
			}
		}
	}
	make_node(g, "Neg", x, make_tensor(g, "z", 8));
	CHECK_EQ(x->uses.n, 4);
	CHECK(graph_verify(g));
	module_free(m);
}

static void
test_pointer_map(void)
{
	struct pointer_map map;
	struct arena a;
	static char things[1000][16];

	arena_init(&a);
	pointer_map_init(&map, &a);
	CHECK_EQ(pointer_map_get(&map, things[0], -1), -1);
	for (int i = 0; i < 1000; i += 2) {
		pointer_map_put(&map, things[i], i);
	}
	for (int i = 0; i < 1000; i++) {
		CHECK_EQ(pointer_map_get(&map, things[i], -1), i % 2 ? -1 : i);
	}
	pointer_map_put(&map, things[4], 5);
	CHECK_EQ(pointer_map_get(&map, things[4], -1), 5);
	CHECK(!pointer_map_add(&map, things[4]));
	CHECK(pointer_map_add(&map, things[5]));
	arena_release(&a);
}

static void
test_edits(void)
{
	struct module *m = module_new();
	struct graph *g = graph_new(m, "edits");
	struct tensor *x = make_tensor(g, "x", 8);
	struct tensor *a = make_tensor(g, "a", 8);
	struct tensor *y = make_tensor(g, "y", 8);
	struct origin origin = { .within = -1, .op_type = "Identity" };
	struct node *identity;

	set_input(g, x);
	set_output(g, y);
	make_node(g, "Relu", x, a);
	identity = make_node(g, "Identity", a, y);
	vec_push(&m->arena, &g->origins, origin);
	vec_push(&m->arena, &identity->origins, 0);
	CHECK(graph_verify(g));
	check_text(g, "graph edits\n"
		      "  input x: float32[8]\n"
		      "  a: float32[8] = Relu (x)\n"
		      "  y: float32[8] = Identity (a)\n"
		      "  output y\n");

	graph_replace_uses(g, y, a);
	graph_remove_node(g, identity, "identity", "passes its input on");
	graph_drop_unused_tensors(g);
	CHECK(graph_verify(g));
	CHECK_STR_EQ(g->origins.data[0].pass, "identity");
	check_text(g, "graph edits\n"
		      "  input x: float32[8]\n"
		      "  y: float32[8] = Relu (x)\n"
		      "  output y\n");
	module_free(m);
}

static void
test_order(void)
{
	struct module *m = module_new();
	struct graph *g = graph_new(m, "order");
	struct tensor *x = make_tensor(g, "x", 8);
	struct tensor *a = make_tensor(g, "a", 8);
	struct tensor *b = make_tensor(g, "b", 8);
	struct tensor *c = make_tensor(g, "c", 8);
	struct node *last, *first;

	set_input(g, x);
	set_output(g, c);
	last = make_node(g, "Exp", b, c);
	make_node(g, "Neg", a, b);
	first = make_node(g, "Abs", x, a);
	CHECK(graph_sort(g));
	CHECK(g->nodes.data[0] == first);
	CHECK(g->nodes.data[2] == last);
	CHECK(graph_verify(g));

	node_set_input(first, 0, c);
	CHECK(!graph_sort(g));
	CHECK_EQ(m->diags.list.data[0].id, DIAG_CYCLE);
	module_free(m);
}

static void
test_verifier(void)
{
	struct module *m = module_new();
	struct graph *g = graph_new(m, "broken");
	struct tensor *x = make_tensor(g, "x", 8);
	struct tensor *y = make_tensor(g, "y", 8);
	struct node *n = make_node(g, "Relu", x, y);

	set_output(g, y);
	CHECK(!graph_verify(g)); /* nothing gives x */
	set_input(g, x);
	CHECK(graph_verify(g));
	n->inputs[0] = y;
	CHECK(!graph_verify(g));
	n->inputs[0] = x;
	CHECK(graph_verify(g));
	vec_push(&m->arena, &x->uses, x->uses.data[0]);
	CHECK(!graph_verify(g)); /* a use is listed twice */
	x->uses.n = 0;
	CHECK(!graph_verify(g)); /* a use is not listed */
	module_free(m);
}

static void
test_attributes(void)
{
	struct module *m = module_new();
	struct graph *g = graph_new(m, "a \"quoted\"\nname");
	int64_t shape[2] = { 2, 2 }, pads[4] = { 0, 1, 0, 1 };
	static const float data[4] = { 1, 2.5f, -3, 0 };
	struct tensor *x = make_tensor(g, "x", 8);
	struct tensor *w = graph_constant(g, "w", dtype_of(DT_F32), 2, shape,
					  data);
	struct tensor *y = make_tensor(g, "y", 8);
	struct tensor *in[3] = { x, NULL, w };
	struct node *n = graph_node(g, "", "Conv", "conv 1", in, 3, &y, 1);
	const int64_t *got;

	set_input(g, x);
	set_output(g, y);
	node_set_attr_ints(g, n, "pads", pads, 4);
	node_set_attr_int(g, n, "group", 2);
	node_set_attr_int(g, n, "group", 4);
	node_set_attr_float(g, n, "alpha", 0.5);
	node_set_attr_string(g, n, "auto_pad", "VALID");
	node_set_attr_int(g, n, "gone", 1);
	node_remove_attr(n, "gone");
	CHECK_EQ(node_attr_int(n, "group", 1), 4);
	CHECK_EQ(node_attr_int(n, "gone", 7), 7);
	CHECK_EQ(node_attr_ints(n, "pads", &got), 4);
	CHECK_EQ(got[3], 1);
	CHECK_NEAR(node_attr_float(n, "alpha", 0), 0.5, 0);
	check_text(g, "graph \"a \\\"quoted\\\"\\x0aname\"\n"
		      "  input x: float32[8]\n"
		      "  const w: float32[2, 2] = {1, 2.5, -3, 0}\n"
		      "  y: float32[8] = Conv \"conv 1\" (x, _, w) "
		      "{pads = [0, 1, 0, 1], group = 4, alpha = 0.5, "
		      "auto_pad = VALID}\n"
		      "  output y\n");
	module_free(m);
}

int
main(void)
{
	test_names();
	test_removal();
	test_pointer_map();
	test_edits();
	test_order();
	test_verifier();
	test_attributes();
	return check_done();
}
