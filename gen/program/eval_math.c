/* SPDX-License-Identifier: Apache-2.0 */
/* Operators: Python's operators on numbers, texts and lists; on expressions
 * they build larger expressions, with TVM's rules for mixed types. */
#include <math.h>

#include "eval.h"
#include "program_parts.h"

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

static bool
result(struct eval *ev, struct py_span at, const struct expr *e, int depth,
       struct pval *out)
{
	*out = pv_expr(e, depth);
	return eval_expr_fits(ev, at, e, depth);
}

static bool
is_arithmetic(enum expr_kind kind)
{
	return kind != EXPR_EQ && kind != EXPR_NE && kind != EXPR_AND &&
	       kind != EXPR_OR;
}

bool
eval_expr_binary(struct eval *ev, struct py_span at, enum expr_kind kind,
		 const struct pval *x, const struct pval *y, struct pval *out)
{
	const struct expr *a, *b;
	int depth;

	if (!eval_operands(ev, at, x, y, &a, &b, &depth)) {
		return false;
	}
	if (dtype_class(a->type) == DTC_STRING ||
	    dtype_class(a->type) == DTC_HANDLE) {
		return eval_error(ev, at, "there is no arithmetic on %s",
				  dtype_name(a->type));
	}
	if (dtype_class(a->type) == DTC_BOOL && is_arithmetic(kind)) {
		a = expr_cast(ev->m, dtype_of(DT_I32), a);
		b = expr_cast(ev->m, dtype_of(DT_I32), b);
	}
	if ((kind == EXPR_AND || kind == EXPR_OR) &&
	    dtype_class(a->type) != DTC_BOOL) {
		return eval_error(ev, at,
				  "a condition is needed, not %s; "
				  "compare it with something",
				  dtype_name(a->type));
	}
	if ((kind == EXPR_FLOORMOD || kind == EXPR_TRUNCMOD ||
	     kind == EXPR_FLOORDIV || kind == EXPR_DIV) &&
	    expr_is_value(b, 0)) {
		return eval_error(ev, at, "division by zero");
	}
	if (dtype_is_float(a->type) && kind == EXPR_FLOORDIV) {
		return result(ev, at,
			      expr_call1(ev->m, INTRIN_FLOOR,
					 expr_div(ev->m, a, b)),
			      depth + 2, out);
	}
	if (dtype_is_float(a->type) && kind == EXPR_TRUNCMOD) {
		return result(ev, at, expr_call2(ev->m, INTRIN_FMOD, a, b),
			      depth + 1, out);
	}
	if (dtype_is_float(a->type) && kind == EXPR_FLOORMOD) {
		const struct expr *floor = expr_call1(ev->m, INTRIN_FLOOR,
						      expr_div(ev->m, a, b));

		return result(ev, at,
			      expr_sub(ev->m, a, expr_mul(ev->m, floor, b)),
			      depth + 4, out);
	}
	return result(ev, at, expr_binary(ev->m, kind, a, b), depth + 1, out);
}

bool
expr_bit_operator(struct eval *ev, struct py_span at, enum intrin op,
		  const struct pval *x, const struct pval *y, struct pval *out)
{
	const struct expr *a, *b;
	int depth;

	if (!eval_bit_operands(ev, at, x, y, &a, &b, &depth)) {
		return false;
	}
	if (dtype_class(a->type) == DTC_BOOL &&
	    (op == INTRIN_BITAND || op == INTRIN_BITOR ||
	     op == INTRIN_BITXOR)) {
		return eval_expr_binary(ev, at,
					op == INTRIN_BITAND  ? EXPR_AND
					: op == INTRIN_BITOR ? EXPR_OR
							     : EXPR_NE,
					x, y, out);
	}
	if (!dtype_is_int(a->type)) {
		return eval_error(ev, at,
				  "bits of %s; integers are needed "
				  "here",
				  dtype_name(a->type));
	}
	return result(ev, at, expr_call2(ev->m, op, a, b), depth + 1, out);
}

