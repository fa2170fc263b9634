/* two_stages: from the tests
 * SPDX-License-Identifier: MIT-0
 */

/* mirror_kernel
 *   grid    (n + 63) / 64
 *   block   64
 */
extern "C" __global__ void __launch_bounds__(64)
mirror_kernel(const float *__restrict__ A, int n, float *__restrict__ T)
{
	const int i_o = blockIdx.x;
	const int i_i = threadIdx.x;
	const int i = i_o * 64 + i_i;

	if (i < n) {
		T[i] = A[i] * A[i];
	}
}

/* mirror_kernel_2
 *   grid    (n + 127) / 128
 *   block   128
 */
extern "C" __global__ void __launch_bounds__(128)
mirror_kernel_2(float *__restrict__ B, int n, const float *__restrict__ T)
{
	const int i_o = blockIdx.x;
	const int i_i = threadIdx.x;
	const int i = i_o * 128 + i_i;
	const int in = n - i_o * 128 - i_i - 1;

	if (in >= 0) {
		B[i] = T[i] + T[in];
	}
}

extern "C" void
mirror(const float *__restrict__ A, float *__restrict__ B, int n,
       float *__restrict__ T)
{
	mirror_kernel<<<(n + 63) / 64, 64>>>(A, n, T);
	mirror_kernel_2<<<(n + 127) / 128, 128>>>(B, n, T);
}
