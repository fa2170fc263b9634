/* SPDX-License-Identifier: Apache-2.0 */
/* Index maps, which describe the layouts of arrays. */
#ifndef TIRC_INDEX_MAP_H
#define TIRC_INDEX_MAP_H

#include "expr.h"

/* A layout: physical index expressions of the logical index variables
 * (to_physical), and logical ones of the physical variables (to_logical). */
struct index_map {
	int n_logical, n_physical;
	struct var **logical;            /* variables */
	const struct expr **to_physical; /* of logical */
	const struct expr **physical_shape;
	struct var **physical;          /* variables */
	const struct expr **to_logical; /* of physical */
	/* the condition under which a physical element has logical indices;
	 * NULL: every physical element has them */
	const struct expr *in_range;
};

/* The map with other variables in its physical indices replaced: those that are
 * not logical variables, for example sampled values, get their values in
 * `values`. The map itself if it has no such variables. */
const struct index_map *index_map_substitute(struct module *m,
					     const struct index_map *map,
					     const struct var_map *values);

#endif
