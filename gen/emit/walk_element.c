/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of arrays as text, with one index for each dimension, or with the
 * linearized index if the array is flat; neighbouring elements as vectors. */
#include "walk_expr.h"

bool
buffer_is_flat(const struct buffer *b)
{
	int64_t extent;

	if (b->strides != NULL) {
		return true;
	}
	for (int i = 1; i < b->ndim; i++) {
		if (!expr_is_int(b->shape[i], &extent)) {
			return true;
		}
	}
	return false;
}

bool
walk_is_flat(const struct walker *w, const struct buffer *b)
{
	return buffer_is_flat(b) || w->d->functions.flat;
}

/* The stride of b along dimension i or, if b has no strides, the extent of
 * dimension i, in type t; products of sizes have 64 bits unless they provably
 * fit 32. */
static const struct expr *
factor_of_index(struct walker *w, const struct buffer *b, int i, struct dtype t)
{
	struct widths widths = { .analyser = &w->an };
	const struct expr *by = b->strides != NULL ? b->strides[i]
						   : b->shape[i];

	return expr_cast(w->m, t,
			 dtype_bits(t) > 32 ? width_of(&widths, by) : by);
}

static const struct expr *
sum_of_indices(struct walker *w, const struct buffer *b,
	       const struct expr *const *index, int n, struct dtype t)
{
	struct module *m = w->m;
	const struct expr *sum = expr_int(m, t, 0);

	for (int i = 0; i < n; i++) {
		const struct expr *one = expr_cast(m, t, index[i]);
		const struct expr *by = factor_of_index(w, b, i, t);

		sum = b->strides != NULL
			      ? expr_add(m, sum, expr_mul(m, one, by))
			      : expr_add(m, expr_mul(m, sum, by), one);
	}
	return simplify(&w->an, sum);
}

/* Does e consist of sums, products, quotients and remainders of nonnegative
 * values? Then all of its subexpressions fit in a type in which e fits. */
static bool
only_grows(struct walker *w, const struct expr *e)
{
	switch (e->kind) {
	case EXPR_ADD:
	case EXPR_MUL:
	case EXPR_FLOORDIV:
	case EXPR_FLOORMOD:
		return only_grows(w, e->args[0]) && only_grows(w, e->args[1]);
	case EXPR_CAST:
		return dtype_is_int(e->args[0]->type) &&
		       only_grows(w, e->args[0]);
	default:
		break;
	}
	return analyse_bounds(&w->an, e).min >= 0;
}

/* The linearized index of an element, as an expression. It is computed in 64
 * bits, unless 32 are proven to suffice by the bounds of loops and sizes, or by
 * the largest number of elements that an array has on the target. */
static const struct expr *
flat_index(struct walker *w, const struct buffer *b,
	   const struct expr *const *index, int n)
{
	struct widths widths = { .analyser = &w->an, .address = true };
	const struct expr *sum = sum_of_indices(w, b, index, n,
						dtype_of(DT_I64));
	int64_t most = w->d->object_bytes / buffer_element_bytes(b);
	bool narrow = w->d->object_bytes > 0 && most <= INT32_MAX;

	for (int i = 0; i < n; i++) {
		narrow &= dtype_bits(index[i]->type) <= 32;
	}
	return narrow && only_grows(w, sum)
		       ? sum_of_indices(w, b, index, n, dtype_of(DT_I32))
		       : width_of(&widths, sum);
}

/* The text of a vector of type t that is made of the array's elements from
 * `first` on. */
static const char *
elements(struct walker *w, const struct binding *bound, struct dtype t,
	 const char *first)
{
	const char *type = unit_vector(w->u, t, true);
	const struct buffer *b = bound->buffer;
	struct tdata *data = tdata_new(w->a);

	if (type == NULL) {
		w->failed = true;
		return "";
	}
	tdata_text(data, "type", type);
	tdata_text(data, "first", first);
	tdata_text(data, "space", w->d->spaces[bound->space]);
	tdata_flag(data, "const", bound->is_const);
	tdata_flag(data, "shared", b != NULL && buffer_is_shared(b));
	tdata_flag(data, "global",
		   b != NULL && !buffer_is_shared(b) && !buffer_is_private(b));
	tdata_text(data, "short", dtype_short(t));
	tdata_int(data, "lanes", t.lanes);
	if (w->count != NULL) {
		tdata_text(data, "count", w->count);
		return walk_render(w, w->d->vectors.load_part, data);
	}
	return walk_render(w, w->d->vectors.elements, data);
}

/* The text of the array that holds b's elements: the array's name, with a cast
 * if it is a pointer to void. */
