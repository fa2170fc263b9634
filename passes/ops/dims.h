/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic of dimensions, constant or symbolic, and of positions in one
 * shape as positions in another: what the data-movement operators share. */
#ifndef TIRC_OPS_DIMS_H
#define TIRC_OPS_DIMS_H

#include "define.h"

/* min <= e <= max from the declared bounds of its dimension variables; false:
 * not known. */
bool dim_bounds(const struct expr *e, int64_t *min, int64_t *max);
/* The smaller, the larger; decided now where the bounds allow. */
const struct expr *dim_min(struct module *m, const struct expr *a,
			   const struct expr *b);
const struct expr *dim_max(struct module *m, const struct expr *a,
			   const struct expr *b);
/* ceil(a / b) for b > 0 */
const struct expr *dim_ceil_div(struct module *m, const struct expr *a,
				int64_t b);
/* The product of num[0..n_num) over that of den[0..n_den), common factors
 * cancelled; NULL: constants that do not divide. */
const struct expr *dim_quotient(struct module *m, const struct expr *const *num,
				int n_num, const struct expr *const *den,
				int n_den);

/* The position `index` in a tensor of shape `from` has the same place in
 * memory as out[0..n_to) in one of shape `to`. Dimensions that split or merge
 * do so by themselves: only they get a division. */
void dims_reindex(struct module *m, const struct expr *const *from, int n_from,
		  const struct expr *const *index, const struct expr *const *to,
		  int n_to, const struct expr **out);

/* The diagnostic that input i must be a constant; returns false. */
bool infer_needs_constant(struct infer *c, const struct node *n, int i);
/* Element i of a constant. */
const struct expr *value_literal(struct module *m, const struct value *v,
				 size_t i);
/* The one element of input i, whatever its rank. */
const struct expr *define_scalar(struct define *c, const struct node *n,
				 struct te_tensor *const *in, int i);

#endif
