/* addresses: from addresses.py, tirc 0.1.0, target c99
 * SPDX-License-Identifier: MIT-0
 *
 * meant for   -std=c99 -O3
 */
#ifndef ADDRESSES_H
#define ADDRESSES_H

#ifdef __cplusplus
extern "C" {
#endif

/* main_
 *   A         f32 [8][8]
 *   B         f32 [8], read and written
 *   C         f32 [8], read and written
 * The arrays must not overlap.
 */
void main_(const float A[8][8], float B[8], float C[8]);

#ifdef __cplusplus
}
#endif

#endif
