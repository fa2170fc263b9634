/* SPDX-License-Identifier: Apache-2.0 */
/* Traces: what is recorded, dropped, written, read and done again; undoing and
 * forking; samples. What each primitive does: tests/golden/schedules. */
#include "json_put.h"
#include "schedule_help.h"
#include "trace_json.h"
#include "trace_python.h"

static const char *
python_of(struct trial *t, enum script_version version)
{
	struct strbuf text;
	const char *copy;

	strbuf_init(&text);
	trace_print_python(&t->s, version, &text);
	copy = arena_strdup(&t->m->arena, text.data);
	strbuf_release(&text);
	return copy;
}

static const char *
json_of(struct trial *t, enum script_version version)
{
	struct strbuf text;
	const char *copy;

	strbuf_init(&text);
	trace_json_write(&t->s, version, &text);
	copy = arena_strdup(&t->m->arena, text.data);
	strbuf_release(&text);
	return copy;
}

static const char *
func_text(struct module *m, const struct func *f)
{
	struct strbuf text;
	const char *copy;

	strbuf_init(&text);
	func_print(f, SCRIPT_CURRENT, &text);
	copy = arena_strdup(&m->arena, text.data);
	strbuf_release(&text);
	return copy;
}

static bool
read_python(struct trial *t, const char *text)
{
	struct source src = { "test.py", text, strlen(text) };

	return trace_read_python(&t->s, &src);
}

static bool
read_json(struct trial *t, const char *text)
{
	struct source src = { "test.json", text, strlen(text) };

	return trace_json_read(&t->s, &src);
}

static const char *
last_message(const struct diags *d)
{
	return d->list.n > 0 ? d->list.data[d->list.n - 1].message : "";
}

static void
start(struct trial *t, struct module *m)
{
	trial_start(t, m, make_matmul(m, 8, 5, 12));
}

/* Queries that nothing uses are not written; what is used is, once. */
static void
test_unused_queries(void)
{
	struct module *m = module_new();
	struct trial t;

	start(&t, m);
	CHECK(read_python(&t, "root = sch.get_block('root')\n"
			      "sch.get_child_blocks(root)\n"
			      "c = sch.get_block('c')\n"
			      "again = sch.get_block('c')\n"
			      "i, j, k = sch.get_loops(c)\n"
			      "l = sch.get_loops(again)\n"
			      "sch.split(l[1], [None, 4])\n"
			      "sch.get_loops(again)\n"));
	CHECK_STR_EQ(python_of(&t, SCRIPT_OLD),
		     "def apply_schedule(sch):\n"
		     "    b0 = sch.get_block(name=\"c\", func_name=\"main\")\n"
		     "    l1, l2, l3 = sch.get_loops(block=b0)\n"
		     "    l4, l5 = sch.split(loop=l2, factors=[None, 4], "
		     "preserve_unit_iters=True, disable_predication=False)\n");
	CHECK_STR_EQ(json_of(&t, SCRIPT_CURRENT),
		     "[[\n"
		     "[\"GetSBlock\", [], [\"c\", \"main\"], [\"b0\"]],\n"
		     "[\"GetLoops\", [\"b0\"], [], [\"l1\", \"l2\", \"l3\"]],\n"
		     "[\"Split\", [\"l2\", \"None\", 4], [1, 0], "
		     "[\"l4\", \"l5\"]]\n"
		     "], []]\n");
	module_free(m);
}

static void
test_nothing(void)
{
	struct module *m = module_new();
	struct trial t;

	start(&t, m);
	CHECK_STR_EQ(python_of(&t, SCRIPT_CURRENT),
		     "def apply_schedule(sch):\n    pass\n");
	CHECK(read_python(&t, python_of(&t, SCRIPT_CURRENT)));
	CHECK(read_json(&t, json_of(&t, SCRIPT_CURRENT)));
	CHECK_EQ(t.s.trace.n, 0);
	module_free(m);
}

