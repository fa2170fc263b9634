/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: values that are calls of T: constants of a type,
 * operators by their names, vectors; and calls of the functions that a text of
 * steps defines (script_read_steps()). Intrinsics are read by
 * script_intrin.c. */
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

/* Checks that the type that the script states at the end of a call (old
 * spelling) is the type of the result e. False after an error. */
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
	const struct py_node *found[3];
	struct script_value v;
	struct typed x, y;

	if (!script_args(r, call, "value?, is_size_var?, dtype?", found)) {
		return false;
	}
	if (!found[0] || found[0]->kind == PY_NONE || t.kind == DT_HANDLE) {
		*out = (struct script_value){ .kind = SCRIPT_NEW_VAR,
					      .type = t };
		return true;
	}
	if (!script_eval(r, found[0], &v) ||
	    !script_operand(r, found[0], &v, &x) ||
	    !typed_constant(&r->typing, found[0]->span, t, &x, &y)) {
		return false;
	}
	*out = script_value_of(y.e, false);
	return true;
}

/* ---- functions of values: T.floordiv(a, b), T.exp(x), T.Cast("int8", x) */

/* Evaluates an argument. An argument that is a type, such as T.int8, becomes
 * its name. False after an error. */
static bool
argument(struct script_reader *r, const struct py_node *node,
	 struct typed_arg *out)
{
	const char *path = script_path(r, node);
	struct script_value v;
	struct dtype t;

	out->at = node->span;
	if (path && dtype_from_name(path, &t)) {
		out->x = (struct typed){ expr_string(r->m, path), true };
		return true;
	}
	return script_eval(r, node, &v) && script_operand(r, node, &v, &out->x);
}

/* Sets `list` to the arguments of a call as values: first one for each
 * parameter, then the arguments for *args. If no parameter of the function is a
 * type, sets *type to the type at the end of the call (old spelling). False
 * after an error. */
static bool
bind(struct script_reader *r, const struct py_node *call,
     const struct typed_function *f, const struct py_node **found, int *n,
     const struct py_node **type)
{
	bool any = f->params[0] == '*', typed = strstr(f->params, "dtype");
	struct script_typed_args args;

	*n = 1;
	for (const char *c = f->params; *c; c++) {
		*n += *c == ',';
	}
	*type = NULL;
	if (!any) {
		const char *params = arena_printf(&r->m->arena, "%s%s",
						  f->params,
						  typed ? "" : ", *, dtype?");

		if (!script_args(r, call, params, found)) {
			return false;
		}
		*type = typed ? NULL : found[*n];
		return true;
	}
	if (!script_typed_args(r, call, &args)) {
		return false;
	}
	*n = args.n;
	for (int i = 0; i < args.n; i++) {
		found[i] = args.list[i];
	}
	return true;
}

static bool
read_function(struct script_reader *r, const struct py_node *call,
	      const struct typed_function *f, struct script_value *out)
{
	const struct py_node **found = arena_array(&r->m->arena,
						   const struct py_node *,
						   call->n_kids + 8);
	struct typed_call c = { .t = &r->typing, .at = call->span, .f = f };
	const struct py_node *type;
	struct typed_arg *args;
	struct typed x;

	if (!bind(r, call, f, found, &c.n, &type)) {
		return false;
	}
	args = arena_array(&r->m->arena, struct typed_arg, c.n + 1);
	for (int i = 0; i < c.n; i++) {
		if (found[i] && !argument(r, found[i], &args[i])) {
			return false;
		}
	}
	c.args = args;
	if (!typed_call(&c, &x)) {
		return false;
	}
	*out = script_value_of(x.e, false);
	return check_type(r, type, x.e);
}

bool
script_astype(struct script_reader *r, const struct py_node *call,
	      struct script_value *out)
{
	const struct py_node *found[2], *of = call->kids[0]->kids[0];
	struct script_value v;
	struct typed x, y;
	struct dtype t;

	if (!script_args(r, call, "dtype, span?", found) ||
	    !script_type(r, found[0], &t) || !script_eval(r, of, &v) ||
	    !script_operand(r, of, &v, &x) ||
	    !typed_cast(&r->typing, call->span, &x, t, &y)) {
		return false;
	}
	*out = script_value_of(y.e, false);
	return true;
}

/* ---- addresses: A.access_ptr("r", offset=n) */

/* Does an access mask, "r", "w", "rw" or TVM's number, let the pointer be written
 * through? */
static bool
read_mask(struct script_reader *r, const struct py_node *node, bool *writes)
{
	const char *text;
	int64_t mask;

	if (node->kind != PY_STRING) {
		*writes = true;
		return script_constant(r, node, &mask) &&
		       ((*writes = (mask & 2) != 0) || true);
	}
	if (!script_text(r, node, &text)) {
		return false;
	}
	*writes = strchr(text, 'w') != NULL;
	return *writes || strcmp(text, "r") == 0 ||
	       script_fail(r, node,
			   "the access mask %s; there are \"r\", \"w\" and "
			   "\"rw\"",
			   text);
}

