/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for kernels without register tiles: elementwise kernels (one flat loop
 * if every access allows it), plain reductions (a scalar accumulator) and
 * rowwise kernels (all stages inside of the loops that they have in common). */
#include "sched_rules.h"

/* May the loops of adjacent axes be fused? In every access both must be plain,
 * adjacent indices, or neither may occur. */
static bool
adjacent_everywhere(const struct expr *const *index, int n,
		    const struct var *outer, const struct var *inner)
{
	for (int i = 0; i < n; i++) {
		bool is_outer = index[i]->kind == EXPR_VAR &&
				index[i]->u.var == outer;

		if (is_outer) {
			if (i + 1 >= n || index[i + 1]->kind != EXPR_VAR ||
			    index[i + 1]->u.var != inner) {
				return false;
			}
			i++;
		} else if (expr_uses_var(index[i], outer) ||
			   expr_uses_var(index[i], inner)) {
			return false;
		}
	}
	return true;
}

struct fusable {
	const struct var *outer, *inner;
	bool ok;
	int depth;
};

static void
check_fusable(struct fusable *f, const struct expr *e)
{
	if (!f->ok) {
		return;
	}
	if (e->kind == EXPR_LOAD) {
		f->ok = adjacent_everywhere(e->args, e->n_args, f->outer,
					    f->inner);
		return;
	}
	if (e->kind == EXPR_VAR) {
		f->ok = e->u.var != f->outer && e->u.var != f->inner;
		return;
	}
	for (int i = 0; i < e->n_args; i++) {
		check_fusable(f, e->args[i]);
	}
}

/* Has dimension d + 1 of the buffer the extent of the axis? */
static bool
same_extents(const struct buffer *b, int d, const struct iter_var *inner)
{
	return d + 1 < b->ndim && b->shape[d + 1] == inner->extent;
}

/* Does the inner axis run over the whole dimension in every buffer? */
static bool
covers_inner(const struct block_access *x, int outer)
{
	const struct iter_var *inner = &x->info->iters[outer + 1];

	for (int l = -1; l < x->n_loads; l++) {
		const struct load_access *a = l < 0 ? &x->store : &x->loads[l];
		const struct buffer *b = l < 0 ? x->out : a->load->u.buffer;

		if (a->use[outer] == AXIS_PLAIN &&
		    !same_extents(b, a->dim[outer], inner)) {
			return false;
		}
	}
	return true;
}

/* An axis on which a condition selects a source: x where i < n, else y. */
struct choice {
	const struct block *block;
	int axis; /* -1: none */
};

static void
see_choice(void *ctx, const struct expr *e)
{
	struct choice *c = ctx;

	if (e->kind != EXPR_IF || e->args[0]->kind != EXPR_LT ||
	    e->args[0]->args[0]->kind != EXPR_VAR ||
	    e->args[0]->args[1]->kind != EXPR_INT) {
		return;
	}
	for (int i = 0; i < c->block->n_iters; i++) {
		if (c->block->iters[i].var == e->args[0]->args[0]->u.var) {
			c->axis = i;
		}
	}
}

/* Does every access run over the whole buffer, with this axis in blocks and all
 * other axes plain? */
static bool
blocked_alike(const struct block_access *x, int axis)
{
	for (int l = -1; l < x->n_loads; l++) {
		const struct load_access *a = l < 0 ? &x->store : &x->loads[l];
		const struct buffer *b = l < 0 ? x->out : a->load->u.buffer;
		int64_t all = 1, extent, elems;

		for (int i = 0; i < x->info->n_iters; i++) {
			if (!expr_is_int(x->info->iters[i].extent, &extent) ||
			    (extent > 1 &&
			     a->use[i] !=
				     (i == axis ? AXIS_BLOCKED : AXIS_PLAIN))) {
				return false;
			}
			all *= extent;
		}
		if (!buffer_const_elems(b, &elems) || elems != all) {
			return false;
		}
	}
	return true;
}