/* A trace as TVM 0.27 writes it, and the same in the spelling of before. */
static void
test_tvm_json(void)
{
	static const char *const texts[] = {
		"[[[\"GetSBlock\", [], [\"c\", \"main\"], [\"b0\"]],"
		"[\"GetLoops\", [\"b0\"], [], [\"l1\", \"l2\", \"l3\"]],"
		"[\"SamplePerfectTile\", [\"l1\"], [2, 16], [\"v4\", "
		"\"v5\"]],"
		"[\"Split\", [\"l1\", \"v4\", \"v5\"], [true, false], "
		"[\"l6\", \"l7\"]],"
		"[\"Split\", [\"l2\", \"None\", 4], [true, false], "
		"[\"l8\", \"l9\"]],"
		"[\"SampleCategorical\", [], [[1, 2, 3], [0.3, 0.3, 0.4]], "
		"[\"v10\"]],"
		"[\"Annotate\", [\"l6\", \"v10\"], [\"pragma_x\"], []],"
		"[\"Annotate\", [\"l6\", \"\\\"abc\\\"\"], [\"y\"], []],"
		"[\"Annotate\", [\"l6\", [0, 1, \"\\\"a\\\"\"]], [\"z\"], "
		"[]],"
		"[\"Unannotate\", [\"l6\"], [\"y\"], []],"
		"[\"CacheRead\", [\"b0\", []], [0, \"shared\"], "
		"[\"b11\"]],"
		"[\"DecomposeReduction\", [\"b0\", \"l3\"], [], "
		"[\"b12\"]],"
		"[\"SampleComputeLocation\", [\"b11\"], [], [\"l13\"]],"
		"[\"ComputeAt\", [\"b11\", \"l13\"], [0, -1], []],"
		"[\"Reorder\", [\"l8\", \"l6\"], [], []],"
		"[\"EnterPostproc\", [], [], []]],"
		" [[2, [2, 4]], [5, 2], [12, -1]]]",
		"[[[\"GetBlock\", [], [\"c\", \"main\"], [\"b0\"]],"
		"[\"GetLoops\", [\"b0\"], [], [\"l1\", \"l2\", \"l3\"]],"
		"[\"Split\", [\"l1\", 2, 4], [1], [\"l6\", \"l7\"]]], []]",
	};
	struct module *m = module_new();
	struct trial t;

	for (int i = 0; i < 2; i++) {
		start(&t, m);
		if (!CHECK(read_json(&t, texts[i]))) {
			fprintf(stderr, "%s\n", last_message(&m->diags));
		}
		trial_same(&t);
		CHECK_EQ(func_find_block(t.f, "c_update") != NULL, i == 0);
	}
	module_free(m);
}

