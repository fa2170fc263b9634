/* SPDX-License-Identifier: Apache-2.0 */
/* Reduces each column of a window's rows once, for all windows that have the
 * column (pools over row-major data):
 *
 *   pool[c, oh, ow] = max(pool[..], if_then_else(0 <= oh * 2 + kh - 1 and
 *                         0 <= ow * 2 + kw - 1, x[c, oh * 2 + kh - 1,
 *                                                 ow * 2 + kw - 1], nan))
 *   ->
 *   columns[c, oh, w] = max(columns[..], if_then_else(0 <= oh * 2 + kh - 1,
 *                                         x[c, oh * 2 + kh - 1, w], nan))
 *   bordered[c, oh, w] = if_then_else(1 <= w, columns[c, oh, w - 1], nan)
 *   pool[c, oh, ow] = max(pool[..], bordered[c, oh, ow * 2 + kw])
 *
 * Then the columns of a row are contiguous lanes without a guard, and a window
 * of kh * kw elements takes about kh * stride + kw steps. The window must reduce
 * by a sum, a minimum or a maximum, whose order is free. */
#include "iterate.h"
#include "layouts.h"
#include "scope.h"

enum { LEAST_COLUMNS = 4, MOST_DIMS = 8 };

struct windows {
	struct func *f;
	struct module *m;
	struct stmt *block, *store;
	/* own: which operand of the update is the accumulator; the next member:
	 * the value that is combined with it */
	int own;
	const struct expr *value, *identity;
	const struct expr *load;
	/* the IF around the load, which is its test; NULL: the load has no
	 * test */
	const struct expr *test;
	/* lane: the iter var of the results' last dimension; tap: that of the
	 * window's last dimension */
	int lane, tap;
	int64_t stride;
	/* the conditions of the test that use columns, and its remaining
	 * conditions; NULL: there are none */
	const struct expr *on_columns, *on_rows;
	int64_t before, after; /* the sizes of the border of the columns */
};

static const struct iter_var *
iter_at(const struct windows *w, int i)
{
	return &w->block->u.block->iters[i];
}

/* Finds the accumulator in the update, which must be the sum, the minimum or
 * the maximum of the accumulator and a value. */
static bool
find_update(struct windows *w)
{
	const struct expr *e = w->store->args[0];

	w->own = access_own_operand(w->store);
	if (w->own < 0 ||
	    (e->kind != EXPR_ADD && e->kind != EXPR_MIN &&
	     e->kind != EXPR_MAX &&
	     (e->kind != EXPR_CALL || e->u.intrin != INTRIN_FMAX))) {
		return false;
	}
	w->value = e->args[1 - w->own];
	return !expr_uses_buffer(w->value, w->store->u.buffer);
}

/* Finds the only load in the value, and its only test: an IF around the load
 * that gives the identity element where the test fails. False if there are
 * several. */
static bool
find_load(struct windows *w)
{
	const struct expr *e, *outside;
	struct analyser a;
	int loads = 0, tests = 0;

	for (struct expr_iter it = expr_each(w->value);
	     (e = expr_next(&it)) != NULL;) {
		if (e->kind == EXPR_LOAD) {
			w->load = e;
			loads++;
		} else if (e->kind == EXPR_IF) {
			w->test = e;
			tests++;
		}
	}
	if (loads != 1 || tests > 1 || w->load->n_args < 2 ||
	    w->load->n_args > MOST_DIMS) {
		return false;
	}
	if (tests == 0) {
		return true;
	}
	analyser_init(&a, w->m);
	outside = expr_replace(w->m, w->value, &w->test, &w->test->args[2], 1);
	return w->test->args[1] == w->load && w->test->args[2]->n_args == 0 &&
	       simplify(&a, outside) == w->identity;
}

/* Does e use an iter var of the block other than those of the columns? */
static bool
uses_others(const struct windows *w, const struct expr *e)
{
	for (int i = 0; i < w->block->u.block->n_iters; i++) {
		if (i != w->lane && i != w->tap &&
		    expr_uses_var(e, iter_at(w, i)->var)) {
			return true;
		}
	}
	return false;
}

static bool
uses_columns(const struct windows *w, const struct expr *e)
{
	return expr_uses_var(e, iter_at(w, w->lane)->var) ||
	       expr_uses_var(e, iter_at(w, w->tap)->var);
}