static const char *
array_text(struct walker *w, const struct binding *bound,
	   const struct buffer *b)
{
	struct tdata *data = tdata_new(w->a);

	if (bound->kind != VALUE_VOID_POINTER &&
	    bound->kind != VALUE_CONST_VOID_POINTER) {
		return bound->text;
	}
	tdata_text(data, "type", unit_element_type(w->u, b));
	tdata_text(data, "space", w->d->spaces[bound->space]);
	tdata_flag(data, "const", true);
	tdata_text(data, "value", bound->text);
	return arena_printf(w->a, "(%s)",
			    walk_render(w, w->d->access.pointer_cast, data));
}

const char *
walk_element(struct walker *w, const struct buffer *b,
	     const struct expr *const *index, int n, enum element_use use)
{
	const struct binding *bound = walk_find(w, b->data);
	struct tdata *data = tdata_new(w->a);
	const struct expr *one, **first;
	int lanes = n > 0 ? index[n - 1]->type.lanes : 1;

	if (bound == NULL) {
		walk_fail(w, "buffer %s is not in scope", b->name);
		return "";
	}
	if (bound->fragment) {
		if (use != ELEMENT_PLACE || n < 2 ||
		    !expr_is_value(index[n - 1], 0) ||
		    !expr_is_value(index[n - 2], 0)) {
			walk_fail(w,
				  "elements of %s, which is of the scope "
				  "'%s', cannot be touched one by one; "
				  "tensorize the blocks that use it",
				  b->name, b->scope);
			return "";
		}
		n -= 2;
		if (n == 0) {
			return bound->text;
		}
	}
	if (use != ELEMENT_PLACE && walk_is_opaque(w, b)) {
		walk_fail(w,
			  "only intrinsics know where elements of %s are, "
			  "which is of the scope '%s'; tensorize the blocks "
			  "that use it",
			  b->name, b->scope);
		return "";
	}
	if (lanes > 1 && index[n - 1]->kind == EXPR_RAMP &&
	    expr_is_value(index[n - 1]->args[1], 1) && b->type.lanes == 1 &&
	    (b->strides == NULL || expr_is_value(b->strides[n - 1], 1))) {
		first = arena_exprs(w->a, n);
		memcpy(first, index, sizeof *first * (size_t)n);
		first[n - 1] = index[n - 1]->args[0];
		return elements(w, bound,
				(struct dtype){ b->type.kind, (uint16_t)lanes },
				walk_element(w, b, first, n, use));
	}
	for (int i = 0; i < n; i++) {
		if (index[i]->type.lanes > 1) {
			walk_fail(w, "a vector of elements that do not follow "
				     "each other");
			return "";
		}
	}
	tdata_text(data, "array", array_text(w, bound, b));
	tdata_list(data, "indices");
	if (n == 0 && bound->kind == VALUE_SCALAR) {
		return bound->text;
	}
	if (n == 0 || bound->flat) {
		one = n == 0 ? expr_i32(w->m, 0) : flat_index(w, b, index, n);
		index = &one;
		n = 1;
	}
	for (int i = 0; i < n; i++) {
		tdata_text(tdata_item(data, "indices"), "index",
			   layout_index(w->a, walk_expr(w, index[i],
							w->d->assignment)));
	}
	return walk_render(w, w->d->access.element, data);
}

const char *
walk_read_vector(struct walker *w, const struct buffer *b, const char *first)
{
	const struct binding *bound = walk_find(w, b->data);
	struct tdata *data;

	if (w->d->vectors.rejected != NULL || w->d->vectors.read == NULL ||
	    b->type.lanes == 1 || bound == NULL || bound->local) {
		return first;
	}
	data = tdata_new(w->a);
	tdata_text(data, "type", unit_element_type(w->u, b));
	tdata_text(data, "space", w->d->spaces[bound->space]);
	tdata_flag(data, "const", bound->is_const);
	tdata_text(data, "short", dtype_short(b->type));
	tdata_int(data, "lanes", b->type.lanes);
	tdata_text(data, "first", first);
	return walk_render(w, w->d->vectors.read, data);
}

bool
walk_is_on_device(struct walker *w, const struct buffer *b)
{
	const struct binding *bound = walk_find(w, b->data);

	return w->entry && w->d->device.model_launch != NULL && bound != NULL &&
	       !bound->local;
}

const char *
walk_read_back(struct walker *w, const struct buffer *b,
	       const struct expr *const *index, int n)
{
	const struct device_forms *f = &w->d->device;
	const struct binding *bound = walk_find(w, b->data);
	struct tdata *data = tdata_new(w->a);
	const char *name;

	if (f->reader == NULL) {
		walk_fail(w, "a condition, a number of iterations, or a size "
			     "in the memory of the device");
		return "";
	}
	name = unit_helper(w->u, dialect_helper(w->d, f->reader), b->type,
			   b->type);
	if (name == NULL) {
		w->failed = true;
		return "";
	}
	w->u->reads_back = true;
	tdata_text(data, "callee", name);
	tdata_text(data, "array", bound->text);
	tdata_text(data, "index",
		   walk_expr(w, flat_index(w, b, index, n), w->d->assignment));
	return walk_render(w, f->read, data);
}
