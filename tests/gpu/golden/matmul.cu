/* matmul: from the tests
 * SPDX-License-Identifier: MIT-0
 */

/* matmul_kernel
 *   grid    3, 4
 *   block   16, 16
 *   shared  2048 bytes
 */
extern "C" __global__ void __launch_bounds__(256)
matmul_kernel(const float (*__restrict__ A)[80],
	      const float (*__restrict__ B)[48], float (*__restrict__ C)[48])
{
	const int i_o = blockIdx.y;
	const int j_o = blockIdx.x;
	__shared__ float A_shared[16][16];
	__shared__ float B_shared[16][16];
	const int ty = threadIdx.y;
	const int tx = threadIdx.x;
	const int ij = j_o * 16 + tx;
	const int ii = i_o * 16 + ty;
	float C_local = 0.0f;

	for (int k_o = 0; k_o < 5; ++k_o) {
		A_shared[ty][tx] = A[ii][k_o * 16 + tx];
		B_shared[ty][tx] = B[k_o * 16 + ty][ij];
		__syncthreads();
		for (int k_i = 0; k_i < 16; ++k_i) {
			C_local += A_shared[ty][k_i] * B_shared[k_i][tx];
		}
		__syncthreads();
	}
	C[ii][ij] = C_local;
}

extern "C" void
matmul(const float (*__restrict__ A)[80], const float (*__restrict__ B)[48],
       float (*__restrict__ C)[48])
{
	matmul_kernel<<<dim3(3, 4), dim3(16, 16)>>>(A, B, C);
}
