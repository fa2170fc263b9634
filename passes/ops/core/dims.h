/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic of dimensions, constant or symbolic, and the mapping of positions
 * between shapes, shared by the data-movement operators. */
#ifndef TIRC_DIMS_H
#define TIRC_DIMS_H

#include "define.h"
#include "size_bounds.h"

/* The minimum and the maximum of two sizes, simplified if their bounds
 * allow. */
const struct expr *dim_min(struct module *m, const struct expr *a,
			   const struct expr *b);
const struct expr *dim_max(struct module *m, const struct expr *a,
			   const struct expr *b);
/* The sum, difference and product of sizes, exact: expressions become 64 bits
 * wide if 32 do not suffice, and a number beyond int64 becomes INT64_MIN or
 * INT64_MAX. Inference computes sizes with these functions, not with the
 * builders of expressions, which wrap. */
const struct expr *dim_add(struct module *m, const struct expr *a,
			   const struct expr *b);
const struct expr *dim_sub(struct module *m, const struct expr *a,
			   const struct expr *b);
const struct expr *dim_mul(struct module *m, const struct expr *a,
			   const struct expr *b);
/* floor(a / b) and ceil(a / b), for b > 0. */
const struct expr *dim_div(struct module *m, const struct expr *a, int64_t b);
const struct expr *dim_ceil_div(struct module *m, const struct expr *a,
				int64_t b);
/* The product of num[0..n_num) divided by the product of den[0..n_den), with
 * common factors cancelled. NULL if all are constants and the division leaves a
 * remainder. If it is not proven that the division is exact, the entry function
 * checks it; if c is NULL, the quotient is rounded down instead. */
const struct expr *dim_quotient(struct infer *c, struct module *m,
				const struct expr *const *num, int n_num,
				const struct expr *const *den, int n_den);

/* Converts `index`, a position in the shape `from`, to out[0..n_to), the
 * position in the shape `to` that has the same offset in row-major order.
 * Divisions are needed only for dimensions that are split or merged. */
void dims_reindex(struct module *m, const struct expr *const *from, int n_from,
		  const struct expr *const *index, const struct expr *const *to,
		  int n_to, const struct expr **out);

/* Limits v, an offset in the model that is added to an index of a dimension of
 * size `from`; the sum is compared with indices of a dimension of size `to`.
 * Offsets of at least `to`, or, if negative, of at most minus `from`, all have
 * the same effect: returns such an offset in place of v if v is larger. */
const struct expr *dim_offset(struct module *m, int64_t v,
			      const struct expr *from, const struct expr *to);
/* The sum of an index i of a dimension of extent `size` and an offset of at
 * most `most`, in 64 bits if 32 bits do not suffice. */
const struct expr *dim_shifted(struct module *m, const struct expr *i,
			       const struct expr *size,
			       const struct expr *offset,
			       const struct expr *most);
/* Reports that input i must be a constant. Returns false. */
bool infer_needs_constant(struct infer *c, const struct node *n, int i);
/* Element i of a constant as a literal. */
const struct expr *value_literal(struct module *m, const struct value *v,
				 size_t i);
/* The only element of input i, which may have any rank. */
const struct expr *define_scalar(struct define *c, const struct node *n,
				 struct te_tensor *const *in, int i);

#endif
