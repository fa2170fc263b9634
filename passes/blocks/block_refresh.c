/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the read and write regions of blocks from their bodies. */
#include "iterate.h"
#include "scope.h"

/* The index of access x in dimension d as seen outside of the blocks below
 * outer: iter vars of those blocks, and variables of LETs, are replaced by
 * their values. */
static const struct expr *
seen_from(struct module *m, const struct stmt *outer, const struct access *x,
	  int d)
{
	const struct expr *index = x->index[d];

	for (const struct stmt *p = x->at; p != outer; p = p->parent) {
		if (p->kind == STMT_BLOCK) {
			for (int i = 0; i < p->u.block->n_iters; i++) {
				struct var *v = p->u.block->iters[i].var;
				struct var_map map = {
					&v,
					(const struct expr **)&p->args[i + 1], 1
				};

				index = expr_substitute(m, index, &map);
			}
		} else if (p->kind == STMT_LET && p != x->at) {
			struct var *v = p->u.var;
			struct var_map map = { &v, p->args, 1 };

			index = expr_substitute(m, index, &map);
		}
	}
	return index;
}

/* The box of elements that n accesses to one buffer in a block touch, in terms
 * of the block's variables: variables of LETs inside are replaced by their
 * values. Stored in *out, which is returned. */
static struct region *
region_of(struct func *f, const struct stmt *block, const struct access *list,
	  int n, struct region *out)
{
	struct module *m = f->module;
	const struct buffer *b = list[0].buffer;
	const struct block *blk = block->u.block;
	struct analyser a;

	analyser_init(&a, m);
	for (int i = 0; i < blk->n_iters; i++) {
		analyser_bind(&a, blk->iters[i].var, blk->iters[i].min,
			      blk->iters[i].extent);
	}
	out->buffer = b;
	out->ranges = arena_array(&m->arena, struct range, b->ndim + 1);
	for (int d = 0; d < b->ndim; d++) {
		const struct expr *lo = seen_from(m, block, &list[0], d);
		const struct expr *hi = lo;

		for (int i = 0; i < n && lo; i++) {
			const struct expr *x = seen_from(m, block, &list[i], d);

			if (expr_has_load(x)) {
				lo = NULL;
			} else if (x != lo && x != hi) {
				if (prove(&a, expr_le(m, x, lo))) {
					lo = x;
				} else if (prove(&a, expr_le(m, hi, x))) {
					hi = x;
				} else if (!prove(&a,
						  expr_and(m, expr_le(m, lo, x),
							   expr_le(m, x,
								   hi)))) {
					lo = NULL;
				}
			}
		}
		if (lo) {
			out->ranges[d].min = lo;
			out->ranges[d].extent =
				lo == hi
					? expr_int(m, lo->type, 1)
					: simplify(&a,
						   expr_add(m,
							    expr_sub(m, hi, lo),
							    expr_i32(m, 1)));
		} else {
			out->ranges[d].min = expr_int(m, b->shape[d]->type, 0);
			out->ranges[d].extent = b->shape[d];
		}
	}
	return out;
}

/* Is the element that x loads also stored, by an access in the list with the
 * same index? */
static bool
is_updated(const struct access_list *all, const struct access *x)
{
	for (int i = 0; i < all->list.n; i++) {
		const struct access *y = &all->list.data[i];
		bool same = !y->load && y->buffer == x->buffer;

		for (int d = 0; d < x->buffer->ndim && same; d++) {
			same = x->index && y->index &&
			       x->index[d] == y->index[d];
		}
		if (same) {
			return true;
		}
	}
	return false;
}

static bool
block_reduces_below(struct stmt *s)
{
	for (struct stmt_iter it = stmt_each_of(s, STMT_BLOCK);
	     (s = stmt_next(&it));) {
		if (s->children[1] != NULL) {
			return true;
		}
		for (int i = 0; i < s->u.block->n_iters; i++) {
			if (s->u.block->iters[i].kind != ITER_SPATIAL) {
				return true;
			}
		}
	}
	return false;
}

/* The regions that the block writes (if `writes` is set), or those that it
 * reads; *n is set to their number. The load of its accumulator by a reduction
 * does not count as a read. */
