/* SPDX-License-Identifier: Apache-2.0 */
/* Register tiles for matmul- and convolution-like reductions.
 *
 * One operand has an axis that no other operand has (output channels, columns):
 * this axis becomes the lanes, innermost and contiguous; if the operand is a
 * constant, it is stored with the lanes last. An axis that this operand does
 * not have (pixels, rows) becomes the rows of the tile. So each element of the
 * other operand is used for every lane, and each vector of lanes for every
 * row:
 *
 *   for oc, oh, ow:                for oc_0, oh, ow_0:
 *     for ic, kh, kw:                acc[ow_1][oc_1] = 0
 *       y += x * w           ->      for ic, kh, kw:
 *                                      for ow_1, oc_1: acc += x * w
 *                                    for ow_1, oc_1: y = acc
 *
 * If no operand has an axis of its own (depthwise convolutions, pools), or only
 * an axis whose elements are not adjacent (the images of a batch), but all
 * operands have an axis in blocks, the elements of a block become the lanes.
 *
 * If there are several vectors of lanes, the accumulators are
 * acc[ow_1][oc_c][oc_v] with one vector last. A reduction axis in blocks is
 * iterated block by block; the loop inside of a block follows the other
 * reduction loops.
 *
 * Where the lanes do not fill a vector or a dot-product instruction, the
 * constants are padded with zeros (pad_parameter), the sums of the padding
 * lanes are computed, too (pad_axis), and the last block stores only the other
 * lanes. */
#include "register_tile.h"

#include "border.h"
#include "decision.h"
#include "edit.h"
#include "kernel_blocks.h"
#include "nest.h"

/* Is the axis iter a plain index of this operand alone? Uses by other operands
 * as iter // c are allowed (*granularity: c), since the lanes then stay within
 * one run; so are uses by other constants (scales) if the operand is
 * constant. */
static bool
exclusive_to(const struct block_access *x, int iter,
	     const struct load_access *operand, int64_t *granularity)
{
	*granularity = 0;
	for (int l = 0; l < x->n_loads; l++) {
		const struct load_access *a = &x->loads[l];

		if (a == operand || a->use[iter] == AXIS_UNUSED ||
		    (operand->weight != NULL && a->weight != NULL &&
		     a->use[iter] == AXIS_PLAIN)) {
			continue;
		}
		if (a->use[iter] != AXIS_GRANULAR) {
			return false;
		}
		*granularity = a->granularity[iter];
	}
	return operand->use[iter] == AXIS_PLAIN;
}

static int
score(const struct load_access *a, int iter)
{
	/* later axes are more likely to be contiguous, so they score higher */
	int s = iter;

	if (a->weight != NULL) {
		s += 1000;
	}
	if (a->dim[iter] == a->load->n_args - 1) {
		s += 100;
	}
	return s;
}

static bool
reads_reduce_axis(const struct block_access *x, const struct load_access *a)
{
	for (int i = 0; i < x->info->n_iters; i++) {
		if (x->info->iters[i].kind == ITER_REDUCE &&
		    a->use[i] != AXIS_UNUSED) {
			return true;
		}
	}
	return false;
}

/* Sets t->lane to the best axis for lanes, and t->operand to the operand in
 * which it lies. constants: may the operand be a constant? False if there is no
 * such axis. */
static bool
find_lane(struct tiling *t, bool constants)
{
	struct block_access *x = &t->x;
	int best = -1;

	for (int l = 0; l < x->n_loads; l++) {
		struct load_access *a = &x->loads[l];

		if (!reads_reduce_axis(x, a) ||
		    (a->weight != NULL && !constants)) {
			continue;
		}
		for (int i = 0; i < x->info->n_iters; i++) {
			int64_t granularity;

			if (x->info->iters[i].kind != ITER_SPATIAL ||
			    x->most[i] < 2 ||
			    !exclusive_to(x, i, a, &granularity) ||
			    score(a, i) <= best) {
				continue;
			}
			best = score(a, i);
			t->lane = i;
			t->operand = a;
			t->granularity = granularity;
		}
	}
	return best >= 0;
}

/* Sets t->lane to an axis that every load which uses it has in blocks. False if
 * there is no such axis; then t is not changed. */
static bool
find_blocked_lane(struct tiling *t)
{
	const struct block_access *x = &t->x;

	for (int i = 0; i < x->n_spatial; i++) {
		int64_t lanes = rules_blocked_by(x, i, false);

		if (lanes > 1) {
			t->operand = NULL;
			t->granularity = 0;
			t->lanes = lanes;
			t->lane = i;
			return true;
		}
	}
	return false;
}

