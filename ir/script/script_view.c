/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: buffers over the memory of others.
 *
 * 	B = T.decl_buffer((4, 8), "float32", data=A.data)
 *
 * An element of B is the element of A at the same place in memory. So the
 * function has no buffer B; accesses of B become accesses of A. */
#include "script_read.h"
#include "sum.h"

static bool
is_zero(const struct expr *e)
{
	int64_t value;

	return expr_is_int(e, &value) && value == 0;
}

/* Sets *out to a * b. */
static bool
times(struct script_reader *r, const struct py_node *node, const struct expr *a,
      const struct expr *b, const struct expr **out)
{
	struct script_value x = script_value_of(a, false);
	struct script_value y = script_value_of(b, false), product;

	return script_binary(r, node, PY_OP_MUL, &x, &y, &product) &&
	       script_settle(r, node, &product, out);
}

static bool
with_size(struct script_reader *r, const struct py_node *node,
	  enum py_operator op, const struct expr *a, const struct expr *size,
	  const struct expr **out)
{
	struct script_value x = script_value_of(a, false);
	struct script_value y = script_value_of(size, false), result;

	return script_binary(r, node, op, &x, &y, &result) &&
	       script_settle(r, node, &result, out);
}

/* Sets *out to the position in memory, in elements, of the element with the
 * indices `index`. The array has the strides `strides`, or, if that is NULL, is
 * dense with the shape `shape`. */
static bool
place_of(struct script_reader *r, const struct py_node *node, int ndim,
	 const struct expr *const *shape, const struct expr *const *strides,
	 const struct expr *const *index, const struct expr **out)
{
	const struct expr *sum = ndim > 0 ? index[0] : expr_i32(r->m, 0), *one;

	if (ndim > 0 && strides && !times(r, node, sum, strides[0], &sum)) {
		return false;
	}
	for (int i = 1; i < ndim; i++) {
		one = index[i];
		if (!times(r, node, strides ? one : sum,
			   strides ? strides[i] : shape[i],
			   strides ? &one : &sum) ||
		    !script_plus(r, node, sum, one, &sum)) {
			return false;
		}
	}
	*out = sum;
	return true;
}

bool
script_view_place(struct script_reader *r, const struct py_node *node,
		  const struct buffer *b, const struct expr *place,
		  const struct expr ***out)
{
	const struct expr **index = arena_array(&r->m->arena,
						const struct expr *,
						b->ndim + 1);

	for (int d = b->ndim - 1; d >= 0; d--) {
		index[d] = place;
		if (d > 0 && (!with_size(r, node, PY_OP_MOD, place, b->shape[d],
					 &index[d]) ||
			      !with_size(r, node, PY_OP_FLOORDIV, place,
					 b->shape[d], &place))) {
			return false;
		}
	}
	*out = index;
	return true;
}

static bool
same_dims(const struct script_view *view, const struct buffer *b)
{
	if (view->ndim != b->ndim || view->strides ||
	    !dtype_equal(view->type, b->type) || !is_zero(view->offset)) {
		return false;
	}
	for (int i = 0; i < b->ndim; i++) {
		if (view->shape[i] != b->shape[i]) {
			return false;
		}
	}
	return true;
}

/* Replaces *index, the indices of an element of the view, by the indices of the
 * same element in the buffer b. */
static bool
view_index(struct script_reader *r, const struct py_node *node,
	   const struct script_view *view, const struct buffer *b,
	   const struct expr ***index)
{
	int lanes = view->type.lanes / b->type.lanes;
	const struct expr *place;

	if (same_dims(view, b)) {
		return true;
	}
	if (!place_of(r, node, view->ndim, view->shape, view->strides, *index,
		      &place) ||
	    !script_plus(r, node, place, view->offset, &place)) {
		return false;
	}
	if (lanes > 1) { /* an element is a vector of the buffer's elements */
		const struct expr *many = expr_int(r->m, place->type, lanes);

		if (place->type.lanes > 1) {
			return script_fail(r, node,
					   "a vector of elements that are "
					   "vectors; use one index");
		}
		if (!times(r, node, place, many, &place)) {
			return false;
		}
		place = expr_ramp(r->m, place, expr_int(r->m, place->type, 1),
				  lanes);
	}
	return script_view_place(r, node, b, place, index);
}

/* Sets *index, which has the indices of an element of a part of b (view), to
 * the indices in the whole buffer b. False after an error. */
