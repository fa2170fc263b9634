/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of vectors: what becomes of small programs, word by word, and that
 * they compute what they did, to the last bit. */
#include "lowered.h"

struct program {
	const char *what;
	const char *buffers; /* x and y */
	const char *body;
	const char *want; /* the body with vectors; NULL: as without */
};

#define ROWS                                                                   \
	"    acc = T.alloc_buffer((3, 32), scope=\"local\")\n"                 \
	"    for i in T.unroll(3):\n"                                          \
	"        for j in T.vectorized(32):\n"                                 \
	"            acc[i, j] = x[i, j]\n"
#define ROWS_OF_VECTORS(index)                                                 \
	"    acc = T.decl_buffer((3, 2), \"float32x16\", scope=\"local\")\n"   \
	"    for i in T.unroll(3):\n"                                          \
	"        for j in T.unroll(2):\n"                                      \
	"            acc[i, j] = x[" index "]\n"

static const struct program programs[] = {
	{
		"a product and its limit",
		"x: T.Buffer((3, 32)), y: T.Buffer((3, 32))",
		ROWS
		"    for k in range(4):\n"
		"        for i in T.unroll(3):\n"
		"            for j in T.vectorized(32):\n"
		"                acc[i, j] = acc[i, j] + x[i, k] * x[2 - i, j]\n"
		"    for i in T.unroll(3):\n"
		"        for j in T.vectorized(32):\n"
		"            y[i, j] = T.max(acc[i, j], T.float32(0))\n",
		"    acc = T.decl_buffer((3, 2), \"float32x16\", scope=\"local\")\n"
		"    for i in T.unroll(3):\n"
		"        for j in T.unroll(2):\n"
		"            acc[i, j] = x[i, T.Ramp(j * 16, 1, 16)]\n"
		"    for k in range(4):\n"
		"        for i_1 in T.unroll(3):\n"
		"            for j_1 in T.unroll(2):\n"
		"                acc[i_1, j_1] = acc[i_1, j_1] + "
		"T.Broadcast(x[i_1, k], 16) * x[2 - i_1, T.Ramp(j_1 * 16, 1, 16)]\n"
		"    for i_2 in T.unroll(3):\n"
		"        for j_2 in T.unroll(2):\n"
		"            y[i_2, j_2] = T.max(acc[i_2, j_2], "
		"T.Broadcast(T.float32(0), 16))\n",
	},
	{
		"lanes that are stored apart",
		"x: T.Buffer((3, 32)), y: T.Buffer((32, 3))",
		ROWS "    for i in T.unroll(3):\n"
		     "        for j in T.vectorized(32):\n"
		     "            y[j, i] = acc[i, j] + x[i, j]\n",
		ROWS_OF_VECTORS(
			"i, j") "    for i_1 in T.unroll(3):\n"
				"        for j_1 in T.unroll(2):\n"
				"            lanes = T.decl_buffer((16,), \"float32\", scope=\"local\")\n"
				"            lanes[T.Ramp(0, 1, 16)] = acc[i_1, j_1] + x[i_1, j_1]\n"
				"            for lane in range(16):\n"
				"                y[j_1 * 16 + lane, i_1] = lanes[lane]\n",
	},
	{
		"a loop that ends within a vector",
		"x: T.Buffer((3, 32)), y: T.Buffer((3, 27))",
		ROWS "    for i in T.unroll(3):\n"
		     "        for j in T.vectorized(27):\n"
		     "            y[i, j] = acc[i, j] + x[i, j]\n",
		ROWS_OF_VECTORS(
			"i, j") "    for i_1 in T.unroll(3):\n"
				"        y[i_1, T.Ramp(0, 1, 16)] = acc[i_1, 0] + x[i_1, 0]\n"
				"        lanes = T.decl_buffer((16,), \"float32\", scope=\"local\")\n"
				"        lanes[T.Ramp(0, 1, 16)] = acc[i_1, 1] + x[i_1, 1]\n"
				"        for lane in T.vectorized(11):\n"
				"            y[i_1, 16 + lane] = lanes[lane]\n",
	},
	{
		"a loop that ends within a vector and stores one",
		"x: T.Buffer((3, 32)), y: T.Buffer((3, 32))",
		ROWS "    for i in T.unroll(3):\n"
		     "        for j in T.vectorized(27):\n"
		     "            acc[i, j] = acc[i, j] + x[i, j]\n"
		     "    for i in T.unroll(3):\n"
		     "        for j in T.vectorized(32):\n"
		     "            y[i, j] = acc[i, j]\n",
		NULL,
	},
	{
		"lanes beyond the end of what is stored",
		"x: T.Buffer((3, 32)), y: T.Buffer((27,))",
		"    for o in range(2):\n"
		"        acc = T.alloc_buffer((16,), scope=\"local\")\n"
		"        for j in T.vectorized(16):\n"
		"            if o * 16 + j < 27:\n"
		"                acc[j] = T.float32(0)\n"
		"        for k in range(3):\n"
		"            for j in T.vectorized(16):\n"
		"                if o * 16 + j < 27:\n"
		"                    acc[j] = acc[j] + x[k, o * 16 + j]\n"
		"        for j in T.vectorized(16):\n"
		"            if o * 16 + j < 27:\n"
		"                y[o * 16 + j] = acc[j]\n",
		"    for o in range(2):\n"
		"        acc = T.decl_buffer((), \"float32x16\", scope=\"local\")\n"
		"        acc[()] = T.Broadcast(T.float32(0), 16)\n"
		"        for k in range(3):\n"
		"            acc[()] = acc[()] + x[k, o]\n"
		"        if o < 1:\n"
		"            y[T.Ramp(0, 1, 16)] = acc[()]\n"
		"        else:\n"
		"            lanes = T.decl_buffer((16,), \"float32\", scope=\"local\")\n"
		"            lanes[T.Ramp(0, 1, 16)] = acc[()]\n"
		"            for lane in T.vectorized(11):\n"
		"                y[lane + 16] = lanes[lane]\n",
	},
	{
		"lanes beyond the end of what is read",
		"x: T.Buffer((3, 27)), y: T.Buffer((27,))",
		"    for o in range(2):\n"
		"        acc = T.alloc_buffer((16,), scope=\"local\")\n"
		"        for j in T.vectorized(16):\n"
		"            if o * 16 + j < 27:\n"
		"                acc[j] = T.float32(0)\n"
		"        for k in range(3):\n"
		"            for j in T.vectorized(16):\n"
		"                if o * 16 + j < 27:\n"
		"                    acc[j] = acc[j] + x[k, o * 16 + j]\n"
		"        for j in T.vectorized(16):\n"
		"            if o * 16 + j < 27:\n"
		"                y[o * 16 + j] = acc[j]\n",
		"    T.func_attr({\"copies\": \"o 0\"})\n"
		"    with T.decl_buffer((), \"float32x16\", scope=\"local\") as acc:\n"
		"        acc[()] = T.Broadcast(T.float32(0), 16)\n"
		"        for k in range(3):\n"
		"            acc[()] = acc[()] + x[k, T.Ramp(0, 1, 16)]\n"
		"        y[T.Ramp(0, 1, 16)] = acc[()]\n"
		"    acc_1 = T.decl_buffer((16,), \"float32\", scope=\"local\")\n"
		"    for j in T.vectorized(11):\n"
		"        acc_1[j] = T.float32(0)\n"
		"    for k_1 in range(3):\n"
		"        for j_1 in T.vectorized(11):\n"
		"            acc_1[j_1] = acc_1[j_1] + x[k_1, j_1 + 16]\n"
		"    for j_2 in T.vectorized(11):\n"
		"        y[j_2 + 16] = acc_1[j_2]\n",
	},
	{
		"calls without vectors",
		"x: T.Buffer((3, 32)), y: T.Buffer((3, 32))",
		ROWS "    for i in T.unroll(3):\n"
		     "        for j in T.vectorized(32):\n"
		     "            acc[i, j] = T.exp(acc[i, j] * T.float32(2))\n"
		     "    for i in T.unroll(3):\n"
		     "        for j in T.vectorized(32):\n"
		     "            y[i, j] = acc[i, j]\n",
		ROWS_OF_VECTORS(
			"i, j") "    for i_1 in T.unroll(3):\n"
				"        for j_1 in T.unroll(2):\n"
				"            lanes = T.decl_buffer((16,), \"float32\", scope=\"local\")\n"
				"            lanes_1 = T.decl_buffer((16,), \"float32\", scope=\"local\")\n"
				"            lanes[T.Ramp(0, 1, 16)] = acc[i_1, j_1] * "
				"T.Broadcast(T.float32(2), 16)\n"
				"            for lane in T.vectorized(16):\n"
				"                lanes_1[lane] = T.exp(lanes[lane])\n"
				"            acc[i_1, j_1] = lanes_1[T.Ramp(0, 1, 16)]\n"
				"    for i_2 in T.unroll(3):\n"
				"        for j_2 in T.unroll(2):\n"
				"            y[i_2, j_2] = acc[i_2, j_2]\n",
	},
	{
		"a guard that all lanes share",
		"x: T.Buffer((3, 32)), y: T.Buffer((3, 32))",
		ROWS "    for i in T.unroll(3):\n"
		     "        for j in T.vectorized(32):\n"
		     "            if x[i, 0] > T.float32(0):\n"
		     "                acc[i, j] = T.float32(1)\n"
		     "    for i in T.unroll(3):\n"
		     "        for j in T.vectorized(32):\n"
		     "            y[i, j] = acc[i, j]\n",
		"    acc = T.decl_buffer((3, 2), \"float32x16\", scope=\"local\")\n"
		"    for i in T.unroll(3):\n"
		"        for j in T.unroll(2):\n"
		"            acc[i, j] = x[i, T.Ramp(j * 16, 1, 16)]\n"
		"    for i_1 in T.unroll(3):\n"
		"        for j_1 in T.unroll(2):\n"
		"            if x[i_1, 0] > T.float32(0):\n"
		"                acc[i_1, j_1] = T.Broadcast(T.float32(1), 16)\n"
		"    for i_2 in T.unroll(3):\n"
		"        for j_2 in T.unroll(2):\n"
		"            y[i_2, j_2] = acc[i_2, j_2]\n",
	},
	{
		"a guard that depends on the lane",
		"x: T.Buffer((3, 32)), y: T.Buffer((3, 32))",
		ROWS "    for i in T.unroll(3):\n"
		     "        for j in T.vectorized(32):\n"
		     "            y[i, j] = T.float32(0)\n"
		     "            if j < 30:\n"
		     "                y[i, j] = acc[i, j]\n",
		"    acc = T.decl_buffer((3, 2), \"float32x16\", scope=\"local\")\n"
		"    for i in T.unroll(3):\n"
		"        for j in T.unroll(2):\n"
		"            acc[i, j] = x[i, j]\n"
		"    for i_1 in T.unroll(3):\n"
		"        for j_1 in T.unroll(2):\n"
		"            y[i_1, T.Ramp(j_1 * 16, 1, 16)] = T.Broadcast(T.float32(0), 16)\n"
		"            lanes = T.decl_buffer((16,), \"float32\", scope=\"local\")\n"
		"            lanes[T.Ramp(0, 1, 16)] = acc[i_1, j_1]\n"
		"            for lane in range(16):\n"
		"                ij: T.int32 = j_1 * 16 + lane\n"
		"                if ij < 30:\n"
		"                    y[i_1, ij] = lanes[lane]\n",
	},
	{
		"a choice that depends on the lane",
		"x: T.Buffer((3, 32)), y: T.Buffer((3, 32))",
		ROWS "    for i in T.unroll(3):\n"
		     "        for j in T.vectorized(32):\n"
		     "            y[i, j] = T.if_then_else(j < 30, acc[i, j], "
		     "T.float32(0))\n",
		NULL,
	},
	{
		"elements one by one",
		"x: T.Buffer((3, 32)), y: T.Buffer((3, 32))",
		ROWS "    for i in T.unroll(3):\n"
		     "        for j in T.vectorized(32):\n"
		     "            y[i, j] = acc[i, j] + acc[0, 3]\n",
		NULL,
	},
	{
		"a row that starts between two vectors",
		"x: T.Buffer((3, 32)), y: T.Buffer((3, 32))",
		ROWS "    for i in T.unroll(3):\n"
		     "        for j in T.vectorized(16):\n"
		     "            y[i, j] = acc[i, j + 8]\n"
		     "            y[i, j + 16] = acc[i, j]\n",
		NULL,
	},
	{
		"lanes that read what others store",
		"x: T.Buffer((3, 32)), y: T.Buffer((3, 32))",
		ROWS "    for i in T.unroll(3):\n"
		     "        for j in T.vectorized(16):\n"
		     "            y[i, j] = acc[i, j]\n"
		     "            y[i, j + 16] = acc[i, j] + y[i, j // 2]\n",
		NULL,
	},
	{
		"a sum over the lanes",
		"x: T.Buffer((3, 32)), y: T.Buffer((3, 1))",
		ROWS "    for i in T.unroll(3):\n"
		     "        y[i, 0] = T.float32(0)\n"
		     "        for j in T.vectorized(32):\n"
		     "            y[i, 0] = y[i, 0] + acc[i, j]\n",
		NULL,
	},
	{
		"loops beside them",
		"x: T.Buffer((3, 16)), y: T.Buffer((4, 16))",
		"    acc = T.alloc_buffer((3, 16), scope=\"local\")\n"
		"    for i in T.unroll(3):\n"
		"        for j in T.vectorized(16):\n"
		"            acc[i, j] = x[i, j]\n"
		"    for i in T.unroll(3):\n"
		"        for j in T.vectorized(16):\n"
		"            y[i, j] = acc[i, j]\n"
		"    for j in T.vectorized(16):\n"
		"        y[3, j] = T.float32(7)\n",
		"    acc = T.decl_buffer((3,), \"float32x16\", scope=\"local\")\n"
		"    for i in T.unroll(3):\n"
		"        acc[i] = x[i]\n"
		"    for i_1 in T.unroll(3):\n"
		"        y[i_1] = acc[i_1]\n"
		"    y[3] = T.Broadcast(T.float32(7), 16)\n",
	},
	{
		"a function without such arrays",
		"x: T.Buffer((3, 32)), y: T.Buffer((3, 32))",
		"    for i in range(3):\n"
		"        for j in T.vectorized(32):\n"
		"            y[i, j] = x[i, j] + T.float32(1)\n",
		NULL,
	},
};

