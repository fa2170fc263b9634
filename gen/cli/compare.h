/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the outputs of a model with the expected ones, for `tirc test`. */
#ifndef TIRC_CLI_COMPARE_H
#define TIRC_CLI_COMPARE_H

#include "harness.h"

/* Runs on perturbed inputs, at most and at least. */
enum { OBSERVED_RUNS = 8, OBSERVED_LEAST = 4 };

/* An output as it was in runs on perturbed inputs. Each element of the inputs
 * was multiplied by 1 + share * sqrt(3) * u, u uniform between -1 and 1. */
struct observed {
	struct array runs[OBSERVED_RUNS];
	int n;
	double share;
	/* per element: two runs on the same inputs differed; NULL: none did */
	const bool *random;
};

/* An element's values in these runs and in the run on the inputs themselves,
 * sorted. Rounding errors move it by up to `width`, if it is a continuous
 * function of the inputs. If a gap between two values is far wider, there is a
 * step of a rounding, a comparison or a choice in the model; its height is no
 * part of the width. */
struct element {
	double values[OBSERVED_RUNS + 1];
	int n;
	double width;
};

struct pair {
	const char *where; /* the first word of its line */
	int result;        /* the number of `got` among the program's results */
	const struct array *got, *want;
	double step;               /* of a quantized result (tirc.h); 0: none */
	struct observed *observed; /* NULL: no runs */
};

/* The tolerance of an element: atol + rtol |b| + the effect of a relative change
 * `inputs` of the model's inputs. A quantized value may differ by one step, also
 * where it is dequantized: a sum half-way between two steps rounds to either,
 * depending on the order of summation. */
struct tolerance {
	double rtol, atol, inputs, step;
};

struct comparison {
	double max_abs, max_rel, max_ulp;
	double most_width; /* the largest tolerance by perturbed inputs */
	int64_t bad;       /* elements (strings) beyond their tolerance */
	/* elements one step off; of a quantized result, and of others whose
	 * perturbed runs are on both sides of the step */
	int64_t stepped, other_side;
	bool too_many; /* of these: more than rounding errors explain */
	/* the element (string) with the largest error, in units of its
	 * tolerance */
	int64_t worst;
	double worst_units;
	bool same_shape;
};

/* compare.c: the tolerance that the user gives, or that of a type; step as in
 * struct pair. */
struct tolerance compare_tolerance(const struct cli *c, struct dtype t,
				   double step);
void pair_compare(const struct cli *c, const struct pair *x,
		  struct comparison *out);
/* Is every element within its tolerance? */
bool pair_near(const struct cli *c, const struct pair *x);
/* An element as a double, of any type. */
double array_double(const struct array *a, int64_t i);
/* report.c: compares and prints the result as a line on stdout; with --quiet,
 * only a failure. */
bool pair_report(const struct cli *c, const struct pair *x);

/* observed.c: the share for inputs of these types and results of tolerance t; 0:
 * no input has floats, which could be perturbed. */
double observed_share(const struct cli *c, const struct array *inputs, int n,
		      const struct tolerance *t, int n_results);
/* A copy of x with perturbed elements, if it has floats. */
struct array observed_moved(struct arena *a, const struct array *x,
			    double share, uint64_t *state);
/* Element i of an output. */
void observed_element(const struct observed *o, const struct array *got,
		      int64_t i, struct element *out);
/* Is there a step between two values of the element? */
bool element_steps(const struct element *e, double a, double b);
/* The tolerance of the element by perturbed inputs. */
double element_width(const struct element *e, const struct observed *o,
		     const struct tolerance *t);

/* observe.c: if an element of an output that h gave for the inputs exceeds its
 * tolerance, h runs on perturbed inputs, for the pairs' `observed`. */
void harness_observe(struct harness *h, const struct array *inputs,
		     struct pair *pairs, int n);
/* The same, and compares, and prints a line for each. False: an element exceeds
 * its tolerance. */
bool harness_compare(struct harness *h, const struct array *inputs,
		     struct pair *pairs, int n);

#endif
