/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: values that are calls of T: constants of a type,
 * operators by their names, vectors. Intrinsics are read by script_intrin.c. */
#include "script_read.h"

bool
script_typed_args(struct script_reader *r, const struct py_node *call,
		  struct script_typed_args *out)
{
	out->n = 0;
	out->type = NULL;
	for (int i = 1; i < call->n_kids; i++) {
		const struct py_node *one = call->kids[i];

		if (one->kind == PY_KEYWORD && one->text &&
		    strcmp(one->text, "dtype") == 0) {
			out->type = one->kids[0];
		} else if (one->kind == PY_KEYWORD || one->kind == PY_STAR) {
			return script_fail(r, one,
					   "an argument that this "
					   "function does not take; give "
					   "plain values");
		} else if (out->n == 64) {
			return script_fail(r, one,
					   "more than 64 arguments; "
					   "pass a buffer");
		} else {
			out->list[out->n++] = one;
		}
	}
	return true;
}

bool
script_want_count(struct script_reader *r, const struct py_node *call, int got,
		  int want)
{
	return got == want ||
	       script_fail(r, call,
			   "%d %s instead of %d; give as many as the "
			   "function takes",
			   got, got == 1 ? "argument" : "arguments", want);
}

bool
script_check_type(struct script_reader *r, const struct py_node *type,
		  const struct expr *e)
{
	struct dtype t;

	return !type || (script_type(r, type, &t) &&
			 (dtype_equal(t, e->type) ||
			  script_fail(r, type,
				      "the result has the type %s; say so, or "
				      "leave dtype out",
				      dtype_name(e->type))));
}

/* ---- constants of a type: T.float32(1), T.bool(True), T.int32(x) */

static bool
typed_value(struct script_reader *r, const struct py_node *call, struct dtype t,
	    struct script_value *out)
{
	static const char *const names[] = { "value", "dtype", NULL };
	const struct py_node *found[2];
	struct script_value v;
	const struct expr *e;
	double special = 0;

	if (!script_args(r, call, names, 0, found)) {
		return false;
	}
	if (!found[0]) {
		*out = (struct script_value){ .kind = SCRIPT_NEW_VAR,
					      .type = t };
		return true;
	}
	if (dtype_class(t) == DTC_VOID || dtype_class(t) == DTC_STRING ||
	    dtype_class(t) == DTC_HANDLE) {
		return script_fail(r, call,
				   "no value can be made a %s; give "
				   "a number a numeric type",
				   dtype_name(t));
	}
	if (!script_eval(r, found[0], &v)) {
		return false;
	}
	if (v.kind == SCRIPT_EXPR && v.e->kind == EXPR_STRING) {
		const char *text = v.e->u.text;

		if (!dtype_is_float(t) ||
		    (strcmp(text, "nan") != 0 && strcmp(text, "inf") != 0 &&
		     strcmp(text, "-inf") != 0)) {
			return script_fail(r, found[0],
					   "a string that is no "
					   "number; \"nan\", \"inf\" and "
					   "\"-inf\" are the ones there are");
		}
		special = *text == 'n'   ? (double)__builtin_nanf("")
			  : *text == '-' ? -(double)__builtin_inff()
					 : (double)__builtin_inff();
		*out = script_value_of(expr_float(r->m, t, special), false);
		return true;
	}
	if (v.kind == SCRIPT_EXPR && v.weak) {
		if (!script_convert(r, found[0], &v, t, &e)) {
			return false;
		}
	} else {
		if (!script_settle(r, found[0], &v, &e)) {
			return false;
		}
		if (e->type.kind == DT_HANDLE || e->type.kind == DT_VOID ||
		    (e->type.lanes != t.lanes && e->type.lanes != 1)) {
			return script_fail(r, found[0],
					   "a value that is no "
					   "number, or of other lanes; give a "
					   "number");
		}
		e = expr_cast(r->m, t, e);
	}
	*out = script_value_of(e, false);
	return true;
}