/* An expression for the element of b that is `offset` elements after the first
 * element, in row-major order. */
static const struct expr *
element_at(struct module *m, const struct buffer *b, const struct expr *offset)
{
	const struct expr **index = arena_exprs(&m->arena, b->ndim + 1);

	for (int d = b->ndim - 1; d >= 0; d--) {
		const struct expr *size = expr_cast(m, offset->type,
						    b->shape[d]);

		index[d] = d > 0 ? expr_floormod(m, offset, size) : offset;
		offset = expr_floordiv(m, offset, size);
	}
	return expr_load(m, b, index, b->ndim);
}

/* Sets *out to the element of v, a buffer or a part or view of one, that is `offset`
 * of its elements after its first one in memory. False after an error. */
static bool
element_after(struct script_reader *r, const struct py_node *node,
	      const struct script_value *v, const struct expr *offset,
	      const struct expr **out)
{
	const struct buffer *b = v->buffer;
	const struct expr **first, *place;
	bool flat = v->view && v->view->flat;
	int lanes = flat ? v->view->type.lanes / b->type.lanes : 1;

	if (expr_is_value(offset, 0) && lanes == 1) {
		if (!script_first_index(r, node, v, &first)) {
			return false;
		}
		*out = expr_load(r->m, b, first, b->ndim);
		return true;
	}
	for (int d = 0; d < b->ndim; d++) {
		if (b->strides || expr_is_value(b->shape[d], 0)) {
			return script_fail(r, node,
					   "an offset in '%s', which has %s; "
					   "use an index instead",
					   b->name,
					   b->strides ? "strides"
						      : "no elements");
		}
	}
	place = expr_i32(r->m, 0);
	if (v->view && !script_part_offset(r, node, v, &place)) {
		return false;
	}
	if (!script_plus(r, node, place, offset, &place)) {
		return false;
	}
	if (lanes > 1) {
		place = expr_mul(r->m, place,
				 expr_int(r->m, place->type, lanes));
	}
	*out = element_at(r->m, b, place);
	return true;
}

bool
script_access_ptr(struct script_reader *r, const struct py_node *call,
		  const struct script_value *v, struct script_value *out)
{
	const struct py_node *found[5];
	const struct expr *offset = expr_i32(r->m, 0), *element;
	bool writes = true;

	if (!script_args(r, call,
			 "access_mask, ptr_type?, content_lanes?, offset?, "
			 "extent?",
			 found) ||
	    !read_mask(r, found[0], &writes) ||
	    (found[3] && !script_expr(r, found[3], &offset))) {
		return false;
	}
	if (!dtype_is_int(offset->type)) {
		return script_fail(r, found[3], "an offset is an integer");
	}
	if (!element_after(r, call, v, offset, &element)) {
		return false;
	}
	*out = script_value_of(expr_call(r->m,
					 writes ? INTRIN_ADDRESS_OF
						: INTRIN_READ_ADDRESS_OF,
					 dtype_of(DT_HANDLE), &element, 1),
			       false);
	return true;
}

/* T.tvm_access_ptr(T.type_annotation("float32"), A.data, offset, extent, mask): the
 * same address */
static bool
read_access_ptr(struct script_reader *r, const struct py_node *call,
		struct script_value *out)
{
	const struct py_node *found[6];
	const struct expr *offset, *element;
	const struct buffer *b = NULL;
	struct script_value data;
	bool writes;

	if (!script_args(r, call,
			 "ptype, data, offset, extent, rw_mask, dtype?",
			 found) ||
	    !script_eval(r, found[1], &data) ||
	    !script_index(r, found[2], &offset) ||
	    !read_mask(r, found[4], &writes)) {
		return false;
	}
	if (data.kind == SCRIPT_MEMORY || data.kind == SCRIPT_HANDLE) {
		if (!script_need_expr(r, found[1], &data)) {
			return false;
		}
	}
	if (data.kind == SCRIPT_EXPR && data.e->kind == EXPR_VAR) {
		b = script_owner(r, data.e->u.var);
	}
	if (!b) {
		return script_fail(r, found[1],
				   "an address in memory whose buffer is not "
				   "known; give the data of a buffer");
	}
	element = element_at(r->m, b, offset);
	*out = script_value_of(expr_call(r->m,
					 writes ? INTRIN_ADDRESS_OF
						: INTRIN_READ_ADDRESS_OF,
					 dtype_of(DT_HANDLE), &element, 1),
			       false);
	return true;
}

/* ---- functions of steps */

/* Reads the lines of a function up to its return, and sets *out to the returned
 * value. *done: was a return read? */
