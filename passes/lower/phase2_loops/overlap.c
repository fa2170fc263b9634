/* SPDX-License-Identifier: Apache-2.0 */
/* Shifts the last, partial tile of an axis back, so that it is a full tile that
 * overlaps the tile before it.
 *
 *   for i_o in range(3):                  for i_o in range(3):
 *       for i_i in T.unroll(8):               i_start = T.min(i_o * 8, 11)
 *           if i_o * 8 + i_i < 19:  ->        for i_i in T.unroll(8):
 *               y[i_o * 8 + i_i] = ...            y[i_start + i_i] = ...
 *
 * Applies to a serial loop with the note "overlap". Each iteration of the tile
 * loop, which is inside of that loop, must compute one index of the axis, p =
 * i_o * 8 + i_i, from buffers that the loop does not write: then elements in
 * the overlap of two tiles are computed twice, with the same result. The proof
 * substitutes p - i_o * 8 for i_i in every expression of the body; the result
 * must not depend on i_o. Arrays allocated in the loop but outside of the tile
 * need one dimension whose index is i_i, so that each index of the axis uses
 * its own elements. If the axis has a symbolic extent n, which may be shorter
 * than a tile, a condition n >= 8 is put around the loop, and a copy of the
 * loop with the guards computes shorter axes. Loops for which this proof fails
 * are not changed; the pass partition-loops splits off their last tiles. */
#include "lower_passes.h"

#include <assert.h>
#include <string.h>

#include "access.h"
#include "iterate.h"
#include "partition_loops.h"
#include "scope.h"

/* An array allocated in the loop i_o, but outside of the tile loop i_i. */
struct tile_array {
	const struct buffer *buffer;
	/* the dimension whose index is the variable of the tile loop; -1: not
	 * known yet */
	int dim;
};

/* A store to a buffer that is allocated outside of the loop, and the variable of the
 * tile loop around it. */
struct result_store {
	const struct stmt *store;
	struct var *tile;
};

struct overlap {
	struct func *func;
	struct stmt *loop; /* the serial loop i_o, with the note "overlap" */
	int64_t size;      /* the size of a tile: 8 above */
	/* the extent of the axis (19 in the example above); NULL: no guard was
	 * found yet */
	const struct expr *extent;
	/* axis_index: the variable p, which stands for the index of the axis;
	 * start: the variable i_start, the first index of the tile */
	struct var *axis_index, *start;
	VEC(struct tile_array) arrays;
	/* buffers that are allocated outside of the loop and that the loop
	 * reads (read) or writes (written) */
	VEC(const struct buffer *) read, written;
	VEC(struct result_store) stores;
	/* loads from tile arrays and the variables that replace them during the
	 * analysis of an expression */
	VEC(const struct expr *) loads;
	VEC(struct var *) elements;
	/* The variable of the tile loop around the expression that is analysed;
	 * NULL outside of tile loops. */
	struct var *tile;
	bool refused; /* the loop cannot be changed: a check has failed */
};

/* -- extents of the axis and of the tile, from a guard */

/* Is e, evaluated at statement `at`, the same in all iterations of the loop?
 * False if e contains a load. */
static bool
is_invariant(const struct overlap *o, const struct stmt *at,
	     const struct expr *e)
{
	for (; at != o->loop->parent; at = at->parent) {
		if ((at->kind == STMT_FOR &&
		     expr_uses_var(e, at->u.loop.var)) ||
		    (at->kind == STMT_LET && expr_uses_var(e, at->u.var))) {
			return false;
		}
	}
	return !expr_has_load(e);
}

/* Sets o->size and o->extent if cond, a guard at `at`, has a conjunct that
 * compares an index of the tiled axis with the axis's extent. */
static void
find_extent(struct overlap *o, struct stmt *at, const struct expr *cond)
{
	struct module *m = o->func->module;
	struct conjuncts all = { 0 };
	struct analyser a, outside;

	analyser_at(&a, m, at);
	analyser_at(&outside, m, o->loop);
	expr_conjuncts(m, cond, &all);
	for (int i = 0; i < all.list.n && o->extent == NULL; i++) {
		const struct expr *rest;
		int64_t size;

		if (!partition_guard(&a, o->loop->u.loop.var, all.list.data[i],
				     &size, &rest) ||
		    size < 2 ||
		    !partition_is_tiled(&a, o->loop, at, rest, size)) {
			continue;
		}
		for (struct stmt *s = at; s != o->loop; s = s->parent) {
			int64_t one;

			if (s->kind == STMT_FOR &&
			    expr_is_value(s->args[1], size) &&
			    analyse_affine(&a, rest, &s->u.loop.var, 1, &one,
					   &rest) &&
			    one == 1 && is_invariant(o, at, rest) &&
			    expr_is_total(&outside, rest)) {
				const struct expr *first = expr_int(m,
								    rest->type,
								    1);

				o->size = size;
				o->extent = simplify(&a,
						     expr_sub(m, first, rest));
				break;
			}
		}
	}
}

