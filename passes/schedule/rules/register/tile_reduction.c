/* SPDX-License-Identifier: Apache-2.0 */
/* Places the accumulators of a register tile, for the whole sum or for parts of
 * it.
 *
 * If an image is small and the constants of a block of lanes are large, the sum
 * is computed in parts, so that each part of the constants stays in the
 * first-level cache while the whole image is processed:
 *
 *   for oc_0:                              sum[oh][ow][oc_1] = 0
 *     for ic_0, oh:                        acc[ow][oc_1] = 0
 *       for ic_1, kh, kw, ow, oc_1:        acc += x * w
 *       for ow, oc_1:                      sum += acc
 *
 * Constants with few uses are prefetched. */
#include <string.h>

#include "edit.h"
#include "nest.h"
#include "register_tile.h"

/* With at least MOST_USES uses of each constant, loading it is a small part of
 * the time. An axis is summed in at least LEAST_PARTS parts. */
enum { MOST_USES = 1024, LEAST_PARTS = 16 };

/* Sets *sums to the number of terms of a result, and *uses to the number of
 * results that use the same constant. */
static void
count_points(const struct tiling *t, int64_t *sums, int64_t *uses)
{
	*sums = *uses = 1;
	for (int i = 0; i < t->x.info->n_iters; i++) {
		if (t->x.info->iters[i].kind == ITER_REDUCE) {
			*sums *= tiling_extent(&t->x, i);
		} else if (i != t->lane && t->operand->use[i] == AXIS_UNUSED) {
			*uses *= tiling_extent(&t->x, i);
		}
	}
}

/* Should the constants be prefetched? Those of one block of lanes come from
 * memory at their first use and from the second-level cache afterwards. If a
 * constant has few uses, the first use takes as long as all others together.
 * Packed 4-bit constants are used too often for a prefetch to save time. */
static bool
needs_prefetch(const struct rules *r, const struct tiling *t)
{
	int64_t sums, uses;

	if (r->target->prefetch_bytes == 0 || t->operand == NULL ||
	    t->operand->weight == NULL || t->operand->weight->paired ||
	    tiling_extent(&t->x, t->lane) == t->lanes) {
		return false;
	}
	count_points(t, &sums, &uses);
	return sums * t->lanes * dtype_bytes(t->operand->load->type) >=
		       r->target->l1_bytes &&
	       uses >= 2 * t->rows && uses <= MOST_USES;
}

static bool
prefetch(struct rules *r, const struct tiling *t, int loop)
{
	if (!needs_prefetch(r, t)) {
		return true;
	}
	strbuf_puts(&r->words, ", next ones fetched ahead");
	return sched_annotate(&r->s, loop, "prefetch",
			      sv_int(r->target->prefetch_bytes));
}

/* Returns the axis in channel blocks to sum in parts, and sets *size to the
 * length of a part: as many blocks as keep the part's constants within half of
 * the first-level cache. -1: the sum is computed as a whole, because constants
 * are not prefetched, or because accumulators take more than half of the
 * registers: then each constant is used often enough to be read from the
 * second-level cache. */
int
tiling_part(const struct rules *r, const struct tiling *t, int64_t *size)
{
	int64_t bytes = dtype_bytes(t->x.out->type), near = r->target->l1_bytes;
	int64_t sums, uses, rest, c = 0;
	int axis = -1;

	if (!needs_prefetch(r, t) || t->row < 0 || t->vector == 0 ||
	    t->rows != tiling_extent(&t->x, t->row) ||
	    2 * t->rows * (t->lanes / t->vector) >
		    r->target->vector_registers) {
		return -1;
	}
	for (int i = 0; i < t->x.info->n_iters; i++) {
		if (tiling_block(t, i) > 0) {
			axis = axis < 0 ? i : -2;
			c = tiling_block(t, i);
		}
	}
	count_points(t, &sums, &uses);
	if (axis < 0 || uses * t->lanes * bytes > near / 2) {
		return -1;
	}
	rest = sums / tiling_extent(&t->x, axis) * t->lanes * bytes;
	if (rest * c > near) {
		return -1;
	}
	*size = c;
	for (int64_t n = 2 * c; n * rest <= near / 2; n += c) {
		*size = tiling_extent(&t->x, axis) % n == 0 ? n : *size;
	}
	/* The first part of each block of lanes is not prefetched. */
	return tiling_extent(&t->x, axis) >= LEAST_PARTS * *size ? axis : -1;
}

/* Orders the loops of the partial sums inside of the loop `at`: parts, images,
 * then the tile and the lanes. *last: the innermost loop outside of the
 * tile. */
static bool
order_sums(struct rules *r, const struct tiling *t, int block, int at,
	   int parts, struct tile_loops *tile, int *last)
{
	const struct stmt *b = func_find(r->s.func, block);
	int *loops, n, order[2 * MAX_AXES], n_order = 0;
	bool inside = false;

	*tile = (struct tile_loops){ 0 };
	if (!sched_get_loops(&r->s, block, &loops, &n) || n > MAX_AXES) {
		return false;
	}
	order[n_order++] = parts;
	for (int i = 0; i < n; i++) {
		int drives = rules_driven_iter(b,
					       func_find(r->s.func, loops[i]));

		if (inside && drives == t->lane) {
			tile->lanes = loops[i];
		} else if (inside && drives == t->row) {
			tile->rows = loops[i];
		} else if (inside && loops[i] != parts) {
			order[n_order++] = loops[i];
		}
		inside |= loops[i] == at;
	}
	*last = order[n_order - 1];
	if (!tiling_split_vectors(r, t, &tile->vectors, &tile->lanes)) {
		return false;
	}
	order[n_order++] = tile->rows;
	if (tile->vectors != 0) {
		order[n_order++] = tile->vectors;
	}
	order[n_order++] = tile->lanes;
	return sched_reorder(&r->s, order, n_order);
}

