/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the outputs of a model with the expected ones, for `tirc test`. */
#ifndef TIRC_CLI_COMPARE_H
#define TIRC_CLI_COMPARE_H

#include "harness.h"

struct pair {
	const char *where; /* the first word of its line */
	const struct array *got, *want;
	double step;         /* of a quantized result (tirc.h); 0: none */
	const double *terms; /* per element the size of its terms, below 0:
				    * two runs differ; NULL: not known */
};

/* compare.c: is every element within its tolerance? */
bool pair_near(const struct cli *c, const struct pair *x);
/* Prints the result as a line on stdout; with --quiet, only a failure. */
bool pair_report(const struct cli *c, const struct pair *x);
/* error_scale.c: compares all outputs that h gave for the inputs, and prints a line
 * for each. If an element exceeds its tolerance, h runs on inputs perturbed by
 * their last bit: how far the element moves then gives the size of its terms,
 * which the tolerance depends on. False: an element exceeds it still. */
bool harness_compare(struct harness *h, const struct array *inputs,
		     struct pair *pairs, int n);

#endif
