/* matmul_virtual: from the tests
 * SPDX-License-Identifier: MIT-0
 */

/* matmul_kernel
 *   grid    3, 4
 *   block   8, 8
 *   shared  768 bytes
 */
extern "C" __global__ void __launch_bounds__(64)
matmul_kernel(const float (*__restrict__ A)[40],
	      const float (*__restrict__ B)[48], float (*__restrict__ C)[48])
{
	const int i_o = blockIdx.y;
	const int j_0 = blockIdx.x;
	__shared__ float A_shared[8][8];
	__shared__ float B_shared[8][16];
	const int ty = threadIdx.y;
	const int tx = threadIdx.x;
	const int ty_div2 = ty / 2;
	const int ii = i_o * 8 + ty;
	const int ty0 = ty % 2 * 8;
	float C_local[2];

	#pragma unroll
	for (int j_1 = 0; j_1 < 2; ++j_1) {
		C_local[j_1] = 0.0f;
	}
	for (int k_o = 0; k_o < 5; ++k_o) {
		A_shared[ty][tx] = A[ii][k_o * 8 + tx];
		for (int k_i_j_i_0 = 0; k_i_j_i_0 < 2; ++k_i_j_i_0) {
			B_shared[k_i_j_i_0 * 4 + ty_div2][tx + ty0] =
			        B[k_o * 8 + k_i_j_i_0 * 4 + ty_div2][j_0 * 16 + tx + ty0];
		}
		__syncthreads();
		for (int k_i = 0; k_i < 8; ++k_i) {
			#pragma unroll
			for (int j_1 = 0; j_1 < 2; ++j_1) {
				C_local[j_1] += A_shared[ty][k_i]
				              * B_shared[k_i][j_1 * 8 + tx];
			}
		}
		__syncthreads();
	}
	#pragma unroll
	for (int j_1 = 0; j_1 < 2; ++j_1) {
		C[ii][j_0 * 16 + j_1 * 8 + tx] = C_local[j_1];
	}
}

extern "C" void
matmul(const float (*__restrict__ A)[40], const float (*__restrict__ B)[48],
       float (*__restrict__ C)[48])
{
	matmul_kernel<<<dim3(3, 4), dim3(8, 8)>>>(A, B, C);
}
