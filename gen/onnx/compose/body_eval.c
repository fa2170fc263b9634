/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions in the texts of compositions: the part of Python by which texts
 * compute attributes and constants, and decide which nodes are made.
 *
 *	names		tensors of the function, and its attributes; an absent one is
 *			None; a tensor or a text that is not empty counts as true
 *	x.ndim, x.shape, x.type, x.name, x.is_string
 *	t.bits, t.is_float, t.is_int, t.is_signed, t == "float32"
 *	operators	of Python on numbers (py_number.h); + - * // % of symbolic
 *			sizes; list + list, list * n
 *	comparisons, and, or, not, in, is, a if b else c
 *	lists, their elements and slices, [f(i) for i in range(n) if g(i)]
 *	len, max (of two), sqrt, range, product (of a list)
 *	known(x, d)	x.shape[d], which must be a number
 *	fixed(v)	whether the integer v is known
 *	elements(x)	the sizes in a list of integers, or None
 *	dtype(n)	the type with ONNX's number n, or None
 *	like(x, v)	the number v as a tensor of the type of x
 *	onnx(t)		ONNX's number of a type, or of the type with a name
 *	listed(v)	v as a list, filled(v, n) as a list of n
 *	both_ends(v, n)	v, given once for all, once for n dimensions or for both
 *			ends of each, as a list of 2 n
 *	reshaped(x, s)	the sizes that Relay's reshape gives x for the list s
 *	int64(v), ...	the number v, or a list of numbers, as a tensor of a type
 *
 * Integers are sizes: exact numbers, or expressions over symbolic sizes. */
#include "body_value.h"

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

static struct body_value
binary(struct body_frame *f, const struct py_node *e)
{
	struct body_value a = evaluate(f, e->kids[0]), b;
	enum py_operator op;

	if (f->c->failed || !py_operator_find(e->op, &op)) {
		return f->c->failed ? none() : body_no_value(f);
	}
	if (py_operator_group(op) == PY_OPS_LOGIC) {
		return body_is_true(&a) == (op == PY_OP_AND)
			       ? evaluate(f, e->kids[1])
			       : a;
	}
	b = evaluate(f, e->kids[1]);
	return f->c->failed ? none() : body_binary(f, op, &a, &b);
}

static struct body_value
unary(struct body_frame *f, const struct py_node *e)
{
	struct body_value v = evaluate(f, e->kids[0]);
	enum py_operator op;

	if (f->c->failed || !py_operator_find(e->op, &op)) {
		return f->c->failed ? none() : body_no_value(f);
	}
	return body_unary(f, op, &v);
}

static struct body_value
compare(struct body_frame *f, const struct py_node *e)
{
	struct body_value a = evaluate(f, e->kids[0]), b;
	enum py_operator op;
	bool yes = true;

	for (int i = 1; yes && !f->c->failed && i < e->n_kids; i++) {
		b = evaluate(f, e->kids[i]);
		yes = !f->c->failed && py_operator_find(e->ops[i - 1], &op) &&
		      body_compare(f, op, &a, &b);
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

/* The index, from 0 to n, of e, an end of a slice of n elements; a negative e
 * counts from the end. `otherwise` if this end is omitted (e is NULL). */
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
	struct py_number x;
	const char *error;

	switch (e->kind) {
	case PY_NAME:
		return body_named(f, e->text);
	case PY_STRING:
		return text(e->text);
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
		return py_number_read(e, &x, &error) && !error
			       ? of_number(f, &x)
			       : body_no_value(f);
	}
}

struct body_value
body_evaluate(struct body_frame *f, const struct py_node *e,
	      const char *expressed)
{
	f->expressed = expressed;
	return evaluate(f, e);
}
