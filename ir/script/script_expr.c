/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: expressions. Python's numbers are weak: operators of
 * two weak numbers compute as Python does; beside a typed value, a weak number
 * gets a type by TVM's rules, and the builders fold constants. The conversions
 * are in script_convert.c. */
#include <limits.h>
#include <math.h>

#include "script_read.h"
#include "text.h"

static bool
is_weak_int(const struct script_value *v)
{
	return v->kind == SCRIPT_EXPR && v->weak && v->e->kind == EXPR_INT &&
	       dtype_class(v->e->type) == DTC_INT;
}

static bool
is_weak_number(const struct script_value *v)
{
	return is_weak_int(v) ||
	       (v->kind == SCRIPT_EXPR && v->weak && v->e->kind == EXPR_FLOAT);
}

/* Computes as Python does. False after an error. */
static bool
compute(struct script_reader *r, const struct py_node *node,
	enum expr_kind kind, const struct script_value *a,
	const struct script_value *b, struct script_value *out)
{
	struct dtype t = dtype_of(DT_F64);
	const struct expr *x = a->e, *y = b->e;

	if (is_weak_int(a) && is_weak_int(b) && kind != EXPR_DIV) {
		int64_t v = 0;
		bool over = kind == EXPR_ADD
				    ? __builtin_add_overflow(x->u.ival,
							     y->u.ival, &v)
			    : kind == EXPR_SUB
				    ? __builtin_sub_overflow(x->u.ival,
							     y->u.ival, &v)
			    : kind == EXPR_MUL
				    ? __builtin_mul_overflow(x->u.ival,
							     y->u.ival, &v)
				    : (kind == EXPR_FLOORDIV ||
				       kind == EXPR_FLOORMOD) &&
					      x->u.ival == INT64_MIN &&
					      y->u.ival == -1;

		if (over) {
			return script_fail(r, node,
					   "a number of more than 64 "
					   "bits; use smaller ones");
		}
		t = dtype_of(DT_I64);
	}
	x = expr_cast(r->m, t, x);
	y = expr_cast(r->m, t, y);
	if (kind >= EXPR_DIV && kind <= EXPR_FLOORMOD &&
	    (y->kind == EXPR_INT ? y->u.ival == 0 : y->u.fval == 0)) {
		return script_fail(r, node,
				   "a division by zero; divide by "
				   "another number");
	}
	*out = script_value_of(expr_binary(r->m, kind, x, y), true);
	return true;
}

bool
script_binary(struct script_reader *r, const struct py_node *node,
	      enum expr_kind kind, const struct script_value *a,
	      const struct script_value *b, struct script_value *out)
{
	const struct expr *x, *y;
	bool logical = kind == EXPR_AND || kind == EXPR_OR;
	bool arithmetic = kind >= EXPR_ADD && kind <= EXPR_MAX;

	if (is_weak_number(a) && is_weak_number(b) && !logical) {
		return compute(r, node, kind, a, b, out);
	}
	if (!(arithmetic ? script_promote : script_unify)(r, node, a, b, &x,
							  &y)) {
		return false;
	}
	bool equality = kind == EXPR_EQ || kind == EXPR_NE;
	bool selects = kind == EXPR_MIN || kind == EXPR_MAX;
	bool is_bool = x->type.kind == DT_BOOL;

	if (logical   ? !is_bool
	    : is_bool ? !equality && !selects
		      : !script_is_number(x->type) &&
				!(equality && x->type.kind == DT_HANDLE)) {
		return script_fail(r, node,
				   "this operator does not work on "
				   "%s; %s",
				   script_type_name(r, x->type),
				   is_bool   ? "cast to an integer first"
				   : logical ? "compare the values with "
					       "something first"
					     : "use numbers");
	}
	if (kind == EXPR_TRUNCMOD && dtype_is_float(x->type)) {
		*out = script_value_of(expr_call2(r->m, INTRIN_FMOD, x, y),
				       false);
		return true;
	}
	bool weak = a->kind == SCRIPT_EXPR && b->kind == SCRIPT_EXPR &&
		    a->weak && b->weak;

	*out = script_value_of(expr_binary(r->m, kind, x, y), weak);
	return true;
}