static bool
cast(struct script_reader *r, const struct py_node *call, const struct expr *e,
     struct dtype t, struct script_value *out)
{
	bool numeric = dtype_class(t) >= DTC_BOOL &&
		       dtype_class(t) <= DTC_FLOAT &&
		       dtype_class(e->type) >= DTC_BOOL &&
		       dtype_class(e->type) <= DTC_FLOAT;

	if (t.lanes == 1) {
		t.lanes = e->type.lanes;
	}
	if ((!numeric && !dtype_equal(t, e->type)) ||
	    (t.lanes != e->type.lanes && e->type.lanes != 1)) {
		return script_fail(r, call,
				   "no %s can be cast to %s; cast "
				   "numbers to types of numbers",
				   dtype_name(e->type), dtype_name(t));
	}
	*out = script_value_of(expr_cast(r->m, t, e), false);
	return true;
}

static bool
read_cast(struct script_reader *r, const struct py_node *call, bool type_first,
	  struct script_value *out)
{
	static const char *const first[] = { "dtype", "value", "span", NULL };
	static const char *const last[] = { "value", "dtype", "span", NULL };
	const struct py_node *found[3];
	const struct expr *e;
	struct dtype t;

	return script_args(r, call, type_first ? first : last, 2, found) &&
	       script_type(r, found[type_first ? 0 : 1], &t) &&
	       script_expr(r, found[type_first ? 1 : 0], &e) &&
	       cast(r, call, e, t, out);
}

bool
script_astype(struct script_reader *r, const struct py_node *call,
	      struct script_value *out)
{
	static const char *const names[] = { "dtype", "span", NULL };
	const struct py_node *found[2];
	const struct expr *e;
	struct dtype t;

	return script_args(r, call, names, 1, found) &&
	       script_type(r, found[0], &t) &&
	       script_expr(r, call->kids[0]->kids[0], &e) &&
	       cast(r, call, e, t, out);
}

/* ---- operators by name */

static const struct {
	const char *name;
	enum expr_kind kind;
} named_operators[] = {
	{ "min", EXPR_MIN },
	{ "max", EXPR_MAX },
	{ "floordiv", EXPR_FLOORDIV },
	{ "floormod", EXPR_FLOORMOD },
	{ "truncdiv", EXPR_DIV },
	{ "truncmod", EXPR_TRUNCMOD },
	{ "div", EXPR_DIV },
	{ "indexdiv", EXPR_FLOORDIV },
	{ "indexmod", EXPR_FLOORMOD },
	{ "Add", EXPR_ADD },
	{ "Sub", EXPR_SUB },
	{ "Mul", EXPR_MUL },
	{ "Div", EXPR_DIV },
	{ "Mod", EXPR_TRUNCMOD },
	{ "FloorDiv", EXPR_FLOORDIV },
	{ "FloorMod", EXPR_FLOORMOD },
	{ "Min", EXPR_MIN },
	{ "Max", EXPR_MAX },
	{ "EQ", EXPR_EQ },
	{ "NE", EXPR_NE },
	{ "LT", EXPR_LT },
	{ "LE", EXPR_LE },
	{ "GT", EXPR_GT },
	{ "GE", EXPR_GE },
	{ "And", EXPR_AND },
	{ "Or", EXPR_OR },
};

/* Gives both operands a type. A function such as T.truncdiv(7, 2) computes with
 * constants of TVM, not with numbers of Python: the result 3 is an int32. */
static bool
settle_both(struct script_reader *r, const struct py_node *call,
	    struct script_value *a, struct script_value *b)
{
	const struct expr *x, *y;

	if (a->kind != SCRIPT_EXPR || b->kind != SCRIPT_EXPR || !a->weak ||
	    !b->weak) {
		return true;
	}
	if (!script_settle(r, call, a, &x) || !script_settle(r, call, b, &y)) {
		return false;
	}
	*a = script_value_of(x, false);
	*b = script_value_of(y, false);
	return true;
}

static bool
read_operator(struct script_reader *r, const struct py_node *call,
	      enum expr_kind kind, struct script_value *out)
{
	struct script_typed_args args;
	struct script_value a, b;