static bool
symbolic_binary(struct eval *ev, struct py_span at, const char *op,
		const struct pval *x, const struct pval *y, struct pval *out)
{
	static const struct {
		const char *op;
		enum expr_kind kind;
	} arithmetic[] = {
		{ "+", EXPR_ADD },      { "-", EXPR_SUB },
		{ "*", EXPR_MUL },      { "//", EXPR_FLOORDIV },
		{ "%", EXPR_FLOORMOD },
	};
	static const struct {
		const char *op;
		enum intrin intrin;
	} bits[] = {
		{ "&", INTRIN_BITAND }, { "|", INTRIN_BITOR },
		{ "^", INTRIN_BITXOR }, { "<<", INTRIN_SHL },
		{ ">>", INTRIN_SHR },
	};

	for (size_t i = 0; i < sizeof arithmetic / sizeof *arithmetic; i++) {
		if (strcmp(op, arithmetic[i].op) == 0) {
			return eval_expr_binary(ev, at, arithmetic[i].kind, x,
						y, out);
		}
	}
	for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
		if (strcmp(op, bits[i].op) == 0) {
			return expr_bit_operator(ev, at, bits[i].intrin, x, y,
						 out);
		}
	}
	if (strcmp(op, "/") == 0) {
		if (!eval_expr_binary(ev, at, EXPR_DIV, x, y, out)) {
			return false;
		}
		if (dtype_is_float(out->u.expr->type)) {
			return true;
		}
		return eval_error(ev, at,
				  "which division of integers? use "
				  "//, tvm.tir.truncdiv or "
				  "tvm.tir.indexdiv");
	}
	return eval_error(ev, at,
			  "%s is not defined for expressions; use "
			  "tvm.tir.power",
			  op);
}

/* -- numbers -- */

static bool
too_large(struct eval *ev, struct py_span at)
{
	return eval_error(ev, at, "an integer of more than 64 bits");
}

static bool
int_power(struct eval *ev, struct py_span at, int64_t a, int64_t b,
	  struct pval *out)
{
	int64_t v = 1;

	if (b < 0) {
		if (a == 0) {
			return eval_error(ev, at, "division by zero");
		}
		*out = pv_float(pow((double)a, (double)b));
		return true;
	}
	if (a == 0 || a == 1 || a == -1) {
		*out = pv_int(b == 0 ? 1 : a == -1 && b % 2 == 0 ? 1 : a);
		return true;
	}
	for (int64_t i = 0; i < b; i++) {
		if (__builtin_mul_overflow(v, a, &v)) {
			return too_large(ev, at);
		}
	}
	*out = pv_int(v);
	return true;
}

static bool
int_binary(struct eval *ev, struct py_span at, const char *op, int64_t a,
	   int64_t b, struct pval *out)
{
	bool overflow = false;
	int64_t v = 0;

	if ((strcmp(op, "/") == 0 || strcmp(op, "//") == 0 ||
	     strcmp(op, "%") == 0) &&
	    b == 0) {
		return eval_error(ev, at, "division by zero");
	}
	if ((op[0] == '<' || op[0] == '>') && (b < 0 || b > 63)) {
		return eval_error(ev, at, "a shift by %lld bits", (long long)b);
	}
	if (strcmp(op, "+") == 0) {
		overflow = __builtin_add_overflow(a, b, &v);
	} else if (strcmp(op, "-") == 0) {
		overflow = __builtin_sub_overflow(a, b, &v);
	} else if (strcmp(op, "*") == 0) {
		overflow = __builtin_mul_overflow(a, b, &v);
	} else if (strcmp(op, "**") == 0) {
		return int_power(ev, at, a, b, out);
	} else if (strcmp(op, "/") == 0) {
		*out = pv_float((double)a / (double)b);
		return true;
	} else if (a == INT64_MIN && b == -1 && strcmp(op, "//") == 0) {
		overflow = true;
	} else if (strcmp(op, "//") == 0) {
		v = floor_div(a, b);
	} else if (strcmp(op, "%") == 0) {
		v = b == -1 ? 0 : a - floor_div(a, b) * b;
	} else if (strcmp(op, "<<") == 0) {
		overflow = a != 0 &&
			   (b >= 63 ||
			    __builtin_mul_overflow(a, INT64_C(1) << b, &v));
	} else if (strcmp(op, ">>") == 0) {
		v = a < 0 ? ~(~a >> b) : a >> b;
	} else if (strcmp(op, "&") == 0) {
		v = a & b;
	} else if (strcmp(op, "|") == 0) {
		v = a | b;
	} else if (strcmp(op, "^") == 0) {
		v = a ^ b;
	} else {
		return eval_error(ev, at, "%s is not defined for int", op);
	}
	*out = pv_int(v);
	return !overflow || too_large(ev, at);
}

static bool
float_binary(struct eval *ev, struct py_span at, const char *op, double a,
	     double b, struct pval *out)
{
	if ((op[0] == '/' || op[0] == '%') && b == 0) {
		return eval_error(ev, at, "division by zero");
	}
	if (strcmp(op, "+") == 0) {
		*out = pv_float(a + b);
	} else if (strcmp(op, "-") == 0) {
		*out = pv_float(a - b);
	} else if (strcmp(op, "*") == 0) {
		*out = pv_float(a * b);
	} else if (strcmp(op, "/") == 0) {
		*out = pv_float(a / b);
	} else if (strcmp(op, "//") == 0) {
		*out = pv_float(floor(a / b));
	} else if (strcmp(op, "%") == 0) {
		*out = pv_float(a - floor(a / b) * b);
	} else if (strcmp(op, "**") == 0) {
		*out = pv_float(pow(a, b));
	} else {
		return eval_error(ev, at, "%s is not defined for float", op);
	}
	return true;
}

