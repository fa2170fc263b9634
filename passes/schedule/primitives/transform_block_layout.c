/* SPDX-License-Identifier: Apache-2.0 */
/* transform_block_layout: replaces a block's iter vars and loops by those of an
 * index map.
 *
 *   for i in 8, j in 16:            transform_block_layout(B,
 *       with T.block("B"):              lambda i, j: (i * 16 + j,))
 *           B[v_i, v_j] = …          ->  for i0 in 128:
 *                                            B[v_i0 // 16, v_i0 % 16] = … */
#include "copy_block.h"
#include "index_map_inverse.h"
#include "iterate.h"
#include "loop_legality.h"

/* Finds the perfect nest of loops to which the block's iter vars are bound.
 * Returns the outermost loop of this nest; the block itself if it has no iter
 * vars; or NULL after a diagnostic. */
static struct stmt *
own_nest(struct edit *e, struct stmt *block)
{
	struct stmt *p = block;

	if (!trivial_bindings(block)) {
		edit_fail(e,
			  "block %s has an iter var that is not bound to a "
			  "loop of its own; transform before split or fuse",
			  block->u.block->name);
		return NULL;
	}
	for (int i = 0; i < block->u.block->n_iters; i++) {
		bool binds = false;

		p = p->parent;
		for (int k = 0; k < block->u.block->n_iters; k++) {
			binds |= binding_loop(block, k) == p;
		}
		if (!binds || p->u.loop.kind != FOR_SERIAL || p->notes) {
			edit_fail(e,
				  "the loops of block %s are not a plain "
				  "perfect nest around it alone; transform "
				  "before annotating or compute_at",
				  block->u.block->name);
			return NULL;
		}
	}
	return p;
}

/* Sets *kind to the kind of the iter vars that the map's new index d uses.
 * False after a diagnostic if they differ in kind. */
static bool
kind_of(struct edit *e, const struct stmt *block, const struct index_map *map,
	int d, enum iter_kind *kind)
{
	const struct block *b = block->u.block;
	bool found = false;

	*kind = ITER_SPATIAL;
	for (int i = 0; i < b->n_iters; i++) {
		if (!expr_uses_var(map->to_physical[d], map->logical[i])) {
			continue;
		}
		if (found && b->iters[i].kind != *kind) {
			return edit_fail(e,
					 "result %d of the index map mixes "
					 "spatial and reduction iter vars of "
					 "block %s; keep them apart",
					 d, b->name);
		}
		*kind = b->iters[i].kind;
		found = true;
	}
	return true;
}

static bool
complete_map(struct edit *e, const struct stmt *block,
	     const struct index_map *given, struct index_map **out)
{
	const struct block *b = block->u.block;
	const struct expr **shape = arena_exprs(&e->m->arena, b->n_iters + 1);
	const char *why;

	if (given->n_logical != b->n_iters) {
		return edit_fail(e,
				 "the index map takes %d variables, block "
				 "%s has %d iter vars; give one for each",
				 given->n_logical, b->name, b->n_iters);
	}
	for (int i = 0; i < b->n_iters; i++) {
		if (!expr_is_value(b->iters[i].min, 0)) {
			return edit_fail(e,
					 "iter var %s of block %s does not "
					 "start at 0",
					 b->iters[i].var->name, b->name);
		}
		shape[i] = b->iters[i].extent;
	}
	if (!index_map_from_forward(e->m, given->logical, given->n_logical,
				    given->to_physical, given->n_physical,
				    shape, out, &why)) {
		return edit_fail(e, "the index map of block %s: %s", b->name,
				 why);
	}
	return true;
}

/* Checks that the map pads only spatial iter vars. False after a diagnostic. */
static bool
check_padding(struct edit *e, const struct stmt *block,
	      const struct index_map *map, const struct block *new)
{
	for (int d = 0; map->in_range && d < map->n_physical; d++) {
		if (new->iters[d].kind != ITER_SPATIAL &&
		    expr_uses_var(map->in_range, map->physical[d])) {
			return edit_fail(e,
					 "the index map does not divide a "
					 "reduction iter var of block %s; "
					 "choose a factor that does",
					 block->u.block->name);
		}
	}
	return true;
}

/* Simplifies indices: i // 28 * 28 + i % 28 becomes i. */
static void
simplify_indices(struct edit *e, struct stmt *s)
{
	for (struct stmt_iter it = stmt_each_of(s, STMT_STORE);
	     (s = stmt_next(&it));) {
		struct analyser a;

		analyser_init(&a, e->m);
		analyser_enter_scope(&a, s);
		for (int i = 0; i < s->n_args; i++) {
			stmt_set_arg(e->f, s, i, simplify(&a, s->args[i]));
		}
	}
}

/* If e, an expression of the map, is one of its logical indices, the number of
 * the iter var that this index stands for; else -1. */
static int
iter_of(const struct block *b, const struct index_map *map,
	const struct expr *e)
{
	for (int i = 0; i < b->n_iters; i++) {
		if (e == map->logical[i]->expr) {
			return i;
		}
	}
	return -1;
}

/* If a new loop is a fusion of whole iter vars, such as (oc * 3 + kh) * 3 + kw,
 * records these axes of the loop (func.fused). */
