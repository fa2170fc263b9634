/* SPDX-License-Identifier: Apache-2.0 */
/* Products of two operands, for the threads of a device: each block of threads
 * computes a tile of the result from tiles of both operands in shared memory,
 * each of its threads a few results in registers.
 *
 * The axes are put together by where they appear: those of both operands are
 * b, the summed ones k, those of the one m, of the other n. So a convolution is
 * a product whose one operand (row: a window, column: a pixel) is gathered
 * while it is copied, and never as a whole:
 *
 *   for oc, oh, ow, ic, kh, kw:           for m_o, n_o in blocks:
 *     y[oc, oh, ow] +=                      for m_t, n_t in threads:
 *       x[ic, oh + kh, ow + kw]       ->      for k_o:
 *       * w[oc, ic, kh, kw]                     xs[k_i, n] = x[..] or 0
 *                                               ws[k_i, m] = w[..] or 0
 *                                               for k_i, m_i, n_i:
 *                                                 acc += xs * ws
 *                                             y[..] = acc, where there is one */
#include "sched_edit.h"
#include "sched_staged.h"

/* -- axes */

/* There is no loop for a single batch. */
static enum part
first_part(const struct staged *t)
{
	return t->extent[PART_BATCH] > 1 ? PART_BATCH : PART_SUM;
}

/* The iter vars as b, k, m, n. */
static const struct index_map *
parts_map(struct rules *r, const struct staged *t)
{
	struct module *m = r->module;
	int n = t->x.info->n_iters;
	struct index_map *map = rules_map_new(m, n, PARTS);
	const struct expr *sum[PARTS] = { NULL };

	for (int i = 0; i < n; i++) {
		const struct expr *v = map->logical[i]->expr;
		const struct expr *extent = t->x.info->iters[i].extent;
		enum part p = t->part[i];

		if (expr_is_value(extent, 1)) {
			continue;
		}

		if (t->granularity[i] > 0) {
			const struct expr *g = expr_i32(m, t->granularity[i]);
			const struct expr *o = expr_floordiv(m, v, g);
			const struct expr **b = &sum[PART_BATCH];

			*b = *b ? expr_add(m, expr_mul(m, *b, expr_floordiv(
						m, extent, g)), o) : o;
			v = expr_floormod(m, v, g);
			extent = g;
		}
		sum[p] = sum[p] ? expr_add(m, expr_mul(m, sum[p], extent), v)
				: v;
	}
	for (int p = first_part(t); p < PARTS; p++) {
		rules_map_put(map, sum[p]);
	}
	return map;
}

static bool
apply(struct rules *r, const char *primitive, int block,
      struct sched_value second, int *out)
{
	struct sched_value args[2] = { sv_block(block), second }, made;

	if (!sched_apply(&r->s, primitive, args, 2, &made)) {
		return false;
	}
	if (out != NULL) {
		*out = made.u.id;
	}
	return true;
}

static int
read_index(struct rules *r, int block, const struct buffer *b)
{
	const struct block *info = func_find(r->s.func, block)->u.block;

	for (int i = 0; i < info->n_reads; i++) {
		if (info->reads[i].buffer == b) {
			return i;
		}
	}
	return -1;
}

/* The operand in the order of b, k, m, n, made by a block of its own. */
static bool
own_order(struct rules *r, int block, const struct buffer *b, int *copy)
{
	int index = read_index(r, block, b);
	struct sched_value which[2] = { sv_string("read"), sv_int(index) };

	return index >= 0 &&
	       apply(r, "reindex", block, sv_list(r->module, which, 2), copy);
}

/* Whatever the block reads that others make, it makes itself. */
static void
inline_producers(struct rules *r, int block)
{
	bool again = true;

	while (again) {
		int *makers, n;

		again = false;
		if (!sched_get_producers(&r->s, block, &makers, &n)) {
			return;
		}
		for (int i = 0; i < n && !again; i++) {
			again = !block_reduces(func_find(r->s.func,
							 makers[i])) &&
				sched_compute_inline(&r->s, makers[i]);
		}
	}
}

/* The only block that reads what a block writes, or 0. */
static int
sole_reader(struct rules *r, int block)
{
	int *users, n;

	return sched_get_consumers(&r->s, block, &users, &n) && n == 1
		       ? users[0] : 0;
}

/* What the sums are stored by does what is done to them. */
static void
take_epilogue(struct rules *r, int store)
{
	int reader;

	while ((reader = sole_reader(r, store)) != 0 &&
	       !block_reduces(func_find(r->s.func, reader)) &&
	       sched_reverse_compute_inline(&r->s, reader)) {
	}
}

