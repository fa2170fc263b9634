/* SPDX-License-Identifier: Apache-2.0 */
/* Dot-product instructions of the target inside of register tiles:
 *
 *   for ic_o, kh, kw:                    for ic_o, kh, kw, ic_4:
 *     for ic_i (16):                       for ow_1, oc_c:
 *       for ow_1, oc_c, oc_v (16):   ->      dot_16x4(x[..][ow_1][ic_4 * 4],
 *         acc += x * w                                w[..][ic_4][oc_c],
 *                                                     acc[ow_1][oc_c])
 *
 * The instruction's description says how many lanes it has, how many products
 * each lane sums (depth), and which types it takes. If all operands have the
 * lanes in blocks (depthwise convolutions), the instruction may multiply lane
 * by lane. */
#include <string.h>

#include "edit.h"
#include "nest.h"
#include "register_tile.h"

/* Reads the sizes from the instruction's description, desc(A[depth],
 * B[lanes][depth], C[lanes]). False if it has another form. */
static bool
dot_sizes(const struct product_desc *p, int64_t *lanes, int64_t *depth)
{
	const struct buffer *a = p->operand[0], *b = p->operand[1];

	return a->ndim == 1 && b->ndim == 2 &&
	       expr_is_int(b->shape[0], lanes) &&
	       expr_is_int(b->shape[1], depth);
}

/* Is the index v itself, or a sum of v and terms that do not use v? */
static bool
is_addend(const struct expr *index, const struct var *v)
{
	if (index->kind == EXPR_ADD) {
		bool first = expr_uses_var(index->args[0], v);

		return first != expr_uses_var(index->args[1], v) &&
		       is_addend(index->args[first ? 0 : 1], v);
	}
	return index->kind == EXPR_VAR && index->u.var == v;
}

/* Do the columns of a window follow each other in the data: is the last index
 * the sum of the axis and other axes, and does no other index use the axis? */
static bool
is_window(const struct tiling *t, const struct load_access *data, int iter)
{
	const struct var *v = t->x.info->iters[iter].var;
	int last = data->load->n_args - 1;

	for (int d = 0; d < last; d++) {
		if (expr_uses_var(data->load->args[d], v)) {
			return false;
		}
	}
	return is_addend(data->load->args[last], v);
}

/* The number of contiguous elements along the reduction axis in the data,
 * rounded down to a multiple of depth; 0: the elements are not contiguous. */
static int64_t
run_of(const struct tiling *t, const struct load_access *data, int iter,
       int64_t depth)
{
	int64_t extent = tiling_extent(&t->x, iter);

	if (t->x.info->iters[iter].kind != ITER_REDUCE ||
	    t->operand->use[iter] != AXIS_PLAIN) {
		return 0;
	}
	if (t->by_columns && is_window(t, data, iter) && extent % depth == 0) {
		return depth;
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

/* The last reduction axis along which the data has enough contiguous elements
 * for the instruction; sets *run to the number of these elements. -1: there is
 * no such axis. */
static int
axis_of(const struct tiling *t, int64_t depth, int64_t *run)
{
	const struct load_access *data =
		&t->x.loads[t->operand == &t->x.loads[0]];
	int found = -1;

	for (int i = 0; i < t->x.info->n_iters; i++) {
		int64_t n = run_of(t, data, i, depth);

		if (n > 0 && tiling_extent(&t->x, i) >= depth) {
			found = i;
			*run = n;
		}
	}
	return found;
}

/* Is the instruction p described as desc(A[lanes], B[lanes], C[lanes]), with as
 * many lanes as the tile, which all operands of the sum have in blocks? */
static bool
fits_lanes(const struct tiling *t, const struct product_desc *p)
{
	const struct buffer *a = p->operand[0], *b = p->operand[1];
	int64_t n;

	return t->operand == NULL && a->ndim == 1 && b->ndim == 1 &&
	       expr_is_int(a->shape[0], &n) && n == t->lanes &&
	       expr_is_value(b->shape[0], n);
}

bool
tiling_fits_dot(struct tiling *t, const struct product_desc *p)
{
	int64_t lanes, depth, run;

	if (fits_lanes(t, p)) {
		t->dot_lanes = t->lanes;
		t->dot_depth = 1;
		return true;
	}
	if (t->operand == NULL || !dot_sizes(p, &lanes, &depth) ||
	    axis_of(t, depth, &run) < 0) {
		return false;
	}
	t->dot_lanes = lanes;
	t->dot_depth = depth;
	return true;
}

bool
tiling_find_dot(struct tiling *t, const struct product_desc *p)
{
	if (!tiling_fits_dot(t, p) ||
	    (t->vector > 0 ? t->vector : t->lanes) != t->dot_lanes) {
		return false;
	}
	t->dot.intrin = p->multiply->name;
	t->dot.depth = t->dot.per_call = t->dot_depth;
	t->dot.iter = t->operand == NULL
			      ? -1
			      : axis_of(t, t->dot_depth, &t->dot.block);
	return true;
}

/* Vectorizes the innermost loop of the init block, which must have `lanes`
 * iterations. False after a failure. */
static bool
vectorize_init(struct rules *r, int init, int64_t lanes)
{
	int *loops, n;
	int64_t extent;

	if (!sched_get_loops(&r->s, init, &loops, &n) || n == 0 ||
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

	if (t->dot.iter < 0) {
		return true; /* the dot product sums along no loop */
	}
	for (int i = *n - 1; i >= 0; i--) {
		if (rules_driven_iter(block, func_find(r->s.func, order[i])) !=
		    t->dot.iter) {
			continue;
		}
		if (t->dot.block == t->dot.per_call) {
			tile->dot = order[i];
			memmove(order + i, order + i + 1,
				sizeof *order * (size_t)(*n - i - 1));
			--*n;
			tile->first = *n > 0 ? order[0] : 0;
			return true;
		}
		if (!sched_split(&r->s, order[i],
				 (int64_t[]){ 0, t->dot.per_call }, 2, parts)) {
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
	int init;

	if (tile->first == 0 || tile->lanes == 0 ||
	    !sched_decompose_reduction(&r->s, reduction, tile->first, &init) ||
	    !vectorize_init(r, init, t->vector > 0 ? t->vector : t->lanes) ||
	    !rules_tensorize(r, tile->lanes, t->dot.intrin)) {
		return false;
	}
	tile->lanes = 0;
	strbuf_printf(&r->words, ", %s", t->dot.intrin);
	return true;
}
