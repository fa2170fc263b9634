/* SPDX-License-Identifier: Apache-2.0 */
/* rolling_buffer: elements that consecutive iterations share are kept in a ring
 * buffer instead of being computed again.
 *
 *   for h in 8:                          for h in 8:
 *       for i in 3: B[h + i] = …             for i in 3:
 *       for k in 3: C[h] += B[h + k]  ->         where h == 0 or i >= 2:
 *                                                    B[(h + i) % 3] = …
 *                                            … C[h] += B[(h + k) % 3]
 *
 * Needs a block that computes the region read in one iteration, as after
 * compute_at, in serial loops. */
#include "copy_block.h"
#include "region.h"

struct rolling {
	struct edit *e;
	/* inner: the innermost loop around all accesses of the buffer */
	struct stmt *block, *store, *inner;
	const struct buffer *buffer;
	/* the loop along whose iterations the buffer rolls */
	struct stmt *loop;
	int dim;
	/* stride: the distance, along the rolling dimension, from one
	 * iteration's region to the region of the next iteration; extent: the
	 * size of a region along it */
	int64_t stride, extent;
	const struct range *box;
};

static struct stmt *
loop_above(struct stmt *s)
{
	for (s = s->parent; s && s->kind != STMT_BLOCK; s = s->parent) {
		if (s->kind == STMT_FOR) {
			return s;
		}
	}
	return NULL;
}

static bool
check_block(struct rolling *r)
{
	struct edit *e = r->e;
	const char *name = r->block->u.block->name;
	struct stmt *scope = scope_of(r->block), *common;
	struct access_list all = { 0 };
	bool read = false;

	r->store = sole_store(r->block);
	if (!r->store || r->block->children[1]) {
		return edit_fail(e,
				 "block %s is not a single assignment; only "
				 "assignments can be skipped for elements "
				 "that are kept",
				 name);
	}
	for (int i = 0; i < r->block->u.block->n_iters; i++) {
		if (r->block->u.block->iters[i].kind != ITER_SPATIAL) {
			return edit_fail(e,
					 "block %s reduces; only plain "
					 "assignments can be skipped for "
					 "elements that are kept",
					 name);
		}
	}
	if (!scope || !scope_owns(scope, r->buffer)) {
		return edit_fail(e,
				 "%s is visible outside; only intermediate "
				 "buffers can become ring buffers",
				 r->buffer->name);
	}
	if (sole_writer(e->f, r->buffer) != r->block ||
	    expr_uses_buffer(r->store->args[0], r->buffer)) {
		return edit_fail(e,
				 "%s is not written by block %s alone; only "
				 "a buffer with one producer can become a "
				 "ring buffer",
				 r->buffer->name, name);
	}
	access_collect(e->f, scope, r->buffer, &all);
	common = r->store;
	for (int i = 0; i < all.list.n; i++) {
		common = stmt_common(common, all.list.data[i].at);
		read |= all.list.data[i].load != NULL;
		if (all.list.data[i].load &&
		    !stmt_before(e->f, r->block, all.list.data[i].at)) {
			return edit_fail(e,
					 "%s is read before block %s writes "
					 "it",
					 r->buffer->name, name);
		}
	}
	r->inner = common->kind == STMT_FOR ? common : loop_above(common);
	if (!read || !r->inner || scope_of(r->inner) != scope) {
		return edit_fail(e,
				 "block %s and the readers of %s are not in "
				 "a common loop; compute_at first",
				 name, r->buffer->name);
	}
	return true;
}

/* Finds the box that the block stores in one iteration of the inner loop; all
 * reads there must be within it. False after a diagnostic. */
