/* SPDX-License-Identifier: Apache-2.0 */
/* Proofs that sums of integers stay within a bound, and programs of which there
 * is none. Each program has an array "acc"; the parameter "b" holds numbers from
 * -1000 to 1000. */
#include "check.h"

#include "script.h"
#include "value_range.h"

struct program {
	const char *what, *body;
	int64_t most; /* of acc's elements; 0: no bound is proven */
};

#define HEAD                                                                   \
	"from tvm.script import tir as T\n@T.prim_func\n"                      \
	"def f(x: T.Buffer((64, 9), \"int8\"), w: T.Buffer((64, 9), "          \
	"\"int8\"), u: T.Buffer((64, 9), \"uint8\"), "                         \
	"b: T.Buffer((16,), \"int32\"), y: T.Buffer((4, 16), \"int32\")):\n"
#define ACC(shape)                                                             \
	"    acc = T.decl_buffer(" shape ", \"int32\", scope=\"local\")\n"
#define PRODUCT "T.Cast(\"int32\", x[c, k]) * T.Cast(\"int32\", w[c, k])"
#define SUM_OVER(loops)                                                        \
	ACC("(4,)")                                                            \
	"    for i in range(4):\n        acc[i] = 0\n" loops

static const struct program programs[] = {
	{ "a convolution's sum, loops that choose the element count once",
	  SUM_OVER("    for c, k, i in T.grid(64, 9, 4):\n"
		   "        acc[i] = acc[i] + " PRODUCT "\n"),
	  9437184 },
	{ "the element on the right",
	  SUM_OVER("    for c, k, i in T.grid(64, 9, 4):\n"
		   "        acc[i] = " PRODUCT " + acc[i]\n"),
	  9437184 },
	{ "a difference",
	  SUM_OVER("    for c, k, i in T.grid(64, 9, 4):\n"
		   "        acc[i] = acc[i] - " PRODUCT "\n"),
	  9437184 },
	{ "a zero point",
	  SUM_OVER(
		  "    for c, k, i in T.grid(64, 9, 4):\n"
		  "        acc[i] = acc[i] + (T.Cast(\"int32\", u[c, k]) - 128)"
		  " * T.Cast(\"int32\", w[c, k])\n"),
	  9437184 },
	{ "unsigned bytes",
	  SUM_OVER("    for c, k, i in T.grid(64, 9, 4):\n"
		   "        acc[i] = acc[i] + T.Cast(\"int32\", u[c, k])"
		   " * T.Cast(\"int32\", w[c, k])\n"),
	  18800640 },
	{ "a start from a stated parameter",
	  ACC("(16,)") "    for i in range(16):\n        acc[i] = b[i]\n"
		       "    for c, k, i in T.grid(64, 9, 16):\n"
		       "        acc[i] = acc[i] + " PRODUCT "\n",
	  9438184 },
	{ "two sums in turn",
	  SUM_OVER("    for c, k, i in T.grid(64, 9, 4):\n"
		   "        acc[i] = acc[i] + " PRODUCT "\n"
		   "    for j, i in T.grid(16, 4):\n"
		   "        acc[i] = acc[i] + b[j]\n"),
	  9453184 },
	{ "named values",
	  SUM_OVER("    for c, k in T.grid(64, 9):\n"
		   "        v: T.int32 = T.Cast(\"int32\", x[c, k])\n"
		   "        for i in range(4):\n"
		   "            next: T.int32 = acc[i] + v\n"
		   "            acc[i] = next\n"),
	  64 * 9 * 128 },
	{ "only where a condition holds",
	  SUM_OVER("    for c, k, i in T.grid(64, 9, 4):\n"
		   "        acc[i] = T.if_then_else(i < 2, acc[i] + " PRODUCT
		   ", acc[i])\n"),
	  9437184 },
	{ "a guarded statement",
	  SUM_OVER("    for c, k, i in T.grid(64, 9, 4):\n"
		   "        if i + k < 5:\n"
		   "            acc[i] = acc[i] + " PRODUCT "\n"),
	  9437184 },
	{ "one of two branches: the larger counts",
	  "    for j in range(8):\n"
	  "        acc = T.decl_buffer((), \"int32\", scope=\"local\")\n"
	  "        acc[()] = 0\n"
	  "        if j < 4:\n"
	  "            for c, k in T.grid(64, 9):\n"
	  "                acc[()] = acc[()] + " PRODUCT "\n"
	  "        else:\n"
	  "            for c, k in T.grid(32, 9):\n"
	  "                acc[()] = acc[()] + " PRODUCT "\n"
	  "        acc[()] = acc[()] + b[j]\n"
	  "        y[0, 0] = acc[()]\n",
	  9438184 },
	{ "two branches in a loop: either may come in each iteration",
	  SUM_OVER("    for j, i in T.grid(8, 4):\n"
		   "        if i + j < 4:\n"
		   "            acc[j % 4] = acc[j % 4] + b[j]\n"
		   "        else:\n"
		   "            acc[i] = acc[i] + b[j]\n"),
	  8 * 1000 + 32 * 1000 },
	{ "rows that are written out: each element is in one of them",
	  ACC("(2, 4)") "    for i in range(4):\n"
			"        acc[0, i] = 0\n"
			"        acc[1, i] = 0\n"
			"    for c, k, i in T.grid(64, 9, 4):\n"
			"        acc[0, i] = acc[0, i] + " PRODUCT "\n"
			"        acc[1, i] = acc[1, i] + " PRODUCT "\n",
	  9437184 },
	{ "rows and columns that are written out",
	  ACC("(2, 2)") "    for i, j in T.grid(2, 2):\n"
			"        acc[i, j] = 0\n"
			"    for c, k, i in T.grid(64, 9, 4):\n"
			"        acc[0, 0] = acc[0, 0] + " PRODUCT "\n"
			"        acc[0, 1] = acc[0, 1] + " PRODUCT "\n"
			"        acc[1, 0] = acc[1, 0] + " PRODUCT "\n"
			"        acc[1, 1] = acc[1, 1] + " PRODUCT "\n",
	  9437184 * 4 },
	{ "rows of which two are the same: both count",
	  ACC("(2, 4)") "    for i in range(4):\n"
			"        acc[0, i] = 0\n"
			"        acc[1, i] = 0\n"
			"    for c, k, i in T.grid(64, 9, 4):\n"
			"        acc[1, i] = acc[1, i] + " PRODUCT "\n"
			"        acc[1, i] = acc[1, i] + " PRODUCT "\n",
	  9437184 * 2 },
	{ "an index of two loops that never meet",
	  ACC("(16,)") "    for i in range(16):\n        acc[i] = 0\n"
		       "    for c, k, i, j in T.grid(64, 9, 4, 4):\n"
		       "        acc[i * 4 + j] = acc[i * 4 + j] + " PRODUCT
		       "\n",
	  9437184 },
	{ "an index of two loops that meet: all iterations count",
	  ACC("(8,)") "    for i in range(8):\n        acc[i] = 0\n"
		      "    for c, k, i, j in T.grid(64, 9, 4, 4):\n"
		      "        acc[i * 2 + j] = acc[i * 2 + j] + " PRODUCT "\n",
	  9437184 * 16 },
	{ "one element, begun anew for each row",
	  "    for i in range(4):\n"
	  "        acc = T.decl_buffer((), \"int32\", scope=\"local\")\n"
	  "        acc[()] = 0\n"
	  "        for c, k in T.grid(64, 9):\n"
	  "            acc[()] = acc[()] + " PRODUCT "\n"
	  "        y[i, 0] = acc[()]\n",
	  9437184 },
	{ "vectors that overlap count each lane",
	  ACC("(8,)") "    acc[T.Ramp(0, 1, 8)] = T.Broadcast(0, 8)\n"
		      "    for j in range(4):\n"
		      "        acc[T.Ramp(j, 1, 4)] = acc[T.Ramp(j, 1, 4)] + "
		      "T.Broadcast(T.Cast(\"int32\", x[0, 0]), 4)\n",
	  4 * 128 },
	{ "vectors side by side do not",
	  ACC("(16,)") "    acc[T.Ramp(0, 1, 16)] = T.Broadcast(0, 16)\n"
		       "    for j in range(4):\n"
		       "        acc[T.Ramp(j * 4, 1, 4)] = acc[T.Ramp(j * 4, 1, 4)] + "
		       "T.Broadcast(T.Cast(\"int32\", x[0, 0]), 4)\n",
	  128 },
	{ "the longest sum of products of signed bytes",
	  SUM_OVER("    for n, c, i in T.grid(2047, 64, 4):\n"
		   "        acc[i] = acc[i] + T.Cast(\"int32\", x[c, 0]) * "
		   "T.Cast(\"int32\", w[c, 0])\n"),
	  INT64_C(2047) * 64 * 16384 },
	{ "one that is too long",
	  SUM_OVER("    for n, c, i in T.grid(2048, 64, 4):\n"
		   "        acc[i] = acc[i] + T.Cast(\"int32\", x[c, 0]) * "
		   "T.Cast(\"int32\", w[c, 0])\n"),
	  0 },
	{ "too much for the start",
	  ACC("(16,)") "    for i in range(16):\n        acc[i] = b[i] + 2147482000\n"
		       "    for i in range(16):\n        acc[i] = acc[i] + b[i]\n",
	  0 },
	{ "a product of elements",
	  SUM_OVER("    for i in range(4):\n"
		   "        acc[i] = acc[i] * 3\n"),
	  0 },
	{ "an element that is added to itself",
	  SUM_OVER("    for c, i in T.grid(8, 4):\n"
		   "        acc[i] = acc[i] + acc[i]\n"),
	  0 },
	{ "a neighbour",
	  SUM_OVER("    for i in range(3):\n"
		   "        acc[i + 1] = acc[i] + 1\n"),
	  0 },
	{ "what any caller stores",
	  SUM_OVER("    for i in range(4):\n"
		   "        acc[i] = acc[i] + y[i, 0]\n"
		   "        y[i, 0] = acc[i]\n"),
	  0 },
	{ "a loop without an end that is known",
	  SUM_OVER("    while y[0, 0] < 5:\n"
		   "        acc[0] = acc[0] + 1\n"),
	  0 },
	{ "an address that somebody is given",
	  SUM_OVER("    T.evaluate(T.call_extern(\"void\", \"g\", "
		   "T.address_of(acc[0])))\n"),
	  0 },
	{ "nothing stored", ACC("(4,)") "    y[0, 0] = acc[0]\n", 0 },
};

