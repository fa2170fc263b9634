/* digits: from digits.onnx (sha256 22c6eef0eb10d53d...), tirc 0.1.0, target cuda
 * SPDX-License-Identifier: MIT-0
 *
 * meant for   -O3
 */
#include "digits.h"

#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Where each array starts in the weights file, in bytes. */
enum {
	/* "conv1.weight"; element [oc][ic][kh][kw] at [kh][kw][oc];
	 * digest 8e827d670eacc3b6 */
	at_conv1_w = 256,
	/* "conv1.bias"; digest ec801239c2623d00 */
	at_conv1_bias = at_conv1_w + 768,
	/* "conv2.weight"; element [oc][ic][kh][kw] at [ic][kh][kw][oc];
	 * digest ac2dca5abec6086c */
	at_conv2_w = at_conv1_bias + 256,
	/* "conv2.bias"; digest c36bbe1a4da66ef3 */
	at_conv2_bias = at_conv2_w + 13824,
	/* "fc.weight"; digest dec0a3cf7ca1a516 */
	at_fc_gemm_w = at_conv2_bias + 256,
	/* "fc.bias"; digest 5cde751797645761 */
	at_fc_gemm_bias = at_fc_gemm_w + 15360
};

static __host__ __device__ float
max_f32(float a, float b) /* NaN if one is */
{
	const float larger = b > a ? b : a; /* a, where one is NaN */

	return b != b ? b : larger;
}

/* Conv 3x3, pad 1, 1 -> 16 channels, + bias, Relu
 *   nodes     conv1 (Conv) -> "conv1"
 *             relu1 (Relu) -> "relu1"
 *   x         "image": f32 [1][1][8][8]
 *   y         "relu1": f32 [1][16][8][8]
 *   schedule  staged implicit GEMM, M = oc = 16, N = oh * ow = 64, K = kh * kw
 *             = 9, tiles of 16 x 32, 16 at a time, 1 x 2 per thread
 *   launch    grid 2; block 16, 16; shared 3072 bytes
 *   work      20480 FLOP, reads 896 bytes, writes 4096 bytes, locals 16 bytes
 *             of a thread
 */
static __global__ void __launch_bounds__(256)
conv1(const float (*__restrict__ x)[8], const float (*__restrict__ w)[16],
      const float *__restrict__ bias, float (*__restrict__ y)[64])
{
	const int n_0 = blockIdx.x;
	__shared__ __align__(8) float columns[16][32];
	__shared__ float rows[16][16];
	const int ty = threadIdx.y;
	const int tx = threadIdx.x;
	const int ty0 = ty % 2 * 16;
	const int n = n_0 * 32 + ty0 + tx;
	const int oh = n / 8;
	const int ow = n % 8;
	float acc[2];

	#pragma unroll
	for (int n_3 = 0; n_3 < 2; ++n_3) {
		acc[n_3] = 0.0f;
	}
	rows[ty][tx] = ty < 9 ? w[ty][tx] : 0.0f;
	#pragma unroll
	for (int copy = 0; copy < 2; ++copy) {
		const int k = copy * 8 + ty / 2;
		const int kh = k / 3;
		const int ih = oh + kh - 1;
		const int kw = k % 3;
		const int iw = ow + kw - 1;

		columns[k][tx + ty0] = k < 9
		                     ? (ih >= 0 && ih < 8 && iw >= 0 && iw < 8
		                      ? x[ih][iw] : 0.0f) : 0.0f;
	}
	__syncthreads();
	#pragma unroll
	for (int k_i = 0; k_i < 16; ++k_i) {
		__align__(8) float column[2];

		*(float2 *)&column[0] = *(float2 *)&columns[k_i][tx * 2];
		#pragma unroll
		for (int n_3 = 0; n_3 < 2; ++n_3) {
			acc[n_3] += column[n_3] * rows[k_i][ty];
		}
	}

	__align__(8) float y_lanes[2];

	#pragma unroll
	for (int i2_i = 0; i2_i < 2; ++i2_i) {
		const float v = acc[i2_i] + bias[ty];

		y_lanes[i2_i] = v < 0.0f ? 0.0f : v;
	}
	*(float2 *)&y[ty][n_0 * 32 + tx * 2] = *(float2 *)&y_lanes[0];
}