/* The loop around the block whose variable is named `name`, after compute_at;
 * 0: there is no such loop. */
static int
loop_over(struct rules *r, int block, const char *name)
{
	int *loops, n;

	if (!sched_get_loops(&r->s, block, &loops, &n)) {
		return 0;
	}
	for (int i = 0; i < n; i++) {
		if (strcmp(func_find(r->s.func, loops[i])->u.loop.var->name,
			   name) == 0) {
			return loops[i];
		}
	}
	return 0;
}

bool
tiling_sum_parts(struct rules *r, struct tiling *t, int reduction, int axis,
		 int64_t size, int at)
{
	const char *name = iter_axis_name(t->x.info->iters[axis].var->name);
	int loops[MAX_AXES], parts[2], partial, last;
	struct tile_loops inner, outer;
	struct tiling p = *t;
	const char *part_name;

	p.part_block = tiling_block(t, axis);
	if (!rules_axis_loops(r, reduction, loops, axis + 1) ||
	    loops[axis] == 0 ||
	    !sched_split(&r->s, loops[axis], (int64_t[]){ 0, size }, 2,
			 parts)) {
		return false;
	}
	part_name = func_find(r->s.func, parts[0])->u.loop.var->name;
	if (!sched_rfactor_inside(&r->s, parts[0], -1, &partial)) {
		return false;
	}
	p.part = rules_driven_iter(func_find(r->s.func, partial),
				   func_find(r->s.func, parts[1]));
	if (p.part < 0 || !sched_compute_at(&r->s, reduction, at) ||
	    !sched_set_scope(&r->s, reduction, 0, "local") ||
	    !sched_rename_buffer(&r->s, reduction, 0, "sum")) {
		return false;
	}
	t->x.block = func_find(r->s.func, reduction);
	t->x.out = t->x.block->u.block->writes[0].buffer;
	parts[0] = loop_over(r, reduction, part_name);
	if (parts[0] == 0 || !tiling_lanes_last(r, t) ||
	    !order_sums(r, t, reduction, at, parts[0], &outer, &last) ||
	    !sched_compute_at(&r->s, partial, last) ||
	    !sched_set_scope(&r->s, partial, 0, "local") ||
	    !rules_accumulator(r, partial, &p.x.out) ||
	    !rules_access(r, partial, &p.x) || !tiling_lanes_last(r, &p) ||
	    !tiling_order(r, &p, partial, last, &inner)) {
		return false;
	}
	tiling_finish(r, &inner);
	tiling_finish(r, &outer);
	strbuf_printf(&r->words, ", %s in parts of %lld", name,
		      (long long)size);
	return prefetch(r, t, parts[0]);
}

/* If vectorization is left to the compiler, a loop over rows inside of that over
 * lanes is written out: at their lower levels of optimisation compilers vectorize
 * innermost loops only. False after a failure. */
static bool
write_out_rows(struct rules *r, const struct tile_loops *tile)
{
	int order[4], n = tiling_loop_order(r, tile, order);

	return tile->rows == 0 || order[n - 1] != tile->rows ||
	       r->target->complete_unroll == 0 ||
	       sched_annotate(&r->s, tile->rows, "unroll_last", sv_int(1));
}

bool
tiling_sum(struct rules *r, struct tiling *t, int reduction, int at,
	   int lane_loop)
{
	struct tile_loops inner;

	if (t->dot.fill != NULL) {
		return tiling_sum_tile(r, t, reduction, at) &&
		       prefetch(r, t, lane_loop);
	}
	if ((at != 0 && !sched_compute_at(&r->s, reduction, at)) ||
	    !sched_set_scope(&r->s, reduction, 0, "local") ||
	    !rules_accumulator(r, reduction, &t->x.out) ||
	    !tiling_lanes_last(r, t) ||
	    !tiling_order(r, t, reduction, at, &inner) ||
	    (t->dot.intrin != NULL &&
	     !tiling_use_dot(r, t, reduction, &inner)) ||
	    !tiling_hoist_loads(r, t, &inner)) {
		return false;
	}
	tiling_finish(r, &inner);
	return write_out_rows(r, &inner) && prefetch(r, t, lane_loop);
}

bool
tiling_sum_lane(struct rules *r, struct tiling *t, int reduction, int lane_loop)
{
	int *loops, n;

	if (!sched_compute_at(&r->s, reduction, lane_loop) ||
	    !sched_set_scope(&r->s, reduction, 0, "local") ||
	    !rules_accumulator(r, reduction, &t->x.out) ||
	    !sched_get_loops(&r->s, reduction, &loops, &n)) {
		return false;
	}
	for (int i = n - 1; i >= 0 && loops[i] != lane_loop; i--) {
		if (!sched_annotate(&r->s, loops[i], "unroll_last",
				    sv_int(1))) {
			return false;
		}
	}
	return true;
}
