/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions in the texts of compositions: the part of Python that decides
 * about attributes, constants and the presence of nodes.
 *
 *	names		tensors of the function, and its attributes; an absent one is
 *			None; a tensor or a text that is not empty counts as true
 *	x.ndim, x.shape, x.type, x.name, x.is_string
 *	t.bits, t.is_float, t.is_int, t == "float32"
 *	+ - * / // % **, comparisons, and, or, not, in, is, a if b else c
 *	lists, their elements and slices, [f(i) for i in range(n) if g(i)]
 *	len, max, sqrt, range, product (of a list)
 *	known(x, d)	x.shape[d], which must be a number
 *	fixed(v)	whether the integer v is known
 *	elements(x)	the sizes in a list of integers, or None
 *	dtype(n)	the type with ONNX's number n, or None
 *	like(x, v)	the number v as a tensor of the type of x
 *	int64(v), ...	the number v, or a list of numbers, as a tensor of a type
 *
 * Integers are sizes: exact numbers, or expressions over symbolic sizes. */
#include "body_value.h"

#include <math.h>

static struct body_value evaluate(struct body_frame *f,
				  const struct py_node *e);

static struct body_value
shape_value(struct body_frame *f, const struct tensor *t)
{
	struct body_value *items = body_items(f, t->ndim);

	for (int d = 0; d < t->ndim; d++) {
		items[d] = size(t->shape[d]);
	}
	return list(items, t->ndim);
}

static struct body_value
property(struct body_frame *f, const struct py_node *e)
{
	struct body_value of = evaluate(f, e->kids[0]);
	const struct tensor *t;

	if (f->c->failed) {
		return none();
	}
	if (of.kind == BODY_TYPE) {
		return strcmp(e->text, "bits") == 0
			       ? integer(f, dtype_bits(of.type))
		       : strcmp(e->text, "is_float") == 0
			       ? truth(dtype_is_float(of.type))
		       : strcmp(e->text, "is_int") == 0
			       ? truth(dtype_is_int(of.type))
		       : strcmp(e->text, "is_signed") == 0
			       ? truth(dtype_class(of.type) == DTC_INT)
			       : body_no_value(f);
	}
	t = body_needed_tensor(f, &of);
	if (!t) {
		return none();
	}
	return strcmp(e->text, "ndim") == 0        ? integer(f, t->ndim)
	       : strcmp(e->text, "shape") == 0     ? shape_value(f, t)
	       : strcmp(e->text, "type") == 0      ? type_value(t->type)
	       : strcmp(e->text, "name") == 0      ? text(t->name)
	       : strcmp(e->text, "is_string") == 0 ? truth(t->is_string)
						   : body_no_value(f);
}

/* -- operators */

/* a op b as a number, if it does not overflow. */
static bool
exact(const char *op, int64_t a, int64_t b, int64_t *out)
{
	int64_t rest;

	switch (*op) {
	case '+':
		return !__builtin_add_overflow(a, b, out);
	case '-':
		return !__builtin_sub_overflow(a, b, out);
	case '*':
		return !__builtin_mul_overflow(a, b, out);
	default: /* "//" and "%" */
		if (b == 0 || b == -1) {
			*out = 0;
			return b != 0 && (*op == '%' ||
					  !__builtin_sub_overflow(0, a, out));
		}
		rest = a % b;
		rest += rest != 0 && (rest < 0) != (b < 0) ? b : 0;
		*out = *op == '%' ? rest : (a - rest) / b;
		return true;
	}
}

static struct body_value
of_sizes(struct body_frame *f, const char *op, const struct expr *a,
	 const struct expr *b)
{
	struct module *m = f->c->m;
	int64_t x, y, v;

	if (expr_is_int(a, &x) && expr_is_int(b, &y)) {
		return exact(op, x, y, &v) ? integer(f, v) : body_no_value(f);
	}
	switch (*op) {
	case '+':
		return size(expr_add(m, a, b));
	case '-':
		return size(expr_sub(m, a, b));
	case '*':
		return size(expr_mul(m, a, b));
	default:
		if (!expr_is_int(b, &y) || y <= 0) {
			return body_unknown_size(f);
		}
		return size(*op == '%' ? expr_floormod(m, a, b)
				       : expr_floordiv(m, a, b));
	}
}

