/* SPDX-License-Identifier: Apache-2.0 */
/* Products with a constant that have few results, such as the scores of ten
 * classes. A register tile multiplies all lanes of a few sums by one element in
 * each step, and each step waits for the additions of the step before it; sums
 * by the lanes of a vector take many terms in a step:
 *
 *   for k:                             for j:
 *     for j (10 lanes):         ->       for k_o, lane (16):
 *       acc[j] += x[k] * w[k][j]           part[lane] += x[..] * w[j][..]
 *                                        acc = the sum of part
 *
 * The times below are estimates in cycles, fitted to times of products with 1 to
 * 32 results of 64 to 4096 terms, of 1 to 8 rows, on an EPYC of Zen 5, with
 * vectors of 32 and 64 bytes, and in loops that compilers make vectors of. */
#include "layout_map.h"
#include "row_stages.h"

/* A fused multiply-add takes FUSED cycles, an addition alone SEPARATE; two of them
 * start in a cycle. Adding up the lanes of a vector takes ADD_LANES cycles. */
enum { FUSED = 4, SEPARATE = 3, ADD_LANES = 10 };
/* Sums by lanes must be faster by this factor. */
static const double GAIN = 1.2;

/* A product of rows of data by a constant: the number of rows, of results in a
 * row, and of the terms of each result. */
struct product {
	struct block_access x;
	const struct load_access *data, *constant;
	int64_t rows, results, terms;
};

/* Sets the operands: data and a constant of the same type as the sum, a float.
 * False if the block has others. */
static bool
find_operands(struct product *p)
{
	const struct load_access *l = p->x.loads;
	const struct buffer *out = p->x.out;

	if (p->x.n_loads != 2 || !dtype_is_float(out->type) ||
	    !dtype_equal(l[0].load->type, out->type) ||
	    !dtype_equal(l[1].load->type, out->type) ||
	    (l[0].weight == NULL) == (l[1].weight == NULL)) {
		return false;
	}
	p->constant = &l[l[0].weight == NULL];
	p->data = &l[l[0].weight != NULL];
	return true;
}

/* Sets the sizes. False if a size is not constant, if the terms are not along
 * one axis, next to each other in the data, or if the constant has another
 * layout than one in which they can be. */
static bool
find_sizes(struct product *p)
{
	p->rows = p->results = p->terms = 1;
	for (int i = 0; i < p->x.info->n_iters; i++) {
		bool sums = p->x.info->iters[i].kind != ITER_SPATIAL;
		enum axis_use w = p->constant->use[i];
		int64_t extent;

		if (!expr_is_int(p->x.info->iters[i].extent, &extent)) {
			return false;
		}
		if (extent == 1) {
			continue;
		}
		if (sums) {
			if (p->terms > 1 || w != AXIS_PLAIN ||
			    p->data->use[i] != AXIS_PLAIN ||
			    p->data->dim[i] != p->data->load->n_args - 1) {
				return false;
			}
			p->terms = extent;
		} else if (w == AXIS_UNUSED) {
			p->rows *= extent;
		} else if (w == AXIS_PLAIN && p->data->use[i] == AXIS_UNUSED) {
			p->results *= extent;
		} else {
			return false;
		}
	}
	return p->terms > 1;
}

/* The number of vectors of `lanes` sums that a tile needs for a row: a rest is
 * one shorter vector, or two. Compilers that vectorize by themselves keep fewer
 * than eight sums apart. */
static int64_t
vectors_of_row(const struct target *target, const struct product *p,
	       int64_t lanes)
{
	enum { SHORT = 4, FEW = 8 };
	int64_t rest = p->results % lanes;

	if (target->complete_unroll > 0 && p->results < FEW) {
		return p->results;
	}
	return p->results / lanes + (rest == 0                            ? 0
				     : rest <= SHORT || 2 * rest == lanes ? 1
									  : 2);
}

/* Where vectorization is left to the compiler, so is fusing. */
static double
tile_time(const struct target *target, const struct product *p, int64_t lanes)
{
	double sums = (double)(p->rows * vectors_of_row(target, p, lanes));
	bool fused = !target->without_fma && target->complete_unroll == 0;
	double wait = fused ? FUSED : SEPARATE;

	return (double)p->terms * (sums / 2 > wait ? sums / 2 : wait);
}

/* A step loads two vectors, which takes twice as long where rows are too long
 * for the first cache. Vectors that compilers make may be half as long. */
static double
lanes_time(const struct target *target, const struct product *p, int64_t lanes)
{
	int64_t bytes = p->terms * dtype_bytes(p->x.out->type);
	double steps = (double)p->terms / (double)lanes *
		       (target->complete_unroll > 0 ? 2 : 1) *
		       (bytes > target->l1_bytes / 4 ? 2 : 1);

	return (double)(p->rows * p->results) * (steps + ADD_LANES);
}

bool
rules_has_few_results(struct rules *r, int block)
{
	struct product p;
	int64_t lanes;

	if (!rules_access(r, block, &p.x) || !find_operands(&p) ||
	    !find_sizes(&p)) {
		return false;
	}
	lanes = r->target->vector_bytes / dtype_bytes(p.x.out->type);
	return lanes > 1 && GAIN * lanes_time(r->target, &p, lanes) <=
				    tile_time(r->target, &p, lanes);
}

bool
rules_pack_terms(struct rules *r, int block)
{
	struct product p;

	return rules_access(r, block, &p.x) && find_operands(&p) &&
	       rules_pack_last(r, block, p.constant, true);
}
