/* SPDX-License-Identifier: Apache-2.0 */
/* The shipped model cut off at many lengths and with many bits flipped: the
 * importer gives a graph that holds together, or an error; nothing else. */
#include <stdlib.h>

#include "check.h"
#include "onnx_import.h"

static uint8_t *
read_file(const char *path, size_t *length)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = malloc(1 << 22);

	*length = f ? fread(data, 1, 1 << 22, f) : 0;
	if (f) {
		fclose(f);
	}
	return data;
}

/* A copy of the exact size, so that a sanitizer sees reads past it. */
static bool
survives(const uint8_t *data, size_t length)
{
	struct module *m = module_new();
	uint8_t *copy = malloc(length ? length : 1);
	struct onnx_file *file;
	struct graph *g;
	bool ok;

	memcpy(copy, data, length);
	g = onnx_import_bytes(m, "damaged.onnx", copy, length, NULL, &file);
	ok = g ? graph_verify(g) : m->diags.n_errors > 0;
	onnx_file_close(file);
	module_free(m);
	free(copy);
	return ok;
}

static uint32_t
next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

int
main(void)
{
	const char *root = getenv("TIRC_ROOT");
	char path[4096];
	size_t length;
	uint32_t seed = 1;
	int bad = 0;

	snprintf(path, sizeof path, "%s/examples/digits/digits.onnx",
		 root ? root : ".");
	uint8_t *data = read_file(path, &length);

	if (!CHECK(length > 1000)) {
		return 1;
	}
	for (size_t n = 0; n < length; n += n < 600 ? 1 : 97) {
		bad += !survives(data, n);
		bad += !survives(data + length - n, n);
	}
	CHECK_EQ(bad, 0);
	/* The structure is at both ends; weights are in the middle. */
	for (int i = 0; i < 4000; ++i) {
		uint32_t at = next_random(&seed) % 2000;
		uint8_t bit = (uint8_t)(1u << next_random(&seed) % 8);

		at = at < 1000 ? at : (uint32_t)length - (at - 999);
		data[at] ^= bit;
		bad += !survives(data, length);
		data[at] ^= bit;
	}
	CHECK_EQ(bad, 0);
	free(data);
	return check_done();
}
