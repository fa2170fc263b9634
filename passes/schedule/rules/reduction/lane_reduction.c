/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions of contiguous rows by the lanes of a vector: each lane has a
 * partial result, and the partial results are reduced in the end.
 *
 *   for k: s += x[k]     ->     for k_o, lane: part[lane] += x[16 k_o + lane]
 *                               for lane: s += part[lane]
 *
 * A float sum of n terms by one accumulator waits for each addition, and rounds
 * n times; a sum by L lanes takes 1/L of the time, and rounds n/L + L times.
 * Long rows use the lanes of several vectors, which do not wait for each other.
 * The partial results of all lanes are reduced to those of one vector, and
 * these by halves:
 *
 *   for lane in 8: half[lane] = part[lane] + part[8 + lane] */
#include "decision.h"
#include "nest.h"
#include "row_stages.h"
#include "written_out.h"

/* Fewer lanes or shorter vectors are not worthwhile. Nor are parts of the
 * target's vectors, for reductions of fewer than LONG values. */
enum { LEAST_LANES = 4, LEAST_BYTES = 16, LONG = 32 };
/* A row with MANY_TERMS terms for each lane has the lanes of VECTORS vectors. */
enum { MANY_TERMS = 64, VECTORS = 4 };
/* gcc unrolls loops of up to 16 iterations before it vectorizes them, and then
 * does not vectorize choices (min, max). */
enum { LOOP_LANES = 32 };

bool
rules_have_lanes(const struct target *t)
{
	return t->vectors.n > 0 || t->vector_bytes > LEAST_BYTES;
}

/* The block's innermost reduced axis, and *values, the largest number of values
 * that the block reduces for one result; -1: no axis is reduced. */
static int
reduced_axis(const struct block_access *x, double *values)
{
	int axis = -1;

	*values = 1;
	for (int i = 0; i < x->info->n_iters; i++) {
		if (x->info->iters[i].kind == ITER_REDUCE) {
			axis = i;
			*values *= (double)x->most[i];
		}
	}
	return axis;
}

/* Is dimension d the last dimension of the loaded buffer? In a constant,
 * dimensions of extent 1 may follow it, because its layout can change. */
static bool
is_innermost(const struct load_access *a, int d)
{
	const struct buffer *b = a->load->u.buffer;

	while (a->weight != NULL && d + 1 < b->ndim &&
	       expr_is_value(b->shape[d + 1], 1)) {
		d++;
	}
	return d == b->ndim - 1;
}

/* Is every load either contiguous along the axis, or independent of it? */
static bool
loads_contiguous(const struct block_access *x, int axis)
{
	for (int l = 0; l < x->n_loads; l++) {
		const struct load_access *a = &x->loads[l];

		if (a->use[axis] != AXIS_UNUSED &&
		    (a->use[axis] != AXIS_PLAIN ||
		     !is_innermost(a, a->dim[axis]))) {
			return false;
		}
	}
	return true;
}

/* Does every axis of several iterations occur in the load's index? Then each
 * element is read only once. */
static bool
uses_every_axis(const struct block_access *x, const struct load_access *a)
{
	for (int i = 0; i < x->info->n_iters; i++) {
		if (a->use[i] == AXIS_UNUSED &&
		    !expr_is_value(x->info->iters[i].extent, 1)) {
			return false;
		}
	}
	return true;
}

/* Does the load read the same elements for all results? Then it reads a vector
 * of terms. */
static bool
is_vector(const struct block_access *x, const struct load_access *a)
{
	for (int i = 0; i < x->info->n_iters; i++) {
		if (a->use[i] != AXIS_UNUSED &&
		    x->info->iters[i].kind != ITER_REDUCE &&
		    !expr_is_value(x->info->iters[i].extent, 1)) {
			return false;
		}
	}
	return true;
}

bool
rules_sums_rows(struct rules *r, int block)
{
	struct block_access x;
	double values;
	int axis;
	bool once = false;

	if (!rules_access(r, block, &x) || x.n_loads < 2) {
		return false;
	}
	axis = reduced_axis(&x, &values);
	for (int l = 0; axis >= 0 && l < x.n_loads; l++) {
		if (x.loads[l].weight != NULL && !is_vector(&x, &x.loads[l])) {
			return false; /* the layout of a constant can change */
		}
		once |= uses_every_axis(&x, &x.loads[l]);
	}
	return once && loads_contiguous(&x, axis);
}

/* Is the reduction a sum? The other reductions are minima and maxima. */
static bool
adds(const struct stmt *block)
{
	return block->children[0]->args[0]->kind == EXPR_ADD;
}

