/* SPDX-License-Identifier: Apache-2.0 */
/* Shifts the last, partial tile of an axis back to a full one that overlaps its
 * predecessor.
 *
 *   for i_o in range(3):                  for i_o in range(3):
 *       for i_i in T.unroll(8):               i_start = T.min(i_o * 8, 11)
 *           if i_o * 8 + i_i < 19:  ->        for i_i in T.unroll(8):
 *               y[i_o * 8 + i_i] = ...            y[i_start + i_i] = ...
 *
 * Applies to a serial loop with the note "overlap". Each iteration of its tile
 * loop must compute one index of the axis, p = i_o * 8 + i_i, from buffers that
 * the loop does not write: then elements in the overlap of two tiles are
 * computed twice, with the same result. The proof substitutes p - i_o * 8 for
 * i_i in every expression of the body; the result must not depend on i_o.
 * Arrays allocated in the loop but outside of the tile need one dimension whose
 * index is i_i, so that each index of the axis uses its own elements. Otherwise
 * the loop is not changed, and the pass partition-loops splits off its last
 * tile. */
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
	int dim; /* the dimension indexed by the tile loop; -1: not known yet */
};

struct overlap {
	struct func *func;
	struct stmt *loop;    /* the serial loop i_o, with the note "overlap" */
	int64_t size, extent; /* of a tile and of the axis: 8 and 19 above; 0
			       * before a guard is found */
	/* p, in the analysis and the rewrite; i_start, the first index of the
	 * tile */
	struct var *axis_index, *start;
	VEC(struct tile_array) arrays;
	/* buffers allocated outside of the loop that it reads, and writes */
	VEC(const struct buffer *) read, written;
	/* loads from tile arrays and the variables that replace them during the
	 * analysis of an expression */
	VEC(const struct expr *) loads;
	VEC(struct var *) elements;
	/* The variable of the tile loop around the expression that is analysed;
	 * NULL outside of tile loops. */
	struct var *tile;
	bool refused; /* the loop cannot be changed */
};

/* -- extents of the axis and of the tile, from a guard */

/* Sets o->size and o->extent if cond, a guard at `at`, has a conjunct that
 * compares an index of the tiled axis with the axis's extent. */
static void
find_extent(struct overlap *o, struct stmt *at, const struct expr *cond)
{
	struct module *m = o->func->module;
	struct conjuncts all = { 0 };
	struct analyser a;

	analyser_at(&a, m, at);
	expr_conjuncts(m, cond, &all);
	for (int i = 0; i < all.list.n && o->extent == 0; i++) {
		const struct expr *rest;
		int64_t size;

		if (!partition_guard(&a, o->loop->u.loop.var, all.list.data[i],
				     &size, &rest) ||
		    size < 2 ||
		    !partition_is_tiled(&a, o->loop, at, rest, size)) {
			continue;
		}
		for (struct stmt *s = at; s != o->loop; s = s->parent) {
			int64_t one, last;

			if (s->kind == STMT_FOR &&
			    expr_is_value(s->args[1], size) &&
			    analyse_affine(&a, rest, &s->u.loop.var, 1, &one,
					   &rest) &&
			    one == 1 && expr_is_int(rest, &last)) {
				o->size = size;
				o->extent = 1 - last;
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

	while (o->extent == 0 && (s = stmt_next(&it)) != NULL) {
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

/* Checks that an access of a tile array has the tile loop's index in one
 * dimension, which is the same for all accesses, and in no other dimension. */
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

/* e in terms of the axis index instead of o->tile, the variable of the tile
 * loop around it. */
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
	analyser_bind(a, o->axis_index, expr_int(m, type, 0),
		      expr_int(m, type, o->extent));
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

static void
check_store(struct overlap *o, struct stmt *s)
{
	struct tile_array *array = array_of(o, s->u.buffer);

	if (array) {
		check_element(o, array, s->args + 1);
	} else if (!o->tile) {
		o->refused = true;
	} else {
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

/* Checks the loop as a tile loop; if that fails, as any other loop. */
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

/* e with i_start + i_i for the axis index; NULL if e does not belong to the
 * tile loop o->tile. */
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

/* The variable's name: "i_start" for a loop "i_o". */
static const char *
start_name(struct module *m, const char *name)
{
	int n = (int)strlen(name);

	n -= n > 2 && strcmp(name + n - 2, "_o") == 0 ? 2 : 0;
	return arena_printf(&m->arena, "%.*s_start", n, name);
}

static bool
overlap_loop(struct func *f, struct stmt *loop)
{
	struct overlap o = { .func = f, .loop = loop };
	struct stmt *body = loop->children[0];
	struct module *m = f->module;
	struct var *v = loop->u.loop.var;
	struct stmt_place place;
	int64_t extent;

	if (loop->u.loop.kind != FOR_SERIAL ||
	    !expr_is_value(loop->args[0], 0) ||
	    !expr_is_int(loop->args[1], &extent)) {
		return false;
	}
	find_guard(&o, body);
	if (o.extent < o.size || o.size == 0 || extent < 2 ||
	    extent != (o.extent + o.size - 1) / o.size) {
		return false;
	}
	o.axis_index = var_new(m, "point", v->type);
	check(&o, body);
	if (o.refused || !results_not_read(&o)) {
		return false;
	}
	o.start = var_new(m, start_name(m, v->name), v->type);
	shift(&o, body);
	place = stmt_place_of(body);
	stmt_put(f, place,
		 stmt_let(f, o.start,
			  expr_min(m,
				   expr_mul(m, v->expr,
					    expr_int(m, v->type, o.size)),
				   expr_int(m, v->type, o.extent - o.size)),
			  body));
	return true;
}

bool
lower_overlap(struct func *f)
{
	struct stmt_list loops = loops_noted(f, "overlap");
	bool changed = false;

	if (loops.list.n > 0) {
		/* The pass `storage` has compacted arrays, so that indices have
		 * the form index - min: simplify them. */
		simplify_func(f);
		loops = loops_noted(f, "overlap");
	}
	for (int i = 0; i < loops.list.n; i++) {
		struct stmt *loop = loops.list.data[i];

		changed |= !expr_is_value(stmt_note(loop, "overlap"), 0) &&
			   overlap_loop(f, loop);
		stmt_set_note(f, loop, "overlap", NULL);
	}
	if (changed) {
		simplify_func(f);
	}
	return true;
}
