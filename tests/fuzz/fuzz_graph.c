/* SPDX-License-Identifier: MIT-0 */
/* Any bytes as the JSON of a graph, with kernels that read and write all that
 * their table says: what is taken runs without leaving its memory, and all of
 * its tensors can be seen. graph.json is such a graph. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tirc_graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned char sink;

/* Reads what it may and writes what it may. */
static void
touch(void *const *args, const struct tirc_kernel_arg *rows, size_t n)
{
	unsigned char sum = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned char *p = args[i];

		if ((uintptr_t)p % rows[i].align != 0) {
			abort();
		}
		for (size_t k = 0; k < rows[i].bytes; k++) {
			sum = (unsigned char)(sum + p[k]);
		}
		if (rows[i].written) {
			memset(p, sum, rows[i].bytes);
		}
	}
	sink = sum;
}

static const struct tirc_kernel_arg copy_args[] = {
	{ "x", 64, 4, 0 },
	{ "y", 64, 4, 1 },
};
static const struct tirc_kernel_arg product_args[] = {
	{ "x", 64, 4, 0 },
	{ "w", 32, 16, 0 },
	{ "t", 16, 16, 1 },
	{ "y", 32, 8, 1 },
};
static const struct tirc_kernel_arg update_args[] = { { "xy", 32, 8, 1 } };

static void
copy(void *const *args, const int64_t *sizes, const void *context)
{
	(void)sizes;
	(void)context;
	touch(args, copy_args, 2);
}

static void
product(void *const *args, const int64_t *sizes, const void *context)
{
	(void)context;
	sink = (unsigned char)sizes[0];
	touch(args, product_args, 4);
}

static void
update(void *const *args, const int64_t *sizes, const void *context)
{
	(void)sizes;
	(void)context;
	touch(args, update_args, 1);
}

static const struct tirc_kernel list[] = {
	{ "copy", copy, copy_args, 2 },
	{ "product", product, product_args, 4 },
	{ "update", update, update_args, 1 },
};
static const struct tirc_kernel_size sizes_of[] = { { "n", 1, 2 } };
static const struct tirc_kernels kernels = { "1", list, 3,   sizes_of,
					     1,   NULL, NULL };

/* Inputs of the right size, unless that is large. */
static int
set_inputs(struct tirc_graph *g, void **memory)
{
	for (size_t i = 0; i < tirc_graph_input_count(g) && i < 16; i++) {
		struct tirc_graph_tensor t;
		const char *name;

		if (tirc_graph_input_at(g, i, &name, &t) != TIRC_GRAPH_OK ||
		    t.bytes > 65536) {
			return 0;
		}
		memory[i] = calloc(1, t.bytes + 1);
		if (tirc_graph_set_input(g, name, memory[i], t.bytes) !=
		    TIRC_GRAPH_OK) {
			abort();
		}
	}
	return 1;
}

/* Every tensor that is there, as the model sees it. */
static void
see(void *arg, struct tirc_graph *g, const char *node)
{
	(void)arg;
	(void)node;
	for (size_t i = 0; i < tirc_graph_tensor_count(g); i++) {
		struct tirc_graph_tensor t;
		void *copy_of;

		if (tirc_graph_tensor_at(g, i, &t) != TIRC_GRAPH_OK) {
			abort();
		}
		if (t.data == NULL || t.bytes > 65536) {
			continue;
		}
		copy_of = malloc(t.bytes + 1);
		if (tirc_graph_copy(g, t.name, copy_of, t.bytes) !=
		    TIRC_GRAPH_OK) {
			abort();
		}
		free(copy_of);
	}
}

static int
outputs_are_small(struct tirc_graph *g)
{
	for (size_t i = 0; i < tirc_graph_output_count(g); i++) {
		struct tirc_graph_tensor t;
		const char *name;

		if (tirc_graph_output_at(g, i, &name, &t) != TIRC_GRAPH_OK ||
		    t.bytes > 65536) {
			return 0;
		}
	}
	return 1;
}

static void
use(struct tirc_graph *g)
{
	void *memory[16] = { 0 };

	tirc_graph_set_size(g, "n", 1);
	tirc_graph_watch(g, see, NULL);
	if (tirc_graph_node_count(g) < 1000 && outputs_are_small(g) &&
	    set_inputs(g, memory)) {
		tirc_graph_run(g);
		tirc_graph_set_size(g, "n", 2);
		tirc_graph_run_to(g, "b");
		tirc_graph_continue(g);
	}
	see(NULL, g, NULL);
	for (int i = 0; i < 16; i++) {
		free(memory[i]);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t params_bytes = 128, workspace_bytes = 256;
	char message[128] = "";
	struct tirc_graph_config config = {
		.json = (const char *)data,
		.json_bytes = size,
		.kernels = &kernels,
		.params_bytes = params_bytes,
		.workspace_bytes = workspace_bytes,
		.trust_params = 1,
		.message = message,
		.message_bytes = sizeof message,
	};
	unsigned char *params = aligned_alloc(128, params_bytes);
	struct tirc_graph *g;

	memset(params, 0, params_bytes);
	memcpy(params + 16, "\4\3\2\1", 4);
	config.params = params;
	config.workspace = aligned_alloc(128, workspace_bytes);
	if (tirc_graph_create(&g, &config) == TIRC_GRAPH_OK) {
		use(g);
		tirc_graph_destroy(g);
	} else if (message[0] == '\0' || g != NULL) {
		abort();
	}
	free(params);
	free(config.workspace);
	return 0;
}
