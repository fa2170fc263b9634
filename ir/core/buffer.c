/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers: immutable; a changed buffer is a copy. */
#include "buffer.h"

#include "size_bounds.h"

static const struct expr *const *
copy_exprs(struct module *m, const struct expr *const *list, int n)
{
	if (!list) {
		return NULL;
	}
	return arena_copy(&m->arena, list, sizeof *list * (size_t)n);
}

struct buffer *
buffer_new(struct module *m, const struct buffer_spec *spec)
{
	struct buffer *b = arena_new(&m->arena, struct buffer);

	b->name = arena_strdup(&m->arena, spec->name);
	b->type = spec->type;
	b->id = m->next_buffer_id++;
	b->ndim = spec->ndim;
	b->shape = copy_exprs(m, spec->shape, spec->ndim);
	b->strides = copy_exprs(m, spec->strides, spec->ndim);
	b->scope = spec->scope && strcmp(spec->scope, "global") != 0
			   ? arena_strdup(&m->arena, spec->scope)
			   : "global";
	b->align_bytes = spec->align_bytes;
	b->data = var_new(m, spec->name, dtype_of(DT_HANDLE));
	return b;
}

struct buffer *
buffer_with_scope(struct module *m, const struct buffer *b, const char *scope)
{
	struct buffer_spec spec = {
		.name = b->name,
		.type = b->type,
		.ndim = b->ndim,
		.shape = b->shape,
		.strides = b->strides,
		.scope = scope ? scope : b->scope,
		.align_bytes = b->align_bytes,
	};

	return buffer_new(m, &spec);
}

struct buffer *
buffer_with_shape(struct module *m, const struct buffer *b, int ndim,
		  const struct expr *const *shape)
{
	struct buffer_spec spec = {
		.name = b->name,
		.type = b->type,
		.ndim = b->ndim,
		.shape = b->shape,
		.strides = b->strides,
		.scope = b->scope,
		.align_bytes = b->align_bytes,
	};

	if (ndim >= 0 && shape) {
		spec.ndim = ndim;
		spec.shape = shape;
		spec.strides = NULL; /* dense */
	}
	return buffer_new(m, &spec);
}

static bool
multiply(int64_t *total, int64_t by)
{
	return !__builtin_mul_overflow(*total, by, total);
}

bool
buffer_const_elems(const struct buffer *b, int64_t *elems)
{
	int64_t total = 1, extent;

	for (int i = 0; i < b->ndim; i++) {
		if (!expr_is_int(b->shape[i], &extent) || extent < 0 ||
		    !multiply(&total, extent)) {
			return false;
		}
	}
	*elems = total;
	return true;
}

bool
buffer_max_elems(const struct buffer *b, int64_t *elems)
{
	int64_t total = 1, max;

	for (int i = 0; i < b->ndim; i++) {
		if (!size_max(b->shape[i], &max) || max < 0 ||
		    !multiply(&total, max)) {
			return false;
		}
	}
	*elems = total;
	return true;
}

bool
buffer_span(const struct buffer *b, int64_t *elems)
{
	int64_t extent, stride, step;

	if (!buffer_const_elems(b, elems)) {
		return false;
	}
	if (b->strides == NULL || *elems == 0) {
		return true;
	}
	*elems = 1;
	for (int d = 0; d < b->ndim; d++) {
		if (!expr_is_int(b->shape[d], &extent) ||
		    !expr_is_int(b->strides[d], &stride) || stride < 0 ||
		    __builtin_mul_overflow(extent - 1, stride, &step) ||
		    __builtin_add_overflow(*elems, step, elems)) {
			return false;
		}
	}
	return true;
}

const struct expr *
buffer_first_address(struct module *m, const struct buffer *b)
{
	const struct expr **index = arena_exprs(&m->arena, b->ndim + 1);
	const struct expr *first;

	for (int d = 0; d < b->ndim; d++) {
		index[d] = expr_int(m, b->shape[d]->type, 0);
	}
	first = expr_load(m, b, index, b->ndim);
	return expr_call(m, INTRIN_ADDRESS_OF, dtype_of(DT_HANDLE), &first, 1);
}

int
buffer_element_bytes(const struct buffer *b)
{
	return dtype_bytes(b->type) * b->type.lanes;
}

const struct buffer *
buffer_of_numbers(struct module *m, const struct buffer *b)
{
	struct buffer_spec spec = {
		.name = b->name,
		.type = dtype_of(b->type.kind),
		.scope = b->scope,
		.align_bytes = b->align_bytes,
	};
	const struct expr **shape;
	int n = b->ndim;

	if (b->type.lanes == 1 || b->strides) {
		return b;
	}
	shape = arena_exprs(&m->arena, n + 1);
	for (int i = 0; i < n; i++) {
		shape[i] = b->shape[i];
	}
	n -= n > 0 && expr_is_value(shape[n - 1], 1);
	shape[n] = expr_i32(m, b->type.lanes);
	spec.shape = shape;
	spec.ndim = n + 1;
	return buffer_new(m, &spec);
}
