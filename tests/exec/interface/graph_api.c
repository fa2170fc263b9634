/* SPDX-License-Identifier: Apache-2.0 */
/* The executor of graphs, called right and wrong, on the digit classifier:
 *
 *   graph_api PARAMS GRAPH BAD=STATUS...
 *
 * Each BAD is a graph that must be refused with that status, in words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digits_kernels.h"
#include "tirc_graph.h"

static int failures;

#define CHECK(what)                                                            \
	((what) ? (void)0                                                      \
		: (void)(failures++,                                           \
			 printf("line %d: %s\n", __LINE__, #what)))

struct bytes {
	unsigned char *data;
	size_t n;
};

static struct bytes
read_file(const char *path)
{
	struct bytes b = { NULL, 0 };
	FILE *f = fopen(path, "rb");
	long end;

	if (f == NULL || fseek(f, 0, SEEK_END) != 0 || (end = ftell(f)) < 0 ||
	    fseek(f, 0, SEEK_SET) != 0 ||
	    (b.data = aligned_alloc(64, ((size_t)end / 64 + 1) * 64)) == NULL) {
		printf("cannot read %s\n", path);
		exit(2);
	}
	b.n = fread(b.data, 1, (size_t)end, f);
	fclose(f);
	return b;
}

static struct tirc_graph_config config;
static char message[200];

static int
is_printable(const char *text)
{
	while (*text >= ' ' && *text <= '~') {
		text++;
	}
	return *text == '\0';
}

/* The status of making a graph from a file. */
static enum tirc_graph_status
try(const char *path)
{
	struct bytes json = read_file(path);
	/* As long as it is, so that reading beyond it is seen. */
	char *text = malloc(json.n + (json.n == 0));
	struct tirc_graph *g;
	enum tirc_graph_status status;

	memcpy(text, json.data, json.n);
	message[0] = '\0';
	config.json = text;
	config.json_bytes = json.n;
	status = tirc_graph_create(&g, &config);
	if (status == TIRC_GRAPH_OK) {
		tirc_graph_destroy(g);
	} else if (g != NULL || message[0] == '\0' || !is_printable(message)) {
		printf("%s: a status without a line that tells why\n", path);
		failures++;
	}
	free(text);
	free(json.data);
	return status;
}

static void
count(void *arg, struct tirc_graph *g, const char *node)
{
	size_t *n = arg;

	CHECK(tirc_graph_done(g) == *n + 1);
	CHECK(tirc_graph_restart(g) == TIRC_GRAPH_BUSY);
	CHECK(tirc_graph_continue(g) == TIRC_GRAPH_BUSY);
	CHECK(tirc_graph_set_output(g, "prob", NULL, 0) == TIRC_GRAPH_BUSY);
	CHECK(strcmp(tirc_graph_node_name(g, *n), node) == 0);
	++*n;
}

/* What the kernel does, twice as much of it; context: the kernel. */
static void
twice(void *const *args, const int64_t *sizes, const void *context)
{
	const struct tirc_kernel *k = context;
	float *y = args[k->n_args - 1];

	k->function(args, sizes, NULL);
	for (size_t i = 0; i < k->args[k->n_args - 1].bytes / sizeof *y; ++i) {
		y[i] *= 2.0f;
	}
}

