/* float8: from float8.py, tirc 0.1.0, target c99
 * SPDX-License-Identifier: MIT-0
 *
 * meant for   -std=c99 -O3
 */
#ifndef FLOAT8_H
#define FLOAT8_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* scale
 *   A         f8e4m3fn [8]
 *   B         f8e5m2fnuz [8], read and written
 *   C         f8e5m2 [8], written
 * The arrays must not overlap.
 */
void scale(const uint8_t A[8], uint8_t B[8], uint8_t C[8]);

#ifdef __cplusplus
}
#endif

#endif
