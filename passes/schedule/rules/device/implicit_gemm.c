/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a reduction a product of two matrices, with blocks that copy the
 * operands into them, and inlines the operands' producers into these blocks:
 *
 *   for oc, oh, ow, ic, kh, kw:         rows[k, m] = w[..]
 *     sum[oc, oh, ow] +=                columns[k, n] = x[..] or 0
 *       x[ic, oh + kh, ow + kw]    ->   for k, m, n:
 *       * w[oc, ic, kh, kw]               sum[m, n] += rows[k, m] * columns[k, n]
 *   y[..] = sum[..] + b[..]             y[..] = sum[m, n] + b[..] */
#include "edit.h"
#include "gemm_tile.h"
#include "kernel_blocks.h"
#include "layout_map.h"

int
gemm_first_part(const struct gemm_tile *t)
{
	return t->extent[PART_BATCH] > 1 ? 0 : 1;
}

/* Applies the primitive to the block and a second argument. Unless `out` is
 * NULL, sets *out to the block or loop that the primitive returns. False after
 * a failure. */
static bool
apply_to(struct rules *r, const char *primitive, int block,
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

/* The index map from the block's iter vars to the dimensions of the matrix
 * product (enum part); the physical indices are in the order t->order. */
static const struct index_map *
parts_map(struct rules *r, const struct gemm_tile *t)
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

			*b = *b ? expr_add(m,
					   expr_mul(m, *b,
						    expr_floordiv(m, extent,
								  g)),
					   o)
				: o;
			v = expr_floormod(m, v, g);
			extent = g;
		}
		sum[p] = sum[p] ? expr_add(m, expr_mul(m, sum[p], extent), v)
				: v;
	}
	for (int i = gemm_first_part(t); i < PARTS; i++) {
		rules_map_put(map, sum[t->order[i]]);
	}
	return map;
}

/* Makes a block that copies the operand b in the order of the block's iter vars
 * (the parts), and sets *copy to its id. False after a failure. */
static bool
copy_in_order(struct rules *r, int block, const struct buffer *b, int *copy)
{
	int index = rules_read_index(r, block, b);
	struct sched_value which[2] = { sv_string("read"), sv_int(index) };

	return index >= 0 && apply_to(r, "reindex", block,
				      sv_list(r->module, which, 2), copy);
}

/* Inlines all injective blocks whose results the block reads, directly or
 * through such blocks. */
static void
inline_producers(struct rules *r, int block)
{
	bool again = true;

	while (again) {
		int *producers, n;

		again = false;
		if (!sched_get_producers(&r->s, block, &producers, &n)) {
			return;
		}
		for (int i = 0; i < n && !again; i++) {
			again = !block_reduces(
					func_find(r->s.func, producers[i])) &&
				sched_compute_inline(&r->s, producers[i]);
		}
	}
}

/* The only block that reads the output of the block; 0: no block does, or
 * several do. */
static int
sole_reader(struct rules *r, int block)
{
	int *users, n;

	return sched_get_consumers(&r->s, block, &users, &n) && n == 1
		       ? users[0]
		       : 0;
}

/* Inlines elementwise blocks that follow into the block `store`, which stores
 * the sums. */
static void
inline_epilogue(struct rules *r, int store)
{
	int reader;

	while ((reader = sole_reader(r, store)) != 0 &&
	       !block_reduces(func_find(r->s.func, reader)) &&
	       sched_reverse_compute_inline(&r->s, reader)) {
	}
}

/* Pads the extents of all parts to multiples of the tile's sides; the operands
 * are 0 in the padding. out->copies become the blocks that copy the padded
 * operands. False after a failure. */
static bool
pad(struct rules *r, const struct gemm_tile *t, int block,
    struct gemm_blocks *out)
{
	struct sched_value to[PARTS];
	bool any = false;

	for (int i = 0; i < PARTS; i++) {
		enum part p = t->order[i];

		to[i] = sv_int(p == PART_BATCH ? 1 : t->side[p]);
		any |= t->extent[p] % t->side[p] != 0;
	}
	if (!any) {
		return true;
	}
	if (!apply_to(r, "pad_einsum", block,
		      sv_list(r->module, to + gemm_first_part(t),
			      PARTS - gemm_first_part(t)),
		      NULL)) {
		return false;
	}
	for (int i = 0; i < 2; i++) {
		int reader = sole_reader(r, out->copies[i]);

		if (reader == 0) {
			return false;
		}
		if (reader != block) {
			if (!sched_compute_inline(&r->s, out->copies[i])) {
				return false;
			}
			out->copies[i] = reader;
		}
	}
	out->store = sole_reader(r, block);
	inline_epilogue(r, out->store);
	return out->store != 0;
}