/* Finds the iter vars of the last dimension: the load's last index must be lane
 * * stride + tap * dilation + rest, where lane is the last index of the store;
 * no other index may use lane or tap. */
static bool
find_columns(struct windows *w)
{
	const struct block *b = w->block->u.block;
	const struct expr *last = w->load->args[w->load->n_args - 1], *rest;
	const struct expr *lane = w->store->args[w->store->n_args - 1];
	const struct expr *none = expr_const(w->m, w->load->type, 0);
	struct analyser a;

	w->lane = w->tap = -1;
	for (int i = 0; i < b->n_iters; i++) {
		struct var *v = b->iters[i].var;

		if (b->iters[i].kind == ITER_REDUCE && expr_uses_var(last, v)) {
			w->tap = w->tap < 0 ? i : b->n_iters;
		} else if (b->iters[i].kind == ITER_SPATIAL &&
			   lane == v->expr) {
			w->lane = i;
		}
	}
	if (w->lane < 0 || w->tap < 0 || w->tap == b->n_iters ||
	    uses_others(w, last)) {
		return false;
	}
	analyser_init(&a, w->m);
	for (int d = 0; d < w->load->n_args - 1; d++) {
		if (uses_columns(w, w->load->args[d])) {
			return false;
		}
	}
	return !uses_columns(w, expr_replace(w->m, w->value,
					     w->test ? &w->test : &w->load,
					     &none, 1)) &&
	       analyse_affine(&a, last, &iter_at(w, w->lane)->var, 1,
			      &w->stride, &rest) &&
	       w->stride > 0;
}

/* Splits the conditions of the test into those that use columns and the
 * remaining ones. False if a condition uses columns and also another iter
 * var. */
static bool
split_test(struct windows *w)
{
	struct conjuncts all = { 0 };

	if (w->test == NULL) {
		return true;
	}
	expr_conjuncts(w->m, w->test->args[0], &all);
	for (int i = 0; i < all.list.n; i++) {
		const struct expr *c = all.list.data[i], **to;

		if (uses_columns(w, c) && uses_others(w, c)) {
			return false;
		}
		to = uses_columns(w, c) ? &w->on_columns : &w->on_rows;
		*to = *to != NULL ? expr_and(w->m, *to, c) : c;
	}
	return true;
}

/* Are the columns worth an array? They are if columns in the padding would be
 * tested one by one, or if the windows take more steps than the columns. */
static bool
is_gain(const struct windows *w)
{
	const struct block *b = w->block->u.block;
	const struct expr *columns =
		w->load->u.buffer->shape[w->load->n_args - 1];
	int64_t rows = 1, taps, n;

	for (int i = 0; i < b->n_iters; i++) {
		if (b->iters[i].kind == ITER_REDUCE && i != w->tap) {
			if (!expr_is_int(b->iters[i].extent, &n) ||
			    n > INT32_MAX / rows) {
				return false;
			}
			rows *= n;
		}
	}
	if (!expr_is_int(b->iters[w->tap].extent, &taps) || rows < 2 ||
	    taps < 2 || taps > INT32_MAX / rows || w->stride > INT32_MAX ||
	    (expr_is_int(columns, &n) && n < LEAST_COLUMNS) ||
	    (expr_is_int(iter_at(w, w->lane)->extent, &n) &&
	     n < LEAST_COLUMNS)) {
		return false;
	}
	return w->on_columns != NULL || rows * taps >= rows * w->stride + taps;
}

/* The indices of the store, with `column` in place of the last index. */
static const struct expr **
index_of(const struct windows *w, const struct expr *column)
{
	int n = w->store->n_args - 1;
	const struct expr **at = arena_exprs(&w->m->arena, n);

	for (int d = 0; d < n; d++) {
		at[d] = d < n - 1 ? w->store->args[1 + d] : column;
	}
	return at;
}

/* A nest around a block that combines the element of b at the indices `at`, the
 * accumulator, with the value. column: the iter var that takes the place of the
 * lane. taps: does the block reduce over the taps of the columns, or, if not,
 * over the other reduction iter vars? */