static bool
bit_operator(struct script_reader *r, const struct py_node *node,
	     enum intrin op, struct script_value *a, struct script_value *b,
	     struct script_value *out)
{
	const struct expr *args[2];

	if (!script_unify(r, node, a, b, &args[0], &args[1])) {
		return false;
	}
	if (!dtype_is_int(args[0]->type) && args[0]->type.kind != DT_BOOL) {
		return script_fail(r, node,
				   "'%s' between values of type %s; "
				   "use integers",
				   node->op,
				   script_type_name(r, args[0]->type));
	}
	if (is_weak_int(a) && is_weak_int(b)) {
		int64_t x = a->e->u.ival, y = b->e->u.ival, v = 0;
		bool shift = op == INTRIN_SHL || op == INTRIN_SHR;

		if (shift &&
		    (y < 0 || y > 62 ||
		     (op == INTRIN_SHL &&
		      __builtin_mul_overflow(x, INT64_C(1) << y, &v)))) {
			return script_fail(r, node,
					   "a shift out of range; "
					   "use smaller numbers");
		}
		v = op == INTRIN_SHL      ? v
		    : op == INTRIN_SHR    ? (x < 0 ? ~(~x >> y) : x >> y)
		    : op == INTRIN_BITAND ? (x & y)
		    : op == INTRIN_BITOR  ? (x | y)
					  : (x ^ y);
		*out = script_value_of(expr_int(r->m, dtype_of(DT_I64), v),
				       true);
		return true;
	}
	*out = script_value_of(expr_call(r->m, op, args[0]->type, args, 2),
			       false);
	return true;
}

static bool
power(struct script_reader *r, const struct py_node *node,
      struct script_value *a, struct script_value *b, struct script_value *out)
{
	const struct expr *args[2];

	if (is_weak_int(a) && is_weak_int(b) && b->e->u.ival >= 0) {
		int64_t v = 1;

		for (int64_t i = 0; i < b->e->u.ival; i++) {
			if (__builtin_mul_overflow(v, a->e->u.ival, &v)) {
				return script_fail(r, node,
						   "a number of more "
						   "than 64 bits; use "
						   "smaller ones");
			}
			if (v >= -1 && v <= 1 && i > 1) {
				break; /* powers of 0 and 1 do not change any
				        * more; for -1 see below */
			}
		}
		if (a->e->u.ival == -1) {
			v = b->e->u.ival % 2 ? -1 : 1;
		}
		*out = script_value_of(expr_int(r->m, dtype_of(DT_I64), v),
				       true);
		return true;
	}
	if (!script_promote(r, node, a, b, &args[0], &args[1])) {
		return false;
	}
	if (!dtype_is_float(args[0]->type)) {
		return script_fail(r, node,
				   "'**' between values of type %s; "
				   "cast to a float type first",
				   script_type_name(r, args[0]->type));
	}
	*out = script_value_of(expr_call2(r->m, INTRIN_POW, args[0], args[1]),
			       false);
	return true;
}

static const struct {
	const char *op;
	enum expr_kind kind;
} operators[] = {
	{ "+", EXPR_ADD },   { "-", EXPR_SUB },       { "*", EXPR_MUL },
	{ "/", EXPR_DIV },   { "//", EXPR_FLOORDIV }, { "%", EXPR_FLOORMOD },
	{ "and", EXPR_AND }, { "or", EXPR_OR },       { "==", EXPR_EQ },
	{ "!=", EXPR_NE },   { "<", EXPR_LT },        { "<=", EXPR_LE },
	{ ">", EXPR_GT },    { ">=", EXPR_GE },
};

static bool
operator_kind(const char *op, enum expr_kind *kind)
{
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
		if (strcmp(operators[i].op, op) == 0) {
			*kind = operators[i].kind;
			return true;
		}
	}
	return false;
}

static bool
eval_binary(struct script_reader *r, const struct py_node *node,
	    struct script_value *out)
{
	static const struct {
		const char *op;
		enum intrin intrin;
	} bits[] = {
		{ "&", INTRIN_BITAND }, { "|", INTRIN_BITOR },
		{ "^", INTRIN_BITXOR }, { "<<", INTRIN_SHL },
		{ ">>", INTRIN_SHR },
	};
	struct script_value a, b;
	enum expr_kind kind;

