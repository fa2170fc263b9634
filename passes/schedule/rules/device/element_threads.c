/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of which each thread computes an element, or a vector of them. The
 * spatial loops are bound to thread blocks and threads; a reduction accumulates
 * in a variable of the thread that stores its result.
 *
 *   for oc, oh, ow in grid(8, 56, 56):    for bx in thread(98, "blockIdx.x"):
 *     for ic, kh, kw in grid(4, 3, 3): ->   for tx in thread(256, "threadIdx.x"):
 *       y[oc, oh, ow] += ...                  for ic, kh, kw in grid(4, 3, 3):
 *                                               sum += ...
 *                                             y[...] = sum */
#include "element_threads.h"

#include "decision.h"
#include "layout_map.h"
#include "nest.h"

/* The number of threads per thread block: whole warps that divide the loop's
 * extent if possible, so that no thread idles. */
static int64_t
block_threads(struct rules *r, const struct stmt *loop)
{
	int64_t most = target_block_threads(r->target);
	int64_t n, warp = target_warp(r->target);

	if (!expr_is_int(loop->args[1], &n)) {
		return most;
	}
	for (int64_t t = most; t >= warp && t * 2 >= most; t -= warp) {
		if (n % t == 0) {
			return t;
		}
	}
	n = (n + warp - 1) / warp * warp;
	return n < most ? n : most;
}

/* Moves the block's spatial loops outermost and fuses them into *loop. False
 * after a failure. */
static bool
fuse_spatial(struct rules *r, int block, int *loop)
{
	int *loops, n, order[MAX_AXES], n_spatial = 0, n_order;
	const struct stmt *s = func_find(r->s.func, block);
	bool in_order = true;

	if (!sched_get_loops(&r->s, block, &loops, &n) || n > MAX_AXES) {
		return false;
	}
	/* The loop over the elements of one vector access stays inside, and is
	 * not fused. */
	n -= n > 0 &&
	     func_find(r->s.func, loops[n - 1])->u.loop.kind == FOR_VECTORIZED;
	n_order = 0;
	for (int reduces = 0; reduces < 2; reduces++) {
		for (int i = 0; i < n; i++) {
			int drives = rules_driven_iter(s, func_find(r->s.func,
								    loops[i]));
			bool sums = drives >= 0 &&
				    s->u.block->iters[drives].kind !=
					    ITER_SPATIAL;

			if (sums == (reduces == 1)) {
				in_order &= loops[n_order] == loops[i];
				order[n_order++] = loops[i];
				n_spatial += !sums;
			}
		}
	}
	return (n_spatial == 0 || in_order || sched_reorder(&r->s, order, n)) &&
	       rules_fuse_loops(r, order, n_spatial,
				rules_nest(block, loops, n), loop);
}

/* Splits the loop into vectors of `lanes` elements, each loaded and stored by
 * one access; *loop becomes the loop over vectors. False after a failure. */
static bool
split_vectors(struct rules *r, int *loop, int64_t lanes)
{
	struct candidates c = { 0 };
	int parts[2];

	for (int64_t n = lanes; n > 1; n /= 2) {
		candidates_add(r, &c, n);
	}
	if (!rules_split(r, *loop, rules_decide(r, "lanes", &c, &lanes),
			 parts) ||
	    !sched_vectorize(&r->s, parts[1])) {
		return false;
	}
	*loop = parts[0];
	return true;
}

/* Flattens all axes of a block into one, so that a vector may cross the ends of
 * rows; *loop: the loop over it. False after a failure. */
static bool
flatten_axes(struct rules *r, int block, int *loop)
{
	const struct block *b = func_find(r->s.func, block)->u.block;
	struct index_map *map = rules_map_new(r->module, b->n_iters, 1);
	const struct expr *sum = NULL;
	int *loops, n;

	for (int i = 0; i < b->n_iters; i++) {
		const struct expr *v = map->logical[i]->expr;

		sum = sum == NULL ? v
				  : expr_add(r->module,
					     expr_mul(r->module, sum,
						      b->iters[i].extent),
					     v);
	}
	rules_map_put(map, sum);
	if (!rules_transform_block(r, block, map) ||
	    !sched_get_loops(&r->s, block, &loops, &n) || n != 1) {
		return false;
	}
	*loop = loops[0];
	return sched_rename_loop(&r->s, *loop, "i");
}

/* Should each thread take a vector of `lanes` elements? Only if lanes exceeds 1
 * and each multiprocessor still gets a warp; with fewer elements, one element
 * per thread keeps more threads busy. Symbolic sizes count as large. */
static bool
has_vectors(struct rules *r, int block, int64_t lanes)
{
	const struct block *b = func_find(r->s.func, block)->u.block;
	int64_t n = 1, extent, warp = target_warp(r->target);

	for (int i = 0; i < b->n_iters && lanes > 1; i++) {
		if (!expr_is_int(b->iters[i].extent, &extent)) {
			return true;
		}
		n *= extent;
	}
	return lanes > 1 && n / lanes >= r->target->units * warp;
}

