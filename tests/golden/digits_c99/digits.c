/* digits: from digits.onnx (sha256 22c6eef0eb10d53d...), tirc 0.1.0, target c99
 * SPDX-License-Identifier: MIT-0
 *
 * meant for   -std=c99 -O3
 */
#include "digits.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* What the code relies on: a compiler for which one does not hold refuses an
 * array of a negative size. */
struct digits_relies_on {
	int bytes_of_8_bits[(unsigned char)-1 == 255 ? 1 : -1];
	int int_of_32_bits[sizeof(int) * 8 >= 32 ? 1 : -1];
	int float_of_32_bits[sizeof(float) == 4 ? 1 : -1];
	int twos_complement[(-1 & 3) == 3 ? 1 : -1];
	int shifts_keep_the_sign[(-2 >> 1) == -1 ? 1 : -1];
};

/* Weights: digits_weights.c */
/* "conv1.weight"; element [oc][ic][kh][kw] at [kh][kw][oc];
 * digest 8e827d670eacc3b6 */
extern const float digits_conv1_w[3][3][16];
/* "conv1.bias"; digest ec801239c2623d00 */
extern const float digits_conv1_bias[16];
/* "conv2.weight"; element [oc][ic][kh][kw] at [kh][kw][ic][oc/16][oc%16];
 * digest df5ba3a09d61f929 */
extern const float digits_conv2_w[3][3][16][2][16];
/* "conv2.bias"; digest c36bbe1a4da66ef3 */
extern const float digits_conv2_bias[24];
/* "fc.weight"; digest dec0a3cf7ca1a516 */
extern const float digits_fc_gemm_w[10][384];
/* "fc.bias"; digest 5cde751797645761 */
extern const float digits_fc_gemm_bias[10];

static float
larger_f32(float a, float b) /* the number, where one is NaN */
{
	const float larger = b > a ? b : a;

	return isnan(a) ? b : larger;
}

static float
max_f32(float a, float b) /* NaN if one is */
{
	const float larger = b > a ? b : a; /* a, where one is NaN */

	return b != b ? b : larger;
}

/* c ? a : b, but both are there: a branch would keep loops from becoming
 * vectors. */
static inline float
choose_f32(bool c, float a, float b)
{
	const uint32_t mask = 0u - (uint32_t)c;
	uint32_t bits;
	uint32_t other;
	float result;

	memcpy(&bits, &a, sizeof bits);
	memcpy(&other, &b, sizeof other);
	bits = (bits & mask) | (other & ~mask);
	memcpy(&result, &bits, sizeof result);
	return result;
}

/* e^x, off by at most 1.1 ULP. x = n ln 2 + r with |r| <= ln(2) / 2, ln 2 in
 * two parts (Cody and Waite), e^r a polynomial fitted for least error. Without
 * branches and calls, so that loops of it become vectors. */
static inline float
exp_f32(float x)
{
	/* From -176 down both factors of 2^n below are 0. */
	const float y = choose_f32(x < -176.0f, -176.0f, x);
	/* 1.5 * 2^23 + 254: the sum is rounded, its last bits are n + 254. */
	const float shifted = y * 1.44269504f + 12583166.0f;
	uint32_t count;
	uint32_t bits;
	float n;
	float r;
	float p;
	float scale;
	float rest;

	/* n is at most 130, where 2^n is infinity: then r and p grow with x. The
	 * limit is one of integers, as those have an instruction for it. */
	memcpy(&count, &shifted, sizeof count);
	count = count > 0x4b400180u ? 0x4b400180u : count;
	bits = count - 0x00400000u; /* of 2^23 + 254 + n */
	memcpy(&n, &bits, sizeof n);
	n -= 8388862.0f;
	r = y - n * 0.693145752f - n * 1.42860677e-6f;
	p = 1.0f + (r + r * r * (0.5f + r * (0.166665763f + r * (0.0416664630f
	    + r * (0.00836335309f + r * 0.00139339094f)))));
	/* 2^n in two factors, so that only the last product is rounded. */
	bits = (count << 22) & 0xff800000u;
	memcpy(&scale, &bits, sizeof scale);
	bits = (count << 23) - bits;
	memcpy(&rest, &bits, sizeof rest);
	return p * scale * rest;
}