	if (!script_typed_args(r, call, &args) ||
	    !script_want_count(r, call, args.n, 2) ||
	    !script_eval(r, args.list[0], &a) ||
	    !script_eval(r, args.list[1], &b) ||
	    !settle_both(r, call, &a, &b) ||
	    !script_binary(r, call, kind, &a, &b, out)) {
		return false;
	}
	return out->weak || script_check_type(r, args.type, out->e);
}

static bool
read_choice(struct script_reader *r, const struct py_node *call, bool guards,
	    struct script_value *out)
{
	struct script_typed_args args;
	struct script_value a, b;
	const struct expr *c, *x, *y;

	if (!script_typed_args(r, call, &args) ||
	    !script_want_count(r, call, args.n, 3) ||
	    !script_expr(r, args.list[0], &c) ||
	    !script_eval(r, args.list[1], &a) ||
	    !script_eval(r, args.list[2], &b) ||
	    !script_promote(r, call, &a, &b, &x, &y)) {
		return false;
	}
	if (c->type.kind != DT_BOOL ||
	    (c->type.lanes != 1 &&
	     (guards ||
	      (x->type.lanes != 1 && c->type.lanes != x->type.lanes)))) {
		return script_fail(r, args.list[0],
				   "a condition of another "
				   "type than bool, or of other lanes; "
				   "compare something");
	}
	*out = script_value_of(guards ? expr_if(r->m, c, x, y)
				      : expr_select(r->m, c, x, y),
			       false);
	return script_check_type(r, args.type, out->e);
}

static bool
read_not(struct script_reader *r, const struct py_node *call,
	 struct script_value *out)
{
	static const char *const names[] = { "a", NULL };
	const struct py_node *found[1];
	const struct expr *e;

	if (!script_args(r, call, names, 1, found) ||
	    !script_expr(r, found[0], &e)) {
		return false;
	}
	if (e->type.kind != DT_BOOL) {
		return script_fail(r, found[0],
				   "the negation of a %s; "
				   "compare it with something first",
				   dtype_name(e->type));
	}
	*out = script_value_of(expr_not(r->m, e), false);
	return true;
}

/* T.all(a, b, …), T.any(a, b, …) */
static bool
read_fold(struct script_reader *r, const struct py_node *call,
	  enum expr_kind kind, struct script_value *out)
{
	struct script_value one;

	for (int i = 1; i < call->n_kids; i++) {
		if (!script_eval(r, call->kids[i], &one) ||
		    (i > 1 && !script_binary(r, call, kind, out, &one, &one))) {
			return false;
		}
		*out = one;
	}
	return call->n_kids > 1 ||
	       script_fail(r, call, "no arguments; give conditions");
}

/* ---- vectors */

static bool
read_vector(struct script_reader *r, const struct py_node *call, bool is_ramp,
	    struct script_value *out)
{
	static const char *const ramp[] = { "base", "stride", "lanes", NULL };
	static const char *const broadcast[] = { "value", "lanes", NULL };
	const struct py_node *found[3];
	struct script_value a, b;
	const struct expr *x, *y;
	int64_t lanes;
	int last = is_ramp ? 2 : 1;

	if (!script_args(r, call, is_ramp ? ramp : broadcast, last + 1,
			 found) ||
	    !script_eval(r, found[0], &a) ||
	    !script_constant(r, found[last], &lanes)) {
		return false;
	}
	if (lanes < 2 || lanes > 4096) {
		return script_fail(r, found[last],
				   "a vector of %lld lanes; "
				   "2 to 4096 are possible",
				   (long long)lanes);
	}
	if (is_ramp ? !script_eval(r, found[1], &b) ||
			      !script_unify(r, call, &a, &b, &x, &y)
		    : !script_settle(r, found[0], &a, &x)) {
		return false;
	}
	if (x->type.lanes != 1 || (is_ramp && !dtype_is_int(x->type)) ||
	    dtype_class(x->type) == DTC_STRING ||
	    dtype_class(x->type) == DTC_VOID) {
		return script_fail(r, call,
				   "a vector of something else than "
				   "single %s; use one",
				   is_ramp ? "integers" : "numbers");
	}
	*out = script_value_of(is_ramp ? expr_ramp(r->m, x, y, (int)lanes)
				       : expr_broadcast(r->m, x, (int)lanes),
			       false);
	return true;
}

