/* SPDX-License-Identifier: Apache-2.0 */
/* The text form of graphs: what is printed reads back, after each pass too;
 * mistakes are told with their place. */
#include <stdlib.h>

#include "graph_text.h"
#include "onnx_import.h"
#include "random_graph.h"

/* -- texts */

static struct graph *
read_graph(struct module *m, const char *text, bool make_values)
{
	struct source src = { "graph.txt", text, strlen(text) };

	return graph_read(m, &src, make_values);
}

/* The text of what is read is `want`. */
static void
check_text(const char *text, const char *want, bool make_values)
{
	struct module *m = module_new();
	struct graph *g = read_graph(m, text, make_values);
	struct strbuf out;

	strbuf_init(&out);
	if (CHECK(g != NULL)) {
		graph_print_whole(g, &out);
		CHECK_STR_EQ(out.data, want);
		CHECK(graph_verify_text(g));
	}
	print_diags(m);
	strbuf_release(&out);
	module_free(m);
}

/* An operator whose name is no word is quoted, and reads back. */
static void
test_quoted_operator(void)
{
	static const char text[] = "graph g\n"
				   "  input x: float32[2]\n"
				   "  y: float32[2] = \"own.Add p, q) {\" (x)\n"
				   "  output y\n";

	check_text(text, text, false);
}

static const char everything[] =
	"graph \"a graph\" {byte_type = int8, byte_depth = 4, conv = auto, conv_gflops = 20}\n"
	"  dim batch: 1..4\n"
	"  dim \"in put\": 0..9223372036854775807\n"
	"  dim empty: 0..0\n"
	"  size found: 0..0\n"
	"  input x: float32[batch, 3] {scale = double 0.33333333333333331, "
	"zero_point = -3, stored_offset = 128}\n"
	"  input input: uint8[batch * 2 + 1, T.min(batch, 4)]\n"
	"  input \"_\": bool[]\n"
	"  const w: float32[2, 2] = {1, -0.5, 0.100000001, nan}\n"
	"  const limits: float64[3] = {inf, -inf, 0.33333333333333331}\n"
	"  const v: float32[2, 2] = Mul scaled (w, w) {sum = double "
	"16777217.0}\n"
	"  const parts: float32[1, 2] = Split (v) {axis = 0}[1 of 2]\n"
	"  const i: int64[2] = {-9223372036854775808, 9223372036854775807}\n"
	"  const u: uint64[1] = {18446744073709551615}\n"
	"  const q: int4[2] = {-8, 7}\n"
	"  const t: bool[2] = {0, 1}\n"
	"  const none: float32[0, 7] = {}\n"
	"  const large: float16[1000000, 1000000] = splat -0\n"
	"  const fiftieth: float32[1000000, 1000000] = splat 0.0199999996\n"
	"  known s: int64[2] = {batch, T.max(batch, 2) * 3}\n"
	"  \"a:\": ?[?], output: float32[batch, 3] = com.example.Op "
	"\"the node\" (x, _, \"_\") {a = 1, b = 1.0, c = 1e+10, d = word, "
	"e = \"1\", f = \"\\x00\\\"\\\\\", g = [], h = [1, -2], "
	"i = [0.5, 2.0], j = [a, \"b c\", \"2\"], k = floats [], "
	"l = strings [], m = doubles [0.33333333333333331], "
	"n = tensor int32[2] = {1, 2}, o = \"tensor\", p = nan, q = -inf, "
	"r = \"\"}\n"
	"  _, y:0: float32[batch, 3] = Relu (output)\n"
	"  output y:0\n"
	"  output output {scale = 2.0, zero_point = 0}\n";

static void
test_everything(void)
{
	check_text(everything, everything, false);
}