/* Moves the blocks of an axis innermost, as lanes. loops: by axis; 0: fused
 * into another one. If all accesses run over memory in the same order and
 * elements are bytes, the lanes are those of all adjacent blocks: a vector
 * holds more bytes than a block. */
static bool
vectorize_blocks(struct rules *r, const struct block_access *x, int axis,
		 int64_t c, int *loops, int n)
{
	int order[MAX_AXES + 1], parts[2], count = 0, lanes;

	if (!sched_split(&r->s, loops[axis], (int64_t[]){ 0, c }, 2, parts)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (i == axis) {
			order[count++] = parts[0];
		} else if (loops[i] != 0) {
			order[count++] = loops[i];
		}
	}
	order[count++] = lanes = parts[1];
	if (!sched_reorder(&r->s, order, count)) {
		return false;
	}
	if (x != NULL && dtype_bytes(x->out->type) == 1 && count >= 3 &&
	    order[count - 3] == parts[0] && blocked_alike(x, axis)) {
		sched_fuse(&r->s, order + count - 2, 2, &lanes);
	}
	return sched_vectorize(&r->s, lanes);
}

bool
rule_elementwise(struct rules *r, int block)
{
	struct block_access x;
	struct choice choice = { .axis = -1 };
	int *loops, n, blocked = -1;

	if (!rules_access(r, block, &x) ||
	    !sched_get_loops(&r->s, block, &loops, &n) ||
	    n != x.info->n_iters) {
		return false;
	}
	strbuf_puts(&r->words, "elementwise");
	for (int i = 0; i < n; i++) {
		if (rules_blocked_by(&x, i, true) > 0) {
			blocked = i;
		}
	}
	for (int d = n - 2; d >= 0; d--) {
		const struct stmt *store = x.block->children[0];
		struct fusable f = {
			.outer = x.info->iters[d].var,
			.inner = x.info->iters[d + 1].var,
			.ok = true,
		};
		int pair[2] = { loops[d], loops[d + 1] }, fused;

		check_fusable(&f, store->args[0]);
		if (f.ok && d != blocked && d + 1 != blocked &&
		    covers_inner(&x, d) &&
		    adjacent_everywhere(store->args + 1, store->n_args - 1,
					f.outer, f.inner) &&
		    sched_fuse(&r->s, pair, 2, &fused)) {
			loops[d] = fused;
			loops[d + 1] = 0;
		}
	}
	choice.block = x.info;
	expr_visit(x.block->children[0]->args[0], see_choice, &choice);
	if (blocked >= 0) {
		strbuf_puts(&r->words, " by blocks");
		return vectorize_blocks(r, &x, blocked,
					rules_blocked_by(&x, blocked, true),
					loops, n);
	}
	if (choice.axis >= 0 && loops[choice.axis] != 0) {
		sched_annotate(&r->s, loops[choice.axis], "partition",
			       sv_int(1));
	}
	return true;
}

bool
rule_reduction(struct rules *r, int reduction, int output)
{
	int *loops, n;
	struct block_access x;
	const struct buffer *acc;

	if (!rules_access(r, reduction, &x)) {
		return false;
	}
	if (!rules_separate_accumulator(r, &x, reduction, &output) ||
	    !sched_get_loops(&r->s, output, &loops, &n)) {
		return false;
	}
	if (rules_same_axes(r, &x, output)) {
		rules_name_loops(r, &x, output);
	}
	/* Place the reduction in the innermost output loop that has all of its
	 * axes. */
	if (n > 0 && x.n_spatial > 0) {
		int at = n - 1;

		while (at >= 0 &&
		       !sched_compute_at(&r->s, reduction, loops[at])) {
			at--;
		}
	}
	sched_set_scope(&r->s, reduction, 0, "local");
	rules_accumulator(r, reduction, &acc);
	strbuf_puts(&r->words, "reduction  one accumulator");
	return true;
}

