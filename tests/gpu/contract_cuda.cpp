/* SPDX-License-Identifier: Apache-2.0 */
/* The contract of a model in CUDA: mistakes come back as codes, a failure of
 * the device is remembered and has a text, run neither waits nor allocates. */
#include "cuda_on_cpu.h"

#define cudaMalloc forbidden_malloc
#define cudaStreamSynchronize forbidden_wait
static int waits;

static inline cudaError_t
forbidden_wait(cudaStream_t)
{
	waits++;
	return cudaSuccess;
}

#include "digits.cu"

#undef cudaMalloc
#undef cudaStreamSynchronize

#define CHECK(what) check(what, #what, __LINE__)

static void
check(bool ok, const char *what, int line)
{
	if (!ok) {
		printf("line %d: %s\n", line, what);
		exit(1);
	}
}

static void *
memory(size_t bytes)
{
	void *p;

	CHECK(cudaMalloc(&p, bytes) == cudaSuccess);
	return p;
}

int
main()
{
	static float image[DIGITS_IMAGE_COUNT], want[DIGITS_PROB_COUNT];
	static float got[DIGITS_PROB_COUNT];
	struct digits a;
	struct digits_config c = {};
	struct digits_inputs in = {};
	struct digits_outputs out = {};

	memset((void *)&a, 0xa5, sizeof a);
	CHECK(digits_run_host(&a, &in, &out) == DIGITS_NOT_READY);
	CHECK(digits_init(NULL, &c) == DIGITS_NULL);
	CHECK(digits_init(&a, &c) == DIGITS_NULL);
	c.workspace = memory(DIGITS_WORKSPACE_BYTES);
	c.device_weights = memory(DIGITS_WEIGHTS_BYTES);
	c.device_weights_bytes = DIGITS_WEIGHTS_BYTES;
	CHECK(digits_init(&a, &c) == DIGITS_SMALL);
	c.workspace_bytes = DIGITS_WORKSPACE_BYTES;
	c.workspace = (char *)c.workspace + 4;
	CHECK(digits_init(&a, &c) == DIGITS_MISALIGNED);
	c.workspace = (char *)c.workspace - 4;
	CHECK(digits_init(&a, &c) == DIGITS_OK);
	CHECK(digits_run(&a, &in, &out) == DIGITS_NULL);
	in.image = image;
	out.prob = want;
	CHECK(digits_run_host(&a, &in, &out) == DIGITS_NULL); /* no staging */
	CHECK(digits_run(&a, &in, &out) == DIGITS_OK && waits == 0);
	c.staging = memory(DIGITS_STAGING_BYTES);
	CHECK(digits_init(&a, &c) == DIGITS_OK);
	memset(c.workspace, 0xff, DIGITS_WORKSPACE_BYTES);
	out.prob = got;
	CHECK(digits_run_host(&a, &in, &out) == DIGITS_OK && waits == 1);
	CHECK(memcmp(got, want, sizeof want) == 0);

	/* The first failure stays, and nothing is launched after it. */
	a.error = cudaErrorInvalidConfiguration;
	memset(got, 0xff, sizeof got);
	CHECK(digits_run(&a, &in, &out) == DIGITS_DEVICE);
	CHECK(((unsigned char *)got)[0] == 0xff);
	CHECK(strstr(digits_error(&a), "configuration") != NULL);
	digits_fini(&a);
	CHECK(digits_run(&a, &in, &out) == DIGITS_NOT_READY);
	CHECK(digits_run_host(&a, &in, &out) == DIGITS_NOT_READY);
	digits_fini(NULL);
	printf("ok\n");
	return 0;
}