/* The layout of an index map as TVM saves it, in both places. */
static void
test_tvm_maps(void)
{
	static const char map[] =
		"{\\\"root\\\": 1, \\\"nodes\\\": [{\\\"type_key\\\": "
		"\\\"\\\"}, {\\\"type_key\\\": \\\"tir.IndexMap\\\", "
		"\\\"attrs\\\": {\\\"final_indices\\\": \\\"7\\\", "
		"\\\"initial_indices\\\": \\\"2\\\", "
		"\\\"inverse_index_map\\\": \\\"0\\\"}}, {\\\"type_key\\\":"
		" \\\"Array\\\", \\\"data\\\": [3, 5]}, {\\\"type_key\\\": "
		"\\\"tir.Var\\\", \\\"attrs\\\": {\\\"dtype\\\": "
		"\\\"int32\\\", \\\"name\\\": \\\"4\\\"}}, "
		"{\\\"type_key\\\": \\\"runtime.String\\\", "
		"\\\"repr_str\\\": \\\"i\\\"}, {\\\"type_key\\\": "
		"\\\"tir.Var\\\", \\\"attrs\\\": {\\\"dtype\\\": "
		"\\\"int32\\\", \\\"name\\\": \\\"6\\\"}}, "
		"{\\\"type_key\\\": \\\"runtime.String\\\", "
		"\\\"repr_str\\\": \\\"j\\\"}, {\\\"type_key\\\": "
		"\\\"Array\\\", \\\"data\\\": [8, 3, 10]}, "
		"{\\\"type_key\\\": \\\"tir.FloorDiv\\\", \\\"attrs\\\": "
		"{\\\"a\\\": \\\"5\\\", \\\"b\\\": \\\"9\\\"}}, "
		"{\\\"type_key\\\": \\\"IntImm\\\", \\\"attrs\\\": "
		"{\\\"value\\\": \\\"4\\\"}}, {\\\"type_key\\\": "
		"\\\"tir.FloorMod\\\", \\\"attrs\\\": {\\\"a\\\": "
		"\\\"5\\\", \\\"b\\\": \\\"9\\\"}}], \\\"b64ndarrays\\\": "
		"[], \\\"attrs\\\": {\\\"tvm_version\\\": \\\"0.11.0\\\"}}";
	struct module *m = module_new();
	struct trial t;
	const char *text[2], *want = NULL;

	text[0] = arena_printf(
		&m->arena,
		"[[[\"GetBlock\", [], [\"c\", \"main\"], [\"b0\"]],"
		"[\"TransformLayout\", [\"b0\", \"%s\"], [0, 1, null, 0], "
		"[]]], []]",
		map);
	text[1] = arena_printf(
		&m->arena,
		"[[[\"GetBlock\", [], [\"c\", \"main\"], [\"b0\"]],"
		"[\"TransformLayout\", [\"b0\"], [0, 1, \"%s\", null], "
		"[]]], []]",
		map);
	for (int i = 0; i < 2; i++) {
		start(&t, m);
		if (!CHECK(read_json(&t, text[i]))) {
			fprintf(stderr, "%s\n", last_message(&m->diags));
			break;
		}
		trial_same(&t);
		CHECK(trial_text_has(&t, "j // 4"));
		want = want ? want : func_text(m, t.f);
		CHECK_STR_EQ(func_text(m, t.f), want);
	}
	module_free(m);
}

static void
test_refused_json(void)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "{}", "a trace is [instructions, decisions]" },
		{ "[[], 1]", "a trace is [instructions, decisions]" },
		{ "[[[\"GetBlock\", []]], []]",
		  "an instruction is [kind, inputs, attributes, results]" },
		{ "[[[\"GetBlok\", [], [], []]], []]",
		  "there is no kind GetBlok; did you mean GetBlock?" },
		{ "[[[\"GetBlock\", [], [], [\"b0\"]]], []]",
		  "name is missing" },
		{ "[[[\"GetBlock\", [], [\"c\", \"main\", 1], [\"b0\"]]], "
		  "[]]",
		  "there are more inputs or attributes than the instruction "
		  "takes" },
		{ "[[[\"GetBlock\", [], [\"c\"], [\"b 0\"]]], []]",
		  "a result is a name; use letters and digits" },
		{ "[[[\"GetBlock\", [], [{}], [\"b0\"]]], []]",
		  "a JSON object is not allowed here; give numbers, texts "
		  "and lists" },
		{ "[[[\"TransformLayout\", [\"b0\", \"{}\"], [0, 1, null, "
		  "0], []]], []]",
		  "this is not a saved index map; write a lambda" },
		{ "[[[\"Parallel\", [\"l9\"], [], []]], []]",
		  "nothing is named l9 here; define or import it first" },
		/* texts that would end the call */
		{ "[[[\"Parallel\", [\"l1); print(1\"], [], []]], []]",
		  "a text is not an expression of names, numbers and "
		  "operators; write one" },
		{ "[[[\"Parallel\", [\"l1), sch.unroll(l1\"], [], []]], []]",
		  "a text is not an expression of names, numbers and "
		  "operators; write one" },
		/* a call of anything but T's functions */
		{ "[[[\"Parallel\", [\"open('a')\"], [], []]], []]",
		  "a text is not an expression of names, numbers and "
		  "operators; write one" },
		{ "[[[\"TransformLayout\", [\"b0\", "
		  "\"lambda i, j=open('a'): (i, j)\"], "
		  "[0, 1, null, 0], []]], []]",
		  "a text is not an expression of names, numbers and "
		  "operators; write one" },
	};
	struct module *m = module_new();
	struct trial t;

	start(&t, m);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		CHECK(!read_json(&t, cases[i].text));
		CHECK_STR_EQ(last_message(&m->diags), cases[i].message);
	}
	CHECK_EQ(t.s.trace.n, 0);
	CHECK(!read_json(&t, "[["));
	module_free(m);
}

