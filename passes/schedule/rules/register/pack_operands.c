/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts in which the lanes of a register tile's operands are next to each
 * other.
 *
 * Constants are stored in this layout. An operand that is not constant and
 * whose lanes lie far apart is copied, one block of lanes at a time, outside of
 * the loops that reuse the copy:
 *
 *   for i_o, j_o:                      for j_o:
 *     for k:                             for j, k: pack[k][j] = x2[j][k]
 *       for i_i, j_i (16):         ->    for i_o:
 *         acc += x[i][k] * x2[j][k]        for k:
 *                                            for i_i, j_i (16):
 *                                              acc += x[i][k] * pack[k][j]
 *
 * Constants of 4 bits are packed in pairs: a byte holds the elements of two
 * steps of the reduction, so that the lanes of one step are contiguous and in
 * the same half of each byte: w[k][j] -> w[k / 2][j][k % 2]. */
#include "decision.h"
#include "edit.h"
#include "layout_map.h"
#include "register_tile.h"

/* If each element of the copy is used fewer times than this, the copy takes
 * longer than it saves. */
enum { LEAST_USES = 4 };

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

/* Appends physical indices for the lane index l to the map: the number of the
 * vector and the lane in the vector; if there is only one vector, only the
 * lane. */
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
		       ? rules_blocked_by(&t->x, iter, false)
		       : 0;
}

/* Does a dot product sum along dimension d of the operand? */
static bool
is_dot_dim(const struct tiling *t, const struct load_access *operand, int d)
{
	return t->dot.intrin != NULL && t->dot.iter >= 0 &&
	       operand->dim[t->dot.iter] == d;
}

static bool
is_paired(const struct load_access *operand)
{
	return operand->weight != NULL && operand->weight->paired;
}

/* The physical dimension of a layout whose elements are packed in pairs, and
 * its extent. */
struct pairing {
	int at; /* its number */
	int64_t extent;
};

/* Does a reduction axis index dimension d of the operand? */
static bool
is_summed(const struct tiling *t, const struct load_access *operand, int d)
{
	const struct block *info = t->x.info;

	for (int i = 0; i < info->n_iters; i++) {
		if (info->iters[i].kind == ITER_REDUCE &&
		    expr_uses_var(operand->load->args[d], info->iters[i].var)) {
			return true;
		}
	}
	return false;
}

/* Replaces *p by the dimension `at` if that dimension is better: an even extent
 * is better than an odd one; if both are even or both odd, the longer one is
 * better. */
static void
offer_pairs(struct pairing *p, int at, int64_t extent)
{
	bool better = extent % 2 == p->extent % 2 ? extent > p->extent
						  : extent % 2 == 0;

	if (better) {
		*p = (struct pairing){ at, extent };
	}
}

static void
put_pairs(struct module *m, struct index_map *map, const struct pairing *p)
{
	const struct expr *e = map->to_physical[p->at];

	map->to_physical[p->at] = quotient(m, e, 2);
	rules_map_put(map, rest(m, e, 2));
}

/* The layout [..][d][..] -> [..][d / lanes][..][lanes] of the operand's buffer,
 * where the lanes' loop indexes d. The lanes are last; the positions within
 * blocks of other axes precede them. With panels, d / lanes comes first, so
 * that a panel is contiguous. NULL if d's size is not constant. */