	if (!script_eval(r, node->kids[0], &a) ||
	    !script_eval(r, node->kids[1], &b) ||
	    !script_need_expr(r, node->kids[0], &a) ||
	    !script_need_expr(r, node->kids[1], &b)) {
		return false;
	}
	for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
		if (strcmp(bits[i].op, node->op) == 0) {
			return bit_operator(r, node, bits[i].intrin, &a, &b,
					    out);
		}
	}
	if (strcmp(node->op, "**") == 0) {
		return power(r, node, &a, &b, out);
	}
	if (!operator_kind(node->op, &kind)) {
		return script_fail(r, node,
				   "'%s' has no meaning between "
				   "elements; write what it should compute",
				   node->op);
	}
	if (kind == EXPR_DIV && !(a.weak && b.weak) &&
	    !dtype_is_float(a.e->type) && !dtype_is_float(b.e->type)) {
		return script_fail(r, node,
				   "'/' between integers could round "
				   "either way; write // or T.truncdiv");
	}
	return script_binary(r, node, kind, &a, &b, out);
}

static bool
eval_compare(struct script_reader *r, const struct py_node *node,
	     struct script_value *out)
{
	struct script_value a, b, one;
	enum expr_kind kind;

	if (!script_eval(r, node->kids[0], &a)) {
		return false;
	}
	for (int i = 0; i + 1 < node->n_kids; i++, a = b) {
		if (!operator_kind(node->ops[i], &kind)) {
			return script_fail(r, node,
					   "'%s' has no meaning "
					   "between elements; compare with == "
					   "or <",
					   node->ops[i]);
		}
		if (!script_eval(r, node->kids[i + 1], &b) ||
		    !script_binary(r, node, kind, &a, &b, &one)) {
			return false;
		}
		if (i == 0) {
			*out = one;
		} else if (!script_binary(r, node, EXPR_AND, out, &one, out)) {
			return false;
		}
	}
	return true;
}

static bool
eval_unary(struct script_reader *r, const struct py_node *node,
	   struct script_value *out)
{
	struct script_value v;
	const char *op = node->op;

	if (!script_eval(r, node->kids[0], &v) ||
	    !script_need_expr(r, node->kids[0], &v)) {
		return false;
	}
	bool good = strcmp(op, "not") == 0 ? v.e->type.kind == DT_BOOL
		    : strcmp(op, "~") == 0 ? dtype_is_int(v.e->type)
					   : script_is_number(v.e->type);

	if (!good) {
		return script_fail(r, node, "'%s' of a value of type %s; %s",
				   op, script_type_name(r, v.e->type),
				   strcmp(op, "not") == 0
					   ? "compare it with something first"
					   : "use a number");
	}
	if (strcmp(op, "+") == 0) {
		*out = v;
	} else if (strcmp(op, "not") == 0) {
		*out = script_value_of(expr_not(r->m, v.e), v.weak);
	} else if (strcmp(op, "~") == 0) {
		*out = is_weak_int(&v)
			       ? script_value_of(expr_int(r->m, v.e->type,
							  ~v.e->u.ival),
						 true)
			       : script_value_of(expr_call1(r->m, INTRIN_BITNOT,
							    v.e),
						 false);
	} else if (v.weak && v.e->kind == EXPR_FLOAT) {
		*out = script_value_of(expr_float(r->m, v.e->type,
						  -v.e->u.fval),
				       true);
	} else if (v.weak) {
		/* -2^63 is the smallest integer. */
		if (dtype_class(v.e->type) == DTC_UINT &&
		    v.e->u.ival != INT64_MIN) {
			return script_fail(r, node,
					   "a number of more than 64 "
					   "bits; use a smaller one");
		}
		*out = script_value_of(expr_int(r->m, dtype_of(DT_I64),
						(int64_t)(0 - (uint64_t)v.e->u
								      .ival)),
				       true);
	} else {
		*out = script_value_of(expr_neg(r->m, v.e), false);
	}
	return true;
}

static bool
eval_choice(struct script_reader *r, const struct py_node *node,
	    struct script_value *out)
{
	struct script_value c, a, b;
	const struct expr *x, *y;