/* -- texts and lists -- */

static bool
is_sequence(const struct pval *v)
{
	return v->kind == PV_LIST || v->kind == PV_TUPLE ||
	       v->kind == PV_STRING;
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
		return true;
	}
	if (x->u.list->n + y->u.list->n > EVAL_MAX_ITEMS) {
		return eval_error(ev, at, "a list of more than %d elements",
				  EVAL_MAX_ITEMS);
	}
	*out = pv_list_of(ev, x->kind, NULL, 0);
	for (int i = 0; i < x->u.list->n; i++) {
		vec_push(ev->a, out->u.list, x->u.list->data[i]);
	}
	for (int i = 0; i < y->u.list->n; i++) {
		vec_push(ev->a, out->u.list, y->u.list->data[i]);
	}
	return eval_tick(ev, at, out->u.list->n);
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

static int64_t
whole(const struct pval *v)
{
	return v->kind == PV_BOOL ? v->u.boolean : v->u.ival;
}

bool
eval_binary(struct eval *ev, struct py_span at, const char *op,
	    const struct pval *x, const struct pval *y, struct pval *out)
{
	if ((is_symbolic(x) && (is_symbolic(y) || pv_is_number(y))) ||
	    (is_symbolic(y) && pv_is_number(x))) {
		return symbolic_binary(ev, at, op, x, y, out);
	}
	if (pv_is_number(x) && pv_is_number(y)) {
		if (x->kind == PV_FLOAT || y->kind == PV_FLOAT) {
			return float_binary(ev, at, op,
					    x->kind == PV_FLOAT
						    ? x->u.fval
						    : (double)whole(x),
					    y->kind == PV_FLOAT
						    ? y->u.fval
						    : (double)whole(y),
					    out);
		}
		return int_binary(ev, at, op, whole(x), whole(y), out);
	}
	if (strcmp(op, "+") == 0 && is_sequence(x) && x->kind == y->kind) {
		return join(ev, at, x, y, out);
	}
	if (strcmp(op, "*") == 0 && is_sequence(x) && y->kind == PV_INT) {
		return repeat(ev, at, x, y->u.ival, out);
	}
	if (strcmp(op, "*") == 0 && is_sequence(y) && x->kind == PV_INT) {
		return repeat(ev, at, y, x->u.ival, out);
	}
	if (x->kind == PV_TENSOR || y->kind == PV_TENSOR) {
		return topi_operator(ev, at, op, x, y, out);
	}
	return eval_error(ev, at, "%s is not defined for %s and %s", op,
			  pv_kind_name(x->kind), pv_kind_name(y->kind));
}

bool
eval_unary(struct eval *ev, struct py_span at, const char *op,
	   const struct pval *x, struct pval *out)
{
	struct pval zero = pv_int(0);
	bool truth;

	if (strcmp(op, "not") == 0) {
		if (!eval_truth(ev, at, x, &truth)) {
			return false;
		}
		*out = pv_bool(!truth);
		return true;
	}
	if (op[0] == '+' && (pv_is_number(x) || is_symbolic(x))) {
		*out = *x;
		return true;
	}
	if (op[0] == '-' && x->kind == PV_FLOAT) {
		*out = pv_float(-x->u.fval);
		return true;
	}
	if (op[0] == '-' && x->kind == PV_TENSOR) {
		return topi_operator(ev, at, "negative", x, NULL, out);
	}
	if (op[0] == '-' && is_symbolic(x)) {
		const struct expr *e;
		int depth = 0;

		if (!value_expr(ev, at, x, &e, &depth)) {
			return false;
		}
		if (dtype_is_int(e->type) || dtype_is_float(e->type)) {
			return result(ev, at, expr_neg(ev->m, e), depth + 1,
				      out);
		}
	}
	if (op[0] == '-') {
		return eval_binary(ev, at, "-", &zero, x, out);
	}
	if (op[0] == '~' && (x->kind == PV_INT || x->kind == PV_BOOL)) {
		*out = pv_int(~whole(x));
		return true;
	}
	if (op[0] == '~' && is_symbolic(x)) {
		const struct expr *e;
		int depth = 0;

		if (!value_expr(ev, at, x, &e, &depth)) {
			return false;
		}
		if (dtype_class(e->type) == DTC_BOOL) {
			return result(ev, at, expr_not(ev->m, e), depth + 1,
				      out);
		}
		if (dtype_is_int(e->type)) {
			return result(ev, at,
				      expr_call1(ev->m, INTRIN_BITNOT, e),
				      depth + 1, out);
		}
	}
	return eval_error(ev, at, "%s is not defined for %s", op,
			  pv_kind_name(x->kind));
}