/* Appends to out a trace of n instructions, and as many decisions of the last
 * one. */
static void
put_many(struct strbuf *out, int n)
{
	strbuf_puts(out, "[[");
	for (int i = 0; i < n; i++) {
		strbuf_printf(out, "%s[\"EnterPostproc\", [], [], []]",
			      i ? "," : "");
	}
	strbuf_puts(out, "], [");
	for (int i = 0; i < n; i++) {
		strbuf_printf(out, "%s[%d, [%d]]", i ? "," : "", n - 1, i);
	}
	strbuf_puts(out, "]]");
}

/* Appends to out a trace whose index map has n indices, each a size whose name
 * has n letters. */
static void
put_long_map(struct strbuf *out, int n)
{
	struct strbuf map;

	strbuf_init(&map);
	strbuf_puts(
		&map,
		"{\"root\": 1, \"nodes\": [{\"type_key\": \"\"}, "
		"{\"type_key\": \"tir.IndexMap\", \"attrs\": "
		"{\"final_indices\": \"4\", \"initial_indices\": \"5\"}}, "
		"{\"type_key\": \"tir.Var\", \"attrs\": {\"name\": \"3\"}}, "
		"{\"type_key\": \"runtime.String\", \"repr_str\": \"");
	for (int i = 0; i < n; i++) {
		strbuf_putc(&map, 'n');
	}
	strbuf_puts(&map, "\"}, {\"type_key\": \"Array\", \"data\": [2");
	for (int i = 1; i < n; i++) {
		strbuf_puts(&map, ", 2");
	}
	strbuf_puts(&map, "]}, {\"type_key\": \"Array\", \"data\": []}]}");
	strbuf_puts(out, "[[[\"TransformLayout\", [\"b0\", ");
	json_put_text(out, map.data);
	strbuf_puts(out, "], [0, 1, null, 0], []]], []]");
	strbuf_release(&map);
}

/* Work and text are of the order of what is read. */
static void
test_large_json(void)
{
	struct module *m = module_new();
	struct strbuf text;
	struct trial t;

	start(&t, m);
	strbuf_init(&text);
	put_many(&text, 20000);
	CHECK(read_json(&t, text.data));
	strbuf_release(&text);
	strbuf_init(&text);
	put_long_map(&text, 20000);
	CHECK(!read_json(&t, text.data));
	CHECK_STR_EQ(last_message(&m->diags),
		     "this is not a saved index map; write a lambda");
	strbuf_release(&text);
	module_free(m);
}

/* A text is evaluated: it may have loops, functions, comprehensions. */
static void
test_evaluated_python(void)
{
	struct module *m = module_new();
	struct trial t, plain;

	start(&t, m);
	CHECK(read_python(&t, "def inner(sch, block):\n"
			      "    return sch.get_loops(block)[-1]\n"
			      "def apply_schedule(sch):\n"
			      "    b = sch.get_block('c')\n"
			      "    for n in [2 * k for k in range(1, 3)]:\n"
			      "        i = inner(sch, b)\n"
			      "        sch.split(i, [None, n])\n"));
	start(&plain, m);
	CHECK(read_python(&plain,
			  "i, j, k = sch.get_loops(sch.get_block('c'))\n"
			  "o, i = sch.split(k, [None, 2])\n"
			  "sch.split(i, [None, 4])\n"));
	CHECK_STR_EQ(func_text(m, t.f), func_text(m, plain.f));
	CHECK(!read_python(&t, "while True:\n    pass\n"));
	module_free(m);
}