static bool
whole_index(struct script_reader *r, const struct py_node *node,
	    const struct script_view *view, const struct buffer *b,
	    const struct expr ***index)
{
	const struct expr **all = arena_exprs(&r->m->arena, b->ndim + 1);
	int lead = b->ndim - view->ndim, k = 0;

	for (int i = 0; i < b->ndim; i++) {
		all[i] = view->min[i];
		if (!all[i]) {
			all[i] = (*index)[k++];
		} else if (!view->picks && i >= lead &&
			   !script_plus(r, node, all[i], (*index)[k++],
					&all[i])) {
			return false;
		}
	}
	*index = all;
	return true;
}

bool
script_whole_index(struct script_reader *r, const struct py_node *node,
		   const struct script_value *v, const struct expr ***index)
{
	const struct script_view *view = v->view;
	const struct buffer *b = v->buffer;

	return !view || (view->flat ? view_index(r, node, view, b, index)
				    : whole_index(r, node, view, b, index));
}

bool
script_first_index(struct script_reader *r, const struct py_node *node,
		   const struct script_value *v, const struct expr ***index)
{
	int n = script_rank(v);

	*index = arena_exprs(&r->m->arena, n + 1);
	for (int i = 0; i < n; i++) {
		(*index)[i] = expr_i32(r->m, 0);
	}
	return script_whole_index(r, node, v, index);
}

/* Sets the ranges of the buffer that hold the ranges of the view. False after
 * an error. */
bool
script_view_region(struct script_reader *r, const struct py_node *node,
		   const struct script_view *view, struct region *out)
{
	const struct buffer *b = out->buffer;
	const struct expr **first, **last, *x, *y;
	struct range *all;

	if (same_dims(view, b)) {
		return true;
	}
	all = arena_array(&r->m->arena, struct range, b->ndim + 1);
	if (b->ndim != 1 || view->strides ||
	    view->type.lanes != b->type.lanes) {
		for (int i = 0; i < b->ndim; i++) {
			all[i].min = expr_int(r->m, b->shape[i]->type, 0);
			all[i].extent = b->shape[i];
		}
		out->ranges = all;
		return true;
	}
	first = arena_array(&r->m->arena, const struct expr *, view->ndim + 1);
	last = arena_array(&r->m->arena, const struct expr *, view->ndim + 1);
	for (int i = 0; i < view->ndim; i++) {
		const struct range *one = &out->ranges[i];

		first[i] = one->min;
		if (!script_plus(r, node, one->min, one->extent, &x) ||
		    !script_plus(r, node, x, expr_int(r->m, x->type, -1),
				 &last[i])) {
			return false;
		}
	}
	if (!place_of(r, node, view->ndim, view->shape, NULL, first, &x) ||
	    !place_of(r, node, view->ndim, view->shape, NULL, last, &y) ||
	    !script_plus(r, node, x, view->offset, &x) ||
	    !script_plus(r, node, y, view->offset, &y) ||
	    !script_plus(r, node, y, expr_int(r->m, y->type, 1), &y)) {
		return false;
	}
	all[0].min = x;
	all[0].extent = range_extent(r->m, x, y);
	out->ranges = all;
	return true;
}

/* The expression e as a value of type t with the same bits. */
static const struct expr *
bits_as(struct script_reader *r, const struct expr *e, struct dtype t)
{
	t.lanes = e->type.lanes;
	return dtype_equal(t, e->type)
		       ? e
		       : expr_call(r->m, INTRIN_REINTERPRET, t, &e, 1);
}

const struct expr *
script_view_loaded(struct script_reader *r, const struct script_value *v,
		   const struct expr *e)
{
	return v->view && v->view->flat ? bits_as(r, e, v->view->type) : e;
}

const struct expr *
script_view_stored(struct script_reader *r, const struct script_value *v,
		   const struct expr *e)
{
	return v->view && v->view->flat ? bits_as(r, e, v->buffer->type) : e;
}

bool
script_part_offset(struct script_reader *r, const struct py_node *node,
		   const struct script_value *v, const struct expr **out)
{
	const struct buffer *b = v->buffer;
	const struct expr **first;

	if (v->view->flat) {
		*out = v->view->offset;
		return true;
	}
	return script_first_index(r, node, v, &first) &&
	       place_of(r, node, b->ndim, b->shape, b->strides, first, out);
}

bool
script_view_strides(struct script_reader *r, const struct py_node *node,
		    const struct script_view *view,
		    const struct expr ***strides)
{
	const struct expr *dense = expr_i32(r->m, 1);

	*strides = arena_exprs(&r->m->arena, view->ndim + 1);
	for (int i = view->ndim - 1; i >= 0; i--) {
		(*strides)[i] = view->strides ? view->strides[i] : dense;
		if (!times(r, node, view->shape[i], dense, &dense)) {
			return false;
		}
	}
	return true;
}

