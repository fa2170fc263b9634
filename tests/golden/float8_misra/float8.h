/* float8: written by tirc from a tensor program
 * SPDX-License-Identifier: MIT-0
 */
#ifndef FLOAT8_H
#define FLOAT8_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void scale(const uint8_t A[8], uint8_t B[8], uint8_t C[8]);

#ifdef __cplusplus
}
#endif

#endif