static bool
find_box(struct rolling *r)
{
	struct edit *e = r->e;
	struct stmt *body = r->inner->children[0];
	struct access_list all = { 0 }, stores = { 0 }, loads = { 0 };
	struct range *box = arena_array(&e->m->arena, struct range,
					r->buffer->ndim + 1);
	struct range *read = arena_array(&e->m->arena, struct range,
					 r->buffer->ndim + 1);
	struct analyser a;
	bool known;

	access_collect(e->f, r->inner, r->buffer, &all);
	for (int i = 0; i < all.list.n; i++) {
		vec_push(&e->m->arena,
			 all.list.data[i].load ? &loads.list : &stores.list,
			 all.list.data[i]);
	}
	known = access_box(e->f, body, stores.list.data, stores.list.n, box) &&
		access_box(e->f, body, loads.list.data, loads.list.n, read);
	analyser_at(&a, e->m, body);
	if (!known || !region_covers(&a, box, read, r->buffer->ndim)) {
		return edit_fail(e,
				 "block %s may not write all elements that "
				 "one iteration of loop %s reads; compute_at "
				 "first",
				 r->block->u.block->name,
				 r->inner->u.loop.var->name);
	}
	r->box = box;
	return true;
}

/* Does the box advance with the loop along only one dimension, by a constant
 * step above 0 and below the constant extent of the box there? If so, sets
 * r->dim, r->stride (the step) and r->extent. */
static bool
rolls(struct rolling *r, struct stmt *loop)
{
	struct edit *e = r->e;
	struct var *v = loop->u.loop.var;
	struct analyser a;
	int found = -1;

	analyser_at(&a, e->m, r->inner->children[0]);
	for (int d = 0; d < r->buffer->ndim; d++) {
		const struct expr *rest;
		int64_t coeff, extent;

		if (!analyse_affine(&a, r->box[d].min, &v, 1, &coeff, &rest)) {
			return false;
		}
		if (coeff == 0) {
			continue;
		}
		if (found >= 0 || coeff < 0 ||
		    !expr_is_int(r->box[d].extent, &extent) ||
		    extent <= coeff) {
			return false;
		}
		found = d;
		r->stride = coeff;
		r->extent = extent;
	}
	r->dim = found;
	return found >= 0;
}

/* Does the block store every element of the box along the rolling dimension? A
 * mixed-radix sum of loops does if each factor is at most the range that the
 * smaller factors cover. */
static bool
is_dense(struct rolling *r)
{
	struct module *m = r->e->m;
	struct iter_var *loops;
	struct var **vars;
	const struct expr *rest;
	int64_t *factors, reached = 1;
	struct analyser a;
	int n;

	loops = loops_between(r->e->f, r->inner->children[0], r->store, &n);
	vars = arena_array(&m->arena, struct var *, n + 1);
	factors = arena_array(&m->arena, int64_t, n + 1);
	for (int i = 0; i < n; i++) {
		vars[i] = loops[i].var;
	}
	analyser_at(&a, m, r->store);
	if (!analyse_affine(&a, simplify(&a, r->store->args[r->dim + 1]), vars,
			    n, factors, &rest)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		int64_t least = INT64_MAX, extent;
		int which = -1;

		for (int k = 0; k < n; k++) {
			if (factors[k] != 0 && factors[k] < least) {
				least = factors[k];
				which = k;
			}
		}
		if (which < 0) {
			break;
		}
		if (least < 0 || least > reached ||
		    !expr_is_int(loops[which].extent, &extent)) {
			return false;
		}
		reached += least * (extent - 1);
		factors[which] = 0;
	}
	return true;
}

/* Finds the outermost loop along which the buffer rolls. All loops inside of
 * this loop must be serial, with ranges that do not depend on its variable.
 * False after a diagnostic. */
static bool
find_loop(struct rolling *r)
{
	struct edit *e = r->e;

	for (struct stmt *p = r->inner; p; p = loop_above(p)) {
		if (rolls(r, p)) {
			r->loop = p;
		}
	}
	if (!r->loop || !rolls(r, r->loop)) {
		return edit_fail(e,
				 "no loop around block %s and the readers of "
				 "%s reads elements of its previous "
				 "iteration; there is nothing to keep",
				 r->block->u.block->name, r->buffer->name);
	}
	if (!is_dense(r)) {
		return edit_fail(e,
				 "block %s skips elements of %s between "
				 "those it writes; they cannot form a ring "
				 "buffer",
				 r->block->u.block->name, r->buffer->name);
	}
	for (struct stmt *p = r->inner; p; p = loop_above(p)) {
		if (p->u.loop.kind != FOR_SERIAL &&
		    p->u.loop.kind != FOR_UNROLLED) {
			return edit_fail(e,
					 "loop %s is %s; only a serial loop "
					 "can keep elements of its previous "
					 "iteration",
					 p->u.loop.var->name,
					 for_kind_name(p->u.loop.kind));
		}
		if (p == r->loop) {
			break;
		}
		if (expr_uses_var(p->args[0], r->loop->u.loop.var) ||
		    expr_uses_var(p->args[1], r->loop->u.loop.var)) {
			return edit_fail(e,
					 "the range of loop %s depends on "
					 "loop %s",
					 p->u.loop.var->name,
					 r->loop->u.loop.var->name);
		}
	}
	for (const struct stmt *p = r->block->parent; p != r->loop;
	     p = p->parent) {
		if (p->kind == STMT_IF) {
			return edit_fail(e,
					 "block %s runs under a condition; "
					 "it may not have run in the "
					 "previous iteration",
					 r->block->u.block->name);
		}
	}
	return true;
}

