/* stencil_odd: from the tests
 * SPDX-License-Identifier: MIT-0
 */

/* stencil_kernel
 *   grid    2, 3
 *   block   32, 8
 *   shared  1360 bytes
 */
__kernel __attribute__((reqd_work_group_size(32, 8, 1))) void
stencil_kernel(__global const float (*restrict A)[47],
	       __global float (*restrict B)[45])
{
	const int y_o = get_group_id(1);
	const int x_o = get_group_id(0);
	__local float A_shared[340];
	const int ty = get_local_id(1);
	const int tx = get_local_id(0);
	const int ity = ty * 34 + tx;
	const int ix2 = x_o * 32 + tx;
	const int iy2 = y_o * 8 + ty;

	for (int i0_i_i1_i_0 = 0; i0_i_i1_i_0 < 2; ++i0_i_i1_i_0) {
		const int i0_i_i1_i = i0_i_i1_i_0 * 256 + ty * 32 + tx;
		const int i0_i = i0_i_i1_i / 34;
		const int iy = y_o * 8 + i0_i;
		const int i1_i = i0_i_i1_i % 34;
		const int ix = x_o * 32 + i1_i;

		if (iy < 21 && ix < 47 && i0_i_i1_i < 340) {
			A_shared[i0_i_i1_i] = A[iy][ix];
		}
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	if (iy2 < 19 && ix2 < 45) {
		B[iy2][ix2] = (A_shared[ity + 35] + A_shared[ity + 1]
		             + A_shared[ity + 34] + A_shared[ity + 69]
		             + A_shared[ity + 36]) * 0.2f;
	}
}