/* Accesses of 16 bytes, and nothing computed with vectors. */
static const struct program wide[] = {
	{
		"a copy",
		"x: T.Buffer((12, 8)), y: T.Buffer((12, 8))",
		"    for i in range(12):\n"
		"        for j in T.vectorized(8):\n"
		"            y[i, j] = x[11 - i, j]\n",
		"    x = T.match_buffer(var_x, (12, 8), \"float32\", align=16)\n"
		"    y = T.match_buffer(var_y, (12, 8), \"float32\", align=16)\n"
		"    for i in range(12):\n"
		"        y[i, T.Ramp(0, 1, 4)] = x[11 - i, T.Ramp(0, 1, 4)]\n"
		"        y[i, T.Ramp(4, 1, 4)] = x[11 - i, T.Ramp(4, 1, 4)]\n",
	},
	{
		"a sum of what is there once and what starts between vectors",
		"x: T.Buffer((12, 8)), y: T.Buffer((12, 4))",
		"    for i in range(12):\n"
		"        for j in T.vectorized(4):\n"
		"            y[i, j] = x[i, j] * x[i, j] + x[i, j + 3]\n",
		"    x = T.match_buffer(var_x, (12, 8), \"float32\", align=16)\n"
		"    y = T.match_buffer(var_y, (12, 4), \"float32\", align=16)\n"
		"    for i in range(12):\n"
		"        x_lanes = T.decl_buffer((4,), \"float32\", "
		"scope=\"local\", align=16)\n"
		"        y_lanes = T.decl_buffer((4,), \"float32\", "
		"scope=\"local\", align=16)\n"
		"        x_lanes[T.Ramp(0, 1, 4)] = x[i, T.Ramp(0, 1, 4)]\n"
		"        for j in T.unroll(4):\n"
		"            y_lanes[j] = x_lanes[j] * x_lanes[j] + x[i, j + 3]\n"
		"        y[i, T.Ramp(0, 1, 4)] = y_lanes[T.Ramp(0, 1, 4)]\n",
	},
	{
		"rows whose length is a multiple of two only",
		"x: T.Buffer((16, 6)), y: T.Buffer((6, 16))",
		"    for i in range(16):\n"
		"        for k in range(3):\n"
		"            for j in T.vectorized(2):\n"
		"                y[k * 2 + j, i] = x[i, k * 2 + j]\n",
		"    x = T.match_buffer(var_x, (16, 6), \"float32\", align=8)\n"
		"    for i, k in T.grid(16, 3):\n"
		"        x_lanes = T.decl_buffer((2,), \"float32\", "
		"scope=\"local\", align=8)\n"
		"        x_lanes[T.Ramp(0, 1, 2)] = x[i, T.Ramp(k * 2, 1, 2)]\n"
		"        for j in T.unroll(2):\n"
		"            y[k * 2 + j, i] = x_lanes[j]\n",
	},
	{
		"a choice that all lanes share, and one that they do not",
		"x: T.Buffer((12, 8)), y: T.Buffer((12, 8))",
		"    for i in range(12):\n"
		"        for j in T.vectorized(4):\n"
		"            y[i, j] = T.if_then_else(i < 5, x[i, j], "
		"T.float32(0))\n"
		"    for i in range(12):\n"
		"        for j in T.vectorized(4):\n"
		"            y[i, 4 + j] = T.if_then_else(j < 3, x[i, j], "
		"T.float32(0))\n",
		"    x = T.match_buffer(var_x, (12, 8), \"float32\", align=16)\n"
		"    y = T.match_buffer(var_y, (12, 8), \"float32\", align=16)\n"
		"    for i in range(12):\n"
		"        if i < 5:\n"
		"            y[i, T.Ramp(0, 1, 4)] = x[i, T.Ramp(0, 1, 4)]\n"
		"        else:\n"
		"            y_lanes = T.decl_buffer((4,), \"float32\", "
		"scope=\"local\", align=16)\n"
		"            for j in T.unroll(4):\n"
		"                y_lanes[j] = T.float32(0)\n"
		"            y[i, T.Ramp(0, 1, 4)] = y_lanes[T.Ramp(0, 1, 4)]\n"
		"    for i_1 in range(12):\n"
		"        y_lanes_1 = T.decl_buffer((4,), \"float32\", "
		"scope=\"local\", align=16)\n"
		"        for j_1 in T.unroll(4):\n"
		"            y_lanes_1[j_1] = T.if_then_else(j_1 < 3, "
		"x[i_1, j_1], T.float32(0))\n"
		"        y[i_1, T.Ramp(4, 1, 4)] = "
		"y_lanes_1[T.Ramp(0, 1, 4)]\n",
	},
	{
		"neither loads nor stores that lie so",
		"x: T.Buffer((12, 8)), y: T.Buffer((8, 12))",
		"    for i in range(12):\n"
		"        for j in T.vectorized(4):\n"
		"            y[j, i] = x[i, j + 1] + x[i, 0]\n",
		NULL,
	},
	{
		"rows of odd length",
		"x: T.Buffer((13, 7)), y: T.Buffer((13, 7))",
		"    for i in range(13):\n"
		"        for j in T.vectorized(4):\n"
		"            y[i, j] = x[i, j]\n",
		NULL,
	},
	{
		"lanes that read what others store",
		"x: T.Buffer((96,)), y: T.Buffer((96,))",
		"    for i in range(8):\n"
		"        for j in T.vectorized(4):\n"
		"            y[i * 4 + j] = x[i * 4 + j] + T.if_then_else("
		"i * 4 + j < 1, T.float32(0), y[i * 4 + j - 1])\n",
		NULL,
	},
};

