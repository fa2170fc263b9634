/* SPDX-License-Identifier: Apache-2.0 */
/* Verifying emitted source: what each kernel of a compiled model must compute, as
 * inputs with the results of the interpreter, which runs the kernel as it is before
 * its schedule; and the comparison of results with these. */
#ifndef TIRC_VERIFY_KERNEL_H
#define TIRC_VERIFY_KERNEL_H

#include "kernels.h"

/* The numbers that a case gives to the inputs of a kernel. */
enum verify_mood {
	MOOD_RANDOM,   /* floats in [-1, 1], any bytes, integers from -3 to 3 */
	MOOD_WHOLE,    /* small whole numbers; sums of them are exact */
	MOOD_EXTREMES, /* the largest, the least, 0 and +-1, in random order */
	MOOD_SPECIAL,  /* random floats, some of them infinite or NaN */
	MOOD_MOST,     /* all the largest */
	MOOD_LEAST,    /* all the least */
	MOOD_ZERO,
	MOOD_TINY, /* floats so small that products of them vanish */
	MOOD_BITS, /* integers 0 and 1, which are valid indices */
	MOOD_COUNT
};

/* At most so many cases has a kernel at one of its sizes. */
enum { VERIFY_CASES = 512 };

/* A kernel that is verified by itself. */
struct verify_kernel {
	struct program *program;
	const struct kernel *kernel;
	/* before its schedule, with parameters of the same meaning; the kernel
	 * may have more of them, for scratch memory */
	struct func *plain;
	/* By parameter of `plain`: the position of the kernel's parameter for it;
	 * and the input that it overwrites, through the same pointer, or -1. */
	int *place, *over;
	const char *obstacle; /* why it is not verified by itself, or NULL */
	bool sums;        /* it has reductions: their order is not defined */
	bool floats;      /* it computes with floats */
	bool finite;      /* infinities and NaN are not defined (--fp fast) */
	void **constants; /* by parameter: the elements of a constant */
	double rtol, atol, share; /* struct type_tolerance */
};

/* Cases of a kernel at some sizes. Arrays have the elements of all cases, one
 * case behind the other. */
struct verify_cases {
	int n;
	enum verify_mood moods[VERIFY_CASES];
	const int64_t *values; /* by parameter: the value of a number */
	int64_t *bytes;        /* by parameter: of an array in one case */
	/* by parameter of `plain`: what an array has before a call, and behind
	 * it if it is written, else NULL */
	unsigned char **in, **want;
};

/* How the results of a kernel compare. */
struct verify_result {
	int64_t cases, elements;
	double max_ulp;      /* of finite floats */
	bool equal;          /* all bits are */
	const char *differs; /* the first element that is wrong, in words */
};

const char *verify_mood_name(enum verify_mood mood);
/* Prepares kernel i. False after a diagnostic; the kernel's obstacle says why it
 * cannot be verified by itself. */
bool verify_kernel_init(struct program *p, int i, struct verify_kernel *out);
/* The parameter of `plain` for the kernel's one at this position: the written one,
 * if it overwrites an input; -1: it is scratch memory. */
int verify_param_at(const struct verify_kernel *k, int place);
/* The number of sizes at which it is verified: 1 without symbolic sizes. */
int verify_sizes(const struct verify_kernel *k);
/* Makes the cases of one of these sizes, in arena a. Cases for which the kernel is
 * not defined are left out. NULL, or why there are none. */
const char *verify_cases_make(struct arena *a, struct verify_kernel *k,
			      int size, uint64_t seed,
			      struct verify_cases *out);
/* Compares the elements that a program gave for written parameters (by parameter,
 * like `want`; n cases of them), and adds to *out. */
void verify_compare(struct arena *a, struct verify_kernel *k,
		    const struct verify_cases *cases, uint64_t seed,
		    unsigned char *const *got, struct verify_result *out);
/* The first element in which two results of the same cases differ in bits, in
 * words; NULL if none does. `got` is what is verified. */
const char *verify_bits(struct arena *a, const struct verify_kernel *k,
			const struct verify_cases *cases,
			unsigned char *const *want, unsigned char *const *got);

#endif
