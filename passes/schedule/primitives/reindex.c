/* SPDX-License-Identifier: Apache-2.0 */
/* reindex, reindex_cache_read and reindex_cache_write: make a copy of a buffer,
 * laid out in the order of a block's iter vars.
 *
 *   for i, j:                      reindex(B, ("read", 0))
 *       with T.block("B"):         for i, j: A_reindex[i, j] = A[j, i]
 *           B[v_i, v_j] = A[v_j, v_i]  ->  for i, j: B[v_i, v_j] = A_reindex…
 *
 * An index map gives the copy another layout.
 *
 * A conditional load with a constant alternative (padding) moves into the copy
 * together with its condition, and with those conditions around it that keep
 * the index in bounds:
 *
 *       sum += T.if_then_else(0 < v_i, A[v_i - 1], 0) * W[v_i]
 *   ->  A_reindex[i] = T.if_then_else(0 < i, A[i - 1], 0) */
#include "copy_block.h"
#include "index_map_inverse.h"
#include "iterate.h"

struct reindex {
	struct edit *e;
	struct stmt *block;
	/* buffer: A, which the block reads or writes; made: A_reindex, the copy
	 * of A */
	const struct buffer *buffer, *made;
	/* the index of the block's access of `buffer`: for each dimension an
	 * expression of the block's iter vars, v_j, v_i */
	const struct expr *const *index;
	/* the block's iter vars that `index` or `guarded` uses */
	struct iter_var *used;
	int n_used;
	/* the block's index in `made`, in terms of the iter vars: v_i, v_j */
	const struct expr **place;
	/* the load with its condition, which moves with the load; NULL if the
	 * load has no condition, or if the condition stays in the block */
	const struct expr *guarded;
	/* the block writes the buffer: then `made` is copied to the buffer */
	bool writes;
};

static void
new_place(void *ctx, const struct stmt *at, const struct expr *const *old,
	  const struct expr **new)
{
	const struct reindex *r = ctx;

	(void)at;
	(void)old;
	for (int d = 0; d < r->made->ndim; d++) {
		new[d] = r->place[d];
	}
}

/* May the condition be evaluated in the copy, for all values of the block's
 * iter vars? It must use only iter vars and sizes. */
static bool
is_movable(const struct reindex *r, const struct expr *condition)
{
	const struct block *b = r->block->u.block;
	bool movable = true;

	for (struct expr_iter it = expr_each(condition);
	     (condition = expr_next(&it));) {
		bool known = condition->kind != EXPR_VAR ||
			     condition->u.var->is_dim;

		for (int i = 0; i < b->n_iters && !known; i++) {
			known = b->iters[i].var == condition->u.var;
		}
		movable &= known && condition->kind != EXPR_LOAD &&
			   (condition->kind != EXPR_CALL ||
			    intrin_is_pure(condition->u.intrin));
	}
	return movable;
}

/* Is e the IF of `inside`, which contains the block's only read of the buffer,
 * with a constant alternative, that may move into the copy? */
static bool
is_guard(const struct reindex *r, const struct expr *e,
	 const struct expr *inside)
{
	return e->args[1] == inside &&
	       (e->args[2]->kind == EXPR_INT ||
		e->args[2]->kind == EXPR_FLOAT) &&
	       is_movable(r, e->args[0]);
}

/* The conditional load around the block's only read of the buffer, with as few
 * of its conditions as are needed to keep the index in bounds; NULL if there is
 * no such load, or if all its conditions are not enough. */
static const struct expr *
guarded_load(struct reindex *r)
{
	const struct stmt *store = sole_store(r->block);
	struct module *m = r->e->m;
	const struct expr *load = expr_load(m, r->buffer, r->index,
					    r->buffer->ndim);
	const struct expr *whole, *found = load, *e, *inside;

	if (store == NULL || r->writes) {
		return NULL;
	}
	whole = store->args[0];
	do {
		inside = found;
		for (struct expr_iter it = expr_each_of(whole, EXPR_IF);
		     (e = expr_next(&it));) {
			found = is_guard(r, e, inside) ? e : found;
		}
		if (found == inside) {
			return NULL;
		}
	} while (!index_in_bounds(r->e, r->block, found, r->buffer, r->index));
	return expr_uses_buffer(expr_replace(m, whole, &found, &found->args[2],
					     1),
				r->buffer)
		       ? NULL
		       : found;
}