/* Inlined into one huge function, kernels take this compiler minutes. */
#ifdef __clang__
#pragma clang attribute push(__attribute__((noinline)), apply_to = function)
#endif

/* Conv 3x3, pad 1, 1 -> 16 channels, + bias, Relu
 *   nodes     conv1 (Conv) -> "conv1"
 *             relu1 (Relu) -> "relu1"
 *   x         "image": f32 [1][1][8][8]
 *   y         "relu1": f32 [1][16][8][8], at [c/16][h][w][c%16]
 *   schedule  tiled oc_tile 16, ow_tile 8, w packed by 16, copied border
 *   work      20480 FLOP, reads 896 bytes, writes 4096 bytes, locals 632 bytes
 */
static void
conv1(const float x[restrict 8][8], const float w[restrict 3][3][16],
      const float bias[restrict 16], float y[restrict 8][8][16])
{
	for (int32_t oh = 0; oh < 8; ++oh) {
		float acc[8][16];
		float rows[3][10];

		for (int32_t ih_i = 0; ih_i < 3; ++ih_i) {
			for (int32_t iw = 0; iw < 10; ++iw) {
				rows[ih_i][iw] = 0.0f;
			}
		}
		for (int32_t ih_i = 0; ih_i < 3; ++ih_i) {
			const int32_t ih = oh + ih_i - 1;

			if (ih >= 0 && ih < 8) {
				for (int32_t iw = 0; iw < 8; ++iw) {
					rows[ih_i][iw + 1] = x[ih][iw];
				}
			}
		}
		for (int32_t oc = 0; oc < 16; ++oc) {
			acc[0][oc] = 0.0f;
			acc[1][oc] = 0.0f;
			acc[2][oc] = 0.0f;
			acc[3][oc] = 0.0f;
			acc[4][oc] = 0.0f;
			acc[5][oc] = 0.0f;
			acc[6][oc] = 0.0f;
			acc[7][oc] = 0.0f;
		}
		for (int32_t kh = 0; kh < 3; ++kh) {
			for (int32_t kw = 0; kw < 3; ++kw) {
				for (int32_t oc = 0; oc < 16; ++oc) {
					acc[0][oc] += rows[kh][kw] * w[kh][kw][oc];
					acc[1][oc] += rows[kh][kw + 1] * w[kh][kw][oc];
					acc[2][oc] += rows[kh][kw + 2] * w[kh][kw][oc];
					acc[3][oc] += rows[kh][kw + 3] * w[kh][kw][oc];
					acc[4][oc] += rows[kh][kw + 4] * w[kh][kw][oc];
					acc[5][oc] += rows[kh][kw + 5] * w[kh][kw][oc];
					acc[6][oc] += rows[kh][kw + 6] * w[kh][kw][oc];
					acc[7][oc] += rows[kh][kw + 7] * w[kh][kw][oc];
				}
			}
		}
		for (int32_t oc = 0; oc < 16; ++oc) {
			for (int32_t ow = 0; ow < 8; ++ow) {
				const float v = acc[ow][oc] + bias[oc];

				y[oh][ow][oc] = v < 0.0f ? 0.0f : v;
			}
		}
	}
}

/* MaxPool 2x2, stride 2, 16 channels
 *   nodes     pool1 (MaxPool) -> "pool1"
 *   x         "relu1": f32 [1][16][8][8], at [c/16][h][w][c%16]
 *   y         "pool1": f32 [1][16][4][4], at [c/16][h+1][w+1][c%16], zeros
 *             around
 *   schedule  tiled c_tile 16, ow_tile 4
 *   work      1024 FLOP, reads 4096 bytes, writes 2304 bytes, locals 256 bytes
 */