/* Is a reduction of elements of type t faster by lanes? It is not for sums of
 * integers, which compilers vectorize by themselves. */
static bool
has_lanes(struct dtype t, bool sum)
{
	return dtype_is_float(t) || (t.kind == DT_I32 && !sum);
}

/* Does the reduction combine the elements of a row that are not NaN? Then one
 * comparison decides which of two values is larger, and compilers use one
 * instruction for all lanes of a vector. */
static bool
leaves_out_nan(const struct stmt *block)
{
	const struct expr *e = block->children[0]->args[0];
	bool found = false;

	for (int i = 0; i < 2 && e->n_args == 2; i++) {
		const struct expr *value = e->args[i];

		found |= value->kind == EXPR_SELECT &&
			 expr_is_isnan_of(value->args[0], value->args[2]);
	}
	return found;
}

/* The loop of the block from which lanes are taken, for vectors of `bytes`
 * bytes; 0: the block cannot be reduced by lanes. *lanes: the number of lanes
 * of a vector; *values: the largest number of values that are reduced for a
 * result. If the target has no vector types, a reduction to the largest value
 * gets at least LOOP_LANES lanes. */
static int
loop_of_lanes(struct rules *r, int block, int64_t bytes, int64_t *lanes,
	      double *values)
{
	const struct stmt *s = func_find(r->s.func, block);
	struct block_access x;
	int *loops, n, of_axis[MAX_AXES], axis;
	double least;

	if (!rules_access(r, block, &x) || !has_lanes(x.out->type, adds(s)) ||
	    rules_order_is_visible(r->s.func, s->children[0]->args[0])) {
		return 0;
	}
	*lanes = bytes / dtype_bytes(x.out->type);
	axis = reduced_axis(&x, values);
	if (r->target->vectors.n == 0 && !adds(s) && *lanes < LOOP_LANES) {
		*lanes = LOOP_LANES;
	}
	least = dtype_is_float(x.out->type) &&
				!(*lanes == LOOP_LANES && leaves_out_nan(s))
			? 2 * (double)*lanes
			: (double)*lanes;
	if (axis < 0 || *lanes < LEAST_LANES ||
	    (x.most[axis] % *lanes != 0 && (double)x.most[axis] < least) ||
	    *values < least ||
	    (*values < LONG && bytes < r->target->vector_bytes) ||
	    !loads_contiguous(&x, axis) ||
	    !rules_axis_loops(r, block, of_axis, axis + 1) ||
	    !sched_get_loops(&r->s, block, &loops, &n) || n == 0) {
		return 0;
	}
	return of_axis[axis] == loops[n - 1] ? loops[n - 1] : 0;
}

/* The number of lanes for a row: for a long row, those of several vectors.
 * loop: the loop over the terms of a row; lanes: those of one vector. If
 * `lanes` divides the length of the row, the returned number does, too. If the
 * target has no vector types, its vector already stands for several vectors of
 * the machine, and `lanes` is returned. */
static int64_t
lanes_of_vectors(struct rules *r, int loop, int64_t lanes)
{
	int64_t extent, n = VECTORS;

	if (r->target->vectors.n == 0 ||
	    !expr_is_int(func_find(r->s.func, loop)->args[1], &extent) ||
	    extent < MANY_TERMS * lanes) {
		return lanes;
	}
	while (extent % lanes == 0 && extent % (n * lanes) != 0) {
		n /= 2;
	}
	return n * lanes;
}

/* The number of partial results to which `lanes` partial results are reduced
 * first. */
static int64_t
first_step(int64_t lanes, int64_t vector)
{
	return lanes > vector ? vector : lanes / 2;
}

/* Records the number of lanes as a decision in the trace. The candidates
 * besides `lanes` are its half, its quarter and so on, as long as they exceed
 * the number of lanes after the first step of the reduction by halves. */
static struct sched_value
decide_lanes(struct rules *r, int loop, int64_t lanes, int64_t vector)
{
	struct candidates c = { 0 };
	int64_t extent;

	for (int64_t n = lanes; n > first_step(lanes, vector); n /= 2) {
		if (expr_is_int(func_find(r->s.func, loop)->args[1], &extent) &&
		    (extent % n == 0) == (extent % lanes == 0)) {
			candidates_add(r, &c, n);
		}
	}
	return rules_decide(r, "lanes", &c, &lanes);
}

/* Gives the block, whose innermost loop reduces the partial results of n lanes, a
 * block *made in which `fewer` lanes reduce them first. */
