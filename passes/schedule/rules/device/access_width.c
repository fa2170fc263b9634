/* SPDX-License-Identifier: Apache-2.0 */
/* The number of consecutive elements that a thread of a device may load and
 * store by one access. The pass "wide" makes these accesses. */
#include "access_pattern.h"
#include "element_threads.h"
#include "iterate.h"

/* An axis that is split into runs of lanes: iter var number iter is run * lanes
 * + lane. */
struct runs {
	struct analyser a;
	struct var_map map;
	struct var *iter, *lane;
	const struct expr *value;
	int64_t lanes;
	/* the access is under a condition that is not the same in all lanes */
	bool diverges;
};

static void
split_axis(struct rules *r, const struct block *info, int iter, int64_t lanes,
	   struct runs *out)
{
	struct module *m = r->module;
	const struct iter_var *it = &info->iters[iter];
	struct dtype t = it->var->type;
	struct var *run = var_new(m, "run", t);
	const struct expr *n = expr_int(m, t, lanes);
	const struct expr *zero = expr_int(m, t, 0);

	*out = (struct runs){ .iter = it->var,
			      .lanes = lanes,
			      .lane = var_new(m, "lane", t) };
	analyser_init(&out->a, m);
	for (int i = 0; i < info->n_iters; i++) {
		analyser_bind(&out->a, info->iters[i].var, info->iters[i].min,
			      info->iters[i].extent);
	}
	analyser_bind(&out->a, run, zero, expr_floordiv(m, it->extent, n));
	analyser_bind(&out->a, out->lane, zero, n);
	out->value = expr_add(m, expr_mul(m, run->expr, n), out->lane->expr);
	out->map = (struct var_map){ &out->iter, &out->value, 1 };
}

static const struct expr *
with_lane(struct rules *r, struct runs *x, const struct expr *e)
{
	return simplify(&x->a, expr_substitute(r->module, e, &x->map));
}

/* How the lanes of a run access a buffer: LANES_SCATTERED, different elements
 * in no order; LANES_SAME, all the same element; LANES_VECTOR, as one aligned
 * vector. */
enum lane_access { LANES_SCATTERED, LANES_SAME, LANES_VECTOR };

static enum lane_access
access_of(struct rules *r, struct runs *x, const struct buffer *b,
	  const struct expr *const *index)
{
	enum lane_access access = LANES_SAME;
	const struct expr *rest;
	int64_t step, row;

	for (int d = 0; d < b->ndim; d++) {
		const struct expr *e = with_lane(r, x, index[d]);

		if (!expr_uses_var(e, x->lane)) {
			continue;
		}
		if (d < b->ndim - 1 ||
		    !analyse_affine(&x->a, e, &x->lane, 1, &step, &rest) ||
		    step != 1 ||
		    !prove_equal(&x->a,
				 expr_floormod(r->module, rest,
					       expr_int(r->module, rest->type,
							x->lanes)),
				 expr_int(r->module, rest->type, 0))) {
			return LANES_SCATTERED;
		}
		access = LANES_VECTOR;
	}
	if (access == LANES_VECTOR && b->ndim > 1 &&
	    (!expr_is_int(b->shape[b->ndim - 1], &row) || row % x->lanes)) {
		return LANES_SCATTERED;
	}
	return access;
}

static bool
all_vectors(struct rules *r, const struct block_access *x, int iter,
	    int64_t lanes, bool stores)
{
	const struct stmt *store = x->block->children[0];
	struct runs runs;
	bool any = false;
	const struct expr *e;

	split_axis(r, x->info, iter, lanes, &runs);
	for (struct expr_iter it = expr_each_of(store->args[0], EXPR_IF);
	     (e = expr_next(&it));) {
		runs.diverges |= expr_uses_var(e->args[0], runs.iter) &&
				 expr_uses_var(with_lane(r, &runs, e->args[0]),
					       runs.lane);
	}
	if (runs.diverges ||
	    (stores &&
	     access_of(r, &runs, x->out, store->args + 1) != LANES_VECTOR)) {
		return false;
	}
	for (int l = 0; l < x->n_loads; l++) {
		const struct expr *load = x->loads[l].load;
		enum lane_access access = access_of(r, &runs, load->u.buffer,
						    load->args);

		if (access == LANES_SCATTERED) {
			return false;
		}
		any |= access == LANES_VECTOR;
	}
	return stores || any;
}

/* The number of elements of the block's widest type in the widest access. */
static int64_t
most_lanes(struct rules *r, const struct block_access *x)
{
	int bytes = dtype_bytes(x->out->type);

	for (int l = 0; l < x->n_loads; l++) {
		int other = dtype_bytes(x->loads[l].load->u.buffer->type);

		bytes = other > bytes ? other : bytes;
	}
	return target_wide_bytes(r->target) / bytes;
}

int64_t
rules_access_width(struct rules *r, int block, int iter, bool stores)
{
	struct block_access x;
	int64_t extent, lanes;

	if (!rules_access(r, block, &x) || x.n_reduce > 0 ||
	    x.block->children[0]->kind != STMT_STORE ||
	    !expr_is_int(x.info->iters[iter].extent, &extent) ||
	    !expr_is_value(x.info->iters[iter].min, 0)) {
		return 1;
	}
	for (lanes = most_lanes(r, &x); lanes > 1; lanes /= 2) {
		if (extent % lanes == 0 &&
		    all_vectors(r, &x, iter, lanes, stores)) {
			return lanes;
		}
	}
	return 1;
}

/* Does the load read a scalar, or a buffer of the output's shape at the indices
 * of the store? */
static bool
has_store_index(const struct block_access *x, const struct expr *load)
{
	const struct stmt *store = x->block->children[0];
	const struct buffer *b = load->u.buffer;

	if (b->ndim != x->out->ndim) {
		return b->ndim == 0;
	}
	for (int d = 0; d < b->ndim; d++) {
		if (load->args[d] != store->args[1 + d] ||
		    b->shape[d] != x->out->shape[d]) {
			return false;
		}
	}
	return true;
}

int64_t
rules_flat_access_width(struct rules *r, int block)
{
	struct block_access x;
	int64_t lanes, elems;

	if (!rules_access(r, block, &x) || x.n_reduce > 0 ||
	    x.block->children[0]->kind != STMT_STORE ||
	    !buffer_const_elems(x.out, &elems) || x.out->ndim == 0) {
		return 1;
	}
	for (int d = 0; d < x.out->ndim; d++) {
		if (d >= x.info->n_iters ||
		    x.block->children[0]->args[1 + d] !=
			    x.info->iters[d].var->expr) {
			return 1;
		}
	}
	for (int l = 0; l < x.n_loads; l++) {
		if (!has_store_index(&x, x.loads[l].load)) {
			return 1;
		}
	}
	lanes = most_lanes(r, &x);
	while (lanes > 1 && elems % lanes != 0) {
		lanes /= 2;
	}
	return lanes > 1 ? lanes : 1;
}
