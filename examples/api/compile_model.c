/* SPDX-License-Identifier: MIT-0 */
/* Compiles an ONNX model with tirc's C interface, as `tirc compile` does, and
 * prints the memory that it needs and its heaviest kernel.
 * Usage: compile_model MODEL.onnx TARGET FOLDER */
#include <stdint.h>
#include <stdio.h>

#include "tirc.h"

static void
print_messages(const struct tirc *t)
{
	for (int i = 0; i < tirc_message_count(t); i++) {
		fprintf(stderr, "%s\n", tirc_message(t, i).text);
	}
}

static void
print_memory_and_work(struct tirc *t)
{
	const struct tirc_summary s = tirc_summary(t);
	struct tirc_kernel heaviest = { 0 };

	for (int i = 0; i < tirc_kernel_count(t); i++) {
		const struct tirc_kernel k = tirc_kernel(t, i);

		if (k.macs > heaviest.macs) {
			heaviest = k;
		}
	}
	printf("%s: workspace of %lld bytes, weights of %lld bytes\n", s.name,
	       (long long)s.workspace_bytes, (long long)s.weights_bytes);
	if (heaviest.name) {
		printf("%d kernels; the heaviest: %s, %lld multiply-accumulates\n",
		       tirc_kernel_count(t), heaviest.name,
		       (long long)heaviest.macs);
	}
	for (int i = 0; i < tirc_file_count(t); i++) {
		printf("%s\n", tirc_file(t, i).name);
	}
}

int
main(int argc, char **argv)
{
	struct tirc *t;
	bool ok;

	if (argc != 4) {
		fprintf(stderr, "usage: %s MODEL.onnx TARGET FOLDER\n",
			argv[0]);
		return 2;
	}
	t = tirc_new(&(struct tirc_options){ .target = argv[2] });
	ok = tirc_load(t, argv[1]) && tirc_compile(t) && tirc_write(t, argv[3]);
	print_messages(t);
	if (ok) {
		print_memory_and_work(t);
	}
	tirc_free(t);
	return ok ? 0 : 1;
}
