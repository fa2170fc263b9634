/* matmul_any: from the tests
 * SPDX-License-Identifier: MIT-0
 */

/* matmul_kernel
 *   grid    (n + 15) / 16, (m + 15) / 16
 *   block   16, 16
 *   shared  2048 bytes
 */
extern "C" __global__ void __launch_bounds__(256)
matmul_kernel(const float *__restrict__ A, const float *__restrict__ B,
	      float *__restrict__ C, int m, int k, int n)
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

	for (int k_o = 0; k_o < (k + 15) / 16; ++k_o) {
		const int ik2 = k_o * 16 + ty;
		const int ik = k_o * 16 + tx;

		if (ii < m && ik < k) {
			A_shared[ty][tx] = A[ii * k + ik];
		}
		if (ik2 < k && ij < n) {
			B_shared[ty][tx] = B[ik2 * n + ij];
		}
		__syncthreads();
		if (ii < m && ij < n) {
			for (int k_i = 0; k_i < 16; ++k_i) {
				if (k_o * 16 + k_i < k) {
					C_local += A_shared[ty][k_i] * B_shared[k_i][tx];
				}
			}
		}
		__syncthreads();
	}
	if (ii < m && ij < n) {
		C[ii * n + ij] = C_local;
	}
}

extern "C" void
matmul(const float *__restrict__ A, const float *__restrict__ B,
       float *__restrict__ C, int m, int k, int n)
{
	matmul_kernel<<<dim3((n + 15) / 16, (m + 15) / 16),
	                dim3(16, 16)>>>(A, B, C, m, k, n);
}