static const char *
text_of(struct module *m, const struct program *p, const char *notes)
{
	return arena_printf(
		&m->arena,
		"from tvm.script import tir as T\n@T.prim_func\ndef f(%s):\n"
		"%s%s",
		p->buffers, notes, p->body);
}

static void
test_program(const struct program *p, const char *notes)
{
	struct module *m = module_new();
	float x[96], y[96];
	struct run_arg args[2] = { { .data = x }, { .data = y } };

	for (int i = 0; i < 96; i++) {
		x[i] = (float)(i * 37 % 41 - 20) / 16;
	}
	check_lowered(&(struct lowered_case){
		.what = p->what,
		.plain = text_of(m, p, ""),
		.text = text_of(m, p, notes),
		.want = p->want,
		.args = args,
		.n = 2,
		.result = y,
		.elements = 96,
	});
	module_free(m);
}

#define BYTES_HEAD                                                             \
	"from tvm.script import tir as T\n@T.prim_func\n"                      \
	"def f(x: T.Buffer((3, 16), \"uint8\"), "                              \
	"w: T.Buffer((3, 16), \"int8\"), c: T.Buffer((16,), \"float64\"), "    \
	"y: T.Buffer((16,), \"int8\")):\n"
#define BYTES_BODY                                                             \
	"    acc = T.alloc_buffer((16,), \"int32\", scope=\"local\")\n"        \
	"    for j in T.vectorized(16):\n"                                     \
	"        acc[j] = 0\n"                                                 \
	"    for k in range(3):\n"                                             \
	"        for j in T.vectorized(16):\n"                                 \
	"            acc[j] = acc[j] + T.Cast(\"int32\", x[k, j]) * "          \
	"T.Cast(\"int32\", w[k, j])\n"                                         \
	"    for j in T.vectorized(16):\n"                                     \
	"        y[j] = T.Cast(\"int8\", T.min(T.max("                         \
	"T.scale_nearest(\"int32\", acc[j], c[j]), -128), 127))\n"