static void
test_refused_python(void)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "sch.splitt(1)",
		  "tir.Schedule has no attribute splitt; did you mean split?" },
		{ "sch.frobnicate()",
		  "tir.Schedule has no attribute frobnicate; "
		  "docs/reference/schedules.md lists them" },
		{ "sch.parallel(l)",
		  "nothing is named l here; define or import it first" },
		{ "a = 1\nb, c = a", "int cannot be iterated over" },
		{ "return", "return outside of a function" },
		{ "x = [1, 2][2]", "index 2 of 2 elements; count from 0" },
		{ "x = 1 // 0",
		  "a division by zero; divide by another number" },
		{ "x = 'a' + 1", "+ is not defined for str and int" },
		{ "x = 1 / 0.0",
		  "a division by zero; divide by another number" },
		{ "x = 18446744073709551615",
		  "an integer of more than 64 bits; use smaller numbers" },
		{ "sch.get_block('c', name='d')",
		  "name is given twice; give it once" },
		{ "sch.get_block('c', nam='d')",
		  "get_block() has no parameter nam; did you mean name?" },
		{ "sch.get_block(*3)", "int cannot be iterated over" },
		{ "sch.transform_layout('c', 0, lambda *i: i)",
		  "an index map names each index; write lambda i, j: ..." },
		{ "def f(a, b):\n    pass\n",
		  "a schedule is a function of one parameter; write def "
		  "apply_schedule(sch):" },
		{ "x = 1\nx.y = 1", "the attribute y of int cannot be set" },
	};
	struct module *m = module_new();
	struct trial t;

	start(&t, m);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		CHECK(!read_python(&t, cases[i].text));
		CHECK_STR_EQ(last_message(&m->diags), cases[i].message);
	}
	CHECK_EQ(t.s.trace.n, 0);
	module_free(m);
}

/* A text that may be a stranger's opens and runs nothing, and brings no call, no
 * variable and no buffer of its own into the function. */
static void
test_strange_python(void)
{
	static const char head[] =
		"from tvm import te, tir\n"
		"b = sch.get_block('c')\n"
		"k = sch.get_loops(b)[-1]\n"
		"def call(*args):\n"
		"    return tir.call_extern('int32', 'system', *args)\n"
		"A = te.placeholder((4,), name='A')\n";
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "open('/etc/passwd')",
		  "tirc reads a subset of Python, which has no open; delete "
		  "the line, or use what docs/reference/programs.md lists" },
		{ "sch.split(k, [None, tir.max(call(), 1)])",
		  "step 3, split: factors calls a function; give an "
		  "expression of sizes and indices alone" },
		{ "sch.split(k, [None, tir.max(tir.Var('q', 'int32'), 1)])",
		  "step 3, split: factors uses q, which is not a size of the "
		  "function and not an index of the map; use only those" },
		{ "sch.annotate(k, 'note', [1, [call()]])",
		  "step 3, annotate: ann_val calls a function; give an "
		  "expression of sizes and indices alone" },
		{ "sch.transform_layout(b, ('write', 0),\n"
		  "    lambda i, j: (i + call(j), j))",
		  "step 3, transform_layout: index_map calls a function; give "
		  "an expression of sizes and indices alone" },
		{ "sch.transform_layout(b, ('write', 0),\n"
		  "    lambda i, j: (i, j // 4, j % 4),\n"
		  "    pad_value=lambda i, j, l: A[l])",
		  "step 3, transform_layout: pad_value reads memory; give an "
		  "expression of sizes and indices alone" },
		{ "B = te.compute((4,), lambda i: A[i] + 1, name='B')\n"
		  "def body(ins, outs):\n"
		  "    return call(ins[0].access_ptr('r'),\n"
		  "                outs[0].access_ptr('w'))\n"
		  "own = te.decl_tensor_intrin(B.op, body, name='own')\n"
		  "sch.tensorize(k, own)",
		  "step 3, tensorize: there is no tensor intrinsic \"own\"; "
		  "declare or register it first" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct module *m = module_new();
		struct tensor_intrins intrins;
		struct trial t;

		start(&t, m);
		tensor_intrins_init(&intrins, &m->arena);
		t.s.intrins = &intrins;
		CHECK(!read_python(&t, arena_printf(&m->arena, "%s%s\n", head,
						    cases[i].text)));
		CHECK_STR_EQ(last_message(&m->diags), cases[i].message);
		CHECK_EQ(intrins.list.n, 0);
		module_free(m);
	}
}