/* Are the lanes not adjacent in the operand, which is not a constant, so that
 * vectors of lanes cannot be loaded? This is so if the lanes are the images of
 * a batch. */
static bool
has_distant_lanes(const struct tiling *t)
{
	const struct load_access *a = t->operand;

	return a->weight == NULL && a->dim[t->lane] != a->load->n_args - 1;
}

static void
find_rows(struct tiling *t)
{
	struct block_access *x = &t->x;

	t->row = -1;
	for (int i = 0; i < x->info->n_iters; i++) {
		if (x->info->iters[i].kind != ITER_SPATIAL || i == t->lane ||
		    x->most[i] < 2) {
			continue;
		}
		if (t->operand == NULL || t->operand->use[i] == AXIS_UNUSED) {
			t->row = i;
			t->row_granularity = 0;
		} else if (t->operand->use[i] == AXIS_GRANULAR &&
			   t->operand->granularity[i] > 1) {
			t->row = i;
			t->row_granularity = t->operand->granularity[i];
		}
	}
}

static void
describe_tile(struct rules *r, const char *before, const struct var *v,
	      int64_t size)
{
	strbuf_printf(&r->words, "%s %s_tile %lld", before,
		      iter_axis_name(v->name), (long long)size);
}

/* Finds the operand with the best axis for lanes. If the lanes along this axis
 * do not fill vectors, tries the pixels of an image as lanes, if these are
 * contiguous. False if no operand has such an axis. */
static bool
find_operand(struct rules *r, struct tiling *t, int reduction, int *output)
{
	int64_t vector = r->target->vector_bytes / dtype_bytes(t->x.out->type);
	struct sched_mark mark = sched_checkpoint(&r->s);
	struct tiling fused = { .row = -1, .part = -1, .may_pad = t->may_pad };
	int first_output = *output;

	if (t->x.n_loads < 2 || !find_lane(t, true)) {
		return false;
	}
	if (vector < 2 || tiling_lanes(tiling_extent(&t->x, t->lane), vector,
				       4 * vector, t->granularity) %
					  vector ==
				  0) {
		return true;
	}
	if (rules_fuse_spatial_axes(r, &t->x, reduction, output) &&
	    rules_access(r, reduction, &fused.x) && find_lane(&fused, false) &&
	    fused.operand->dim[fused.lane] == fused.operand->load->n_args - 1 &&
	    tiling_extent(&fused.x, fused.lane) >= 2 * vector) {
		*t = fused;
		return true;
	}
	sched_rollback(&r->s, mark);
	*output = first_output;
	return rules_access(r, reduction, &t->x) && find_lane(t, true);
}

/* The size of the blocks in which the output has the lane axis; 0: the output
 * does not have it in blocks. */
static int64_t
output_block(struct rules *r, int output, int lane)
{
	struct block_access e;

	return rules_access(r, output, &e) && lane < e.n_spatial &&
			       e.store.use[lane] == AXIS_BLOCKED
		       ? e.store.granularity[lane]
		       : 0;
}

/* Decides whether the last lanes overlap the lanes before them, and the last
 * tile the tile before it. False after a failure. */
static bool
overlap_tails(struct rules *r, const struct tiling *t, int output, int lanes,
	      int tiles)
{
	const struct iter_var *iters = t->x.info->iters;
	int64_t extent = tiling_extent(&t->x, t->lane);

	if (t->dot.intrin != NULL) {
		/* an instruction takes the addresses of whole tiles, so that
		 * they are arrays */
		return true;
	}
	/* Rows at the border of an image are tested: the pass partition-loops
	 * makes a separate copy of the code for such tiles, and for the last,
	 * partial tile. */
	if (t->rows > 1 && tiling_extent(&t->x, t->row) == 0 &&
	    rules_tests_var(t->x.block->children[0]->args[0],
			    t->x.info->iters[t->row].var, false)) {
		strbuf_printf(&r->words, ", tiles at the border of %s apart",
			      iter_axis_name(iters[t->row].var->name));
		tiles = 0;
	}
	return tiling_overlap(r, output, lanes, iters[t->lane].var,
			      t->padded ? 0
					: tiling_rest(r, &t->x, t->lane,
						      t->lanes),
			      tiling_lanes_time(r, t->x.out->type, extent,
						t->lanes),
			      true) &&
	       (t->rows < 2 ||
		tiling_overlap(r, output, tiles, iters[t->row].var,
			       tiling_rest(r, &t->x, t->row, t->rows),
			       tiling_overlap_time(r, t), false));
}

