/* scale: written by tirc from a tensor program
 * SPDX-License-Identifier: MIT-0
 */
#ifndef SCALE_H
#define SCALE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void halved(const float X[][10], float Y[][10], int32_t n);

#ifdef __cplusplus
}
#endif

#endif
