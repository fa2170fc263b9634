/* SPDX-License-Identifier: Apache-2.0 */
/* transform_layout and set_scope: where and how a buffer is stored. */
#include "index_map.h"
#include "sched_edit.h"

bool
prim_set_scope(struct edit *e, const struct sched_value *args,
	       struct sched_value *out)
{
	const struct stmt *b = edit_block(e, args[0].u.id);
	const struct buffer *old, *new;
	const char *scope = args[2].u.text;

	(void)out;
	old = b->u.block->writes[args[1].u.ival].buffer;
	if (is_param_buffer(e->f, old)) {
		return edit_fail(e, "%s is a parameter; only buffers inside "
				 "the function change their scope",
				 old->name);
	}
	new = buffer_with_scope(e->m, old, arena_strdup(&e->m->arena, scope));
	buffer_swap_all(e->f, old, new);
	return true;
}

struct relayout {
	struct module *module;
	const struct index_map *map;
};

static void
physical_index(void *ctx, const struct stmt *at,
	       const struct expr *const *old, const struct expr **new)
{
	const struct relayout *r = ctx;
	struct var_map map = { r->map->logical,
			       (const struct expr **)old,
			       r->map->n_logical };

	(void)at;
	for (int d = 0; d < r->map->n_physical; d++) {
		new[d] = expr_substitute(r->module, r->map->to_physical[d],
					 &map);
	}
}

struct alloc_swap {
	struct func *func;
	const struct buffer *from, *to;
};

/* Regions follow the accesses; what a block owns changes its identity. */
static bool
follow(void *ctx, struct stmt *s)
{
	const struct alloc_swap *w = ctx;

	if (s->kind != STMT_BLOCK) {
		return true;
	}
	if (scope_owns(s, w->from)) {
		struct block copy = *s->u.block;
		const struct buffer **list =
			arena_copy(&w->func->module->arena, copy.allocs,
				   sizeof(*copy.allocs) *
					   (size_t)copy.n_allocs);

		for (int i = 0; i < copy.n_allocs; i++) {
			list[i] = list[i] == w->from ? w->to : list[i];
		}
		copy.allocs = list;
		stmt_set_block(w->func, s, &copy);
	}
	for (int i = 0; i < s->u.block->n_reads + s->u.block->n_writes; i++) {
		const struct region *r =
			i < s->u.block->n_reads
				? &s->u.block->reads[i]
				: &s->u.block->writes[i -
						      s->u.block->n_reads];

		if (r->buffer == w->from) {
			block_refresh(w->func, s);
			break;
		}
	}
	return true;
}

/* The map with its way back; NULL after reporting. */
static const struct index_map *
both_ways(struct edit *e, const struct buffer *b, const struct index_map *map)
{
	struct index_map *full;
	const char *why;

	if (!index_map_from_forward(e->m, map->logical, map->n_logical,
				    map->to_physical, map->n_physical,
				    b->shape, &full, &why)) {
		edit_fail(e, "%s", why);
		return NULL;
	}
	return full;
}

bool
prim_transform_layout(struct edit *e, const struct sched_value *args,
		      struct sched_value *out)
{
	const struct block *block = edit_block(e, args[0].u.id)->u.block;
	const struct sched_value *which = args[1].items;
	const struct buffer *b =
		(strcmp(which[0].u.text, "write") == 0
			 ? block->writes
			 : block->reads)[which[1].u.ival].buffer;
	const struct index_map *map = args[2].u.map;
	struct relayout r = { .module = e->m };
	struct alloc_swap swap = { .func = e->f, .from = b };
	struct sched_layout layout = { .from = b };

	(void)out;
	if (map->n_logical != b->ndim || b->strides) {
		return edit_fail(e, "%s has %d dimensions, the map takes %d",
				 b->name, b->ndim, map->n_logical);
	}
	r.map = layout.map = both_ways(e, b, map);
	if (!r.map || !edit_unpinned(e, b)) {
		return false;
	}
	swap.to = buffer_with_shape(e->m, b, r.map->n_physical,
				    r.map->physical_shape);
	buffer_remap(e->f, e->f->body, b, swap.to, physical_index, &r);
	stmt_visit(e->f->body, follow, &swap);
	layout.to = swap.to;
	vec_push(&e->m->arena, &e->s->layouts, layout);
	return true;
}