static struct stmt *
reduction_nest(const struct windows *w, const char *name,
	       const struct iter_var *column, bool taps, const struct buffer *b,
	       const struct expr *const *at, const struct expr *value)
{
	struct module *m = w->m;
	const struct block *old = w->block->u.block;
	int n = old->n_iters, dims = w->store->n_args - 1;
	struct block made = { .name = name };
	const struct expr **bind = arena_exprs(&m->arena, n);
	struct var_map map = {
		.from = arena_array(&m->arena, struct var *, n),
		.to = arena_exprs(&m->arena, n),
	};
	struct range *ranges = arena_array(&m->arena, struct range, n);
	const struct expr *args[2];
	struct stmt *block, *init, *update;

	made.iters = arena_array(&m->arena, struct iter_var, n);
	for (int i = 0; i < n; i++) {
		struct iter_var *it = &made.iters[made.n_iters];

		if (old->iters[i].kind == ITER_REDUCE &&
		    (i == w->tap) != taps) {
			continue;
		}
		*it = i == w->lane ? *column : old->iters[i];
		if (i != w->lane) {
			it->var = var_new(m, it->var->name, it->var->type);
			map.from[map.n] = old->iters[i].var;
			map.to[map.n++] = it->var->expr;
		}
		ranges[made.n_iters] = (struct range){ it->min, it->extent };
		bind[made.n_iters++] = it->min;
	}
	args[w->own] = expr_load(m, b, at, dims);
	args[1 - w->own] = value;
	init = stmt_store(w->f, b, w->identity, at, dims);
	update = stmt_store(w->f, b, expr_rebuild(m, w->store->args[0], args),
			    at, dims);
	block = stmt_block(w->f, &made, NULL, bind, init, update);
	stmt_substitute(w->f, block, &map);
	block_refresh(w->f, block);
	return nest_for_block(w->f, block, ranges, NULL, true);
}

/* The value at column `v`, without the conditions on columns. */
static const struct expr *
value_of_column(const struct windows *w, const struct expr *v)
{
	struct module *m = w->m;
	int n = w->load->n_args;
	const struct expr *at[MOST_DIMS], *load;

	for (int d = 0; d < n; d++) {
		at[d] = d < n - 1 ? w->load->args[d] : v;
	}
	load = expr_load(m, w->load->u.buffer, at, n);
	if (w->on_rows != NULL) {
		load = expr_if(m, w->on_rows, load, w->test->args[2]);
	}
	return expr_replace(m, w->value, w->test ? &w->test : &w->load, &load,
			    1);
}

/* Makes and returns the array of columns, whose elements have the results'
 * type, and sets *nest to the loops that compute it. */
static const struct buffer *
make_columns(const struct windows *w, struct stmt **nest)
{
	struct module *m = w->m;
	const struct buffer *from = w->load->u.buffer, *to = w->store->u.buffer;
	const struct expr *extent = from->shape[from->ndim - 1];
	const struct expr *shape[MOST_DIMS];
	struct iter_var column = {
		.var = var_new(m, "v_column", extent->type),
		.min = expr_int(m, extent->type, 0),
		.extent = extent,
		.kind = ITER_SPATIAL,
	};
	struct buffer_spec spec = {
		.name = "columns",
		.type = to->type,
		.ndim = to->ndim,
		.shape = shape,
		.align_bytes = from->align_bytes,
	};
	const struct buffer *made;

	for (int d = 0; d < to->ndim; d++) {
		shape[d] = d < to->ndim - 1 ? to->shape[d] : extent;
	}
	made = buffer_new(m, &spec);
	*nest = reduction_nest(w, "columns", &column, false, made,
			       index_of(w, column.var->expr),
			       value_of_column(w, column.var->expr));
	return made;
}

/* The name of the iter var in dimension d of the store. */
static const char *
axis_name(const struct windows *w, int d)
{
	const struct expr *e = w->store->args[1 + d];

	return e->kind == EXPR_VAR ? e->u.var->name : "v_i";
}

/* Makes the copy of the columns with a border of the identity, and the nest that
 * computes it. */
static const struct buffer *
make_border(const struct windows *w, const struct buffer *columns,
	    struct stmt **nest)
{
	struct module *m = w->m;
	int last = columns->ndim - 1;
	struct block b = { .name = "bordered", .n_iters = columns->ndim };
	const struct expr *at[MOST_DIMS], *from[MOST_DIMS], *shape[MOST_DIMS];
	struct range ranges[MOST_DIMS];
	const struct expr *inside, *extent = columns->shape[last], *first;
	struct buffer_spec spec = {
		.name = "bordered",
		.type = columns->type,
		.ndim = columns->ndim,
		.shape = shape,
		.align_bytes = columns->align_bytes,
	};
	const struct buffer *made;
	struct stmt *block;

