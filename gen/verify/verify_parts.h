/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share. */
#ifndef TIRC_VERIFY_PARTS_H
#define TIRC_VERIFY_PARTS_H

#include "verify_kernel.h"

/* Are some numbers of the case the largest or least of their type? */
bool verify_is_huge(enum verify_mood mood);

/* Interprets case `index` on changed inputs: each float is multiplied by a
 * random factor near 1 (verify_kernel.share). data[i]: an array for parameter
 * i, which gets the changed input and, after the run, the result; if the
 * parameter is a constant, the constant itself. *state: the state of the random
 * numbers. */
bool verify_perturbed(struct verify_kernel *k, const struct verify_cases *c,
		      int index, uint64_t *state, void *const *data);

/* Element i of an array, with the digits that tell floats of 32 bits apart. */
const char *verify_number_text(struct arena *a, struct dtype t,
			       const void *data, int64_t i);

#endif
