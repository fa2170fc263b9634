/* SPDX-License-Identifier: Apache-2.0 */
/* Fuses the rows and columns of an image into one axis:
 *
 *   y[oc, oh, ow] += x[ic, oh, ow] * w[oc, ic]
 *   ->  y[oc, p // W, p % W] += x[ic, p // W, p % W] * w[oc, ic] */
#include "edit.h"
#include "layout_map.h"
#include "nest.h"

/* Do the axis `outer` and the axis after it (inner) index adjacent dimensions
 * in every access that uses one of them, and does inner run over the whole
 * extent of its dimension? */
static bool
is_contiguous(const struct block_access *x, int outer)
{
	int inner = outer + 1;

	for (int l = -1; l < x->n_loads; l++) {
		const struct load_access *a = l < 0 ? &x->store : &x->loads[l];
		const struct buffer *b = l < 0 ? x->out : a->load->u.buffer;

		if (a->use[outer] == AXIS_UNUSED &&
		    a->use[inner] == AXIS_UNUSED) {
			continue;
		}
		if (a->use[outer] != AXIS_PLAIN ||
		    a->use[inner] != AXIS_PLAIN ||
		    a->dim[inner] != a->dim[outer] + 1 ||
		    b->shape[a->dim[inner]] != x->info->iters[inner].extent) {
			return false;
		}
	}
	return true;
}

/* The map (.., i, j, ..) -> (.., i * columns + j, ..) of n indices, where i is
 * index number outer. */
static struct index_map *
fusing_map(struct module *m, int n, int outer, int64_t columns)
{
	struct index_map *map = rules_map_new(m, n, n);

	for (int i = 0; i < n; i++) {
		const struct expr *e = map->logical[i]->expr;

		if (i == outer) {
			e = expr_add(m, expr_mul(m, e, expr_i32(m, columns)),
				     map->logical[++i]->expr);
		}
		rules_map_put(map, e);
	}
	return map;
}

static bool
fuse_block(struct rules *r, int block, int outer, int64_t columns)
{
	int n = func_find(r->s.func, block)->u.block->n_iters;

	return rules_transform_block(r, block,
				     fusing_map(r->module, n, outer, columns));
}

bool
rules_fuse_last_axes(struct rules *r, int block)
{
	struct block_access x;
	const char *names[2];
	int64_t rows, columns;
	int outer, loops[MAX_AXES];

	if (!rules_access(r, block, &x) || x.info->n_iters < 2) {
		return false;
	}
	outer = x.info->n_iters - 2;
	if (x.info->iters[outer].kind != x.info->iters[outer + 1].kind ||
	    !is_contiguous(&x, outer) ||
	    !expr_is_int(x.info->iters[outer].extent, &rows) ||
	    !expr_is_int(x.info->iters[outer + 1].extent, &columns) ||
	    rows == 1 || columns == 1) {
		return false;
	}
	for (int i = 0; i < 2; i++) {
		names[i] = iter_axis_name(x.info->iters[outer + i].var->name);
	}
	return fuse_block(r, block, outer, columns) &&
	       rules_axis_loops(r, block, loops, outer + 1) &&
	       sched_rename_loop(&r->s, loops[outer],
				 arena_printf(&r->module->arena, "%s_%s",
					      names[0], names[1]));
}

bool
rules_fuse_spatial_axes(struct rules *r, const struct block_access *x,
			int reduction, int *output)
{
	int outer = x->n_spatial - 2;
	struct block_access e;
	int64_t columns;

	if (outer < 0 || !is_contiguous(x, outer) ||
	    !expr_is_int(x->info->iters[outer + 1].extent, &columns) ||
	    columns < 2 || expr_is_value(x->info->iters[outer].extent, 1)) {
		return false;
	}
	if (*output != reduction &&
	    (!rules_access(r, *output, &e) || e.n_spatial != x->n_spatial ||
	     e.n_reduce > 0 || !is_contiguous(&e, outer) ||
	     x->out->ndim != x->n_spatial || x->store.dim[outer] != outer)) {
		return false;
	}
	if (*output != reduction &&
	    (!fuse_block(r, *output, outer, columns) ||
	     !sched_transform_layout(&r->s, reduction, true, 0,
				     fusing_map(r->module, x->out->ndim, outer,
						columns)))) {
		return false;
	}
	return fuse_block(r, reduction, outer, columns);
}
