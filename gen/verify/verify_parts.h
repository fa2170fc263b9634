/* SPDX-License-Identifier: Apache-2.0 */
/* Private to verify/. */
#ifndef TIRC_VERIFY_PARTS_H
#define TIRC_VERIFY_PARTS_H

#include "verify_kernel.h"

/* Runs case `index` on inputs whose floats are multiplied by numbers near 1
 * (verify_kernel.share). data: by parameter an array that gets the inputs, then
 * the results; a constant's is the constant. *state: of the random numbers. */
bool verify_perturbed(struct verify_kernel *k, const struct verify_cases *c,
		      int index, uint64_t *state, void *const *data);

#endif
