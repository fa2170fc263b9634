/* SPDX-License-Identifier: Apache-2.0 */
/* Making a register tile: storing constants for it, ordering its loops. */
#include "sched_edit.h"
#include "sched_tiling.h"

static const struct expr *
quotient(struct module *m, const struct expr *e, int64_t c)
{
	return expr_floordiv(m, e, expr_i32(m, c));
}

static const struct expr *
rest(struct module *m, const struct expr *e, int64_t c)
{
	return expr_floormod(m, e, expr_i32(m, c));
}

/* The lanes of l, as whole vectors if there are several. */
static void
put_lanes(struct module *m, const struct tiling *t, struct index_map *map,
	  const struct expr *l)
{
	if (t->vector > 0) {
		rules_map_put(map, quotient(m, l, t->vector));
		l = rest(m, l, t->vector);
	}
	rules_map_put(map, l);
}

/* By how many an axis that is summed over is blocked; 0: it is not. */
int64_t
tiling_block(const struct tiling *t, int iter)
{
	if (iter == t->part) {
		return t->part_block;
	}
	if (t->dot.intrin != NULL && iter == t->dot.iter) {
		return t->dot.block;
	}
	return t->x.info->iters[iter].kind == ITER_REDUCE
		? rules_blocked_by(&t->x, iter, false) : 0;
}

/* Is dimension d the one whose elements a dot product takes together? */
static bool
is_dot_dim(const struct tiling *t, const struct load_access *operand, int d)
{
	return t->dot.intrin != NULL && operand->dim[t->dot.iter] == d;
}

/* [..][d][..] -> [..][d / lanes][..][lanes]: the lanes last, and before them
 * what is left of axes that others have in blocks. */
static const struct index_map *
lanes_last(struct rules *r, const struct tiling *t,
	   const struct load_access *operand)
{
	struct module *m = r->module;
	const struct buffer *b = operand->load->u.buffer;
	struct index_map *map = rules_map_new(m, b->ndim, 2 * b->ndim + 4);
	int lane = operand->dim[t->lane];
	const struct expr *l = map->logical[lane]->expr;
	int64_t *block = arena_array(&m->arena, int64_t, b->ndim + 1);
	int64_t extent;

	if (!expr_is_int(b->shape[lane], &extent)) {
		return NULL;
	}
	for (int i = 0; i < t->x.info->n_iters; i++) {
		int d = operand->dim[i];

		if (d >= 0 && tiling_block(t, i) > 0) {
			block[d] = tiling_block(t, i);
		}
	}
	for (int d = 0; d < b->ndim; d++) {
		const struct expr *i = map->logical[d]->expr;

		rules_map_put(map, d == lane ? quotient(m, i, t->lanes)
			     : block[d] > 0 ? quotient(m, i, block[d]) : i);
	}
	for (int d = 0; d < b->ndim; d++) {
		const struct expr *i = map->logical[d]->expr;

		if (!is_dot_dim(t, operand, d)) {
			if (block[d] > 0) {
				rules_map_put(map, rest(m, i, block[d]));
			}
		} else if (block[d] > t->dot.depth) {
			rules_map_put(map, quotient(m, rest(m, i, block[d]),
						    t->dot.depth));
		}
	}
	put_lanes(m, t, map, rest(m, l, t->lanes));
	for (int d = 0; d < b->ndim; d++) {
		if (is_dot_dim(t, operand, d)) {
			rules_map_put(map, rest(m, map->logical[d]->expr,
						t->dot.depth));
		}
	}
	return map;
}

/* Stores a constant with the lanes last, unless it is so already. */
static bool
pack_operand(struct rules *r, const struct tiling *t,
	     const struct load_access *operand)
{
	const struct buffer *b = operand->load->u.buffer;
	int d = operand->dim[t->lane], index = 0;
	const struct index_map *map;

	if (operand->weight == NULL || operand->use[t->lane] != AXIS_PLAIN ||
	    (d == b->ndim - 1 && t->dot.intrin == NULL)) {
		return true;
	}
	map = lanes_last(r, t, operand);
	while (t->x.block->u.block->reads[index].buffer != b) {
		index++;
	}
	if (map == NULL ||
	    !sched_transform_layout(&r->s, t->x.block->id, false, index,
				    map)) {
		return false;
	}
	strbuf_printf(&r->words, ", %s packed by %lld", b->name,
		      (long long)t->lanes);
	return true;
}

bool
tiling_pack(struct rules *r, const struct tiling *t)
{
	for (int l = 0; l < t->x.n_loads; l++) {
		if (!pack_operand(r, t, &t->x.loads[l])) {
			return false;
		}
	}
	return true;
}