static void
use(struct tirc_graph *g)
{
	static float image[64], prob[10], again[10], mine[10];
	static float fc[10], fc_twice[10], relu1[16 * 8 * 8];
	struct tirc_graph_tensor t;
	struct tirc_kernel fc_gemm;
	const char *name;
	size_t done = 0;

	for (int i = 0; i < 64; ++i) {
		image[i] = (float)(i % 17) / 16.0f;
	}
	CHECK(tirc_graph_run(g) == TIRC_GRAPH_UNSET);
	CHECK(strstr(tirc_graph_message(g), "image") != NULL);
	CHECK(tirc_graph_set_input(g, "picture", image, sizeof image) ==
	      TIRC_GRAPH_UNKNOWN);
	CHECK(tirc_graph_set_input(g, "image", (char *)image + 1, 256) ==
	      TIRC_GRAPH_MISALIGNED);
	CHECK(tirc_graph_set_input(g, "image", image, 255) == TIRC_GRAPH_OK);
	CHECK(tirc_graph_run(g) == TIRC_GRAPH_BAD_SIZE);
	CHECK(tirc_graph_set_input(g, "image", image, sizeof image) ==
	      TIRC_GRAPH_OK);
	CHECK(tirc_graph_get_output(g, "prob", prob, sizeof prob) ==
	      TIRC_GRAPH_NOT_THERE);
	CHECK(tirc_graph_run(g) == TIRC_GRAPH_OK);
	CHECK(tirc_graph_get_output(g, "prob", prob, 4) == TIRC_GRAPH_BAD_SIZE);
	CHECK(tirc_graph_get_output(g, "prob", prob, sizeof prob) ==
	      TIRC_GRAPH_OK);

	/* By parts, each node seen once. */
	CHECK(tirc_graph_node_count(g) == digits_kernels.n);
	CHECK(tirc_graph_watch(g, count, &done) == TIRC_GRAPH_OK);
	CHECK(tirc_graph_restart(g) == TIRC_GRAPH_OK);
	CHECK(tirc_graph_tensor(g, "relu1", &t) == TIRC_GRAPH_OK);
	CHECK(t.data == NULL && t.ndim == 4 && t.shape[1] == 16 &&
	      t.bytes == sizeof relu1 && strcmp(t.node, "conv1") == 0);
	CHECK(tirc_graph_run_to(g, "conv1") == TIRC_GRAPH_OK && done == 1);
	CHECK(tirc_graph_run_to(g, "conv1") == TIRC_GRAPH_OK && done == 1);
	CHECK(tirc_graph_copy(g, "relu1", relu1, sizeof relu1) ==
	      TIRC_GRAPH_OK);
	CHECK(tirc_graph_copy(g, "pool1", relu1, 1024) == TIRC_GRAPH_NOT_THERE);
	CHECK(tirc_graph_copy(g, "relu17", relu1, 1024) == TIRC_GRAPH_UNKNOWN);
	CHECK(tirc_graph_run_to(g, "nothing") == TIRC_GRAPH_UNKNOWN);
	CHECK(tirc_graph_continue(g) == TIRC_GRAPH_OK);
	CHECK(done == digits_kernels.n);
	CHECK(tirc_graph_copy(g, "relu1", relu1, sizeof relu1) ==
	      TIRC_GRAPH_NOT_THERE);
	CHECK(tirc_graph_get_output(g, "prob", again, sizeof again) ==
		      TIRC_GRAPH_OK &&
	      memcmp(prob, again, sizeof prob) == 0);
	CHECK(tirc_graph_watch(g, NULL, NULL) == TIRC_GRAPH_OK);

	/* Into the caller's memory. */
	CHECK(tirc_graph_set_output(g, "prob", mine, 8) == TIRC_GRAPH_OK);
	CHECK(tirc_graph_run(g) == TIRC_GRAPH_BAD_SIZE);
	CHECK(tirc_graph_set_output(g, "prob", mine, sizeof mine) ==
	      TIRC_GRAPH_OK);
	CHECK(tirc_graph_run(g) == TIRC_GRAPH_OK &&
	      memcmp(prob, mine, sizeof prob) == 0);
	CHECK(tirc_graph_set_output(g, "prob", NULL, 0) == TIRC_GRAPH_OK);
	CHECK(tirc_graph_output_at(g, 0, &name, &t) == TIRC_GRAPH_OK &&
	      strcmp(name, "prob") == 0 && t.bytes == sizeof prob);
	CHECK(tirc_graph_output_at(g, 1, &name, &t) == TIRC_GRAPH_UNKNOWN);
	CHECK(tirc_graph_input_count(g) == 1);

	/* Another function, and the kernel's again. */
	CHECK(tirc_graph_get_kernel(g, "fc_gemm", &fc_gemm) == TIRC_GRAPH_OK);
	CHECK(tirc_graph_set_kernel(g, "fc", twice, NULL) ==
	      TIRC_GRAPH_UNKNOWN);
	CHECK(tirc_graph_run_to(g, "fc_gemm") == TIRC_GRAPH_OK);
	CHECK(tirc_graph_copy(g, "fc", fc, sizeof fc) == TIRC_GRAPH_OK);
	CHECK(tirc_graph_set_kernel(g, "fc_gemm", twice, &fc_gemm) ==
	      TIRC_GRAPH_OK);
	CHECK(tirc_graph_restart(g) == TIRC_GRAPH_OK);
	CHECK(tirc_graph_run_to(g, "fc_gemm") == TIRC_GRAPH_OK);
	CHECK(tirc_graph_copy(g, "fc", fc_twice, sizeof fc) == TIRC_GRAPH_OK);
	for (int i = 0; i < 10; ++i) {
		CHECK(fc_twice[i] == 2.0f * fc[i] && fc[i] != 0.0f);
	}
	CHECK(tirc_graph_set_kernel(g, "fc_gemm", NULL, NULL) == TIRC_GRAPH_OK);
	CHECK(tirc_graph_run(g) == TIRC_GRAPH_OK);
	CHECK(tirc_graph_get_output(g, "prob", again, sizeof again) ==
		      TIRC_GRAPH_OK &&
	      memcmp(prob, again, sizeof prob) == 0);
	CHECK(tirc_graph_set_size(g, "batch", 1) == TIRC_GRAPH_UNKNOWN);
	CHECK(tirc_graph_run(NULL) == TIRC_GRAPH_NULL);
}

