/* two_stages: from the tests
 * SPDX-License-Identifier: MIT-0
 */

/* mirror_kernel
 *   grid    (n + 63) / 64
 *   block   64
 */
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void
mirror_kernel(__global const float *restrict A, int n,
	      __global float *restrict T)
{
	const int i_o = get_group_id(0);
	const int i_i = get_local_id(0);
	const int i = i_o * 64 + i_i;

	if (i < n) {
		T[i] = A[i] * A[i];
	}
}

/* mirror_kernel_2
 *   grid    (n + 127) / 128
 *   block   128
 */
__kernel __attribute__((reqd_work_group_size(128, 1, 1))) void
mirror_kernel_2(__global float *restrict B, int n,
		__global const float *restrict T)
{
	const int i_o = get_group_id(0);
	const int i_i = get_local_id(0);
	const int i = i_o * 128 + i_i;
	const int in = n - i_o * 128 - i_i - 1;

	if (in >= 0) {
		B[i] = T[i] + T[in];
	}
}
