/* SPDX-License-Identifier: Apache-2.0 */
/* The contract of a model on an OpenCL device: digits on its own image. Mistakes
 * come back as codes; what the device built can be given to the next init; two
 * instances share nothing. Exit status 77: there is no device. */
#include "digits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cl_context context;
static cl_command_queue queue;
static float image[DIGITS_IMAGE_COUNT], want[DIGITS_PROB_COUNT];

#define CHECK(what) check(what, #what, __LINE__)

static void
check(int ok, const char *what, int line)
{
	if (!ok) {
		printf("line %d: %s\n", line, what);
		exit(1);
	}
}

static cl_mem
memory(size_t bytes)
{
	cl_int status;
	cl_mem m = clCreateBuffer(context, CL_MEM_READ_WRITE,
				  bytes > 0 ? bytes : 1, NULL, &status);

	CHECK(status == CL_SUCCESS);
	return m;
}

static void
run(struct digits *m, float prob[DIGITS_PROB_COUNT])
{
	const struct digits_host_inputs in = { image };
	const struct digits_host_outputs out = { prob };

	memset(prob, 0xff, sizeof want);
	CHECK(digits_run_host(m, &in, &out) == DIGITS_OK);
}

int
main(void)
{
	static unsigned char binary[1 << 22];
	static char log[4096];
	struct digits a, b;
	struct digits_config c = { 0 };
	struct digits_inputs none = { 0 };
	struct digits_outputs nothing = { 0 };
	cl_platform_id platform;
	cl_device_id device;
	cl_uint found = 0;
	cl_int status;
	float got[DIGITS_PROB_COUNT];
	size_t n;

	if (clGetPlatformIDs(1, &platform, &found) != CL_SUCCESS ||
	    found == 0 ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, &found) !=
		    CL_SUCCESS) {
		printf("skipped: there is no OpenCL device\n");
		return 77;
	}
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
	CHECK(status == CL_SUCCESS);
	queue = clCreateCommandQueue(context, device, 0, &status);
	CHECK(status == CL_SUCCESS);
	for (size_t i = 0; i < DIGITS_IMAGE_COUNT; i++) {
		image[i] = (float)(i * 37 % 101) / 101.0f;
	}

	/* mistakes */
	CHECK(digits_init(NULL, &c) == DIGITS_NULL);
	CHECK(digits_init(&a, NULL) == DIGITS_NULL);
	CHECK(digits_init(&a, &c) == DIGITS_NULL);
	c.queue = queue;
	c.device_weights = memory(DIGITS_WEIGHTS_BYTES);
	c.staging = memory(DIGITS_STAGING_BYTES);
	c.workspace = memory(DIGITS_WORKSPACE_BYTES - 1);
	CHECK(digits_init(&a, &c) == DIGITS_SMALL);
	digits_fini(&a);
	clReleaseMemObject(c.workspace);
	c.workspace = memory(DIGITS_WORKSPACE_BYTES);
	CHECK(digits_init(&a, &c) == DIGITS_OK);
	CHECK(digits_run(&a, NULL, &nothing) == DIGITS_NULL);
	CHECK(digits_run(&a, &none, &nothing) == DIGITS_NULL);
	CHECK(digits_run_host(&a, NULL, NULL) == DIGITS_NULL);
	run(&a, want);

	/* the workspace's content means nothing */
	CHECK(clEnqueueFillBuffer(queue, c.workspace, "\xff", 1, 0,
				  DIGITS_WORKSPACE_BYTES, 0, NULL,
				  NULL) == CL_SUCCESS);
	run(&a, got);
	CHECK(memcmp(got, want, sizeof want) == 0);

	/* another instance, from what the device has built */
	n = digits_binary(&a, NULL, 0);
	CHECK(n > 0 && n <= sizeof binary);
	CHECK(digits_binary(&a, binary, sizeof binary) == n);
	c.binary = binary;
	c.binary_bytes = n;
	c.workspace = memory(DIGITS_WORKSPACE_BYTES);
	c.device_weights = memory(DIGITS_WEIGHTS_BYTES);
	c.staging = NULL;
	CHECK(digits_init(&b, &c) == DIGITS_OK);
	CHECK(digits_run_host(&b, &(struct digits_host_inputs){ image },
			      &(struct digits_host_outputs){ got }) ==
	      DIGITS_NULL);
	digits_fini(&b);
	c.staging = memory(DIGITS_STAGING_BYTES);
	CHECK(digits_init(&b, &c) == DIGITS_OK);
	run(&b, got);
	CHECK(memcmp(got, want, sizeof want) == 0);
	run(&a, got);
	CHECK(memcmp(got, want, sizeof want) == 0);
	digits_fini(&b);
	digits_fini(&b); /* once more does nothing */
	CHECK(digits_run_host(&b, &(struct digits_host_inputs){ image },
			      &(struct digits_host_outputs){ got }) ==
	      DIGITS_NOT_READY);

	/* not a program */
	memset(binary, 0, sizeof binary);
	CHECK(digits_init(&b, &c) == DIGITS_DEVICE);
	CHECK(digits_error(&b, log, sizeof log) != CL_SUCCESS);
	digits_fini(&b);
	digits_fini(&a);
	printf("ok\n");
	return 0;
}