/* Sets *types to the types of the product. False if the product does not
 * multiply data by a constant: a product instruction requires a layout of its
 * own for one operand, which only a constant can get. */
static bool
types_of_product(const struct tiling *t, struct product_types *types)
{
	const struct load_access *loads = t->x.loads, *data, *constant;

	if (t->x.n_loads != 2) {
		return false;
	}
	constant = t->operand != NULL ? t->operand
				      : &loads[loads[0].weight == NULL];
	data = &loads[constant == &loads[0]];
	if (constant->weight == NULL ||
	    (t->operand == NULL && data->weight != NULL)) {
		return false;
	}
	*types = (struct product_types){
		.operand = { data->load->type, constant->load->type },
		.sum = t->x.out->type,
	};
	return true;
}

/* Sets t->dot_lanes and t->dot_depth to the lanes and the depth of the target's
 * first dot product, from number `first` on, that fits the reduction; dot_lanes
 * 0: none fits. If sums are in general registers, a dot product whose lanes
 * divide the extent of the axis is preferred, because it needs no padding. */
static void
find_dot_lanes(const struct rules *r, struct tiling *t, int first)
{
	int64_t lanes = 0, depth = 0, extent = tiling_extent(&t->x, t->lane);
	struct product_types types;
	struct product_desc p;
	int next = first;

	while (types_of_product(t, &types) &&
	       rules_next_product(r, &types, &next, &p)) {
		if (p.kind != PRODUCT_DOT || !tiling_fits_dot(t, &p)) {
			continue;
		}
		if (target_has_vectors(r->target) ||
		    extent % t->dot_lanes == 0) {
			return;
		}
		depth = lanes == 0 ? t->dot_depth : depth;
		lanes = lanes == 0 ? t->dot_lanes : lanes;
	}
	t->dot_lanes = lanes;
	t->dot_depth = depth;
}

/* Sets t->dot to the first product instruction of the target, from number
 * `first` on, that fits the reduction. Returns the number after that of the
 * instruction; 0: no instruction fits. */
static int
find_product(struct rules *r, struct tiling *t, int first)
{
	struct product_types types;
	struct product_desc p;
	int next = first;

	t->dot = (struct tile_dot){ .intrin = NULL };
	while (types_of_product(t, &types) &&
	       rules_next_product(r, &types, &next, &p)) {
		if (p.kind == PRODUCT_TILE
			    ? t->operand != NULL && tiling_find_tile(r, t, &p)
		    : p.kind == PRODUCT_DOT ? tiling_find_dot(t, &p)
					    : false) {
			return next;
		}
	}
	return 0;
}

/* Must a partial vector at the end of the axis be computed as a whole vector?
 * An instruction takes all lanes; and only a layout with padding gives
 * constants whole vectors. */
static bool
needs_all_lanes(const struct tiling *t)
{
	return t->padded && (t->dot.intrin != NULL ||
			     tiling_extent(&t->x, t->lane) < t->vector);
}

/* Are the elements of the results smaller than those of the sums? If
 * vectorization is left to the compiler, a vector of results takes several
 * vectors of sums: then the results have one loop over all lanes, too. */
static bool
stores_narrower(const struct rules *r, const struct tiling *t, int output)
{
	const struct stmt *block = func_find(r->s.func, output);

	return r->target->complete_unroll > 0 && !t->padded &&
	       dtype_bytes(block->u.block->writes[0].buffer->type) <
		       dtype_bytes(t->x.out->type);
}

static int64_t
round_up(int64_t n, int64_t to)
{
	return (n + to - 1) / to * to;
}

/* Appends zeros to the constant that the block reads by the access `a`, so that
 * every tile has all lanes. False after a failure. */
static bool
pad_lanes_of(struct rules *r, const struct tiling *t, int block,
	     const struct load_access *a)
{
	const struct buffer *b = a->load->u.buffer;
	struct sched_value *to = arena_array(&r->module->arena,
					     struct sched_value, b->ndim + 1);
	struct sched_value args[3] = { sv_block(block),
				       sv_int(rules_read_index(r, block, b)) };
	int64_t extent;

	for (int d = 0; d < b->ndim; d++) {
		if (!expr_is_int(b->shape[d], &extent)) {
			return false;
		}
		to[d] = sv_int(d == a->dim[t->lane] ? round_up(extent, t->lanes)
						    : extent);
	}
	args[2] = sv_list(r->module, to, b->ndim);
	return sched_apply(&r->s, "pad_parameter", args, 3, NULL);
}

/* Pads the extent of t's operand along the lanes to whole vectors, and finds
 * t's loads again. False after a failure. */
