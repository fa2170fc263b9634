/* stencil: from the tests
 * SPDX-License-Identifier: MIT-0
 */

/* stencil_kernel
 *   grid    2, 4
 *   block   32, 8
 *   shared  1360 bytes
 */
extern "C" __global__ void __launch_bounds__(256)
stencil_kernel(const float (*__restrict__ A)[66], float (*__restrict__ B)[64])
{
	const int y_o = blockIdx.y;
	const int x_o = blockIdx.x;
	__shared__ float A_shared[340];
	const int ty = threadIdx.y;
	const int tx = threadIdx.x;
	const int ity = ty * 34 + tx;

	for (int i0_i_i1_i_0 = 0; i0_i_i1_i_0 < 2; ++i0_i_i1_i_0) {
		const int i0_i_i1_i = i0_i_i1_i_0 * 256 + ty * 32 + tx;
		const int i0_i = i0_i_i1_i / 34;
		const int i1_i = i0_i_i1_i % 34;

		if (i0_i_i1_i < 340) {
			A_shared[i0_i_i1_i] = A[y_o * 8 + i0_i][x_o * 32 + i1_i];
		}
	}
	__syncthreads();
	B[y_o * 8 + ty][x_o * 32 + tx] = (A_shared[ity + 35] + A_shared[ity + 1]
	                                + A_shared[ity + 34]
	                                + A_shared[ity + 69]
	                                + A_shared[ity + 36]) * 0.2f;
}

extern "C" void
stencil(const float (*__restrict__ A)[66], float (*__restrict__ B)[64])
{
	stencil_kernel<<<dim3(2, 4), dim3(32, 8)>>>(A, B);
}
