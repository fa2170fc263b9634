/* matmul_ahead: from the tests
 * SPDX-License-Identifier: MIT-0
 */

/* matmul_kernel
 *   grid    3, 2
 *   block   16, 16
 *   shared  4096 bytes
 */
__kernel __attribute__((reqd_work_group_size(16, 16, 1))) void
matmul_kernel(__global const float (*restrict A)[64],
	      __global const float (*restrict B)[48],
	      __global float (*restrict C)[48])
{
	const int i_o = get_group_id(1);
	const int j_o = get_group_id(0);
	__local float A_shared[2][16][16];
	__local float B_shared[2][16][16];
	const int ty = get_local_id(1);
	const int tx = get_local_id(0);
	const int ij = j_o * 16 + tx;
	const int ii = i_o * 16 + ty;
	float C_local = 0.0f;

	A_shared[0][ty][tx] = A[ii][tx];
	B_shared[0][ty][tx] = B[ty][ij];
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int k_o = 0; k_o < 3; ++k_o) {
		const int k_mod2 = k_o % 2;
		const int k1_mod2 = (k_o + 1) % 2;

		A_shared[k1_mod2][ty][tx] = A[ii][k_o * 16 + tx + 16];
		B_shared[k1_mod2][ty][tx] = B[k_o * 16 + ty + 16][ij];
		for (int k_i = 0; k_i < 16; ++k_i) {
			C_local += A_shared[k_mod2][ty][k_i]
			         * B_shared[k_mod2][k_i][tx];
		}
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	for (int k_i = 0; k_i < 16; ++k_i) {
		C_local += A_shared[1][ty][k_i] * B_shared[1][k_i][tx];
	}
	C[ii][ij] = C_local;
}
