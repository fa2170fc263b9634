/* matmul_ahead: from the tests
 * SPDX-License-Identifier: MIT-0
 */

/* matmul_kernel
 *   grid    3, 2
 *   block   16, 16
 *   shared  4096 bytes
 */
extern "C" __global__ void __launch_bounds__(256)
matmul_kernel(const float (*__restrict__ A)[64],
	      const float (*__restrict__ B)[48], float (*__restrict__ C)[48])
{
	const int i_o = blockIdx.y;
	const int j_o = blockIdx.x;
	__shared__ float A_shared[2][16][16];
	__shared__ float B_shared[2][16][16];
	const int ty = threadIdx.y;
	const int tx = threadIdx.x;
	const int ij = j_o * 16 + tx;
	const int ii = i_o * 16 + ty;
	float C_local = 0.0f;

	A_shared[0][ty][tx] = A[ii][tx];
	B_shared[0][ty][tx] = B[ty][ij];
	__syncthreads();
	for (int k_o = 0; k_o < 3; ++k_o) {
		const int k_mod2 = k_o % 2;
		const int k1_mod2 = (k_o + 1) % 2;

		A_shared[k1_mod2][ty][tx] = A[ii][k_o * 16 + tx + 16];
		B_shared[k1_mod2][ty][tx] = B[k_o * 16 + ty + 16][ij];
		for (int k_i = 0; k_i < 16; ++k_i) {
			C_local += A_shared[k_mod2][ty][k_i]
			         * B_shared[k_mod2][k_i][tx];
		}
		__syncthreads();
	}
	for (int k_i = 0; k_i < 16; ++k_i) {
		C_local += A_shared[1][ty][k_i] * B_shared[1][k_i][tx];
	}
	C[ii][ij] = C_local;
}

extern "C" void
matmul(const float (*__restrict__ A)[64], const float (*__restrict__ B)[48],
       float (*__restrict__ C)[48])
{
	matmul_kernel<<<dim3(3, 2), dim3(16, 16)>>>(A, B, C);
}
