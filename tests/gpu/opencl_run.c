/* SPDX-License-Identifier: Apache-2.0 */
/* opencl_run FOLDER: runs the launches of FOLDER/plan (see gpu_cases.c) on
 * the first OpenCL device and compares; or, with a line "output 2 NAME", writes
 * what parameter 2 holds to NAME, behind what other such lines have. Exit
 * status 77: there is no device. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 128 };

struct parameter {
	cl_mem buffer; /* NULL: a scalar */
	int bytes_each; /* of a float, a half, or a byte that is to be the same */
	size_t bytes;
	cl_int scalar;
};

/* The parameters of all launches, in the order of the plan. */
struct parameters {
	struct parameter *data;
	int n, capacity;
};

static void
check(cl_int status, const char *what)
{
	if (status != CL_SUCCESS) {
		printf("%s: OpenCL error %d\n", what, (int)status);
		exit(1);
	}
}

static char *
read_file(const char *folder, const char *name, size_t *n)
{
	char path[1024];
	FILE *file;
	char *bytes;
	long size;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	file = fopen(path, "rb");
	if (file == NULL || fseek(file, 0, SEEK_END) != 0 ||
	    (size = ftell(file)) < 0 || fseek(file, 0, SEEK_SET) != 0) {
		return NULL;
	}
	bytes = calloc(1, (size_t)size + 1);
	*n = bytes != NULL ? fread(bytes, 1, (size_t)size, file) : 0;
	fclose(file);
	return bytes;
}

static struct parameter *
add_parameter(struct parameters *all)
{
	if (all->n == all->capacity) {
		all->capacity = 2 * all->capacity + 64;
		all->data = realloc(all->data,
				    (size_t)all->capacity * sizeof *all->data);
		if (all->data == NULL) {
			printf("no memory for %d parameters\n", all->capacity);
			exit(1);
		}
	}
	all->data[all->n] = (struct parameter){ .buffer = NULL };
	return &all->data[all->n++];
}

static cl_program
build(cl_context context, cl_device_id device, const char *folder,
      const char *name)
{
	static char log[65536];
	size_t n = 0;
	const char *text = read_file(folder, name, &n);
	cl_program program;
	cl_int status;

	if (text == NULL) {
		printf("cannot read %s\n", name);
		exit(1);
	}
	program = clCreateProgramWithSource(context, 1, &text, &n, &status);
	check(status, "clCreateProgramWithSource");
	status = clBuildProgram(program, 1, &device, "-cl-std=CL1.2", NULL,
				NULL);
	if (status != CL_SUCCESS) {
		clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG,
				      sizeof log - 1, log, NULL);
		printf("%s\n", log);
		check(status, "clBuildProgram");
	}
	return program;
}

static void
launch(cl_command_queue queue, cl_program program,
       const struct parameter *params, const char *line)
{
	char name[WORD];
	size_t grid[3], block[3], global[3];
	unsigned long v[6];
	int at = 0, used, arg, i = 0;
	cl_kernel kernel;
	cl_int status;

	if (sscanf(line, "launch %127s %lu %lu %lu %lu %lu %lu%n", name, &v[0],
		   &v[1], &v[2], &v[3], &v[4], &v[5], &at) != 7) {
		printf("bad plan: %s\n", line);
		exit(1);
	}
	for (int d = 0; d < 3; d++) {
		grid[d] = v[d];
		block[d] = v[3 + d];
		global[d] = grid[d] * block[d];
	}
	kernel = clCreateKernel(program, name, &status);
	check(status, name);
	for (line += at; sscanf(line, "%d%n", &arg, &used) == 1; line += used) {
		const struct parameter *p = &params[arg];

		check(p->buffer != NULL
			      ? clSetKernelArg(kernel, (cl_uint)i,
					       sizeof p->buffer, &p->buffer)
			      : clSetKernelArg(kernel, (cl_uint)i,
					       sizeof p->scalar, &p->scalar),
		      "clSetKernelArg");
		i++;
	}
	check(clEnqueueNDRangeKernel(queue, kernel, 3, NULL, global, block, 0,
				     NULL, NULL),
	      "clEnqueueNDRangeKernel");
	check(clFinish(queue), "clFinish");
	clReleaseKernel(kernel);
}

/* A float, by its bits a half, or a byte. */
static double
number_at(const struct parameter *p, const char *bytes, size_t i)
{
	unsigned short h;
	float f;
	int e;
	double x;

	if (p->bytes_each == 1) {
		return (unsigned char)bytes[i];
	}
	if (p->bytes_each == 4) {
		memcpy(&f, bytes + 4 * i, sizeof f);
		return (double)f;
	}
	memcpy(&h, bytes + 2 * i, sizeof h);
	e = h >> 10 & 31;
	x = e == 31  ? (h & 1023) != 0 ? (double)NAN : (double)INFINITY
	    : e == 0 ? ldexp(h & 1023, -24)
		     : ldexp((h & 1023) + 1024, e - 25);
	return (h & 0x8000) != 0 ? -x : x;
}

