/* SPDX-License-Identifier: Apache-2.0 */
/* copy_box: a nest that copies a box of an array to a dense tile becomes one
 * bulk tensor copy (TMA), which is asynchronous.
 *
 *   for i, k in T.grid(64, 32):               with T.block("s_o"):
 *       with T.block("s"):                        v_i_o, v_k_o = …
 *           v_i = … m * 64 + i                    T.copy_box(T.address_of(
 *           v_k = … k_o * 32 + k          ->          s[v_i_o, v_k_o, 0, 0]),
 *           s[v_i // 64, …, v_k % 32] =               T.address_of(x[0, 0]),
 *               T.if_then_else(v_i < 100,             100, 200, 200, 1,
 *                   x[v_i, v_k], 0.0)                 v_i_o * 64, v_k_o * 32,
 *                                                     64, 32)
 *
 * The box has an extent in each dimension of the array (1 if no loop varies
 * it); the loop order must be the order of the array's dimensions and of the
 * dense tile. */
#include "blockize.h"
#include "tensor_match.h"

#include <math.h>

struct box {
	struct edit *e;
	struct stmt *outer;
	struct tensor_leaf leaf;
	struct var **vars; /* the variables of the loops in the copied nest */
	int64_t *extents;  /* the extents of these loops */
	const struct expr *load;
	/* by dimension of the array: the first index of the box */
	const struct expr **first;
	/* by dimension of the array: the number of the loop whose variable
	 * changes the index in this dimension; -1 if no loop's does */
	int *along;
	/* the index of the box's first element in the destination */
	const struct expr **to;
	struct analyser a;
};

static bool
refuse(struct box *x, const char *why)
{
	return edit_fail(x->e,
			 "block %s does not copy a box: %s; copy it by "
			 "loops, or change its layout or the loops",
			 x->outer->u.block->name, why);
}

/* -- source of the copy */

/* Does the condition around the load only keep indices below the array's
 * sizes? */
static bool
is_guard(const struct expr *load, const struct expr *cond)
{
	if (cond->kind == EXPR_AND) {
		return is_guard(load, cond->args[0]) &&
		       is_guard(load, cond->args[1]);
	}
	for (int d = 0; d < load->n_args; d++) {
		if (cond->kind == EXPR_LT && cond->args[0] == load->args[d] &&
		    cond->args[1] == load->u.buffer->shape[d]) {
			return true;
		}
	}
	return false;
}

static bool
is_zero(const struct expr *e)
{
	return expr_is_value(e, 0) ||
	       (e->kind == EXPR_FLOAT && e->u.fval == 0 && !signbit(e->u.fval));
}

static bool
find_load(struct box *x)
{
	const struct stmt *store = sole_store(x->leaf.block);
	const struct expr *value;

	if (store == NULL || x->leaf.block->children[1] != NULL) {
		return refuse(x, "its body is not one store");
	}
	value = store->args[0];
	if (value->kind == EXPR_IF && is_zero(value->args[2]) &&
	    value->args[1]->kind == EXPR_LOAD &&
	    is_guard(value->args[1], value->args[0])) {
		value = value->args[1];
	}
	if (value->kind != EXPR_LOAD) {
		return refuse(x, "the value is not an element of an array, "
				 "or 0 outside of the array");
	}
	x->load = value;
	if (value->n_args == 0) {
		return refuse(x, "the source is a scalar");
	}
	if (!expr_is_value(x->leaf.block->args[0], 1)) {
		return refuse(x, "the block has a predicate");
	}
	return true;
}

static bool
find_loops(struct box *x)
{
	struct arena *arena = &x->e->m->arena;
	int n = x->leaf.n_loops;

	x->vars = arena_array(arena, struct var *, n + 1);
	x->extents = arena_array(arena, int64_t, n + 1);
	for (int i = 0; i < n; i++) {
		x->vars[i] = x->leaf.loops[i].var;
		if (!expr_is_value(x->leaf.loops[i].min, 0) ||
		    !expr_is_int(x->leaf.loops[i].extent, &x->extents[i])) {
			return refuse(x, "a loop has no constant extent");
		}
	}
	return true;
}

/* An index of the inner block, as an expression of the loops' variables and of
 * the outer block's iter vars. */
static const struct expr *
outer_index(struct box *x, const struct expr *index)
{
	const struct stmt *s = x->leaf.block;
	const struct block *b = s->u.block;

	for (int i = 0; i < b->n_iters; i++) {
		struct var *v = b->iters[i].var;
		const struct expr *value = s->args[i + 1];
		struct var_map map = { &v, &value, 1 };

		index = expr_substitute(x->e->m, index, &map);
	}
	return simplify(&x->a, index);
}

/* -- destination of the copy */

/* Sets, for each dimension of the array, the first index of the box, and finds
 * the dimension's loop. False after a diagnostic if the loops are not in the
 * order of the dimensions. */
