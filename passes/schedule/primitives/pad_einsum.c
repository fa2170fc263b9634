/* SPDX-License-Identifier: Apache-2.0 */
/* pad_einsum: extends a sum of products to rounded-up extents; it then reads
 * and writes padded copies of its inputs (padded with zeros) and of its
 * output.
 *
 *   for i in 127, k in 130:        pad_einsum(C, [16, 16])
 *       C[v_i] += A[v_i, v_k]          for i in 128, k in 144: A_pad = A or 0
 *                                  ->  for i in 128, k in 144: C_pad += A_pad
 *                                      for i in 127: C[v_i] = C_pad[v_i] */
#include "copy_block.h"

struct einsum {
	struct edit *e;
	struct stmt *block, *store;
	const struct expr **extents; /* by iter var: the padded extent */
};

struct factors {
	VEC(const struct expr *) list; /* loads */
	bool other;
	struct arena *arena;
};

/* Collects the loads that are the factors of the product x. */
static void
find_factors(struct factors *f, const struct expr *x)
{
	switch (x->kind) {
	case EXPR_MUL:
		find_factors(f, x->args[0]);
		find_factors(f, x->args[1]);
		break;
	case EXPR_CAST:
		find_factors(f, x->args[0]);
		break;
	case EXPR_LOAD:
		vec_push(f->arena, &f->list, x);
		break;
	case EXPR_INT:
	case EXPR_FLOAT:
		break;
	default:
		f->other = true;
		break;
	}
}

static bool
is_padded(const struct einsum *p, int i)
{
	return p->extents[i] != p->block->u.block->iters[i].extent;
}

/* If the index x is an iter var: the number of this iter var. -1 if x is a
 * constant; -2 if x is any other expression. */
static int
iter_of_index(const struct einsum *p, const struct expr *x)
{
	const struct block *b = p->block->u.block;

	for (int i = 0; i < b->n_iters; i++) {
		if (x == b->iters[i].var->expr) {
			return i;
		}
	}
	return x->kind == EXPR_INT ? -1 : -2;
}

static bool
check_index(struct einsum *p, const struct buffer *b,
	    const struct expr *const *index)
{
	const struct block *block = p->block->u.block;
	bool output = b == p->store->u.buffer;

	for (int d = 0; d < b->ndim; d++) {
		int i = iter_of_index(p, index[d]);

		if (i >= 0 && b->shape[d] != block->iters[i].extent &&
		    (output || is_padded(p, i))) {
			return edit_fail(p->e,
					 "block %s uses only a part of %s; "
					 "pad a block that uses all of it",
					 block->name, b->name);
		}
		if (i == -2 ||
		    (i == -1 && output && !expr_is_value(b->shape[d], 1))) {
			return edit_fail(p->e,
					 "block %s accesses %s at an index "
					 "that is neither an iter var nor a "
					 "constant; only einsums can be "
					 "padded",
					 p->block->u.block->name, b->name);
		}
	}
	return true;
}

/* Checks that the block is C[…] = C[…] + product with init 0, and that every
 * padded reduction iter var is an index of some factor, which is 0 in the
 * padding. False after a diagnostic. */
static bool
match(struct einsum *p)
{
	struct edit *e = p->e;
	const struct block *b = p->block->u.block;
	const struct stmt *init = p->block->children[1];
	struct factors f = { .arena = &e->m->arena };
	const struct expr *x, *old;

	p->store = sole_store(p->block);
	if (!p->store || !init || init->kind != STMT_STORE ||
	    init->u.buffer != p->store->u.buffer ||
	    (init->args[0]->kind != EXPR_FLOAT &&
	     init->args[0]->kind != EXPR_INT)) {
		return edit_fail(e,
				 "block %s is not a reduction of one value; "
				 "only einsums can be padded",
				 b->name);
	}
	x = p->store->args[0];
	old = expr_load(e->m, p->store->u.buffer, p->store->args + 1,
			p->store->n_args - 1);
	if (x->kind != EXPR_ADD || (x->args[0] != old && x->args[1] != old)) {
		return edit_fail(e,
				 "block %s is not a sum; only einsums can be "
				 "padded",
				 b->name);
	}
	find_factors(&f, x->args[x->args[0] == old]);
	if (f.other || f.list.n == 0) {
		return edit_fail(e,
				 "block %s does not sum a product of "
				 "elements; only einsums can be padded",
				 b->name);
	}
	if (!check_index(p, p->store->u.buffer, p->store->args + 1)) {
		return false;
	}
	for (int k = 0; k < f.list.n; k++) {
		if (!check_index(p, f.list.data[k]->u.buffer,
				 f.list.data[k]->args)) {
			return false;
		}
	}
	for (int i = 0; i < b->n_iters; i++) {
		bool chooses = false;

		for (int d = 1;
		     d < p->store->n_args && b->iters[i].kind == ITER_SPATIAL;
		     d++) {
			chooses |= p->store->args[d] == b->iters[i].var->expr;
		}
		for (int k = 0;
		     k < f.list.n && b->iters[i].kind != ITER_SPATIAL; k++) {
			chooses |= expr_uses_var(f.list.data[k],
						 b->iters[i].var);
		}
		if (is_padded(p, i) && !chooses) {
			return edit_fail(e,
					 "iter var %s of block %s does not "
					 "index a factor; its padding would "
					 "change the result",
					 b->iters[i].var->name, b->name);
		}
	}
	return true;
}