static int
differs(const char *folder, cl_command_queue queue, const struct parameter *p,
	int index)
{
	char name[WORD];
	size_t n = 0;
	char *want, *got;

	snprintf(name, sizeof name, "%d.want", index);
	want = read_file(folder, name, &n);
	if (want == NULL || p->buffer == NULL) {
		return 0;
	}
	got = malloc(p->bytes);
	check(clEnqueueReadBuffer(queue, p->buffer, CL_TRUE, 0, p->bytes, got,
				  0, NULL, NULL),
	      "clEnqueueReadBuffer");
	for (size_t i = 0; i < p->bytes / (size_t)p->bytes_each; i++) {
		double a = number_at(p, got, i), b = number_at(p, want, i);

		if (!(fabs(a - b) <=
		      (p->bytes_each == 2 ? 1e-3 : 1e-5) * fabs(b) + 1e-6)) {
			printf("parameter %d, element %zu: %g, not %g\n", index,
			       i, a, b);
			return 1;
		}
	}
	free(got);
	free(want);
	return 0;
}

/* Behind what is there already. */
static void
write_output(const char *folder, cl_command_queue queue,
	     const struct parameter *p, const char *name)
{
	static FILE *file;
	char path[1024];
	char *got = malloc(p->bytes);

	snprintf(path, sizeof path, "%s/%s", folder, name);
	if (file == NULL) {
		file = fopen(path, "wb");
	}
	check(clEnqueueReadBuffer(queue, p->buffer, CL_TRUE, 0, p->bytes, got,
				  0, NULL, NULL),
	      "clEnqueueReadBuffer");
	if (file == NULL || fwrite(got, 1, p->bytes, file) != p->bytes ||
	    fflush(file) != 0) {
		printf("cannot write %s\n", path);
		exit(1);
	}
	free(got);
}

int
main(int argc, char **argv)
{
	static char source[WORD], kind[WORD], name[WORD];
	struct parameters params = { NULL, 0, 0 };
	cl_platform_id platform;
	cl_device_id device;
	cl_command_queue queue;
	cl_program program = NULL;
	cl_context context;
	cl_uint found = 0;
	cl_int status;
	size_t n = 0;
	int failed = 0, launches = 0, which;
	char *plan = argc > 1 ? read_file(argv[1], "plan", &n) : NULL;

	if (plan == NULL) {
		printf("usage: opencl_run FOLDER\n");
		return 1;
	}
	if (clGetPlatformIDs(1, &platform, &found) != CL_SUCCESS ||
	    found == 0 ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, &found) !=
		    CL_SUCCESS ||
	    found == 0) {
		printf("skipped: there is no OpenCL device\n");
		return 77;
	}
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
	check(status, "clCreateContext");
	queue = clCreateCommandQueue(context, device, 0, &status);
	check(status, "clCreateCommandQueue");
	for (char *line = strtok(plan, "\n"); line != NULL;
	     line = strtok(NULL, "\n")) {
		unsigned long v;
		long scalar;

		if (sscanf(line, "source %127s", source) == 1) {
			program = build(context, device, argv[1], source);
		} else if (sscanf(line, "buffer %127s %lu", kind, &v) == 2) {
			struct parameter *p = add_parameter(&params);
			char *bytes;

			snprintf(name, sizeof name, "%d.in", params.n - 1);
			bytes = read_file(argv[1], name, &n);
			p->bytes = v;
			p->bytes_each = strcmp(kind, "float16") == 0   ? 2
					: strcmp(kind, "float32") == 0 ? 4
								       : 1;
			p->buffer = clCreateBuffer(context,
						   CL_MEM_READ_WRITE |
							   CL_MEM_COPY_HOST_PTR,
						   v, bytes, &status);
			check(status, "clCreateBuffer");
		} else if (sscanf(line, "scalar %ld", &scalar) == 1) {
			add_parameter(&params)->scalar = (cl_int)scalar;
		} else if (sscanf(line, "output %d %127s", &which, name) == 2) {
			write_output(argv[1], queue, &params.data[which], name);
		} else if (strncmp(line, "launch ", 7) == 0) {
			launch(queue, program, params.data, line);
			launches++;
		}
	}
	for (int i = 0; i < params.n; i++) {
		failed |= differs(argv[1], queue, &params.data[i], i);
	}
	printf("%d launches on OpenCL: %s\n", launches,
	       failed ? "different" : "the same");
	return failed || launches == 0;
}
