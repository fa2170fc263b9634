/* matmul: from the tests
 * SPDX-License-Identifier: MIT-0
 */

/* matmul_kernel
 *   grid    3, 4
 *   block   16, 16
 *   shared  2048 bytes
 */
__kernel __attribute__((reqd_work_group_size(16, 16, 1))) void
matmul_kernel(__global const float (*restrict A)[80],
	      __global const float (*restrict B)[48],
	      __global float (*restrict C)[48])
{
	const int i_o = get_group_id(1);
	const int j_o = get_group_id(0);
	__local float A_shared[16][16];
	__local float B_shared[16][16];
	const int ty = get_local_id(1);
	const int tx = get_local_id(0);
	const int ij = j_o * 16 + tx;
	const int ii = i_o * 16 + ty;
	float C_local = 0.0f;

	for (int k_o = 0; k_o < 5; ++k_o) {
		A_shared[ty][tx] = A[ii][k_o * 16 + tx];
		B_shared[ty][tx] = B[k_o * 16 + ty][ij];
		barrier(CLK_LOCAL_MEM_FENCE);
		for (int k_i = 0; k_i < 16; ++k_i) {
			C_local += A_shared[ty][k_i] * B_shared[k_i][tx];
		}
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	C[ii][ij] = C_local;
}
