/* smooth: from the tests
 * SPDX-License-Identifier: MIT-0
 */
#include <math.h>

/* smooth_kernel
 *   grid    5
 *   block   64
 *   shared  136 bytes
 */
extern "C" __global__ void __launch_bounds__(64)
smooth_kernel(const float *__restrict__ A, float *__restrict__ B)
{
	const int i_o = blockIdx.x;
	__shared__ float T[34];
	const int i_i = threadIdx.x;
	const int i = i_o * 32 + i_i;

	if (i < 132 && i_i < 34) {
		T[i_i] = expf(A[i]);
	}
	__syncthreads();
	if (i_i + 1 < 33 && i < 130) {
		B[i] = T[i_i] + T[i_i + 1] + T[i_i + 2];
	}
}

extern "C" void
smooth(const float *__restrict__ A, float *__restrict__ B)
{
	smooth_kernel<<<5, 64>>>(A, B);
}
