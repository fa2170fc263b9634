/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the outputs of a model with the expected ones, for `tirc test`. */
#ifndef TIRC_COMPARE_H
#define TIRC_COMPARE_H

#include "harness.h"

/* The number of runs on perturbed inputs is at least OBSERVED_LEAST and at most
 * OBSERVED_RUNS. */
enum { OBSERVED_RUNS = 8, OBSERVED_LEAST = 4 };

/* The values of an output in runs on perturbed inputs. Each element of an input
 * is multiplied by 1 + share * sqrt(3) * u, with u random and uniform in [-1,
 * 1]. */
struct observed {
	struct array runs[OBSERVED_RUNS];
	int n;
	/* The runs were made by another program than the tested one. Then the
	 * tested program's value of an element is not counted among the values
	 * of the runs. */
	bool twin;
	double share;
	/* for each element: did two runs on the same inputs give different
	 * values? NULL if no element had different values */
	const bool *random;
};

/* The sorted values of one element in the perturbed runs and, if the tested
 * program made these runs, in the run on the given inputs. If the element is a
 * continuous function of the inputs, rounding errors move it by up to `width`.
 * A gap between two values that is much wider than the others is a step: there
 * the model rounds, compares or chooses. The height of a step is not part of
 * the width. */
struct element {
	double values[OBSERVED_RUNS + 1];
	int n;
	double width;
};

/* A result of the program (got) and the expected result (want). */
struct pair {
	/* the first word of the line that is printed about the pair */
	const char *where;
	int result; /* index of the output `got` among the program's results */
	const struct array *got, *want;
	/* The type in which `got` was computed (tirc_tensor.arithmetic), or
	 * NULL if that is the type of its elements. */
	const char *arithmetic;
	/* For a quantized result: the difference of two neighbouring values
	 * (tirc_tensor.step); else 0. */
	double step;
	struct observed *observed; /* NULL without perturbed runs */
	/* The other value of --requant, if all results of the data set equal
	 * the expected ones with it, but some differ by more than a step with
	 * the present value; else NULL. */
	const char *equal_with;
};

/* The tolerance of an element with the expected value b: atol + rtol |b|, plus
 * what a relative change of the model's inputs by `inputs` does to the element.
 * A quantized value, or one that is dequantized, may also differ by one `step`,
 * because a sum half-way between two steps rounds to one or the other with the
 * order of summation. */
struct tolerance {
	double rtol, atol, inputs, step;
};

/* The outcome of the comparison of a pair. */
struct comparison {
	/* The largest absolute error, the largest relative error, and the
	 * largest error in units in the last place. */
	double max_abs, max_rel, max_ulp;
	double most_width; /* the largest element_width() of an element */
	/* the number of elements (or strings) that exceed their tolerance */
	int64_t bad;
	/* stepped: the number of quantized elements that differ by one step.
	 * other_side: the number of elements whose perturbed runs are on both
	 * sides of a step and which are accepted for that reason. */
	int64_t stepped, other_side;
	/* there are more elements in other_side than rounding errors explain */
	bool too_many;
	/* The index of the element (or string) whose error divided by its
	 * tolerance is largest; worst_units: this quotient. */
	int64_t worst;
	double worst_units;
	bool same_shape;
};

/* compare.c: pair_tolerance: the tolerance of a pair, which is the user's, or
 * the default of its type. compare_tolerance does the same for a type, and
 * takes `arithmetic` and `step` as in struct pair. */
struct tolerance pair_tolerance(const struct cli *c, const struct pair *x);
struct tolerance compare_tolerance(const struct cli *c, struct dtype t,
				   const char *arithmetic, double step);
void pair_compare(const struct cli *c, const struct pair *x,
		  struct comparison *out);
/* Is every element within its tolerance? */
bool pair_near(const struct cli *c, const struct pair *x);
/* Element i, whatever its type, as a double. */
double array_double(const struct array *a, int64_t i);
/* report.c: the words "ONNX's" or "TensorFlow Lite's" for a value of
 * --requant. */
const char *other_rounding_owner(const char *rounding);
/* report.c: the verdict on a pair. PAIR_UNDECIDED: the results differ, but they
 * are equal with the other value of --requant (equal_with). So the data set was
 * recorded with the other rounding, and does not show whether the program is
 * right. */
enum pair_verdict { PAIR_OK, PAIR_UNDECIDED, PAIR_FAILED };

/* Compares a pair and prints the outcome as a line on stdout. With --quiet,
 * prints the line only if the comparison failed. */
enum pair_verdict pair_report(const struct cli *c, const struct pair *x);

/* observed.c: the relative perturbation that suits inputs of these types and
 * results of these tolerances; 0 if no input has floats. */
double observed_share(const struct cli *c, const struct array *inputs, int n,
		      const struct tolerance *t, int n_results);
/* A copy of x in which each element is multiplied by a random factor (struct
 * observed); x itself if its elements are not floats. *state: the state of the
 * random number generator. */
struct array observed_moved(struct arena *a, const struct array *x,
			    double share, uint64_t *state);
/* Sets *out to the sorted values of element i in the perturbed runs and in
 * `got`, and to their width. */
void observed_element(const struct observed *o, const struct array *got,
		      int64_t i, struct element *out);
/* Does a step (struct element) lie between the values a and b of the element? */
bool element_steps(const struct element *e, double a, double b);
/* What the perturbed runs add to the tolerance of the element: the effect of a
 * relative change of the inputs by t->inputs. */
double element_width(const struct element *e, const struct observed *o,
		     const struct tolerance *t);

/* observe.c: if an element of a pair exceeds its tolerance, runs h on perturbed
 * inputs and sets the pairs' `observed`. */
void harness_observe(struct harness *h, const struct array *inputs,
		     struct pair *pairs, int n);
/* Calls harness_observe(), compares each pair, and prints a line for each pair.
 * Returns false if an element exceeds its tolerance. */
bool harness_compare(struct harness *h, const struct array *inputs,
		     struct pair *pairs, int n);

/* other_rounding.c: compiles the model also with the other value of --requant
 * and checks whether the data sets were recorded with that rounding. This
 * struct is the state of the check, with counts over all data sets. */
struct other_rounding {
	/* the program with the other value of --requant, or NULL */
	struct harness *program;
	/* the program has been built, or the attempt failed */
	bool tried;
	/* rounding: the value of --requant; other: the other value that it may
	 * have */
	const char *rounding, *other;
	/* The number of data sets whose results equal the expected ones with
	 * the other value of --requant, the name of the first of these, and the
	 * number of data sets that have fewer unequal elements with the other
	 * value than with the present one. */
	int n_equal;
	const char *where;
	int n_closer;
	/* The number of unequal elements in all data sets of this check, with
	 * the present value and with the other one. */
	int64_t unequal, unequal_then;
};

/* If an element of a pair is more than one step off, runs the model with the
 * other rounding on the same inputs and compares again. Returns the other value
 * of --requant if all results are equal with it, else NULL. To be called before
 * the states of h change. */
const char *other_rounding_try(struct other_rounding *r, struct harness *h,
			       const struct array *inputs,
			       const struct pair *pairs, int n);
/* Are the results of h's program equal to those that the interpreter computes
 * with the same rounding? If they are not, replaces the expected result of each
 * pair by the interpreter's. Returns false after an error message, too. To be
 * called before the states of h change. */
bool other_rounding_agrees(struct harness *h, const struct array *inputs,
			   struct pair *pairs, int n);
/* Prints a note if the other value of --requant gave equal or closer results,
 * unless --quiet is given. Closes r->program. */
void other_rounding_end(struct other_rounding *r, struct harness *h);

#endif
