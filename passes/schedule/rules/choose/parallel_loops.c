/* SPDX-License-Identifier: Apache-2.0 */
/* Makes loops parallel, after a rule has scheduled the kernel for one thread:
 * of each nest, the outermost loop with independent iterations. If it has too
 * few iterations for the cores, the loops inside of this loop are fused with
 * it:
 *
 *   for oc_o in range(4):             for oc_o_oh_fused in T.parallel(224):
 *     for oh in range(56):      ->      ...
 *       ...
 *
 * If several outer loops qualify, the loop for which threads read the least
 * common data becomes the outermost one: rows of a large image, output channels
 * if there are many weights. A loop is not fused if the predicate of a block
 * uses it: the loop's tail is partitioned later.
 *
 * A nest that takes hardly longer than starting and joining threads stays
 * serial. Times are estimated from the numbers of operations and bytes and the
 * target's facts. */
#include <string.h>

#include "choose_parts.h"
#include "iterate.h"
#include "nest.h"

/* A parallel loop should have at least this number of iterations for each core;
 * then it costs little if some cores run one more. */
#define ITERATIONS_PER_CORE 4

static int64_t
extent_of(const struct stmt *loop)
{
	int64_t n;

	return expr_is_int(loop->args[1], &n) ? n : 0;
}

/* Does the predicate of a block inside of the loop use the loop's variable? */
static bool
is_guarded(struct stmt *loop)
{
	const struct stmt *s;

	for (struct stmt_iter it = stmt_each_of(loop->children[0], STMT_BLOCK);
	     (s = stmt_next(&it));) {
		if (expr_uses_var(s->args[0], loop->u.loop.var)) {
			return true;
		}
	}
	return false;
}

static bool
may_fuse(struct stmt *loop)
{
	return loop->u.loop.kind == FOR_SERIAL && loop->notes == NULL &&
	       extent_of(loop) > 0 && !is_guarded(loop);
}

/* Is the target a device whose work-groups have one work-item each? */
static bool
in_groups(const struct rules *r)
{
	return r->target->max_threads == 1;
}

static bool
make_parallel(struct rules *r, int loop)
{
	return in_groups(r) ? sched_bind(&r->s, loop, "blockIdx.x")
			    : sched_parallel(&r->s, loop);
}

static bool
may_be_parallel(struct rules *r, int loop)
{
	struct sched_mark mark = sched_checkpoint(&r->s);
	bool ok = make_parallel(r, loop);

	sched_rollback(&r->s, mark);
	return ok;
}

/* The number of loops, from loops[0] on, to fuse into one parallel loop so that
 * it has enough iterations. */
static int
count_fused(struct rules *r, const int *loops, int n)
{
	int64_t enough = (int64_t)r->target->cores * ITERATIONS_PER_CORE;
	int64_t iterations = extent_of(func_find(r->s.func, loops[0]));
	int fused = 1;

	if (!may_fuse(func_find(r->s.func, loops[0]))) {
		return 1;
	}
	while (iterations < enough && fused < n) {
		const struct stmt *outer = func_find(r->s.func,
						     loops[fused - 1]);
		struct stmt *next = func_find(r->s.func, loops[fused]);

		if (outer->children[0] != next || !may_fuse(next) ||
		    !may_be_parallel(r, loops[fused])) {
			break;
		}
		iterations *= extent_of(next);
		fused++;
	}
	return fused;
}

/* -- which loop becomes parallel */

static bool
region_moves(const struct stmt *block, const struct region *region,
	     const struct var *v)
{
	for (int d = 0; d < region->buffer->ndim; d++) {
		for (int i = 0; i < block->u.block->n_iters; i++) {
			if (expr_uses_var(block->args[1 + i], v) &&
			    expr_uses_var(region->ranges[d].min,
					  block->u.block->iters[i].var)) {
				return true;
			}
		}
	}
	return false;
}