static const struct stmt *
find_alloc(const struct stmt *s)
{
	if (s->kind == STMT_ALLOC) {
		return s;
	}
	for (int i = 0; i < s->n_children; i++) {
		const struct stmt *found = s->children[i] != NULL
						   ? find_alloc(s->children[i])
						   : NULL;

		if (found != NULL) {
			return found;
		}
	}
	return NULL;
}

static void
try_program(const struct program *p)
{
	char text[4096];
	struct module *m = module_new();
	struct source src = { .name = p->what, .text = text };
	struct value_ranges ranges;
	struct buffer_range found;
	const struct func *f;

	snprintf(text, sizeof text, "%s%s", HEAD, p->body);
	src.length = strlen(text);
	if (!script_read(m, &src) || m->funcs.n != 1) {
		for (int i = 0; i < m->diags.list.n; i++) {
			fprintf(stderr, "%s: %s\n", p->what,
				m->diags.list.data[i].message);
		}
		CHECK(false);
		module_free(m);
		return;
	}
	f = m->funcs.data[0];
	value_ranges_init(&ranges, f, NULL);
	value_ranges_state(&ranges, f->params.data[3].buffer,
			   (struct bounds){ -1000, 1000 });
	/* y is written: nothing may be said of it. */
	value_ranges_state(&ranges, f->params.data[4].buffer,
			   (struct bounds){ -1, 1 });
	found = value_range_of_buffer(&ranges, find_alloc(f->body)->u.buffer);
	if (!CHECK((p->most > 0) == (found.how == RANGE_SUMMED)) ||
	    (p->most > 0 &&
	     !CHECK_EQ(value_range_magnitude(found.range), p->most))) {
		fprintf(stderr, "%s: %lld to %lld\n", p->what,
			(long long)found.range.min, (long long)found.range.max);
	}
	module_free(m);
}

int
main(void)
{
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
		try_program(&programs[i]);
	}
	return check_done();
}
