/* SPDX-License-Identifier: Apache-2.0 */
/* Copies rows with their padding, so that windows over row-major data can use
 * whole vectors (depthwise convolutions whose channels no block divides):
 *
 *   conv[c, h, w] += if_then_else(0 <= w + kw - 1 < 14 ..., x[c, h + kh - 1,
 *                                 w + kw - 1], 0) * k[c, kh, kw]
 *   ->
 *   rows[c, h, w] = if_then_else(1 <= w < 15 ..., x[c, h - 1, w - 1], 0)
 *   conv[c, h, w] += rows[c, h + kh, w + kw] * k[c, kh, kw]    (w < 16)
 *
 * Then every lane can load without a guard. Results beyond the last column are
 * discarded. */
#include "iterate.h"
#include "layouts.h"
#include "scope.h"

enum { LEAST_COLUMNS = 4, LEAST_LANES = 4, MOST_DIMS = 8 };

struct rows {
	struct func *f;
	struct module *m;
	const struct guarded_load *x;
	struct stmt *block, *store;
	int column; /* the iter var of the stored columns */
	/* the number of columns, rounded up to whole vectors; NULL: not rounded
	 * up */
	const struct expr *wide;
	/* the number of columns in `wide` beyond the real columns */
	const struct expr *beyond;
	/* by dimension of the buffer: the size of the border before it, and the
	 * extent of the dimension with the borders before and after it */
	int64_t before[MOST_DIMS];
	const struct expr *extent[MOST_DIMS];
};

/* The multiple to which the number of columns is rounded up: vectors of the
 * largest size that needs little padding; two vectors for a symbolic number
 * (0). */
static int64_t
whole_vectors(int64_t columns, int64_t lanes)
{
	if (columns == 0) {
		return 2 * lanes;
	}
	while (lanes > LEAST_LANES &&
	       (columns + lanes - 1) / lanes * lanes * 6 > columns * 7) {
		lanes /= 2;
	}
	return lanes;
}

static void
round_up(struct rows *r, const struct expr *columns, int64_t lanes)
{
	struct module *m = r->m;
	struct dtype t = columns->type;
	const struct expr *vectors =
		expr_floordiv(m,
			      expr_add(m, columns, expr_int(m, t, lanes - 1)),
			      expr_int(m, t, lanes));

	r->wide = expr_mul(m, vectors, expr_int(m, t, lanes));
	r->beyond = expr_sub(m, r->wide, columns);
}

/* Does the load's column depend on a reduction axis? If so, the window slides
 * along the columns, and each lane would need a guard of its own. */
static bool
slides(const struct rows *r)
{
	const struct block *b = r->block->u.block;
	const struct expr *last = r->x->load->args[r->x->load->n_args - 1];

	for (int i = 0; i < b->n_iters; i++) {
		if (b->iters[i].kind == ITER_REDUCE &&
		    expr_uses_var(last, b->iters[i].var)) {
			return true;
		}
	}
	return false;
}

/* Finds the iter var of the last dimension, the column. False unless the
 * indices of the load and the store change by 1 with it, and the load depends
 * on the iter vars of all other dimensions. (If the load does not, an operand
 * is shared between channels, and lanes over channels are better.) */
static bool
find_column(struct rows *r)
{
	const struct block *b = r->block->u.block;
	const struct expr *const *at = r->x->load->args;
	int n = r->x->load->n_args, last = r->store->n_args - 1;
	const struct expr *rest;
	struct analyser a;
	int64_t step;

	analyser_init(&a, r->m);
	r->column = -1;
	for (int i = 0; i < b->n_iters; i++) {
		struct var *v = b->iters[i].var;
		bool walks = false;

		if (b->iters[i].kind != ITER_SPATIAL ||
		    expr_is_value(b->iters[i].extent, 1)) {
			continue;
		}
		for (int d = 0; d < n; d++) {
			walks |= expr_uses_var(at[d], v) &&
				 analyse_affine(&a, at[d], &v, 1, &step,
						&rest) &&
				 step != 0;
		}
		if (!walks) {
			return false;
		}
		if (last > 0 && r->store->args[last] == v->expr) {
			r->column = i;
		}
	}
	if (r->column < 0 || !slides(r)) {
		return false;
	}
	for (int d = 0; d < n - 1; d++) {
		if (expr_uses_var(at[d], b->iters[r->column].var)) {
			return false;
		}
	}
	return analyse_affine(&a, at[n - 1], &b->iters[r->column].var, 1, &step,
			      &rest) &&
	       step == 1;
}

