/* SPDX-License-Identifier: Apache-2.0 */
/* Dot products of bytes by the target's instruction, inside of register tiles:
 *
 *   for ic_o, kh, kw:                    for ic_o, kh, kw, ic_4:
 *     for ic_i (16):                       for ow_1, oc_c:
 *       for ow_1, oc_c, oc_v (16):   ->      dot_16x4(x[..][ow_1][ic_4 * 4],
 *         acc += x * w                                w[..][ic_4][oc_c],
 *                                                     acc[ow_1][oc_c])
 *
 * The instruction is data: what it computes says how many lanes it has, how
 * deep a dot product is and which types it takes. */
#include <string.h>

#include "edit.h"
#include "register_tile.h"
#include "tensor_intrin.h"

/* The sizes of desc(A[depth], B[lanes][depth], C[lanes]). */
static bool
dot_sizes(const struct tensor_intrin *intrin, int64_t *lanes, int64_t *depth)
{
	const struct func *f = intrin->desc;
	const struct buffer *a, *b;

	if (f->params.n != 3) {
		return false;
	}
	a = f->params.data[0].buffer;
	b = f->params.data[1].buffer;
	return a != NULL && b != NULL && a->ndim == 1 && b->ndim == 2 &&
	       expr_is_int(b->shape[0], lanes) &&
	       expr_is_int(b->shape[1], depth);
}

bool
tiling_has_types(const struct tiling *t, const struct tensor_intrin *intrin,
		 const struct load_access *data)
{
	const struct func *f = intrin->desc;

	return dtype_equal(data->load->type, f->params.data[0].buffer->type) &&
	       dtype_equal(t->operand->load->type,
			   f->params.data[1].buffer->type) &&
	       dtype_equal(t->x.out->type, f->params.data[2].buffer->type);
}

/* By how many the axis lies together in the data, in steps of depth; 0. */
static int64_t
run_of(const struct tiling *t, const struct load_access *data, int iter,
       int64_t depth)
{
	int64_t extent = tiling_extent(&t->x, iter);

	if (t->x.info->iters[iter].kind != ITER_REDUCE ||
	    t->operand->use[iter] != AXIS_PLAIN) {
		return 0;
	}
	if (data->use[iter] == AXIS_BLOCKED &&
	    data->granularity[iter] % depth == 0) {
		return data->granularity[iter];
	}
	return data->use[iter] == AXIS_PLAIN &&
			       data->dim[iter] == data->load->n_args - 1 &&
			       extent % depth == 0
		       ? depth
		       : 0;
}

void
tiling_find_dot(struct rules *r, struct tiling *t)
{
	const struct tensor_intrin *intrin;
	const struct load_access *data;
	int64_t lanes, depth;

	t->dot = (struct tile_dot){ .intrin = NULL };
	if (r->without_dot || r->target->byte_dot == NULL ||
	    r->target->intrins == NULL || t->operand == NULL ||
	    t->operand->weight == NULL || t->x.n_loads != 2) {
		return;
	}
	intrin = tensor_intrins_find(r->target->intrins, r->target->byte_dot);
	data = &t->x.loads[t->operand == &t->x.loads[0]];
	if (intrin == NULL || !dot_sizes(intrin, &lanes, &depth) ||
	    !tiling_has_types(t, intrin, data) ||
	    (t->vector > 0 ? t->vector : t->lanes) != lanes) {
		return;
	}
	for (int i = 0; i < t->x.info->n_iters; i++) {
		int64_t run = run_of(t, data, i, depth);

		if (run > 0 && tiling_extent(&t->x, i) >= depth) {
			t->dot.intrin = intrin->name;
			t->dot.iter = i;
			t->dot.depth = t->dot.taken = depth;
			t->dot.block = run;
			r->took_dot = true;
		}
	}
}

/* Loops of the block that starts the sums: the last are a vector. */
static bool
finish_start(struct rules *r, int start, int64_t lanes)
{
	int *loops, n;
	int64_t extent;

	if (!sched_get_loops(&r->s, start, &loops, &n) || n == 0 ||
	    !expr_is_int(func_find(r->s.func, loops[n - 1])->args[1],
			 &extent) ||
	    extent != lanes) {
		return false;
	}
	return sched_vectorize(&r->s, loops[n - 1]);
}

bool
tiling_split_dot(struct rules *r, const struct tiling *t, int reduction,
		 int *order, int *n, struct tile_loops *tile)
{
	const struct stmt *block = func_find(r->s.func, reduction);
	int parts[2];

	for (int i = *n - 1; i >= 0; i--) {
		if (tiling_driven(block, func_find(r->s.func, order[i])) !=
		    t->dot.iter) {
			continue;
		}
		if (t->dot.block == t->dot.taken) {
			tile->dot = order[i];
			memmove(order + i, order + i + 1,
				sizeof *order * (size_t)(*n - i - 1));
			--*n;
			tile->first = *n > 0 ? order[0] : 0;
			return true;
		}
		if (!sched_split(&r->s, order[i],
				 (int64_t[]){ 0, t->dot.taken }, 2, parts)) {
			return false;
		}
		tile->first = tile->first == order[i] ? parts[0] : tile->first;
		order[i] = parts[0];
		tile->dot = parts[1];
		return true;
	}
	return false;
}

bool
tiling_use_dot(struct rules *r, const struct tiling *t, int reduction,
	       struct tile_loops *tile)
{
	struct sched_value args[2] = { sv_loop(tile->lanes),
				       sv_string(t->dot.intrin) };
	int start;

	if (tile->first == 0 || tile->lanes == 0 ||
	    !sched_decompose_reduction(&r->s, reduction, tile->first, &start) ||
	    !finish_start(r, start, t->vector > 0 ? t->vector : t->lanes) ||
	    !sched_apply(&r->s, "tensorize", args, 2, NULL)) {
		return false;
	}
	tile->lanes = 0;
	strbuf_printf(&r->words, ", %s", t->dot.intrin);
	return true;
}