static const struct index_map *
lanes_last(struct rules *r, const struct tiling *t,
	   const struct load_access *operand)
{
	struct module *m = r->module;
	const struct buffer *b = operand->load->u.buffer;
	struct index_map *map = rules_map_new(m, b->ndim, 2 * b->ndim + 5);
	int lane = operand->dim[t->lane];
	const struct expr *l = map->logical[lane]->expr;
	int64_t *block = arena_array(&m->arena, int64_t, b->ndim + 1);
	struct pairing pairs = { t->panels ? 0 : lane, 1 };
	const struct expr *lanes = rules_number(r, t->lanes_number);
	int64_t extent;

	if (operand->weight != NULL && !expr_is_int(b->shape[lane], &extent)) {
		return NULL;
	}
	for (int i = 0; i < t->x.info->n_iters; i++) {
		int d = operand->dim[i];

		if (d >= 0 && tiling_block(t, i) > 0) {
			block[d] = tiling_block(t, i);
		}
	}
	if (t->panels) {
		rules_map_put(map, expr_floordiv(m, l, lanes));
	}
	for (int d = 0; d < b->ndim; d++) {
		const struct expr *i = map->logical[d]->expr;

		if (d == lane && t->panels) {
			continue;
		}
		if (d != lane && block[d] == 0 && is_summed(t, operand, d) &&
		    expr_is_int(b->shape[d], &extent)) {
			offer_pairs(&pairs, map->n_physical, extent);
		}
		rules_map_put(map, d == lane      ? expr_floordiv(m, i, lanes)
				   : block[d] > 0 ? quotient(m, i, block[d])
						  : i);
	}
	for (int d = 0; d < b->ndim; d++) {
		const struct expr *i = map->logical[d]->expr;

		if (!is_dot_dim(t, operand, d)) {
			if (block[d] > 0) {
				offer_pairs(&pairs, map->n_physical, block[d]);
				rules_map_put(map, rest(m, i, block[d]));
			}
		} else if (block[d] > t->dot.depth) {
			rules_map_put(map, quotient(m, rest(m, i, block[d]),
						    t->dot.depth));
		}
	}
	put_lanes(m, t, map, expr_floormod(m, l, lanes));
	for (int d = 0; d < b->ndim; d++) {
		if (is_dot_dim(t, operand, d)) {
			rules_map_put(map, rest(m, map->logical[d]->expr,
						t->dot.depth));
		}
	}
	if (is_paired(operand)) {
		put_pairs(m, map, &pairs);
	}
	return map;
}

/* If the operand is a constant that the loop over lanes indexes, gives it the
 * layout of lanes_last(), unless the lanes are already last. Any other operand
 * keeps its layout, and the result is true. False if the layout is impossible,
 * for example because the lanes' dimension has a symbolic size. */