/* The bytes that every thread reads if `loop` is parallel: the bytes of those
 * parameters whose accessed region does not depend on the variable of
 * `loop`. */
static double
common_bytes(struct rules *r, int nest, int loop)
{
	struct touched all = { .func = r->s.func }, moving = all;
	const struct var *var = func_find(r->s.func, loop)->u.loop.var;
	const struct stmt *s;

	for (struct stmt_iter it =
		     stmt_each_of(func_find(r->s.func, nest), STMT_BLOCK);
	     (s = stmt_next(&it));) {
		for (int i = 0; i < s->u.block->n_reads; i++) {
			const struct region *region = &s->u.block->reads[i];

			touched_add(&all, region->buffer);
			if (region_moves(s, region, var)) {
				touched_add(&moving, region->buffer);
			}
		}
	}
	return all.bytes - moving.bytes;
}

/* Moves to the outermost place the loop for which threads read the least data
 * in common, if these common data are at most half as much as now, and fit in
 * the second-level cache, because each iteration reads all of them. */
static void
choose_first(struct rules *r, int *loops, int n)
{
	double first = common_bytes(r, loops[0], loops[0]), least = first;
	struct sched_mark mark = sched_checkpoint(&r->s);
	int best = 0, order[MAX_AXES];

	if (!may_fuse(func_find(r->s.func, loops[0]))) {
		return;
	}
	for (int i = 1; i < n && i < MAX_AXES; i++) {
		struct stmt *loop = func_find(r->s.func, loops[i]);
		double bytes;

		if (loop->parent->id != loops[i - 1] || !may_fuse(loop) ||
		    !may_be_parallel(r, loops[i])) {
			break;
		}
		bytes = common_bytes(r, loops[0], loops[i]);
		if (bytes < least) {
			least = bytes;
			best = i;
		}
	}
	if (best == 0 || least * 2 > first ||
	    least * 2 > (double)r->target->l2_bytes) {
		return;
	}
	order[0] = loops[best];
	for (int i = 0, k = 1; i <= best; i++) {
		if (i != best) {
			order[k++] = loops[i];
		}
	}
	if (!sched_reorder(&r->s, order, best + 1)) {
		sched_rollback(&r->s, mark);
		return;
	}
	memcpy(loops, order, sizeof *loops * (size_t)(best + 1));
}

static bool
parallelize(struct rules *r, const int *loops, int n)
{
	struct sched_mark mark = sched_checkpoint(&r->s);
	int loop = loops[0];

	if ((n == 1 || sched_fuse(&r->s, loops, n, &loop)) &&
	    make_parallel(r, loop)) {
		return true;
	}
	sched_rollback(&r->s, mark);
	return false;
}

static bool
is_in_loop(struct rules *r, int block, int loop)
{
	int *loops, n;
	bool found = false;

	if (sched_get_loops(&r->s, block, &loops, &n)) {
		for (int i = 0; i < n; i++) {
			found |= loops[i] == loop;
		}
	}
	return found;
}

/* Makes the buffer of the block's result global if a block outside of the nest,
 * which belongs to another launch, reads the result. False after a failure. */