/* Does the product of the block's constant extents fit the type of an axis? */
static bool
fits_one_axis(struct rules *r, int block)
{
	const struct block *b = func_find(r->s.func, block)->u.block;
	int64_t n = 1, extent;

	for (int i = 0; i < b->n_iters; i++) {
		if (expr_is_int(b->iters[i].extent, &extent) &&
		    (__builtin_mul_overflow(n, extent, &n) || n > INT32_MAX)) {
			return false;
		}
	}
	return true;
}

/* Fuses the block's spatial loops into one, *loop, over vectors of *lanes
 * elements, if they can be loaded and stored by single accesses. False after a
 * failure. */
static bool
fuse_vectors(struct rules *r, int block, int *loop, int64_t *lanes)
{
	const struct stmt *s = func_find(r->s.func, block);
	int *loops, n, axis;

	*lanes = rules_flat_access_width(r, block);
	if (has_vectors(r, block, *lanes) && fits_one_axis(r, block)) {
		return flatten_axes(r, block, loop) &&
		       split_vectors(r, loop, *lanes);
	}
	*lanes = 1;
	if (!sched_get_loops(&r->s, block, &loops, &n) || n == 0) {
		return fuse_spatial(r, block, loop);
	}
	axis = rules_driven_iter(s, func_find(r->s.func, loops[n - 1]));
	*lanes = axis >= 0 ? rules_access_width(r, block, axis, true) : 1;
	if (has_vectors(r, block, *lanes)) {
		return split_vectors(r, &loops[n - 1], *lanes) &&
		       fuse_spatial(r, block, loop);
	}
	*lanes = 1;
	return fuse_spatial(r, block, loop);
}

bool
rules_bind_threads(struct rules *r, int loop, int *thread)
{
	int64_t n = block_threads(r, func_find(r->s.func, loop));
	int64_t warp = target_warp(r->target);
	struct candidates c = { 0 };
	int parts[2];

	candidates_add_steps(r, &c, warp, target_block_threads(r->target), warp,
			     0);
	if (!rules_split(r, loop, rules_decide(r, "threads", &c, &n), parts)) {
		return false;
	}
	*thread = parts[1];
	return sched_bind(&r->s, parts[0], "blockIdx.x") &&
	       sched_bind(&r->s, parts[1], "threadIdx.x");
}

bool
rules_bind_element_threads(struct rules *r, int block, int *thread)
{
	int loop;

	return fuse_spatial(r, block, &loop) &&
	       rules_bind_threads(r, loop, thread);
}

int
rules_sole_epilogue(struct rules *r, int block)
{
	struct block_access x;
	int *users, n;

	if (!sched_get_consumers(&r->s, block, &users, &n) || n != 1 ||
	    block_reduces(func_find(r->s.func, users[0])) ||
	    !rules_access(r, block, &x) || !rules_same_axes(r, &x, users[0])) {
		return 0;
	}
	return users[0];
}

/* Counts a nest of threads with vectors of `lanes` elements, for the
 * description. Returns true. */
static bool
took_nest(struct rules *r, int64_t lanes)
{
	r->nests++;
	r->most_lanes = lanes > r->most_lanes ? lanes : r->most_lanes;
	return true;
}

bool
rule_thread_sum(struct rules *r, const struct kernel_blocks *k)
{
	int store = rules_sole_epilogue(r, k->block), loop, thread;
	const struct buffer *sum;

	return (store != 0 ||
		sched_cache_write(&r->s, k->block, 0, "local", &store)) &&
	       fuse_spatial(r, store, &loop) &&
	       rules_bind_threads(r, loop, &thread) &&
	       sched_compute_at(&r->s, k->block, thread) &&
	       sched_set_scope(&r->s, k->block, 0, "local") &&
	       rules_accumulator(r, k->block, &sum) && took_nest(r, 1);
}

bool
rule_element_threads(struct rules *r, const struct kernel_blocks *k)
{
	int64_t lanes;
	int loop, thread;

	return fuse_vectors(r, k->block, &loop, &lanes) &&
	       rules_bind_threads(r, loop, &thread) && took_nest(r, lanes);
}

void
rules_describe_threads(struct rules *r)
{
	strbuf_printf(&r->words, "%s%s  ", r->words.len > 0 ? ", " : "",
		      r->nests == 1 ? "threads" : "stages of threads");
	if (r->most_lanes == 1) {
		strbuf_puts(&r->words, "an element per thread");
	} else {
		strbuf_printf(&r->words, "%s%lld elements per thread",
			      r->nests == 1 ? "" : "up to ",
			      (long long)r->most_lanes);
	}
}
