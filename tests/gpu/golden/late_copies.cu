/* program: from the tests
 * SPDX-License-Identifier: MIT-0
 */
#include <cuda_pipeline.h>

/* program_kernel
 *   grid    1
 *   block   16, 16
 *   shared  6144 bytes
 */
extern "C" __global__ void __launch_bounds__(256)
program_kernel(const float (*__restrict__ x)[128],
	       const float (*__restrict__ w)[16], float (*__restrict__ y)[16])
{
	__shared__ __align__(16) float xs[3][16][16];
	__shared__ float ws[3][16][16];
	const int ty = threadIdx.y;
	const int tx = threadIdx.x;
	float acc = 0.0f;

	if (tx < 4) {
		__pipeline_memcpy_async(&xs[0][ty][tx * 4], &x[ty][tx * 4], 16);
	}
	__pipeline_memcpy_async(&ws[0][ty][tx], &w[ty][tx], 4);
	__pipeline_commit();
	if (tx < 4) {
		__pipeline_memcpy_async(&xs[1][ty][tx * 4], &x[ty][tx * 4 + 16],
		                        16);
	}
	__pipeline_memcpy_async(&ws[1][ty][tx], &w[ty + 16][tx], 4);
	__pipeline_commit();
	__pipeline_wait_prior(1);
	__syncthreads();
	for (int k = 0; k < 6; ++k) {
		const int k_mod3 = k % 3;
		const int k2_mod3 = (k + 2) % 3;

		if (tx < 4) {
			__pipeline_memcpy_async(&xs[k2_mod3][ty][tx * 4],
			                        &x[ty][k * 16 + tx * 4 + 32], 16);
		}
		__pipeline_memcpy_async(&ws[k2_mod3][ty][tx],
		                        &w[k * 16 + ty + 32][tx], 4);
		__pipeline_commit();
		for (int q = 0; q < 16; ++q) {
			acc += xs[k_mod3][ty][q] * ws[k_mod3][q][tx];
		}
		__pipeline_wait_prior(1);
		__syncthreads();
	}
	for (int q = 0; q < 16; ++q) {
		acc += xs[0][ty][q] * ws[0][q][tx];
	}
	__pipeline_wait_prior(0);
	__syncthreads();
	for (int q = 0; q < 16; ++q) {
		acc += xs[1][ty][q] * ws[1][q][tx];
	}
	y[ty][tx] = acc;
}

extern "C" void
program(const float (*__restrict__ x)[128], const float (*__restrict__ w)[16],
	float (*__restrict__ y)[16])
{
	program_kernel<<<1, dim3(16, 16)>>>(x, w, y);
}
