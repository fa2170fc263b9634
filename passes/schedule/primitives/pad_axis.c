/* SPDX-License-Identifier: Apache-2.0 */
/* pad_parameter: extends a constant by zeros at the end of its dimensions.
 * pad_axis: makes a spatial axis of a block longer. The additional results are
 * not read, but the elements from which they are computed must exist.
 *
 *   B (9, 4)                         pad_parameter(C, 1, [16, 4])
 *   for i in 9, k in 4:              pad_axis(C, 0, 16)
 *       C[v_i] += A[v_k]         ->      B (16, 4)
 *               * B[v_i, v_k]            for i in 16, k in 4:
 *   for i in 9: D[v_i] = C[v_i]              C[v_i] += A[v_k] * B[v_i, v_k]
 *                                        for i in 9: D[v_i] = C[v_i]
 *
 * With zeros (the argument True), the additional results are 0, and no elements
 * are read for them. A reduction axis can be extended only if the additional
 * terms are 0, because a factor is a constant that pad_parameter has extended
 * along the axis.
 *
 *   for k in 9: C[v_k] = A[v_k]      pad_axis(C, 0, 16, True)
 *   for i, k in 9:                   pad_parameter(D, 1, [4, 16])
 *       D[v_i] += C[v_k]             pad_axis(D, 1, 16)
 *               * B[v_i, v_k]    ->      for k in 16:
 *                                            C[v_k] = A[v_k] if v_k < 9 else 0
 *                                        for i, k in 16:
 *                                            D[v_i] += C[v_k] * B[v_i, v_k] */
#include "copy_block.h"
#include "iterate.h"

struct padding {
	struct edit *e;
	struct stmt *block, *loop;
	struct stmt *store;
	const struct iter_var *iter;
	const struct expr *extent;
	int number; /* the number of the iter var that is padded */
};

static bool
find_axis(struct padding *p, int64_t number, int64_t extent)
{
	struct edit *e = p->e;
	const struct block *b = p->block->u.block;
	int64_t now;

	if (number < 0 || number >= b->n_iters) {
		return edit_fail(e, "block %s has no iter var %lld", b->name,
				 (long long)number);
	}
	p->number = (int)number;
	p->iter = &b->iters[number];
	p->extent = expr_i32(e->m, extent);
	if (!expr_is_value(p->iter->min, 0) ||
	    !expr_is_int(p->iter->extent, &now) || extent < now ||
	    extent > INT32_MAX) {
		return edit_fail(e,
				 "iter var %s of block %s does not run from 0 "
				 "to at most %lld",
				 p->iter->var->name, b->name,
				 (long long)extent);
	}
	p->loop = binding_loop(p->block, p->number);
	for (const struct stmt *s = p->block->parent; p->loop; s = s->parent) {
		if (s->kind != STMT_FOR) {
			p->loop = NULL;
		} else if (s == p->loop) {
			break;
		}
	}
	return p->loop ||
	       edit_fail(e,
			 "iter var %s of block %s has no loop of its own "
			 "around the block alone; pad before split and "
			 "compute_at",
			 p->iter->var->name, b->name);
}

/* Sets p->store to the block's only store. False after a diagnostic unless its
 * indices are the block's iter vars, and unless its buffer is an intermediate
 * buffer that no other block writes. */
static bool
check_store(struct padding *p)
{
	struct edit *e = p->e;
	const struct block *b = p->block->u.block;
	int *iter_of;

	p->store = sole_store(p->block);
	if (!p->store || func_has_param(e->f, p->store->u.buffer) ||
	    sole_writer(e->f, p->store->u.buffer) != p->block) {
		return edit_fail(e,
				 "block %s is not the only writer of one "
				 "intermediate buffer",
				 b->name);
	}
	iter_of = arena_array(&e->m->arena, int, p->store->n_args);
	if (!edit_check_no_address(e, p->store->u.buffer)) {
		return false;
	}
	return (identity_index(p->block, p->store->u.buffer, p->store->args + 1,
			       iter_of) &&
		runs_everywhere(e, p->block, p->store)) ||
	       edit_fail(e,
			 "block %s does not store every element at its iter "
			 "vars",
			 b->name);
}