static struct body_value
of_numbers(struct body_frame *f, const char *op, const struct body_value *a,
	   const struct body_value *b)
{
	double x, y;

	if (!body_real(f, a, &x) || !body_real(f, b, &y)) {
		return none();
	}
	return strcmp(op, "+") == 0    ? number(x + y)
	       : strcmp(op, "-") == 0  ? number(x - y)
	       : strcmp(op, "*") == 0  ? number(x * y)
	       : strcmp(op, "/") == 0  ? number(x / y)
	       : strcmp(op, "**") == 0 ? number(pow(x, y))
				       : body_no_value(f);
}

/* a + b, or a * count */
static struct body_value
of_lists(struct body_frame *f, const struct body_value *a,
	 const struct body_value *b, int64_t count)
{
	struct body_value *items;
	int64_t n;
	int at = 0;

	if (count > BODY_LIST_MOST) {
		return body_no_value(f);
	}
	count = count < 0 ? 0 : count;
	n = a->n * count + (b ? b->n : 0);
	if (n > BODY_LIST_MOST) {
		return body_no_value(f);
	}
	items = body_items(f, (int)n);
	for (int64_t k = 0; k < count; k++) {
		for (int i = 0; i < a->n; i++) {
			items[at++] = a->items[i];
		}
	}
	for (int i = 0; b && i < b->n; i++) {
		items[at++] = b->items[i];
	}
	return list(items, at);
}

static struct body_value
binary(struct body_frame *f, const struct py_node *e)
{
	struct body_value a = evaluate(f, e->kids[0]), b;
	bool is_and = strcmp(e->op, "and") == 0;
	int64_t count;

	if (f->c->failed || ((is_and || strcmp(e->op, "or") == 0) &&
			     body_is_true(&a) != is_and)) {
		return a;
	}
	b = evaluate(f, e->kids[1]);
	if (f->c->failed || is_and || strcmp(e->op, "or") == 0) {
		return b;
	}
	if (a.kind == BODY_LIST && b.kind == BODY_LIST &&
	    strcmp(e->op, "+") == 0) {
		return of_lists(f, &a, &b, 1);
	}
	if (a.kind == BODY_LIST && strcmp(e->op, "*") == 0) {
		return body_int(f, &b, &count) ? of_lists(f, &a, NULL, count)
					       : none();
	}
	if (a.kind == BODY_INT && b.kind == BODY_INT &&
	    strcmp(e->op, "/") != 0 && strcmp(e->op, "**") != 0 &&
	    strchr("+-*/%", *e->op) != NULL) {
		return of_sizes(f, e->op, a.size, b.size);
	}
	return body_is_number(&a) && body_is_number(&b)
		       ? of_numbers(f, e->op, &a, &b)
		       : body_no_value(f);
}

static struct body_value
unary(struct body_frame *f, const struct py_node *e)
{
	struct body_value v = evaluate(f, e->kids[0]);

	if (f->c->failed) {
		return none();
	}
	if (strcmp(e->op, "not") == 0) {
		return truth(!body_is_true(&v));
	}
	if (strcmp(e->op, "-") != 0) {
		return body_no_value(f);
	}
	return v.kind == BODY_FLOAT ? number(-v.number)
	       : v.kind == BODY_INT
		       ? of_sizes(f, "-", expr_index(f->c->m, 0), v.size)
		       : body_no_value(f);
}