/* The number of leading axes that a block has in common with its reader, which
 * reads dimension k at its own axis k. `most` if the reader does not read the
 * block, or has all of them. */
static int
common_axes(const struct block *made, const struct block *reader, int own,
	    int most)
{
	for (int i = 0; i < reader->n_reads; i++) {
		const struct region *r = &reader->reads[i];
		int k = 0;

		if (r->buffer != made->writes[0].buffer) {
			continue;
		}
		while (k < own && k < r->buffer->ndim && k < made->n_iters &&
		       made->iters[k].kind == ITER_SPATIAL &&
		       reader->iters[k].kind == ITER_SPATIAL &&
		       r->ranges[k].min == reader->iters[k].var->expr &&
		       expr_is_value(r->ranges[k].extent, 1)) {
			k++;
		}
		most = k < most ? k : most;
	}
	return most;
}

void
rules_common_axes(struct rules *r, const int *blocks, int n, int output,
		  int *common)
{
	int all = func_find(r->s.func, output)->u.block->n_iters;

	for (int i = n - 1; i >= 0; i--) {
		const struct stmt *b = func_find(r->s.func, blocks[i]);

		common[i] = all;
		for (int k = i + 1; k < n; k++) {
			const struct stmt *reader = func_find(r->s.func,
							      blocks[k]);

			common[i] = common_axes(b->u.block, reader->u.block,
						common[k], common[i]);
		}
	}
}

/* need_lanes: only if some stage reduces by lanes. */
static bool
stages_per_row(struct rules *r, const int *blocks, int n, int output,
	       bool need_lanes)
{
	int *loops, n_loops, placed = 0, by_lanes;
	int *common, *with_copy, *made;
	struct block_access x;

	/* A reduction that writes the output gets an accumulator. */
	if (block_reduces(func_find(r->s.func, output)) &&
	    rules_access(r, output, &x) &&
	    rules_separate_accumulator(r, &x, output, &output)) {
		n = sched_get_child_blocks(&r->s, 0, &with_copy);
		blocks = with_copy;
	}
	made = arena_array(&r->module->arena, int, n + 1);
	by_lanes = rules_reduce_by_lanes(r, blocks, n, made);
	if (by_lanes == 0 && need_lanes) {
		return false;
	}
	if (by_lanes > 0) {
		n = sched_get_child_blocks(&r->s, 0, &with_copy);
		blocks = with_copy;
	}
	common = arena_array(&r->module->arena, int, n + 1);
	rules_common_axes(r, blocks, n, output, common);
	if (!sched_get_loops(&r->s, output, &loops, &n_loops)) {
		return false;
	}
	/* Consumers come first: a stage is placed inside the loops of its
	 * readers. */
	for (int i = n - 1; i >= 0; i--) {
		if (blocks[i] == output) {
			continue;
		}
		for (int at = (common[i] < n_loops ? common[i] : n_loops) - 1;
		     at >= 0; at--) {
			if (sched_compute_at(&r->s, blocks[i], loops[at])) {
				placed++;
				break;
			}
		}
		sched_set_scope(&r->s, blocks[i], 0, "local");
	}
	for (int i = 0; i < by_lanes; i++) {
		rules_vectorize_lanes(r, made[i]);
	}
	strbuf_printf(&r->words, "rowwise  %d stage%s %s", n - by_lanes,
		      n - by_lanes == 1 ? "" : "s",
		      placed > 0 || n == 1 ? "per row" : "one after the other");
	if (by_lanes > 0) {
		strbuf_puts(&r->words, ", sums by lanes");
	}
	if (placed > 0 && placed < n - 1) {
		strbuf_printf(&r->words, ", %d ahead of them", n - 1 - placed);
	}
	return true;
}

bool
rule_rowwise(struct rules *r, const int *blocks, int n, int output)
{
	return stages_per_row(r, blocks, n, output, false);
}

bool
rule_lane_reduction(struct rules *r, const int *blocks, int n, int output)
{
	return stages_per_row(r, blocks, n, output, true);
}

