/* no_nan: from no_nan.py, tirc 0.1.0, target c99
 * SPDX-License-Identifier: MIT-0
 *
 * meant for   -std=c99 -O3
 */
#include "no_nan.h"

#include <math.h>
#include <stdint.h>

static float
max_f32(float a, float b) /* NaN if one is */
{
	const float larger = b > a ? b : a; /* a, where one is NaN */

	return b != b ? b : larger;
}

/* main_
 *   x         f32 [4][40]
 *   y         f32 [4][3], written
 */
void
main_(const float x[restrict 4][40], float y[restrict 4][3])
{
	for (int32_t i = 0; i < 4; ++i) {
		float best = -INFINITY;
		float all = -INFINITY;
		float late;

		for (int32_t k = 0; k < 40; ++k) {
			const float v = isnan(x[i][k]) ? -INFINITY : x[i][k];

			best = best < v ? v : best;
			all = max_f32(all, x[i][k]);
		}
		late = best < 0.0f ? 0.0f : best;
		y[i][0] = late < best ? best : late;
		late = all;
		y[i][1] = late < best ? best : late;
		y[i][2] = max_f32(all, late);
	}
}