/* -- comparison -- */

static bool
contains(struct eval *ev, struct py_span at, const struct pval *item,
	 const struct pval *in, bool *out)
{
	struct pval *items;
	int n;

	*out = false;
	if (in->kind == PV_STRING && item->kind == PV_STRING) {
		*out = strstr(in->u.text.data, item->u.text.data) != NULL;
		return true;
	}
	if (!eval_items(ev, at, in, &items, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		*out |= pv_equal(&items[i], item, 0);
	}
	return true;
}

static int
order_of(double a, double b)
{
	return a < b ? -1 : a > b ? 1 : a == b ? 0 : 2;
}

/* Compares two values: -1, 0, 1; 2: unordered (a NaN); 3: not comparable. */
int
pv_order(const struct pval *x, const struct pval *y, int depth)
{
	if (pv_is_number(x) && pv_is_number(y)) {
		if (x->kind == PV_FLOAT || y->kind == PV_FLOAT) {
			return order_of(x->kind == PV_FLOAT ? x->u.fval
							    : (double)whole(x),
					y->kind == PV_FLOAT ? y->u.fval
							    : (double)whole(y));
		}
		return whole(x) < whole(y) ? -1 : whole(x) > whole(y);
	}
	if (x->kind == PV_STRING && y->kind == PV_STRING) {
		int c = strcmp(x->u.text.data, y->u.text.data);

		return c < 0 ? -1 : c > 0;
	}
	if (x->kind == y->kind && depth < 50 &&
	    (x->kind == PV_LIST || x->kind == PV_TUPLE)) {
		const struct pv_list *a = x->u.list, *b = y->u.list;

		for (int i = 0; i < a->n && i < b->n; i++) {
			int c = pv_order(&a->data[i], &b->data[i], depth + 1);

			if (c != 0) {
				return c;
			}
		}
		return a->n < b->n ? -1 : a->n > b->n;
	}
	return 3;
}

static bool
symbolic_compare(struct eval *ev, struct py_span at, const char *op,
		 const struct pval *x, const struct pval *y, struct pval *out)
{
	static const struct {
		const char *op;
		enum expr_kind kind;
	} kinds[] = {
		{ "<", EXPR_LT },  { "<=", EXPR_LE }, { ">", EXPR_GT },
		{ ">=", EXPR_GE }, { "==", EXPR_EQ }, { "!=", EXPR_NE },
	};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (strcmp(op, kinds[i].op) == 0) {
			return eval_expr_binary(ev, at, kinds[i].kind, x, y,
						out);
		}
	}
	return eval_error(ev, at, "%s is not defined for expressions", op);
}

bool
eval_compare(struct eval *ev, struct py_span at, const char *op,
	     const struct pval *x, const struct pval *y, struct pval *out)
{
	bool answer;
	int order;

	if (strcmp(op, "is") == 0 || strcmp(op, "is not") == 0) {
		answer = x->kind == y->kind &&
			 (x->kind == PV_EXPR ? x->u.expr == y->u.expr
					     : pv_equal(x, y, 0));
		*out = pv_bool(answer == (op[2] == '\0'));
		return true;
	}
	if (strcmp(op, "in") == 0 || strcmp(op, "not in") == 0) {
		if (!contains(ev, at, x, y, &answer)) {
			return false;
		}
		*out = pv_bool(answer == (op[0] == 'i'));
		return true;
	}
	if (x->kind == PV_AXIS && y->kind == PV_AXIS &&
	    x->u.axis == y->u.axis &&
	    (strcmp(op, "==") == 0 || strcmp(op, "!=") == 0)) {
		*out = pv_bool(op[0] == '=');
		return true;
	}
	if ((is_symbolic(x) && (is_symbolic(y) || pv_is_number(y))) ||
	    (is_symbolic(y) && pv_is_number(x))) {
		return symbolic_compare(ev, at, op, x, y, out);
	}
	if (strcmp(op, "==") == 0 || strcmp(op, "!=") == 0) {
		*out = pv_bool(pv_equal(x, y, 0) == (op[0] == '='));
		return true;
	}
	order = pv_order(x, y, 0);
	if (order == 3) {
		return eval_error(ev, at, "%s is not defined for %s and %s", op,
				  pv_kind_name(x->kind), pv_kind_name(y->kind));
	}
	answer = order != 2 &&
		 (op[0] == '<' ? order < 0 || (op[1] == '=' && order == 0)
			       : order > 0 || (op[1] == '=' && order == 0));
	*out = pv_bool(answer);
	return true;
}