static void
find_used(struct reindex *r)
{
	const struct block *b = r->block->u.block;

	r->used = arena_array(&r->e->m->arena, struct iter_var, b->n_iters + 1);
	for (int i = 0; i < b->n_iters; i++) {
		bool uses = false;

		for (int d = 0; d < r->buffer->ndim; d++) {
			uses |= expr_uses_var(r->index[d], b->iters[i].var);
		}
		uses |= r->guarded != NULL &&
			expr_uses_var(r->guarded, b->iters[i].var);
		if (uses) {
			r->used[r->n_used++] = b->iters[i];
		}
	}
}

/* Checks that the elements to copy exist: an intermediate buffer may have only
 * the elements that the block reads. False after a diagnostic. */
static bool
check_source(struct reindex *r)
{
	const struct block *b = r->block->u.block;

	for (int i = 0; i < b->n_iters; i++) {
		bool uses = false;

		for (int d = 0; d < r->buffer->ndim; d++) {
			uses |= expr_uses_var(r->index[d], b->iters[i].var);
		}
		if (uses && !runs_through(r->e, r->block, i)) {
			return edit_fail(r->e,
					 "the loops of block %s cover a part "
					 "of the domain of %s, and %s may "
					 "contain only that part; reindex "
					 "before loop_partition",
					 b->name, b->iters[i].var->name,
					 r->buffer->name);
		}
	}
	return true;
}

/* May the elements for the whole domain be copied in advance (or back
 * afterwards)? False after a diagnostic. */
static bool
check_copy(struct reindex *r)
{
	struct edit *e = r->e;
	const char *name = r->block->u.block->name;
	const char *buffer = r->buffer->name;
	struct access_list all = { 0 };
	struct stmt *top = scope_child(r->block);

	if (r->guarded == NULL &&
	    !index_in_bounds(e, r->block, NULL, r->buffer, r->index)) {
		return edit_fail(e,
				 "block %s may index beyond %s if a "
				 "condition is false; pad it in a separate "
				 "block first",
				 name, buffer);
	}
	if (!r->writes) {
		if (writes_below(e->f, top, r->buffer)) {
			return edit_fail(e,
					 "%s is written inside of the loops "
					 "around block %s; reindex before "
					 "compute_at",
					 buffer, name);
		}
		return func_has_param(e->f, r->buffer) || check_source(r);
	}
	if (sole_writer(e->f, r->buffer) != r->block) {
		return edit_fail(e,
				 "other blocks also write %s; one block must "
				 "write all of it",
				 buffer);
	}
	access_collect(e->f, top, r->buffer, &all);
	for (int i = 0; i < all.list.n; i++) {
		struct access *x = &all.list.data[i];

		if (!stmt_contains(r->block, x->at)) {
			return edit_fail(e,
					 "%s is read inside of the loops "
					 "that write it; reindex before "
					 "compute_at",
					 buffer);
		}
		if (!x->load && !runs_everywhere(e, r->block, x->at)) {
			return edit_fail(e,
					 "block %s skips elements of %s "
					 "under a condition; the copy has no "
					 "values for these",
					 name, buffer);
		}
	}
	for (int i = 0; i < r->n_used; i++) {
		if (r->used[i].kind != ITER_SPATIAL) {
			return edit_fail(e,
					 "block %s writes %s at the "
					 "reduction iter var %s; reindex "
					 "needs spatial ones",
					 name, buffer, r->used[i].var->name);
		}
	}
	return true;
}

/* Makes the nest that copies the elements in the order of the block's iter
 * vars; *block: its block. */
static struct stmt *
copy_nest(struct reindex *r, struct stmt **block)
{
	struct edit *e = r->e;
	struct arena *arena = &e->m->arena;
	struct iter_var *iters = fresh_iters(e, r->used, r->n_used);
	const struct expr **old = arena_exprs(arena, r->buffer->ndim + 1);
	const struct expr **new = arena_exprs(arena, r->made->ndim + 1);
	struct var_map map = { .n = r->n_used };

	map.from = arena_array(arena, struct var *, r->n_used + 1);
	map.to = arena_exprs(arena, r->n_used + 1);
	for (int i = 0; i < r->n_used; i++) {
		map.from[i] = r->used[i].var;
		map.to[i] = iters[i].var->expr;
	}
	for (int d = 0; d < r->buffer->ndim; d++) {
		old[d] = expr_substitute(e->m, r->index[d], &map);
	}
	for (int d = 0; d < r->made->ndim; d++) {
		new[d] = expr_substitute(e->m, r->place[d], &map);
	}
	if (r->writes) {
		return store_nest(e, r->made->name, iters, r->n_used, NULL,
				  r->buffer, old,
				  expr_load(e->m, r->made, new, r->made->ndim),
				  block);
	}
	return store_nest(e, r->made->name, iters, r->n_used, NULL, r->made,
			  new,
			  r->guarded != NULL
				  ? expr_substitute(e->m, r->guarded, &map)
				  : expr_load(e->m, r->buffer, old,
					      r->buffer->ndim),
			  block);
}