/* MaxPool 2x2, stride 2, 16 channels
 *   nodes     pool1 (MaxPool) -> "pool1"
 *   x         "relu1": f32 [1][16][8][8]
 *   y         "pool1": f32 [1][16][4][4]
 *   schedule  threads an element per thread
 *   launch    grid 1; block 256
 *   work      1024 FLOP, reads 4096 bytes, writes 1024 bytes, locals 4 bytes of
 *             a thread
 */
static __global__ void __launch_bounds__(256)
pool1(const float (*__restrict__ x)[8], float *__restrict__ y)
{
	const int c_oh_ow_i = threadIdx.x;
	const int c_oh = c_oh_ow_i / 4;
	const int ow = c_oh_ow_i % 4;
	float acc = NAN;

	for (int kh = 0; kh < 2; ++kh) {
		for (int kw = 0; kw < 2; ++kw) {
			acc = fmaxf(acc, x[kh + c_oh * 2][ow * 2 + kw]);
		}
	}
	y[c_oh_ow_i] = acc;
}

/* Conv 3x3, pad 1, 16 -> 24 channels, + bias, Relu
 *   nodes     conv2 (Conv) -> "conv2"
 *             relu2 (Relu) -> "relu2"
 *   x         "pool1": f32 [1][16][4][4]
 *   y         "relu2": f32 [1][24][4][4]
 *   schedule  staged implicit GEMM, M = oc = 24, N = oh * ow = 16, K = ic * kh
 *             * kw = 144, tiles of 32 x 16, 16 at a time, 2 x 1 per thread
 *   launch    grid 1; block 16, 16; shared 6144 bytes
 *   work      0.1 MFLOP, reads 14944 bytes, writes 1536 bytes, locals 16 bytes
 *             of a thread
 */
static __global__ void __launch_bounds__(256)
conv2(const float (*__restrict__ x)[4][4], const float (*__restrict__ w)[24],
      const float *__restrict__ bias, float (*__restrict__ y)[16])
{
	__shared__ float columns[2][16][16];
	__shared__ __align__(8) float rows[2][16][32];
	const int ty = threadIdx.y;
	const int tx = threadIdx.x;
	const int ty_div2 = ty / 2;
	const int itx = tx + ty % 2 * 16;
	const int oh = tx / 4;
	const int ow = tx % 4;
	float acc[2];

	#pragma unroll
	for (int m_3 = 0; m_3 < 2; ++m_3) {
		acc[m_3] = 0.0f;
	}
	#pragma unroll
	for (int copy = 0; copy < 2; ++copy) {
		const int ity = copy * 8 + ty_div2;

		rows[0][ity][itx] = itx < 24 ? w[ity][itx] : 0.0f;
	}

	const int ic = ty / 9;
	const int kh = ty / 3 % 3;
	const int ih = oh + kh - 1;
	const int kw = ty % 3;
	const int iw = ow + kw - 1;

	columns[0][ty][tx] = ih >= 0 && ih < 4 && iw >= 0 && iw < 4
	                   ? x[ic][ih][iw] : 0.0f;
	__syncthreads();
	for (int k_o = 0; k_o < 8; ++k_o) {
		const int k_mod2 = k_o % 2;
		const int k1_mod2 = (k_o + 1) % 2;
		const int k = k_o * 16 + ty + 16;
		const int ic_2 = k / 9;
		const int kh_2 = k / 3 % 3;
		const int ih_2 = oh + kh_2 - 1;
		const int kw_2 = k % 3;
		const int iw_2 = ow + kw_2 - 1;

		#pragma unroll
		for (int copy = 0; copy < 2; ++copy) {
			rows[k1_mod2][copy * 8 + ty_div2][itx] =
			        itx < 24
			      ? w[k_o * 16 + copy * 8 + ty_div2 + 16][itx] : 0.0f;
		}
		columns[k1_mod2][ty][tx] = ih_2 >= 0 && ih_2 < 4 && iw_2 >= 0 &&
		                           iw_2 < 4 ? x[ic_2][ih_2][iw_2]
		                         : 0.0f;
		#pragma unroll
		for (int k_i = 0; k_i < 16; ++k_i) {
			__align__(8) float row[2];

			*(float2 *)&row[0] = *(float2 *)&rows[k_mod2][k_i][ty * 2];
			#pragma unroll
			for (int m_3 = 0; m_3 < 2; ++m_3) {
				acc[m_3] += columns[k_mod2][k_i][tx] * row[m_3];
			}
		}
		__syncthreads();
	}
	#pragma unroll
	for (int k_i = 0; k_i < 16; ++k_i) {
		__align__(8) float row[2];

		*(float2 *)&row[0] = *(float2 *)&rows[0][k_i][ty * 2];
		#pragma unroll
		for (int m_3 = 0; m_3 < 2; ++m_3) {
			acc[m_3] += columns[0][k_i][tx] * row[m_3];
		}
	}
	#pragma unroll
	for (int i0_i = 0; i0_i < 2; ++i0_i) {
		const int ity = ty * 2 + i0_i;

		if (ity < 24) {
			const float v = acc[i0_i] + bias[ity];

			y[ity][tx] = v < 0.0f ? 0.0f : v;
		}
	}
}

