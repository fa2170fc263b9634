/* SPDX-License-Identifier: Apache-2.0 */
/* A block multiplies what bulk copies bring: boxes of two matrices, in turns into
 * two places, each with a barrier; by products of a warp group that read swizzled
 * rows. intrinsics.h has their texts (bulk.py). The host compares, and tries maps
 * that are none.
 *
 *	bulk [WRONG]
 *
 * WRONG: a mistake that is made in the product of halves. */
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	RIGHT, NO_WAIT, NO_LOOP, WAITS_ALONE, OTHER_PARITY, OTHER_BARRIER,
	NO_BYTES, FEW_BYTES, MANY_BYTES, NO_FENCE, NO_MEETING, NO_ARRIVAL,
	TOO_EARLY, NO_COPY, NO_END, PLAIN_DESCRIPTOR, PLAIN_MAP,
	HALF_A_PLACE
};
#define CHECK(what) check(what, #what, __LINE__)

__managed__ int wrong;

#include "intrinsics.h"

static __device__ uint32_t
shared_address(const void *x)
{
	return (uint32_t)__cvta_generic_to_shared(x);
}

static __device__ void
barrier_init(uint64_t *barrier)
{
	asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
		: : "r"(shared_address(barrier)), "r"(1) : "memory");
}

static __device__ void
barrier_wait(uint64_t *barrier, int parity)
{
	int done = 0;

	while (!done) {
		asm volatile("{\n"
			".reg .pred p;\n"
			"mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
			"selp.b32 %0, 1, 0, p;\n"
			"}\n"
			: "=r"(done)
			: "r"(shared_address(barrier)), "r"(parity)
			: "memory");
		if (wrong == NO_LOOP) {
			break;
		}
	}
}

/* Of the step's part of the sum: all rows, and all columns that are rows or twice
 * half of those. */
static __device__ void
copy_boxes(unsigned char *to, const CUtensorMap *rows,
	const CUtensorMap *columns, bool trans, int first, uint64_t *barrier)
{
	const int bytes = wrong == FEW_BYTES ? 16384
	                : wrong == MANY_BYTES ? 32768 : 24576;

	if (wrong != NO_BYTES) {
		asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 "
			"[%0], %1;"
			: : "r"(shared_address(barrier)), "r"(bytes) : "memory");
	}
	asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile."
		"mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
		: : "r"(shared_address(to)), "l"(rows), "r"(first), "r"(0),
		    "r"(1), "r"(shared_address(barrier))
		: "memory");
	for (int part = 0; part < (trans ? 1 : 2); ++part) {
		if (wrong == NO_COPY && part == 1) {
			break;
		}
		asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global."
			"tile.mbarrier::complete_tx::bytes "
			"[%0], [%1, {%2, %3}], [%4];"
			: : "r"(shared_address(to + 8192 + part * 8192)),
			    "l"(columns), "r"(trans ? first : part * 64),
			    "r"(trans ? 0 : first), "r"(shared_address(barrier))
			: "memory");
	}
	if (wrong != NO_ARRIVAL) {
		asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];"
			: : "r"(shared_address(barrier)) : "memory");
	}
}