static const struct buffer *
longer(struct padding *p)
{
	const struct buffer *b = p->store->u.buffer;
	const struct expr **shape = arena_exprs(&p->e->m->arena, b->ndim + 1);

	for (int d = 0; d < b->ndim; d++) {
		shape[d] = p->store->args[1 + d] == p->iter->var->expr
				   ? p->extent
				   : b->shape[d];
	}
	return buffer_with_shape(p->e->m, b, b->ndim, shape);
}

/* Makes the loop and the iter var longer. */
static void
extend(struct padding *p)
{
	struct edit *e = p->e;
	struct block copy;

	copy = *p->block->u.block;
	copy.iters = arena_copy(&e->m->arena, copy.iters,
				sizeof *copy.iters * (size_t)copy.n_iters);
	copy.iters[p->number].extent = p->extent;
	stmt_set_arg(e->f, p->loop, 1, p->extent);
	stmt_set_block(e->f, p->block, &copy);
	block_refresh(e->f, p->block);
}

static bool
depends(const struct access *x, const struct var *v)
{
	bool any = x->address;

	for (int d = 0; d < x->buffer->ndim; d++) {
		any |= expr_uses_var(x->index[d], v);
	}
	return any;
}

/* The value that the block stores, for index_in_bounds: an expression inside of
 * any number of IFs, whose conditions load nothing and whose alternatives are
 * constants. NULL if it has another form. */
static const struct expr *
guard_of(const struct padding *p)
{
	const struct expr *value = p->store != NULL ? p->store->args[0] : NULL;

	for (const struct expr *e = value; e != NULL && e->kind == EXPR_IF;
	     e = e->args[1]) {
		if (expr_has(e->args[0], EXPR_LOAD) ||
		    (e->args[2]->kind != EXPR_INT &&
		     e->args[2]->kind != EXPR_FLOAT)) {
			return NULL;
		}
	}
	return value;
}

/* Are the elements that the block will read for the additional results within
 * their buffers, given the conditions around the stored value? False after a
 * diagnostic. */
static bool
reads_in_bounds(struct padding *p)
{
	struct access_list all = accesses_of(p->e->f, p->block, NULL);

	for (int i = 0; i < all.list.n; i++) {
		const struct access *x = &all.list.data[i];

		if (!depends(x, p->iter->var)) {
			continue;
		}
		if (x->address || !index_in_bounds(p->e, p->block, guard_of(p),
						   x->buffer, x->index)) {
			return edit_fail(p->e,
					 "block %s would read elements beyond "
					 "%s; pad that first",
					 p->block->u.block->name,
					 x->buffer->name);
		}
	}
	return true;
}

/* Stores zeros in the additional results. */
static void
store_zeros(struct padding *p)
{
	struct module *m = p->e->m;
	const struct expr *value = p->store->args[0];

	stmt_set_arg(p->e->f, p->store, 0,
		     expr_if(m, expr_lt(m, p->iter->var->expr, p->iter->extent),
			     value, expr_const(m, value->type, 0)));
}

/* Is the load 0 beyond the end of the axis, because its buffer is a parameter
 * that pad_parameter has extended? */
static bool
is_zero_beyond(const struct padding *p, const struct expr *load)
{
	const struct sched *s = p->e->s;

	for (int i = 0; i < s->layouts.n; i++) {
		const struct sched_layout *l = &s->layouts.data[i];

		for (int d = 0; l->to == load->u.buffer &&
				l->map->in_range != NULL && d < load->n_args;
		     d++) {
			if (load->args[d] == p->iter->var->expr &&
			    l->from->shape[d] == p->iter->extent) {
				return true;
			}
		}
	}
	return false;
}

/* Is x a product with a factor that is 0 beyond the end of the axis? */
static bool
has_zero_factor(const struct padding *p, const struct expr *x)
{
	return x->kind == EXPR_LOAD   ? is_zero_beyond(p, x)
	       : x->kind == EXPR_CAST ? has_zero_factor(p, x->args[0])
	       : x->kind == EXPR_MUL  ? has_zero_factor(p, x->args[0]) ||
					       has_zero_factor(p, x->args[1])
				     : false;
}

/* Does the block compute a sum whose terms are 0 beyond the end of the axis?
 * False after a diagnostic. */