/* ---- facts of types, and small helpers */

static bool
read_limit(struct script_reader *r, const struct py_node *call,
	   const char *which, struct script_value *out)
{
	static const char *const names[] = { "dtype", NULL };
	const struct py_node *found[1];
	struct dtype t;
	bool infinite = strcmp(which, "infinity") == 0;

	if (!script_args(r, call, names, 1, found) ||
	    !script_type(r, found[0], &t)) {
		return false;
	}
	if (!dtype_is_float(t) && (infinite || !dtype_is_int(t))) {
		return script_fail(r, found[0],
				   "%s has no such value; use a "
				   "type of numbers",
				   dtype_name(t));
	}
	bool low = strcmp(which, "min_value") == 0;
	const struct expr *e =
		infinite ? expr_float(r->m, t, (double)__builtin_inff())
		: dtype_is_float(t)
			? expr_float(r->m, t,
				     low ? dtype_lowest(t) : dtype_highest(t))
			: expr_int(r->m, t,
				   low ? dtype_min_int(t)
				       : (int64_t)dtype_max_int(t));

	*out = script_value_of(e, false);
	return true;
}

static bool
read_ceildiv(struct script_reader *r, const struct py_node *call,
	     struct script_value *out)
{
	struct script_typed_args args;
	struct script_value a, b,
		one = script_value_of(expr_int(r->m, dtype_of(DT_I64), 1),
				      true);

	return script_typed_args(r, call, &args) &&
	       script_want_count(r, call, args.n, 2) &&
	       script_eval(r, args.list[0], &a) &&
	       script_eval(r, args.list[1], &b) &&
	       script_binary(r, call, EXPR_ADD, &a, &b, &a) &&
	       script_binary(r, call, EXPR_SUB, &a, &one, &a) &&
	       script_binary(r, call, EXPR_FLOORDIV, &a, &b, out);
}

static bool
read_meta(struct script_reader *r, const struct py_node *call,
	  struct script_value *out)
{
	static const char *const names[] = { "value", NULL };
	const struct py_node *found[1];

	if (!script_args(r, call, names, 1, found) ||
	    !script_eval(r, found[0], out)) {
		return false;
	}
	/* Only of a value without operands: if this were repeated, expressions
	 * would grow without bound. */
	return out->kind != SCRIPT_EXPR || out->e->n_args == 0 ||
	       script_fail(r, found[0],
			   "an expression to be repeated; give "
			   "it a name, as a let");
}

static bool
read_var(struct script_reader *r, const struct py_node *call,
	 struct script_value *out)
{
	static const char *const names[] = { "dtype", "name", NULL };
	const struct py_node *found[2];

	*out = (struct script_value){ .kind = SCRIPT_NEW_VAR };
	return script_args(r, call, names, 1, found) &&
	       script_type(r, found[0], &out->type);
}

static bool
read_thread(struct script_reader *r, const struct py_node *call,
	    struct script_value *out)
{
	static const char *const names[] = { "thread", "dtype", NULL };
	const struct py_node *found[2];

	*out = (struct script_value){ .kind = SCRIPT_THREAD };
	return script_args(r, call, names, 1, found) &&
	       script_text(r, found[0], &out->text);
}

/* ---- by name */