static bool
is_equal(const struct body_value *a, const struct body_value *b)
{
	struct dtype t;
	int64_t i;

	if (a->kind == BODY_TYPE && b->kind == BODY_STRING) {
		return dtype_from_name(b->text, &t) && dtype_equal(a->type, t);
	}
	if (a->kind == BODY_FLOAT && b->kind == BODY_INT) {
		return expr_is_int(b->size, &i) && a->number == (double)i;
	}
	if (a->kind != b->kind) {
		return (a->kind == BODY_INT && b->kind == BODY_FLOAT) ||
				       (a->kind == BODY_STRING &&
					b->kind == BODY_TYPE)
			       ? is_equal(b, a)
			       : false;
	}
	switch (a->kind) {
	case BODY_BOOL:
		return a->truth == b->truth;
	case BODY_INT:
		return a->size == b->size ||
		       (expr_is_int(a->size, &i) && expr_is_value(b->size, i));
	case BODY_FLOAT:
		return a->number == b->number;
	case BODY_STRING:
		return strcmp(a->text, b->text) == 0;
	case BODY_TYPE:
		return dtype_equal(a->type, b->type);
	case BODY_TENSOR:
		return a->tensor == b->tensor;
	case BODY_LIST:
		for (int k = 0; k < a->n && k < b->n; k++) {
			if (!is_equal(&a->items[k], &b->items[k])) {
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

static bool
compares(struct body_frame *f, const char *op, const struct body_value *a,
	 const struct body_value *b)
{
	double x, y;

	if (strcmp(op, "==") == 0 || strcmp(op, "is") == 0) {
		return is_equal(a, b);
	}
	if (strcmp(op, "!=") == 0 || strcmp(op, "is not") == 0) {
		return !is_equal(a, b);
	}
	if (strcmp(op, "in") == 0 || strcmp(op, "not in") == 0) {
		return is_in(a, b) == (*op == 'i');
	}
	if (!body_real(f, a, &x) || !body_real(f, b, &y)) {
		return false;
	}
	return strcmp(op, "<") == 0    ? x < y
	       : strcmp(op, "<=") == 0 ? x <= y
	       : strcmp(op, ">") == 0  ? x > y
				       : x >= y;
}

static struct body_value
compare(struct body_frame *f, const struct py_node *e)
{
	struct body_value a = evaluate(f, e->kids[0]), b;
	bool yes = true;

	for (int i = 1; yes && !f->c->failed && i < e->n_kids; i++) {
		b = evaluate(f, e->kids[i]);
		yes = !f->c->failed && compares(f, e->ops[i - 1], &a, &b);
		a = b;
	}
	return truth(yes);
}

/* -- lists */

static struct body_value
elements(struct body_frame *f, const struct py_node *e)
{
	VEC(struct body_value) items = { 0 };

	for (int i = 0; i < e->n_kids && !f->c->failed; i++) {
		bool spread = e->kids[i]->kind == PY_STAR;
		struct body_value v = evaluate(f, spread ? e->kids[i]->kids[0]
							 : e->kids[i]);

		for (int k = 0; spread && k < v.n; k++) {
			vec_push(&f->c->imp->tmp, &items, v.items[k]);
		}
		if (!spread) {
			vec_push(&f->c->imp->tmp, &items, v);
		}
	}
	return list(items.data, items.n);
}

/* An end of a slice, from 0 to n. */
static int
slice_end(struct body_frame *f, const struct py_node *e, int n, int otherwise)
{
	struct body_value v;
	int64_t at = otherwise;

	if (e) {
		v = evaluate(f, e);
		if (f->c->failed || !body_int(f, &v, &at)) {
			return 0;
		}
		at += at < 0 ? n : 0;
	}
	return at < 0 ? 0 : at > n ? n : (int)at;
}

static struct body_value
element(struct body_frame *f, const struct py_node *e)
{
	const struct py_node *of = e->kids[0], *at = e->kids[1];
	struct body_value v, index;
	int64_t i;
	int from, to;

	if (of->kind == PY_ATTRIBUTE && strcmp(of->text, "shape") == 0 &&
	    at->kind != PY_SLICE) {
		const struct tensor *t;

		v = evaluate(f, of->kids[0]);
		index = evaluate(f, at);
		t = f->c->failed ? NULL : body_needed_tensor(f, &v);
		return t && body_int(f, &index, &i) && i > -ONNX_MAX_RANK &&
				       i < ONNX_MAX_RANK
			       ? size(compose_dim(f->c, t, (int)i))
			       : none();
	}
	v = evaluate(f, of);
	if (f->c->failed || v.kind != BODY_LIST) {
		return f->c->failed ? none() : body_no_value(f);
	}
	if (at->kind == PY_SLICE) {
		from = slice_end(f, at->kids[0], v.n, 0);
		to = slice_end(f, at->kids[1], v.n, v.n);
		return from < to ? list(v.items + from, to - from)
				 : list(NULL, 0);
	}
	index = evaluate(f, at);
	if (f->c->failed || !body_int(f, &index, &i)) {
		return none();
	}
	i += i < 0 ? v.n : 0;
	return i >= 0 && i < v.n ? v.items[i] : body_no_value(f);
}

static struct body_value
comprehension(struct body_frame *f, const struct py_node *e)
{
	const struct py_node *clause = e->kids[1];
	struct body_value over = evaluate(f, clause->kids[1]), keep;
	struct body_value *items = body_items(f, over.n);
	int n = 0;

	if (e->n_kids != 2 || clause->kids[0]->kind != PY_NAME) {
		return body_no_value(f);
	}
	for (int i = 0; i < over.n && !f->c->failed; i++) {
		bool kept = true;

		body_bind(f, clause->kids[0]->text, over.items[i]);
		for (int k = 2; kept && k < clause->n_kids; k++) {
			keep = evaluate(f, clause->kids[k]);
			kept = body_is_true(&keep);
		}
		if (kept) {
			items[n++] = evaluate(f, e->kids[0]);
		}
	}
	return list(items, n);
}

static struct body_value
call(struct body_frame *f, const struct py_node *e)
{
	struct body_value *in = body_items(f, e->n_kids);
	int n = e->n_kids - 1;

	for (int i = 0; i < n && !f->c->failed; i++) {
		in[i] = evaluate(f, e->kids[i + 1]);
	}
	if (f->c->failed) {
		return none();
	}
	return n > 0 && e->kids[0]->kind == PY_NAME
		       ? body_call(f, e->kids[0]->text, in, n)
		       : body_no_value(f);
}

static struct body_value
joined(struct body_frame *f, const struct py_node *e)
{
	const char *all = "";

	for (int i = 0; i < e->n_kids && !f->c->failed; i++) {
		struct body_value v = evaluate(f, e->kids[i]);

		all = arena_printf(&f->c->imp->tmp, "%s%s", all,
				   body_words(f, &v));
	}
	return text(all);
}

static struct body_value
evaluate(struct body_frame *f, const struct py_node *e)
{
	struct body_value v;

	switch (e->kind) {
	case PY_NAME:
		return body_named(f, e->text);
	case PY_INT:
		return e->is_unsigned ? body_no_value(f) : integer(f, e->ival);
	case PY_FLOAT:
		return number(e->fval);
	case PY_STRING:
		return text(e->text);
	case PY_TRUE:
	case PY_FALSE:
		return truth(e->kind == PY_TRUE);
	case PY_NONE:
		return none();
	case PY_FSTRING:
		return joined(f, e);
	case PY_LIST:
	case PY_TUPLE:
		return elements(f, e);
	case PY_COMPREHENSION:
		return comprehension(f, e);
	case PY_SUBSCRIPT:
		return element(f, e);
	case PY_ATTRIBUTE:
		return property(f, e);
	case PY_CALL:
		return call(f, e);
	case PY_UNARY:
		return unary(f, e);
	case PY_BINARY:
		return binary(f, e);
	case PY_COMPARE:
		return compare(f, e);
	case PY_IFELSE:
		v = evaluate(f, e->kids[1]);
		return f->c->failed
			       ? none()
			       : evaluate(f, e->kids[body_is_true(&v) ? 0 : 2]);
	default:
		return body_no_value(f);
	}
}

struct body_value
body_evaluate(struct body_frame *f, const struct py_node *e,
	      const char *expressed)
{
	f->expressed = expressed;
	return evaluate(f, e);
}