static void
pool1(const float x[restrict 8][8][16], float y[restrict 6][6][16])
{
	for (int32_t oh = 0; oh < 4; ++oh) {
		float acc[4][16];

		for (int32_t c = 0; c < 16; ++c) {
			acc[0][c] = NAN;
			acc[1][c] = NAN;
			acc[2][c] = NAN;
			acc[3][c] = NAN;
		}
		for (int32_t kh = 0; kh < 2; ++kh) {
			const int32_t ih = oh * 2 + kh;

			for (int32_t kw = 0; kw < 2; ++kw) {
				for (int32_t c = 0; c < 16; ++c) {
					acc[0][c] = larger_f32(acc[0][c], x[ih][kw][c]);
					acc[1][c] = larger_f32(acc[1][c], x[ih][kw + 2][c]);
					acc[2][c] = larger_f32(acc[2][c], x[ih][kw + 4][c]);
					acc[3][c] = larger_f32(acc[3][c], x[ih][kw + 6][c]);
				}
			}
		}
		for (int32_t c = 0; c < 16; ++c) {
			for (int32_t ow = 0; ow < 4; ++ow) {
				y[oh + 1][ow + 1][c] = acc[ow][c];
			}
		}
	}
	for (int32_t w = 0; w < 6; ++w) {
		for (int32_t c_i = 0; c_i < 16; ++c_i) {
			y[0][w][c_i] = 0.0f;
		}
	}
	for (int32_t w = 0; w < 6; ++w) {
		for (int32_t c_i = 0; c_i < 16; ++c_i) {
			y[5][w][c_i] = 0.0f;
		}
	}
	for (int32_t h = 1; h < 5; ++h) {
		for (int32_t c_i = 0; c_i < 16; ++c_i) {
			y[h][0][c_i] = 0.0f;
		}
	}
	for (int32_t h = 1; h < 5; ++h) {
		for (int32_t c_i = 0; c_i < 16; ++c_i) {
			y[h][5][c_i] = 0.0f;
		}
	}
}

/* Conv 3x3, pad 1, 16 -> 24 channels, + bias, Relu
 *   nodes     conv2 (Conv) -> "conv2"
 *             relu2 (Relu) -> "relu2"
 *   x         "pool1": f32 [1][16][4][4], at [c/16][h+1][w+1][c%16], zeros
 *             around
 *   y         "relu2": f32 [1][24][4][4]
 *   schedule  tiled oc_tile 32, ow_tile 4, w packed by 32
 *   work      0.1 MFLOP, reads 20832 bytes, writes 1536 bytes, locals 512 bytes
 */
static void
conv2(const float x[restrict 6][6][16], const float w[restrict 3][3][16][2][16],
      const float bias[restrict 24], float y[restrict 24][4][4])
{
	for (int32_t oh = 0; oh < 4; ++oh) {
		float acc[4][2][16];

		for (int32_t oc_c = 0; oc_c < 2; ++oc_c) {
			for (int32_t oc_v = 0; oc_v < 16; ++oc_v) {
				acc[0][oc_c][oc_v] = 0.0f;
				acc[1][oc_c][oc_v] = 0.0f;
				acc[2][oc_c][oc_v] = 0.0f;
				acc[3][oc_c][oc_v] = 0.0f;
			}
		}
		for (int32_t kh = 0; kh < 3; ++kh) {
			for (int32_t kw = 0; kw < 3; ++kw) {
				for (int32_t ic = 0; ic < 16; ++ic) {
					for (int32_t oc_c = 0; oc_c < 2; ++oc_c) {
						for (int32_t oc_v = 0; oc_v < 16; ++oc_v) {
							acc[0][oc_c][oc_v] +=
							        x[oh + kh][kw][ic]
							      * w[kh][kw][ic][oc_c][oc_v];
							acc[1][oc_c][oc_v] +=
							        x[oh + kh][kw + 1][ic]
							      * w[kh][kw][ic][oc_c][oc_v];
							acc[2][oc_c][oc_v] +=
							        x[oh + kh][kw + 2][ic]
							      * w[kh][kw][ic][oc_c][oc_v];
							acc[3][oc_c][oc_v] +=
							        x[oh + kh][kw + 3][ic]
							      * w[kh][kw][ic][oc_c][oc_v];
						}
					}
				}
			}
		}
		for (int32_t oc_c = 0; oc_c < 2; ++oc_c) {
			for (int32_t oc_v = 0; oc_v < 16; ++oc_v) {
				const int32_t oc = oc_c * 16 + oc_v;

				if (oc < 24) {
					for (int32_t ow = 0; ow < 4; ++ow) {
						const float v = acc[ow][oc_c][oc_v] + bias[oc];

						y[oc][oh][ow] = v < 0.0f ? 0.0f : v;
					}
				}
			}
		}
	}
}

/* Gemm 384 -> 10, + bias
 *   nodes     fc (Gemm) -> "fc"
 *   x         "flat": f32 [1][384]
 *   y         "fc": f32 [1][10]
 *   schedule  rowwise 2 stages per row, sums by lanes
 *   work      7690 FLOP, reads 16936 bytes, writes 40 bytes, locals 124 bytes
 */