static const char *const other_names[] = {
	"Cast",
	"cast",
	"Not",
	"Select",
	"if_then_else",
	"Ramp",
	"ramp",
	"Broadcast",
	"broadcast",
	"all",
	"any",
	"ceildiv",
	"infinity",
	"max_value",
	"min_value",
	"meta_var",
	"var",
	"env_thread",
	"power",
	/* statements: listed for messages that propose a name */
	"prim_func",
	"Buffer",
	"match_buffer",
	"alloc_buffer",
	"sblock_alloc_buffer",
	"decl_buffer",
	"allocate",
	"func_attr",
	"block",
	"sblock",
	"block_attr",
	"sblock_attr",
	"axis.spatial",
	"axis.reduce",
	"axis.remap",
	"axis.scan",
	"axis.opaque",
	"axis.S",
	"axis.R",
	"where",
	"reads",
	"writes",
	"init",
	"serial",
	"parallel",
	"vectorized",
	"unroll",
	"thread_binding",
	"grid",
	"launch_thread",
	"attr",
	"let",
	"LetStmt",
	"evaluate",
	"While",
	"Assert",
	"ret",
};

bool
script_call(struct script_reader *r, const struct py_node *node,
	    const char *path, struct script_value *out)
{
	enum intrin op;
	struct dtype t;

	for (size_t i = 0; i < sizeof named_operators / sizeof *named_operators;
	     i++) {
		if (strcmp(named_operators[i].name, path) == 0) {
			return read_operator(r, node, named_operators[i].kind,
					     out);
		}
	}
	if (strcmp(path, "power") == 0) {
		path = "pow";
	}
	if (intrin_from_name(path, &op)) {
		return script_intrin(r, node, op, out);
	}
	if (strcmp(path, "Cast") == 0 || strcmp(path, "cast") == 0) {
		return read_cast(r, node, path[0] == 'C', out);
	}
	if (strcmp(path, "Select") == 0 || strcmp(path, "if_then_else") == 0) {
		return read_choice(r, node, path[0] == 'i', out);
	}
	if (strcmp(path, "Ramp") == 0 || strcmp(path, "ramp") == 0) {
		return read_vector(r, node, true, out);
	}
	if (strcmp(path, "Broadcast") == 0 || strcmp(path, "broadcast") == 0) {
		return read_vector(r, node, false, out);
	}
	if (strcmp(path, "Not") == 0) {
		return read_not(r, node, out);
	}
	if (strcmp(path, "all") == 0 || strcmp(path, "any") == 0) {
		return read_fold(r, node, path[1] == 'l' ? EXPR_AND : EXPR_OR,
				 out);
	}
	if (strcmp(path, "ceildiv") == 0) {
		return read_ceildiv(r, node, out);
	}
	if (strcmp(path, "infinity") == 0 || strcmp(path, "max_value") == 0 ||
	    strcmp(path, "min_value") == 0) {
		return read_limit(r, node, path, out);
	}
	if (strcmp(path, "meta_var") == 0) {
		return read_meta(r, node, out);
	}
	if (strcmp(path, "var") == 0) {
		return read_var(r, node, out);
	}
	if (strcmp(path, "env_thread") == 0) {
		return read_thread(r, node, out);
	}
	if (dtype_from_name(path, &t)) {
		return typed_value(r, node, t, out);
	}
	for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++) {
		if (strcmp(other_names[i], path) == 0) {
			return script_fail(r, node,
					   "T.%s where a value is "
					   "needed; it is a statement of its "
					   "own",
					   path);
		}
	}
	return script_unknown(r, node, path);
}

const char *const *
script_call_names(struct script_reader *r, int *n)
{
	size_t n_others = sizeof other_names / sizeof *other_names;
	size_t n_operators = sizeof named_operators / sizeof *named_operators;
	const char **list = arena_array(&r->m->arena, const char *,
					n_others + n_operators + INTRIN_COUNT +
						DT_COUNT);

	*n = 0;
	for (size_t i = 0; i < n_others; i++) {
		list[(*n)++] = other_names[i];
	}
	for (size_t i = 0; i < n_operators; i++) {
		list[(*n)++] = named_operators[i].name;
	}
	for (int i = 0; i < INTRIN_COUNT; i++) {
		list[(*n)++] = intrin_name((enum intrin)i);
	}
	for (int i = 0; i < DT_COUNT; i++) {
		list[(*n)++] = dtype_name(dtype_of((enum dtype_kind)i));
	}
	return list;
}