bool
script_view_part(struct script_reader *r, const struct py_node *node,
		 const struct script_view *of, const struct range *ranges,
		 int lead, struct script_view *out)
{
	const struct expr **first = arena_exprs(&r->m->arena, of->ndim + 1);
	const struct expr **strides;
	bool dense = !of->strides;

	for (int i = 0; i < of->ndim; i++) {
		first[i] = ranges[i].min;
		dense &= i <= lead || out->shape[i - lead] == of->shape[i];
	}
	if (!script_view_strides(r, node, of, &strides) ||
	    !place_of(r, node, of->ndim, of->shape, of->strides, first,
		      &out->offset) ||
	    !script_plus(r, node, out->offset, of->offset, &out->offset)) {
		return false;
	}
	out->flat = true;
	out->type = of->type;
	out->strides = dense ? NULL : strides + lead;
	return true;
}

/* ---- declarations */

const struct buffer *
script_owner(const struct script_reader *r, const struct var *var)
{
	for (int i = r->names.n - 1; i >= 0; i--) {
		const struct script_value *v = &r->names.data[i].value;

		if (v->kind == SCRIPT_BUFFER && v->buffer->data == var) {
			return v->buffer;
		}
		if (v->kind == SCRIPT_MEMORY && v->memory->buffer &&
		    v->memory->buffer->data == var) {
			return v->memory->buffer;
		}
	}
	return NULL;
}

const struct expr *
script_argument(const struct script_reader *r, const struct expr *e)
{
	const struct buffer *b = e->kind == EXPR_VAR ? script_owner(r, e->u.var)
						     : NULL;

	return b ? buffer_first_address(r->m, b) : e;
}

/* The number of bytes of all elements, if it is constant. */
static bool
spec_bytes(const struct buffer_spec *spec, int64_t *out)
{
	*out = (dtype_bits(spec->type) * spec->type.lanes + 7) / 8;
	for (int i = 0; i < spec->ndim; i++) {
		int64_t size;

		if (!expr_is_int(spec->shape[i], &size) ||
		    __builtin_mul_overflow(*out, size, out)) {
			return false;
		}
	}
	return true;
}

static bool
same_spec(const struct buffer_spec *a, const struct buffer_spec *b)
{
	bool same = a->ndim == b->ndim && dtype_equal(a->type, b->type);

	for (int i = 0; same && i < a->ndim; i++) {
		same = a->shape[i] == b->shape[i];
	}
	return same;
}

/* The buffer for memory from T.allocate. The first view of the memory becomes
 * this buffer if it covers all of the memory: the buffer is an array of the
 * view's elements, also if the memory was allocated in another unit. */
static const struct buffer *
buffer_of_memory(struct script_reader *r, struct script_memory *memory,
		 const char *name, const struct buffer_spec *spec)
{
	int64_t have, want, one = dtype_bits(spec->type) / 8 * spec->type.lanes;
	struct buffer_spec made = memory->spec;

	if (memory->buffer) {
		return memory->buffer;
	}
	bool known = spec_bytes(&memory->spec, &have) &&
		     spec_bytes(spec, &want);

	if (same_spec(&memory->spec, spec) || (known && have == want) ||
	    (!known && dtype_equal(memory->spec.type, spec->type) &&
	     memory->spec.ndim == 1 && spec->ndim == 1)) {
		const char *scope = memory->spec.scope;

		made = *spec;
		made.name = script_hint(r, name);
		made.scope = scope;
	} else if (known && !dtype_equal(memory->spec.type, spec->type) &&
		   one > 0 && have % one == 0) {
		const struct expr **size = arena_array(&r->m->arena,
						       const struct expr *, 1);

		size[0] = expr_index(r->m, have / one);
		made.type = spec->type;
		made.ndim = 1;
		made.shape = size;
	}
	memory->spec = made;
	memory->buffer = buffer_new(r->m, &made);
	return memory->buffer;
}

/* Checks that elements of the type can be read from the elements of the buffer.
 * False after an error. */
static bool
check_types(struct script_reader *r, const struct py_node *node,
	    const struct buffer *b, struct dtype t)
{
	struct dtype own = b->type;
	bool lanes = t.kind == own.kind && t.lanes % own.lanes == 0;
	bool bits = t.lanes == own.lanes && dtype_bits(t) == dtype_bits(own) &&
		    dtype_bits(t) >= 8;

	return lanes || bits ||
	       script_fail(r, node,
			   "elements of type %s in the memory of '%s', which "
			   "has elements of type %s; declare types of as many "
			   "bits, or a buffer of its own",
			   typed_name(r->m, t), b->name, typed_name(r->m, own));
}

