/* SPDX-License-Identifier: Apache-2.0 */
/* The operators of expressions in the texts of compositions. Known numbers
 * compute as in Python (py_number.h); symbolic sizes and lists have operators
 * here. */
#include "body_value.h"

/* -- arithmetic */

/* a op b, of two integers of which one at least is symbolic */
static struct body_value
of_sizes(struct body_frame *f, enum py_operator op, const struct expr *a,
	 const struct expr *b)
{
	struct module *m = f->c->m;
	int64_t by;

	switch (op) {
	case PY_OP_ADD:
		return size(expr_add(m, a, b));
	case PY_OP_SUB:
		return size(expr_sub(m, a, b));
	case PY_OP_MUL:
		return size(expr_mul(m, a, b));
	case PY_OP_FLOORDIV:
	case PY_OP_MOD:
		if (!expr_is_int(b, &by)) {
			return body_unknown_size(f);
		}
		if (by <= 0) {
			return body_no_value(f);
		}
		return size(op == PY_OP_MOD ? expr_floormod(m, a, b)
					    : expr_floordiv(m, a, b));
	default:
		return body_unknown_size(f);
	}
}

static struct body_value
of_numbers(struct body_frame *f, enum py_operator op,
	   const struct body_value *a, const struct body_value *b)
{
	struct py_number x, y, z;

	if (!body_number(f, a, &x) || !body_number(f, b, &y)) {
		return none();
	}
	return py_number_binary(op, &x, &y, &z) ? body_no_value(f)
						: of_number(f, &z);
}

/* A list: the elements of a, repeated `count` times, then the elements of b
 * (NULL: none). */
static struct body_value
of_lists(struct body_frame *f, const struct body_value *a, int64_t count,
	 const struct body_value *b)
{
	struct body_value *items;
	int n = 0;

	count = count < 0 ? 0 : count;
	if (count > BODY_LIST_MOST || a->n * count + b->n > BODY_LIST_MOST) {
		return body_long_list(f);
	}
	items = body_items(f, (int)(a->n * count) + b->n);
	for (int64_t k = 0; k < count; k++) {
		for (int i = 0; i < a->n; i++) {
			items[n++] = a->items[i];
		}
	}
	for (int i = 0; i < b->n; i++) {
		items[n++] = b->items[i];
	}
	return list(items, n);
}

struct body_value
body_binary(struct body_frame *f, enum py_operator op,
	    const struct body_value *a, const struct body_value *b)
{
	const struct body_value empty = list(NULL, 0);
	int64_t count;

	if (op == PY_OP_ADD && a->kind == BODY_LIST && b->kind == BODY_LIST) {
		return of_lists(f, a, 1, b);
	}
	if (op == PY_OP_MUL && a->kind == BODY_LIST) {
		return body_int(f, b, &count) ? of_lists(f, a, count, &empty)
					      : none();
	}
	if (body_symbolic(a, b)) {
		return of_sizes(f, op, a->size, b->size);
	}
	return of_numbers(f, op, a, b);
}

struct body_value
body_unary(struct body_frame *f, enum py_operator op,
	   const struct body_value *v)
{
	struct py_number x, y;

	if (op == PY_OP_NOT) {
		return truth(!body_is_true(v));
	}
	if (op == PY_OP_SUB && v->kind == BODY_INT) {
		const struct body_value zero = integer(f, 0);

		return body_binary(f, op, &zero, v);
	}
	if (!body_number(f, v, &x)) {
		return none();
	}
	return py_number_unary(op, &x, &y) ? body_no_value(f)
					   : of_number(f, &y);
}

/* -- comparisons */

/* a == b, as Python defines it, for the values of a body. Equal are: equal
 * numbers or texts, a type and a text with its name, lists with equal elements,
 * the same tensor, and the same symbolic size. */
static bool
is_equal(const struct body_value *a, const struct body_value *b)
{
	struct py_number x, y;
	struct dtype t;

	if (body_known(a, &x) && body_known(b, &y)) {
		return py_number_order(&x, &y) == 0;
	}
	if (a->kind == BODY_STRING && b->kind == BODY_TYPE) {
		return is_equal(b, a);
	}
	if (a->kind == BODY_TYPE && b->kind == BODY_STRING) {
		return dtype_from_name(b->text, &t) && dtype_equal(a->type, t);
	}
	if (a->kind != b->kind) {
		return false;
	}
	switch (a->kind) {
	case BODY_INT:
		return a->size == b->size;
	case BODY_STRING:
		return strcmp(a->text, b->text) == 0;
	case BODY_TYPE:
		return dtype_equal(a->type, b->type);
	case BODY_TENSOR:
		return a->tensor == b->tensor;
	case BODY_LIST:
		for (int i = 0; i < a->n && i < b->n; i++) {
			if (!is_equal(&a->items[i], &b->items[i])) {
				return false;
			}
		}
		return a->n == b->n;
	default:
		return true;
	}
}

static bool
is_in(const struct body_value *v, const struct body_value *of)
{
	for (int i = 0; i < of->n; i++) {
		if (is_equal(v, &of->items[i])) {
			return true;
		}
	}
	return false;
}

bool
body_compare(struct body_frame *f, enum py_operator op,
	     const struct body_value *a, const struct body_value *b)
{
	switch (op) {
	case PY_OP_EQ:
	case PY_OP_IS:
		return is_equal(a, b);
	case PY_OP_NE:
	case PY_OP_IS_NOT:
		return !is_equal(a, b);
	case PY_OP_IN:
		return is_in(a, b);
	case PY_OP_NOT_IN:
		return !is_in(a, b);
	default:
		return of_numbers(f, op, a, b).truth;
	}
}
