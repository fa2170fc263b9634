/* SPDX-License-Identifier: Apache-2.0 */
/* How many elements next to each other a thread of a device may take at once,
 * so that the pass "wide" can load and store them by one access. */
#include "sched_rules.h"

/* An axis as runs of lanes: iter is run * lanes + lane. */
struct runs {
	struct analyser a;
	struct var_map map;
	struct var *iter, *lane;
	const struct expr *value;
	int64_t lanes;
	bool broken; /* a choice differs between the lanes */
};

static void
divide(struct rules *r, const struct block *info, int iter, int64_t lanes,
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
by_lane(struct rules *r, struct runs *x, const struct expr *e)
{
	return simplify(&x->a, expr_substitute(r->module, e, &x->map));
}

/* Is it the same for all lanes of a run, whole vectors next to each other, or
 * neither? */
enum walk { WALKS_NOT, WALKS_NOWHERE, WALKS_RUN };

static enum walk
walk_of(struct rules *r, struct runs *x, const struct buffer *b,
	const struct expr *const *index)
{
	enum walk walk = WALKS_NOWHERE;
	const struct expr *rest;
	int64_t step, row;

	for (int d = 0; d < b->ndim; d++) {
		const struct expr *e = by_lane(r, x, index[d]);

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
			return WALKS_NOT;
		}
		walk = WALKS_RUN;
	}
	if (walk == WALKS_RUN && b->ndim > 1 &&
	    (!expr_is_int(b->shape[b->ndim - 1], &row) || row % x->lanes)) {
		return WALKS_NOT;
	}
	return walk;
}

struct choices {
	struct rules *r;
	struct runs *runs;
};

static void
see_choice(void *ctx, const struct expr *e)
{
	struct choices *c = ctx;

	if (e->kind == EXPR_IF && expr_uses_var(e->args[0], c->runs->iter)) {
		c->runs->broken |= expr_uses_var(by_lane(c->r, c->runs,
							 e->args[0]),
						 c->runs->lane);
	}
}

static bool
all_walk(struct rules *r, const struct block_access *x, int iter, int64_t lanes,
	 bool stores)
{
	const struct stmt *store = x->block->children[0];
	struct runs runs;
	struct choices choices = { r, &runs };
	bool any = false;

	divide(r, x->info, iter, lanes, &runs);
	expr_visit(store->args[0], see_choice, &choices);
	if (runs.broken || (stores && walk_of(r, &runs, x->out,
					      store->args + 1) != WALKS_RUN)) {
		return false;
	}
	for (int l = 0; l < x->n_loads; l++) {
		const struct expr *load = x->loads[l].load;
		enum walk walk = walk_of(r, &runs, load->u.buffer, load->args);

		if (walk == WALKS_NOT) {
			return false;
		}
		any |= walk == WALKS_RUN;
	}
	return stores || any;
}

/* Elements of the widest type that one access takes. */
static int64_t
lanes_most(struct rules *r, const struct block_access *x)
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
	for (lanes = lanes_most(r, &x); lanes > 1; lanes /= 2) {
		if (extent % lanes == 0 &&
		    all_walk(r, &x, iter, lanes, stores)) {
			return lanes;
		}
	}
	return 1;
}

/* Is it at the same place, of a buffer of the same shape? */
static bool
is_alike(const struct block_access *x, const struct expr *load)
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
		if (x.block->children[0]->args[1 + d] !=
		    x.info->iters[d].var->expr) {
			return 1;
		}
	}
	for (int l = 0; l < x.n_loads; l++) {
		if (!is_alike(&x, x.loads[l].load)) {
			return 1;
		}
	}
	lanes = lanes_most(r, &x);
	while (lanes > 1 && elems % lanes != 0) {
		lanes /= 2;
	}
	return lanes > 1 ? lanes : 1;
}