	if (!script_eval(r, node->kids[1], &c) ||
	    !script_need_expr(r, node->kids[1], &c)) {
		return false;
	}
	if (c.weak && c.e->kind == EXPR_INT) { /* Python's conditional
					        * expression chooses now */
		return script_eval(r, node->kids[c.e->u.ival ? 0 : 2], out);
	}
	if (c.e->type.kind != DT_BOOL || c.e->type.lanes != 1) {
		return script_fail(r, node->kids[1],
				   "a condition of type %s; "
				   "compare it with something",
				   script_type_name(r, c.e->type));
	}
	if (!script_eval(r, node->kids[0], &a) ||
	    !script_eval(r, node->kids[2], &b) ||
	    !script_promote(r, node, &a, &b, &x, &y)) {
		return false;
	}
	*out = script_value_of(expr_if(r->m, c.e, x, y), false);
	return true;
}

/* ---- elements and attributes */

/* Evaluates one index: an expression, or a slice as a vector of indices. */
static bool
eval_index(struct script_reader *r, const struct py_node *node,
	   const struct expr **out)
{
	struct range range;
	int64_t lanes;

	if (node->kind != PY_SLICE) {
		if (!script_expr(r, node, out)) {
			return false;
		}
		if (!dtype_is_int((*out)->type)) {
			return script_fail(r, node,
					   "an index of type %s; use "
					   "an integer",
					   script_type_name(r, (*out)->type));
		}
		return true;
	}
	if (!node->kids[0] || !node->kids[1] || node->kids[2]) {
		return script_fail(r, node,
				   "a slice without its ends, or "
				   "with a step; write A[i:i + 4], or T.Ramp");
	}
	if (!script_range(r, node->kids[0], node->kids[1], &range)) {
		return false;
	}
	if (!expr_is_int(range.extent, &lanes) || lanes < 1 || lanes > 1024) {
		return script_fail(r, node,
				   "a slice of an element whose "
				   "length is no constant from 1 to 1024; "
				   "write a loop");
	}
	*out = lanes == 1 ? range.min
			  : expr_ramp(r->m, range.min,
				      expr_int(r->m, range.min->type, 1),
				      (int)lanes);
	return true;
}

static const struct buffer *
buffer_of(struct script_reader *r, const struct script_value *v)
{
	if (v->kind == SCRIPT_BUFFER) {
		return v->buffer;
	}
	if (v->kind == SCRIPT_MEMORY) {
		if (!v->memory->buffer) {
			v->memory->buffer = buffer_new(r->m, &v->memory->spec);
		}
		return v->memory->buffer;
	}
	return NULL;
}

bool
script_element(struct script_reader *r, const struct py_node *node,
	       const struct script_value *v, const struct buffer **buffer,
	       const struct expr ***index)
{
	int n, lanes = 1;

	*buffer = buffer_of(r, v);
	if (!*buffer) {
		return script_fail(r, node->kids[0],
				   "%s with an index; only "
				   "buffers have elements",
				   script_describe(v));
	}
	const struct py_node *const *list = &node->kids[1];

	n = 1;
	if ((*list)->kind == PY_TUPLE) {
		n = (*list)->n_kids;
		list = (*list)->kids;
	}
	if (n != (*buffer)->ndim) {
		return script_fail(r, node,
				   "%d %s for the %d %s of '%s'; "
				   "give one for each",
				   n, n == 1 ? "index" : "indices",
				   (*buffer)->ndim,
				   (*buffer)->ndim == 1 ? "dimension"
							: "dimensions",
				   (*buffer)->name);
	}
	*index = arena_array(&r->m->arena, const struct expr *, n + 1);
	for (int i = 0; i < n; i++) {
		if (!eval_index(r, list[i], &(*index)[i])) {
			return false;
		}
		int own = (*index)[i]->type.lanes;

		if (own > 1 && lanes > 1 && own != lanes) {
			return script_fail(r, list[i],
					   "indices of %d and %d "
					   "lanes; make them equally long",
					   lanes, own);
		}
		lanes = own > lanes ? own : lanes;
	}
	if (lanes * (*buffer)->type.lanes > UINT16_MAX) {
		return script_fail(r, node,
				   "an element of more than %d "
				   "lanes; make it shorter",
				   UINT16_MAX);
	}
	return true;
}