static struct region *
regions(struct func *f, struct stmt *block, const struct access_list *all,
	bool writes, int *n)
{
	struct arena *arena = &f->module->arena;
	struct region *list = arena_array(arena, struct region,
					  all->list.n + 1);
	struct access *same = arena_array(arena, struct access,
					  all->list.n + 1);
	bool reduces = block_reduces_below(block);

	*n = 0;
	for (int i = 0; i < all->list.n; i++) {
		const struct buffer *b = all->list.data[i].buffer;
		bool done = !all->list.data[i].load != writes ||
			    (!writes && reduces &&
			     is_updated(all, &all->list.data[i]));
		int count = 0;

		for (int k = 0; k < *n; k++) {
			done |= list[k].buffer == b;
		}
		if (done) {
			continue;
		}
		for (int k = i; k < all->list.n; k++) {
			if (all->list.data[k].buffer == b &&
			    !all->list.data[k].load == writes &&
			    (writes || !reduces ||
			     !is_updated(all, &all->list.data[k]))) {
				same[count++] = all->list.data[k];
			}
		}
		region_of(f, block, same, count, &list[(*n)++]);
	}
	return list;
}

/* -- blocks around blocks */

/* Sets *out to the range of dimension d that the n accesses touch in one
 * instance of the block outer. False if the range is not known, or is proven to
 * be the whole dimension. */
static bool
cover_dim(struct func *f, struct analyser *a, const struct stmt *outer,
	  const struct access *list, int n, int d, struct range *out)
{
	struct module *m = f->module;
	const struct expr *min = NULL, *max = NULL;

	for (int i = 0; i < n; i++) {
		const struct expr *lo, *hi;
		const struct expr *index = seen_from(m, outer, &list[i], d);
		struct iter_var *relaxed;
		int count;

		if (list[i].address || expr_has_load(index)) {
			return false;
		}
		relaxed = loops_between(f, outer->children[0], list[i].at,
					&count);
		if (!analyse_cover(a, simplify(a, index), relaxed, count, &lo,
				   &hi) ||
		    !lo || !hi) {
			return false;
		}
		if (!min || prove(a, expr_le(m, lo, min))) {
			min = lo;
		} else if (!prove(a, expr_le(m, min, lo))) {
			return false;
		}
		if (!max || prove(a, expr_le(m, max, hi))) {
			max = hi;
		} else if (!prove(a, expr_le(m, hi, max))) {
			return false;
		}
	}
	out->min = simplify(a, min);
	out->extent = simplify(a, expr_add(m, expr_sub(m, max, min),
					   expr_int(m, max->type, 1)));
	return !prove(a, expr_le(m, list[0].buffer->shape[d], out->extent));
}

static bool
lives_inside(const struct stmt *outer, const struct access *x)
{
	for (const struct stmt *p = x->at; p != outer->parent; p = p->parent) {
		if ((p->kind == STMT_BLOCK && scope_owns(p, x->buffer)) ||
		    (p->kind == STMT_ALLOC && p->u.buffer == x->buffer)) {
			return true;
		}
	}
	return false;
}

static void
add_region(struct func *f, const struct stmt *outer,
	   const struct access_list *all, int first, struct region *out)
{
	struct module *m = f->module;
	const struct block *blk = outer->u.block;
	const struct access *x = &all->list.data[first];
	const struct buffer *b = x->buffer;
	struct access *same = arena_array(&m->arena, struct access,
					  all->list.n + 1);
	struct analyser a;
	int n = 0;

	analyser_init(&a, m);
	for (int i = 0; i < blk->n_iters; i++) {
		analyser_bind(&a, blk->iters[i].var, blk->iters[i].min,
			      blk->iters[i].extent);
	}
	for (int i = first; i < all->list.n; i++) {
		const struct access *y = &all->list.data[i];

		if (y->buffer == b && !y->load == !x->load) {
			same[n++] = *y;
		}
	}
	out->buffer = b;
	out->ranges = arena_array(&m->arena, struct range, b->ndim + 1);
	for (int d = 0; d < b->ndim; d++) {
		if (!cover_dim(f, &a, outer, same, n, d, &out->ranges[d])) {
			out->ranges[d].min = expr_int(m, b->shape[d]->type, 0);
			out->ranges[d].extent = b->shape[d];
		}
	}
}