/* Gemm 384 -> 10, + bias
 *   nodes     fc (Gemm) -> "fc"
 *   x         "flat": f32 [1][384]
 *   y         "fc": f32 [1][10]
 *   schedule  together 128 threads per row
 *   launch    grid 10; block 128; shared 16 bytes
 *   work      7690 FLOP, reads 16936 bytes, writes 40 bytes, locals 4 bytes of
 *             a thread
 */
static __global__ void __launch_bounds__(128)
fc_gemm(const float *__restrict__ x, const float (*__restrict__ w)[384],
	const float *__restrict__ bias, float *__restrict__ y)
{
	const int j = blockIdx.x;
	__shared__ float matmul_all[4];
	const int tx = threadIdx.x;
	float matmul = 0.0f;

	for (int k_o = 0; k_o < 3; ++k_o) {
		const int ik = k_o * 128 + tx;

		matmul += x[ik] * w[j][ik];
	}
	matmul += __shfl_xor_sync(0xffffffffu, matmul, 16);
	matmul += __shfl_xor_sync(0xffffffffu, matmul, 8);
	matmul += __shfl_xor_sync(0xffffffffu, matmul, 4);
	matmul += __shfl_xor_sync(0xffffffffu, matmul, 2);
	matmul += __shfl_xor_sync(0xffffffffu, matmul, 1);
	if (tx % 32 == 0) {
		matmul_all[tx / 32] = matmul;
	}
	__syncthreads();
	matmul = matmul_all[tx % 4];
	matmul += __shfl_xor_sync(0xffffffffu, matmul, 2);
	matmul += __shfl_xor_sync(0xffffffffu, matmul, 1);
	if (tx < 1) {
		y[j] = matmul + bias[j];
	}
}

/* Softmax [1][10]
 *   nodes     prob (Softmax) -> "prob"
 *   x         "fc": f32 [1][10]
 *   y         "prob": f32 [1][10]
 *   schedule  together 32 threads per row, each computes all statistics
 *   launch    grid 1; block 32; shared 40 bytes
 *   work      51 FLOP, reads 40 bytes, writes 40 bytes, locals 12 bytes of a
 *             thread
 */
static __global__ void __launch_bounds__(32)
prob(const float *__restrict__ x, float *__restrict__ y)
{
	__shared__ float exp_[10];
	const int j_i = threadIdx.x;
	float max_ = -INFINITY;
	float sum;
	float inverse;

	for (int j = 0; j < 10; ++j) {
		max_ = max_f32(max_, x[j]);
	}
	if (j_i < 10) {
		exp_[j_i] = expf(x[j_i] - max_);
	}
	sum = 0.0f;
	__syncthreads();
	for (int j = 0; j < 10; ++j) {
		sum += exp_[j];
	}
	inverse = 1.0f / sum;
	if (j_i < 10) {
		y[j_i] = exp_[j_i] * inverse;
	}
}

