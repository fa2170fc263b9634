/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a partition's file with a target and weights, all the way to the
 * text of its kernels. */
#define _GNU_SOURCE

#include <stdint.h>

#include "fuzz_folder.h"
#include "fuzz_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct tirc_options options = { 0 };
	static const unsigned char weights[256] = { 1, 2, 3 };
	char path[128];

	fuzz_write("fuzz/p.json", data, size);
	fuzz_write("fuzz/p.weights", weights, sizeof weights);
	snprintf(path, sizeof path, "%s/fuzz/p.json", fuzz_folder());
	if (tirc_is_partition(path)) {
		fuzz_compile(&options, path);
	}
	return 0;
}
