/* SPDX-License-Identifier: Apache-2.0 */
/* The layouts of a kernel's parameters after scheduling: constants are stored
 * in the layouts that the schedule chose; tensors that other kernels access
 * keep theirs. */
#include "index_map_inverse.h"
#include "sched_rules.h"

/* The composition of two maps, `first` before `map`, over an array with the
 * shape of `from`; NULL: it is not an index map. */
static const struct index_map *
composed(struct module *m, const struct index_map *first,
	 const struct index_map *map, const struct buffer *from)
{
	struct var_map in = { map->logical, first->to_physical,
			      map->n_logical };
	const struct expr **exprs = arena_array(&m->arena, const struct expr *,
						map->n_physical + 1);
	struct index_map *out;
	const char *why;

	for (int i = 0; i < map->n_physical; i++) {
		exprs[i] = expr_substitute(m, map->to_physical[i], &in);
	}
	return index_map_from_forward(m, first->logical, first->n_logical,
				      exprs, map->n_physical, from->shape, &out,
				      &why)
		       ? out
		       : NULL;
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

bool
sched_adopt_layouts(const struct sched *s, struct kernel *k)
{
	struct module *m = s->module;

	for (int i = 0; i < k->args.n; i++) {
		struct kernel_arg *arg = &k->args.data[i];
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
			map = map ? composed(m, map, step->map, arg->buffer)
				  : step->map;
			if (!map || !same_shape(map, at)) {
				return refuse(m, k,
					      "the two maps do not compose "
					      "to an index map; give one map",
					      at);
			}
		}
		if (map) {
			arg->weight->map = map;
		}
	}
	return true;
}