/* Makes the block access the buffer r->made in place of r->buffer, and adds a
 * block that copies between both. False after a diagnostic. */
static bool
insert_made(struct reindex *r, struct sched_value *out)
{
	struct edit *e = r->e;
	struct stmt *owner = scope_of(r->block), *copy;
	struct stmt *nest = copy_nest(r, &copy);

	if (r->guarded != NULL) {
		struct stmt *store = sole_store(r->block);
		const struct expr *load = expr_load(e->m, r->made, r->place,
						    r->made->ndim);

		stmt_set_arg(e->f, store, 0,
			     expr_replace(e->m, store->args[0], &r->guarded,
					  &load, 1));
	}
	access_remap(e->f, r->block, r->buffer, r->made, new_place, r);
	refresh_inside(e, r->block);
	insert_beside(e, scope_child(r->block), nest, r->writes);
	scope_add_alloc(e->f, owner, r->made);
	block_refresh(e->f, r->block);
	*out = sv_block(copy->id);
	return true;
}

static bool
begin(struct reindex *r, struct edit *e, int block)
{
	r->e = e;
	r->block = edit_block(e, block);
	if (r->block && !scope_of(r->block)) {
		return edit_fail(e,
				 "block %s is the whole function; name a "
				 "block inside",
				 r->block->u.block->name);
	}
	return r->block != NULL;
}

static bool
find_index(struct reindex *r)
{
	r->index = common_index(r->e, r->block, r->buffer);
	if (!r->index) {
		return false;
	}
	r->guarded = guarded_load(r);
	find_used(r);
	return check_copy(r);
}

/* Checks that the layout is injective: no two values of the used iter vars map
 * to one element. *out: the map. False after a diagnostic. */
static bool
check_injective(struct reindex *r, const struct expr *const *place, int n,
		const struct buffer *in, const struct index_map **out)
{
	struct edit *e = r->e;
	struct arena *arena = &e->m->arena;
	struct var **vars = arena_array(arena, struct var *, r->n_used + 1);
	const struct expr **shape = arena_exprs(arena, r->n_used + 1);
	struct index_map *map = NULL;
	const char *why;

	for (int i = 0; i < r->n_used; i++) {
		vars[i] = r->used[i].var;
		shape[i] = r->used[i].extent;
		if (!expr_is_value(r->used[i].min, 0)) {
			return edit_fail(e,
					 "iter var %s of block %s does not "
					 "start at 0",
					 vars[i]->name,
					 r->block->u.block->name);
		}
	}
	if (!index_map_from_forward(e->m, vars, r->n_used, place, n, shape,
				    &map, &why)) {
		return edit_fail(e, "the index of %s in block %s: %s", in->name,
				 r->block->u.block->name, why);
	}
	*out = map;
	return true;
}

/* The index with which the block accesses the buffer, with each iter var
 * counted from 0: whether an index is injective does not depend on offsets. */
static const struct expr **
from_zero(struct reindex *r)
{
	struct module *m = r->e->m;
	int n = r->buffer->ndim;
	const struct expr **place = arena_exprs(&m->arena, n + 1);
	struct analyser a;

	analyser_init(&a, m);
	for (int i = 0; i < r->n_used; i++) {
		analyser_bind(&a, r->used[i].var, r->used[i].min,
			      r->used[i].extent);
	}
	for (int d = 0; d < n; d++) {
		struct bounds b = analyse_bounds(&a, r->index[d]);

		place[d] = r->index[d];
		if (b.min > 0 && b.min != BOUND_POS_INF) {
			place[d] = simplify(&a,
					    expr_sub(m, place[d],
						     expr_int(m, place[d]->type,
							      b.min)));
		}
	}
	return place;
}

