/* SPDX-License-Identifier: Apache-2.0 */
/* fuse_reduction_epilogue: a term that the epilogue adds becomes the
 * accumulator's initial value.
 *
 *   C[v] = 0; C[v] += A[v, k]             D[v] = bias[v]
 *   D[v] = C[v] + bias[v]            ->   D[v] += A[v, k]
 *
 * Likewise for products, minima and maxima. Reassociates floating-point
 * sums. */
#include "copy_block.h"
#include "iterate.h"

struct fusing {
	struct edit *e;
	struct stmt *reduction, *epilogue, *update, *start, *store;
	const struct buffer *sum;
	/* load: the epilogue's load of the sum; term: the value that the
	 * epilogue adds */
	const struct expr *load, *term;
	/* by dimension of the sum: the number of the epilogue's iter var */
	int *iter_of;
};

static const struct expr *
updated(struct fusing *x)
{
	return expr_load(x->e->m, x->sum, x->update->args + 1,
			 x->update->n_args - 1);
}

static bool
match_reduction(struct fusing *x)
{
	struct edit *e = x->e;
	const char *name = x->reduction->u.block->name;
	const struct expr *value;

	x->update = sole_store(x->reduction);
	x->start = x->reduction->children[1];
	if (!x->update || !x->start || x->start->kind != STMT_STORE ||
	    x->start->u.buffer != x->update->u.buffer) {
		return edit_fail(e, "block %s is not a reduction of one value",
				 name);
	}
	x->sum = x->update->u.buffer;
	value = x->update->args[0];
	if ((value->kind != EXPR_ADD && value->kind != EXPR_MUL &&
	     value->kind != EXPR_MIN && value->kind != EXPR_MAX) ||
	    (value->args[0] != updated(x) && value->args[1] != updated(x)) ||
	    expr_uses_buffer(value->args[value->args[0] == updated(x)],
			     x->sum)) {
		return edit_fail(e,
				 "block %s does not update by +, *, min or "
				 "max; keep the epilogue separate",
				 name);
	}
	if (!scope_of(x->reduction) ||
	    !scope_owns(scope_of(x->reduction), x->sum)) {
		return edit_fail(e,
				 "%s is visible outside of the block around "
				 "%s; only intermediate results can be fused",
				 x->sum->name, name);
	}
	if (sole_writer(e->f, x->sum) != x->reduction) {
		return edit_fail(e,
				 "%s is also written by other blocks; block "
				 "%s must be the only writer",
				 x->sum->name, name);
	}
	return true;
}

/* Reads the epilogue, D[v] = op(C[v], term), into x. False after a
 * diagnostic. */
static bool
match_epilogue(struct fusing *x)
{
	struct edit *e = x->e;
	const char *name = x->epilogue->u.block->name;
	enum expr_kind op = x->update->args[0]->kind;
	const struct expr *value, *load;
	int *iter_of;

	x->store = sole_store(x->epilogue);
	if (!x->store || x->epilogue->children[1]) {
		return edit_fail(e, "block %s is not a single assignment",
				 name);
	}
	value = x->store->args[0];
	for (struct expr_iter it = expr_each_of(value, EXPR_LOAD);
	     (load = expr_next(&it));) {
		x->load = load->u.buffer == x->sum ? load : x->load;
	}
	if (!x->load) {
		return edit_fail(e,
				 "block %s does not read %s, the output of "
				 "block %s",
				 name, x->sum->name,
				 x->reduction->u.block->name);
	}
	if (value->kind == op && value->args[0] == x->load) {
		x->term = value->args[1];
	} else if (value->kind == op && value->args[1] == x->load) {
		x->term = value->args[0];
	} else if (op == EXPR_ADD && value->kind == EXPR_SUB &&
		   value->args[0] == x->load) {
		x->term = expr_neg(e->m, value->args[1]);
	}
	if (!x->term || expr_uses_buffer(x->term, x->sum) ||
	    !dtype_equal(x->store->u.buffer->type, x->sum->type)) {
		return edit_fail(e,
				 "block %s does not apply a single %s to the "
				 "output of block %s; use reverse_compute_at "
				 "instead",
				 name,
				 op == EXPR_ADD   ? "+"
				 : op == EXPR_MUL ? "*"
				 : op == EXPR_MIN ? "min"
						  : "max",
				 x->reduction->u.block->name);
	}
	iter_of = arena_array(&e->m->arena, int, x->store->u.buffer->ndim + 1);
	x->iter_of = arena_array(&e->m->arena, int, x->sum->ndim + 1);
	if (!identity_index(x->epilogue, x->sum, x->load->args, x->iter_of) ||
	    !identity_index(x->epilogue, x->store->u.buffer, x->store->args + 1,
			    iter_of)) {
		return edit_fail(e,
				 "block %s does not map %s to %s elementwise",
				 name, x->sum->name, x->store->u.buffer->name);
	}
	return true;
}

/* Checks that the epilogue covers exactly the reduction's domain, and that its
 * other inputs are complete before the reduction. False after a diagnostic. */
