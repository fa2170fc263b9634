/* SPDX-License-Identifier: Apache-2.0 */
/* Dead code in the copies that lowering makes of loops. */
#include "lowered.h"

#define SIGNATURE                                                              \
	"@T.prim_func\n"                                                       \
	"def main(x: T.Buffer((8,)), y: T.Buffer((8,))):\n"
#define COPY                                                                   \
	"    for i in range(8):\n"                                             \
	"        y[i] = x[i] + T.float32(1)\n"

/* The copies of an unrolled loop declare the same array, whose only reader
 * stores to an array that nothing reads. */
static void
test_copies(void)
{
	float x[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, y[8];
	struct run_arg args[] = { { .data = x }, { .data = y } };

	check_lowered(&(struct lowered_case){
		.what = "an array in each copy",
		.plain = SIGNATURE COPY,
		.text = SIGNATURE
		"    unread = T.decl_buffer((8,), scope=\"local\")\n"
		"    for i in T.serial(2, annotations={\"unroll_now\": 1}):\n"
		"        t = T.decl_buffer((1,), scope=\"local\")\n"
		"        t[0] = x[i]\n"
		"        unread[i] = t[0]\n" COPY,
		.args = args,
		.n = 2,
		.result = y,
		.elements = 8,
	});
}

int
main(void)
{
	test_copies();
	return check_done();
}
