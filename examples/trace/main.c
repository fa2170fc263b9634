/* SPDX-License-Identifier: MIT-0 */
/* Runs the digits once and writes the trace to the standard output, on a host or a
 * board. On a board, put() sends the bytes to the serial port:
 *
 *	tirc compile ../digits/digits.onnx --target c99 --trace -o src
 *	cc -Isrc -I../../runtime-c main.c src/digits*.c \
 *		../../runtime-c/tirc_trace.c -o digits
 *	./digits > board.trace
 *	tirc compare board.trace ../digits/digits.onnx --target c99 */
#include <stdio.h>

#include "digits.h"
#include "tirc_trace.h"

/* a 3, in sixteenths from paper to ink */
static const unsigned char three[8][8] = {
	{ 0, 0, 6, 14, 16, 16, 2, 0 },  { 0, 5, 16, 13, 11, 16, 0, 0 },
	{ 0, 0, 7, 2, 15, 12, 0, 0 },   { 0, 0, 0, 7, 16, 13, 1, 0 },
	{ 0, 0, 0, 0, 6, 15, 10, 0 },   { 0, 0, 0, 0, 0, 15, 12, 0 },
	{ 0, 0, 10, 10, 12, 16, 7, 0 }, { 0, 0, 8, 16, 15, 7, 0, 0 },
};

static void
put(void *out, const char *bytes, size_t n)
{
	fwrite(bytes, 1, n, out);
}

static struct digits_config config;

int
main(void)
{
	struct tirc_trace trace = { .put = put, .out = stdout };
#ifdef DIGITS_ALIGNED
	static union digits_workspace workspace;
#else
	static struct digits_workspace workspace; /* of --target misra */
#endif
	static float image[8][8], prob[10];
	const struct digits_inputs in = { .image = &image[0][0] };
	const struct digits_outputs out = { .prob = prob };
	struct digits model;

	for (int h = 0; h < 8; ++h) {
		for (int w = 0; w < 8; ++w) {
			image[h][w] = (float)three[h][w] / 16.0f;
		}
	}
	config.workspace = &workspace;
	config.workspace_bytes = sizeof workspace;
	config.trace = tirc_trace_tensor;
	config.trace_context = &trace;
	if (digits_init(&model, &config) != DIGITS_OK) {
		return 1;
	}
	tirc_trace_begin(&trace, "digits", DIGITS_MODEL_DIGEST);
	if (digits_run(&model, &in, &out) != DIGITS_OK) {
		return 1;
	}
	tirc_trace_end(&trace);
	digits_fini(&model);
	return 0;
}
