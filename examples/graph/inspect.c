/* SPDX-License-Identifier: MIT-0 */
/* The digit classifier as a graph: looks at every tensor that its kernels
 * write, then puts another function in the place of a pooling.
 *
 *   inspect DIGITS_graph.json DIGITS.params LIBRARY SAMPLE.bin
 *
 * SAMPLE.bin: 64 floats. The library has the kernels; see README.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tirc_graph.h"
#include "tirc_graph_library.h"

#define ALIGN 64

static void *
read_file(const char *path, size_t *bytes)
{
	FILE *f = fopen(path, "rb");
	unsigned char *p = NULL;
	long end = -1;

	if (f != NULL && fseek(f, 0, SEEK_END) == 0) {
		end = ftell(f);
	}
	if (end >= 0 && fseek(f, 0, SEEK_SET) == 0) {
		*bytes = (size_t)end;
		p = aligned_alloc(ALIGN, (*bytes / ALIGN + 1) * ALIGN);
	}
	if (p == NULL || fread(p, 1, *bytes, f) != *bytes) {
		fprintf(stderr, "cannot read %s\n", path);
		exit(2);
	}
	fclose(f);
	return p;
}

static void
check(const struct tirc_graph *g, enum tirc_graph_status status)
{
	if (status != TIRC_GRAPH_OK) {
		fprintf(stderr, "%s\n", tirc_graph_message(g));
		exit(1);
	}
}

/* What a node has just written: shape, least and largest number. */
static void
show(void *arg, struct tirc_graph *g, const char *node)
{
	(void)arg;
	for (size_t i = 0; i < tirc_graph_tensor_count(g); ++i) {
		struct tirc_graph_tensor t;
		float *x, least, most;

		check(g, tirc_graph_tensor_at(g, i, &t));
		if (t.node == NULL || strcmp(t.node, node) != 0) {
			continue;
		}
		x = malloc(t.bytes);
		if (x == NULL) {
			exit(2);
		}
		check(g, tirc_graph_copy(g, t.name, x, t.bytes));
		least = most = x[0];
		for (size_t k = 1; k < t.bytes / sizeof *x; ++k) {
			least = x[k] < least ? x[k] : least;
			most = x[k] > most ? x[k] : most;
		}
		printf("%-8s %-6s [", node, t.name);
		for (size_t d = 0; d < t.ndim; ++d) {
			printf("%s%ld", d > 0 ? ", " : "", (long)t.shape[d]);
		}
		printf("]  %.4f to %.4f\n", (double)least, (double)most);
		free(x);
	}
}

/* In place of pool1, which takes the largest of 2x2: their mean. Its arrays
 * are those of the kernel: x [16][8][8], y [16][4][4]. */
static void
mean_pool(void *const *args, const int64_t *sizes, const void *context)
{
	const float(*x)[8][8] = args[0];
	float(*y)[4][4] = args[1];

	(void)sizes;
	(void)context;
	for (int c = 0; c < 16; ++c) {
		for (int h = 0; h < 4; ++h) {
			for (int w = 0; w < 4; ++w) {
				y[c][h][w] = 0.25f *
					     (x[c][2 * h][2 * w] +
					      x[c][2 * h][2 * w + 1] +
					      x[c][2 * h + 1][2 * w] +
					      x[c][2 * h + 1][2 * w + 1]);
			}
		}
	}
}

static void
print_best(struct tirc_graph *g)
{
	float prob[10];
	int best = 0;

	check(g, tirc_graph_get_output(g, "prob", prob, sizeof prob));
	for (int i = 1; i < 10; ++i) {
		best = prob[i] > prob[best] ? i : best;
	}
	printf("a %d, with %.4f\n", best, (double)prob[best]);
}

int
main(int argc, char **argv)
{
	struct tirc_graph_config config;
	struct tirc_graph *g;
	struct tirc_graph_tensor relu1;
	char message[256] = "";
	void *library, *json, *params, *image;
	size_t image_bytes;

	if (argc != 5) {
		fprintf(stderr, "usage: %s GRAPH PARAMS LIBRARY SAMPLE\n",
			argv[0]);
		return 2;
	}
	memset(&config, 0, sizeof config);
	config.json = json = read_file(argv[1], &config.json_bytes);
	config.params = params = read_file(argv[2], &config.params_bytes);
	config.kernels = tirc_graph_library(argv[3], "digits_kernels",
					    &library);
	config.message = message;
	config.message_bytes = sizeof message;
	image = read_file(argv[4], &image_bytes);
	if (tirc_graph_create(&g, &config) != TIRC_GRAPH_OK) {
		fprintf(stderr, "%s\n", message);
		return 1;
	}
	check(g, tirc_graph_set_input(g, "image", image, image_bytes));

	/* All of them, while the run passes. */
	check(g, tirc_graph_watch(g, show, NULL));
	check(g, tirc_graph_run(g));
	check(g, tirc_graph_watch(g, NULL, NULL));
	print_best(g);

	/* One of them: the run stops where it is there. */
	check(g, tirc_graph_run_to(g, "conv1"));
	check(g, tirc_graph_tensor(g, "relu1", &relu1));
	printf("relu1 is %s\n", relu1.data != NULL ? "there" : "gone");
	check(g, tirc_graph_continue(g));
	check(g, tirc_graph_tensor(g, "relu1", &relu1));
	printf("relu1 is %s\n", relu1.data != NULL ? "there" : "gone");

	/* The other pooling; then the library's again. */
	check(g, tirc_graph_set_kernel(g, "pool1", mean_pool, NULL));
	check(g, tirc_graph_run(g));
	print_best(g);
	check(g, tirc_graph_set_kernel(g, "pool1", NULL, NULL));
	check(g, tirc_graph_run(g));
	print_best(g);

	tirc_graph_destroy(g);
	dlclose(library);
	free(json);
	free(params);
	free(image);
	return 0;
}