static bool
find_extents(struct einsum *p, const struct sched_value *padding)
{
	struct edit *e = p->e;
	const struct block *b = p->block->u.block;
	struct analyser a;

	if (padding->n != b->n_iters) {
		return edit_fail(e,
				 "%d paddings for the %d iter vars of "
				 "block %s; give one for each",
				 padding->n, b->n_iters, b->name);
	}
	if (!trivial_bindings(p->block)) {
		return edit_fail(e,
				 "block %s has an iter var that is not "
				 "bound to a loop of its own; pad before "
				 "split or fuse",
				 b->name);
	}
	analyser_init(&a, e->m);
	p->extents = arena_exprs(&e->m->arena, b->n_iters + 1);
	for (int i = 0; i < b->n_iters; i++) {
		int64_t to = padding->items[i].u.ival;
		const struct expr *n = expr_i32(e->m, to);
		const struct expr *size = b->iters[i].extent;

		if (padding->items[i].kind != SV_INT || to < 1 ||
		    to > INT32_MAX) {
			return edit_fail(e,
					 "padding %d is not a positive "
					 "number; give 1 for no padding",
					 i);
		}
		p->extents[i] = simplify(
			&a,
			expr_mul(e->m,
				 expr_floordiv(e->m,
					       expr_add(e->m, size,
							expr_i32(e->m, to - 1)),
					       n),
				 n));
		if (p->extents[i] != size &&
		    prove_equal(&a, p->extents[i], size)) {
			p->extents[i] = size;
		}
		if (is_padded(p, i) && !expr_is_value(b->iters[i].min, 0)) {
			return edit_fail(e,
					 "iter var %s of block %s does not "
					 "start at 0",
					 b->iters[i].var->name, b->name);
		}
	}
	return true;
}

/* Checks that the loops to extend contain nothing but the block. False after a
 * diagnostic. */
static bool
check_loops(struct einsum *p)
{
	struct edit *e = p->e;
	const struct block *b = p->block->u.block;

	for (int i = 0; i < b->n_iters; i++) {
		struct stmt *loop = binding_loop(p->block, i);

		for (struct stmt *s = p->block->parent; is_padded(p, i);
		     s = s->parent) {
			if (s->kind != STMT_FOR) {
				return edit_fail(e,
						 "loop %s contains more than "
						 "block %s; pad before "
						 "compute_at",
						 loop->u.loop.var->name,
						 b->name);
			}
			if (s == loop) {
				break;
			}
		}
	}
	return true;
}

/* A new buffer like b, in which the dimensions that padded iter vars index have
 * the padded extents; NULL if b needs no padding. */
static const struct buffer *
padded_twin(struct einsum *p, const struct buffer *b,
	    const struct expr *const *index)
{
	struct edit *e = p->e;
	const struct expr **shape = arena_exprs(&e->m->arena, b->ndim + 1);
	bool any = false;

	for (int d = 0; d < b->ndim; d++) {
		int i = iter_of_index(p, index[d]);

		shape[d] = b->shape[d];
		if (i >= 0 && is_padded(p, i)) {
			shape[d] = p->extents[i];
			any = true;
		}
	}
	return any ? buffer_variant(e, b,
				    arena_printf(&e->m->arena, "%s_pad",
						 b->name),
				    NULL, b->ndim, shape)
		   : NULL;
}

/* The condition that the values of iters, which run over the shape of `large`,
 * are an index of `small`, not in the padding; NULL if both have the same
 * shape. */
static const struct expr *
where_in(struct edit *e, const struct iter_var *iters,
	 const struct buffer *small, const struct buffer *large)
{
	const struct expr *cond = NULL;

	for (int d = 0; d < small->ndim; d++) {
		if (small->shape[d] != large->shape[d]) {
			const struct expr *c = expr_lt(e->m, iters[d].var->expr,
						       small->shape[d]);

			cond = cond ? expr_and(e->m, cond, c) : c;
		}
	}
	return cond;
}

