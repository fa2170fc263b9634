/* SPDX-License-Identifier: Apache-2.0 */
/* Verification of emitted source, kernel by kernel. The interpreter runs the
 * function of a kernel as it was before its schedule, on chosen inputs; its
 * results are what the emitted kernel must compute from the same inputs. This
 * header declares the making of these cases and the comparison of results. */
#ifndef TIRC_VERIFY_KERNEL_H
#define TIRC_VERIFY_KERNEL_H

#include "kernels.h"

/* The kind of numbers that the inputs of a kernel get in a case. */
enum verify_mood {
	MOOD_RANDOM, /* floats in [-1, 1], any bytes, integers from -3 to 3 */
	MOOD_WHOLE,  /* small whole numbers, whose sums are exact */
	/* The largest and the least value of the type, 0, 1 and -1 (of integers
	 * also the number of bits and its neighbours, at which shifts end), in random
	 * order. Here and in MOOD_MOST and MOOD_LEAST, the floats of a kernel
	 * that `contracts` are smaller where a product would overflow. */
	MOOD_EXTREMES,
	MOOD_SPECIAL, /* random floats, some of them infinite or NaN */
	MOOD_MOST,    /* every element is the largest value of its type */
	MOOD_LEAST,   /* every element is the least value of its type */
	MOOD_ZERO,
	MOOD_TINY, /* floats so small that their products underflow to 0 */
	MOOD_BITS, /* integers 0 and 1, which are valid indices */
	MOOD_COUNT
};

/* The largest number of cases of a kernel at one set of sizes. */
enum { VERIFY_CASES = 512 };

/* A kernel that is verified by itself, without the rest of the model. */
struct verify_kernel {
	struct program *program;
	const struct kernel *kernel;
	/* The kernel's function before its schedule. Its parameters are those
	 * of the kernel, without the kernel's scratch memory. */
	struct func *plain;
	/* For each parameter of `plain`: place: the index of the same parameter
	 * in the kernel; over: if the kernel stores the result in the array of
	 * an input, the index of this input among the parameters of `plain`,
	 * else -1. */
	int *place, *over;
	/* why the kernel cannot be verified separately, or NULL */
	const char *obstacle;
	bool sums;   /* the kernel has sums, whose order is not defined */
	bool floats; /* the kernel computes with floats */
	/* compilers may fuse its products into sums, which have no loops */
	bool contracts;
	/* --fp fast: results are not defined for infinities and NaN */
	bool finite;
	/* for each parameter: the elements of a constant, or NULL */
	void **constants;
	/* fields rtol, atol and inputs of struct type_tolerance */
	double rtol, atol, share;
};

/* The cases of a kernel at one set of sizes. Each array holds the elements of
 * all cases, one case after the other. */
struct verify_cases {
	int n;
	enum verify_mood moods[VERIFY_CASES];
	/* for each parameter that is a size: its value */
	const int64_t *values;
	/* for each parameter: the bytes of its array in one case */
	int64_t *bytes;
	/* For each parameter of `plain`: its array before the call, and the
	 * result that it must have after the call; `want` is NULL for arrays
	 * that are not written. */
	unsigned char **in, **want;
};

/* The outcome of a comparison, summed over the cases of a kernel. */
struct verify_result {
	int64_t cases, elements;
	/* the largest error of finite floats, in units in the last place */
	double max_ulp;
	bool equal; /* all bits are equal */
	/* the first wrong element with both values, as a text; or NULL */
	const char *differs;
};

const char *verify_mood_name(enum verify_mood mood);
/* Prepares kernel i for verification. Sets out->obstacle to the reason if the
 * kernel cannot be verified separately, else to NULL. */
void verify_kernel_init(struct program *p, int i, struct verify_kernel *out);
/* The parameter of `plain` that belongs to the kernel's parameter at this
 * position. If the kernel writes a result over an input there, it is the
 * parameter of the result. -1 for scratch memory. */
int verify_param_at(const struct verify_kernel *k, int place);
/* The number of different sets of sizes at which the kernel is verified; 1 for
 * a kernel without symbolic sizes. */
int verify_sizes(const struct verify_kernel *k);
/* Compares a constant of the kernel, which the emitted program has as `got`,
 * with the model's constant in the layout of w. Returns a text about the first
 * element that differs, "conv_w[3] is stored as 2, not 1", or NULL if none
 * differs. */
const char *verify_constant(struct arena *a, const struct verify_kernel *k,
			    const struct weight *w, const unsigned char *got);
/* Makes the cases at set number `size` of the sizes, in arena a. Skips cases
 * for which the interpreter reports an error. Returns NULL, or the reason why
 * there are no cases. */
const char *verify_cases_make(struct arena *a, struct verify_kernel *k,
			      int size, uint64_t seed,
			      struct verify_cases *out);
/* Compares the results of the emitted kernel with cases->want and adds the
 * outcome to *out. got: for each written parameter, the elements of all cases. */
void verify_compare(struct arena *a, struct verify_kernel *k,
		    const struct verify_cases *cases, uint64_t seed,
		    unsigned char *const *got, struct verify_result *out);
/* A text about the first element whose bits differ between `want` and `got`,
 * two results of the same cases; NULL if all bits are equal. The text calls
 * `got` the wrong result. */
const char *verify_bits(struct arena *a, const struct verify_kernel *k,
			const struct verify_cases *cases,
			unsigned char *const *want, unsigned char *const *got);

#endif
