/* product: from product.onnx (sha256 21f31189f2e730ec...), tirc 0.1.0, target cuda-sm80
 * SPDX-License-Identifier: MIT-0
 *
 * input   x     f16 [1024][1024]
 * input   w     f16 [1024][1024]
 * input   bias  f16 [1024]
 * output  y     f16 [1024][1024]
 * memory of the device: workspace 0 bytes (bound 0), weights
 * 0 bytes; of a thread: 11264 bytes of local arrays
 */
#ifndef PRODUCT_H
#define PRODUCT_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <cuda_fp16.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PRODUCT_WORKSPACE_BYTES 0u
#define PRODUCT_WORKSPACE_ALIGN 256u
#define PRODUCT_TIRC_VERSION "0.1.0"
#define PRODUCT_MODEL_DIGEST "21f31189f2e730ec"
#define PRODUCT_WEIGHTS_BYTES 64u
#define PRODUCT_WEIGHTS_ALIGN 256u
#define PRODUCT_STAGING_BYTES 6293504u
#define PRODUCT_X_DIMS { 1024, 1024 }
#define PRODUCT_X_COUNT 1048576u
#define PRODUCT_X_BYTES 2097152u
#define PRODUCT_W_DIMS { 1024, 1024 }
#define PRODUCT_W_COUNT 1048576u
#define PRODUCT_W_BYTES 2097152u
#define PRODUCT_BIAS_DIMS { 1024 }
#define PRODUCT_BIAS_COUNT 1024u
#define PRODUCT_BIAS_BYTES 2048u
#define PRODUCT_Y_DIMS { 1024, 1024 }
#define PRODUCT_Y_COUNT 1048576u
#define PRODUCT_Y_BYTES 2097152u

enum product_status {
	PRODUCT_OK = 0,
	PRODUCT_NULL,       /* a required pointer is null */
	PRODUCT_NOT_READY,  /* run before init, or after fini */
	PRODUCT_SMALL,      /* memory of fewer bytes than needed */
	PRODUCT_MISALIGNED, /* a pointer is not aligned for its type */
	PRODUCT_BAD_SIZE,   /* never: all sizes are fixed */
	PRODUCT_DEVICE      /* a call of CUDA failed: see product_error */
};

struct product_config {
	cudaStream_t stream; /* that everything goes to; 0: the default one */
	/* Memory of the device, the caller's. The workspace's content means
	 * nothing between runs; the weights are copied once, by init. */
	void *workspace;
	size_t workspace_bytes;
	void *device_weights;
	size_t device_weights_bytes;
	/* PRODUCT_STAGING_BYTES of the device for product_run_host, or null. */
	void *staging;
};

struct product { /* the caller's; no member is for others */
	const char *ready; /* init sets it, fini clears it */
	cudaStream_t stream;
	cudaError_t error;
	void *workspace;
	void *weights;
	void *staging;
};

/* Memory of the device for product_run, each array at a multiple of 16
 * bytes, of the host for product_run_host. */
struct product_inputs {
	const half *x;
	const half *w;
	const half *bias;
};

struct product_outputs {
	half *y; /* must not overlap the inputs */
};

/* Objects made for another version of this header do not link with it. */
#define product_init product_init_cd764ab2

enum product_status product_init(struct product *m,
				 const struct product_config *config);
/* Launches all kernels and returns: neither waits nor allocates, so that a
 * stream can capture it. */
enum product_status product_run(struct product *m,
				const struct product_inputs *in,
				const struct product_outputs *out);
/* The same for arrays of the host: copies them there and back, and waits. */
enum product_status product_run_host(struct product *m,
				     const struct product_inputs *in,
				     const struct product_outputs *out);
/* What the device said, if the status was PRODUCT_DEVICE. */
const char *product_error(const struct product *m);
void product_fini(struct product *m);

#ifdef __cplusplus
}
#endif

#endif
