/* matmul_virtual: from the tests
 * SPDX-License-Identifier: MIT-0
 */

/* matmul_kernel
 *   grid    3, 4
 *   block   8, 8
 *   shared  768 bytes
 */
__kernel __attribute__((reqd_work_group_size(8, 8, 1))) void
matmul_kernel(__global const float (*restrict A)[40],
	      __global const float (*restrict B)[48],
	      __global float (*restrict C)[48])
{
	const int i_o = get_group_id(1);
	const int j_0 = get_group_id(0);
	__local float A_shared[8][8];
	__local float B_shared[8][16];
	const int ty = get_local_id(1);
	const int tx = get_local_id(0);
	const int ty_div2 = ty / 2;
	const int ii = i_o * 8 + ty;
	const int ty0 = ty % 2 * 8;
	float C_local[2];

	#pragma unroll
	for (int j_1 = 0; j_1 < 2; ++j_1) {
		C_local[j_1] = 0.0f;
	}
	for (int k_o = 0; k_o < 5; ++k_o) {
		A_shared[ty][tx] = A[ii][k_o * 8 + tx];
		for (int k_i_j_i_0 = 0; k_i_j_i_0 < 2; ++k_i_j_i_0) {
			B_shared[k_i_j_i_0 * 4 + ty_div2][tx + ty0] =
			        B[k_o * 8 + k_i_j_i_0 * 4 + ty_div2][j_0 * 16 + tx + ty0];
		}
		barrier(CLK_LOCAL_MEM_FENCE);
		for (int k_i = 0; k_i < 8; ++k_i) {
			#pragma unroll
			for (int j_1 = 0; j_1 < 2; ++j_1) {
				C_local[j_1] += A_shared[ty][k_i]
				              * B_shared[k_i][j_1 * 8 + tx];
			}
		}
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	#pragma unroll
	for (int j_1 = 0; j_1 < 2; ++j_1) {
		C[ii][j_0 * 16 + j_1 * 8 + tx] = C_local[j_1];
	}
}
