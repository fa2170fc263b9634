/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules kernels for devices that run many threads. Injective blocks are
 * inlined; each remaining block becomes a nest whose spatial loops are bound to
 * thread blocks and threads. A reduction accumulates in a variable of the
 * thread that stores its result.
 *
 *   for oc, oh, ow in grid(8, 56, 56):    for bx in thread(98, "blockIdx.x"):
 *     for ic, kh, kw in grid(4, 3, 3): ->   for tx in thread(256, "threadIdx.x"):
 *       y[oc, oh, ow] += ...                  for ic, kh, kw in grid(4, 3, 3):
 *                                               sum += ...
 *                                             y[...] = sum */
#include "sched_rules.h"

#include "gemm_tile.h"
#include "register_tile.h"

/* The number of threads per block: whole warps that divide the loop, if there
 * are, so that no thread idles. */
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

bool
rules_fuse_loops(struct rules *r, const int *loops, int n,
		 struct sched_value around, int *out)
{
	struct sched_value made;

	if (n > 1) {
		return sched_fuse(&r->s, loops, n, out);
	}
	if (n == 1) {
		*out = loops[0];
		return true;
	}
	if (!sched_apply(&r->s, "add_unit_loop", &around, 1, &made)) {
		return false;
	}
	*out = made.u.id;
	return true;
}

struct sched_value
rules_nest(int block, const int *loops, int n)
{
	return n > 0 ? sv_loop(loops[0]) : sv_block(block);
}

/* Moves the block's spatial loops outermost and fuses them. */
static bool
fuse_spatial(struct rules *r, int block, int *loop)
{
	int *loops, n, order[MAX_AXES], n_spatial = 0, n_order;
	const struct stmt *s = func_find(r->s.func, block);
	bool in_order = true;

	if (!sched_get_loops(&r->s, block, &loops, &n) || n > MAX_AXES) {
		return false;
	}
	/* The loop over the elements of one vector access stays inside. */
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

/* Splits a loop into vectors of `lanes` elements, each loaded and stored by one
 * access. */
static bool
split_vectors(struct rules *r, int *loop, int64_t lanes)
{
	int parts[2];

	if (!sched_split(&r->s, *loop, (int64_t[]){ 0, lanes }, 2, parts) ||
	    !sched_vectorize(&r->s, parts[1])) {
		return false;
	}
	*loop = parts[0];
	return true;
}

/* Flattens all axes of a block into one, so that a vector may cross the ends of
 * rows; *loop: the loop over it. */
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
	if (!gemm_apply(r, "transform_block_layout", block, sv_map(map),
			NULL) ||
	    !sched_get_loops(&r->s, block, &loops, &n) || n != 1) {
		return false;
	}
	*loop = loops[0];
	return sched_rename_loop(&r->s, *loop, "i");
}

/* Does each multiprocessor get a warp of vectors? With fewer elements, one per
 * thread uses more threads. */
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

/* Fuses the block's spatial loops into one over vectors of *lanes elements, if
 * they can be loaded and stored by single accesses. */