/* May blocks of c elements of the axis be lanes: is the axis in blocks of c, or
 * contiguous, in every access? The store of the kernel's output may be strided.
 * *c: the block size found so far, or 0. */
static bool
lanes_along(const struct block_access *x, int axis, bool result, int64_t *c)
{
	bool apart = result && x->store.use[axis] == AXIS_PLAIN;

	for (int l = apart ? 0 : -1; l < x->n_loads; l++) {
		const struct load_access *a = l < 0 ? &x->store : &x->loads[l];
		const struct buffer *b = l < 0 ? x->out : a->load->u.buffer;

		if (a->use[axis] == AXIS_BLOCKED &&
		    (*c == 0 || *c == a->granularity[axis])) {
			*c = a->granularity[axis];
		} else if (a->use[axis] != AXIS_UNUSED &&
			   (a->use[axis] != AXIS_PLAIN ||
			    a->dim[axis] != b->ndim - 1)) {
			return false;
		}
	}
	return x->store.use[axis] != AXIS_UNUSED;
}

/* The size of the blocks in which all stages and the output have the rows; 0:
 * there is none. */
static int64_t
block_of_rows(struct rules *r, const int *blocks, int n, int output, int axis)
{
	int64_t c = 0;

	for (int i = 0; i < n; i++) {
		struct block_access x;

		if (!rules_access(r, blocks[i], &x) ||
		    axis >= x.info->n_iters ||
		    x.info->iters[axis].kind != ITER_SPATIAL ||
		    !lanes_along(&x, axis, blocks[i] == output, &c)) {
			return 0;
		}
	}
	return c;
}

/* Moves the loop over the rows of a block innermost. */
static bool
rows_innermost(struct rules *r, int block, int axis)
{
	const struct stmt *s = func_find(r->s.func, block);
	int *loops, n, order[MAX_AXES + 1], count = 0, rows = 0;

	if (!sched_get_loops(&r->s, block, &loops, &n) || n > MAX_AXES) {
		return false;
	}
	for (int i = axis + 1; i < n; i++) {
		const struct stmt *loop = func_find(r->s.func, loops[i]);

		if (expr_uses_var(s->args[axis + 1], loop->u.loop.var)) {
			rows = loops[i];
		} else {
			order[count++] = loops[i];
		}
	}
	order[count++] = rows;
	return rows != 0 &&
	       (count == 1 || sched_reorder(&r->s, order, count)) &&
	       sched_vectorize(&r->s, rows);
}

bool
rule_blocked_rows(struct rules *r, const int *blocks, int n, int output)
{
	int *loops, n_loops,
		*common = arena_array(&r->module->arena, int, n + 1);
	const struct stmt *last = func_find(r->s.func, output);
	int axis = last->u.block->n_iters - 1;
	int64_t c;

	rules_common_axes(r, blocks, n, output, common);
	for (int i = 0; i < n; i++) {
		if (blocks[i] != output && common[i] - 1 < axis) {
			axis = common[i] - 1;
		}
	}
	if (block_reduces(last) || axis < 0 ||
	    !sched_get_loops(&r->s, output, &loops, &n_loops) ||
	    n_loops != last->u.block->n_iters) {
		return false;
	}
	c = block_of_rows(r, blocks, n, output, axis);
	if (c < 2 || !vectorize_blocks(r, NULL, axis, c, loops, n_loops) ||
	    !sched_get_loops(&r->s, output, &loops, &n_loops)) {
		return false;
	}
	for (int i = n - 1; i >= 0; i--) {
		if (blocks[i] == output) {
			continue;
		}
		if (!sched_compute_at(&r->s, blocks[i], loops[axis]) ||
		    !sched_set_scope(&r->s, blocks[i], 0, "local") ||
		    !rows_innermost(r, blocks[i], axis)) {
			return false;
		}
	}
	strbuf_printf(&r->words, "rowwise  %d stages per %lld rows", n,
		      (long long)c);
	return true;
}