/* Starts a kernel, unless something has failed before. */
template <class T> struct as_declared {
	typedef T type;
};

template <class... P> static void
launch(struct digits *m, void (*kernel)(P...), dim3 grid, dim3 block,
       typename as_declared<P>::type... arguments)
{
	void *pointers[] = { (void *)&arguments... };

	if (m->error == cudaSuccess) {
		m->error = cudaLaunchKernel(kernel, grid, block, pointers, 0, m->stream);
	}
}

/* Defining DIGITS_TRUST_WEIGHTS leaves out reading all weights in init. */
#ifndef DIGITS_TRUST_WEIGHTS
/* Of the values, as 8-byte words, the last one filled up with zeros: another
 * number whenever a single word is another one. */
static uint64_t
weights_digest(const unsigned char *weights)
{
	uint64_t digest = UINT64_C(0x007469726362696e);
	size_t at = 64u;

	while (at < DIGITS_WEIGHTS_BYTES) {
		const size_t left = DIGITS_WEIGHTS_BYTES - at;
		uint64_t word = 0u;

		memcpy(&word, weights + at, left < 8u ? left : 8u);
		digest = (digest ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		digest ^= digest >> 32;
		at += 8u;
	}
	return digest;
}
#endif

static void
copy_to_device(struct digits *m, void *to, const void *from, size_t bytes)
{
	if (m->error == cudaSuccess) {
		m->error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, m->stream);
	}
}

/* A model that holds its address was given to init, and not to fini since. */
static const char ready_mark = 'r';

enum digits_status
digits_init(struct digits *m, const struct digits_config *config)
{
	const unsigned char *weights;
	uint32_t byte_order;
	uint64_t digest;

	if (m != NULL) {
		m->ready = NULL;
	}
	if (m == NULL || config == NULL || config->workspace == NULL ||
	    config->device_weights == NULL || config->weights == NULL) {
		return DIGITS_NULL;
	}
	if (config->workspace_bytes < DIGITS_WORKSPACE_BYTES) {
		return DIGITS_SMALL;
	}
	if ((uintptr_t)config->workspace % DIGITS_WORKSPACE_ALIGN != 0u) {
		return DIGITS_MISALIGNED;
	}
	if (config->device_weights_bytes < DIGITS_WEIGHTS_BYTES) {
		return DIGITS_SMALL;
	}
	if ((uintptr_t)config->device_weights % DIGITS_WEIGHTS_ALIGN != 0u) {
		return DIGITS_MISALIGNED;
	}
	if (config->weights_bytes != DIGITS_WEIGHTS_BYTES) {
		return DIGITS_BAD_WEIGHTS;
	}
	weights = (const unsigned char *)config->weights;
	memcpy(&byte_order, weights + 16, sizeof byte_order);
	memcpy(&digest, weights + 32, sizeof digest);
	if (byte_order != 0x01020304u ||
	    digest != UINT64_C(0x2fe179767639d43c)) {
		return DIGITS_BAD_WEIGHTS;
	}
#ifndef DIGITS_TRUST_WEIGHTS
	if (weights_digest(weights) != digest) {
		return DIGITS_BAD_WEIGHTS;
	}
#endif
	m->stream = config->stream;
	m->error = cudaSuccess;
	m->workspace = config->workspace;
	m->weights = config->device_weights;
	m->staging = config->staging;
	copy_to_device(m, m->weights, weights, DIGITS_WEIGHTS_BYTES);
	if (m->error != cudaSuccess) {
		return DIGITS_DEVICE;
	}
	m->ready = &ready_mark;
	return DIGITS_OK;
}