static void
find_guard(struct overlap *o, struct stmt *s)
{
	struct stmt_iter it = stmt_each(s);
	const struct expr *e;

	while (o->extent == NULL && (s = stmt_next(&it)) != NULL) {
		if (s->kind == STMT_IF) {
			find_extent(o, s, s->args[0]);
		}
		if (s->kind != STMT_STORE) {
			continue;
		}
		for (struct expr_iter ifs = expr_each_of(s->args[0], EXPR_IF);
		     (e = expr_next(&ifs));) {
			find_extent(o, s, e->args[0]);
		}
	}
}

/* -- legality: is each index of the axis computed independently? */

static struct tile_array *
array_of(struct overlap *o, const struct buffer *b)
{
	for (int i = 0; i < o->arrays.n; i++) {
		if (o->arrays.data[i].buffer == b) {
			return &o->arrays.data[i];
		}
	}
	return NULL;
}

static bool
is_in_tile(const struct overlap *o, const struct expr *e)
{
	return expr_uses_var(e, o->loop->u.loop.var) ||
	       (o->tile && expr_uses_var(e, o->tile));
}

/* Checks an access of a tile array: the variable of the tile loop must be the
 * index in one dimension, the same one for all accesses of the array, and must
 * occur in no other dimension. */
static void
check_element(struct overlap *o, struct tile_array *array,
	      const struct expr *const *index)
{
	for (int d = 0; d < array->buffer->ndim; d++) {
		bool own = index[d]->kind == EXPR_VAR && o->tile &&
			   index[d]->u.var == o->tile;

		if (own && array->dim < 0) {
			array->dim = d;
		}
		o->refused |= expr_has_load(index[d]) ||
			      (own ? array->dim != d : is_in_tile(o, index[d]));
		o->refused |= !own && array->dim == d;
	}
	o->refused |= array->dim < 0;
}

/* Checks loads from tile arrays and replaces them by variables. */
static const struct expr *
load_to_var(void *ctx, const struct expr *e)
{
	struct overlap *o = ctx;
	struct tile_array *array;
	struct var *v;

	if (e->kind == EXPR_CALL &&
	    (intrin_is_address(e->u.intrin) || !intrin_is_pure(e->u.intrin))) {
		o->refused = true;
	}
	if (e->kind != EXPR_LOAD) {
		return NULL;
	}
	array = array_of(o, e->u.buffer);
	if (!array) {
		vec_push(&o->func->module->arena, &o->read, e->u.buffer);
		return NULL;
	}
	check_element(o, array, e->args);
	v = var_new(o->func->module, "element", e->type);
	vec_push(&o->func->module->arena, &o->loads, e);
	vec_push(&o->func->module->arena, &o->elements, v);
	return v->expr;
}

/* The expression e in terms of p, the index along the whole axis: the variable
 * o->tile of the tile loop is replaced by p minus the tile's first index. */
static const struct expr *
over_axis_index(struct overlap *o, struct analyser *a, const struct expr *e)
{
	struct module *m = o->func->module;
	const struct expr *outer = o->loop->u.loop.var->expr;
	const struct expr *inner =
		expr_sub(m, o->axis_index->expr,
			 expr_mul(m, outer, expr_int(m, outer->type, o->size)));
	struct var_map map = { &o->tile, &inner, 1 };

	return simplify(a, expr_substitute(m, e, &map));
}

static void
enter(struct overlap *o, struct analyser *a, const struct stmt *s)
{
	const struct dtype type = o->axis_index->type;
	struct module *m = o->func->module;

	analyser_at(a, m, s);
	analyser_bind(a, o->axis_index, expr_int(m, type, 0), o->extent);
}

static void
check_expr(struct overlap *o, const struct stmt *s, const struct expr *e)
{
	struct analyser a;

	e = expr_rewrite(o->func->module, e, load_to_var, o);
	if (!is_in_tile(o, e)) {
		return;
	}
	if (!o->tile) {
		o->refused = true;
		return;
	}
	enter(o, &a, s);
	o->refused |= is_in_tile(o, over_axis_index(o, &a, e));
}

/* Is the store the only one to its buffer, or at the same place of the axis as the
 * others? In the last tile, indices come again for which later stores have run in the
 * tile before. */
static bool
is_in_place(const struct overlap *o, const struct stmt *s)
{
	bool uses = false;

	for (int d = 1; d < s->n_args; d++) {
		uses |= expr_uses_var(s->args[d], o->tile);
	}
	for (int i = 0; i < o->stores.n && uses; i++) {
		const struct result_store *x = &o->stores.data[i];
		struct var *from = x->tile;
		struct var_map map = { &from, &o->tile->expr, 1 };

		for (int d = 1;
		     x->store->u.buffer == s->u.buffer && d < s->n_args && uses;
		     d++) {
			uses = expr_substitute(o->func->module,
					       x->store->args[d],
					       &map) == s->args[d];
		}
	}
	return uses;
}