static bool
fuse_vectors(struct rules *r, int block, int *loop, int64_t *lanes)
{
	const struct stmt *s = func_find(r->s.func, block);
	int *loops, n, axis;

	*lanes = rules_flat_access_width(r, block);
	if (has_vectors(r, block, *lanes)) {
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

/* Binds a thread to each iteration of the loop; *thread: the loop over the
 * threads of a block. */
static bool
bind_threads(struct rules *r, int loop, int *thread)
{
	int64_t n = block_threads(r, func_find(r->s.func, loop));
	int parts[2];

	if (!sched_split(&r->s, loop, (int64_t[]){ 0, n }, 2, parts)) {
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

	return fuse_spatial(r, block, &loop) && bind_threads(r, loop, thread);
}

/* The only block that reads the block's output, if it reads exactly its axes,
 * element by element, so that the sums can stay in variables. 0: there is
 * none. */
static int
sole_epilogue(struct rules *r, int block)
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

/* Computes each result of a reduction in a variable of the thread that stores
 * it. */
static bool
sum_per_thread(struct rules *r, int block)
{
	int store = sole_epilogue(r, block), loop, thread;
	const struct buffer *sum;

	return (store != 0 ||
		sched_cache_write(&r->s, block, 0, "local", &store)) &&
	       fuse_spatial(r, store, &loop) &&
	       bind_threads(r, loop, &thread) &&
	       sched_compute_at(&r->s, block, thread) &&
	       sched_set_scope(&r->s, block, 0, "local") &&
	       rules_accumulator(r, block, &sum);
}

bool
rules_is_bound(struct rules *r, int block)
{
	int *loops, n;

	if (!sched_get_loops(&r->s, block, &loops, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (func_find(r->s.func, loops[i])->u.loop.kind == FOR_THREAD) {
			return true;
		}
	}
	return false;
}

/* Tiles reductions in shared memory. */
static void
tile_reductions(struct rules *r)
{
	int *blocks, n = sched_get_child_blocks(&r->s, 0, &blocks);

	for (int i = 0; i < n; i++) {
		struct sched_mark mark = sched_checkpoint(&r->s);
		const struct stmt *block = func_find(r->s.func, blocks[i]);

		/* Scheduling another block may have inlined this one. */
		if (block == NULL || !block_reduces(block)) {
			continue;
		}
		if (!rule_tensor_core(r, blocks[i]) &&
		    !rule_shared_memory_tile(r, blocks[i])) {
			sched_rollback(&r->s, mark);
		}
	}
}

static bool
try_row_reduction(struct rules *r, const int *blocks, int n, int output)
{
	struct sched_mark mark = sched_checkpoint(&r->s);

	if (rule_row_reduction(r, blocks, n, output)) {
		return true;
	}
	sched_rollback(&r->s, mark);
	return false;
}

/* Reduces all remaining blocks by rows, or else each reduction with its
 * epilogue. */
static void
reduce_rows(struct rules *r)
{
	int *blocks, n = sched_get_child_blocks(&r->s, 0, &blocks);
	int *left = arena_array(&r->module->arena, int, n + 1), n_left = 0;
	bool reduces = false;

	for (int i = 0; i < n; i++) {
		if (!rules_is_bound(r, blocks[i])) {
			left[n_left++] = blocks[i];
			reduces |= block_reduces(
				func_find(r->s.func, blocks[i]));
		}
	}
	if (!reduces || try_row_reduction(r, left, n_left, left[n_left - 1])) {
		return;
	}
	for (int i = 0; i < n_left; i++) {
		int pair[2] = { left[i], sole_epilogue(r, left[i]) };

		if (block_reduces(func_find(r->s.func, left[i]))) {
			try_row_reduction(r, pair, 1 + (pair[1] != 0),
					  pair[pair[1] != 0]);
		}
	}
}

static void
describe_threads(struct rules *r, int nests, int64_t most)
{
	strbuf_printf(&r->words, "%s%s  ", r->words.len > 0 ? ", " : "",
		      nests == 1 ? "threads" : "stages of threads");
	if (most == 1) {
		strbuf_puts(&r->words, "an element per thread");
	} else {
		strbuf_printf(&r->words, "%s%lld elements per thread",
			      nests == 1 ? "" : "up to ", (long long)most);
	}
}

bool
rules_threads(struct rules *r)
{
	int *blocks, n, nests = 0, loop, thread;
	int64_t most = 1, lanes;

	rules_inline(r, KEEP_OPERANDS);
	tile_reductions(r);
	rules_inline(r, KEEP_NOTHING);
	if (!rules_ordered_threads(r)) {
		return false;
	}
	reduce_rows(r);
	n = sched_get_child_blocks(&r->s, 0, &blocks);

	for (int i = 0; i < n; i++) {
		struct sched_mark mark = sched_checkpoint(&r->s);

		if (rules_is_bound(r, blocks[i])) {
			continue;
		} else if (block_reduces(func_find(r->s.func, blocks[i]))) {
			nests++;
			if (sum_per_thread(r, blocks[i])) {
				continue;
			}
			sched_rollback(&r->s, mark);
		} else {
			nests++;
		}
		if (!fuse_vectors(r, blocks[i], &loop, &lanes) ||
		    !bind_threads(r, loop, &thread)) {
			return false;
		}
		most = lanes > most ? lanes : most;
	}
	if (nests > 0) {
		describe_threads(r, nests, most);
	}
	return true;
}