static bool
reduce_to(struct rules *r, int block, int64_t fewer, int *made)
{
	int *loops, n, parts[2];

	return sched_get_loops(&r->s, block, &loops, &n) && n > 0 &&
	       rules_split(r, loops[n - 1], sv_int(fewer), parts) &&
	       sched_rfactor_inside(&r->s, parts[1], -1, made) &&
	       sched_annotate(&r->s, *made, WRITTEN_OUT, sv_int(1));
}

/* Calls reduce_to for each step: from `lanes` partial results to as many as a
 * vector has lanes, then to half as many, and so on to two. Stores the blocks
 * of these steps in `made`, and returns the number of blocks. */
static int
reduce_by_halves(struct rules *r, int block, int64_t vector, int64_t lanes,
		 int *made)
{
	struct sched_mark mark = sched_checkpoint(&r->s);
	int steps = 0;

	/* Without vector types, compilers do not vectorize choices over few
	 * lanes, which then take longer than one accumulator. */
	if (r->target->vectors.n == 0 && !adds(func_find(r->s.func, block))) {
		return 0;
	}
	while (lanes > 2) {
		lanes = first_step(lanes, vector);
		if (!reduce_to(r, block, lanes, &made[steps++])) {
			sched_rollback(&r->s, mark);
			return 0;
		}
	}
	if (!sched_annotate(&r->s, block, WRITTEN_OUT, sv_int(1))) {
		sched_rollback(&r->s, mark);
		return 0;
	}
	return steps;
}

/* Makes, for each of the n blocks if possible, a block of partial results, one
 * for each lane of vectors of `bytes` bytes, and blocks that reduce the partial
 * results. Stores the new blocks, at most LANE_BLOCKS for each of the n blocks,
 * in `made`, and returns the number of new blocks. */
static int
reduce_by(struct rules *r, const int *blocks, int n, int64_t bytes, int *made)
{
	int changed = 0;

	for (int i = 0; i < n; i++) {
		struct sched_mark mark = sched_checkpoint(&r->s);
		int64_t lanes, vector;
		double terms;
		int loop, parts[2];

		if (!block_reduces(func_find(r->s.func, blocks[i]))) {
			continue;
		}
		loop = loop_of_lanes(r, blocks[i], bytes, &vector, &terms);
		if (loop == 0) {
			sched_rollback(&r->s, mark);
			continue;
		}
		lanes = lanes_of_vectors(r, loop, vector);
		if (!rules_split(r, loop, decide_lanes(r, loop, lanes, vector),
				 parts) ||
		    !sched_rfactor_inside(&r->s, parts[1], -1,
					  &made[changed])) {
			sched_rollback(&r->s, mark);
			continue;
		}
		changed++;
		changed += reduce_by_halves(r, blocks[i], vector, lanes,
					    &made[changed]);
	}
	return changed;
}

/* Are the last two indices of the form v // c and v % c, with the same v and c?
 * c need not be the last extent. */
static bool
is_fused(const struct buffer *b, const struct expr *const *index)
{
	const struct expr *row, *at;

	if (b->ndim < 2) {
		return false;
	}
	row = index[b->ndim - 2];
	at = index[b->ndim - 1];
	return row->kind == EXPR_FLOORDIV && at->kind == EXPR_FLOORMOD &&
	       row->args[0] == at->args[0] && row->args[1] == at->args[1];
}

/* Does one of the n blocks access the buffer b by fused indices (is_fused) or,
 * if `fused` is false, by other indices? */
static bool
has_access(struct rules *r, const int *blocks, int n, const struct buffer *b,
	   bool fused)
{
	for (int i = 0; i < n; i++) {
		struct block_access x;

		if (!rules_access(r, blocks[i], &x)) {
			return true;
		}
		if (x.out == b &&
		    is_fused(b, x.block->children[0]->args + 1) == fused) {
			return true;
		}
		for (int l = 0; l < x.n_loads; l++) {
			const struct expr *load = x.loads[l].load;

			if (load->u.buffer == b &&
			    is_fused(b, load->args) == fused) {
				return true;
			}
		}
	}
	return false;
}

/* Does `block` access a buffer whose last two dimensions some of the n blocks
 * access by fused indices, and others by separate indices? */
static bool
is_mixed(struct rules *r, const int *blocks, int n, int block)
{
	struct block_access x;

	if (!rules_access(r, block, &x)) {
		return true;
	}
	for (int l = -1; l < x.n_loads; l++) {
		const struct buffer *b = l < 0 ? x.out
					       : x.loads[l].load->u.buffer;

		if (has_access(r, blocks, n, b, true) &&
		    has_access(r, blocks, n, b, false)) {
			return true;
		}
	}
	return false;
}