static bool
pad_operand(struct rules *r, struct tiling *t, int reduction)
{
	int operand = (int)(t->operand - t->x.loads);

	if (!pad_lanes_of(r, t, reduction, t->operand) ||
	    !rules_access(r, reduction, &t->x)) {
		return false;
	}
	t->operand = &t->x.loads[operand];
	return true;
}

/* Extends constants that the output block reads for each lane, such as the
 * bias, by zeros beyond the last lane, so that the block can compute all lanes
 * of a vector and store only some of them. False after a failure. */
static bool
pad_epilogue(struct rules *r, const struct tiling *t, int output)
{
	struct block_access x;

	if (!rules_access(r, output, &x)) {
		return false;
	}
	for (int l = 0; l < x.n_loads; l++) {
		if (x.loads[l].weight != NULL &&
		    x.loads[l].use[t->lane] == AXIS_PLAIN &&
		    !pad_lanes_of(r, t, output, &x.loads[l])) {
			return false;
		}
	}
	return true;
}

/* Extends the reduction's lane axis to whole tiles, because an instruction
 * takes all lanes. False after a failure. */
static bool
pad_lane_axis(struct rules *r, const struct tiling *t, int reduction)
{
	int64_t extent = tiling_extent(&t->x, t->lane);
	struct sched_value args[3] = { sv_block(reduction), sv_int(t->lane),
				       sv_int(round_up(extent, t->lanes)) };

	return sched_apply(&r->s, "pad_axis", args, 3, NULL);
}

/* Does the loop have one iteration? */
static bool
runs_once(struct rules *r, int loop)
{
	return expr_is_value(func_find(r->s.func, loop)->args[1], 1);
}

/* Tiles the product's sum in registers, with lanes beyond the axis if may_pad.
 * *padded: lanes were added, or adding lanes failed. False after a failure. */