static void
note_fused(struct edit *e, const struct block *b, const struct index_map *map,
	   int d, const struct var *loop)
{
	struct arena *arena = &e->m->arena;
	const char **digits = arena_array(arena, const char *, b->n_iters + 1);
	const struct expr **extents = arena_exprs(arena, b->n_iters + 1);
	const struct expr *rest = map->to_physical[d];
	int at = b->n_iters, i;

	while (rest->kind == EXPR_ADD && at > 1) {
		const struct expr *high = rest->args[0];

		i = iter_of(b, map, rest->args[1]);
		if (i < 0 || high->kind != EXPR_MUL ||
		    high->args[1] != b->iters[i].extent) {
			return;
		}
		digits[--at] = iter_axis_name(b->iters[i].var->name);
		extents[at] = b->iters[i].extent;
		rest = high->args[0];
	}
	i = iter_of(b, map, rest);
	if (i >= 0 && at > 0) {
		digits[--at] = iter_axis_name(b->iters[i].var->name);
		extents[at] = b->iters[i].extent;
		func_note_fused(e->f, loop, b->n_iters - at, digits + at,
				extents + at);
	}
}

/* May the block's iterations come in another order? False after a diagnostic. */
static bool
check_free_order(struct edit *e, struct stmt *block)
{
	if (block_is_ordered(block) || block_depends_on_itself(e, block)) {
		return edit_fail(e,
				 "block %s has an ordered iter var, or reads "
				 "elements that other iterations of it write; "
				 "its iterations keep their order",
				 block->u.block->name);
	}
	return reduction_is_free(e, block);
}

bool
prim_transform_block_layout(struct edit *e, const struct sched_value *args,
			    struct sched_value *out)
{
	struct stmt *block = edit_block(e, args[0].u.id), *outer, *nest;
	struct arena *arena = &e->m->arena;
	const struct expr **list, **values, **loops;
	struct var_map physical, iters, vars;
	struct index_map *map;
	struct stmt_place place;
	struct block new;
	int n, n_old;

	(void)out;
	if (!block || !(outer = own_nest(e, block)) ||
	    !check_free_order(e, block) ||
	    !complete_map(e, block, args[1].u.map, &map)) {
		return false;
	}
	n = map->n_physical;
	n_old = block->u.block->n_iters;
	new = *block->u.block;
	new.n_iters = n;
	new.iters = arena_array(arena, struct iter_var, n + 1);
	list = arena_exprs(arena, n + 1);
	loops = arena_exprs(arena, n + 1);
	values = arena_exprs(arena, n + n_old + 1);
	iters = (struct var_map){ arena_array(arena, struct var *, n_old + 1),
				  arena_exprs(arena, n_old + 1), n_old };
	vars = (struct var_map){ arena_array(arena, struct var *, n_old + 1),
				 arena_exprs(arena, n_old + 1), n_old };
	for (int d = 0; d < n; d++) {
		struct iter_var *it = &new.iters[d];
		struct dtype type = map->physical_shape[d]->type;
		const char *name = arena_printf(arena, "i%d", d);

		/* An iter var that the map does not change keeps its name. */
		if (args[1].u.map->to_physical[d]->kind == EXPR_VAR) {
			for (int i = 0; i < n_old; i++) {
				if (args[1].u.map->to_physical[d] ==
				    args[1].u.map->logical[i]->expr) {
					name = iter_axis_name(
						block->u.block->iters[i]
							.var->name);
				}
			}
		}
		it->var = var_new(e->m, arena_printf(arena, "v_%s", name),
				  type);
		it->min = expr_int(e->m, type, 0);
		it->extent = map->physical_shape[d];
		if (!kind_of(e, block, args[1].u.map, d, &it->kind)) {
			return false;
		}
		list[d] = it->var->expr;
		loops[d] = var_new(e->m, name, type)->expr;
		note_fused(e, block->u.block, args[1].u.map, d,
			   loops[d]->u.var);
	}
	if (!check_padding(e, block, map, &new)) {
		return false;
	}
	physical = (struct var_map){ map->physical, list, n };
	for (int i = 0; i < n_old; i++) {
		iters.from[i] = block->u.block->iters[i].var;
		iters.to[i] = expr_substitute(e->m, map->to_logical[i],
					      &physical);
		vars.from[i] = binding_loop(block, i)->u.loop.var;
	}
	physical.to = loops;
	for (int i = 0; i < n_old; i++) {
		vars.to[i] = expr_substitute(e->m, map->to_logical[i],
					     &physical);
	}
	place = stmt_place_of(outer);
	for (int i = 0; i < 2; i++) {
		if (block->children[i]) {
			stmt_substitute(e->f, block->children[i], &iters);
		}
	}
	/* nested statements may also use the loops' variables */
	for (int i = 0; i < 2; i++) {
		if (block->children[i]) {
			stmt_substitute(e->f, block->children[i], &vars);
		}
	}
	values[0] = expr_substitute(e->m, block->args[0], &vars);
	if (map->in_range) {
		values[0] = expr_and(e->m, values[0],
				     expr_substitute(e->m, map->in_range,
						     &physical));
	}
	for (int d = 0; d < n; d++) {
		values[d + 1] = loops[d];
	}
	/* Keeps the declared regions of arguments that are addresses. */
	new.reads = regions_substitute(e->m, new.reads, new.n_reads, &iters);
	new.writes = regions_substitute(e->m, new.writes, new.n_writes, &iters);
	stmt_set_block(e->f, block, &new);
	stmt_set_args(e->f, block, values, n + 1);
	nest = block;
	for (int d = n - 1; d >= 0; d--) {
		nest = stmt_for(e->f, loops[d]->u.var, new.iters[d].min,
				new.iters[d].extent, FOR_SERIAL, nest);
	}
	stmt_put(e->f, place, nest);
	bindings_simplify(e->f, nest, false);
	for (int i = 0; i < 2; i++) {
		simplify_indices(e, block->children[i]);
	}
	block_refresh(e->f, block);
	return true;
}
