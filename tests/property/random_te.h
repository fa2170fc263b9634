/* SPDX-License-Identifier: Apache-2.0 */
/* Random tensor programs for property tests: element-wise chains with
 * broadcasting, reductions, windows with guards, gathers, transposes,
 * reshapes, concatenations and casts, over every common type; and products as
 * instructions for tiles take them. The same seed
 * gives the same program and data on every machine. */
#ifndef RANDOM_TE_H
#define RANDOM_TE_H

#include "interp.h"
#include "te.h"

struct rng {
	uint64_t state;
};

uint64_t rng_next(struct rng *r);
int rng_below(struct rng *r, int n); /* 0 … n - 1 */

struct random_options {
	bool floats_only; /* f32 alone: what schedules and emitters meet */
	bool exact;       /* small integers and operators that keep them:
			    * every order of evaluation gives equal bits */
	int max_stages;   /* 0: 4 */
	int max_extent;   /* 0: 9; of one dimension */
	bool no_halves;   /* neither f16 nor bf16 */
	bool scans;       /* the first stage is a scan */
	bool symbolic;    /* some dimensions are a size n, 1 … 12 */
	bool positive;    /* floats_only, none negative, operators that cancel
			    * nothing: rounding errors stay relative */
	bool idioms;      /* now and then what some primitives look for: a
			    * sum with a bias, an input that is padded */
	int product_size; /* not 0: the program is a product of at most so many
			    * pairs of numbers, of float16, bfloat16, float or
			    * bytes, and an epilogue */
	int first_stages; /* only so many of the stages; 0: all */
	struct var *dim;  /* the size to use, of the same module; or NULL */
};

enum { RANDOM_MAX_PARAMS = 8, RANDOM_MAX_ARGS, RANDOM_MAX_SIZE = 12 };

struct random_program {
	/* Phase 0; its parameters: inputs, the output, and n if it is used. */
	struct func *func;
	int n_params; /* without n */
	int n_args;   /* with it */
	struct var *dim;
	const struct buffer *buffer[RANDOM_MAX_PARAMS];
	int64_t elems[RANDOM_MAX_PARAMS]; /* for the n at hand */
	int size;                         /* n */
	/* Values of an integer input lie in [0, index_bound) where it is used
	 * to index; else index_bound is 0. */
	int index_bound[RANDOM_MAX_PARAMS];
	int output;   /* which parameter is the output */
	int constant; /* which may be stored in another layout; -1: none */
	int n_stages; /* as chosen, before first_stages */
};

void random_te(struct module *m, struct rng *r,
	       const struct random_options *options,
	       struct random_program *out);
/* What rounding can do to the output, of a program as it was made: relative
 * units of 2^-24 where options->positive, for any order of evaluation; else 0
 * if every order gives the same bits, HUGE_VAL if float values may be too
 * large for that. In random_bound.c. */
double random_roundings(const struct random_program *p,
			const struct random_options *options);
/* Chooses n (where there is one) for the data made from here on. */
void random_resize(struct random_program *p, int size);
/* args has room for n_args. Malloc'd storage for each parameter, filled at random (the output with
 * 0xFF); to be freed with random_release. */
void random_data(const struct random_program *p, struct rng *r,
		 const struct random_options *options, struct run_arg *args);
void random_release(const struct random_program *p, struct run_arg *args);
/* Index of the first element where the outputs differ (NaN equals NaN), or
 * -1. tolerance: relative to max(1, |a|). */
int64_t random_difference(const struct random_program *p, const void *a,
			  const void *b, double tolerance);

#endif