	b.iters = arena_array(&m->arena, struct iter_var, columns->ndim);
	for (int d = 0; d <= last; d++) {
		const struct expr *own = columns->shape[d];
		struct var *v = var_new(m,
					d == last ? "v_column"
						  : axis_name(w, d),
					own->type);

		shape[d] = d == last ? expr_add(m, own,
						expr_int(m, own->type,
							 w->before + w->after))
				     : own;
		b.iters[d] = (struct iter_var){ v, expr_int(m, own->type, 0),
						shape[d], ITER_SPATIAL };
		at[d] = from[d] = v->expr;
		ranges[d] = (struct range){ b.iters[d].min, shape[d] };
	}
	first = expr_int(m, extent->type, w->before);
	from[last] = expr_sub(m, at[last], first);
	inside = expr_and(m, expr_le(m, first, at[last]),
			  expr_lt(m, at[last], expr_add(m, extent, first)));
	made = buffer_new(m, &spec);
	for (int d = 0; d <= last; d++) {
		shape[d] = b.iters[d].min;
	}
	block = stmt_block(w->f, &b, NULL, shape, NULL,
			   stmt_store(w->f, made,
				      expr_if(m, inside,
					      expr_load(m, columns, from,
							columns->ndim),
					      w->identity),
				      at, columns->ndim));
	block_refresh(w->f, block);
	*nest = nest_for_block(w->f, block, ranges, NULL, true);
	return made;
}

static void
use_columns(const struct windows *w)
{
	struct module *m = w->m;
	const struct iter_var *lane = iter_at(w, w->lane);
	struct stmt *scope = scope_of(w->block), *top = w->block;
	struct stmt *nests[3] = { NULL };
	const struct buffer *from = make_columns(w, &nests[0]);
	const struct expr *at = w->load->args[w->load->n_args - 1];

	scope_add_alloc(w->f, scope, from);
	if (w->on_columns != NULL) {
		from = make_border(w, from, &nests[1]);
		scope_add_alloc(w->f, scope, from);
		at = expr_add(m, at, expr_int(m, at->type, w->before));
	}
	nests[2] = reduction_nest(w, w->block->u.block->name, lane, true,
				  w->store->u.buffer, w->store->args + 1,
				  expr_load(m, from, index_of(w, at),
					    from->ndim));
	while (top->parent != scope && top->parent->kind != STMT_SEQ) {
		top = top->parent;
	}
	stmt_put(w->f, stmt_place_of(top), stmt_seq(w->f, nests, 3));
}

/* Finds how far the windows reach beyond the columns. */
static bool
find_border(struct windows *w)
{
	struct guarded_load x = { .at = w->store,
				  .test = w->test,
				  .load = w->load };

	return w->on_columns == NULL ||
	       guarded_load_reach(w->f, w->load->u.buffer, &x,
				  w->load->n_args - 1, &w->before, &w->after);
}

/* Is the block the reduction of windows that is worth the array? */
static bool
has_windows(struct windows *w)
{
	int iter_of[MOST_DIMS];
	const struct stmt *init = w->block->n_children > 1
					  ? w->block->children[1]
					  : NULL;

	w->store = sole_store(w->block);
	if (w->store == NULL || init == NULL || init->kind != STMT_STORE ||
	    w->store->u.buffer->ndim > MOST_DIMS ||
	    w->store->u.buffer->ndim < 1 ||
	    !expr_is_value(w->block->args[0], 1) ||
	    !identity_index(w->block, w->store->u.buffer, w->store->args + 1,
			    iter_of)) {
		return false;
	}
	w->identity = init->args[0];
	return w->identity->n_args == 0 && find_update(w) && find_load(w) &&
	       find_columns(w) && split_test(w) && is_gain(w) && find_border(w);
}

void
layouts_reduce_columns(struct module *m, struct kernel *k,
		       const struct target *target)
{
	struct stmt_list blocks = { 0 };

	if (target->vector_bytes == 0 || target->scalar_accumulators ||
	    target->max_threads > 1 || target->optimize_memory) {
		return;
	}
	blocks_below(k->func, k->func->body->children[0], &blocks);
	for (int i = 0; i < blocks.list.n; i++) {
		struct windows w = { .f = k->func,
				     .m = m,
				     .block = blocks.list.data[i] };

		if (scope_of(w.block) != NULL && has_windows(&w)) {
			use_columns(&w);
			func_commit(k->func);
			return;
		}
	}
}