static bool
find_origin(struct box *x)
{
	const struct buffer *b = x->load->u.buffer;
	struct arena *arena = &x->e->m->arena;
	int64_t *coeff = arena_array(arena, int64_t, x->leaf.n_loops + 1);
	int next = 0;

	x->first = arena_exprs(arena, b->ndim + 1);
	x->along = arena_array(arena, int, b->ndim + 1);
	for (int d = 0; d < b->ndim; d++) {
		int64_t size;

		x->along[d] = -1;
		if (!expr_is_int(b->shape[d], &size) ||
		    !expr_is_int(buffer_stride(x->e->m, b, d), &size)) {
			return refuse(x, "the array has no constant sizes");
		}
		if (!analyse_affine(&x->a, outer_index(x, x->load->args[d]),
				    x->vars, x->leaf.n_loops, coeff,
				    &x->first[d])) {
			return refuse(x, "an index is not a sum of loop "
					 "variables");
		}
		for (int i = 0; i < x->leaf.n_loops; i++) {
			if (coeff[i] == 0 || x->extents[i] == 1) {
				continue;
			}
			if (coeff[i] != 1 || i < next || x->along[d] >= 0) {
				return refuse(x, "it transposes the array, "
						 "or skips elements");
			}
			x->along[d] = i;
			next = i + 1;
		}
	}
	for (int i = 0, d = 0; i < x->leaf.n_loops; i++) {
		while (d < b->ndim && x->along[d] < i) {
			d++;
		}
		if (x->extents[i] > 1 && (d == b->ndim || x->along[d] != i)) {
			return refuse(x, "a loop does not index the array");
		}
	}
	return true;
}

/* Checks that the destination's elements are contiguous in the order of the
 * loops. False after a diagnostic. */
static bool
find_place(struct box *x)
{
	const struct stmt *store = sole_store(x->leaf.block);
	const struct buffer *b = store->u.buffer;
	struct arena *arena = &x->e->m->arena;
	int n = x->leaf.n_loops;
	int64_t *coeff = arena_array(arena, int64_t, n + 1);
	int64_t *step = arena_array(arena, int64_t, n + 1), dense = 1;

	x->to = arena_exprs(arena, b->ndim + 1);
	for (int d = 0; d < b->ndim; d++) {
		int64_t stride;

		if (!expr_is_int(buffer_stride(x->e->m, b, d), &stride) ||
		    !analyse_affine(&x->a, outer_index(x, store->args[d + 1]),
				    x->vars, n, coeff, &x->to[d])) {
			return refuse(x, "the destination index is not a sum "
					 "of loop variables");
		}
		for (int i = 0; i < n; i++) {
			step[i] += coeff[i] * stride;
		}
	}
	for (int i = n - 1; i >= 0; i--) {
		if (x->extents[i] > 1 && step[i] != dense) {
			return refuse(x, "the destination is not contiguous");
		}
		dense *= x->extents[i];
	}
	return true;
}

/* -- the copy */

static const struct expr *
address(struct module *m, const struct buffer *b,
	const struct expr *const *index)
{
	const struct expr *first = expr_load(m, b, index, b->ndim);

	return expr_call(m, INTRIN_ADDRESS_OF, dtype_of(DT_HANDLE), &first, 1);
}

static const struct expr *
call(struct box *x)
{
	struct module *m = x->e->m;
	const struct buffer *b = x->load->u.buffer;
	int rank = b->ndim, n = 2 + BOX_PARTS * rank;
	const struct expr **args = arena_exprs(&m->arena, n + 1);
	const struct expr **start = arena_exprs(&m->arena, rank + 1);

	for (int d = 0; d < rank; d++) {
		start[d] = expr_int(m, x->first[d]->type, 0);
		args[2 + BOX_SIZE * rank + d] = b->shape[d];
		args[2 + BOX_STRIDE * rank + d] = buffer_stride(m, b, d);
		args[2 + BOX_FIRST * rank + d] = x->first[d];
		args[2 + BOX_EXTENT * rank + d] =
			expr_i32(m,
				 x->along[d] < 0 ? 1 : x->extents[x->along[d]]);
	}
	args[0] = address(m, sole_store(x->leaf.block)->u.buffer, x->to);
	args[1] = address(m, b, start);
	return expr_call(m, INTRIN_COPY_BOX, dtype_of(DT_VOID), args, n);
}

bool
prim_copy_box(struct edit *e, const struct sched_value *args,
	      struct sched_value *out)
{
	struct stmt *loop = edit_loop(e, args[0].u.id);
	struct box x = { .e = e };
	struct tensor_leaves leaves = { 0 };

	(void)out;
	if (loop == NULL) {
		return false;
	}
	x.outer = blockize_loop(e, loop, true);
	if (x.outer == NULL) {
		return false;
	}
	if (!tensor_leaves(e->f, x.outer->children[0], &leaves) ||
	    leaves.list.n != 1) {
		return refuse(&x, "the loop is not a nest around one block");
	}
	x.leaf = leaves.list.data[0];
	analyser_init(&x.a, e->m);
	analyser_enter_scope(&x.a, x.leaf.block);
	if (!find_loops(&x) || !find_load(&x) || !find_origin(&x) ||
	    !find_place(&x)) {
		return false;
	}
	stmt_set_child(e->f, x.outer, 0, stmt_evaluate(e->f, call(&x)));
	return true;
}