static void
check_store(struct overlap *o, struct stmt *s)
{
	struct tile_array *array = array_of(o, s->u.buffer);

	if (array) {
		check_element(o, array, s->args + 1);
	} else if (!o->tile || !is_in_place(o, s)) {
		o->refused = true;
	} else {
		struct result_store x = { s, o->tile };

		vec_push(&o->func->module->arena, &o->stores, x);
		vec_push(&o->func->module->arena, &o->written, s->u.buffer);
		for (int i = 1; i < s->n_args; i++) {
			check_expr(o, s, s->args[i]);
		}
	}
	check_expr(o, s, s->args[0]);
}

static void check(struct overlap *o, struct stmt *s);

static bool
may_be_tile(const struct overlap *o, const struct stmt *s)
{
	return !o->tile && expr_is_value(s->args[0], 0) &&
	       expr_is_value(s->args[1], o->size);
}

/* Checks s as a tile loop; if that fails, as any other loop. */
static void
check_loop(struct overlap *o, struct stmt *s)
{
	int arrays = o->arrays.n;

	if (s->u.loop.kind == FOR_PARALLEL || s->u.loop.kind == FOR_THREAD ||
	    is_in_tile(o, s->args[0]) || is_in_tile(o, s->args[1])) {
		o->refused = true;
		return;
	}
	if (may_be_tile(o, s)) {
		o->tile = s->u.loop.var;
		check(o, s->children[0]);
		o->tile = NULL;
		if (!o->refused) {
			return;
		}
		o->refused = false;
		o->arrays.n = arrays;
	}
	check(o, s->children[0]);
}

static void
check(struct overlap *o, struct stmt *s)
{
	struct tile_array array = { s->u.buffer, -1 };

	if (o->refused) {
		return;
	}
	switch (s->kind) {
	case STMT_FOR:
		check_loop(o, s);
		return;
	case STMT_STORE:
		check_store(o, s);
		return;
	case STMT_ALLOC:
		/* An array allocated in the tile loop is private to one index
		 * of the axis. */
		if (!o->tile) {
			vec_push(&o->func->module->arena, &o->arrays, array);
		}
		break;
	case STMT_IF:
	case STMT_LET:
		check_expr(o, s, s->args[0]);
		break;
	case STMT_SEQ:
		break;
	default:
		o->refused = true;
		return;
	}
	for (int i = 0; i < s->n_children; i++) {
		if (s->children[i]) {
			check(o, s->children[i]);
		}
	}
}

static bool
results_not_read(const struct overlap *o)
{
	for (int i = 0; i < o->written.n; i++) {
		for (int k = 0; k < o->read.n; k++) {
			if (o->read.data[k] == o->written.data[i]) {
				return false;
			}
		}
	}
	return o->written.n > 0;
}

/* -- the rewrite */

/* The expression e with i_start + i_i for the axis index; NULL if e does not
 * belong to the tile loop o->tile. */
static const struct expr *
shifted(struct overlap *o, const struct stmt *s, const struct expr *e)
{
	struct module *m = o->func->module;
	const struct expr *at = expr_add(m, o->start->expr, o->tile->expr);
	struct var_map map = { &o->axis_index, &at, 1 }, loads;
	struct analyser a;

	o->loads.n = o->elements.n = 0;
	o->refused = false;
	e = expr_rewrite(m, e, load_to_var, o);
	enter(o, &a, s);
	e = over_axis_index(o, &a, e);
	if (o->refused || expr_uses_var(e, o->loop->u.loop.var)) {
		return NULL;
	}
	loads = (struct var_map){ o->elements.data, o->loads.data, o->loads.n };
	return expr_substitute(m, expr_substitute(m, e, &map), &loads);
}

static void
shift(struct overlap *o, struct stmt *s)
{
	for (struct stmt_iter it = stmt_each(s); (s = stmt_next(&it));) {
		for (int i = 0; i < s->n_args; i++) {
			const struct expr *e = NULL;

			if (!expr_uses_var(s->args[i], o->loop->u.loop.var)) {
				continue;
			}
			for (struct stmt *p = s->parent; !e && p != o->loop;
			     p = p->parent) {
				if (p->kind == STMT_FOR &&
				    expr_is_value(p->args[1], o->size)) {
					o->tile = p->u.loop.var;
					e = shifted(o, s, s->args[i]);
				}
			}
			assert(e);
			stmt_set_arg(o->func, s, i, e);
		}
	}
}