static bool
tile_product(struct rules *r, struct product_tile *p, bool may_pad,
	     bool *padded)
{
	struct tiling t = { .row = -1,
			    .part = -1,
			    .may_pad = may_pad,
			    .repeated = p->repeated,
			    .by_columns = !target_has_vectors(r->target) };
	int loops[MAX_AXES], order[2 * MAX_AXES], n = 0, at = 0;
	int axes[MAX_AXES];
	int lane_split[2], tile_split[2] = { 0, 0 }, vectors;
	struct tile_loops inner;
	struct tiling stored;
	int64_t part_size = 0;
	int part, copy = 0, copy_at = 0, reduction = p->reduction;
	int output = p->output;
	bool copies, owned;

	if (!rules_access(r, reduction, &t.x)) {
		return rules_no(r, "the reduction's accesses are not plain");
	}
	owned = find_operand(r, &t, reduction, &output);
	if ((!owned || has_distant_lanes(&t)) && !find_blocked_lane(&t) &&
	    !owned) {
		return rules_no(r,
				"no operand has an axis of its own for the "
				"lanes, nor have all operands one in blocks");
	}
	find_rows(&t);
	t.out_block = output_block(r, output, t.lane);
	find_dot_lanes(r, &t, p->first_instr);
	tiling_sizes(r, &t);
	tiling_open_sizes(r, &t);
	*padded = t.padded;
	if (t.lanes < 2) {
		return rules_no(r,
				"the lanes' axis %s has no size to split it "
				"by",
				t.x.info->iters[t.lane].var->name);
	}
	if (output != reduction && !rules_same_axes(r, &t.x, output)) {
		return rules_no(r, "the epilogue reads the sums at other axes");
	}
	p->next_instr = find_product(r, &t, p->first_instr);
	part = t.dot.intrin == NULL ? tiling_part(r, &t, &part_size) : -1;
	if (needs_all_lanes(&t) && !pad_operand(r, &t, reduction)) {
		return false;
	}
	copies = tiling_copies_operand(r, &t);
	if (!copies && t.operand != NULL && has_distant_lanes(&t) &&
	    tiling_extent(&t.x, t.lane) == 0) {
		return rules_no(r,
				"the lanes' axis %s is symbolic, and its "
				"elements lie apart",
				t.x.info->iters[t.lane].var->name);
	}
	t.panels = tiling_packs_panels(r, &t);
	tiling_decide(r, &t);
	describe_tile(r, "tiled ", t.x.info->iters[t.lane].var, t.lanes);
	if (t.rows > 1) {
		describe_tile(r, ",", t.x.info->iters[t.row].var, t.rows);
	}
	stored = t;
	if (r->target->complete_unroll > 0 && !t.padded) {
		t.vector = 0; /* the sums have one loop over all lanes */
	}
	if (t.lane_by_lane || stores_narrower(r, &t, output)) {
		stored.vector = 0;
	}
	if (copies ? !tiling_copy_operand(r, &t, reduction, &copy)
		   : !tiling_pack(r, &t)) {
		return false;
	}
	if ((t.dot.intrin == NULL && t.widens &&
	     !tiling_widen(r, &t, reduction)) ||
	    !rules_separate_accumulator(r, &t.x, reduction, &output)) {
		return false;
	}
	rules_name_loops(r, &t.x, output);
	if (needs_all_lanes(&t) && (!pad_lane_axis(r, &t, reduction) ||
				    !pad_epilogue(r, &t, output))) {
		return false;
	}
	if (!rules_axis_loops(r, output, loops, t.x.n_spatial)) {
		return false;
	}
	if (!tiling_split(r, &t, t.lane, t.lanes, t.lanes_number, loops,
			  lane_split) ||
	    (t.rows > 1 && !tiling_split(r, &t, t.row, t.rows, t.rows_number,
					 loops, tile_split)) ||
	    !tiling_split_vectors(r, &stored, &vectors, &lane_split[1])) {
		return false;
	}
	border_order_axes(p->bordered, &t.x, axes);
	tiling_open_order(r, &t, axes, t.x.n_spatial);
	/* If an operand is copied or its lanes are far apart, the loops over
	 * axes that the operand does not have are moved inside, so that its
	 * elements are reused. A copy that no outer loop repeats becomes a
	 * separate nest with threads of its own. */
	for (int i = 0; i < 2 * t.x.n_spatial; i++) {
		int axis = axes[i % t.x.n_spatial];
		bool reuses = (copies || t.panels) &&
			      t.operand->use[axis] == AXIS_UNUSED;
		int loop = axis == t.lane                ? lane_split[0]
			   : axis == t.row && t.rows > 1 ? tile_split[0]
							 : loops[axis];

		if (loop != 0 && reuses == (i >= t.x.n_spatial)) {
			at = loop;
			if (!reuses && (copy_at != 0 || !runs_once(r, loop))) {
				copy_at = loop;
			}
			order[n++] = loop;
		}
	}
	inner = (struct tile_loops){
		.rows = t.rows > 1 ? tile_split[1] : 0,
		.vectors = vectors,
		.lanes = lane_split[1],
		.lanes_last = tiling_is_long(r, output),
	};
	n += tiling_loop_order(r, &inner, order + n);
	if (!sched_reorder(&r->s, order, n) ||
	    !(t.lane_by_lane ? tiling_sum_lane(r, &t, reduction, inner.lanes)
	      : part >= 0 ? tiling_sum_parts(r, &t, reduction, part, part_size,
					     lane_split[0])
			  : tiling_sum(r, &t, reduction, at, lane_split[0]))) {
		return false;
	}
	if (t.dot.fill != NULL) {
		/* the instruction keeps its sums in memory, so that registers
		 * do not limit the rows */
		inner.rows = 0;
	}
	if (!overlap_tails(r, &t, output, lane_split[0], tile_split[0])) {
		return false;
	}
	if (!t.lane_by_lane) {
		tiling_finish(r, &inner);
	}
	return !copies || tiling_place_copy(r, &t, copy, copy_at);
}

bool
tiling_product(struct rules *r, struct product_tile *p)
{
	struct rules_mark mark = rules_checkpoint(r);
	bool padded = false;

	if (tile_product(r, p, true, &padded)) {
		return true;
	}
	if (!padded) {
		return false;
	}
	rules_undo(r, mark);
	return tile_product(r, p, false, &padded);
}

/* The first product instruction to try. */
static int
first_instr(struct rules *r)
{
	struct candidates c = { 0 };

	for (int i = 0; i <= r->target->n_products; i++) {
		candidates_add(r, &c, i);
	}
	return (int)rules_way(r, "instruction", &c, 0);
}

bool
rule_register_tile(struct rules *r, const struct kernel_blocks *k)
{
	struct rules_mark mark = rules_checkpoint(r);
	struct product_tile tile = {
		.reduction = k->reduction,
		.output = k->output,
		.first_instr = first_instr(r),
	};

	while (!tiling_product(r, &tile)) {
		if (tile.next_instr <= tile.first_instr) {
			return false;
		}
		/* Tries again without the instruction that did not fit. */
		tile.first_instr = tile.next_instr;
		rules_undo(r, mark);
	}
	return true;
}
