/* digits: from digits.onnx (sha256 22c6eef0eb10d53d...), tirc 0.1.0, target gnu-c
 * SPDX-License-Identifier: MIT-0
 *
 * meant for   -std=gnu11 -O3 -fopenmp-simd -fno-math-errno -fno-trapping-math
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

/* Weights: digits_weights.S */
/* "conv1.weight"; element [oc][ic][kh][kw] at [kh][kw][oc/4][oc%4];
 * digest 8e827d670eacc3b6 */
extern const float digits_conv1_w[3][3][4][4];
/* "conv1.bias"; digest ec801239c2623d00 */
extern const float digits_conv1_bias[4][4];
/* "conv2.weight"; element [oc][ic][kh][kw] at
 * [oc/12][kh][kw][ic][oc/4%3][oc%4]; digest 327167a760942b4b */
extern const float digits_conv2_w[2][3][3][16][3][4];
/* "conv2.bias"; digest c36bbe1a4da66ef3 */
extern const float digits_conv2_bias[6][4];
/* "fc.weight"; element [i][j] at [j][i]; digest 9ca1ddad7a92f64a */
extern const float digits_fc_gemm_w[384][10];
/* "fc.bias"; digest 5cde751797645761 */
extern const float digits_fc_gemm_bias[10];

/* Vectors stay within this file, however they are passed. */
#pragma GCC diagnostic ignored "-Wpsabi"
typedef float f32x4 __attribute__((vector_size(16), may_alias));
typedef int32_t i32x4 __attribute__((vector_size(16), may_alias));
typedef float f32x4_any __attribute__((vector_size(16), aligned(4), may_alias));

static f32x4
all_f32x4(float a)
{
	return a - (f32x4){ 0.0f };
}

static f32x4
at_least_f32x4(f32x4 a, float b) /* NaN where a is */
{
	const f32x4 limit = b - (f32x4){ 0.0f };
	const i32x4 take_limit = a < limit;

	return (f32x4)(((i32x4)limit & take_limit) | ((i32x4)a & ~take_limit));
}