static bool
adds_zeros(struct padding *p)
{
	const struct stmt *store = sole_store(p->block);
	const struct expr *x = store != NULL ? store->args[0] : NULL, *old;

	if (x != NULL && x->kind == EXPR_ADD && dtype_is_int(x->type)) {
		old = expr_load(p->e->m, store->u.buffer, store->args + 1,
				store->n_args - 1);
		if ((x->args[0] == old && has_zero_factor(p, x->args[1])) ||
		    (x->args[1] == old && has_zero_factor(p, x->args[0]))) {
			return true;
		}
	}
	return edit_fail(p->e,
			 "block %s adds terms for iter var %s that may not be "
			 "0 beyond its end; pad a constant factor first",
			 p->block->u.block->name, p->iter->var->name);
}

bool
prim_pad_axis(struct edit *e, const struct sched_value *args,
	      struct sched_value *out)
{
	struct padding p = { .e = e, .block = edit_block(e, args[0].u.id) };
	bool zeros = args[3].u.ival != 0;

	(void)out;
	if (!p.block || !find_axis(&p, args[1].u.ival, args[2].u.ival)) {
		return false;
	}
	if (p.iter->kind != ITER_SPATIAL) {
		if (!adds_zeros(&p)) {
			return false;
		}
	} else if (!check_store(&p)) {
		return false;
	} else {
		if (zeros) {
			store_zeros(&p);
		}
		buffer_swap_all(e->f, p.store->u.buffer, longer(&p));
	}
	extend(&p);
	return reads_in_bounds(&p);
}

/* -- parameters */

/* The map to a larger shape in which each element stays at its indices;
 * elements at and beyond the shape of b are padding. */
static const struct index_map *
padding_map(struct module *m, const struct buffer *b,
	    const struct expr *const *shape)
{
	struct index_map *map = arena_new(&m->arena, struct index_map);
	int n = b->ndim;

	map->n_logical = map->n_physical = n;
	map->logical = arena_array(&m->arena, struct var *, n + 1);
	map->physical = arena_array(&m->arena, struct var *, n + 1);
	map->to_physical = arena_exprs(&m->arena, n + 1);
	map->to_logical = arena_exprs(&m->arena, n + 1);
	map->physical_shape = arena_copy(&m->arena, shape,
					 sizeof *shape * (size_t)(n + 1));
	for (int d = 0; d < n; d++) {
		const struct expr *inside;

		map->logical[d] = var_new(m, arena_printf(&m->arena, "i%d", d),
					  shape[d]->type);
		map->physical[d] = var_new(m, arena_printf(&m->arena, "p%d", d),
					   shape[d]->type);
		map->to_physical[d] = map->logical[d]->expr;
		map->to_logical[d] = map->physical[d]->expr;
		if (shape[d] == b->shape[d]) {
			continue;
		}
		inside = expr_lt(m, map->physical[d]->expr, b->shape[d]);
		map->in_range = map->in_range
					? expr_and(m, map->in_range, inside)
					: inside;
	}
	return map;
}

bool
prim_pad_parameter(struct edit *e, const struct sched_value *args,
		   struct sched_value *out)
{
	const struct stmt *block = edit_block(e, args[0].u.id);
	const struct buffer *b = read_arg(block, &args[1]);
	const struct sched_value *to = &args[2];
	const struct expr **shape = arena_exprs(&e->m->arena, b->ndim + 1);
	struct sched_layout layout = { .from = b };
	int64_t now;

	(void)out;
	if (!func_has_param(e->f, b) || func_writes(e->f, b) ||
	    to->n != b->ndim || b->strides) {
		return edit_fail(e,
				 "%s is not a dense parameter of %d dimensions "
				 "that is only read",
				 b->name, to->n);
	}
	for (int d = 0; d < b->ndim; d++) {
		if (!expr_is_int(b->shape[d], &now) ||
		    to->items[d].u.ival < now ||
		    to->items[d].u.ival > INT32_MAX) {
			return edit_fail(e,
					 "dimension %d of %s cannot get %lld "
					 "elements; give at least its own",
					 d, b->name,
					 (long long)to->items[d].u.ival);
		}
		shape[d] = expr_i32(e->m, to->items[d].u.ival);
	}
	if (!edit_check_no_address(e, b)) {
		return false;
	}
	layout.map = padding_map(e->m, b, shape);
	layout.to = buffer_with_shape(e->m, b, b->ndim, shape);
	buffer_swap_all(e->f, b, layout.to);
	vec_push(&e->m->arena, &e->s->layouts, layout);
	return true;
}