/* The accumulators as [..][lanes], so that a row of lanes is a vector. */
bool
tiling_lanes_last(struct rules *r, const struct tiling *t)
{
	const struct buffer *b = t->x.out;
	int n = b->ndim;
	struct index_map *map = rules_map_new(r->module, n, n + 1);

	for (int i = 0; i < n; i++) {
		if (i != t->lane) {
			rules_map_put(map, map->logical[i]->expr);
		}
	}
	put_lanes(r->module, t, map, map->logical[t->lane]->expr);
	return (t->lane == n - 1 && t->vector == 0) ||
	       sched_transform_layout(&r->s, t->x.block->id, true, 0, map);
}

/* The lanes' loop as one over vectors and one over the lanes of a vector;
 * vectors is 0 where there is one. */
bool
tiling_split_vectors(struct rules *r, const struct tiling *t, int *vectors,
		     int *lane_loop)
{
	const char *axis = iter_axis_name(t->x.info->iters[t->lane].var->name);
	struct arena *a = &r->module->arena;
	int parts[2];

	*vectors = 0;
	if (t->vector == 0 || *lane_loop == 0) {
		return true;
	}
	if (!sched_split(&r->s, *lane_loop, (int64_t[]){ 0, t->vector }, 2,
			 parts) ||
	    !sched_rename_loop(&r->s, parts[0],
			       arena_printf(a, "%s_c", axis)) ||
	    !sched_rename_loop(&r->s, parts[1],
			       arena_printf(a, "%s_v", axis))) {
		return false;
	}
	*vectors = parts[0];
	*lane_loop = parts[1];
	return true;
}

/* The iter var that the loop drives, -1 if none. */
int
tiling_driven(const struct stmt *block, const struct stmt *loop)
{
	int drives = -1;

	for (int k = 0; k < block->u.block->n_iters; k++) {
		if (expr_uses_var(block->args[1 + k], loop->u.loop.var)) {
			drives = k;
		}
	}
	return drives;
}

/* Loops of the reduction below the tile's loop: those that sum, then their
 * parts within blocks, then the tile and the lanes. */
bool
tiling_order(struct rules *r, const struct tiling *t, int reduction,
	     int below, struct tile_loops *tile)
{
	int *loops, n;
	struct stmt *block = func_find(r->s.func, reduction);
	int order[4 * MAX_AXES], n_order = 0, inner[2 * MAX_AXES], n_inner = 0;
	bool inside = below == 0;

	*tile = (struct tile_loops){ 0 };
	if (!sched_get_loops(&r->s, reduction, &loops, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		const struct stmt *loop = func_find(r->s.func, loops[i]);
		int drives, parts[2];
		int64_t c;

		if (!inside) {
			inside = loops[i] == below;
			continue;
		}
		drives = tiling_driven(block, loop);
		c = drives >= 0 ? tiling_block(t, drives) : 0;
		if (drives == t->lane) {
			tile->lanes = loops[i];
		} else if (drives == t->tile && t->tile >= 0) {
			tile->tile = loops[i];
		} else if (n_order + n_inner >= 2 * MAX_AXES - 3) {
			return false;
		} else if (c == 0) {
			order[n_order++] = loops[i];
		} else if (tiling_extent(&t->x, drives) == c) {
			inner[n_inner++] = loops[i];
		} else {
			if (!sched_split(&r->s, loops[i],
					 (int64_t[]){ 0, c }, 2, parts)) {
				return false;
			}
			order[n_order++] = parts[0];
			inner[n_inner++] = parts[1];
		}
	}
	if (!tiling_split_vectors(r, t, &tile->vectors, &tile->lanes)) {
		return false;
	}
	for (int i = 0; i < n_inner; i++) {
		order[n_order++] = inner[i];
	}
	tile->first = n_order > 0 ? order[0] : 0;
	if (t->dot.intrin != NULL &&
	    !tiling_split_dot(r, t, reduction, order, &n_order, tile)) {
		return false;
	}
	for (int i = 0; i < 4; i++) {
		int loop = i == 0 ? tile->tile
			 : i == 1 ? tile->vectors
			 : i == 2 ? tile->lanes : tile->dot;

		if (loop != 0) {
			order[n_order++] = loop;
		}
	}
	return n_order < 2 || sched_reorder(&r->s, order, n_order);
}

/* Outer and inner loop of an axis; no outer one where the tile is all. */
bool
tiling_split(struct rules *r, const struct tiling *t, int axis, int64_t size,
	     const int *loops, int *split)
{
	const int64_t factors[2] = { 0, size };

	split[0] = 0;
	split[1] = loops[axis];
	return tiling_extent(&t->x, axis) == size ||
	       sched_split(&r->s, loops[axis], factors, 2, split);
}

void
tiling_finish(struct rules *r, const struct tile_loops *tile)
{
	if (tile->lanes != 0) {
		sched_vectorize(&r->s, tile->lanes);
	}
	if (tile->vectors != 0) {
		sched_unroll(&r->s, tile->vectors);
	}
	if (tile->tile != 0) {
		sched_unroll(&r->s, tile->tile);
	}
}
