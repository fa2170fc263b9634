/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers: immutable; a changed buffer is a copy. */
#include "buffer.h"

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
	b->scope = arena_strdup(&m->arena,
				spec->scope ? spec->scope : "global");
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

/* Bounds of a product; false on overflow. */
static bool
product_range(int64_t alo, int64_t ahi, int64_t blo, int64_t bhi, int64_t *min,
	      int64_t *max)
{
	int64_t ends[4];

	if (__builtin_mul_overflow(alo, blo, &ends[0]) ||
	    __builtin_mul_overflow(alo, bhi, &ends[1]) ||
	    __builtin_mul_overflow(ahi, blo, &ends[2]) ||
	    __builtin_mul_overflow(ahi, bhi, &ends[3])) {
		return false;
	}
	*min = *max = ends[0];
	for (int i = 1; i < 4; i++) {
		*min = ends[i] < *min ? ends[i] : *min;
		*max = ends[i] > *max ? ends[i] : *max;
	}
	return true;
}

/* The quotient of a and b > 0: rounded down, or toward zero. */
static int64_t
quotient(enum expr_kind kind, int64_t a, int64_t b)
{
	return a / b - (kind == EXPR_FLOORDIV && a % b < 0);
}

/* Bounds of a size made of dimension variables, constants and the usual
 * operators. False for other operators and on overflow. */
static bool
size_range(const struct expr *e, int64_t *min, int64_t *max)
{
	int64_t alo, ahi, blo, bhi;

	if (expr_is_int(e, min)) {
		*max = *min;
		return true;
	}
	if (e->kind == EXPR_VAR) {
		*min = e->u.var->min;
		*max = e->u.var->max;
		return *min <= *max && *max != INT64_MAX;
	}
	if (e->kind == EXPR_CAST) {
		return size_range(e->args[0], min, max);
	}
	if (e->n_args != 2 || !size_range(e->args[0], &alo, &ahi) ||
	    !size_range(e->args[1], &blo, &bhi)) {
		return false;
	}
	switch (e->kind) {
	case EXPR_ADD:
		return !__builtin_add_overflow(alo, blo, min) &&
		       !__builtin_add_overflow(ahi, bhi, max);
	case EXPR_SUB:
		return !__builtin_sub_overflow(alo, bhi, min) &&
		       !__builtin_sub_overflow(ahi, blo, max);
	case EXPR_MUL:
		return product_range(alo, ahi, blo, bhi, min, max);
	case EXPR_FLOORDIV:
	case EXPR_DIV:
		if (blo <= 0) {
			return false;
		}
		*min = quotient(e->kind, alo, alo < 0 ? blo : bhi);
		*max = quotient(e->kind, ahi, ahi < 0 ? bhi : blo);
		return true;
	case EXPR_FLOORMOD:
		*min = 0;
		*max = bhi - 1;
		return blo > 0;
	case EXPR_MIN:
		*min = alo < blo ? alo : blo;
		*max = ahi < bhi ? ahi : bhi;
		return true;
	case EXPR_MAX:
		*min = alo > blo ? alo : blo;
		*max = ahi > bhi ? ahi : bhi;
		return true;
	default:
		return false;
	}
}

bool
buffer_max_elems(const struct buffer *b, int64_t *elems)
{
	int64_t total = 1, min, max;

	for (int i = 0; i < b->ndim; i++) {
		if (!size_range(b->shape[i], &min, &max) || max < 0 ||
		    !multiply(&total, max)) {
			return false;
		}
	}
	*elems = total;
	return true;
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
	shape = arena_array(&m->arena, const struct expr *, n + 1);
	for (int i = 0; i < n; i++) {
		shape[i] = b->shape[i];
	}
	n -= n > 0 && expr_is_value(shape[n - 1], 1);
	shape[n] = expr_i32(m, b->type.lanes);
	spec.shape = shape;
	spec.ndim = n + 1;
	return buffer_new(m, &spec);
}