/* Bytes are widened, and what sums of their products are scaled to is made
 * bytes, vector by vector. */
static void
test_bytes(void)
{
	uint8_t x[48];
	int8_t w[48];
	double c[16];
	float y[4]; /* 16 bytes */
	struct run_arg args[4] = {
		{ .data = x }, { .data = w }, { .data = c }, { .data = y }
	};

	for (int i = 0; i < 48; i++) {
		x[i] = (uint8_t)(i * 37);
		w[i] = (int8_t)(i * 59 % 256 - 128);
		c[i % 16] = (i % 16 - 4) * 0.00425;
	}
	check_lowered(&(struct lowered_case){
		.what = "vectors of bytes",
		.plain = BYTES_HEAD BYTES_BODY,
		.text = BYTES_HEAD
		"    T.func_attr({\"vectors\": "
		"\"int32x16\", \"byte_vectors\": True})\n" BYTES_BODY,
		.want = "    acc = T.decl_buffer((), \"int32x16\", "
			"scope=\"local\")\n"
			"    acc[()] = T.Broadcast(0, 16)\n"
			"    for k in range(3):\n"
			"        w_v: T.int32x16 = T.Cast(\"int32x16\", "
			"w[k, T.Ramp(0, 1, 16)])\n"
			"        x_v: T.int32x16 = T.Cast(\"int32x16\", "
			"x[k, T.Ramp(0, 1, 16)])\n"
			"        acc[()] = acc[()] + x_v * w_v\n"
			"    scaled: T.int32x16 = T.scale_nearest(\"int32x16\", "
			"acc[()], c[T.Ramp(0, 1, 16)])\n"
			"    clipped: T.int32x16 = T.min(T.max(scaled, "
			"T.Broadcast(-128, 16)), T.Broadcast(127, 16))\n"
			"    y[T.Ramp(0, 1, 16)] = T.Cast(\"int8x16\", clipped)\n",
		.args = args,
		.n = 4,
		.result = y,
		.elements = 4,
	});
}