struct ring {
	struct module *module;
	int dim;
	int64_t extent;
	int ndim;
};

static void
ring_index(void *ctx, const struct stmt *at, const struct expr *const *old,
	   const struct expr **new)
{
	const struct ring *r = ctx;

	(void)at;
	for (int d = 0; d < r->ndim; d++) {
		new[d] = d == r->dim
				 ? expr_floormod(r->module, old[d],
						 expr_i32(r->module, r->extent))
				 : old[d];
	}
}

/* Checks that the block has no condition other than the domains of its iter
 * vars: any other condition may hold in an iteration although it did not hold
 * in the iteration that first needed the element. False after a diagnostic. */
static bool
check_predicate(struct rolling *r)
{
	struct conjuncts all = { 0 };
	struct edit *e = r->e;

	expr_conjuncts(e->m, r->block->args[0], &all);
	if (all.list.n > 0 && !runs_everywhere(e, r->block, r->store)) {
		return edit_fail(e,
				 "block %s skips elements under a condition; "
				 "apply rolling_buffer before adding one",
				 r->block->u.block->name);
	}
	return true;
}

bool
prim_rolling_buffer(struct edit *e, const struct sched_value *args,
		    struct sched_value *out)
{
	struct rolling r = { .e = e };
	struct module *m = e->m;
	const struct expr **shape, *index, *kept, *start, *value;
	const struct buffer *ring;
	struct ring map;
	struct var_map iters = { 0 };

	(void)out;
	r.block = edit_block(e, args[0].u.id);
	if (!r.block) {
		return false;
	}
	r.buffer = write_arg(r.block, &args[1]);
	if (!edit_check_no_address(e, r.buffer) || !check_block(&r) ||
	    !find_box(&r) || !find_loop(&r) || !check_predicate(&r)) {
		return false;
	}
	iters.n = r.block->u.block->n_iters;
	iters.from = arena_array(&m->arena, struct var *, iters.n + 1);
	iters.to = arena_exprs(&m->arena, iters.n + 1);
	for (int i = 0; i < iters.n; i++) {
		iters.from[i] = r.block->u.block->iters[i].var;
		iters.to[i] = r.block->args[i + 1];
	}
	/* In an iteration after the first one, only the elements beyond the box
	 * of the previous iteration are computed. */
	index = expr_substitute(m, r.store->args[r.dim + 1], &iters);
	start = expr_add(m, r.box[r.dim].min, expr_i32(m, r.extent - r.stride));
	kept = expr_eq(m, r.loop->u.loop.var->expr, r.loop->args[0]);
	value = expr_or(m, kept, expr_le(m, start, index));
	stmt_set_arg(e->f, r.block, 0, expr_and(m, r.block->args[0], value));
	shape = arena_exprs(&m->arena, r.buffer->ndim + 1);
	for (int d = 0; d < r.buffer->ndim; d++) {
		shape[d] = d == r.dim ? expr_int(m, r.buffer->shape[d]->type,
						 r.extent)
				      : r.buffer->shape[d];
	}
	ring = buffer_with_shape(m, r.buffer, r.buffer->ndim, shape);
	map = (struct ring){ m, r.dim, r.extent, r.buffer->ndim };
	access_remap(e->f, scope_of(r.block), r.buffer, ring, ring_index, &map);
	buffer_follow(e, r.buffer, ring);
	bindings_simplify(e->f, r.block, false);
	return true;
}