/* Sets *at to the bounds of the load's index in dimension d, the upper bound
 * relative to the last element of the dimension; false if the bounds are not
 * known. */
static bool
find_border(struct rows *r, int d, struct bounds *at)
{
	const struct block *b = r->block->u.block;
	const struct expr *shape = r->x->load->u.buffer->shape[d];
	const struct expr *low, *high;
	struct analyser a;
	int64_t last;

	if (expr_is_int(shape, &last)) {
		if (!guarded_load_bounds(r->f, r->x, d, at)) {
			return false;
		}
		at->max -= last - 1;
		return true;
	}
	analyser_init(&a, r->m);
	if (!analyse_cover(&a, r->x->load->args[d], b->iters, b->n_iters, &low,
			   &high)) {
		return false;
	}
	high = simplify(&a, expr_sub(r->m, high,
				     expr_cast(r->m, high->type, shape)));
	if (!expr_is_int(simplify(&a, low), &at->min) ||
	    !expr_is_int(high, &at->max)) {
		return false;
	}
	at->max++;
	return true;
}

/* Sets r->extent to the extents of the rows with their padding. False if the
 * padding is not known. */
static bool
find_extents(struct rows *r)
{
	const struct buffer *b = r->x->load->u.buffer;
	struct module *m = r->m;

	for (int d = 0; d < b->ndim; d++) {
		struct dtype t = b->shape[d]->type;
		bool columns = d == b->ndim - 1 && r->wide != NULL;
		struct bounds at;
		int64_t after, beyond;

		if (!find_border(r, d, &at)) {
			return false;
		}
		if (columns && expr_is_int(r->beyond, &beyond)) {
			at.max += beyond;
			columns = false;
		}
		r->before[d] = at.min < 0 ? -at.min : 0;
		after = at.max > 0 ? at.max : 0;
		r->extent[d] = expr_add(m, b->shape[d],
					expr_int(m, t, r->before[d] + after));
		if (columns) {
			struct analyser a;

			analyser_init(&a, m);
			r->extent[d] = simplify(&a, expr_add(m, r->extent[d],
							     r->beyond));
		}
	}
	return true;
}

/* rows[i] = if_then_else(i - before is inside of x, x[i - before], 0) */
static struct stmt *
make_rows(struct rows *r, const struct buffer *to)
{
	struct module *m = r->m;
	const struct buffer *from = r->x->load->u.buffer;
	struct block b = { .name = "rows", .n_iters = to->ndim };
	const struct expr *at[MOST_DIMS], *index[MOST_DIMS], *bind[MOST_DIMS];
	const struct expr *inside = expr_bool(m, true), *value;
	struct range ranges[MOST_DIMS];
	struct stmt *block;

	b.iters = arena_array(&m->arena, struct iter_var, to->ndim);
	for (int d = 0; d < to->ndim; d++) {
		static const char *const names[] = { "v_n", "v_c", "v_ih",
						     "v_iw" };
		struct iter_var *it = &b.iters[d];
		struct dtype t = from->shape[d]->type;

		*it = (struct iter_var){
			.var = var_new(m, to->ndim == 4 ? names[d] : "v_i", t),
			.min = expr_int(m, t, 0),
			.extent = to->shape[d],
			.kind = ITER_SPATIAL,
		};
		at[d] = it->var->expr;
		bind[d] = it->min;
		ranges[d] = (struct range){ it->min, it->extent };
		index[d] = at[d];
		if (r->before[d] > 0) {
			index[d] = expr_sub(m, at[d],
					    expr_int(m, t, r->before[d]));
			inside = expr_and(m, inside,
					  expr_le(m,
						  expr_int(m, t, r->before[d]),
						  at[d]));
		}
		if (to->shape[d] != from->shape[d]) {
			inside = expr_and(
				m, inside,
				expr_lt(m, at[d],
					expr_add(m, from->shape[d],
						 expr_int(m, t,
							  r->before[d]))));
		}
	}
	value = expr_if(m, inside, expr_load(m, from, index, to->ndim),
			r->x->test->args[2]);
	block = stmt_block(r->f, &b, NULL, bind, NULL,
			   stmt_store(r->f, to, value, at, to->ndim));
	block_refresh(r->f, block);
	return nest_for_block(r->f, block, ranges, NULL, true);
}

