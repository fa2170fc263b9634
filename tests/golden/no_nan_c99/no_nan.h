/* no_nan: from no_nan.py, tirc 0.1.0, target c99
 * SPDX-License-Identifier: MIT-0
 *
 * meant for   -std=c99 -O3
 */
#ifndef NO_NAN_H
#define NO_NAN_H

#ifdef __cplusplus
extern "C" {
#endif

/* main_
 *   x         f32 [4][40]
 *   y         f32 [4][3], written
 * The arrays must not overlap.
 */
void main_(const float x[4][40], float y[4][3]);

#ifdef __cplusplus
}
#endif

#endif