/* Two of 4 bits in a byte: the same half of each of a vector's. */
#define PAIRS_HEAD                                                             \
	"from tvm.script import tir as T\n\n@T.prim_func\ndef f("              \
	"x: T.Buffer((6,), \"float32\"), w: T.Buffer((3, 16), \"uint8\"), "    \
	"y: T.Buffer((16,), \"float32\")):\n"
#define PAIRS_BODY                                                             \
	"    acc = T.decl_buffer((16,), \"float32\", scope=\"local\")\n"       \
	"    for i in T.vectorized(16):\n"                                     \
	"        acc[i] = T.float32(0)\n"                                      \
	"    for k in range(6):\n"                                             \
	"        for i in T.vectorized(16):\n"                                 \
	"            acc[i] = acc[i] + x[k] * T.Cast(\"float32\", "            \
	"T.nibble(\"int8\", w[k // 2, i], k % 2))\n"                           \
	"    for i in T.vectorized(16):\n"                                     \
	"        y[i] = acc[i]\n"

static void
test_pairs(void)
{
	float x[6] = { 1, -2, 3, 0.5f, 8, -1 }, y[16];
	uint8_t w[48];
	struct run_arg args[3] = { { .data = x },
				   { .data = w },
				   { .data = y } };

	for (int i = 0; i < 48; i++) {
		w[i] = (uint8_t)(i * 37);
	}
	check_lowered(&(struct lowered_case){
		.what = "vectors of pairs",
		.plain = PAIRS_HEAD PAIRS_BODY,
		.text = PAIRS_HEAD
		"    T.func_attr({\"vectors\": "
		"\"float32x16\", \"byte_vectors\": True})\n" PAIRS_BODY,
		.want = "    acc = T.decl_buffer((), \"float32x16\", "
			"scope=\"local\")\n"
			"    acc[()] = T.Broadcast(T.float32(0), 16)\n"
			"    for k in range(6):\n"
			"        v: T.int8x16 = T.nibble(\"int8x16\", "
			"w[k // 2, T.Ramp(0, 1, 16)], "
			"T.Broadcast(k % 2, 16))\n"
			"        acc[()] = acc[()] + T.Broadcast(x[k], 16) * "
			"T.Cast(\"float32x16\", T.Cast(\"int32x16\", v))\n"
			"    y[T.Ramp(0, 1, 16)] = acc[()]\n",
		.args = args,
		.n = 3,
		.result = y,
		.elements = 16,
	});
}

int
main(void)
{
	test_bytes();
	test_pairs();
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
		test_program(&programs[i],
			     "    T.func_attr({\"vectors\": "
			     "\"float32x16\", \"vector_params\": True})\n");
	}
	for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
		test_program(&wide[i],
			     "    T.func_attr({\"wide_bytes\": 16})\n");
	}
	return check_done();
}
