/* SPDX-License-Identifier: Apache-2.0 */
/* TopK: the k largest (or smallest) elements of each row; the steps are
 * passes/ops/steps/top_k.py. The keys for sorting are made from the bits of
 * floats. If the target cannot read the bits of floats, heaps are used for any
 * k. */
#include "dims.h"
#include "steps.h"

#include <math.h>

/* With more elements than this, a heap is slower than sorting. */
enum { HEAP_MOST = 64 };
/* BLOCK: the elements of a block. LEAST_BLOCKS: in rows with fewer blocks,
 * skipping blocks without an element for the heap gains nothing. */
enum { BLOCK = 32, LEAST_BLOCKS = 4 };

enum { TOP, INDICES, SORT_KEYS, SORT_POSITIONS, N_MADE };

bool
infer_top_k(struct infer *c, struct node *n)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0];
	const struct expr *const *k, **shape;
	int64_t least;
	int axis, count;

	if (!input_elems(m, n, 1, &k, &count) || count != 1) {
		return infer_needs_constant(c, n, 1);
	}
	if (!infer_axis(c, node_attr_int(n, "axis", -1), x->ndim, &axis)) {
		return false;
	}
	if (expr_is_int(k[0], &least) && least < 0) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "k is negative; correct the model");
	}
	if (!dims_at_most(c, k[0], x->shape[axis])) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "k is larger than the size of axis %d; "
				   "correct the model",
				   axis);
	}
	shape = arena_exprs(&m->arena, x->ndim + 1);
	for (int d = 0; d < x->ndim; d++) {
		shape[d] = d == axis ? k[0] : x->shape[d];
	}
	infer_set(c, n->outputs[0], x->type, x->ndim, shape);
	if (node_output(n, 1)) {
		infer_set(c, node_output(n, 1), dtype_of(DT_I64), x->ndim,
			  shape);
	}
	return true;
}

/* The value of type t that is last in the order. */
static const struct expr *
last_value(struct module *m, struct dtype t, bool largest)
{
	if (!largest && dtype_is_float(t) &&
	    dtype_float_form(t).specials != SPECIALS_FINITE) {
		return expr_float(m, t, (double)NAN);
	}
	return (largest ? reducer_max(m, t) : reducer_min(m, t))->identity[0];
}

/* Defines the results for k = 0, which have no elements. */
static bool
define_none(struct define *c, const struct node *n, struct te_tensor **out)
{
	for (int i = 0; i < n->n_outputs; i++) {
		const struct tensor *y = n->outputs[i];

		if (y) {
			out[i] = define_stage(c, "top", "top_k", y->ndim,
					      define_axes(c, y),
					      expr_const(c->module, y->type,
							 0));
		}
	}
	return true;
}

/* The type of the keys of values of type t. The number of bytes is even. */
static struct dtype
key_type(struct dtype t)
{
	int bits = dtype_bits(accumulator_type(t));

	return dtype_of(bits <= 16 ? DT_U16 : bits <= 32 ? DT_U32 : DT_U64);
}

static void
bind_keys(struct steps *s, struct dtype type)
{
	struct module *m = s->m;
	struct dtype key = key_type(type);
	int64_t rest = (int64_t)(UINT64_MAX >> (65 - dtype_bits(key)));

	steps_type(s, "key_type", key);
	steps_number(s, "key_bytes", dtype_bits(key) / 8);
	steps_flag(s, "is_signed", dtype_is_signed(accumulator_type(type)));
	steps_value(s, "all_bits",
		    expr_sub(m, expr_int(m, key, 0), expr_int(m, key, 1)));
	steps_value(s, "sign_bit",
		    expr_add(m, expr_int(m, key, rest), expr_int(m, key, 1)));
}

bool
define_top_k(struct define *c, const struct node *n,
	     struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const names[] = { "top", "indices", "keys",
					     "positions" };
	const struct settings *set = c->graph->settings;
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0], *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, x);
	const struct expr **row = arena_exprs(&m->arena, x->ndim);
	const struct expr **rest = arena_exprs(&m->arena, x->ndim + 1);
	const struct expr **shape = arena_exprs(&m->arena, x->ndim + 1);
	bool largest = node_attr_int(n, "largest", 1) != 0, heap;
	const struct expr *k, *size, *most;
	struct te_tensor *made[N_MADE];
	int64_t known;
	int axis, n_rest = 0;
	struct steps s;

	infer_axis(NULL, node_attr_int(n, "axis", -1), x->ndim, &axis);
	k = y->shape[axis];
	size = x->shape[axis];
	if (expr_is_value(k, 0)) {
		return define_none(c, n, out);
	}
	heap = (expr_is_int(k, &known) && known <= HEAP_MOST) ||
	       (set->hides_float_bits && dtype_is_float(x->type));
	most = dim_min(m, expr_mul(m, k, expr_int(m, k->type, 2)), size);
	for (int d = 0; d < x->ndim; d++) {
		if (d != axis) {
			row[d] = rest[n_rest] = axes[d].var->expr;
			shape[n_rest] = y->shape[d];
			axes[n_rest++] = axes[d];
		}
	}
	shape[n_rest] = expr_int(m, k->type, 2);
	shape[n_rest + 1] = most;
	s = steps_begin(c, names[0], "top_k", names,
			(struct dtype[]){ x->type, dtype_of(DT_I64),
					  key_type(x->type), dtype_of(DT_U32) },
			(int[]){ x->ndim, x->ndim, x->ndim + 1, x->ndim + 1 },
			(const struct expr *const *[]){ y->shape, y->shape,
							shape, shape },
			heap ? SORT_KEYS : N_MADE, in, 1, made);
	steps_part(&s, "x", in[0], row);
	steps_part(&s, "top", made[TOP], row);
	steps_part(&s, "indices", made[INDICES], row);
	steps_part(&s, "heap_values", made[TOP], row);
	steps_part(&s, "heap_positions", made[INDICES], row);
	if (!heap) {
		steps_row(&s, "keys", made[SORT_KEYS], rest, n_rest);
		steps_row(&s, "positions", made[SORT_POSITIONS], rest, n_rest);
	}
	steps_value(&s, "n", size);
	steps_value(&s, "k", k);
	steps_value(&s, "worst", last_value(m, x->type, largest));
	steps_value(&s, "most", most);
	steps_flag(&s, "by_heap", heap);
	steps_flag(&s, "by_blocks",
		   axis == x->ndim - 1 && !set->by_elements &&
			   !set->by_threads &&
			   !(expr_is_int(size, &known) &&
			     known < LEAST_BLOCKS * BLOCK));
	steps_number(&s, "block_size", BLOCK);
	steps_flag(&s, "sorts_row", most == size);
	steps_flag(&s, "may_be_none", size_may_be_empty(k));
	steps_flag(&s, "largest", largest);
	steps_flag(&s, "first_root", false);
	steps_flag(&s, "no_nan", false);
	steps_type(&s, "index", k->type);
	steps_order(&s, x->type);
	bind_keys(&s, x->type);
	for (int i = 0; i < n->n_outputs; i++) {
		out[i] = made[i];
	}
	return steps_run(&s, "top_k", axes, n_rest);
}