bool
prim_reindex(struct edit *e, const struct sched_value *args,
	     struct sched_value *out)
{
	struct reindex r = { 0 };
	const struct expr **shape;
	const struct index_map *unused;

	if (!begin(&r, e, args[0].u.id)) {
		return false;
	}
	r.buffer = buffer_arg(r.block, &args[1], &r.writes);
	if (!edit_check_no_address(e, r.buffer) || !find_index(&r) ||
	    (r.writes && !check_begins(e, r.block, r.buffer))) {
		return false;
	}
	if (r.writes && !check_injective(&r, from_zero(&r), r.buffer->ndim,
					 r.buffer, &unused)) {
		return false;
	}
	shape = arena_exprs(&e->m->arena, r.n_used + 1);
	r.place = arena_exprs(&e->m->arena, r.n_used + 1);
	for (int i = 0; i < r.n_used; i++) {
		r.place[i] = expr_sub(e->m, r.used[i].var->expr, r.used[i].min);
		shape[i] = r.used[i].extent;
	}
	r.made = buffer_variant(e, r.buffer,
				arena_printf(&e->m->arena, "%s_reindex",
					     r.buffer->name),
				NULL, r.n_used, shape);
	return insert_made(&r, out);
}

/* -- with an index map */

/* Sets r->place to the position that the map gives, in terms of the block's
 * iter vars. False after a diagnostic. */
static bool
place_by_map(struct reindex *r, const struct index_map *map)
{
	struct edit *e = r->e;
	struct arena *arena = &e->m->arena;
	const struct block *b = r->block->u.block;
	struct var_map to_iters = { map->logical, NULL, map->n_logical };
	const struct expr **values = arena_exprs(arena, b->n_iters + 1);

	if (map->n_logical != b->n_iters) {
		return edit_fail(e,
				 "the index map takes %d variables, block "
				 "%s has %d iter vars; give one for each",
				 map->n_logical, b->name, b->n_iters);
	}
	for (int i = 0; i < b->n_iters; i++) {
		values[i] = b->iters[i].var->expr;
	}
	to_iters.to = values;
	r->place = arena_exprs(arena, map->n_physical + 1);
	for (int d = 0; d < map->n_physical; d++) {
		r->place[d] = expr_substitute(e->m, map->to_physical[d],
					      &to_iters);
	}
	for (int i = 0; i < b->n_iters; i++) {
		bool in_index = false, in_place = false;

		for (int k = 0; k < r->n_used; k++) {
			in_index |= r->used[k].var == b->iters[i].var;
		}
		for (int d = 0; d < map->n_physical; d++) {
			in_place |= expr_uses_var(r->place[d], b->iters[i].var);
		}
		if (in_index != in_place) {
			return edit_fail(e,
					 "iter var %s of block %s is used "
					 "by %s but not by %s; both must use "
					 "the same ones",
					 b->iters[i].var->name, b->name,
					 in_index ? "the buffer's index"
						  : "the index map",
					 in_index ? "the index map"
						  : "the buffer's index");
		}
	}
	return true;
}

static bool
reindex_cache(struct edit *e, const struct sched_value *args, bool writes,
	      struct sched_value *out)
{
	struct reindex r = { .writes = writes };
	const struct index_map *given = args[3].u.map, *full;

	if (!begin(&r, e, args[0].u.id)) {
		return false;
	}
	r.buffer = writes ? write_arg(r.block, &args[1])
			  : read_arg(r.block, &args[1]);
	if (!edit_check_no_address(e, r.buffer) || !find_index(&r) ||
	    (writes && !check_begins(e, r.block, r.buffer)) ||
	    !place_by_map(&r, given) ||
	    !check_injective(&r, r.place, given->n_physical, r.buffer, &full)) {
		return false;
	}
	r.made = buffer_variant(e, r.buffer,
				arena_printf(&e->m->arena, "%s_%s",
					     r.buffer->name, args[2].u.text),
				args[2].u.text, full->n_physical,
				full->physical_shape);
	return insert_made(&r, out);
}

bool
prim_reindex_cache_read(struct edit *e, const struct sched_value *args,
			struct sched_value *out)
{
	return reindex_cache(e, args, false, out);
}

bool
prim_reindex_cache_write(struct edit *e, const struct sched_value *args,
			 struct sched_value *out)
{
	return reindex_cache(e, args, true, out);
}
