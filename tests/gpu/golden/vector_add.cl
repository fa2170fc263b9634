/* vector_add: from the tests
 * SPDX-License-Identifier: MIT-0
 */

/* vector_add_kernel
 *   grid    (n + 31) / 32
 *   block   32
 */
__kernel __attribute__((reqd_work_group_size(32, 1, 1))) void
vector_add_kernel(__global const float *restrict A,
		  __global const float *restrict B, __global float *restrict C,
		  int n)
{
	const int i_o = get_group_id(0);
	const int i_i = get_local_id(0);
	const int i = i_o * 32 + i_i;

	if (i < n) {
		C[i] = A[i] + B[i];
	}
}
