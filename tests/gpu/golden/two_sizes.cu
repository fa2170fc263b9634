/* program: from the tests
 * SPDX-License-Identifier: MIT-0
 */

static unsigned
grid_extent_i64(long long n) /* what a grid cannot have becomes 0, an error */
{
	return n > 0 && n <= 2147483647 ? (unsigned)n : 0u;
}

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
	program_kernel<<<grid_extent_i64(((long long)n * m + 127) / 128),
	                 128>>>(x, y, n, m);
}
