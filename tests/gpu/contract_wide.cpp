/* SPDX-License-Identifier: Apache-2.0 */
/* A grid that has more blocks than a launch can say is a failure of the device,
 * and nothing runs. */
#include "cuda_on_cpu.h"
#include "wide.cu"

int
main()
{
	static float x[4 * 64] = { 3 }, y[4 * 64];
	struct wide m;
	struct wide_config c = {};
	struct wide_inputs in = {};
	struct wide_outputs out = {};

	in.x = x;
	out.y = y;
	in.n = in.m = 2;
	if (wide_init(&m, &c) != WIDE_OK || wide_run(&m, &in, &out) != WIDE_OK ||
	    y[0] != 9.0f) {
		printf("two by two rows\n");
		return 1;
	}
	in.n = in.m = 1000000; /* 2^32 is much less than the blocks */
	if (wide_run(&m, &in, &out) != WIDE_DEVICE ||
	    m.error != cudaErrorInvalidConfiguration) {
		printf("a million by a million rows: %s\n", wide_error(&m));
		return 1;
	}
	return 0;
}
