/* row_sum_any: from the tests
 * SPDX-License-Identifier: MIT-0
 */

/* row_sum_kernel
 *   grid    m
 *   block   32
 *   shared  128 bytes
 */
extern "C" __global__ void __launch_bounds__(32)
row_sum_kernel(const float *__restrict__ A, float *__restrict__ B, int m, int k)
{
	const int i = blockIdx.x;
	__shared__ float B_all[32];
	const int k_i = threadIdx.x;
	float B_part = 0.0f;

	for (int k_o = 0; k_o < (k + 31) / 32; ++k_o) {
		const int k2 = k_o * 32 + k_i;

		if (k2 < k) {
			B_part += A[i * k + k2];
		}
	}
	B_all[k_i] = B_part;
	__syncthreads();
	if (k_i + 16 < 32) {
		B_all[k_i] += B_all[k_i + 16];
	}
	__syncthreads();
	if (k_i + 8 < 16) {
		B_all[k_i] += B_all[k_i + 8];
	}
	__syncthreads();
	if (k_i + 4 < 8) {
		B_all[k_i] += B_all[k_i + 4];
	}
	__syncthreads();
	if (k_i + 2 < 4) {
		B_all[k_i] += B_all[k_i + 2];
	}
	__syncthreads();
	if (k_i < 1) {
		B_all[0] += B_all[1];
	}
	if (k_i == 0) {
		B[i] = B_all[0];
	}
}

extern "C" void
row_sum(const float *__restrict__ A, float *__restrict__ B, int m, int k)
{
	row_sum_kernel<<<m, 32>>>(A, B, m, k);
}