bool
script_view_memory(struct script_reader *r, const struct py_node *data,
		   const struct py_node *offset, const char *name,
		   struct buffer_spec *spec)
{
	struct script_view *view = arena_new(&r->m->arena, struct script_view);
	struct script_value v, out = { .kind = SCRIPT_BUFFER, .view = view };

	*view = (struct script_view){ .flat = true,
				      .ndim = spec->ndim,
				      .shape = spec->shape,
				      .strides = spec->strides,
				      .type = spec->type,
				      .offset = expr_i32(r->m, 0) };
	if (!script_eval(r, data, &v) ||
	    (offset && offset->kind != PY_NONE &&
	     !script_index(r, offset, &view->offset))) {
		return false;
	}
	if (v.kind == SCRIPT_HANDLE && !v.handle->buffer && !v.handle->used &&
	    is_zero(view->offset)) {
		/* a handle parameter that T.match_buffer has not matched
		 * before */
		spec->name = script_hint(r, name);
		v.handle->buffer = buffer_new(r->m, spec);
		out.buffer = v.handle->buffer;
		out.view = NULL;
		script_define(r, name, out);
		return true;
	}
	if (v.kind == SCRIPT_HANDLE) {
		out.buffer = v.handle->buffer;
	} else if (v.kind == SCRIPT_MEMORY) {
		out.buffer = buffer_of_memory(r, v.memory, name, spec);
	} else if (v.kind == SCRIPT_EXPR && v.e->kind == EXPR_VAR) {
		out.buffer = script_owner(r, v.e->u.var);
	} else if (v.kind == SCRIPT_EXPR && v.e->kind == EXPR_CALL &&
		   intrin_is_address(v.e->u.intrin) &&
		   dtype_equal(v.e->args[0]->type, spec->type)) {
		const struct expr *at = v.e->args[0], *place;

		out.buffer = at->u.buffer;
		if (!place_of(r, data, out.buffer->ndim, out.buffer->shape,
			      NULL, at->args, &place) ||
		    !script_plus(r, data, place, view->offset, &view->offset)) {
			return false;
		}
	}
	if (!out.buffer) {
		return script_fail(
			r, data,
			"a buffer over memory whose buffer is not "
			"known; give the data of a buffer, T.allocate "
			"or a parameter of type T.handle");
	}
	if (out.buffer->strides) {
		return script_fail(
			r, data,
			"a buffer over the memory of '%s', which has "
			"strides; index that one",
			out.buffer->name);
	}
	if (!check_types(r, data, out.buffer, spec->type)) {
		return false;
	}
	if (same_dims(view, out.buffer)) {
		out.view = NULL;
	}
	script_define(r, name, out);
	return true;
}

/* The number of elements from the first to the last one of the buffer. */
static bool
extent_of(struct script_reader *r, const struct py_node *node,
	  const struct buffer_spec *spec, const struct expr **out)
{
	const struct expr **last = arena_exprs(&r->m->arena, spec->ndim + 1);

	for (int i = 0; i < spec->ndim; i++) {
		const struct expr *one = expr_int(r->m, spec->shape[i]->type,
						  -1);

		if (!script_plus(r, node, spec->shape[i], one, &last[i])) {
			return false;
		}
	}
	return place_of(r, node, spec->ndim, spec->shape, spec->strides, last,
			out) &&
	       script_plus(r, node, *out, expr_int(r->m, (*out)->type, 1), out);
}

bool
script_view_offset(struct script_reader *r, const struct py_node *offset,
		   struct script_handle *handle, const char *name,
		   const struct buffer_spec *spec)
{
	struct script_view *view = arena_new(&r->m->arena, struct script_view);
	struct buffer_spec flat = *spec;
	const struct expr **size = arena_exprs(&r->m->arena, 1);

	*view = (struct script_view){ .flat = true,
				      .ndim = spec->ndim,
				      .shape = spec->shape,
				      .strides = spec->strides,
				      .type = spec->type };
	if (!script_index(r, offset, &view->offset) ||
	    !extent_of(r, offset, spec, &size[0]) ||
	    !script_plus(r, offset, view->offset, size[0], &size[0])) {
		return false;
	}
	flat.ndim = 1;
	flat.shape = size;
	flat.strides = NULL;
	handle->buffer = buffer_new(r->m, &flat);
	script_define(r, name,
		      (struct script_value){ .kind = SCRIPT_BUFFER,
					     .buffer = handle->buffer,
					     .view = view });
	return true;
}