static void
widen_columns(struct rows *r)
{
	struct module *m = r->m;
	const struct buffer *b = r->store->u.buffer, *wider;
	const struct expr *shape[MOST_DIMS];
	struct block info = *r->block->u.block;
	struct iter_var *it;
	struct stmt *scope = scope_of(r->block);

	info.iters = arena_array(&m->arena, struct iter_var, info.n_iters);
	for (int i = 0; i < info.n_iters; i++) {
		info.iters[i] = r->block->u.block->iters[i];
	}
	it = &info.iters[r->column];
	for (struct stmt *s = r->block; s != scope; s = s->parent) {
		if (s->kind == STMT_FOR &&
		    r->block->args[1 + r->column] == s->u.loop.var->expr) {
			stmt_set_arg(r->f, s, 1,
				     expr_cast(m, s->args[1]->type, r->wide));
		}
	}
	it->extent = expr_cast(m, it->extent->type, r->wide);
	stmt_set_block(r->f, r->block, &info);
	for (int d = 0; d < b->ndim; d++) {
		shape[d] = d < b->ndim - 1 ? b->shape[d] : it->extent;
	}
	wider = buffer_with_shape(m, b, b->ndim, shape);
	buffer_swap_all(r->f, b, wider);
}

static void
use_rows(struct rows *r)
{
	struct module *m = r->m;
	const struct buffer *from = r->x->load->u.buffer, *to;
	const struct expr *shape[MOST_DIMS], *at[MOST_DIMS];
	struct buffer_spec spec = {
		.name = "rows",
		.type = from->type,
		.ndim = from->ndim,
		.shape = shape,
		.align_bytes = from->align_bytes,
	};
	const struct expr *load;
	struct stmt *scope = scope_of(r->block), *top = r->block, *pair[2];
	struct stmt_place place;

	for (int d = 0; d < from->ndim; d++) {
		struct dtype t = from->shape[d]->type;

		shape[d] = r->extent[d];
		at[d] = expr_add(m, r->x->load->args[d],
				 expr_int(m, t, r->before[d]));
	}
	to = buffer_new(m, &spec);
	load = expr_load(m, to, at, from->ndim);
	for (int k = 0; k < r->store->n_args; k++) {
		stmt_set_arg(r->f, r->store, k,
			     expr_replace(m, r->store->args[k], &r->x->test,
					  &load, 1));
	}
	if (r->wide != NULL) {
		widen_columns(r);
	}
	block_refresh(r->f, r->block);
	while (top->parent != scope && top->parent->kind != STMT_SEQ) {
		top = top->parent;
	}
	place = stmt_place_of(top);
	pair[0] = make_rows(r, to);
	pair[1] = top;
	stmt_put(r->f, place, stmt_seq(r->f, pair, 2));
	scope_add_alloc(r->f, scope, to);
}

/* Finds the reduction block around the function's only store, and sets r->store
 * and r->block; false if there is no such block. */
static bool
find_block(struct rows *r)
{
	struct stmt *s = r->x->at;

	r->store = s;
	while (s != NULL && s->kind != STMT_BLOCK) {
		s = s->parent;
	}
	r->block = s;
	if (s == NULL || scope_of(s) == NULL || sole_store(s) != r->store ||
	    func_has_param(r->f, r->store->u.buffer)) {
		return false;
	}
	for (int i = 0; i < s->u.block->n_iters; i++) {
		if (s->u.block->iters[i].kind == ITER_REDUCE) {
			return true;
		}
	}
	return false;
}

