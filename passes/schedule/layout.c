/* SPDX-License-Identifier: Apache-2.0 */
/* transform_layout and set_scope: where and how a buffer is stored. */
#include "sched_edit.h"

bool
sched_set_scope(struct sched *s, int block, int write_index,
		const char *scope)
{
	struct edit e = edit_begin(s, "set_scope");
	struct stmt *b = edit_block(&e, block);
	const struct buffer *old, *new;

	if (!b) {
		return false;
	}
	if (write_index < 0 || write_index >= b->u.block->n_writes) {
		return edit_fail(&e, "block %s has no output %d; it has %d",
				 b->u.block->name, write_index,
				 b->u.block->n_writes);
	}
	old = b->u.block->writes[write_index].buffer;
	if (is_param_buffer(e.f, old)) {
		return edit_fail(&e, "%s is a parameter; only buffers inside "
				 "the function change their scope",
				 old->name);
	}
	new = buffer_with_scope(e.m, old, arena_strdup(&e.m->arena, scope));
	buffer_swap_all(e.f, old, new);
	return edit_done(&e, "%s, %d, \"%s\"", b->u.block->name, write_index,
			 scope);
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

bool
sched_transform_layout(struct sched *s, const struct buffer *b,
		       const struct index_map *map, const struct buffer **out)
{
	struct edit e = edit_begin(s, "transform_layout");
	struct relayout r = { e.m, map };
	struct alloc_swap swap = { .func = e.f, .from = b };
	const char *text = "";

	if (map->n_logical != b->ndim || b->strides) {
		return edit_fail(&e, "%s has %d dimensions, the map takes %d",
				 b->name, b->ndim, map->n_logical);
	}
	swap.to = buffer_with_shape(e.m, b, map->n_physical,
				    map->physical_shape);
	buffer_remap(e.f, e.f->body, b, swap.to, physical_index, &r);
	stmt_visit(e.f->body, follow, &swap);
	*out = swap.to;
	for (int d = 0; d < map->n_physical; d++) {
		int64_t n;

		text = arena_printf(&e.m->arena, "%s%s%s", text,
				    d ? ", " : "",
				    expr_is_int(map->physical_shape[d], &n)
					    ? arena_printf(&e.m->arena,
							   "%lld",
							   (long long)n)
					    : "?");
	}
	return edit_done(&e, "%s, [%s]", b->name, text);
}