/* The name of the variable for a tile's start: "i_start" for a loop "i_o". */
static const char *
start_name(struct module *m, const char *name)
{
	int n = (int)strlen(name);

	n -= n > 2 && strcmp(name + n - 2, "_o") == 0 ? 2 : 0;
	return arena_printf(&m->arena, "%.*s_start", n, name);
}

/* Does the loop have a tile for each `size` indices of the axis, and one tile
 * for the remaining indices? */
static bool
covers_axis(const struct overlap *o, struct analyser *a)
{
	struct module *m = o->func->module;
	const struct expr *size = expr_int(m, o->extent->type, o->size);
	const struct expr *last = expr_int(m, o->extent->type, o->size - 1);
	int64_t extent;

	return dtype_equal(o->extent->type, o->loop->u.loop.var->type) &&
	       !expr_is_value(o->loop->args[1], 1) &&
	       (!expr_is_int(o->extent, &extent) || extent >= o->size) &&
	       prove_equal(a, o->loop->args[1],
			   expr_floordiv(m, expr_add(m, o->extent, last),
					 size));
}

/* Drops the note "overlap" from s and from the loops inside of it. */
static void
drop_notes(struct func *f, struct stmt *s)
{
	for (struct stmt_iter it = stmt_each_of(s, STMT_FOR);
	     (s = stmt_next(&it));) {
		stmt_set_note(f, s, "overlap", NULL);
	}
}

/* Puts the condition that the axis has a whole tile around the loop, and around
 * outer loops that do not change the condition. A copy of the loops with guards
 * computes shorter axes. */
static void
keep_short_axis(struct func *f, struct stmt *loop, const struct expr *whole)
{
	struct stmt_place place;
	struct stmt *guarded;

	while (loop->parent && loop->parent->kind == STMT_FOR &&
	       !expr_uses_var(whole, loop->parent->u.loop.var)) {
		loop = loop->parent;
	}
	place = stmt_place_of(loop);
	guarded = stmt_clone(f, loop, true);
	drop_notes(f, guarded);
	stmt_put(f, place, stmt_if(f, whole, loop, guarded));
}

static bool
overlap_loop(struct func *f, struct stmt *loop)
{
	struct overlap o = { .func = f, .loop = loop };
	struct stmt *body = loop->children[0];
	struct module *m = f->module;
	struct var *v = loop->u.loop.var;
	const struct expr *size, *whole;
	struct stmt_place place;
	struct analyser a;

	if (loop->u.loop.kind != FOR_SERIAL ||
	    !expr_is_value(loop->args[0], 0)) {
		return false;
	}
	find_guard(&o, body);
	analyser_at(&a, m, loop);
	if (o.extent == NULL || !covers_axis(&o, &a)) {
		return false;
	}
	o.axis_index = var_new(m, "point", v->type);
	check(&o, body);
	if (o.refused || !results_not_read(&o)) {
		return false;
	}
	size = expr_int(m, v->type, o.size);
	whole = expr_le(m, size, o.extent);
	if (!prove(&a, whole)) {
		keep_short_axis(f, loop, whole);
	}
	o.start = var_new(m, start_name(m, v->name), v->type);
	shift(&o, body);
	place = stmt_place_of(body);
	stmt_put(f, place,
		 stmt_let(f, o.start,
			  expr_min(m, expr_mul(m, v->expr, size),
				   expr_sub(m, o.extent, size)),
			  body));
	return true;
}

/* Finds the loop whose note "overlap" has the largest value, and removes the
 * note; NULL if no loop has the note. A loop whose condition goes around
 * another loop has the larger note. */
static struct stmt *
take_loop(struct func *f)
{
	struct stmt_list loops = loops_noted(f, "overlap");
	struct stmt *best = NULL;
	int64_t most = 0, rank;

	for (int i = 0; i < loops.list.n; i++) {
		struct stmt *loop = loops.list.data[i];

		if (expr_is_int(stmt_note(loop, "overlap"), &rank) &&
		    rank > most) {
			best = loop;
			most = rank;
		}
	}
	if (best != NULL) {
		stmt_set_note(f, best, "overlap", NULL);
	}
	return best;
}

bool
lower_overlap(struct func *f)
{
	struct stmt_list loops = loops_noted(f, "overlap");
	struct stmt *loop;
	bool changed = false;

	if (loops.list.n > 0) {
		/* The pass `storage` has compacted arrays, so that indices have
		 * the form index - min: simplify them. */
		simplify_func(f);
	}
	while ((loop = take_loop(f)) != NULL) {
		changed |= overlap_loop(f, loop);
	}
	loops = loops_noted(f, "overlap");
	for (int i = 0; i < loops.list.n; i++) {
		stmt_set_note(f, loops.list.data[i], "overlap", NULL);
	}
	if (changed) {
		simplify_func(f);
	}
	return true;
}
