/* SPDX-License-Identifier: Apache-2.0 */
/* Index maps of layouts. */
#ifndef TIRC_LAYOUT_MAP_H
#define TIRC_LAYOUT_MAP_H

#include "access_pattern.h"

/* rules_map_new makes an index map of n logical indices with room for n_most
 * physical indices; rules_map_put appends the physical index e. */
struct index_map *rules_map_new(struct module *m, int n, int n_most);
void rules_map_put(struct index_map *map, const struct expr *e);
/* Replaces the block's iter vars and loops by the physical indices of the map
 * (transform_block_layout). False after a failure. */
bool rules_transform_block(struct rules *r, int block,
			   const struct index_map *map);
/* Gives the constant that the block loads by `a` a layout with the reduced axes
 * (or all other axes) in the last dimensions. Does nothing if these axes are
 * already last, or if an index of the load is not an axis. Descriptions of the
 * block's accesses must be made anew afterwards. False after a failure. */
bool rules_pack_last(struct rules *r, int block, const struct load_access *a,
		     bool reduced);

#endif
