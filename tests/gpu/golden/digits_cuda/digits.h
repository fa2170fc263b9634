/* digits: from digits.onnx (sha256 22c6eef0eb10d53d...), tirc 0.1.0, target cuda
 * SPDX-License-Identifier: MIT-0
 *
 * input   image  f32 [1][1][8][8]
 * output  prob   f32 [1][10]
 * memory of the device: workspace 5120 bytes (bound 5120), weights
 * 29960 bytes of digits_weights.bin; of a thread: 16 bytes of local arrays
 */
#ifndef DIGITS_H
#define DIGITS_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DIGITS_WORKSPACE_BYTES 5120u
#define DIGITS_WORKSPACE_ALIGN 256u
#define DIGITS_TIRC_VERSION "0.1.0"
#define DIGITS_MODEL_DIGEST "22c6eef0eb10d53d"
#define DIGITS_WEIGHTS_BYTES 30760u
#define DIGITS_WEIGHTS_ALIGN 256u
#define DIGITS_STAGING_BYTES 512u
#define DIGITS_IMAGE_DIMS { 1, 1, 8, 8 }
#define DIGITS_IMAGE_COUNT 64u
#define DIGITS_IMAGE_BYTES 256u
#define DIGITS_PROB_DIMS { 1, 10 }
#define DIGITS_PROB_COUNT 10u
#define DIGITS_PROB_BYTES 40u

enum digits_status {
	DIGITS_OK = 0,
	DIGITS_NULL,       /* a required pointer is null */
	DIGITS_NOT_READY,  /* run before init, or after fini */
	DIGITS_SMALL,      /* memory of fewer bytes than needed */
	DIGITS_MISALIGNED, /* a pointer is not aligned for its type */
	DIGITS_BAD_SIZE,   /* never: all sizes are fixed */
	DIGITS_BAD_WEIGHTS, /* other values, length or byte order */
	DIGITS_DEVICE      /* a call of CUDA failed: see digits_error */
};

struct digits_config {
	cudaStream_t stream; /* that everything goes to; 0: the default one */
	/* Memory of the device, the caller's. The workspace's content means
	 * nothing between runs; the weights are copied once, by init. */
	void *workspace;
	size_t workspace_bytes;
	void *device_weights;
	size_t device_weights_bytes;
	const void *weights; /* the bytes of digits_weights.bin, of the host */
	size_t weights_bytes;
	/* DIGITS_STAGING_BYTES of the device for digits_run_host, or null. */
	void *staging;
};

struct digits { /* the caller's; no member is for others */
	const char *ready; /* init sets it, fini clears it */
	cudaStream_t stream;
	cudaError_t error;
	void *workspace;
	void *weights;
	void *staging;
};

/* Memory of the device for digits_run, of the host for digits_run_host. */
struct digits_inputs {
	const float *image;
};

struct digits_outputs {
	float *prob; /* must not overlap the input */
};

/* Objects made for another version of this header do not link with it. */
#define digits_init digits_init_43499b09

enum digits_status digits_init(struct digits *m,
			       const struct digits_config *config);
/* Launches all kernels and returns: neither waits nor allocates, so that a
 * stream can capture it. */
enum digits_status digits_run(struct digits *m, const struct digits_inputs *in,
			      const struct digits_outputs *out);
/* The same for arrays of the host: copies them there and back, and waits. */
enum digits_status digits_run_host(struct digits *m,
				   const struct digits_inputs *in,
				   const struct digits_outputs *out);
/* What the device said, if the status was DIGITS_DEVICE. */
const char *digits_error(const struct digits *m);
void digits_fini(struct digits *m);

#ifdef __cplusplus
}
#endif

#endif
