/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a model, all the way to the text of its kernels: a refusal has
 * a message, and nothing is a bug of ours. */
#define _GNU_SOURCE

#include "fuzz_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_compile_bytes(data, size);
	return 0;
}
