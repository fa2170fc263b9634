/* row_sum_any: from the tests
 * SPDX-License-Identifier: MIT-0
 */

/* row_sum_kernel
 *   grid    m
 *   block   32
 *   shared  128 bytes
 */
__kernel __attribute__((reqd_work_group_size(32, 1, 1))) void
row_sum_kernel(__global const float *restrict A, __global float *restrict B,
	       int m, int k)
{
	const int i = get_group_id(0);
	__local float B_all[32];
	const int k_i = get_local_id(0);
	float B_part = 0.0f;

	for (int k_o = 0; k_o < (k + 31) / 32; ++k_o) {
		const int k2 = k_o * 32 + k_i;

		if (k2 < k) {
			B_part += A[i * k + k2];
		}
	}
	B_all[k_i] = B_part;
	barrier(CLK_LOCAL_MEM_FENCE);
	if (k_i + 16 < 32) {
		B_all[k_i] += B_all[k_i + 16];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	if (k_i + 8 < 16) {
		B_all[k_i] += B_all[k_i + 8];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	if (k_i + 4 < 8) {
		B_all[k_i] += B_all[k_i + 4];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	if (k_i + 2 < 4) {
		B_all[k_i] += B_all[k_i + 2];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	if (k_i < 1) {
		B_all[0] += B_all[1];
	}
	if (k_i == 0) {
		B[i] = B_all[0];
	}
}
