/* SPDX-License-Identifier: Apache-2.0 */
/* Operators on texts and lists; conversion of values to numbers of Python
 * (ir/python/py_number.h) or to operands of expressions (ir/typed). */
#include "format.h"
#include "library.h"
#include "objects.h"

/* -- expressions -- */

static bool
is_symbolic(const struct pval *v)
{
	return v->kind == PV_EXPR || v->kind == PV_AXIS ||
	       v->kind == PV_TENSOR_PART || v->kind == PV_THREAD;
}

int
eval_expr_size(struct eval *ev, const struct expr *e)
{
	int size = 1;

	while (ev->sizes.n <= (int)e->id) {
		vec_push(ev->a, &ev->sizes, 0);
	}
	if (ev->sizes.data[e->id] > 0) {
		return ev->sizes.data[e->id];
	}
	for (int i = 0; i < e->n_args && size <= EVAL_MAX_EXPR_SIZE; i++) {
		size += eval_expr_size(ev, e->args[i]);
	}
	ev->sizes.data[e->id] = size;
	return size;
}

bool
eval_expr_fits(struct eval *ev, struct py_span at, const struct expr *e,
	       int depth)
{
	if (depth > EVAL_MAX_EXPR_DEPTH) {
		return eval_error(ev, at,
				  "an expression more than %d levels "
				  "deep; compute parts of it in tensors of "
				  "their own",
				  EVAL_MAX_EXPR_DEPTH);
	}
	if (eval_expr_size(ev, e) > EVAL_MAX_EXPR_SIZE) {
		return eval_error(ev, at,
				  "an expression of more than %d "
				  "parts; compute some in tensors of their "
				  "own",
				  EVAL_MAX_EXPR_SIZE);
	}
	return true;
}

/* The number of levels that an operator adds to the depth of its operands in e:
 * usually 1, but more for // and % of floats, whose expressions have several
 * nodes (typed_kind()). */
static int
levels(const struct expr *e)
{
	const struct expr *last = e->n_args > 0 ? e->args[e->n_args - 1] : e;

	if (e->kind == EXPR_CALL && e->u.intrin == INTRIN_FLOOR) {
		return 2;
	}
	return e->kind == EXPR_SUB && last->kind == EXPR_MUL &&
			       dtype_is_float(e->type)
		       ? 4
		       : 1;
}

bool
eval_typed_result(struct eval *ev, struct py_span at, const struct typed *x,
		  int depth, struct pval *out)
{
	const struct expr *e = x->e;

	depth += levels(e);
	*out = pv_expr(e, depth);
	return eval_expr_fits(ev, at, e, depth);
}

/* Converts two values to operands of an expression. *depth: the larger depth of
 * the two. Returns false after an error. */
static bool
both_operands(struct eval *ev, struct py_span at, const struct pval *x,
	      const struct pval *y, struct typed *a, struct typed *b,
	      int *depth)
{
	int deep;

	if (!value_typed(ev, at, x, a, depth) ||
	    !value_typed(ev, at, y, b, &deep)) {
		return false;
	}
	*depth = deep > *depth ? deep : *depth;
	return true;
}

bool
eval_expr_binary(struct eval *ev, struct py_span at, enum expr_kind kind,
		 const struct pval *x, const struct pval *y, struct pval *out)
{
	struct typed a, b, c;
	int depth;

	return both_operands(ev, at, x, y, &a, &b, &depth) &&
	       typed_kind(&ev->typing, at, kind, &a, &b, &c) &&
	       eval_typed_result(ev, at, &c, depth, out);
}

static bool
symbolic_binary(struct eval *ev, struct py_span at, enum py_operator op,
		const struct pval *x, const struct pval *y, struct pval *out)
{
	struct typed a, b, c;
	int depth;

	return both_operands(ev, at, x, y, &a, &b, &depth) &&
	       typed_binary(&ev->typing, at, op, &a, &b, &c) &&
	       eval_typed_result(ev, at, &c, depth, out);
}

static bool
symbolic_unary(struct eval *ev, struct py_span at, enum py_operator op,
	       const struct pval *x, struct pval *out)
{
	struct typed a, b;
	int depth;

	return value_typed(ev, at, x, &a, &depth) &&
	       typed_unary(&ev->typing, at, op, &a, &b) &&
	       eval_typed_result(ev, at, &b, depth, out);
}

/* -- texts and lists -- */

static bool
is_sequence(const struct pval *v)
{
	return v->kind == PV_LIST || v->kind == PV_TUPLE ||
	       v->kind == PV_STRING;
}

