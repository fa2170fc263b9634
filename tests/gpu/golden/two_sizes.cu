/* program
 * SPDX-License-Identifier: MIT-0
 */

/* program_kernel
 *   grid    (n * m + 127) / 128
 *   block   128
 */
extern "C" __global__ void __launch_bounds__(128)
program_kernel(const float *__restrict__ x, float *__restrict__ y, int n, int m)
{
	const long long bx = blockIdx.x;
	const int tx = threadIdx.x;
	const long long ibx = bx * 128 + tx;

	if (ibx < (long long)n * m) {
		y[ibx] = x[ibx] + 1.0f;
	}
}

extern "C" void
program(const float *__restrict__ x, float *__restrict__ y, int n, int m)
{
	program_kernel<<<((long long)n * m + 127) / 128, 128>>>(x, y, n, m);
}
