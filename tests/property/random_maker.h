/* SPDX-License-Identifier: Apache-2.0 */
/* What the makers of random programs share. Private to random_*.c. */
#ifndef RANDOM_MAKER_H
#define RANDOM_MAKER_H

#include "random_te.h"

/* SYMBOLIC stands for n where extents are plain numbers. */
enum { MAX_DIMS = 4, MAX_TENSORS = 24, SYMBOLIC = 1000003 };

struct maker {
	struct module *m;
	struct rng *r;
	const struct random_options *options;
	struct te_tensor *tensors[MAX_TENSORS]; /* all so far */
	int n_tensors;
	struct te_tensor *params[RANDOM_MAX_PARAMS];
	int bound[RANDOM_MAX_PARAMS];
	int n_params;
	int constant; /* of a product: its columns; -1 */
	int n_stages;
	struct var *dim;
	/* Of the stage being made. */
	struct te_tensor *inputs[MAX_TENSORS];
	int n_inputs;
};

/* random_te.c; extents are numbers, SYMBOLIC among them. */
int extent_of(const struct te_tensor *t, int d);
bool is_symbolic(const struct te_tensor *t);
int random_extent(struct maker *k);
struct dtype random_type(struct maker *k);
struct te_tensor *add_param(struct maker *k, struct dtype t, int ndim,
			    const struct expr *const *shape, int bound);
struct te_tensor *random_tensor(struct maker *k);
const struct expr *read_at(struct maker *k, struct te_tensor *t,
			   const struct expr *const *index);
const struct expr *convert(struct maker *k, struct dtype t,
			   const struct expr *e);
const struct expr *random_unary(struct maker *k, const struct expr *x);
const struct expr *random_tree(struct maker *k, const struct iter_var *axes,
			       int ndim, const int *extent, struct dtype type,
			       int depth);
struct te_tensor *finish(struct maker *k, struct iter_var *axes, int ndim,
			 const struct expr *body);
struct iter_var *axes_of(struct maker *k, int ndim, const int *extent);

/* random_stages.c: each adds a stage (or, where it does not fit, an
 * element-wise one). */
void make_elementwise(struct maker *k);
void make_reduction(struct maker *k);
void make_window(struct maker *k);
void make_gather(struct maker *k);
void make_transpose(struct maker *k);
void make_reshape(struct maker *k);
void make_concat(struct maker *k);
void make_largest(struct maker *k);
void make_matmul(struct maker *k);
void make_convolution(struct maker *k);
void make_biased_sum(struct maker *k);
void make_padded(struct maker *k);
/* random_scan.c */
void make_scan(struct maker *k);
/* random_products.c: with its own parameters, and so many stages behind it. */
void make_product(struct maker *k, int n_epilogues);

#endif
