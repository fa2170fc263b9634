/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a model, all the way to the text of its kernels: a refusal has
 * a message, and nothing is a bug of ours. */
#define _GNU_SOURCE

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tirc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tirc_options options = { 0 };
	struct tirc *t;
	char path[64];
	int fd = memfd_create("fuzz.onnx", 0);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
		abort();
	}
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	t = tirc_new(&options);
	if (!tirc_load(t, path) || !tirc_compile(t)) {
		bool told = false;

		for (int i = 0; i < tirc_message_count(t); ++i) {
			told = told ||
			       tirc_message(t, i).severity == TIRC_ERROR;
		}
		if (!told) {
			abort();
		}
	}
	tirc_free(t);
	close(fd);
	return 0;
}
