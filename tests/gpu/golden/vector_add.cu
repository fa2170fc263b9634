/* vector_add: from the tests
 * SPDX-License-Identifier: MIT-0
 */

/* vector_add_kernel
 *   grid    (n + 31) / 32
 *   block   32
 */
extern "C" __global__ void __launch_bounds__(32)
vector_add_kernel(const float *__restrict__ A, const float *__restrict__ B,
		  float *__restrict__ C, int n)
{
	const int i_o = blockIdx.x;
	const int i_i = threadIdx.x;
	const int i = i_o * 32 + i_i;

	if (i < n) {
		C[i] = A[i] + B[i];
	}
}

extern "C" void
vector_add(const float *__restrict__ A, const float *__restrict__ B,
	   float *__restrict__ C, int n)
{
	vector_add_kernel<<<(n + 31) / 32, 32>>>(A, B, C, n);
}
