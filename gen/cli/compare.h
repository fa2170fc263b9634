/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs beside those that are wanted: for test. */
#ifndef TIRC_CLI_COMPARE_H
#define TIRC_CLI_COMPARE_H

#include "harness.h"

struct pair {
	const char *where; /* the first word of its line */
	const struct array *got, *want;
	bool quantized;      /* integers that reals were rounded to */
	const double *terms; /* per element the size of its terms, below 0:
				    * two runs differ; NULL: not known */
};

/* compare.c: are all elements near enough? */
bool pair_near(const struct cli *c, const struct pair *x);
/* A line on stdout about that, unless quiet and all is well. */
bool pair_report(const struct cli *c, const struct pair *x);
/* error_scale.c: all outputs of h, which it gave for the inputs. Where one is not
 * near enough, h runs on inputs that are moved by their last bit: how far each
 * element goes then tells the size of its terms. A line for each, as above.
 * False: not all are near enough. */
bool harness_compare(struct harness *h, const struct array *inputs,
		     struct pair *pairs, int n);

#endif