/* With the wrong kernels, weights and memory. */
static void
misuse(const char *path)
{
	struct tirc_graph_config right = config;
	struct tirc_kernels other = digits_kernels;
	unsigned char *flipped = aligned_alloc(64, (right.params_bytes / 64 +
						    1) * 64);

	other.version = "another";
	config.kernels = &other;
	CHECK(try(path) == TIRC_GRAPH_BAD_KERNELS);
	other.version = digits_kernels.version;
	other.n--;
	CHECK(try(path) == TIRC_GRAPH_BAD_KERNELS);
	config = right;
	memcpy(flipped, right.params, right.params_bytes);
	flipped[right.params_bytes - 1] ^= 1;
	config.params = flipped;
	CHECK(try(path) == TIRC_GRAPH_BAD_PARAMS);
	config.trust_params = 1;
	CHECK(try(path) == TIRC_GRAPH_OK);
	config.params_bytes--;
	CHECK(try(path) == TIRC_GRAPH_BAD_PARAMS);
	config = right;
	config.params = NULL;
	CHECK(try(path) == TIRC_GRAPH_NULL);
	config = right;
	config.workspace = flipped;
	config.workspace_bytes = 64;
	CHECK(try(path) == TIRC_GRAPH_SMALL_WORKSPACE);
	config.workspace = flipped + 4;
	config.workspace_bytes = 100000;
	CHECK(try(path) == TIRC_GRAPH_MISALIGNED);
	config = right;
	free(flipped);
}

int
main(int argc, char **argv)
{
	struct bytes params = read_file(argv[1]), json = read_file(argv[2]);
	struct tirc_graph *g;

	config.kernels = &digits_kernels;
	config.params = params.data;
	config.params_bytes = params.n;
	config.message = message;
	config.message_bytes = sizeof message;
	config.json = (const char *)json.data;
	config.json_bytes = json.n;
	if (tirc_graph_create(&g, &config) != TIRC_GRAPH_OK) {
		printf("%s\n", message);
		return 1;
	}
	use(g);
	tirc_graph_destroy(g);
	misuse(argv[2]);
	for (int i = 3; i < argc; ++i) {
		char *equals = strrchr(argv[i], '=');
		int status;

		*equals = '\0';
		status = (int)try(argv[i]);
		if (status != atoi(equals + 1)) {
			printf("%s: status %d (%s), not %s\n", argv[i], status,
			       message, equals + 1);
			failures++;
		}
	}
	free(params.data);
	free(json.data);
	return failures > 0;
}