/* What people may write. */
static void
test_written(void)
{
	check_text(
		"# a comment\n\ngraph g   # and one\r\n\tinput x: float32 [ 2 ]\n"
		"const w: float32[3]\n"
		"const b: bool[3]\n"
		"y=Relu(x){a=1,b=[1,2]} # why\n\n\noutput y",
		"graph g\n"
		"  input x: float32[2]\n"
		"  const w: float32[3] = {4, 2, 2}\n"
		"  const b: bool[3] = {0, 0, 1}\n"
		"  y: ?[?] = Relu (x) {a = 1, b = [1, 2]}\n"
		"  output y\n",
		true);
}

/* -- mistakes */

struct mistake {
	const char *line; /* the third, at its column */
	int col;
	const char *message;
};

static const struct mistake mistakes[] = {
	{ "y: float32[2] = Relu (z)", 23, "no line above defines 'z'" },
	{ "y: float32[2] Relu (x)", 15, "'=' is expected here" },
	{ "y: float32[2] = a.b. Relu (x)", 17, "behind the point" },
	{ "y: float32[2] = Relu x)", 23, "'(' is expected here" },
	{ "y: float32[2] = Relu (x", 24, "')' is expected here" },
	{ "y: float32[2] = Relu (x) {a}", 28,
	  "an attribute has the form NAME = VALUE" },
	{ "y: float32[2] = Relu (x) {a = 1, a = 2}", 34, "'a' is given twice" },
	{ "y: float32[2] = Relu (x) {a = [1, b]}", 35,
	  "an integer of 64 bits" },
	{ "y: float32[2] = Relu (x) {a = graph g}", 31, "subgraphs cannot" },
	{ "y: float32[2] = Relu (x) y", 26, "the line should end here" },
	{ "x: float32[2] = Relu (x)", 1, "'x' is defined already" },
	{ "_ = Relu (x)", 1, "a node without outputs" },
	{ "y: float33[2] = Relu (x)", 4, "an element type" },
	{ "y: float32[2, = Relu (x)", 0, "" },
	{ "y: float32[-2] = Relu (x)", 11, "sizes are integers of at least 0" },
	{ "y: float32[T.Cast(\"int8\", 7)] = Relu (x)", 0,
	  "sizes are not computed in this type" },
	{ "y: float32[T.uint8(7)] = Relu (x)", 11, "the type int32 or int64" },
	{ "y: float32[T.Cast(\"int32\", T.float32(2.5))] = Relu (x)", 0,
	  "a float does not become a size" },
	{ "y: float32[T.popcount(7)] = Relu (x)", 0,
	  "not a function of sizes" },
	{ "y: float32[2147483647 + 1] = Relu (x)", 0, "not fit in int32" },
	{ "known s: int8[1] = {T.Cast(\"int64\", 7)}", 20,
	  "none of a tensor of type int8" },
	{ "y: float32[n] = Relu (x)", 0, "no dimension has this name" },
	{ "y: float32[9000000000, 9000000000] = Relu (x)", 11,
	  "more elements than any machine" },
	{ "\"y: float32[2] = Relu (x)", 1, "the quoted text does not end" },
	{ "\"\\y\": float32[2] = Relu (x)", 2, "two of the digits" },
	{ "const w: float32[2]", 7, "the values are missing" },
	{ "const w: ?[2] = {1, 2}", 7, "a constant needs a type" },
	{ "const w: float32[2] = {1}", 23, "1 values for 2 elements" },
	{ "const w: int8[1] = {128}", 21, "a number of type int8" },
	{ "const w: uint8[1] = {-1}", 22, "a number of type uint8" },
	{ "const w: float32[1] = {one}", 24, "a number of type float32" },
	{ "const w: float32[2] = Relu (x)", 23, "'x' is not a constant" },
	{ "const w: float32[2]", 7, "splat NUMBER" },
	{ "known s: int64[2] = {1}", 21, "give one value per element" },
	{ "dim n: 1..4", 5, "dimensions must come before all tensors" },
	{ "input y float32[2]", 9, "the type follows the name" },
	{ "input y: uint8[2] {half = 1}", 19, "scale, zero_point or" },
	{ "output z", 8, "no line above defines 'z'" },
	{ "region cblas_0:", 1, "made by a pass and cannot be read" },
	{ "group 0 (Conv):", 1, "made by a pass and cannot be read" },
};

