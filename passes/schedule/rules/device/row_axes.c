/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that lie across memory, such as those of a softmax over the channels of an
 * image: in all stages, the axes that select a row come first.
 *
 *   for i, j, k: m[i, k] = max(m[i, k], x[i, j, k])    for i, k, j: m[i, k] = ..
 *   for i, j, k: y[i, j, k] = .. m[i, k]            -> for i, k, j: y[i, j, k] = ..
 */
#include "nest.h"
#include "row_shape.h"

/* The axes of the stages: of[i][a] is the axis of the last stage with which axis a of
 * stage i is the same, or -1. */
struct stage_axes {
	int n;
	const struct block **blocks;
	int **of;
};

/* The axis of the block that a dimension of a region has as its index, or -1. */
static int
axis_at(const struct block *b, const struct region *r, int dim)
{
	const struct expr *index = r->ranges[dim].min;

	if (!expr_is_value(r->ranges[dim].extent, 1)) {
		return -1;
	}
	for (int a = 0; a < b->n_iters; a++) {
		if (index == b->iters[a].var->expr) {
			return a;
		}
	}
	return dim < b->n_iters && expr_is_value(index, 0) &&
			       expr_is_value(b->iters[dim].extent, 1)
		       ? dim
		       : -1;
}

/* Narrows the axes of stage i to those that its reader, stage k, has in common with
 * it in the region. */
static void
meet(struct stage_axes *s, int i, int k, const struct region *read, bool first)
{
	const struct block *made = s->blocks[i];
	const struct region *written = &made->writes[0];

	for (int dim = 0; dim < written->buffer->ndim; dim++) {
		int own = axis_at(made, written, dim);
		int other = axis_at(s->blocks[k], read, dim);

		other = other >= 0 ? s->of[k][other] : -1;
		if (own >= 0) {
			s->of[i][own] = first || s->of[i][own] == other ? other
									: -1;
		}
	}
}

/* Sets s->of of stage i from the stages after it. */
static void
find_axes(struct stage_axes *s, int i)
{
	bool first = true;

	for (int a = 0; a < s->blocks[i]->n_iters; a++) {
		s->of[i][a] = i == s->n - 1 ? a : -1;
	}
	for (int k = i + 1; k < s->n; k++) {
		for (int at = 0; at < s->blocks[k]->n_reads; at++) {
			const struct region *read = &s->blocks[k]->reads[at];

			if (read->buffer == s->blocks[i]->writes[0].buffer) {
				meet(s, i, k, read, first);
				first = false;
			}
		}
	}
}

/* The spatial axis of stage i that is the same as axis `out` of the last stage, or
 * -1. */
static int
same_axis(const struct stage_axes *s, int i, int out)
{
	for (int a = 0; a < s->blocks[i]->n_iters; a++) {
		if (s->of[i][a] == out &&
		    s->blocks[i]->iters[a].kind == ITER_SPATIAL) {
			return a;
		}
	}
	return -1;
}

static bool
all_have(const struct stage_axes *s, int out)
{
	for (int i = 0; i < s->n; i++) {
		if (same_axis(s, i, out) < 0) {
			return false;
		}
	}
	return true;
}

/* Sets order[] to the axes of stage i: those that select a row, then the others.
 * Returns whether that is another order. */
static bool
order_axes(const struct stage_axes *s, int i, int *order)
{
	const struct block *b = s->blocks[i];
	int n = 0, rows;
	bool changes = false;

	for (int out = 0; out < s->blocks[s->n - 1]->n_iters; out++) {
		if (all_have(s, out)) {
			order[n++] = same_axis(s, i, out);
		}
	}
	rows = n;
	for (int a = 0; a < b->n_iters; a++) {
		bool taken = false;

		for (int k = 0; k < rows; k++) {
			taken |= order[k] == a;
		}
		if (!taken) {
			order[n++] = a;
		}
	}
	for (int a = 0; a < b->n_iters; a++) {
		changes |= order[a] != a;
	}
	return changes;
}

/* Brings the loops around a block, and its axes, into this order. */
static bool
reorder(struct rules *r, int block, const int *order, int n)
{
	int *loops, n_loops, n_sorted = 0;
	int *sorted = arena_array(&r->module->arena, int, n + 1);

	if (!sched_get_loops(&r->s, block, &loops, &n_loops)) {
		return false;
	}
	for (int k = 0; k < n; k++) {
		for (int i = 0; i < n_loops; i++) {
			const struct stmt *loop = func_find(r->s.func,
							    loops[i]);

			if (n_sorted < n &&
			    rules_driven_iter(func_find(r->s.func, block),
					      loop) == order[k]) {
				sorted[n_sorted++] = loops[i];
			}
		}
	}
	return n_sorted == n_loops &&
	       (n_sorted < 2 || sched_reorder(&r->s, sorted, n_sorted)) &&
	       sched_reorder_block_iters(&r->s, block, order, n);
}

bool
rows_lead(struct rules *r, const int *blocks, int n)
{
	struct arena *a = &r->module->arena;
	struct stage_axes s = {
		.n = n,
		.blocks = arena_array(a, const struct block *, n + 1),
		.of = arena_array(a, int *, n + 1),
	};

	for (int i = n - 1; i >= 0; i--) {
		s.blocks[i] = func_find(r->s.func, blocks[i])->u.block;
		s.of[i] = arena_array(a, int, s.blocks[i]->n_iters + 1);
		find_axes(&s, i);
	}
	for (int i = 0; i < n; i++) {
		int n_axes = s.blocks[i]->n_iters;
		int *order = arena_array(a, int, n_axes + 1);

		if (order_axes(&s, i, order) &&
		    !reorder(r, blocks[i], order, n_axes)) {
			return false;
		}
	}
	return true;
}