static bool
has_address(const struct access_list *all, const struct buffer *b)
{
	for (int i = 0; i < all->list.n; i++) {
		if (all->list.data[i].address &&
		    all->list.data[i].buffer == b) {
			return true;
		}
	}
	return false;
}

/* For a buffer whose address is an argument of a call, which may access any
 * element from there on: the region that the old block declares for the buffer
 * is kept; if the old block declares none, the region is the whole buffer. */
static void
keep_declared(struct func *f, const struct block *old, struct block *copy,
	      const struct buffer *b)
{
	struct region all = { .buffer = b };
	bool known = false;

	for (int i = 0; i < old->n_reads + old->n_writes; i++) {
		bool write = i >= old->n_reads;
		const struct region *r = write ? &old->writes[i - old->n_reads]
					       : &old->reads[i];

		if (r->buffer != b) {
			continue;
		}
		known = true;
		if (write) {
			copy->writes[copy->n_writes++] = *r;
		} else {
			copy->reads[copy->n_reads++] = *r;
		}
	}
	if (known) {
		return;
	}
	all.ranges = arena_array(&f->module->arena, struct range, b->ndim + 1);
	for (int d = 0; d < b->ndim; d++) {
		all.ranges[d].min = expr_int(f->module, b->shape[d]->type, 0);
		all.ranges[d].extent = b->shape[d];
	}
	copy->writes[copy->n_writes++] = all;
}

/* Sets the regions of a block that contains blocks: one region for each buffer
 * that is accessed inside of the block and allocated outside of it. */
static void
outer_regions(struct func *f, struct stmt *outer, const struct access_list *all)
{
	struct arena *arena = &f->module->arena;
	const struct block *old = outer->u.block;
	struct block copy = *old;
	bool reduces = block_reduces_below(outer);
	int most = all->list.n + old->n_reads + old->n_writes;

	copy.writes = arena_array(arena, struct region, most + 1);
	copy.reads = arena_array(arena, struct region, most + 1);
	copy.n_writes = copy.n_reads = 0;
	for (int i = 0; i < all->list.n; i++) {
		const struct access *x = &all->list.data[i];

		if (lives_inside(outer, x) ||
		    regions_have(copy.writes, copy.n_writes, x->buffer) ||
		    regions_have(copy.reads, copy.n_reads, x->buffer)) {
			continue;
		}
		if (has_address(all, x->buffer)) {
			keep_declared(f, old, &copy, x->buffer);
		} else if (!x->load) {
			add_region(f, outer, all, i,
				   &copy.writes[copy.n_writes++]);
		}
	}
	for (int i = 0; i < all->list.n; i++) {
		const struct access *x = &all->list.data[i];

		if (x->load && !lives_inside(outer, x) &&
		    !has_address(all, x->buffer) &&
		    !(reduces && is_updated(all, x)) &&
		    !regions_have(copy.reads, copy.n_reads, x->buffer)) {
			add_region(f, outer, all, i,
				   &copy.reads[copy.n_reads++]);
		}
	}
	stmt_set_block(f, outer, &copy);
}

static void
refresh_one(struct func *f, struct stmt *block)
{
	struct block copy = *block->u.block;
	struct access_list all = accesses_of(f, block->children[0], NULL);

	if (block->children[1]) {
		access_collect(f, block->children[1], NULL, &all);
	}
	if (stmt_has(block->children[0], STMT_FOR) ||
	    stmt_has(block->children[0], STMT_BLOCK) ||
	    access_any_address(&all)) {
		outer_regions(f, block, &all);
		return;
	}
	copy.reads = regions(f, block, &all, false, &copy.n_reads);
	copy.writes = regions(f, block, &all, true, &copy.n_writes);
	stmt_set_block(f, block, &copy);
}

void
block_refresh(struct func *f, struct stmt *block)
{
	/* The root block declares no regions. */
	for (; block && block != f->body; block = scope_of(block)) {
		refresh_one(f, block);
	}
}

void
blocks_refresh(struct func *f)
{
	struct stmt *s;

	for (struct stmt_iter it = stmt_each_of(f->body, STMT_BLOCK);
	     (s = stmt_next(&it));) {
		if (s->u.block->n_reads + s->u.block->n_writes > 0) {
			block_refresh(f, s);
		}
	}
}