static bool
eval_subscript(struct script_reader *r, const struct py_node *node,
	       struct script_value *out)
{
	const struct buffer *b;
	const struct expr **index;
	struct script_value v;
	int64_t at;

	if (!script_eval(r, node->kids[0], &v)) {
		return false;
	}
	if (v.kind == SCRIPT_LIST) {
		if (!script_constant(r, node->kids[1], &at)) {
			return false;
		}
		at += at < 0 ? v.n_items : 0;
		if (at < 0 || at >= v.n_items) {
			return script_fail(r, node,
					   "an index outside of a "
					   "list of %d; use one within",
					   v.n_items);
		}
		*out = v.items[at];
		return true;
	}
	if (!script_element(r, node, &v, &b, &index)) {
		return false;
	}
	*out = script_value_of(expr_load(r->m, b, index, b->ndim), false);
	return true;
}

static struct script_value
expr_items(struct script_reader *r, const struct expr *const *list, int n)
{
	struct script_value *items = arena_array(&r->m->arena,
						 struct script_value, n + 1);

	for (int i = 0; i < n; i++) {
		items[i] = script_value_of(list[i], false);
	}
	return (struct script_value){ .kind = SCRIPT_LIST,
				      .items = items,
				      .n_items = n };
}

static bool
eval_attribute(struct script_reader *r, const struct py_node *node,
	       struct script_value *out)
{
	static const char *const known[] = { "data", "dtype", "shape",
					     "strides" };
	const char *path = script_path(r, node);
	struct script_value v;

	if (path) {
		struct dtype t;

		if (dtype_from_name(path, &t)) {
			return script_fail(r, node,
					   "a data type where a "
					   "value is needed; give it one, as "
					   "in T.%s(0)",
					   path);
		}
		return script_fail(r, node,
				   "T.%s without its arguments; call "
				   "it",
				   path);
	}
	if (!script_eval(r, node->kids[0], &v)) {
		return false;
	}
	const struct buffer *b = buffer_of(r, &v);

	if (b && strcmp(node->text, "data") == 0) {
		*out = script_value_of(b->data->expr, false);
		return true;
	}
	if (b && strcmp(node->text, "dtype") == 0) {
		*out = script_value_of(expr_string(r->m, dtype_name(b->type)),
				       true);
		return true;
	}
	if (v.kind == SCRIPT_EXPR && strcmp(node->text, "dtype") == 0) {
		*out = script_value_of(expr_string(r->m,
						   script_type_name(r,
								    v.e->type)),
				       true);
		return true;
	}
	if (b && strcmp(node->text, "shape") == 0) {
		*out = expr_items(r, b->shape, b->ndim);
		return true;
	}
	if (b && strcmp(node->text, "strides") == 0) {
		*out = expr_items(r, b->strides, b->strides ? b->ndim : 0);
		return true;
	}
	const char *nearest = text_nearest(node->text, known, 4);

	return script_fail(r, node, "%s has no '%s'; %s%s%s",
			   script_describe(&v), node->text,
			   nearest ? "did you mean '"
				   : "a buffer has data, dtype, shape and "
				     "strides",
			   nearest ? nearest : "", nearest ? "'?" : "");
}

/* ---- the rest */

static bool
eval_name(struct script_reader *r, const struct py_node *node,
	  struct script_value *out)
{
	const struct script_value *v = script_find(r, node->text);
	const struct expr *e;

	if (v) {
		*out = *v;
		return true;
	}
	if (r->scope && (e = r->scope->lookup(r->scope->ctx, node->text))) {
		bool weak = e->kind == EXPR_INT || e->kind == EXPR_FLOAT ||
			    e->kind == EXPR_STRING;

		if (weak && e->kind == EXPR_INT && e->type.kind != DT_BOOL) {
			e = expr_int(r->m, dtype_of(DT_I64), e->u.ival);
		} else if (weak && e->kind == EXPR_FLOAT) {
			e = expr_float(r->m, dtype_of(DT_F64), e->u.fval);
		}
		*out = script_value_of(e, weak);
		return true;
	}
	const char **names = arena_array(&r->m->arena, const char *,
					 r->names.n + 1);