bool
list_add(struct eval *ev, struct py_span at, struct pv_list *list,
	 const struct pval *items, int n)
{
	if (list->n + n > EVAL_MAX_ITEMS) {
		return eval_error(ev, at, "a list of more than %d elements",
				  EVAL_MAX_ITEMS);
	}
	for (int i = 0; i < n; i++) {
		vec_push(ev->a, list, items[i]);
	}
	return true;
}

static bool
join(struct eval *ev, struct py_span at, const struct pval *x,
     const struct pval *y, struct pval *out)
{
	struct strbuf s;

	if (x->kind == PV_STRING) {
		if (x->u.text.n + y->u.text.n > EVAL_MAX_ITEMS) {
			return eval_error(ev, at,
					  "a text of more than %d "
					  "bytes",
					  EVAL_MAX_ITEMS);
		}
		strbuf_init(&s);
		strbuf_write(&s, x->u.text.data, x->u.text.n);
		strbuf_write(&s, y->u.text.data, y->u.text.n);
		*out = pv_text_n(ev, s.data, s.len);
		strbuf_release(&s);
		return eval_tick_bytes(ev, at, out->u.text.n);
	}
	*out = pv_list_of(ev, x->kind, x->u.list->data, x->u.list->n);
	return list_add(ev, at, out->u.list, y->u.list->data, y->u.list->n) &&
	       eval_tick(ev, at, out->u.list->n);
}

static bool
repeat(struct eval *ev, struct py_span at, const struct pval *x, int64_t times,
       struct pval *out)
{
	int64_t each = x->kind == PV_STRING ? (int64_t)x->u.text.n
					    : x->u.list->n;
	struct strbuf s;

	times = times < 0 ? 0 : times;
	if (each > 0 && times > EVAL_MAX_ITEMS / each) {
		return eval_error(ev, at, "more than %d elements",
				  EVAL_MAX_ITEMS);
	}
	if (!eval_tick(ev, at, each * times)) {
		return false;
	}
	if (x->kind == PV_STRING) {
		strbuf_init(&s);
		for (int64_t i = 0; i < times && each > 0; i++) {
			strbuf_write(&s, x->u.text.data, x->u.text.n);
		}
		*out = pv_text_n(ev, s.data, s.len);
		strbuf_release(&s);
		return true;
	}
	*out = pv_list_of(ev, x->kind, NULL, 0);
	for (int64_t i = 0; i < times && each > 0; i++) {
		for (int k = 0; k < x->u.list->n; k++) {
			vec_push(ev->a, out->u.list, x->u.list->data[k]);
		}
	}
	return true;
}

bool
eval_binary(struct eval *ev, struct py_span at, enum py_operator op,
	    const struct pval *x, const struct pval *y, struct pval *out)
{
	struct py_number a, b, c;
	const char *error;
	bool found;

	if (pv_number(x, &a) && pv_number(y, &b)) {
		error = py_number_binary(op, &a, &b, &c);
		*out = pv_of_number(&c);
		return !error ||
		       eval_raise(ev, at,
				  strstr(error, "zero") ? "ZeroDivisionError"
							: "ValueError",
				  "%s", error);
	}
	if (!object_operator(ev, at, op, x, y, out, &found)) {
		return false;
	}
	if (found) {
		return true;
	}
	if (op == PY_OP_MOD && x->kind == PV_STRING) {
		return format_percent(ev, at, x, y, out);
	}
	if (pv_is_array(x) || pv_is_array(y)) {
		return ops_of(ev, PV_ARRAY)->binary(ev, at, op, x, y, out);
	}
	if ((is_symbolic(x) && (is_symbolic(y) || pv_number(y, &b))) ||
	    (is_symbolic(y) && pv_number(x, &a))) {
		return symbolic_binary(ev, at, op, x, y, out);
	}
	if (op == PY_OP_ADD && is_sequence(x) && x->kind == y->kind) {
		return join(ev, at, x, y, out);
	}
	if (op == PY_OP_MUL && is_sequence(x) && y->kind == PV_INT) {
		return repeat(ev, at, x, y->u.ival, out);
	}
	if (op == PY_OP_MUL && is_sequence(y) && x->kind == PV_INT) {
		return repeat(ev, at, y, x->u.ival, out);
	}
	if (x->kind == PV_TENSOR || y->kind == PV_TENSOR) {
		return ops_of(ev, PV_TENSOR)->binary(ev, at, op, x, y, out);
	}
	return eval_error(ev, at, "%s is not defined for %s and %s",
			  py_operator_text(op), pv_kind_name(x->kind),
			  pv_kind_name(y->kind));
}