static bool
pack_operand(struct rules *r, const struct tiling *t,
	     const struct load_access *operand)
{
	const struct buffer *b = operand->load->u.buffer;
	int d = operand->dim[t->lane], index = 0;
	const struct index_map *map;

	if (operand->weight == NULL || operand->use[t->lane] != AXIS_PLAIN ||
	    (d == b->ndim - 1 && t->dot.intrin == NULL && !t->padded &&
	     !t->panels && !is_paired(operand))) {
		return true;
	}
	map = lanes_last(r, t, operand);
	while (t->x.block->u.block->reads[index].buffer != b) {
		index++;
	}
	if (map == NULL ||
	    !sched_transform_layout(&r->s, t->x.block->id, false, index, map)) {
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

/* Gives the accumulators the layout [..][lanes], so that a row of lanes is a
 * vector. False after a failure. */
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

/* Can the address of a load, on this target, only be a register plus a
 * constant, as on small processors? Then the lanes of a row are at offsets from
 * one address only if the lanes of the next row follow them; else compilers
 * compute an address for each lane. */
static bool
has_offsets_alone(const struct target *t)
{
	return t->vector_bytes == 0 && !target_has_vectors(t);
}

bool
tiling_packs_panels(const struct rules *r, const struct tiling *t)
{
	const struct load_access *a = t->operand;
	int64_t elems;

	int64_t most = r->target->l2_bytes / (t->repeated ? 4 : 1);

	if (a == NULL || a->weight == NULL ||
	    a->dim[t->lane] != a->load->n_args - 1 ||
	    tiling_extent(&t->x, t->lane) <= t->lanes) {
		return false;
	}
	if (t->dot.intrin == NULL && has_offsets_alone(r->target)) {
		return true;
	}
	return r->target->block_elems > 0 &&
	       buffer_const_elems(a->load->u.buffer, &elems) &&
	       (is_paired(a) || elems * dtype_bytes(a->load->type) > most);
}

/* See register_tile.h. True if the operand is not constant, its lanes lie far
 * apart, and each element is used for several rows. One block of lanes must fit
 * half of the second-level cache. */
bool
tiling_copies_operand(const struct rules *r, const struct tiling *t)
{
	const struct load_access *a = t->operand;
	int64_t bytes = t->lanes;
	double uses = 1;

	if (a == NULL || a->weight != NULL || t->granularity > 0 ||
	    a->dim[t->lane] < 0 || a->dim[t->lane] == a->load->n_args - 1) {
		return false;
	}
	for (int l = 0; l < t->x.n_loads; l++) {
		if (&t->x.loads[l] != a &&
		    t->x.loads[l].load->u.buffer == a->load->u.buffer) {
			return false;
		}
	}
	for (int i = 0; i < t->x.info->n_iters; i++) {
		if (t->x.info->iters[i].kind != ITER_REDUCE) {
			uses *= a->use[i] == AXIS_UNUSED ? (double)t->x.most[i]
							 : 1;
		} else if (a->use[i] == AXIS_PLAIN) {
			bytes *= tiling_extent(&t->x, i);
		} else if (a->use[i] != AXIS_UNUSED) {
			return false;
		}
	}
	bytes *= dtype_bytes(a->load->type);
	return uses >= LEAST_USES && bytes > 0 &&
	       bytes <= r->target->l2_bytes / 2;
}

/* Finds t's loads again. False after a failure. */
static bool
find_loads(struct rules *r, struct tiling *t, int reduction)
{
	int operand = (int)(t->operand - t->x.loads);

	if (!rules_access(r, reduction, &t->x)) {
		return false;
	}
	t->operand = &t->x.loads[operand];
	return true;
}

/* Makes the block, *copy, that copies the operand into a local array of this
 * name, and finds t's loads again. False after a failure. */
static bool
cache_operand(struct rules *r, struct tiling *t, int reduction,
	      const char *name, int *copy)
{
	const struct buffer *b = t->operand->load->u.buffer;

	return sched_cache_read(&r->s, reduction,
				rules_read_index(r, reduction, b), "local",
				copy) &&
	       sched_rename_buffer(&r->s, *copy, 0, name) &&
	       find_loads(r, t, reduction);
}

bool
tiling_widen(struct rules *r, struct tiling *t, int reduction)
{
	const char *type = dtype_name(t->x.out->type);
	const char *name = t->operand->load->u.buffer->name;
	const char *wide = arena_printf(&r->module->arena, "%s_wide", name);
	int copy;

	/* tiling_pack may have given the constants another layout. */
	if (!find_loads(r, t, reduction) ||
	    !cache_operand(r, t, reduction, wide, &copy)) {
		return false;
	}
	strbuf_printf(&r->words, ", %s copied as %s", name, type);
	return sched_apply(&r->s, "unsafe_set_dtype",
			   (struct sched_value[]){ sv_block(copy), sv_int(0),
						   sv_string(type) },
			   3, NULL) &&
	       find_loads(r, t, reduction);
}

bool
tiling_copy_operand(struct rules *r, struct tiling *t, int reduction, int *copy)
{
	const struct buffer *b = t->operand->load->u.buffer;

	if (!cache_operand(r, t, reduction, "pack", copy)) {
		return false;
	}
	strbuf_printf(&r->words, ", %s copied by %lld lanes", b->name,
		      (long long)t->lanes);
	return true;
}

bool
tiling_place_copy(struct rules *r, const struct tiling *t, int copy, int at)
{
	const struct index_map *map;

	if (at != 0 && !sched_compute_at(&r->s, copy, at)) {
		return false;
	}
	map = lanes_last(r, t, t->operand);
	return map != NULL && sched_transform_layout(&r->s, copy, true, 0, map);
}
