/* SPDX-License-Identifier: Apache-2.0 */
/* Index maps of layouts, and layouts with some dimensions last. */
#include "layout_map.h"

struct index_map *
rules_map_new(struct module *m, int n, int n_most)
{
	struct index_map *map = arena_new(&m->arena, struct index_map);

	map->n_logical = n;
	map->logical = arena_array(&m->arena, struct var *, n);
	map->to_physical = arena_array(&m->arena, const struct expr *, n_most);
	for (int i = 0; i < n; i++) {
		map->logical[i] = var_new(m, "l", dtype_of(DT_I32));
	}
	return map;
}

void
rules_map_put(struct index_map *map, const struct expr *e)
{
	map->to_physical[map->n_physical++] = e;
}

bool
rules_transform_block(struct rules *r, int block, const struct index_map *map)
{
	struct sched_value args[2] = { sv_block(block), sv_map(map) };

	return sched_apply(&r->s, "transform_block_layout", args, 2, NULL);
}

/* Sets is_last[d] for the dimensions d that reduction axes (if reduced) or
 * other axes (if not) index. False if an index is not an axis. */
static bool
find_last_dims(const struct block_access *x, const struct load_access *a,
	       bool reduced, bool *is_last)
{
	int found = 0;

	for (int i = 0; i < x->info->n_iters; i++) {
		bool reduces = x->info->iters[i].kind != ITER_SPATIAL;

		if (a->use[i] == AXIS_UNUSED) {
			continue;
		}
		if (a->use[i] != AXIS_PLAIN || a->dim[i] < 0) {
			return false;
		}
		is_last[a->dim[i]] = reduces == reduced;
		found++;
	}
	return found == a->load->n_args;
}

bool
rules_pack_last(struct rules *r, int block, const struct load_access *a,
		bool reduced)
{
	struct arena *arena = &r->module->arena;
	struct block_access x;
	int n = a->load->n_args, index = 0;
	bool *is_last = arena_array(arena, bool, n + 1), sorted = true;
	struct index_map *map;

	if (!rules_access(r, block, &x) ||
	    !find_last_dims(&x, a, reduced, is_last)) {
		return true;
	}
	for (int d = 1; d < n; d++) {
		sorted &= !is_last[d - 1] || is_last[d];
	}
	if (sorted) {
		return true;
	}
	map = rules_map_new(r->module, n, n);
	for (int last = 0; last < 2; last++) {
		for (int d = 0; d < n; d++) {
			if (is_last[d] == (last == 1)) {
				rules_map_put(map, map->logical[d]->expr);
			}
		}
	}
	while (x.info->reads[index].buffer != a->load->u.buffer) {
		index++;
	}
	return sched_transform_layout(&r->s, block, false, index, map);
}
