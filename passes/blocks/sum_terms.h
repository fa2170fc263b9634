/* SPDX-License-Identifier: Apache-2.0 */
/* The note that schedules leave for the pass `block-sums`. */
#ifndef TIRC_SUM_TERMS_H
#define TIRC_SUM_TERMS_H

/* A note on a loop: the largest number of terms that one accumulator of a float
 * sum inside of the loop may add. */
#define SUM_TERMS "sum_terms"

#endif