/* Stores constants in the order of the tiles' dimensions. False after a
 * failure. */
static bool
pack_constants(struct rules *r, struct gemm_tile *t, int block)
{
	for (int l = 0; l < t->x.n_loads; l++) {
		const struct load_access *a = &t->x.loads[l];
		bool columns = a->load->u.buffer == t->operand[1];

		if (a->weight != NULL &&
		    !rules_pack_last(r, block, a, t->sum_last[columns])) {
			return false;
		}
	}
	return rules_access(r, block, &t->x) && gemm_find_axes(r, t);
}

bool
gemm_copy_operands(struct rules *r, struct gemm_tile *t, int block,
		   struct gemm_blocks *out)
{
	if (!pack_constants(r, t, block) ||
	    !rules_transform_block(r, block, parts_map(r, t)) ||
	    !copy_in_order(r, block, t->operand[0], &out->copies[0]) ||
	    !copy_in_order(r, block, t->operand[1], &out->copies[1]) ||
	    !sched_reindex(&r->s, block, 0, &out->store)) {
		return false;
	}
	inline_producers(r, out->copies[0]);
	inline_producers(r, out->copies[1]);
	inline_epilogue(r, out->store);
	return pad(r, t, block, out);
}

/* The axes of a part as text, "ic * kh * kw"; *n: their number. */
static const char *
part_axes(struct rules *r, const struct gemm_tile *t, enum part p, int *n)
{
	struct arena *a = &r->module->arena;
	const char *text = "";

	*n = 0;
	for (int i = 0; i < t->x.info->n_iters; i++) {
		const struct iter_var *it = &t->x.info->iters[i];

		if (t->part[i] != p || expr_is_value(it->extent, 1)) {
			continue;
		}
		text = arena_printf(a, "%s%s%s", text, *n > 0 ? " * " : "",
				    iter_axis_name(it->var->name));
		if (t->granularity[i] > 0) {
			text = arena_printf(a, "%s %% %lld", text,
					    (long long)t->granularity[i]);
		}
		(*n)++;
	}
	return text;
}

const char *
gemm_describe(struct rules *r, const struct gemm_tile *t)
{
	static const struct {
		enum part part;
		char letter;
	} parts[] = {
		{ PART_ROW, 'M' },
		{ PART_COLUMN, 'N' },
		{ PART_SUM, 'K' },
	};
	struct arena *a = &r->module->arena;
	const char *text = "implicit GEMM,";
	int n = 0;

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		const char *axes = part_axes(r, t, parts[i].part, &n);

		text = arena_printf(a, "%s %c = %s%s%lld,", text,
				    parts[i].letter, axes, n > 0 ? " = " : "",
				    (long long)t->extent[parts[i].part]);
	}
	/* n is the number of axes in the last part, the sum: if it is 1, this
	 * is a plain matrix product */
	return n > 1 ? arena_printf(a, "%s ", text) : "";
}

bool
gemm_copy_is_transposed(struct rules *r, int copy)
{
	struct block_access x;
	int n, inner = -1, last = -1;

	if (!rules_access(r, copy, &x) || x.n_loads != 1) {
		return false;
	}
	n = x.loads[0].load->n_args;
	for (int i = 0; i < x.info->n_iters; i++) {
		if (!expr_is_value(x.info->iters[i].extent, 1)) {
			inner = last;
			last = i;
		}
	}
	return n > 0 && inner >= 0 &&
	       expr_uses_var(x.loads[0].load->args[n - 1],
			     x.info->iters[inner].var) &&
	       !expr_uses_var(x.loads[0].load->args[n - 1],
			      x.info->iters[last].var);
}

bool
gemm_copy_is_contiguous(struct rules *r, int copy)
{
	struct block_access x;
	const struct expr *index;
	bool last = false;

	if (!rules_access(r, copy, &x) || x.n_loads != 1 ||
	    x.loads[0].load->n_args == 0) {
		return false;
	}
	index = x.loads[0].load->args[x.loads[0].load->n_args - 1];
	for (int i = 0; i < x.info->n_iters; i++) {
		bool uses = expr_uses_var(index, x.info->iters[i].var);

		if (i < x.info->n_iters - 1 && uses &&
		    !expr_is_value(x.info->iters[i].extent, 1)) {
			return false;
		}
		last = uses;
	}
	return last;
}
