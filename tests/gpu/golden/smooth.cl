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
	const int tx = get_local_id(0);
	const int ii = i_o * 32 + tx;

	if (ii < 132 && tx < 34) {
		T[tx] = exp(A[ii]);
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	if (tx + 1 < 33 && ii < 130) {
		B[ii] = T[tx] + T[tx + 1] + T[tx + 2];
	}
}
