/* SPDX-License-Identifier: Apache-2.0 */
/* Index maps from what a user writes: the forward direction alone. */
#ifndef TIRC_INDEX_MAP_INVERSE_H
#define TIRC_INDEX_MAP_INVERSE_H

#include "index_map.h"

/* The map i0, i1, … -> exprs over an array of the given logical shape; vars
 * are its n_vars variables. The physical shape and the way back are found with
 * the analysis of iter_map.h. Where the exprs leave elements of the physical
 * shape without a logical one (a split that does not divide), to_logical is
 * that of the padded array and in_range tells them; else in_range is NULL.
 * False with the reason ("…; what to do", in m's arena) in *why if two
 * elements could share a place or the exprs are not quasi-affine. */
bool index_map_from_forward(struct module *m, struct var *const *vars,
			    int n_vars, const struct expr *const *exprs,
			    int n_exprs, const struct expr *const *shape,
			    struct index_map **out, const char **why);
/* The map back: physical becomes logical. Only without padding (in_range is
 * NULL); else NULL. */
struct index_map *index_map_inverse(struct module *m,
				    const struct index_map *map,
				    const struct expr *const *shape);

#endif
