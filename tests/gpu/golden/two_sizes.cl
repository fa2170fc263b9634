/* program: from the tests
 * SPDX-License-Identifier: MIT-0
 */

/* program_kernel
 *   grid    (n * m + 127) / 128
 *   block   128
 */
__kernel __attribute__((reqd_work_group_size(128, 1, 1))) void
program_kernel(__global const float *restrict x, __global float *restrict y,
	       int n, int m)
{
	const long bx = get_group_id(0);
	const int tx = get_local_id(0);
	const long ibx = bx * 128 + tx;

	if (ibx < (long)n * m) {
		y[ibx] = x[ibx] + 1.0f;
	}
}
