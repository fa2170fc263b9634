/* smooth: from the tests
 * SPDX-License-Identifier: MIT-0
 */

/* smooth_kernel
 *   grid    5
 *   block   64
 *   shared  136 bytes
 */
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void
smooth_kernel(__global const float *restrict A, __global float *restrict B)
{
	const int i_o = get_group_id(0);
	__local float T[34];
	const int i_i = get_local_id(0);
	const int i = i_o * 32 + i_i;

	if (i < 132 && i_i < 34) {
		T[i_i] = exp(A[i]);
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	if (i_i + 1 < 33 && i < 130) {
		B[i] = T[i_i] + T[i_i + 1] + T[i_i + 2];
	}
}