#define KERNEL(name, trans, depth, struct_sums, operand, sum) \
__global__ void __launch_bounds__(128) \
multiply_##name(const __grid_constant__ CUtensorMap rows, \
	const __grid_constant__ CUtensorMap columns, sum *y, int steps) \
{ \
	extern __shared__ __align__(1024) unsigned char shared_pool[]; \
	__shared__ uint64_t barriers[2]; \
	unsigned char *const tiles = shared_pool + (wrong == HALF_A_PLACE ? 512 : 0); \
	struct struct_sums c; \
 \
	for (int i = 0; i < 64; ++i) { \
		c.d[i] = 0; \
	} \
	if (threadIdx.x == 0) { \
		barrier_init(&barriers[0]); \
		barrier_init(&barriers[1]); \
		if (wrong != NO_FENCE) { \
			asm volatile("fence.proxy.async.shared::cta;" \
				: : : "memory"); \
		} \
	} \
	if (wrong != NO_MEETING) { \
		__syncthreads(); \
	} \
	if (threadIdx.x == 0) { \
		copy_boxes(tiles, &rows, &columns, trans, 0, &barriers[0]); \
	} \
	for (int i = 0; i < steps; ++i) { \
		unsigned char *const tile = tiles + i % 2 * 24576; \
		const int other = (wrong == OTHER_PARITY); \
 \
		if (threadIdx.x == 0 && i + 1 < steps) { \
			copy_boxes(tiles + (wrong == TOO_EARLY ? i % 2 : (i + 1) % 2) \
				   * 24576, &rows, &columns, trans, \
				   (i + 1) * depth, &barriers[(i + 1) % 2]); \
		} \
		if (wrong != NO_WAIT && \
		    !(wrong == WAITS_ALONE && threadIdx.x > 0)) { \
			barrier_wait(&barriers[(i + (wrong == OTHER_BARRIER)) % 2], \
				     (i / 2 + other) % 2); \
		} \
		tirc_wgmma_sync_64x128x##name##_swizzle128(&c, \
			(const operand *)tile, (const operand *)(tile + 8192)); \
		__syncthreads(); \
	} \
	for (int i = 0; i < 64; ++i) { \
		y[tirc_wgmma_row(i) * 128 + tirc_wgmma_column(i)] = c.d[i]; \
	} \
}

KERNEL(64_f16f16f32, false, 64, tirc_wgmma_64x128, half, float)
KERNEL(64_f16f16f32_trans, true, 64, tirc_wgmma_64x128, half, float)
KERNEL(64_bf16bf16f32, false, 64, tirc_wgmma_64x128, __nv_bfloat16, float)
KERNEL(64_bf16bf16f32_trans, true, 64, tirc_wgmma_64x128, __nv_bfloat16, float)
KERNEL(128_s8s8s32_trans, true, 128, tirc_wgmma_64x128_s32, int8_t, int)
KERNEL(128_u8u8s32_trans, true, 128, tirc_wgmma_64x128_s32, uint8_t, int)

static void
check(bool good, const char *what, int line)
{
	if (!good) {
		printf("line %d: %s\n", line, what);
		exit(1);
	}
}