/* All extents become multiples of the tile's: operands are 0 beyond. The
 * blocks that copy are those of the padded operands then. */
static bool
pad(struct rules *r, const struct staged *t, int block, int *copies,
    int *store)
{
	struct sched_value to[PARTS];
	bool any = false;

	for (int p = 0; p < PARTS; p++) {
		to[p] = sv_int(p == PART_BATCH ? 1 : t->side[p]);
		any |= t->extent[p] % t->side[p] != 0;
	}
	if (!any) {
		return true;
	}
	if (!apply(r, "pad_einsum", block,
		   sv_list(r->module, to + first_part(t),
			   PARTS - (int)first_part(t)), NULL)) {
		return false;
	}
	for (int i = 0; i < 2; i++) {
		int reader = sole_reader(r, copies[i]);

		if (reader == 0) {
			return false;
		}
		if (reader != block) {
			if (!sched_compute_inline(&r->s, copies[i])) {
				return false;
			}
			copies[i] = reader;
		}
	}
	*store = sole_reader(r, block);
	take_epilogue(r, *store);
	return *store != 0;
}

/* -- loops */

static bool
split_side(struct rules *r, const struct staged *t, enum part p, int loop,
	   int *out)
{
	return sched_split(&r->s, loop,
			   (int64_t[]){ 0, t->runs[p], t->threads[p],
					t->per[p] },
			   4, out);
}

static bool
bind_all(struct rules *r, const int *loops, const char *const *threads, int n)
{
	for (int i = 0; i < n; i++) {
		if (!sched_bind(&r->s, loops[i], threads[i])) {
			return false;
		}
	}
	return true;
}

