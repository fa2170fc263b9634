/* SPDX-License-Identifier: Apache-2.0 */
/* The layouts of a kernel's parameters after scheduling: constants are stored
 * in the layouts that the schedule chose; tensors that other kernels access
 * keep theirs. */
#include "default_schedule.h"
#include "index_map_inverse.h"

static const struct expr **
substituted(struct module *m, const struct expr *const *exprs, int n,
	    const struct var_map *map)
{
	const struct expr **out = arena_array(&m->arena, const struct expr *,
					      n + 1);

	for (int i = 0; i < n; i++) {
		out[i] = expr_substitute(m, exprs[i], map);
	}
	return out;
}

/* The composition of two maps, `first` and then `map`. Elements that are
 * padding in either map are padding of the result. NULL if one of the two maps
 * has no inverse. */
static const struct index_map *
composed(struct module *m, const struct index_map *first,
	 const struct index_map *map)
{
	struct var_map in = { map->logical, first->to_physical,
			      map->n_logical };
	struct var_map back = { first->physical, map->to_logical,
				first->n_physical };
	struct index_map *out = arena_copy(&m->arena, map, sizeof *map);

	if (first->to_logical == NULL || map->to_logical == NULL) {
		return NULL;
	}
	out->n_logical = first->n_logical;
	out->logical = first->logical;
	out->to_physical = substituted(m, map->to_physical, map->n_physical,
				       &in);
	out->to_logical = substituted(m, first->to_logical, first->n_logical,
				      &back);
	if (first->in_range) {
		const struct expr *range = expr_substitute(m, first->in_range,
							   &back);

		out->in_range = map->in_range
					? expr_and(m, map->in_range, range)
					: range;
	}
	return out;
}

static bool
same_shape(const struct index_map *map, const struct buffer *b)
{
	for (int d = 0; d < b->ndim; d++) {
		if (map->n_physical != b->ndim ||
		    map->physical_shape[d] != b->shape[d]) {
			return false;
		}
	}
	return true;
}

static bool
refuse(struct module *m, const struct kernel *k, const char *reason,
       const struct buffer *b)
{
	struct diag_place place = {
		.item = arena_printf(&m->arena, "kernel %s", k->name),
	};

	return diag_error(&m->diags, DIAG_BAD_SCHEDULE, place,
			  "transform_layout of %s: %s", b->name, reason);
}

/* Checks the layouts that the schedule chose for the constants of the kernel,
 * and, if `adopt`, gives them to the constants. */
static bool
go_through_layouts(const struct sched *s, const struct kernel *k, bool adopt)
{
	struct module *m = s->module;

	for (int i = 0; i < k->args.n; i++) {
		const struct kernel_arg *arg = &k->args.data[i];
		const struct buffer *at = arg->buffer;
		const struct index_map *map = NULL;

		for (int l = 0; at && l < s->layouts.n; l++) {
			const struct sched_layout *step = &s->layouts.data[l];

			if (step->from != at) {
				continue;
			}
			if (!arg->weight) {
				return refuse(m, k,
					      "other kernels access it in "
					      "its present layout; copy it "
					      "with cache_read or "
					      "cache_write, and change the "
					      "layout of the copy",
					      at);
			}
			at = step->to;
			map = map ? composed(m, map, step->map) : step->map;
			if (!map || !same_shape(map, at)) {
				return refuse(m, k,
					      "the two maps do not compose "
					      "to an index map; give one map",
					      at);
			}
		}
		if (map && adopt) {
			arg->weight->map = map;
		}
	}
	return true;
}

bool
sched_check_layouts(const struct sched *s, const struct kernel *k)
{
	return go_through_layouts(s, k, false);
}

bool
sched_adopt_layouts(const struct sched *s, struct kernel *k)
{
	return go_through_layouts(s, k, true);
}