static bool
make_result_global(struct rules *r, int block, int loop)
{
	const struct block *b = func_find(r->s.func, block)->u.block;
	int *users, n;

	if (strcmp(b->writes[0].buffer->scope, "local") != 0) {
		return true;
	}
	if (!sched_get_consumers(&r->s, block, &users, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (!is_in_loop(r, users[i], loop)) {
			return sched_set_scope(&r->s, block, 0, "global");
		}
	}
	return true;
}

static void
make_results_global(struct rules *r)
{
	int *blocks, n = sched_get_child_blocks(&r->s, 0, &blocks);

	for (int i = 0; i < n; i++) {
		int *loops, n_loops;

		if (sched_get_loops(&r->s, blocks[i], &loops, &n_loops) &&
		    n_loops > 0) {
			make_result_global(r, blocks[i], loops[0]);
		}
	}
}

/* Binds the whole nest of the block to a single work-group. False after a
 * failure. */
static bool
one_group(struct rules *r, int block, const int *loops, int n)
{
	int loop;

	return rules_fuse_loops(r, NULL, 0, rules_nest(block, loops, n),
				&loop) &&
	       sched_bind(&r->s, loop, "blockIdx.x");
}

/* Does the loop run once, and is its body another loop and nothing else? */
static bool
holds_one_loop(struct rules *r, int loop)
{
	const struct stmt *outer = func_find(r->s.func, loop);

	return extent_of(outer) == 1 && outer->children[0]->kind == STMT_FOR;
}

/* Binds the outer loops of the block's nest to work-groups; a launch cannot be
 * inside of a loop. All blocks of the nest are in the loop that is bound, since
 * work-groups do not share local buffers. False after a failure. */
static bool
group_nest(struct rules *r, int block, int *loops, int n)
{
	int first = 0;

	while (first < n - 1 && holds_one_loop(r, loops[first])) {
		first++;
	}
	if (first < n && extent_of(func_find(r->s.func, loops[first])) != 1 &&
	    may_be_parallel(r, loops[first]) &&
	    func_find(r->s.func, loops[first])->u.loop.kind == FOR_SERIAL) {
		int fused;

		choose_first(r, loops + first, n - first);
		fused = count_fused(r, loops + first, n - first);
		if (parallelize(r, loops + first, fused) ||
		    (fused > 1 && parallelize(r, loops + first, 1))) {
			return true;
		}
	}
	return one_group(r, block, loops, n);
}

/* Makes a loop of the nest parallel if that saves time. False after a
 * failure. */
static bool
parallelize_nest(struct rules *r, int *loops, int n)
{
	double ns = n > 0 ? rules_nest_ns(r, func_find(r->s.func, loops[0]))
			  : 0;

	for (int i = 0; i < n; i++) {
		const struct stmt *loop = func_find(r->s.func, loops[i]);
		int64_t extent = extent_of(loop);

		if (!rules_worth_starts(r, ns)) {
			return false;
		}
		if (extent != 1 && loop->u.loop.kind == FOR_SERIAL &&
		    may_be_parallel(r, loops[i])) {
			int fused;

			choose_first(r, loops + i, n - i);
			fused = count_fused(r, loops + i, n - i);
			return parallelize(r, loops + i, fused) ||
			       (fused > 1 && parallelize(r, loops + i, 1));
		}
		/* The threads would be started anew in each iteration of an
		 * outer loop. */
		ns /= extent > 0 ? (double)extent : 1;
	}
	return false;
}

void
rules_parallel(struct rules *r)
{
	VEC(int) seen = { 0 };
	int *blocks, n = 0, shared = 0;

	if (r->target->cores < 2 && !in_groups(r)) {
		return;
	}
	n = sched_get_child_blocks(&r->s, 0, &blocks);
	for (int i = 0; i < n; i++) {
		int *loops, n_loops;
		bool done = false;

		if (!sched_get_loops(&r->s, blocks[i], &loops, &n_loops) ||
		    (n_loops == 0 && !in_groups(r))) {
			continue;
		}
		for (int k = 0; k < seen.n && n_loops > 0; k++) {
			done |= seen.data[k] == loops[0];
		}
		if (done) {
			continue;
		}
		if (in_groups(r) ? group_nest(r, blocks[i], loops, n_loops)
				 : parallelize_nest(r, loops, n_loops)) {
			shared++;
			sched_get_loops(&r->s, blocks[i], &loops, &n_loops);
		}
		if (n_loops > 0) {
			vec_push(&r->module->arena, &seen, loops[0]);
		}
	}
	if (in_groups(r)) {
		make_results_global(r);
	}
	if (shared > 0) {
		strbuf_puts(&r->words,
			    in_groups(r) ? ", groups" : ", parallel");
	}
}
