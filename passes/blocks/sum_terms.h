/* SPDX-License-Identifier: Apache-2.0 */
/* The note that schedules leave for the pass block-sums. */
#ifndef TIRC_SUM_TERMS_H
#define TIRC_SUM_TERMS_H

/* On a loop: the most terms that one accumulator of a float sum inside of it
 * may add. */
#define SUM_TERMS "sum_terms"

#endif
