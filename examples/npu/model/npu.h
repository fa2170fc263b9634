/* SPDX-License-Identifier: MIT-0 */
/* A made-up accelerator: what its programs look like, and a call that runs one.
 *
 * It has two units. The array multiplies fast and draws much power; the vector
 * unit does the same slowly with little of it, and what has no products. Each
 * command works on whole tensors of floats, dense, row by row. Tensors that
 * are neither read from outside nor written there stay in its own memory.
 *
 * npu.c is its model in C: it computes what the accelerator would, and counts
 * cycles and energy. */
#ifndef NPU_H
#define NPU_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum npu_op {
	NPU_CONV,    /* y = conv(x, w) + b; then relu, then pool */
	NPU_POOL,    /* y = max over windows of x */
	NPU_PRODUCT, /* y[rows][columns] = x[rows][inner] * w[columns][inner] */
	NPU_ADD      /* y = x + w, w repeated; then relu */
};

enum npu_unit { NPU_ARRAY, NPU_VECTOR };

enum { NPU_NONE = -1 };

struct npu_tensor {
	const float *in; /* outside, read */
	float *out;      /* outside, written */
	uint32_t elems;
};

/* Operands are indices of tensors. Dimensions: batch, channels, rows, columns;
 * of products: rows, columns, inner. */
struct npu_command {
	enum npu_op op;
	enum npu_unit unit;
	int32_t x, w, b, y;
	int32_t x_dims[4], y_dims[4]; /* y_dims: before the pool */
	int32_t kernel[2], strides[2], pads[2];
	int32_t relu;
	int32_t pool; /* a window of 2x2 in steps of 2 */
};

enum npu_status {
	NPU_OK,
	NPU_BAD_COMMAND,  /* an operand or a size that cannot be */
	NPU_OUT_OF_MEMORY /* what stays inside does not fit */
};

enum npu_status npu_run(const struct npu_command *commands, int n_commands,
			const struct npu_tensor *tensors, int n_tensors);

/* Since the program began. */
struct npu_report {
	uint64_t commands, cycles, nanojoules;
};

struct npu_report npu_report(void);

#ifdef __cplusplus
}
#endif

#endif