/* A trace that does not fit says at which step. */
static void
test_other_function(void)
{
	struct module *m = module_new();
	struct sched_value none[5] = { 0 };
	struct trial t, other;

	start(&t, m);
	CHECK(read_python(&t, "i, j, k = sch.get_loops(sch.get_block('c'))\n"
			      "sch.reorder(k, i)\n"));
	trial_start(&other, m, make_softmax(m, 4, 4));
	CHECK(!sched_replay(&other.s, t.s.trace.data, t.s.trace.n));
	CHECK_STR_EQ(other.s.diags.list.data[0].place.item,
		     "step 1, get_block");
	other.s.diags.list.n = 0;
	trial_start(&other, m, make_matmul(m, 8, 5, 12));
	CHECK(!sched_replay(&other.s, t.s.trace.data + 1, t.s.trace.n - 1));
	CHECK_STR_EQ(last_message(&other.s.diags),
		     "no earlier step returned block; get it with a query");
	trial_start(&other, m, make_matmul(m, 8, 5, 12));
	CHECK(read_python(&other, "i, j, k = sch.get_loops(sch.get_block("
				  "'c'))\nsch.fuse(i, j)\n"));
	CHECK(!sched_replay(&other.s, t.s.trace.data, t.s.trace.n));
	CHECK_STR_EQ(last_message(&other.s.diags),
		     "this time there are 2 results instead of 3; the trace "
		     "belongs to another function");
	CHECK(!sched_apply(&other.s, "split", none, 5, NULL));
	CHECK_STR_EQ(last_message(&other.s.diags),
		     "5 arguments; split takes 4");
	CHECK(!sched_apply(&other.s, "frobnicate", none, 0, NULL));
	CHECK_STR_EQ(last_message(&other.s.diags),
		     "there is no such primitive; "
		     "docs/reference/schedules.md lists them");
	module_free(m);
}

/* Handles of the original name the copy's statements, and no more. */
static void
test_fork(void)
{
	struct module *m = module_new();
	struct trial t;
	struct sched fork;
	const char *before;
	int *l, n, out[2];

	start(&t, m);
	CHECK(sched_get_loops(&t.s, sched_get_block(&t.s, "c"), &l, &n));
	CHECK(sched_split(&t.s, l[0], (int64_t[]){ 0, 4 }, 2, out));
	before = func_text(m, t.f);
	sched_fork(&t.s, &fork);
	CHECK(sched_unroll(&fork, out[1]));
	CHECK_STR_EQ(func_text(m, t.f), before);
	CHECK_EQ(fork.trace.n, t.s.trace.n + 1);
	CHECK(sched_parallel(&t.s, out[0]));
	CHECK(strstr(func_text(m, fork.func), "T.parallel") == NULL);
	CHECK(func_verify(fork.func));
	trial_same(&t);
	module_free(m);
}