static void
fc_gemm(const float x[restrict 384], const float w[restrict 10][384],
	const float bias[restrict 10], float y[restrict 10])
{
	for (int32_t j = 0; j < 10; ++j) {
		float matmul;
		float matmul_part[16];
		float matmul_part_2[8];
		float matmul_part_3[4];
		float matmul_part_4[2];

		for (int32_t k_i = 0; k_i < 16; ++k_i) {
			matmul_part[k_i] = 0.0f;
		}
		for (int32_t k_o = 0; k_o < 24; ++k_o) {
			for (int32_t k_i = 0; k_i < 16; ++k_i) {
				const int32_t k = k_o * 16 + k_i;

				matmul_part[k_i] += x[k] * w[j][k];
			}
		}
		for (int32_t k_i = 0; k_i < 8; ++k_i) {
			matmul_part_2[k_i] = matmul_part[k_i]
			                   + matmul_part[k_i + 8];
		}
		for (int32_t k_i = 0; k_i < 4; ++k_i) {
			matmul_part_3[k_i] = matmul_part_2[k_i]
			                   + matmul_part_2[k_i + 4];
		}
		for (int32_t k_i = 0; k_i < 2; ++k_i) {
			matmul_part_4[k_i] = matmul_part_3[k_i]
			                   + matmul_part_3[k_i + 2];
		}
		matmul = matmul_part_4[0] + matmul_part_4[1];
		y[j] = matmul + bias[j];
	}
}

/* Softmax [1][10]
 *   nodes     prob (Softmax) -> "prob"
 *   x         "fc": f32 [1][10]
 *   y         "prob": f32 [1][10]
 *   schedule  rowwise 5 stages per row
 *   work      51 FLOP, reads 40 bytes, writes 40 bytes, locals 52 bytes
 */
static void
prob(const float x[restrict 10], float y[restrict 10])
{
	float max = -INFINITY;
	float exp_[10];
	float sum;
	float inverse;

	for (int32_t j = 0; j < 10; ++j) {
		max = max_f32(max, x[j]);
	}
	for (int32_t j = 0; j < 10; ++j) {
		exp_[j] = exp_f32(x[j] - max);
	}
	sum = 0.0f;
	for (int32_t j = 0; j < 10; ++j) {
		sum += exp_[j];
	}
	inverse = 1.0f / sum;
	for (int32_t j = 0; j < 10; ++j) {
		y[j] = exp_[j] * inverse;
	}
}

#ifdef __clang__
#pragma clang attribute pop
#endif

/* A model that holds its address was given to init, and not to fini since. */
static const int ready_mark = 1;

enum digits_status
digits_init(struct digits *m, const struct digits_config *config)
{
	if (m != NULL) {
		m->ready = NULL;
	}
	if (m == NULL || config == NULL || config->workspace == NULL) {
		return DIGITS_NULL;
	}
	if (config->workspace_bytes < DIGITS_WORKSPACE_BYTES) {
		return DIGITS_SMALL_WORKSPACE;
	}
	if ((uintptr_t)config->workspace % DIGITS_WORKSPACE_ALIGN != 0u) {
		return DIGITS_MISALIGNED;
	}
	m->workspace = config->workspace;
	m->ready = &ready_mark;
	return DIGITS_OK;
}

/* Workspace, 6400 bytes:
 *   bytes 0..4095: relu1, written by conv1, read by pool1
 *   bytes 4096..6399: pool1_out, written by pool1, read by conv2
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

	unsigned char *const workspace = m->workspace;
	void *const relu1 = workspace;
	void *const pool1_out = workspace + 4096;
	void *const relu2 = workspace;
	void *const fc = workspace + 1536;

	conv1((const float (*)[8])in->image, digits_conv1_w, digits_conv1_bias,
	      relu1);
	pool1(relu1, pool1_out);
	conv2(pool1_out, digits_conv2_w, digits_conv2_bias, relu2);
	fc_gemm(relu2, digits_fc_gemm_w, digits_fc_gemm_bias, fc);
	prob(fc, out->prob);
	return DIGITS_OK;
}

void
digits_fini(struct digits *m)
{
	if (m != NULL) {
		m->ready = NULL;
		m->workspace = NULL;
	}
}
