/* SPDX-License-Identifier: Apache-2.0 */
/* transform_layout and set_scope: change the layout and the storage scope of a
 * buffer. */
#include "copy_block.h"
#include "index_map_inverse.h"
#include "promise.h"

bool
prim_set_scope(struct edit *e, const struct sched_value *args,
	       struct sched_value *out)
{
	const struct stmt *b = edit_block(e, args[0].u.id);
	const struct buffer *old, *new;
	const char *scope = args[2].u.text;

	(void)out;
	old = write_arg(b, &args[1]);
	if (scope[0] == '\0') {
		return edit_fail(e, "an empty string is not a scope; give "
				    "one such as \"shared\"");
	}
	if (func_has_param(e->f, old)) {
		return edit_fail(e,
				 "%s is a parameter; only the scope of "
				 "buffers inside the function can change",
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
physical_index(void *ctx, const struct stmt *at, const struct expr *const *old,
	       const struct expr **new)
{
	const struct relayout *r = ctx;
	int n = r->map->n_logical;
	struct var_map map = {
		r->map->logical,
		arena_copy(&r->module->arena, old, sizeof *old * (size_t)n), n
	};
	struct analyser a;

	/* The analyser knows only the ranges of variables, not the values to
	 * which iter vars are bound. */
	analyser_init(&a, r->module);
	for (const struct stmt *s = at; s; s = s->parent) {
		for (int i = 0;
		     s->kind == STMT_BLOCK && i < s->u.block->n_iters; i++) {
			const struct iter_var *it = &s->u.block->iters[i];

			analyser_bind(&a, it->var, it->min, it->extent);
		}
		if (s->kind == STMT_FOR) {
			analyser_bind(&a, s->u.loop.var, s->args[0],
				      s->args[1]);
		}
	}
	for (int d = 0; d < r->map->n_physical; d++) {
		new[d] = simplify(&a, expr_substitute(r->module,
						      r->map->to_physical[d],
						      &map));
	}
}

/* Computes the physical shape of the map: the extents of its physical indices,
 * which must start at 0 and fit in their types. False after a diagnostic. */
static bool
covered_shape(struct edit *e, const struct buffer *b, struct index_map *map)
{
	struct module *m = e->m;
	int n = map->n_logical;
	struct iter_var *logical = arena_array(&m->arena, struct iter_var,
					       n + 1);
	struct analyser a;

	analyser_init(&a, m);
	for (int i = 0; i < n; i++) {
		logical[i] = (struct iter_var){ map->logical[i], expr_i32(m, 0),
						b->shape[i], ITER_SPATIAL };
	}
	map->physical_shape = arena_exprs(&m->arena, map->n_physical + 1);
	for (int d = 0; d < map->n_physical; d++) {
		const struct expr *min, *max;

		if (!analyse_cover(&a, map->to_physical[d], logical, n, &min,
				   &max) ||
		    !min || !max ||
		    !prove(&a, expr_le(m, expr_i32(m, 0), min))) {
			return edit_fail(e,
					 "the range of index %d of the map "
					 "of %s does not start at 0 or does "
					 "not fit its type; use //, %% and "
					 "sums of the indices",
					 d, b->name);
		}
		map->physical_shape[d] = simplify(&a, expr_add(m, max,
							       expr_i32(m, 1)));
	}
	return true;
}

/* The map with its physical shape and, unless `trusted`, with its inverse; NULL
 * after a diagnostic. */
static const struct index_map *
completed(struct edit *e, const struct buffer *b, const struct index_map *map,
	  bool trusted)
{
	struct index_map *full;
	const char *why;

	if (index_map_from_forward(e->m, map->logical, map->n_logical,
				   map->to_physical, map->n_physical, b->shape,
				   &full, &why)) {
		return full;
	}
	if (!trusted) {
		edit_fail(e,
			  "the layout of %s: %s, or set "
			  "assume_injective_transform",
			  b->name, why);
		return NULL;
	}
	full = arena_copy(&e->m->arena, map, sizeof *map);
	if (!covered_shape(e, b, full) || !values_are_data(e, b)) {
		return NULL;
	}
	edit_note(e,
		  "the new layout of %s: that no two elements have one place "
		  "is a promise of the schedule, which is not checked",
		  b->name);
	return full;
}

/* -- padding */

/* The value of the padding at the physical index `iters`; NULL after a
 * diagnostic. */
static const struct expr *
pad_at(struct edit *e, const struct sched_value *pad, const struct buffer *b,
       const struct iter_var *iters)
{
	const struct index_map *map = pad->u.map;
	struct var_map vars;
	const struct expr *value;

	switch (pad->kind) {
	case SV_INT:
		return expr_const(e->m, b->type, (double)pad->u.ival);
	case SV_FLOAT:
		return expr_const(e->m, b->type, pad->u.fval);
	case SV_EXPR:
		value = pad->u.expr;
		break;
	default:
		if (map->n_logical != b->ndim || map->n_physical != 1) {
			edit_fail(e,
				  "pad_value takes %d indices and returns %d "
				  "values; %s now has %d dimensions",
				  map->n_logical, map->n_physical, b->name,
				  b->ndim);
			return NULL;
		}
		vars = (struct var_map){ map->logical,
					 arena_exprs(&e->m->arena, b->ndim + 1),
					 b->ndim };
		for (int d = 0; d < b->ndim; d++) {
			vars.to[d] = iters[d].var->expr;
		}
		value = expr_substitute(e->m, map->to_physical[0], &vars);
		break;
	}
	return dtype_equal(value->type, b->type)
		       ? value
		       : expr_cast(e->m, b->type, value);
}

/* The statement of the block's body (a sequence) that contains the last store
 * to b; the whole body if it is not a sequence. NULL if the body has no store
 * to b. */
static struct stmt *
last_writer(struct edit *e, const struct stmt *owner, const struct buffer *b)
{
	struct stmt *body = owner->children[0], *last = NULL;
	struct access_list all = accesses_of(e->f, body, b);

	for (int i = 0; i < all.list.n; i++) {
		if (!all.list.data[i].load) {
			last = all.list.data[i].at;
		}
	}
	if (!last || body->kind != STMT_SEQ) {
		return last ? body : NULL;
	}
	while (last->parent != body) {
		last = last->parent;
	}
	return last;
}

/* Adds the nest that stores the padding: b[physical] = pad for all physical
 * indices that are not in_range. False after a diagnostic. */
static bool
write_padding(struct edit *e, const struct buffer *b,
	      const struct index_map *map, const struct sched_value *pad)
{
	struct arena *arena = &e->m->arena;
	struct iter_var *iters = dim_iters(e, b, NULL);
	const struct expr **at = arena_exprs(arena, b->ndim + 1);
	const struct expr *value = pad_at(e, pad, b, iters);
	struct var_map vars = { map->physical, at, b->ndim };
	struct stmt *owner = e->f->body, *after;

	if (!value) {
		return false;
	}
	for (int d = 0; d < b->ndim; d++) {
		at[d] = iters[d].var->expr;
	}
	after = owner->kind == STMT_BLOCK ? last_writer(e, owner, b) : NULL;
	if (!after) {
		return edit_fail(e,
				 "this function does not write %s, so that "
				 "its owner writes the padding; omit "
				 "pad_value",
				 b->name);
	}
	if (!func_has_param(e->f, b) && !scope_owns(owner, b)) {
		return edit_fail(e,
				 "%s is allocated in an inner block; "
				 "pad_value needs a buffer of the function",
				 b->name);
	}
	insert_beside(e, after,
		      store_nest(e, arena_printf(arena, "%s_pad", b->name),
				 iters, b->ndim,
				 expr_not(e->m,
					  expr_substitute(e->m, map->in_range,
							  &vars)),
				 b, at, value, NULL),
		      true);
	return true;
}

bool
prim_transform_layout(struct edit *e, const struct sched_value *args,
		      struct sched_value *out)
{
	const struct stmt *block = edit_block(e, args[0].u.id);
	const struct index_map *map = args[2].u.map;
	const struct buffer *b;
	struct relayout r = { .module = e->m };
	struct sched_layout layout;
	bool writes;

	(void)out;
	b = buffer_arg(block, &args[1], &writes);
	if (map->n_logical != b->ndim || b->strides) {
		return edit_fail(e,
				 "%s has %d dimensions, the map takes %d; "
				 "give one variable for each",
				 b->name, b->ndim, map->n_logical);
	}
	r.map = completed(e, b, map, args[4].u.ival);
	if (!r.map || !edit_check_no_address(e, b)) {
		return false;
	}
	layout.from = b;
	layout.map = r.map;
	layout.to = buffer_with_shape(e->m, b, r.map->n_physical,
				      r.map->physical_shape);
	buffer_remap(e->f, e->f->body, b, layout.to, physical_index, &r);
	buffer_follow(e, b, layout.to);
	if (args[3].kind != SV_NONE && r.map->in_range &&
	    !write_padding(e, layout.to, r.map, &args[3])) {
		return false;
	}
	vec_push(&e->m->arena, &e->s->layouts, layout);
	return true;
}
