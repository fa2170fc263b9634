/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of indices that are proven, and those that must not be; bounds of
 * loops. */
#include "access_ranges.h"

#include "check.h"
#include "loop_bounds.h"
#include "script.h"

#define HEAD                                                                   \
	"from tvm.script import tir as T\n@T.prim_func\n"                      \
	"def f(x: T.Buffer((8,), \"float32\"), t: T.Buffer((4,), \"int32\"), " \
	"y: T.Buffer((64,), \"float32\")):\n"

/* A program with one access of x, and what is known of its index. */
static const struct {
	const char *what, *body;
	int64_t min, max;
	bool within;
} programs[] = {
	{ "a loop", "    for i in range(8):\n        y[i] = x[7 - i]\n", 0, 7,
	  true },
	{ "a loop that goes too far",
	  "    for i in range(9):\n        y[i] = x[i]\n", 0, 8, false },
	{ "a condition on a named value",
	  "    for o, k in T.grid(8, 3):\n"
	  "        h: T.int32 = o + k - 1\n"
	  "        if h >= 0 and h < 8:\n"
	  "            y[o] = x[h]\n",
	  0, 7, true },
	{ "a condition on one side only",
	  "    for o, k in T.grid(8, 3):\n"
	  "        h: T.int32 = o + k - 1\n"
	  "        if h >= 0:\n"
	  "            y[o] = x[h]\n",
	  0, 8, false },
	{ "the other branch",
	  "    for i in range(16):\n"
	  "        if i >= 8:\n            y[i] = T.float32(0)\n"
	  "        else:\n            y[i] = x[i]\n",
	  0, 7, true },
	{ "a condition in an expression",
	  "    for i in range(10):\n"
	  "        y[i] = T.if_then_else(1 <= i and i < 9, x[i - 1], "
	  "T.float32(0))\n",
	  0, 7, true },
	{ "the value where the condition does not hold",
	  "    for i in range(10):\n"
	  "        y[i] = T.if_then_else(i < 2, T.float32(0), x[i - 2])\n",
	  0, 7, true },
	{ "a condition on a multiple",
	  "    for i, j in T.grid(16, 8):\n"
	  "        if i * 16 + j < 128:\n            y[i] = x[i]\n",
	  0, 7, true },
	{ "a condition on a multiple that is too weak",
	  "    for i, j in T.grid(16, 8):\n"
	  "        if i * 16 + j < 129:\n            y[i] = x[i]\n",
	  0, 8, false },
	{ "a named value of what the condition bounds",
	  "    for i, j in T.grid(4, 2):\n"
	  "        k: T.int32 = i * 4 + j * 2\n"
	  "        if i * 2 + j < 4:\n            y[i] = x[k + 1]\n",
	  1, 7, true },
	{ "data", "    for i in range(4):\n        y[i] = x[t[i]]\n",
	  BOUND_NEG_INF, BOUND_POS_INF, false },
	{ "data that a condition bounds, counted from the end if negative",
	  "    for i in range(4):\n"
	  "        e: T.int32 = t[i]\n"
	  "        if -8 <= e and e < 8:\n"
	  "            k: T.int32 = T.Select(e < 0, e + 8, e)\n"
	  "            y[i] = x[k]\n",
	  0, 7, true },
	{ "data within limits",
	  "    for i in range(4):\n"
	  "        y[i] = x[T.max(0, T.min(t[i], 7))]\n",
	  0, 7, true },
};

static struct func *
parse(struct module *m, const char *body)
{
	char text[1024];
	struct source src = { .name = "test.py", .text = text };

	snprintf(text, sizeof text, "%s%s", HEAD, body);
	src.length = strlen(text);
	if (!script_read(m, &src) || m->funcs.n != 1) {
		for (int i = 0; i < m->diags.list.n; i++) {
			fprintf(stderr, "%s\n", m->diags.list.data[i].message);
		}
		return NULL;
	}
	return m->funcs.data[0];
}

static void
check_program(int i)
{
	struct module *m = module_new();
	struct func *f = parse(m, programs[i].body);
	struct access_ranges all = { 0 };
	int found = 0;

	if (CHECK(f != NULL)) {
		all = access_ranges_of(f);
	}
	for (int k = 0; k < all.list.n; k++) {
		const struct access_range *x = &all.list.data[k];
		bool ok = x->index[0].is_within == programs[i].within &&
			  x->index[0].bounds.min == programs[i].min &&
			  x->index[0].bounds.max == programs[i].max;

		if (strcmp(x->access.buffer->name, "x") != 0) {
			continue;
		}
		found++;
		if (!CHECK(ok)) {
			fprintf(stderr, "%s: %lld..%lld\n", programs[i].what,
				(long long)x->index[0].bounds.min,
				(long long)x->index[0].bounds.max);
		}
	}
	CHECK_EQ(found, 1);
	module_free(m);
}

static void
check_loops(void)
{
	struct module *m = module_new();
	struct func *f = parse(m, "    for i in range(4):\n"
				  "        for j in range(i + 1):\n"
				  "            y[i] = x[j]\n"
				  "    for k in range(t[0]):\n"
				  "        y[k] = T.float32(0)\n");
	struct loop_bounds all = { 0 };
	const struct loop_bound *x;

	if (CHECK(f != NULL)) {
		all = loop_bounds_of(f);
	}
	x = all.list.data;
	if (!CHECK_EQ(all.list.n, 3)) {
		module_free(m);
		return;
	}
	CHECK(x[0].depth == 1 && x[0].most == 4 && x[0].is_constant);
	CHECK(x[1].depth == 2 && x[1].most == 4 && !x[1].is_constant);
	CHECK(x[2].depth == 1 && x[2].most == BOUND_POS_INF);
	module_free(m);
}

int
main(void)
{
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
		check_program((int)i);
	}
	check_loops();
	return check_done();
}
