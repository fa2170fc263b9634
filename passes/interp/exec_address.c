/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of loads and stores: the affine part of the indices becomes an
 * offset and a stride, the remaining part a column of offsets. A reshape splits
 * an index into digits; digits of the same number are joined again:
 *
 *	x // 12 * 12 + x // 3 % 4 * 3 + x % 3  ==  x */
#include "exec.h"

/* A term of an index: factor * (x // divide % modulo); without "% modulo" if
 * modulo is 0. */
struct digit {
	const struct expr *x;
	int64_t divide, modulo, factor;
};

struct address_builder {
	struct exec_builder *builder;
	struct exec_address at;
	VEC(struct digit) digits;
};

static bool
element_strides(const struct buffer *buffer, int64_t *stride)
{
	int64_t span = 1;
	int64_t extent;

	for (int d = buffer->ndim - 1; d >= 0; d--) {
		stride[d] = span;
		if (buffer->strides) {
			if (!expr_is_int(buffer->strides[d], &stride[d])) {
				return false;
			}
		} else if (d > 0) {
			if (!expr_is_int(buffer->shape[d], &extent)) {
				return false;
			}
			span *= extent;
		}
	}
	return true;
}

static void
add_term(struct exec_builder *b, struct exec_address *at, int64_t coeff,
	 int slot, bool is_register)
{
	struct exec_term term = { coeff, slot, is_register };

	if (coeff != 0) {
		vec_push(b->arena, &at->terms, term);
	}
}

static void
add_gather(struct exec_builder *b, struct exec_address *at, int64_t scale,
	   int reg)
{
	struct dtype i64 = dtype_of(DT_I64);

	if (scale != 1) {
		reg = exec_binary(b, EXPR_MUL, i64, i64, reg,
				  exec_constant_int(b, scale));
	}
	at->gather = at->gather < 0 ? reg
				    : exec_binary(b, EXPR_ADD, i64, i64,
						  at->gather, reg);
}

static void add_index(struct address_builder *a, const struct expr *e,
		      int64_t scale);

static void
add_value(struct address_builder *a, const struct expr *e, int64_t scale)
{
	struct exec_builder *b = a->builder;
	int reg = exec_value(b, e);

	if (b->failed) {
		return;
	}
	if (exec_is_uniform(b, reg)) {
		add_term(b, &a->at, scale, reg, true);
	} else {
		add_gather(b, &a->at, scale, reg);
	}
}

static const struct expr *
see_through(const struct exec_builder *b, const struct expr *e)
{
	while (e->kind == EXPR_VAR) {
		const struct exec_binding *binding = exec_find(b, e->u.var);

		if (!binding || !binding->value || binding->reg >= 0) {
			break;
		}
		e = binding->value;
	}
	return e;
}

/* Reads e as a digit; false if it is not x // d, x % m or both. */
static bool
read_digit(const struct exec_builder *b, const struct expr *e,
	   struct digit *digit)
{
	int64_t d;

	*digit = (struct digit){ e, 1, 0, 1 };
	if (e->kind == EXPR_FLOORMOD && expr_is_int(e->args[1], &d) && d > 0) {
		digit->modulo = d;
		e = see_through(b, e->args[0]);
	}
	while (e->kind == EXPR_FLOORDIV && expr_is_int(e->args[1], &d) &&
	       d > 0 && d <= INT32_MAX / digit->divide) {
		digit->divide *= d;
		e = see_through(b, e->args[0]);
	}
	digit->x = e;
	return digit->divide != 1 || digit->modulo != 0;
}

