/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: values that are calls of T: constants of a type,
 * operators by their names, vectors. Intrinsics are read by script_intrin.c. */
#include "script_read.h"

bool
script_typed_args(struct script_reader *r, const struct py_node *call,
		  struct script_typed_args *out)
{
	out->list = call->kids + 1;
	out->n = call->n_kids - 1;
	out->type = NULL;
	for (int i = 1; i < call->n_kids; i++) {
		const struct py_node *one = call->kids[i];

		if (one->kind == PY_KEYWORD && one->text &&
		    strcmp(one->text, "dtype") == 0) {
			out->type = one->kids[0];
			out->n--;
		} else if (one->kind == PY_KEYWORD || one->kind == PY_STAR) {
			return script_fail(r, one,
					   "an argument that this "
					   "function does not take; give "
					   "plain values");
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

/* Checks that a type given at the end of a call (old spelling) is the type of
 * the result. */
static bool
check_type(struct script_reader *r, const struct py_node *type,
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
	const struct py_node *found[2];
	struct script_value v;
	const struct expr *e;
	double special = 0;

	if (!script_args(r, call, "value?, dtype?", found)) {
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

/* x of type t, as the value of a call. */
static bool
cast(struct script_reader *r, const struct py_node *call,
     const struct py_node *x, const struct py_node *type,
     struct script_value *out)
{
	struct script_value v;
	struct typed from, to;
	struct dtype t;

	if (!script_type(r, type, &t) || !script_eval(r, x, &v) ||
	    !script_operand(r, x, &v, &from) ||
	    !typed_cast(&r->typing, call->span, &from, t, &to)) {
		return false;
	}
	*out = script_value_of(to.e, false);
	return true;
}

static bool
read_cast(struct script_reader *r, const struct py_node *call, bool type_first,
	  struct script_value *out)
{
	const struct py_node *found[3];

	return script_args(r, call,
			   type_first ? "dtype, value, span?"
				      : "value, dtype, span?",
			   found) &&
	       cast(r, call, found[type_first], found[!type_first], out);
}

bool
script_astype(struct script_reader *r, const struct py_node *call,
	      struct script_value *out)
{
	const struct py_node *found[2];

	return script_args(r, call, "dtype, span?", found) &&
	       cast(r, call, call->kids[0]->kids[0], found[0], out);
}

/* ---- operators by name */

/* A function of values alone: T.floordiv(a, b), T.exp(x). */
static bool
read_function(struct script_reader *r, const struct py_node *call,
	      const char *name, int n, struct script_value *out)
{
	struct typed *x = arena_array(&r->m->arena, struct typed, n), y;
	struct script_typed_args args;
	struct script_value v;

	if (!script_typed_args(r, call, &args) ||
	    !script_want_count(r, call, args.n, n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (!script_eval(r, args.list[i], &v) ||
		    !script_operand(r, args.list[i], &v, &x[i])) {
			return false;
		}
	}
	if (!typed_call(&r->typing, call->span, name, x, &y)) {
		return false;
	}
	*out = script_value_of(y.e, false);
	return check_type(r, args.type, y.e);
}

/* T.all(a, b, …), T.any(a, b, …) */
static bool
read_fold(struct script_reader *r, const struct py_node *call,
	  enum py_operator op, struct script_value *out)
{
	struct script_value one;

	for (int i = 1; i < call->n_kids; i++) {
		if (!script_eval(r, call->kids[i], &one) ||
		    (i > 1 && !script_binary(r, call, op, out, &one, &one))) {
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
	const struct py_node *found[3];
	struct script_value a, b;
	const struct expr *x, *y;
	int64_t lanes;
	int last = is_ramp ? 2 : 1;

	if (!script_args(r, call,
			 is_ramp ? "base, stride, lanes" : "value, lanes",
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
	const struct py_node *found[1];
	struct dtype t;
	struct typed x;

	if (!script_args(r, call, "dtype", found) ||
	    !script_type(r, found[0], &t) ||
	    !typed_limit(&r->typing, found[0]->span, which, t, &x)) {
		return false;
	}
	*out = script_value_of(x.e, false);
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
	       script_binary(r, call, PY_OP_ADD, &a, &b, &a) &&
	       script_binary(r, call, PY_OP_SUB, &a, &one, &a) &&
	       script_binary(r, call, PY_OP_FLOORDIV, &a, &b, out);
}

static bool
read_meta(struct script_reader *r, const struct py_node *call,
	  struct script_value *out)
{
	const struct py_node *found[1];

	if (!script_args(r, call, "value", found) ||
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
	const struct py_node *found[2];

	*out = (struct script_value){ .kind = SCRIPT_NEW_VAR };
	return script_args(r, call, "dtype, name?", found) &&
	       script_type(r, found[0], &out->type);
}

static bool
read_thread(struct script_reader *r, const struct py_node *call,
	    struct script_value *out)
{
	const struct py_node *found[2];

	*out = (struct script_value){ .kind = SCRIPT_THREAD };
	return script_args(r, call, "thread, dtype?", found) &&
	       script_text(r, found[0], &out->text);
}

/* ---- by name */

static const char *const other_names[] = {
	"Cast",
	"cast",
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
	int arity = typed_function_arity(path);
	enum intrin op;
	struct dtype t;

	if (arity > 0) {
		return read_function(r, node, path, arity, out);
	}
	if (intrin_from_name(path, &op)) {
		return script_intrin(r, node, op, out);
	}
	if (strcmp(path, "Cast") == 0 || strcmp(path, "cast") == 0) {
		return read_cast(r, node, path[0] == 'C', out);
	}
	if (strcmp(path, "Ramp") == 0 || strcmp(path, "ramp") == 0) {
		return read_vector(r, node, true, out);
	}
	if (strcmp(path, "Broadcast") == 0 || strcmp(path, "broadcast") == 0) {
		return read_vector(r, node, false, out);
	}
	if (strcmp(path, "all") == 0 || strcmp(path, "any") == 0) {
		return read_fold(r, node, path[1] == 'l' ? PY_OP_AND : PY_OP_OR,
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
	int n_functions = 0;

	while (typed_function_name(n_functions)) {
		n_functions++;
	}
	const char **list = arena_array(&r->m->arena, const char *,
					n_others + (size_t)n_functions +
						INTRIN_COUNT + DT_COUNT);

	*n = 0;
	for (size_t i = 0; i < n_others; i++) {
		list[(*n)++] = other_names[i];
	}
	for (int i = 0; i < n_functions; i++) {
		list[(*n)++] = typed_function_name(i);
	}
	for (int i = 0; i < INTRIN_COUNT; i++) {
		list[(*n)++] = intrin_name((enum intrin)i);
	}
	for (int i = 0; i < DT_COUNT; i++) {
		list[(*n)++] = dtype_name(dtype_of((enum dtype_kind)i));
	}
	return list;
}