static void
test_checkpoint(void)
{
	struct module *m = module_new();
	struct trial t;
	struct sched_mark mark;
	const char *before, *python;

	start(&t, m);
	CHECK(read_python(&t, "i, j, k = sch.get_loops(sch.get_block('c'))\n"
			      "sch.split(i, [None, 4])\n"));
	mark = sched_checkpoint(&t.s);
	before = func_text(m, t.f);
	python = python_of(&t, SCRIPT_CURRENT);
	CHECK(read_python(
		&t,
		"i, i1, j, k = sch.get_loops(sch.get_block('c'))\n"
		"v = sch.sample_categorical([2, 3], [0.5, 0.5])\n"
		"sch.split(k, [None, v])\n"
		"b = sch.cache_read(sch.get_block('c'), 0, 'local')\n"
		"sch.transform_layout(b, ('write', 0), lambda i, j: (j, i))\n"
		"sch.compute_at(b, i)\n"));
	trial_same(&t);
	sched_rollback(&t.s, mark);
	CHECK_STR_EQ(func_text(m, t.f), before);
	CHECK_STR_EQ(python_of(&t, SCRIPT_CURRENT), python);
	CHECK_EQ(t.s.layouts.n, 0);
	trial_same(&t);
	module_free(m);
}

/* Equal seeds give equal decisions, others others; tiles multiply to the
 * extent within their limit. */
static void
test_samples(void)
{
	static const char text[] =
		"i, j, k = sch.get_loops(sch.get_block('c'))\n"
		"a = sch.sample_perfect_tile(j, n=3, max_innermost_factor=4)\n"
		"b = sch.sample_categorical([10, 20, 30], [1, 2, 1])\n"
		"sch.split(j, a)\n"
		"sch.annotate(i, 'choice', b)\n";
	struct module *m = module_new();
	const char *first = NULL;
	int others = 0;

	for (int seed = 0; seed < 20; seed++) {
		const struct sched_value *tile;
		struct trial t, again;
		int64_t product = 1;

		start(&t, m);
		sched_seed(&t.s, (uint64_t)seed / 2);
		CHECK(read_python(&t, text));
		trial_same(&t);
		if (seed % 2 == 1) {
			CHECK_STR_EQ(python_of(&t, SCRIPT_OLD), first);
		} else if (first) {
			others += strcmp(first, python_of(&t, SCRIPT_OLD));
		}
		first = python_of(&t, SCRIPT_OLD);
		tile = &t.s.trace.data[2].args[3];
		for (int i = 0; i < 3; i++) {
			product *= tile->items[i].u.ival;
		}
		CHECK_EQ(product, 12);
		CHECK(tile->items[2].u.ival <= 4);
		/* The decisions, not the seed, are what is done again. */
		start(&again, m);
		sched_seed(&again.s, 77);
		CHECK(read_json(&again, json_of(&t, SCRIPT_OLD)));
		CHECK_STR_EQ(func_text(m, again.f), func_text(m, t.f));
	}
	CHECK(others != 0);
	module_free(m);
}

/* sch.get gives the number; arithmetic on samples stays in the trace. */
static void
test_sampled_values(void)
{
	struct module *m = module_new();
	struct trial t;

	start(&t, m);
	CHECK(read_python(&t, "i, j, k = sch.get_loops(sch.get_block('c'))\n"
			      "v = sch.sample_categorical([2, 3], [0, 1])\n"
			      "sch.split(j, [None, v * 2])\n"
			      "sch.annotate(i, 'n', sch.get(v))\n"));
	CHECK(strstr(python_of(&t, SCRIPT_OLD), "factors=[None, v4 * 2]") !=
	      NULL);
	CHECK(strstr(python_of(&t, SCRIPT_OLD), "ann_val=3") != NULL);
	CHECK(trial_text_has(&t, "T.grid(2, 6, 5)"));
	module_free(m);
}

int
main(void)
{
	test_unused_queries();
	test_nothing();
	test_tvm_json();
	test_tvm_maps();
	test_refused_json();
	test_large_json();
	test_evaluated_python();
	test_refused_python();
	test_strange_python();
	test_other_function();
	test_fork();
	test_checkpoint();
	test_samples();
	test_sampled_values();
	return check_done();
}
