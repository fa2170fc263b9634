/* SPDX-License-Identifier: Apache-2.0 */
/* A model through all of tirc, to the text of its kernels: a refusal has a
 * message. */
#ifndef TIRC_FUZZ_MODEL_H
#define TIRC_FUZZ_MODEL_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tirc.h"

/* A step was refused: there must be a message. */
static inline void
fuzz_said(struct tirc *t)
{
	bool told = false;

	for (int i = 0; i < tirc_message_count(t); ++i) {
		told = told || tirc_message(t, i).severity == TIRC_ERROR;
	}
	if (!told) {
		abort();
	}
}

static inline void
fuzz_compile(const struct tirc_options *options, const char *path)
{
	struct tirc *t = tirc_new(options);

	if (!tirc_load(t, path) || !tirc_compile(t)) {
		fuzz_said(t);
	}
	tirc_free(t);
}

/* The same for the bytes of an ONNX file. */
static inline void
fuzz_compile_bytes(const uint8_t *data, size_t size)
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
}

#endif