static bool
check_order(struct fusing *x)
{
	struct edit *e = x->e;
	const struct block *b = x->epilogue->u.block;
	const struct stmt *top = scope_child(x->reduction);
	const struct buffer *to = x->store->u.buffer;
	struct access_list all = { 0 };
	int used = 0;

	for (int d = 0; d < x->sum->ndim; d++) {
		const struct iter_var *it;

		if (x->iter_of[d] < 0) {
			continue;
		}
		it = &b->iters[x->iter_of[d]];
		used++;
		if (!expr_is_value(it->min, 0) ||
		    it->extent != x->sum->shape[d]) {
			used = -1;
			break;
		}
	}
	if (used != b->n_iters || !runs_everywhere(e, x->epilogue, x->store)) {
		return edit_fail(e, "block %s does not cover %s", b->name,
				 x->sum->name);
	}
	access_collect(e->f, e->f->body, x->sum, &all);
	for (int i = 0; i < all.list.n; i++) {
		struct stmt *at = block_around(all.list.data[i].at);

		if (at != x->reduction && at != x->epilogue) {
			return edit_fail(e,
					 "%s is also read by block %s; only "
					 "one reader can be fused",
					 x->sum->name, at->u.block->name);
		}
	}
	if (!inputs_ready(e, x->term, top, x->sum)) {
		return edit_fail(e,
				 "block %s reads buffers that are not "
				 "complete before block %s",
				 b->name, x->reduction->u.block->name);
	}
	all.list.n = 0;
	access_collect(e->f, e->f->body, to, &all);
	for (int i = 0; i < all.list.n; i++) {
		struct stmt *at = all.list.data[i].at;

		if (!stmt_contains(x->epilogue, at) &&
		    !stmt_before(e->f, x->epilogue, at)) {
			return edit_fail(e,
					 "%s is used before block %s writes "
					 "it",
					 to->name, b->name);
		}
	}
	return true;
}

static const struct expr *
accumulate(struct fusing *x, const struct expr *const *index)
{
	struct module *m = x->e->m;
	const struct expr *value = x->update->args[0];
	const struct buffer *to = x->store->u.buffer;
	const struct expr *old = expr_load(m, to, index, to->ndim);
	const struct expr *sum = updated(x);

	return value->args[0] == sum
		       ? expr_binary(m, value->kind, old, value->args[1])
		       : expr_binary(m, value->kind, value->args[0], old);
}

static bool
is_number(const struct expr *e, int64_t n)
{
	return expr_is_value(e, n) ||
	       (e->kind == EXPR_FLOAT && e->u.fval == (double)n);
}

static bool
is_identity(struct module *m, enum expr_kind op, const struct expr *e)
{
	return op == EXPR_ADD   ? is_number(e, 0)
	       : op == EXPR_MUL ? is_number(e, 1)
	       : op == EXPR_MAX ? e == reducer_max(m, e->type)->identity[0]
				: e == reducer_min(m, e->type)->identity[0];
}

/* The new initial value: the term, combined with the old value unless that is
 * the identity element of the operator. */
static const struct expr *
start_with(struct fusing *x, const struct expr *term)
{
	const struct expr *start = x->start->args[0];
	enum expr_kind op = x->update->args[0]->kind;

	return is_identity(x->e->m, op, start)
		       ? term
		       : expr_binary(x->e->m, op, start, term);
}

bool
prim_fuse_reduction_epilogue(struct edit *e, const struct sched_value *args,
			     struct sched_value *out)
{
	struct fusing x = { .e = e };
	struct module *m = e->m;
	const struct buffer *to;
	const struct expr **index;
	struct var_map map = { 0 };
	struct stmt *scope;

	(void)out;
	if (!(x.reduction = edit_block(e, args[0].u.id)) ||
	    !(x.epilogue = edit_block(e, args[1].u.id)) ||
	    !match_reduction(&x) || !match_epilogue(&x) || !check_order(&x)) {
		return false;
	}
	to = x.store->u.buffer;
	scope = scope_of(x.reduction);
	map.from = arena_array(&m->arena, struct var *, x.sum->ndim + 1);
	map.to = arena_exprs(&m->arena, x.sum->ndim + 1);
	for (int d = 0; d < x.sum->ndim; d++) {
		if (x.iter_of[d] >= 0) {
			map.from[map.n] =
				x.epilogue->u.block->iters[x.iter_of[d]].var;
			map.to[map.n++] = x.update->args[d + 1];
		}
	}
	index = arena_exprs(&m->arena, to->ndim + 1);
	for (int d = 0; d < to->ndim; d++) {
		index[d] = expr_substitute(m, x.store->args[d + 1], &map);
	}
	stmt_set_child(e->f, x.reduction, 0,
		       stmt_store(e->f, to, accumulate(&x, index), index,
				  to->ndim));
	stmt_set_child(e->f, x.reduction, 1,
		       stmt_store(e->f, to,
				  start_with(&x,
					     expr_substitute(m, x.term, &map)),
				  index, to->ndim));
	stmt_remove(e->f, x.epilogue);
	scope_drop_alloc(e->f, scope, x.sum);
	block_refresh(e->f, x.reduction);
	return true;
}
