/* scale: from plain.py, tirc 0.1.0, target c99
 * SPDX-License-Identifier: MIT-0
 *
 * meant for   -std=c99 -O3
 */
#include "scale.h"

#include <stdint.h>

/* halved
 *   X         f32 [n][10]
 *   Y         f32 [n][10], written
 */
void
halved(const float X[restrict][10], float Y[restrict][10], int32_t n)
{
	for (int32_t i0 = 0; i0 < n; ++i0) {
		for (int32_t i1 = 0; i1 < 10; ++i1) {
			Y[i0][i1] = X[i0][i1] * 0.5f;
		}
	}
}