static struct stmt *
pad_nest(struct einsum *p, const struct buffer *from, const struct buffer *to,
	 bool fills)
{
	struct edit *e = p->e;
	struct iter_var *iters = dim_iters(e, to, NULL);
	const struct expr **at = arena_exprs(&e->m->arena, to->ndim + 1);
	const struct expr *value;

	for (int d = 0; d < to->ndim; d++) {
		at[d] = iters[d].var->expr;
	}
	value = expr_load(e->m, from, at, to->ndim);
	if (fills) {
		value = expr_if(e->m, where_in(e, iters, from, to), value,
				expr_const(e->m, to->type, 0));
	}
	return store_nest(e, fills ? to->name : from->name, iters, to->ndim,
			  NULL, to, at, value, NULL);
}

static bool
pad_inputs(struct einsum *p)
{
	struct edit *e = p->e;
	struct stmt *top = scope_child(p->block), *owner = scope_of(p->block);
	struct access_list all = accesses_of(e->f, p->store, NULL);

	for (int i = 0; i < all.list.n; i++) {
		const struct access *x = &all.list.data[i];
		const struct buffer *b = x->buffer, *to;

		/* each buffer is handled only once, at its first load: all
		 * loads of the buffer are then replaced together */
		if (!x->load || b == p->store->u.buffer ||
		    !expr_uses_buffer(p->store->args[0], b)) {
			continue;
		}
		for (int k = 0; k < all.list.n; k++) {
			const struct access *y = &all.list.data[k];

			for (int d = 0; y->buffer == b && d < b->ndim; d++) {
				if (y->index[d] != x->index[d]) {
					return edit_fail(
						e,
						"block %s reads %s with two "
						"orders of indices; copy it "
						"with cache_read first",
						p->block->u.block->name,
						b->name);
				}
			}
		}
		to = padded_twin(p, b, x->index);
		if (!to) {
			continue;
		}
		if (writes_below(e->f, top, b)) {
			return edit_fail(e,
					 "%s is written inside of the loops "
					 "around block %s; pad before "
					 "compute_at",
					 b->name, p->block->u.block->name);
		}
		stmt_replace_buffer(e->f, p->block, b, to);
		insert_beside(e, top, pad_nest(p, b, to, true), false);
		scope_add_alloc(e->f, owner, to);
	}
	return true;
}

static bool
pad_output(struct einsum *p)
{
	struct edit *e = p->e;
	struct stmt *top = scope_child(p->block), *owner = scope_of(p->block);
	const struct buffer *b = p->store->u.buffer;
	const struct buffer *to = padded_twin(p, b, p->store->args + 1);
	struct access_list all = { 0 };

	if (!to) {
		return true;
	}
	access_collect(e->f, top, b, &all);
	for (int i = 0; i < all.list.n; i++) {
		if (!stmt_contains(p->block, all.list.data[i].at)) {
			return edit_fail(e,
					 "%s is used inside of the loops "
					 "that write it; pad before "
					 "compute_at",
					 b->name);
		}
	}
	if (sole_writer(e->f, b) != p->block) {
		return edit_fail(e,
				 "other blocks also write %s; one block must "
				 "write all of it",
				 b->name);
	}
	if (!runs_everywhere(e, p->block, p->block)) {
		return edit_fail(e,
				 "block %s skips elements of %s under a "
				 "condition; the padded copy has no values "
				 "for these",
				 p->block->u.block->name, b->name);
	}
	stmt_replace_buffer(e->f, p->block, b, to);
	insert_beside(e, top, pad_nest(p, to, b, false), true);
	scope_add_alloc(e->f, owner, to);
	return true;
}

bool
prim_pad_einsum(struct edit *e, const struct sched_value *args,
		struct sched_value *out)
{
	struct einsum p = { .e = e };
	struct block copy;

	(void)out;
	p.block = edit_block(e, args[0].u.id);
	if (!p.block || !find_extents(&p, &args[1]) || !match(&p) ||
	    !check_loops(&p) || !pad_inputs(&p) || !pad_output(&p)) {
		return false;
	}
	copy = *p.block->u.block;
	copy.iters = arena_array(&e->m->arena, struct iter_var,
				 copy.n_iters + 1);
	for (int i = 0; i < copy.n_iters; i++) {
		struct stmt *loop = binding_loop(p.block, i);

		copy.iters[i] = p.block->u.block->iters[i];
		copy.iters[i].extent = p.extents[i];
		stmt_set_arg(e->f, loop, 1, p.extents[i]);
	}
	stmt_set_block(e->f, p.block, &copy);
	block_refresh(e->f, p.block);
	return true;
}