bool
eval_unary(struct eval *ev, struct py_span at, enum py_operator op,
	   const struct pval *x, struct pval *out)
{
	struct pval zero = pv_int(0);
	struct py_number n;
	const char *error;
	bool truth;

	if (op == PY_OP_NOT && ev->symbolic && x->kind == PV_EXPR) {
		return symbolic_unary(ev, at, op, x, out);
	}
	if (op == PY_OP_NOT) {
		if (!eval_truth(ev, at, x, &truth)) {
			return false;
		}
		*out = pv_bool(!truth);
		return true;
	}
	if (pv_number(x, &n)) {
		error = py_number_unary(op, &n, &n);
		*out = pv_of_number(&n);
		return !error || eval_error(ev, at, "%s", error);
	}
	if (op == PY_OP_SUB &&
	    !object_special(ev, at, x, "__neg__", NULL, 0, out, &truth)) {
		return false;
	}
	if (op == PY_OP_SUB && x->kind == PV_OBJECT && truth) {
		return true;
	}
	if (ops_of(ev, x->kind)->unary) {
		return ops_of(ev, x->kind)->unary(ev, at, op, x, out);
	}
	if (x->kind == PV_EXPR && op == PY_OP_SUB &&
	    x->u.expr->type.kind == DT_BOOL) {
		return eval_binary(ev, at, op, &zero, x, out);
	}
	if (is_symbolic(x)) {
		return symbolic_unary(ev, at, op, x, out);
	}
	return eval_error(ev, at, "%s is not defined for %s",
			  py_operator_text(op), pv_kind_name(x->kind));
}

bool
eval_product(struct eval *ev, struct py_span at, const struct pval *x,
	     const struct pval *y, struct pval *out)
{
	if (!pv_is_array(x) && !pv_is_array(y)) {
		return eval_error(ev, at, "@ is not defined for %s and %s",
				  pv_kind_name(x->kind), pv_kind_name(y->kind));
	}
	return ops_of(ev, PV_ARRAY)->product(ev, at, x, y, out);
}

bool
eval_augmented(struct eval *ev, struct py_span at, enum py_operator op,
	       const struct pval *x, const struct pval *y, struct pval *out)
{
	if (ops_of(ev, x->kind)->augment) {
		return ops_of(ev, x->kind)->augment(ev, at, op, x, y, out);
	}
	return eval_binary(ev, at, op, x, y, out);
}

/* -- comparison -- */

bool
eval_compare(struct eval *ev, struct py_span at, enum py_operator op,
	     const struct pval *x, const struct pval *y, struct pval *out)
{
	bool equality = op == PY_OP_EQ || op == PY_OP_NE, answer, found;
	struct py_number n;
	int order;

	if (!object_operator(ev, at, op, x, y, out, &found)) {
		return false;
	}
	if (found) {
		return true;
	}

	if (op == PY_OP_IS || op == PY_OP_IS_NOT) {
		answer = pv_same(x, y);
		/* `is` compares texts by their characters, because equal texts
		 * are mostly one object in Python. */
		if (x->kind == PV_STRING && y->kind == PV_STRING &&
		    !eval_equal(ev, at, x, y, &answer)) {
			return false;
		}
		*out = pv_bool(answer == (op == PY_OP_IS));
		return true;
	}
	if (op == PY_OP_IN || op == PY_OP_NOT_IN) {
		if (!eval_contains(ev, at, x, y, &answer)) {
			return false;
		}
		*out = pv_bool(answer == (op == PY_OP_IN));
		return true;
	}
	if ((pv_is_array(x) && (pv_is_array(y) || pv_number(y, &n))) ||
	    (pv_is_array(y) && pv_number(x, &n))) {
		return ops_of(ev, PV_ARRAY)->binary(ev, at, op, x, y, out);
	}
	if (x->kind == PV_AXIS && y->kind == PV_AXIS &&
	    x->u.axis == y->u.axis && equality) {
		*out = pv_bool(op == PY_OP_EQ);
		return true;
	}
	if ((is_symbolic(x) && (is_symbolic(y) || pv_number(y, &n))) ||
	    (is_symbolic(y) && pv_number(x, &n))) {
		return symbolic_binary(ev, at, op, x, y, out);
	}
	if (equality) {
		if (!eval_equal(ev, at, x, y, &answer)) {
			return false;
		}
		*out = pv_bool(answer == (op == PY_OP_EQ));
		return true;
	}
	if (!eval_order(ev, at, x, y, &order)) {
		return false;
	}
	if (order == PV_NO_ORDER) {
		return eval_error(ev, at, "%s is not defined for %s and %s",
				  py_operator_text(op), pv_kind_name(x->kind),
				  pv_kind_name(y->kind));
	}
	*out = pv_bool(py_order_holds(op, order));
	return true;
}
