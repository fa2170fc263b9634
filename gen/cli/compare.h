/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the outputs of a model with the expected ones, for `tirc test`. */
#ifndef TIRC_COMPARE_H
#define TIRC_COMPARE_H

#include "harness.h"

/* The number of runs on perturbed inputs: at most OBSERVED_RUNS, at least
 * OBSERVED_LEAST. */
enum { OBSERVED_RUNS = 8, OBSERVED_LEAST = 4 };

/* The values of an output in runs on perturbed inputs. Each element of an input
 * was multiplied by 1 + share * sqrt(3) * u, with u uniform in [-1, 1]. */
struct observed {
	struct array runs[OBSERVED_RUNS];
	int n;
	/* the runs are of another program than the one that is tested: the tested
	 * one's value of an element is no evidence of a step then */
	bool twin;
	double share;
	/* by element: did it differ between two runs on the same inputs? NULL
	 * if none did */
	const bool *random;
};

/* The values of one element in these runs and, if they are of the same program, in
 * the run on the given inputs, sorted. If the element is a continuous function of
 * the inputs, rounding errors move it by up to `width`. A gap between two values
 * that is much wider is a step: the model rounds, compares or chooses there. The
 * height of a step is not part of the width. */
struct element {
	double values[OBSERVED_RUNS + 1];
	int n;
	double width;
};

/* A result of the program (got), and the expected one (want). */
struct pair {
	const char *where; /* the word with which the line about the pair
			    * begins */
	int result;        /* index of `got` among the program's results */
	const struct array *got, *want;
	/* the type of the arithmetic that computed `got` (tirc_tensor); NULL:
	 * the type of its elements */
	const char *arithmetic;
	/* if the result is quantized: the difference of neighbouring values
	 * (tirc_tensor.step); else 0 */
	double step;
	struct observed *observed; /* NULL without perturbed runs */
	/* The value of --requant with which all results of the data set are
	 * equal, though some differ by more than a step now; else NULL. */
	const char *equal_with;
};

/* The tolerance of an element with the expected value b: atol + rtol |b|, plus
 * the effect on the element of a relative change `inputs` of the model's
 * inputs. A quantized value, or one that is dequantized, may also differ by one
 * `step`: a sum half-way between two steps may round to either, depending on
 * the order of summation. */
struct tolerance {
	double rtol, atol, inputs, step;
};

/* How a pair compares. */
struct comparison {
	/* the largest absolute and relative error, and the largest one in units
	 * in the last place */
	double max_abs, max_rel, max_ulp;
	double most_width; /* the largest element_width() */
	int64_t bad;       /* the number of elements (or strings) beyond their
			    * tolerance */
	/* stepped: the number of quantized elements that differ by one step;
	 * other_side: that of elements whose perturbed runs are on both sides
	 * of a step */
	int64_t stepped, other_side;
	bool too_many; /* other_side is larger than rounding errors explain */
	/* index of the element (or string) with the largest error in units of
	 * its tolerance; worst_units: that error */
	int64_t worst;
	double worst_units;
	bool same_shape;
};

/* compare.c: the user's tolerance for a pair, or the default of its type; the
 * second function takes arithmetic and step as in struct pair. */
struct tolerance pair_tolerance(const struct cli *c, const struct pair *x);
struct tolerance compare_tolerance(const struct cli *c, struct dtype t,
				   const char *arithmetic, double step);
void pair_compare(const struct cli *c, const struct pair *x,
		  struct comparison *out);
/* Is every element within its tolerance? */
bool pair_near(const struct cli *c, const struct pair *x);
/* Element i, of any type, as a double. */
double array_double(const struct array *a, int64_t i);
/* report.c: "ONNX's" or "TensorFlow Lite's": the owner of a rounding. */
const char *other_rounding_owner(const char *rounding);
/* report.c: how a pair compares. PAIR_UNDECIDED: not equal, but the data set has the
 * other rounding (equal_with), with which all is equal, so that it says little. */
enum pair_verdict { PAIR_OK, PAIR_UNDECIDED, PAIR_FAILED };

/* Compares a pair, and prints the result as a line on stdout; with --quiet only
 * if it failed. */
enum pair_verdict pair_report(const struct cli *c, const struct pair *x);

/* observed.c: the relative perturbation of inputs, for inputs of these types
 * and results of these tolerances; 0 if no input has floats. */
double observed_share(const struct cli *c, const struct array *inputs, int n,
		      const struct tolerance *t, int n_results);
/* A copy of x whose elements are multiplied as struct observed says; x itself
 * if it has no floats. *state: of the random numbers. */
struct array observed_moved(struct arena *a, const struct array *x,
			    double share, uint64_t *state);
/* Sets *out to the values of element i in the observed runs and in `got`,
 * sorted, and to their width. */
void observed_element(const struct observed *o, const struct array *got,
		      int64_t i, struct element *out);
/* Is there a step (see struct element) between the values a and b of the
 * element? */
bool element_steps(const struct element *e, double a, double b);
/* The part of the element's tolerance that the perturbed runs add: what a
 * relative change of the inputs by t->inputs does to it. */
double element_width(const struct element *e, const struct observed *o,
		     const struct tolerance *t);

/* observe.c: if an element of a pair exceeds its tolerance, runs h on perturbed
 * inputs and sets the pairs' `observed`. */
void harness_observe(struct harness *h, const struct array *inputs,
		     struct pair *pairs, int n);
/* harness_observe(), then compares each pair and prints a line for it. False if
 * an element exceeds its tolerance. */
bool harness_compare(struct harness *h, const struct array *inputs,
		     struct pair *pairs, int n);

/* other_rounding.c compiles the model with the other value of --requant, too, and
 * checks whether a data set was recorded with it. This is the state of the check,
 * with its counts over all data sets. */
struct other_rounding {
	struct harness *program; /* with that value; NULL if there is none */
	bool tried;              /* there was an attempt to make it */
	const char *rounding, *other; /* the values of --requant */
	/* The data sets whose results are equal with the other value, the name
	 * of the first one, and those with fewer unequal elements. */
	int n_equal;
	const char *where;
	int n_closer;
	/* The unequal elements of all data sets that were tried, now and with
	 * the other value. */
	int64_t unequal, unequal_then;
};

/* If an element of a pair is more than one step off, runs the model with the
 * other rounding on the same inputs and compares again. Returns the value of
 * --requant with which all are equal, or NULL. Before the states of h change. */
const char *other_rounding_try(struct other_rounding *r, struct harness *h,
			       const struct array *inputs,
			       const struct pair *pairs, int n);
/* Are the results of h's program those that the interpreter computes with its
 * rounding? If not, the expected result of each pair is replaced by the interpreter's.
 * Also false after an error message. To be called before the states of h change. */
bool other_rounding_agrees(struct harness *h, const struct array *inputs,
			   struct pair *pairs, int n);
/* Unless quiet, prints a note if the other value gave equal or closer results.
 * Closes r->program. */
void other_rounding_end(struct other_rounding *r, struct harness *h);

#endif