static void
add_index(struct address_builder *a, const struct expr *e, int64_t scale)
{
	struct exec_builder *b = a->builder;
	const struct exec_binding *binding;
	struct digit digit;
	int64_t factor;

	e = see_through(b, e);
	switch (e->kind) {
	case EXPR_INT:
		a->at.base += scale * e->u.ival;
		return;
	case EXPR_VAR:
		binding = exec_find(b, e->u.var);
		if (binding && binding->slot >= 0) {
			add_term(b, &a->at, scale, binding->slot, false);
			if (e->u.var == b->lanes.var) {
				a->at.stride += scale;
			} else if (e->u.var == b->lanes.row_var) {
				a->at.row_stride += scale;
			}
			return;
		}
		break;
	case EXPR_ADD:
	case EXPR_SUB:
		add_index(a, e->args[0], scale);
		add_index(a, e->args[1], e->kind == EXPR_SUB ? -scale : scale);
		return;
	case EXPR_MUL:
		if (expr_is_int(e->args[1], &factor)) {
			add_index(a, e->args[0], scale * factor);
			return;
		}
		if (expr_is_int(e->args[0], &factor)) {
			add_index(a, e->args[1], scale * factor);
			return;
		}
		break;
	case EXPR_CAST:
		if (dtype_is_int(e->type) && dtype_is_int(e->args[0]->type) &&
		    dtype_bits(e->type) >= 32) {
			add_index(a, e->args[0], scale);
			return;
		}
		break;
	case EXPR_FLOORDIV:
	case EXPR_FLOORMOD:
		if (read_digit(b, e, &digit)) {
			digit.factor = scale;
			vec_push(b->arena, &a->digits, digit);
			return;
		}
		break;
	default:
		break;
	}
	add_value(a, e, scale);
}

/* If high and low are adjacent digits of the same x, joins them: x // (d * m) *
 * (f * m) + x // d % m * f is x // d * f. False if they are not adjacent digits
 * of the same x. */
static bool
join(struct digit *high, const struct digit *low)
{
	if (high->x != low->x || low->modulo == 0 ||
	    high->divide != low->divide * low->modulo ||
	    high->factor != low->factor * low->modulo ||
	    high->modulo > INT32_MAX / low->modulo) {
		return false;
	}
	high->modulo *= low->modulo;
	high->divide = low->divide;
	high->factor = low->factor;
	return true;
}

static void
join_digits(struct address_builder *a)
{
	bool more = true;

	while (more) {
		more = false;
		for (int i = 0; i < a->digits.n && !more; i++) {
			for (int k = 0; k < a->digits.n && !more; k++) {
				struct digit *d = a->digits.data;

				if (i != k && join(&d[i], &d[k])) {
					d[k] = d[--a->digits.n];
					more = true;
				}
			}
		}
	}
}

static void
add_digit(struct address_builder *a, const struct digit *digit)
{
	struct module *m = a->builder->func->module;
	const struct expr *e = digit->x;
	struct dtype t = e->type;

	if (digit->divide == 1 && digit->modulo == 0) {
		add_index(a, e, digit->factor);
		return;
	}
	if (digit->divide != 1) {
		e = expr_floordiv(m, e, expr_int(m, t, digit->divide));
	}
	if (digit->modulo != 0) {
		e = expr_floormod(m, e, expr_int(m, t, digit->modulo));
	}
	add_value(a, e, digit->factor);
}

int
exec_address(struct exec_builder *b, const struct buffer *buffer,
	     const struct expr *const *index)
{
	struct address_builder a = { b,
				     { .type = buffer->type, .gather = -1 },
				     { NULL, 0, 0 } };
	int64_t *stride = arena_array(b->arena, int64_t, buffer->ndim + 1);

	a.at.buffer = exec_buffer(b, buffer);
	if (!element_strides(buffer, stride) || buffer->type.lanes != 1) {
		b->failed = true;
		return 0;
	}
	for (int d = 0; d < buffer->ndim; d++) {
		add_index(&a, index[d], stride[d]);
	}
	join_digits(&a);
	/* The x of a digit x // a % b may itself be a sum of digits. */
	while (a.digits.n > 0 && !b->failed) {
		struct digit digit = a.digits.data[--a.digits.n];

		add_digit(&a, &digit);
	}
	/* Either the stride between neighbouring lanes is the same for all
	 * lanes, or a table has the lanes' offsets. */
	bool even = !b->lanes.row_var ||
		    a.at.row_stride == a.at.stride * b->lanes.inner;

	if ((a.at.gather >= 0 && (a.at.stride != 0 || a.at.row_stride != 0)) ||
	    !even) {
		add_gather(b, &a.at, 1,
			   exec_lane_table(b, a.at.stride, a.at.row_stride));
		a.at.stride = 0;
	}
	a.at.row_stride = 0;
	vec_push(b->arena, &b->program->addresses, a.at);
	return b->program->addresses.n - 1;
}