	for (int i = 0; i < r->names.n; i++) {
		names[i] = r->names.data[i].name;
	}
	const char *nearest = text_nearest(node->text, names, r->names.n);

	if (nearest) {
		return script_fail(r, node,
				   "nothing is named '%s' here; did "
				   "you mean '%s'?",
				   node->text, nearest);
	}
	return script_fail(r, node,
			   "nothing is named '%s' here; define it "
			   "before its use",
			   node->text);
}

static bool
eval_list(struct script_reader *r, const struct py_node *node,
	  struct script_value *out)
{
	struct script_value *items = arena_array(&r->m->arena,
						 struct script_value,
						 node->n_kids + 1);

	for (int i = 0; i < node->n_kids; i++) {
		if (!script_eval(r, node->kids[i], &items[i])) {
			return false;
		}
	}
	*out = (struct script_value){ .kind = SCRIPT_LIST,
				      .items = items,
				      .n_items = node->n_kids };
	return true;
}

static bool
eval_call(struct script_reader *r, const struct py_node *node,
	  struct script_value *out)
{
	const char *path = script_path(r, node->kids[0]);

	if (!path && node->kids[0]->kind == PY_NAME) {
		static const char *const plain[] = { "min", "max", "abs" };

		for (int i = 0; i < 3; i++) {
			if (strcmp(plain[i], node->kids[0]->text) == 0) {
				path = plain[i];
			}
		}
	}
	if (!path && node->kids[0]->kind == PY_ATTRIBUTE &&
	    strcmp(node->kids[0]->text, "astype") == 0) {
		return script_astype(r, node, out);
	}
	if (!path) {
		return script_fail(r, node,
				   "a call of something that is not "
				   "T's; functions of Python cannot be called "
				   "here");
	}
	return script_call(r, node, path, out);
}

bool
script_eval(struct script_reader *r, const struct py_node *node,
	    struct script_value *out)
{
	struct module *m = r->m;

	switch (node->kind) {
	case PY_NAME:
		return eval_name(r, node, out);
	case PY_INT:
		*out = script_value_of(expr_int(m,
						dtype_of(node->is_unsigned
								 ? DT_U64
								 : DT_I64),
						node->ival),
				       true);
		return true;
	case PY_FLOAT:
		*out = script_value_of(expr_float(m, dtype_of(DT_F64),
						  node->fval),
				       true);
		return true;
	case PY_TRUE:
	case PY_FALSE:
		*out = script_value_of(expr_bool(m, node->kind == PY_TRUE),
				       true);
		return true;
	case PY_STRING:
		if (memchr(node->text, 0, node->length)) {
			return script_fail(r, node,
					   "a string with a zero "
					   "byte; leave it out");
		}
		*out = script_value_of(expr_string(m, node->text), true);
		return true;
	case PY_NONE:
		*out = (struct script_value){ .kind = SCRIPT_NONE };
		return true;
	case PY_TUPLE:
	case PY_LIST:
		return eval_list(r, node, out);
	case PY_ATTRIBUTE:
		return eval_attribute(r, node, out);
	case PY_SUBSCRIPT:
		return eval_subscript(r, node, out);
	case PY_CALL:
		return eval_call(r, node, out);
	case PY_UNARY:
		return eval_unary(r, node, out);
	case PY_BINARY:
		return eval_binary(r, node, out);
	case PY_COMPARE:
		return eval_compare(r, node, out);
	case PY_IFELSE:
		return eval_choice(r, node, out);
	case PY_LAMBDA:
		return script_fail(r, node,
				   "a lambda inside of a function; "
				   "write its body out");
	case PY_DICT:
	case PY_SET:
		return script_fail(r, node,
				   "a dict where a value is needed; "
				   "only attributes and annotations take one");
	case PY_SLICE:
		return script_fail(r, node,
				   "a slice where a value is needed; "
				   "write an index");
	default:
		return script_fail(r, node,
				   "this form of Python has no "
				   "meaning in a tensor function; write it "
				   "out");
	}
}