static bool
rows_of(struct module *m, struct func *f, const struct buffer *b,
	const struct target *target)
{
	struct guarded_loads loads = { 0 };
	struct rows r = { .f = f, .m = m };
	const struct expr *columns;
	int64_t number = 0;

	guarded_loads_find(f, b, &loads);
	if (loads.list.n != 1 || b->ndim > MOST_DIMS || b->ndim < 2 ||
	    !dtype_is_float(b->type) || b->type.lanes != 1) {
		return false;
	}
	r.x = &loads.list.data[0];
	if (!find_block(&r) || !find_column(&r)) {
		return false;
	}
	columns = r.block->u.block->iters[r.column].extent;
	if (expr_is_int(columns, &number) && number < LEAST_COLUMNS) {
		return false;
	}
	round_up(&r, columns,
		 whole_vectors(number,
			       target->vector_bytes / dtype_bytes(b->type)));
	if (!find_extents(&r) || !guarded_load_holds_inside(f, b, r.x)) {
		return false;
	}
	use_rows(&r);
	return true;
}

/* Would a border in memory make buffer b larger by at least a tenth? A narrower
 * border costs less than copying the rows. */
static bool
is_wide(const struct rows *r, const struct buffer *b)
{
	double ratio = 1;
	int64_t extent, wider;

	for (int d = 0; d < b->ndim; d++) {
		if (expr_is_int(b->shape[d], &extent) && extent > 0 &&
		    expr_is_int(r->extent[d], &wider)) {
			ratio *= (double)wider / (double)extent;
		}
	}
	return ratio >= 1.1;
}

/* If only one load reads buffer b beyond its edges, and it is in a sum of
 * products: sets *loads to this load, and the fields of r to its block, its
 * store, and the extents with the border. Else returns false. */
static bool
find_products(struct rows *r, const struct buffer *b,
	      struct guarded_loads *loads)
{
	int64_t elems;

	guarded_loads_find(r->f, b, loads);
	if (loads->list.n != 1 || b->ndim > MOST_DIMS) {
		return false;
	}
	r->x = &loads->list.data[0];
	return find_block(r) && buffer_const_elems(b, &elems) &&
	       guarded_load_holds_inside(r->f, b, r->x) &&
	       expr_has(r->store->args[0], EXPR_MUL) && find_extents(r);
}

/* Like find_products, but false if the elements of b are not bytes. If `narrow`
 * is not set, also false if a halo in memory would be narrow. */
static bool
find_bytes(struct rows *r, const struct buffer *b, bool narrow,
	   struct guarded_loads *loads)
{
	return dtype_is_int(b->type) && dtype_bits(b->type) == 8 &&
	       find_products(r, b, loads) && (narrow || is_wide(r, b));
}

bool
layouts_copies_border(struct module *m, struct func *f, const struct buffer *b,
		      bool narrow, const struct target *target)
{
	struct rows r = { .f = f, .m = m };
	struct guarded_loads loads = { 0 };

	return target->copied_borders && find_bytes(&r, b, narrow, &loads);
}

void
layouts_copy_borders(struct module *m, struct kernel *k,
		     const struct target *target)
{
	for (int i = 0; target->copied_borders && i < k->args.n; i++) {
		const struct kernel_arg *arg = &k->args.data[i];
		struct rows r = { .f = k->func, .m = m };
		struct guarded_loads loads = { 0 };

		if (arg->kind == ARG_TENSOR && arg->tensor->layout != NULL &&
		    find_bytes(&r, arg->buffer, arg->tensor->layout->copied,
			       &loads)) {
			use_rows(&r);
			func_commit(k->func);
			return;
		}
	}
}

/* Copies the rows that a sum of products reads beyond the edges of b, if
 * vectorization is left to the compiler, which does not vectorize loads under
 * conditions. */
static bool
border_of(struct module *m, struct func *f, const struct buffer *b,
	  const struct target *target)
{
	struct rows r = { .f = f, .m = m };
	struct guarded_loads loads = { 0 };

	if (target->complete_unroll == 0 || !find_products(&r, b, &loads)) {
		return false;
	}
	use_rows(&r);
	return true;
}

void
layouts_widen_rows(struct module *m, struct kernel *k,
		   const struct target *target)
{
	bool changed = false;

	if (!target_has_vectors(target) || target->block_elems == 0 ||
	    func_find_block(k->func, "rows") != NULL) {
		return;
	}
	for (int i = 0; i < k->args.n && !changed; i++) {
		if (k->args.data[i].kind == ARG_TENSOR) {
			changed = rows_of(m, k->func, k->args.data[i].buffer,
					  target) ||
				  border_of(m, k->func, k->args.data[i].buffer,
					    target);
		}
	}
	if (changed) {
		func_commit(k->func);
	}
}
