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

/* The tolerance of an element: atol + rtol |b| + terms * (the magnitude of its
 * sum's terms). */
struct tolerance {
	double rtol, atol, terms;
};

/* compare.c: the tolerance of a type; step as in struct pair. */
struct tolerance compare_tolerance(const struct cli *c, struct dtype t,
				   double step);
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

/* error_scale.c: the largest epsilon of the inputs' types; 0: no input has
 * floats. */
double error_scale_epsilon(const struct array *inputs, int n);
/* A copy of x whose elements are multiplied by 1 + share or 1 - share. */
struct array error_scale_moved(struct arena *a, const struct array *x,
			       double share, uint64_t *state);
/* Raises terms that are not negative to the change from `was` to `now`, divided
 * by share. */
void error_scale_see(const struct array *now, const struct array *was,
		     double share, double *terms);

#endif
