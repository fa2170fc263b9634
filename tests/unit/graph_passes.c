/* SPDX-License-Identifier: Apache-2.0 */
/* What the text after a graph pass does not tell (for that, tests/golden/graph):
 * what users are told, and where parts of a concatenation lie. */
#include "check.h"
#include "graph_text.h"
#include "rewrite.h"

static struct graph *
graph_of(struct module *m, const char *text)
{
	struct source src = { "graph", text, strlen(text) };
	struct graph *g = graph_read(m, &src, false);

	CHECK(g && ops_resolve(g) && ops_infer(g) && graph_verify(g));
	return g;
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

/* What takes too long is left to the run, and told once; the rest is folded. */
static void
test_fold_limit(void)
{
	struct module *m = module_new();
	struct graph *g = graph_of(m, "graph fold_limit\n"
				      "  input x: float32[2]\n"
				      "  input w: float32[2000, 2000]\n"
				      "  const size: int64[2] = {2000, 2000}\n"
				      "  const c: float32[2] = {2, -1}\n"
				      "  big = ConstantOfShape (size)\n"
				      "  product = MatMul (big, big)\n"
				      "  y = Add (w, product)\n"
				      "  a = Neg (c)\n"
				      "  z = Add (x, a)\n"
				      "  output y\n"
				      "  output z\n");

	CHECK(graph_fold(g));
	CHECK(graph_fold(g));
	CHECK_EQ(g->assumptions.n, 1);
	CHECK_STR_EQ(g->assumptions.data[0],
		     "MatMul of constants, for "
		     "'product', is computed at run time: folding it would "
		     "take 1.6e+10 operations");
	CHECK(graph_dead(g));
	check_text(g, "graph fold_limit\n"
		      "  input x: float32[2]\n"
		      "  input w: float32[2000, 2000]\n"
		      "  const big: float32[2000, 2000] = splat 0\n"
		      "  const a: float32[2] = {-2, 1}\n"
		      "  product: float32[2000, 2000] = MatMul (big, big)\n"
		      "  y: float32[2000, 2000] = Add (w, product)\n"
		      "  z: float32[2] = Add (x, a)\n"
		      "  output y\n"
		      "  output z\n");
	module_free(m);
}

static void
test_fuse_concat(void)
{
	struct module *m = module_new();
	struct graph *g = graph_of(m, "graph concat\n"
				      "  input x: float32[1, 2, 4]\n"
				      "  a = Exp (x)\n"
				      "  b = Neg (x)\n"
				      "  c = Concat (a, b) {axis = 1}\n"
				      "  y = Relu (c)\n"
				      "  output y\n");
	const struct tensor *b = graph_find_tensor(g, "b");

	CHECK(graph_fuse(g));
	CHECK(b->part_of == graph_find_tensor(g, "c"));
	CHECK_EQ(b->part_offset_bytes, 32);
	CHECK(g->groups.data[2]->is_view);
	module_free(m);
}

int
main(void)
{
	test_fold_limit();
	test_fuse_concat();
	return check_done();
}