/* Results of a thread: in registers only if no loop is left around them. */
static bool
unroll_inside(struct rules *r, int block, int loop)
{
	int *loops, n;
	bool inside = false;

	if (!sched_get_loops(&r->s, block, &loops, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (inside && !sched_unroll(&r->s, loops[i])) {
			return false;
		}
		inside |= loops[i] == loop;
	}
	return true;
}

/* Does what the block copies lie next to each other along k? */
static bool
lies_along_sum(struct rules *r, int copy)
{
	struct block_access x;
	int n, sum = -1, other = -1;

	if (!rules_access(r, copy, &x) || x.n_loads != 1) {
		return false;
	}
	n = x.loads[0].load->n_args;
	for (int i = 0; i < x.info->n_iters; i++) {
		if (!expr_is_value(x.info->iters[i].extent, 1)) {
			sum = other;
			other = i;
		}
	}
	return n > 0 && sum >= 0 &&
	       expr_uses_var(x.loads[0].load->args[n - 1],
			     x.info->iters[sum].var) &&
	       !expr_uses_var(x.loads[0].load->args[n - 1],
			      x.info->iters[other].var);
}

/* All threads copy together, neighbours what lies next to each other. */
static bool
copy_together(struct rules *r, const struct staged *t, int copy, int at,
	      const char *name)
{
	bool across = lies_along_sum(r, copy);
	int *loops, n, order[2], fused, parts[3];

	if (!sched_set_scope(&r->s, copy, 0, "shared") ||
	    !sched_compute_at(&r->s, copy, at) ||
	    !sched_rename_buffer(&r->s, copy, 0, name) ||
	    !sched_get_loops(&r->s, copy, &loops, &n) || n < 2) {
		return false;
	}
	order[0] = loops[n - 2 + across];
	order[1] = loops[n - 1 - across];
	return (!across || sched_reorder(&r->s, order, 2)) &&
	       sched_fuse(&r->s, order, 2, &fused) &&
	       sched_split(&r->s, fused,
			   (int64_t[]){ 0, t->threads[PART_ROW],
					t->threads[PART_COLUMN] }, 3, parts) &&
	       sched_unroll(&r->s, parts[0]) &&
	       sched_bind(&r->s, parts[1], "threadIdx.y") &&
	       sched_bind(&r->s, parts[2], "threadIdx.x");
}

/* While one pair of tiles is used the next one is copied: each array twice, and
 * one barrier less. What is under way is in registers, beside the sums: there
 * have to be many. */
static bool
copy_ahead(struct rules *r, const struct staged *t, int loop)
{
	struct sched_value stages[] = { sv_int(0), sv_int(0), sv_int(1) };
	struct sched_value order[] = { sv_int(0), sv_int(1), sv_int(2) };

	return t->extent[PART_SUM] <= t->side[PART_SUM] ||
	       r->target->vector_registers < 128 ||
	       (sched_annotate(&r->s, loop, "software_pipeline_stage",
			       sv_list(r->module, stages, 3)) &&
		sched_annotate(&r->s, loop, "software_pipeline_order",
			       sv_list(r->module, order, 3)));
}

static bool
make_nest(struct rules *r, const struct staged *t, int block, int store,
	  const int *copies)
{
	static const char *const threads[] = {
		"blockIdx.y", "blockIdx.x", "vthread.y", "vthread.x",
		"threadIdx.y", "threadIdx.x",
	};
	static const char *const axes[] = { "b", "k", "m", "n" };
	int first = (int)first_part(t);
	int *l, n, k[2], m[4], c[4], loops[PARTS] = { 0 };

	if (!sched_get_loops(&r->s, block, &l, &n) || n != PARTS - first) {
		return false;
	}
	for (int p = first; p < PARTS; p++) {
		loops[p] = l[p - first];
		if (!sched_rename_loop(&r->s, loops[p], axes[p])) {
			return false;
		}
	}
	if (!split_side(r, t, PART_ROW, loops[PART_ROW], m) ||
	    !split_side(r, t, PART_COLUMN, loops[PART_COLUMN], c) ||
	    !sched_split(&r->s, loops[PART_SUM],
			 (int64_t[]){ 0, t->side[PART_SUM] }, 2, k) ||
	    !sched_reorder(&r->s, (int[]){ m[0], c[0], m[1], c[1], m[2], c[2],
					   k[0], k[1], m[3], c[3] }, 10) ||
	    (first == PART_BATCH &&
	     !sched_bind(&r->s, loops[PART_BATCH], "blockIdx.z")) ||
	    !bind_all(r, (int[]){ m[0], c[0], m[1], c[1], m[2], c[2] },
		      threads, 6) ||
	    !sched_set_scope(&r->s, block, 0, "local") ||
	    !sched_reverse_compute_at(&r->s, store, c[2]) ||
	    !unroll_inside(r, store, c[2]) ||
	    !sched_rename_buffer(&r->s, block, 0, "acc")) {
		return false;
	}
	return copy_together(r, t, copies[0], k[0], "rows") &&
	       copy_together(r, t, copies[1], k[0], "columns") &&
	       sched_unroll(&r->s, k[1]) && sched_unroll(&r->s, m[3]) &&
	       sched_unroll(&r->s, c[3]) && copy_ahead(r, t, k[0]);
}

/* Constants are stored in rows along what is not summed, as tiles are. */
static bool
pack_constants(struct rules *r, struct staged *t, int block)
{
	for (int l = 0; l < t->x.n_loads; l++) {
		if (t->x.loads[l].weight != NULL &&
		    !rules_pack_last(r, block, &t->x.loads[l], false)) {
			return false;
		}
	}
	return rules_access(r, block, &t->x) && staged_find(r, t);
}

bool
rule_staged(struct rules *r, int block)
{
	struct staged t = { 0 };
	int copies[2], store;

	if (!rules_access(r, block, &t.x) || !staged_find(r, &t) ||
	    !staged_sizes(r, &t) || !pack_constants(r, &t, block) ||
	    !apply(r, "transform_block_layout", block,
		   sv_map(parts_map(r, &t)), NULL) ||
	    !own_order(r, block, t.operand[0], &copies[0]) ||
	    !own_order(r, block, t.operand[1], &copies[1]) ||
	    !sched_reindex(&r->s, block, 0, &store)) {
		return false;
	}
	inline_producers(r, copies[0]);
	inline_producers(r, copies[1]);
	take_epilogue(r, store);
	if (!pad(r, &t, block, copies, &store) ||
	    !make_nest(r, &t, block, store, copies)) {
		return false;
	}
	strbuf_printf(&r->words, "%sstaged  tiles of %lld x %lld, %lld at a "
		      "time, %lld x %lld per thread",
		      r->words.len > 0 ? ", " : "",
		      (long long)t.side[PART_ROW],
		      (long long)t.side[PART_COLUMN],
		      (long long)t.side[PART_SUM],
		      (long long)(t.side[PART_ROW] / t.threads[PART_ROW]),
		      (long long)(t.side[PART_COLUMN] /
				  t.threads[PART_COLUMN]));
	return true;
}
