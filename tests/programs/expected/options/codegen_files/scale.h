/* scale: from plain.py, tirc 0.1.0, target c99
 * SPDX-License-Identifier: MIT-0
 *
 * meant for   -std=c99 -O3
 */
#ifndef SCALE_H
#define SCALE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* halved
 *   X         f32 [n][10]
 *   Y         f32 [n][10], written
 * The arrays must not overlap.
 */
void halved(const float X[][10], float Y[][10], int32_t n);

#ifdef __cplusplus
}
#endif

#endif
