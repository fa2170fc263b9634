/* addresses: written by tirc from a tensor program
 * SPDX-License-Identifier: MIT-0
 */
#ifndef ADDRESSES_H
#define ADDRESSES_H

#ifdef __cplusplus
extern "C" {
#endif

void main_(const float A[8][8], float B[8], float C[8]);

#ifdef __cplusplus
}
#endif

#endif