static bool read_value(struct script_reader *r, const struct py_node *lines,
		       struct script_suite *suite, struct script_value *out,
		       bool *done);

/* Does the same as read_value for the branch of an `if` that is chosen when the
 * text is read. */
static bool
read_branch(struct script_reader *r, const struct py_node *node,
	    struct script_suite *suite, struct script_value *out, bool *done)
{
	const struct py_node *taken;
	struct script_value v;

	if (!script_eval(r, node->kids[0], &v)) {
		return false;
	}
	if (!script_is_decided(node, &v, &taken)) {
		return script_fail(r, node,
				   "a branch of a function whose value is used "
				   "is chosen when the text is read");
	}
	return !taken ||
	       (taken->kind == PY_IF ? read_branch(r, taken, suite, out, done)
				     : read_value(r, taken, suite, out, done));
}

/* Does the same as read_value for each iteration of a loop over numbers: for j
 * in range(size): … */
static bool
read_repeated(struct script_reader *r, const struct py_node *node,
	      struct script_suite *suite, struct script_value *out, bool *done)
{
	const struct py_node *in = node->kids[1];
	int64_t n;

	if (node->kids[0]->kind != PY_NAME || in->kind != PY_CALL ||
	    in->kids[0]->kind != PY_NAME ||
	    strcmp(in->kids[0]->text, "range") != 0 || in->n_kids != 2) {
		return script_fail(r, node,
				   "a loop that is not over a range(size)");
	}
	if (!script_constant(r, in->kids[1], &n)) {
		return false;
	}
	for (int64_t j = 0; j < n && !*done; j++) {
		struct py_number number = py_int(j);

		if (!script_expands(r, node)) {
			return false;
		}
		script_define(r, node->kids[0]->text,
			      script_value_of(typed_number(r->m, &number).e,
					      true));
		if (!read_value(r, node->kids[2], suite, out, done)) {
			return false;
		}
	}
	return true;
}

static bool
read_value(struct script_reader *r, const struct py_node *lines,
	   struct script_suite *suite, struct script_value *out, bool *done)
{
	struct script_value v;

	for (int i = 0; i < lines->n_kids && !*done; i++) {
		const struct py_node *one = lines->kids[i];

		switch (one->kind) {
		case PY_EXPRESSION:
			if (one->kids[0]->kind == PY_STRING) {
				continue; /* a comment */
			}
			break;
		case PY_RETURN:
			*done = true;
			if (one->kids[0]) {
				return script_eval(r, one->kids[0], out);
			}
			break;
		case PY_IF:
			if (!read_branch(r, one, suite, out, done)) {
				return false;
			}
			continue;
		case PY_FOR:
			if (!read_repeated(r, one, suite, out, done)) {
				return false;
			}
			continue;
		case PY_ASSIGN:
			if (suite) {
				if (!script_assign(r, one, suite)) {
					return false;
				}
				continue;
			}
			if (one->kids[0]->kind != PY_NAME) {
				break;
			}
			if (!script_eval(r, one->kids[1], &v)) {
				return false;
			}
			script_define(r, one->kids[0]->text, v);
			continue;
		default:
			break;
		}
		return script_fail(r, one,
				   "a function whose value is used gives names "
				   "to values, and returns one");
	}
	return true;
}

bool
script_function_value(struct script_reader *r, const struct py_node *call,
		      const struct py_node *def, struct script_suite *suite,
		      struct script_value *out)
{
	struct script_macro macro;
	bool done = false;

	if (!script_enter_macro(r, call, def, false, &macro) ||
	    !read_value(r, def->kids[0], suite, out, &done)) {
		return false;
	}
	script_leave_macro(r, &macro);
	return done || script_fail(r, call, "%s returns no value", def->text);
}

/* ---- vectors */

/* Sets *out to T.Ramp(base, stride, lanes) (is_ramp) or T.Broadcast(value,
 * lanes). False after an error. */
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
read_meta(struct script_reader *r, const struct py_node *call,
	  struct script_value *out)
{
	const struct py_node *found[1];

	return script_args(r, call, "value", found) &&
	       script_eval(r, found[0], out);
}

/* T.var("int32"); T.Var("n", "int32"), whose type is argument `typed`. */
static bool
read_var(struct script_reader *r, const struct py_node *call,
	 const char *params, int typed, struct script_value *out)
{
	const struct py_node *found[2];

	*out = (struct script_value){ .kind = SCRIPT_NEW_VAR };
	return script_args(r, call, params, found) &&
	       script_type(r, found[typed], &out->type);
}

/* T.const(1, "uint32"); the types "int" and "uint" have 32 bits */
static bool
read_const(struct script_reader *r, const struct py_node *call,
	   struct script_value *out)
{
	const struct py_node *found[2];
	struct script_value v;
	struct typed x, y;
	struct dtype t;
	const char *name;

