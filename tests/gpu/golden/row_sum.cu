/* row_sum: from the tests
 * SPDX-License-Identifier: MIT-0
 */

/* row_sum_kernel
 *   grid    20
 *   block   32
 *   shared  128 bytes
 */
extern "C" __global__ void __launch_bounds__(32)
row_sum_kernel(const float (*__restrict__ A)[128], float *__restrict__ B)
{
	const int i = blockIdx.x;
	__shared__ float B_all[32];
	const int k_i = threadIdx.x;
	float B_part = 0.0f;

	for (int k_o = 0; k_o < 4; ++k_o) {
		B_part += A[i][k_o * 32 + k_i];
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
row_sum(const float (*__restrict__ A)[128], float *__restrict__ B)
{
	row_sum_kernel<<<20, 32>>>(A, B);
}
