/* SPDX-License-Identifier: Apache-2.0 */
#include "index_map.h"

#include "module.h"

const struct index_map *
index_map_substitute(struct module *m, const struct index_map *map,
		     const struct var_map *values)
{
	const struct expr **to = arena_exprs(&m->arena, map->n_physical + 1);
	struct index_map *out;
	bool any = false;

	for (int i = 0; i < map->n_physical; i++) {
		to[i] = expr_substitute(m, map->to_physical[i], values);
		any |= to[i] != map->to_physical[i];
	}
	if (!any) {
		return map;
	}
	out = arena_copy(&m->arena, map, sizeof *map);
	out->to_physical = to;
	return out;
}