	if (!script_args(r, call, "value, dtype?", found) ||
	    !script_eval(r, found[0], &v)) {
		return false;
	}
	if (!found[1]) {
		*out = v;
		return true;
	}
	if (found[1]->kind == PY_STRING &&
	    (strcmp(found[1]->text, "int") == 0 ||
	     strcmp(found[1]->text, "uint") == 0)) {
		name = found[1]->text;
		t = dtype_of(name[0] == 'i' ? DT_I32 : DT_U32);
	} else if (!script_type(r, found[1], &t)) {
		return false;
	}
	if (!script_operand(r, found[0], &v, &x) ||
	    !typed_constant(&r->typing, found[0]->span, t, &x, &y)) {
		return false;
	}
	*out = script_value_of(y.e, false);
	return true;
}

/* Sets *var to the variable that the node names, one that was declared before. */
static bool
declared_var(struct script_reader *r, const struct py_node *node,
	     struct var **var)
{
	const struct expr *e;

	if (!script_expr(r, node, &e)) {
		return false;
	}
	*var = e->u.var;
	return e->kind == EXPR_VAR ||
	       script_fail(r, node, "no variable; declare one with T.int32()");
}

/* T.Let(x + 1, where={x: value}), T.Let(x, value, x + 1): an expression in which a
 * variable, declared before, stands for a value. */
static bool
read_inner_let(struct script_reader *r, const struct py_node *call,
	       struct script_value *out)
{
	bool dict = call->n_kids == 3;
	const struct py_node *found[3], *pair[2];
	const struct expr *body, *value;
	struct var *var;

	if (!script_args(r, call, dict ? "body, where" : "var, value, body",
			 found)) {
		return false;
	}
	if (dict && (found[1]->kind != PY_DICT || found[1]->n_kids != 2)) {
		return script_fail(r, found[1],
				   "a let of other than one variable; write "
				   "where={x: value}");
	}
	pair[0] = dict ? found[1]->kids[0] : found[0];
	pair[1] = dict ? found[1]->kids[1] : found[1];
	if (!declared_var(r, pair[0], &var) ||
	    !script_expr_as(r, pair[1], var->type, &value) ||
	    !script_expr(r, found[dict ? 0 : 2], &body)) {
		return false;
	}
	struct var_map map = { &var, &value, 1 };

	*out = script_value_of(expr_substitute(r->m, body, &map), false);
	return true;
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
	"Ramp",
	"ramp",
	"Broadcast",
	"broadcast",
	"meta_var",
	"var",
	"env_thread",
	/* functions that are read as statements, so that messages can propose
	 * their names */
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
	"bind",
	"allocate_const",
	"alloc_shared",
	"alloc_local",
	"device_entry",
	"cta_id",
	"thread_id",
	"iter_var",
	"evaluate",
	"While",
	"Assert",
	"ret",
	"comm_reducer",
	"tvm_thread_allreduce",
	"assume",
};

bool
script_call(struct script_reader *r, const struct py_node *node,
	    const char *path, struct script_value *out)
{
	const struct typed_function *f = typed_function_find(path);
	enum intrin op;
	struct dtype t;

	if (f) {
		return read_function(r, node, f, out);
	}
	if (strcmp(path, "call_intrin") == 0) {
		return script_call_intrin(r, node, out);
	}
	if (intrin_from_name(path, &op)) {
		return script_intrin(r, node, op, out);
	}
	if (strcmp(path, "Ramp") == 0 || strcmp(path, "ramp") == 0) {
		return read_vector(r, node, true, out);
	}
	if (strcmp(path, "Broadcast") == 0 || strcmp(path, "broadcast") == 0) {
		return read_vector(r, node, false, out);
	}
	if (strcmp(path, "meta_var") == 0) {
		return read_meta(r, node, out);
	}
	if (strcmp(path, "var") == 0) {
		return read_var(r, node, "dtype, name?", 0, out);
	}
	if (strcmp(path, "Var") == 0 || strcmp(path, "SizeVar") == 0) {
		return read_var(r, node, "name, dtype", 1, out);
	}
	if (strcmp(path, "const") == 0) {
		return read_const(r, node, out);
	}
	if (strcmp(path, "tvm_access_ptr") == 0) {
		return read_access_ptr(r, node, out);
	}
	if (strcmp(path, "Let") == 0) {
		return read_inner_let(r, node, out);
	}
	if (strcmp(path, "Call") == 0) {
		return script_call_node(r, node, out);
	}
	if (strcmp(path, "env_thread") == 0) {
		return read_thread(r, node, out);
	}
	if (dtype_from_name(path, &t)) {
		return typed_value(r, node, t, out);
	}
	if (script_is_packed(path)) {
		return script_packed(r, node, path, out);
	}
	if (script_is_instruction(path)) {
		return script_instruction(r, node, path, out);
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
