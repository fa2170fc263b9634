/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a model, all the way to the text of its kernels: a refusal has
 * a message, and nothing is a bug of ours. */
#define _GNU_SOURCE

#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tirc_options options = { 0 };
	char path[64];
	int fd = memfd_create("fuzz.onnx", 0);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
		abort();
	}
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	fuzz_compile(&options, path);
	close(fd);
	return 0;
}