static void
check_mistake(const struct mistake *x)
{
	struct module *m = module_new();
	struct graph *g =
		read_graph(m,
			   arena_printf(&m->arena,
					"graph g\ninput x: float32[2]\n%s",
					x->line),
			   false);
	const struct diag *d = &m->diags.list.data[0];

	if (!CHECK(g == NULL) || !CHECK_EQ(m->diags.n_errors, 1) ||
	    !CHECK(strstr(d->message, x->message) != NULL) ||
	    (x->col > 0 && (!CHECK_EQ(d->place.line, 3) ||
			    !CHECK_EQ(d->place.col, x->col)))) {
		fprintf(stderr, "%s\n", x->line);
		print_diags(m);
	}
	module_free(m);
}

static void
test_head(void)
{
	static const char *const heads[] = {
		"",
		"grap x",
		"graph",
		"graph g {signed = 1}",
		"graph g {conv = 7}",
		"graph g\ndim n: 4..1",
		"graph g\ndim n: x..1",
		"graph g\ndim n 1..4",
		"graph g\ndim n: 1..4\ndim n: 1..4",
	};

	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
		struct module *m = module_new();

		if (!CHECK(!read_graph(m, heads[i], true)) ||
		    !CHECK_EQ(m->diags.n_errors, 1)) {
			fprintf(stderr, "%s\n", heads[i]);
		}
		module_free(m);
	}
}

/* -- graphs of models, and what passes make of them */

/* Types that are read are those that are inferred, and values, too. */
static void
read_again(void *ctx, const char *pass, const struct graph *g)
{
	struct module *m = module_new();
	struct strbuf text, again;
	struct graph *copy;

	(void)ctx;
	strbuf_init(&text);
	strbuf_init(&again);
	graph_print_whole(g, &text);
	if (g->groups.n == 0) {
		copy = read_graph(m, text.data, false);
		if (CHECK(copy != NULL) && CHECK(ops_resolve(copy)) &&
		    CHECK(ops_infer(copy)) && CHECK(graph_verify(copy))) {
			graph_print_whole(copy, &again);
			CHECK_STR_EQ(again.data, text.data);
		} else {
			fprintf(stderr, "after %s\n%s", pass, text.data);
			print_diags(m);
		}
	}
	strbuf_release(&text);
	strbuf_release(&again);
	module_free(m);
}

static void
test_random(uint32_t seed)
{
	struct pass_hooks hooks = { .after_graph = read_again };
	struct maker k;

	make_graph(&k, seed, seed % 2 ? SYMBOLIC : 1);
	read_again(NULL, "making", k.g);
	CHECK(graph_optimize(k.g, &hooks));
	module_free(k.m);
}

static void
test_model(const char *path)
{
	struct pass_hooks hooks = { .after_graph = read_again };
	struct module *m = module_new();
	struct onnx_file *file;
	struct graph *g = onnx_import(m,
				      arena_printf(&m->arena, "%s/%s",
						   getenv("TIRC_ROOT"), path),
				      NULL, &file);

	if (CHECK(g != NULL)) {
		read_again(NULL, "import", g);
		CHECK(graph_verify_text(g));
		CHECK(graph_optimize(g, &hooks));
	}
	onnx_file_close(file);
	module_free(m);
}

int
main(void)
{
	test_everything();
	test_quoted_operator();
	test_written();
	for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
		check_mistake(&mistakes[i]);
	}
	test_head();
	for (uint32_t seed = 1; seed <= 6; seed++) {
		test_random(seed);
	}
	test_model("examples/digits/digits.onnx");
	test_model("tests/gpu/product.onnx");
	return check_done();
}