typedef CUresult encode_function(CUtensorMap *, CUtensorMapDataType, cuuint32_t,
	void *, const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
	const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
	CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

static encode_function *encode;

/* What a map is made of; a mistake in any of it is an error. */
struct parts {
	CUtensorMapDataType type;
	cuuint32_t rank;
	char *from;
	cuuint64_t sizes[3], strides[2];
	cuuint32_t box[3], steps[3];
	CUtensorMapSwizzle swizzle;
};

static CUresult
map_of(const struct parts *p, CUtensorMap *map)
{
	return encode(map, p->type, p->rank, p->from, p->sizes, p->strides,
		      p->box, p->steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
		      p->swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
		      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

static void
try_maps(const struct parts *right)
{
	CUtensorMap map;
	struct parts p;
#define WRONG(change) \
	p = *right; \
	p.change; \
	check(map_of(&p, &map) == CUDA_ERROR_INVALID_VALUE, #change, __LINE__)

	CHECK(map_of(right, &map) == CUDA_SUCCESS);
	WRONG(rank = 0);
	WRONG(rank = 6);
	WRONG(from += 8);
	WRONG(sizes[1] = 0);
	WRONG(sizes[0] = ((cuuint64_t)1 << 32) + 1);
	WRONG(strides[0] += 8);
	WRONG(strides[1] = (cuuint64_t)1 << 40);
	WRONG(box[1] = 0);
	WRONG(box[1] = 257);
	WRONG(box[0] = 60);
	WRONG(box[0] = 72);
	WRONG(steps[1] = 0);
	WRONG(steps[2] = 9);
	p = *right;
	p.box[0] = 72;
	p.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
	CHECK(map_of(&p, &map) == CUDA_SUCCESS);
}

enum { ROWS = 60, COLUMNS = 120 };

static int
number(int i, int j, int least)
{
	return (i * 7 + j * 5 + i * j) % 9 + least;
}

/* Rows of sums, and all of it the second of two: what is around them is none of a
 * map's; sums that end within a box. */
template <class T, class S> static void
run(void (*kernel)(const CUtensorMap, const CUtensorMap, S *, int), bool trans,
	CUtensorMapDataType type, int least)
{
	const int depth = 128 / sizeof(T), steps = 4, sums = depth * steps - 16;
	const int width = trans ? sums : COLUMNS, height = trans ? COLUMNS : sums;
	static T *a, *b;
	static S *y;
	static CUtensorMap maps[2];
	struct parts rows = { type, 3, NULL, { (cuuint64_t)sums, ROWS, 2 },
		{ sums * sizeof(T), sums * sizeof(T) * ROWS },
		{ (cuuint32_t)depth, 64, 1 }, { 1, 1, 1 },
		wrong == PLAIN_MAP ? CU_TENSOR_MAP_SWIZZLE_NONE
		                   : CU_TENSOR_MAP_SWIZZLE_128B };
	struct parts columns = { type, 2, NULL,
		{ (cuuint64_t)width, (cuuint64_t)height },
		{ width * sizeof(T) },
		{ (cuuint32_t)depth, trans ? 128u : 64u }, { 1, 1 },
		CU_TENSOR_MAP_SWIZZLE_128B };
	int n = steps;
	void *arguments[] = { &maps[0], &maps[1], &y, &n };

	CHECK(cudaMalloc((void **)&a, 2 * ROWS * sums * sizeof(T)) == cudaSuccess);
	CHECK(cudaMalloc((void **)&b, width * height * sizeof(T)) == cudaSuccess);
	CHECK(cudaMalloc((void **)&y, 64 * 128 * sizeof(S)) == cudaSuccess);
	for (int i = 0; i < 2 * ROWS * sums; i++) {
		a[i] = (T)(float)number(i / sums - ROWS, i % sums, least);
	}
	for (int i = 0; i < width * height; i++) {
		int k = trans ? i % width : i / width;
		int j = trans ? i / width : i % width;

		b[i] = (T)(float)number(j + 3, k, least);
	}
	rows.from = (char *)a;
	columns.from = (char *)b;
	CHECK(map_of(&rows, &maps[0]) == CUDA_SUCCESS);
	CHECK(map_of(&columns, &maps[1]) == CUDA_SUCCESS);
	if (wrong == RIGHT && sizeof(T) == 2) {
		try_maps(&rows);
	}
	CHECK(cudaFuncSetAttribute(kernel,
		cudaFuncAttributeMaxDynamicSharedMemorySize, 51200) == cudaSuccess);
	CHECK(cudaLaunchKernel(kernel, dim3(1), dim3(128), arguments, 51200,
			       NULL) == cudaSuccess);
	CHECK(cudaDeviceSynchronize() == cudaSuccess);
	for (int i = 0; i < 64 * 128; i++) {
		int row = i / 128, column = i % 128, want = 0;

		for (int k = 0; k < sums; k++) {
			want += number(row, k, least) * number(column + 3, k, least);
		}
		want = row < ROWS && column < COLUMNS ? want : 0;
		if (y[i] != (S)want) {
			printf("sum %d is %g, not %d\n", i, (double)y[i], want);
			exit(1);
		}
	}
}

int
main(int argc, char **argv)
{
	cudaDriverEntryPointQueryResult found;
	void *function;

	CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function,
		12000, cudaEnableDefault, &found) == cudaSuccess);
	CHECK(found == cudaDriverEntryPointSuccess);
	encode = (encode_function *)function;
	wrong = argc > 1 ? atoi(argv[1]) : RIGHT;
	run<half>(multiply_64_f16f16f32, false, CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
		  -4);
	if (wrong != RIGHT) {
		return 0;
	}
	run<half>(multiply_64_f16f16f32_trans, true,
		  CU_TENSOR_MAP_DATA_TYPE_FLOAT16, -4);
	run<__nv_bfloat16>(multiply_64_bf16bf16f32, false,
			   CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, -4);
	run<__nv_bfloat16>(multiply_64_bf16bf16f32_trans, true,
			   CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, -4);
	run<int8_t>(multiply_128_s8s8s32_trans, true,
		    CU_TENSOR_MAP_DATA_TYPE_UINT8, -4);
	run<uint8_t>(multiply_128_u8u8s32_trans, true,
		     CU_TENSOR_MAP_DATA_TYPE_UINT8, 200);
	return 0;
}