static f32x4
larger_f32x4(f32x4 a, f32x4 b) /* the numbers, where one is NaN */
{
	const i32x4 take_b = (b > a) | (a != a);

	return (f32x4)(((i32x4)b & take_b) | ((i32x4)a & ~take_b));
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
 *   schedule  tiled oc_tile 16, ow_tile 2, w packed by 16
 *   work      20480 FLOP, reads 896 bytes, writes 4096 bytes, locals 128 bytes
 */
static __attribute__((noinline)) void
conv1(const float x[restrict 8][8], const f32x4 w[restrict 3][3][4],
      const f32x4 bias[restrict 4], f32x4 y[restrict 8][8][4])
{
    for (int32_t oh = 0; oh < 8; ++oh) {
        for (int32_t ow_o = 0; ow_o < 4; ++ow_o) {
            f32x4 acc[2][4];

            #pragma GCC unroll 2
            for (int32_t ow_i = 0; ow_i < 2; ++ow_i) {
                #pragma GCC unroll 4
                for (int32_t oc_c = 0; oc_c < 4; ++oc_c) {
                    acc[ow_i][oc_c] = all_f32x4(0.0f);
                }
            }
            for (int32_t kh = 0; kh < 3; ++kh) {
                const int32_t ih = oh + kh - 1;

                if (ih >= 0 && ih < 8) {
                    for (int32_t kw = 0; kw < 3; ++kw) {
                        #pragma GCC unroll 2
                        for (int32_t ow_i = 0; ow_i < 2; ++ow_i) {
                            const int32_t iw = ow_o * 2 + ow_i + kw - 1;

                            if (iw >= 0 && iw < 8) {
                                #pragma GCC unroll 4
                                for (int32_t oc_c = 0; oc_c < 4; ++oc_c) {
                                    acc[ow_i][oc_c] += x[ih][iw] * w[kh][kw][oc_c];
                                }
                            }
                        }
                    }
                }
            }
            #pragma GCC unroll 2
            for (int32_t ow_i = 0; ow_i < 2; ++ow_i) {
                #pragma GCC unroll 4
                for (int32_t oc_c = 0; oc_c < 4; ++oc_c) {
                    const f32x4 sum = acc[ow_i][oc_c] + bias[oc_c];

                    y[oh][ow_o * 2 + ow_i][oc_c] = at_least_f32x4(sum, 0.0f);
                }
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
static __attribute__((noinline)) void
pool1(const f32x4 x[restrict 8][8][4], f32x4 y[restrict 6][6][4])
{
    for (int32_t oh = 0; oh < 4; ++oh) {
        f32x4 acc[4][4];

        #pragma GCC unroll 4
        for (int32_t ow = 0; ow < 4; ++ow) {
            #pragma GCC unroll 4
            for (int32_t c_c = 0; c_c < 4; ++c_c) {
                acc[ow][c_c] = all_f32x4(NAN);
            }
        }
        for (int32_t kh = 0; kh < 2; ++kh) {
            for (int32_t kw = 0; kw < 2; ++kw) {
                #pragma GCC unroll 4
                for (int32_t ow = 0; ow < 4; ++ow) {
                    #pragma GCC unroll 4
                    for (int32_t c_c = 0; c_c < 4; ++c_c) {
                        acc[ow][c_c] =
                            larger_f32x4(acc[ow][c_c],
                                         x[oh * 2 + kh][ow * 2 + kw][c_c]);
                    }
                }
            }
        }
        #pragma GCC unroll 4
        for (int32_t ow = 0; ow < 4; ++ow) {
            #pragma GCC unroll 4
            for (int32_t c_c = 0; c_c < 4; ++c_c) {
                y[oh + 1][ow + 1][c_c] = acc[ow][c_c];
            }
        }
    }
    for (int32_t w = 0; w < 6; ++w) {
        #pragma GCC unroll 4
        for (int32_t c_i = 0; c_i < 4; ++c_i) {
            y[0][w][c_i] = all_f32x4(0.0f);
        }
    }
    for (int32_t w = 0; w < 6; ++w) {
        #pragma GCC unroll 4
        for (int32_t c_i = 0; c_i < 4; ++c_i) {
            y[5][w][c_i] = all_f32x4(0.0f);
        }
    }
    for (int32_t h = 1; h < 5; ++h) {
        #pragma GCC unroll 4
        for (int32_t c_i = 0; c_i < 4; ++c_i) {
            y[h][0][c_i] = all_f32x4(0.0f);
        }
    }
    for (int32_t h = 1; h < 5; ++h) {
        #pragma GCC unroll 4
        for (int32_t c_i = 0; c_i < 4; ++c_i) {
            y[h][5][c_i] = all_f32x4(0.0f);
        }
    }
}

/* Conv 3x3, pad 1, 16 -> 24 channels, + bias, Relu
 *   nodes     conv2 (Conv) -> "conv2"
 *             relu2 (Relu) -> "relu2"
 *   x         "pool1": f32 [1][16][4][4], at [c/16][h+1][w+1][c%16], zeros
 *             around
 *   y         "relu2": f32 [1][24][4][4]
 *   schedule  tiled oc_tile 12, ow_tile 2, w packed by 12
 *   work      0.1 MFLOP, reads 16224 bytes, writes 1536 bytes, locals 112 bytes
 */
static __attribute__((noinline)) void
conv2(const float x[restrict 6][6][16], const f32x4 w[restrict 2][3][3][16][3],
      const f32x4 bias[restrict 6], float y[restrict 24][4][4])
{
    for (int32_t oc_o = 0; oc_o < 2; ++oc_o) {
        for (int32_t oh = 0; oh < 4; ++oh) {
            for (int32_t ow_o = 0; ow_o < 2; ++ow_o) {
                f32x4 acc[2][3];

                #pragma GCC unroll 2
                for (int32_t ow_i = 0; ow_i < 2; ++ow_i) {
                    #pragma GCC unroll 3
                    for (int32_t oc_c = 0; oc_c < 3; ++oc_c) {
                        acc[ow_i][oc_c] = all_f32x4(0.0f);
                    }
                }
                for (int32_t kh = 0; kh < 3; ++kh) {
                    for (int32_t kw = 0; kw < 3; ++kw) {
                        for (int32_t ic = 0; ic < 16; ++ic) {
                            #pragma GCC unroll 2
                            for (int32_t ow_i = 0; ow_i < 2; ++ow_i) {
                                #pragma GCC unroll 3
                                for (int32_t oc_c = 0; oc_c < 3; ++oc_c) {
                                    acc[ow_i][oc_c] += x[oh + kh][ow_o * 2 + ow_i + kw][ic]
                                                     * w[oc_o][kh][kw][ic][oc_c];
                                }
                            }
                        }
                    }
                }
                #pragma GCC unroll 2
                for (int32_t ow_i = 0; ow_i < 2; ++ow_i) {
                    #pragma GCC unroll 3
                    for (int32_t oc_c = 0; oc_c < 3; ++oc_c) {
                        float lanes[4];
                        const f32x4 sum = acc[ow_i][oc_c] + bias[oc_o * 3 + oc_c];

                        *(f32x4_any *)&lanes[0] = at_least_f32x4(sum, 0.0f);
                        for (int32_t lane = 0; lane < 4; ++lane) {
                            y[oc_o * 12 + oc_c * 4 + lane][oh][ow_o * 2 + ow_i] =
                                lanes[lane];
                        }
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
 *   schedule  tiled j_tile 10, w packed by 10
 *   work      7690 FLOP, reads 16936 bytes, writes 40 bytes, locals 40 bytes
 */
static __attribute__((noinline)) void
fc_gemm(const float x[restrict 384], const float w[restrict 384][10],
	const float bias[restrict 10], float y[restrict 10])
{
	float acc[10];

	#pragma omp simd
	for (int32_t j = 0; j < 10; ++j) {
		acc[j] = 0.0f;
	}
	for (int32_t k = 0; k < 384; ++k) {
		#pragma omp simd
		for (int32_t j = 0; j < 10; ++j) {
			acc[j] += x[k] * w[k][j];
		}
	}
	#pragma omp simd
	for (int32_t j = 0; j < 10; ++j) {
		y[j] = acc[j] + bias[j];
	}
}

/* Softmax [1][10]
 *   nodes     prob (Softmax) -> "prob"
 *   x         "fc": f32 [1][10]
 *   y         "prob": f32 [1][10]
 *   schedule  rowwise 5 stages per row, sums by lanes
 *   copies    two of the reduction: j_o 0 to 1, j_o 0 to 1 without conditions,
 *             which is faster
 *   work      51 FLOP, reads 40 bytes, writes 40 bytes, locals 100 bytes
 */
static __attribute__((noinline)) void
prob(const float x[restrict 10], float y[restrict 10])
{
	float max;
	float exp_[10];
	float sum;
	float inverse;
	float max_part[4];
	float max_part_2[2];
	float sum_part[4];
	float sum_part_2[2];

	#pragma omp simd
	for (int32_t j_i = 0; j_i < 4; ++j_i) {
		max_part[j_i] = -INFINITY;
	}
	for (int32_t j_o = 0; j_o < 2; ++j_o) {
		#pragma omp simd
		for (int32_t j_i = 0; j_i < 4; ++j_i) {
			max_part[j_i] = max_f32(max_part[j_i], x[j_o * 4 + j_i]);
		}
	}
	#pragma omp simd
	for (int32_t j_i = 0; j_i < 2; ++j_i) {
		max_part[j_i] = max_f32(max_part[j_i], x[j_i + 8]);
	}
	#pragma omp simd
	for (int32_t j_i = 0; j_i < 2; ++j_i) {
		max_part_2[j_i] = max_f32(max_part[j_i], max_part[j_i + 2]);
	}
	max = max_f32(max_part_2[0], max_part_2[1]);
	for (int32_t j = 0; j < 10; ++j) {
		exp_[j] = exp_f32(x[j] - max);
	}
	#pragma omp simd
	for (int32_t j_i = 0; j_i < 4; ++j_i) {
		sum_part[j_i] = 0.0f;
	}
	for (int32_t j_o = 0; j_o < 2; ++j_o) {
		#pragma omp simd
		for (int32_t j_i = 0; j_i < 4; ++j_i) {
			sum_part[j_i] += exp_[j_o * 4 + j_i];
		}
	}
	#pragma omp simd
	for (int32_t j_i = 0; j_i < 2; ++j_i) {
		sum_part[j_i] += exp_[j_i + 8];
	}
	#pragma omp simd
	for (int32_t j_i = 0; j_i < 2; ++j_i) {
		sum_part_2[j_i] = sum_part[j_i] + sum_part[j_i + 2];
	}
	sum = sum_part_2[0] + sum_part_2[1];
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

	conv1((const float (*)[8])in->image,
	      (const f32x4 (*)[3][4])digits_conv1_w,
	      (const f32x4 *)digits_conv1_bias, relu1);
	pool1(relu1, pool1_out);
	conv2(pool1_out, (const f32x4 (*)[3][3][16][3])digits_conv2_w,
	      (const f32x4 *)digits_conv2_bias, relu2);
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
