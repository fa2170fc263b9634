/* SPDX-License-Identifier: Apache-2.0 */
/* Linear forms: sums of coefficient times atom, plus a constant. An atom is any
 * expression that is not a sum: a variable, a quotient, a load. Private to the
 * analyser. */
#ifndef TIRC_LINEAR_H
#define TIRC_LINEAR_H

#include "analyse.h"

enum { LINEAR_INLINE = 6 };

struct term {
	const struct expr *atom;
	int64_t coeff; /* never 0 */
};

struct linear {
	struct analyser *analyser;
	int64_t constant;
	int n, cap;
	/* The form is invalid: a coefficient overflowed, or is INT64_MIN, whose
	 * negation does not exist. */
	bool broken;
	/* the array of all terms, if there are too many for `inside` */
	struct term *more;
	struct term inside[LINEAR_INLINE];
};

struct analyser_fact {
	struct linear sum; /* a sum that is known to be <= 0 */
};

void linear_init(struct linear *l, struct analyser *a);
void linear_copy(struct linear *to, const struct linear *from);
struct term *linear_terms(struct linear *l);
const struct term *linear_at(const struct linear *l, int i);
int64_t linear_coeff(const struct linear *l, const struct expr *atom);
void linear_add_constant(struct linear *l, int64_t v);
void linear_add_term(struct linear *l, const struct expr *atom, int64_t coeff);
/* l += scale * other */
void linear_add(struct linear *l, const struct linear *other, int64_t scale);
/* l += scale * e, as integers of unlimited size; sums and products with constants
 * in e are taken apart, unless they may wrap, or a product of the constants leaves
 * the type of e. */
void linear_add_expr(struct linear *l, const struct expr *e, int64_t scale);
/* Like linear_add_expr, but also takes operations apart that may wrap: then l
 * changes by scale * e only modulo the number of values of e's type, a power of
 * two. Use the result only to rewrite sums, not for their bounds or order. */
void linear_add_modulo(struct linear *l, const struct expr *e, int64_t scale);
/* The linear form of e; atoms are not rewritten. */
void linear_of(struct analyser *a, const struct expr *e, struct linear *out);
/* Marks the form as broken if a coefficient or the constant is not a value of
 * the index type t: linear_emit would write another number. */
void linear_fit(struct linear *l, struct dtype t);
/* The greatest common divisor of the coefficients of l; 0 if l has no terms. */
int64_t linear_gcd(const struct linear *l);
/* The form l as an expression of type t. Equal sums give the same node; terms
 * are in the order in which the analyser first met them, positive terms before
 * negative ones. */
const struct expr *linear_emit(struct analyser *a, const struct linear *l,
			       struct dtype t);

/* A product: scale times factors that are neither constants nor products. */
enum { PRODUCT_FACTORS = 8 };

struct product {
	const struct expr *factor[PRODUCT_FACTORS];
	int n;
	int64_t scale;
};

/* Multiplies p by the factors of e; false if there are too many. */
bool product_add(struct product *p, const struct expr *e);
/* Divides p by d; false, with p unchanged, if p does not have all factors of
 * d. */
bool product_divide(struct product *p, const struct product *d);
/* l += p, modulo the number of values of the product's type. Products with the
 * same factors in any order become one term, with the factors in the order in
 * which the analyser first met them. */
void linear_add_product(struct analyser *a, struct linear *l,
			const struct product *p);

/* Is t a scalar i32 or i64, the types of indices? Their arithmetic is assumed
 * not to overflow, except on loaded values (wraps.c). */
bool type_is_index(struct dtype t);

int64_t gcd(int64_t x, int64_t y);

/* -- wraps.c */
/* May the operation e, on loaded values of an index type, wrap because its type
 * does not hold the result? False for sizes and loop variables. */
bool may_wrap(struct analyser *a, const struct expr *e);
/* Is there an operation in e that may wrap and is neither a part of x nor of y
 * (x or y may be NULL)? If so, and if an expression of x and y was rewritten as
 * e by arithmetic of unlimited integers, e may have another value. */
bool wraps_anew(struct analyser *a, const struct expr *e, const struct expr *x,
		const struct expr *y);

/* -- bounds.c */
struct bounds linear_bounds(struct analyser *a, const struct linear *l);

/* -- state.c */
struct analyser_entry {
	const struct expr *key, *simple;
	/* [0]: computed with the facts; [1]: computed without them. */
	struct bounds bounds[2];
	uint32_t simple_version, bounds_version[2];
};
/* The cache entry of e, which is made if the cache has none for e. The pointer
 * is valid until the next call. */
struct analyser_entry *analyser_entry(struct analyser *a, const struct expr *e);
const struct analyser_var *analyser_find(const struct analyser *a,
					 const struct var *v);

/* prove_sign.c: true only if l <= 0 is proved for all values of the
 * variables. */
bool linear_never_positive(struct analyser *a, const struct linear *l);
bool linear_never_negative(struct analyser *a, const struct linear *l);
/* counterexample.c: true only if values of the variables are found for which l
 * is positive. */
bool linear_has_counterexample(struct analyser *a, const struct linear *l);
/* May sums of l's atoms be written in another order? True for arithmetic on
 * indices, which is assumed not to overflow, and for bounded data; false for
 * loaded values without bounds, whose sums may wrap. */
bool linear_is_index(struct analyser *a, const struct linear *l);
/* Sets *out to the form of x - y; false unless linear_is_index(*out) is
 * true. */
bool linear_difference(struct analyser *a, const struct expr *x,
		       const struct expr *y, struct linear *out);
bool condition_implies(struct analyser *a, const struct expr *p,
		       const struct expr *q);

/* -- simplify_div.c. The operands that these functions get must be simplified
 * already */
/* x // d or x % d. */
const struct expr *simplify_floor(struct analyser *a, enum expr_kind kind,
				  const struct expr *x, const struct expr *d);
/* Recombines quotients and remainders: k * (x % c) + k * c * (x // c) is k *
 * x. */
void linear_merge_division(struct analyser *a, struct linear *l,
			   struct dtype t);

/* -- simplify_cond.c: the operands must be simplified */
const struct expr *simplify_compare(struct analyser *a, enum expr_kind kind,
				    const struct expr *x, const struct expr *y);
const struct expr *simplify_logical(struct analyser *a, enum expr_kind kind,
				    const struct expr *x, const struct expr *y);

/* -- rules.c: what e becomes by the first rule that matches it; NULL if no rule
 * matches -- */
const struct expr *rules_apply(struct analyser *a, const struct expr *e);

#endif
