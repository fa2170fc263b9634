/* addresses: from addresses.py, tirc 0.1.0, target c99
 * SPDX-License-Identifier: MIT-0
 *
 * meant for   -std=c99 -O3
 */
#include "addresses.h"

#include <stdint.h>

int32_t rows(const float *, float *);
int32_t more(float *, float *);

/* main_
 *   A         f32 [8][8]
 *   B         f32 [8], read and written
 *   C         f32 [8], read and written
 */
void
main_(const float A[restrict 8][8], float B[restrict 8], float C[restrict 8])
{
	for (int32_t i = 0; i < 2; ++i) {
		rows(&A[i * 4][0], &B[i * 4]);
	}
	for (int32_t i = 0; i < 2; ++i) {
		more(&B[i * 4], &C[0]);
	}
}