/* Workspace, 5120 bytes:
 *   bytes 0..4095: relu1, written by conv1, read by pool1
 *   bytes 4096..5119: pool1_out, written by pool1, read by conv2
 *   bytes 0..1535: relu2, written by conv2, read by fc_gemm
 *   bytes 1536..1575: fc, written by fc_gemm, read by prob
 */
enum digits_status
digits_run(struct digits *m, const struct digits_inputs *in,
	   const struct digits_outputs *out)
{
	if (m == NULL || in == NULL || out == NULL || in->image == NULL ||
	    out->prob == NULL) {
		return DIGITS_NULL;
	}
	if (m->ready != &ready_mark) {
		return DIGITS_NOT_READY;
	}
	if ((uintptr_t)in->image % sizeof *in->image != 0u ||
	    (uintptr_t)out->prob % sizeof *out->prob != 0u) {
		return DIGITS_MISALIGNED;
	}

	unsigned char *const workspace = (unsigned char *)m->workspace;
	const unsigned char *const weights = (const unsigned char *)m->weights;
	void *const relu1 = workspace;
	void *const pool1_out = workspace + 4096;
	void *const relu2 = workspace;
	void *const fc = workspace + 1536;

	launch(m, conv1, dim3(2), dim3(16, 16),
	       (const float (*)[8])in->image,
	       (const float (*)[16])(weights + at_conv1_w),
	       (const float *)(weights + at_conv1_bias), (float (*)[64])relu1);
	launch(m, pool1, dim3(1), dim3(256),
	       (const float (*)[8])relu1, (float *)pool1_out);
	launch(m, conv2, dim3(1), dim3(16, 16),
	       (const float (*)[4][4])pool1_out,
	       (const float (*)[24])(weights + at_conv2_w),
	       (const float *)(weights + at_conv2_bias), (float (*)[16])relu2);
	launch(m, fc_gemm, dim3(10), dim3(128),
	       (const float *)relu2,
	       (const float (*)[384])(weights + at_fc_gemm_w),
	       (const float *)(weights + at_fc_gemm_bias), (float *)fc);
	launch(m, prob, dim3(1), dim3(32), (const float *)fc, out->prob);
	return m->error == cudaSuccess ? DIGITS_OK : DIGITS_DEVICE;
}

enum digits_status
digits_run_host(struct digits *m, const struct digits_inputs *in,
		const struct digits_outputs *out)
{
	struct digits_inputs on_device;
	struct digits_outputs from_device;
	enum digits_status status;
	unsigned char *staging;

	if (m != NULL && m->ready != &ready_mark) {
		return DIGITS_NOT_READY;
	}
	if (m == NULL || in == NULL || out == NULL || m->staging == NULL ||
	    in->image == NULL || out->prob == NULL) {
		return DIGITS_NULL;
	}
	staging = (unsigned char *)m->staging;
	on_device = *in;
	on_device.image = (const float *)(staging + 0);
	if (m->error == cudaSuccess) {
		m->error = cudaMemcpyAsync(
			staging + 0, in->image,
			sizeof *in->image * (size_t)(64),
			cudaMemcpyHostToDevice, m->stream);
	}
	from_device.prob = (float *)(staging + 256);
	status = digits_run(m, &on_device, &from_device);
	if (status != DIGITS_OK) {
		return status;
	}
	if (m->error == cudaSuccess) {
		m->error = cudaMemcpyAsync(
			out->prob, staging + 256,
			sizeof *out->prob * (size_t)(10),
			cudaMemcpyDeviceToHost, m->stream);
	}
	if (m->error == cudaSuccess) {
		m->error = cudaStreamSynchronize(m->stream);
	}
	return m->error == cudaSuccess ? DIGITS_OK : DIGITS_DEVICE;
}

const char *
digits_error(const struct digits *m)
{
	return m != NULL ? cudaGetErrorString(m->error) : "no model";
}

void
digits_fini(struct digits *m)
{
	if (m != NULL) {
		m->ready = NULL;
		m->workspace = NULL;
		m->weights = NULL;
		m->staging = NULL;
	}
}