/* Fuses the last two axes of each reduction among the n blocks, if both axes
 * are reduced, and of the other blocks that access the same buffers. False if a
 * buffer would then be accessed both by fused and by separate indices, so that
 * its dimensions cannot be fused. */
static bool
fuse_rows(struct rules *r, const int *blocks, int n)
{
	bool any = false;

	for (int i = 0; i < n; i++) {
		const struct block *b =
			func_find(r->s.func, blocks[i])->u.block;

		any |= b->n_iters > 0 &&
		       b->iters[b->n_iters - 1].kind == ITER_REDUCE &&
		       rules_fuse_last_axes(r, blocks[i]);
	}
	for (int i = 0; i < n && any; i++) {
		if (is_mixed(r, blocks, n, blocks[i])) {
			rules_fuse_last_axes(r, blocks[i]);
		}
	}
	for (int i = 0; i < n && any; i++) {
		any = !is_mixed(r, blocks, n, blocks[i]);
	}
	return any;
}

/* Would vectors of `bytes` bytes leave a rest of each row of a reduction over
 * several axes? Then fusing the axes is better: a rest in every row keeps the
 * partial results out of registers. */
static bool
leaves_rest(struct rules *r, const int *blocks, int n, int64_t bytes)
{
	bool rest = false;

	for (int i = 0; i < n; i++) {
		const struct block *b =
			func_find(r->s.func, blocks[i])->u.block;
		const struct iter_var *last = &b->iters[b->n_iters - 1];
		int64_t extent,
			lanes = bytes / dtype_bytes(b->writes[0].buffer->type);

		rest |= b->n_iters > 1 && last->kind == ITER_REDUCE &&
			last[-1].kind == ITER_REDUCE && lanes > 0 &&
			expr_is_int(last->extent, &extent) &&
			extent % lanes != 0;
	}
	return rest;
}

int
rules_reduce_by_lanes(struct rules *r, const int *blocks, int n, int *made)
{
	if (!rules_have_lanes(r->target)) {
		return 0;
	}
	for (int64_t bytes = r->target->vector_bytes; bytes >= LEAST_BYTES;
	     bytes /= 2) {
		struct sched_mark mark = sched_checkpoint(&r->s);
		bool fuse = leaves_rest(r, blocks, n, bytes);

		for (int tries = 0; tries < 2; tries++, fuse = !fuse) {
			int changed = 0;

			if (!fuse || fuse_rows(r, blocks, n)) {
				changed = reduce_by(r, blocks, n, bytes, made);
			}
			if (changed > 0) {
				return changed;
			}
			sched_rollback(&r->s, mark);
		}
	}
	return 0;
}

bool
rules_reduces_columns(struct rules *r, int block)
{
	struct block_access x;
	double values;
	int lane = -1, axis;

	if (!block_reduces(func_find(r->s.func, block)) ||
	    !rules_have_lanes(r->target) || !rules_access(r, block, &x)) {
		return false;
	}
	for (int i = 0; i < x.info->n_iters; i++) {
		lane = x.info->iters[i].kind == ITER_SPATIAL ? i : lane;
	}
	axis = reduced_axis(&x, &values);
	return lane >= 0 && axis >= 0 && x.store.use[lane] == AXIS_PLAIN &&
	       x.store.dim[lane] == x.out->ndim - 1 &&
	       x.most[lane] * dtype_bytes(x.out->type) >=
		       r->target->vector_bytes &&
	       loads_contiguous(&x, lane) && !loads_contiguous(&x, axis);
}

void
rules_vectorize_lanes(struct rules *r, int block)
{
	const struct stmt *s = func_find(r->s.func, block);
	/* The lanes are the values of the block's last spatial iter var. */
	const struct expr *lane = NULL;
	int *loops, n, order[2 * MAX_AXES], n_order = 0, lanes = 0;

	for (int i = 0; i < s->u.block->n_iters; i++) {
		if (s->u.block->iters[i].kind == ITER_SPATIAL) {
			lane = s->args[i + 1];
		}
	}
	if (!sched_get_loops(&r->s, block, &loops, &n) || n > MAX_AXES) {
		return;
	}
	for (int i = 0; i < n; i++) {
		if (lanes != 0) {
			order[n_order++] = loops[i];
		} else if (func_find(r->s.func, loops[i])->u.loop.var->expr ==
			   lane) {
			lanes = loops[i];
		}
	}
	if (lanes == 0) {
		return;
	}
	order[n_order++] = lanes;
	if (n_order == 1 || sched_reorder(&r->s, order, n_order)) {
		sched_vectorize(&r->s, lanes);
	}
}
