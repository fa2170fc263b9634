/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: calls of what only a device or TVM's runtime has. An
 * instruction is carried through with its arguments; a packed function is an
 * external one.
 *
 * 	T.ptx_mma("float32", "m8n8k4", …)    T.call_intrin("float32", "ptx_mma", "m8n8k4", …)
 * 	T.call_packed("f.g", A, n)           T.call_extern("int32", "f_g", A.data, n) */
#include "script_read.h"

struct instruction {
	const char *name, *type;
};

static const struct instruction table[] = {
#define INSTRUCTION(name, type) { name, type },
#include "instruction.def"
#undef INSTRUCTION
};

static const struct instruction *
find(const char *path)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		const char *name = table[i].name;
		size_t n = strlen(name);

		if (name[n - 1] == '*' ? strncmp(name, path, n - 1) == 0
				       : strcmp(name, path) == 0) {
			return &table[i];
		}
	}
	return NULL;
}

/* Does the node write the name of a type? "" is the type of no value. */
static bool
names_type(const struct py_node *node, struct dtype *out)
{
	if (node->kind != PY_STRING) {
		return false;
	}
	*out = dtype_of(DT_VOID);
	return node->text[0] == '\0' || dtype_from_name(node->text, out);
}

/* The name of an argument, as a text. */
static const struct py_node *
name_of(struct script_reader *r, const struct py_node *keyword)
{
	struct py_node *name = arena_copy(&r->m->arena, keyword,
					  sizeof *keyword);

	name->kind = PY_STRING;
	name->n_kids = 0;
	return name;
}

/* The arguments of an instruction: those with a name count like the others, in the
 * order of the text, and if `named` the name goes before as a text; dtype=… is
 * the type. */
static void
all_arguments(struct script_reader *r, const struct py_node *call, bool named,
	      struct script_typed_args *out)
{
	const struct py_node **list = arena_array(&r->m->arena,
						  const struct py_node *,
						  2 * call->n_kids + 1);

	*out = (struct script_typed_args){ .list = list };
	for (int i = 1; i < call->n_kids; i++) {
		const struct py_node *one = call->kids[i];

		if (one->kind == PY_KEYWORD && one->text &&
		    (strcmp(one->text, "dtype") == 0 ||
		     strcmp(one->text, "ret_ty") == 0)) {
			out->type = one->kids[0];
		} else if (named && one->kind == PY_KEYWORD && one->text) {
			list[out->n++] = name_of(r, one);
			list[out->n++] = one->kids[0];
		} else {
			list[out->n++] = one->kind == PY_KEYWORD && one->text
						 ? one->kids[0]
						 : one;
		}
	}
}

/* The type that the call states: dtype=…, or its first argument. Else *out is
 * DT_VOID. Moves the arguments behind the stated type. False after an error. */
static bool
stated_type(struct script_reader *r, struct script_typed_args *args,
	    struct dtype *out, bool *stated)
{
	*out = dtype_of(DT_VOID);
	*stated = args->type != NULL;
	if (args->type) {
		return names_type(args->type, out) ||
		       script_type(r, args->type, out);
	}
	if (args->n > 0 && names_type(args->list[0], out)) {
		*stated = true;
		args->list++;
		args->n--;
	}
	return true;
}

/* The value of an argument: a whole buffer is its pointer. */
static bool
argument(struct script_reader *r, const struct py_node *node,
	 const struct expr **out)
{
	struct script_value v;

	if (!script_eval(r, node, &v)) {
		return false;
	}
	if (v.kind == SCRIPT_BUFFER && !v.view) {
		*out = v.buffer->data->expr;
		return true;
	}
	if (v.kind == SCRIPT_NONE) {
		*out = expr_string(r->m, "None");
		return true;
	}
	return script_settle(r, node, &v, out);
}

/* Sets *out to the values of n arguments. False after an error. */
static bool
arguments(struct script_reader *r, const struct py_node *const *list, int n,
	  const struct expr *const **out)
{
	const struct expr **all = arena_exprs(&r->m->arena, n + 1);

	*out = all;
	for (int i = 0; i < n; i++) {
		if (!argument(r, list[i], &all[i])) {
			return false;
		}
	}
	return true;
}

/* Sets *out to a call of `op` whose first argument is the text `name`. */
static bool
call_named(struct script_reader *r, const struct py_node *call, enum intrin op,
	   const char *name, struct dtype t, const struct expr *const *list,
	   int n, struct script_value *out)
{
	const struct expr **all = arena_exprs(&r->m->arena, n + 1);
	struct typed x;

	all[0] = expr_string(r->m, name);
	for (int i = 0; i < n; i++) {
		all[i + 1] = op == INTRIN_CALL_EXTERN
				     ? script_argument(r, list[i])
				     : list[i];
	}
	if (!typed_intrin(&r->typing, call->span, op, t, all, n + 1, &x)) {
		return false;
	}
	*out = script_value_of(x.e, false);
	return true;
}

/* The type of the result where the call does not state it. */
static bool
type_of_result(struct script_reader *r, const struct py_node *call,
	       const char *rule, const struct expr *const *args, int n,
	       struct dtype *out)
{
	int which = *rule == '0' || *rule == '1' ? *rule - '0' : -1;

	if (*rule == '-') {
		if (n == 0 || args[n - 1]->kind != EXPR_STRING ||
		    !dtype_from_name(args[n - 1]->u.text, out)) {
			*out = dtype_of(DT_HANDLE);
		}
		return true;
	}
	if (which < 0) {
		return script_type_named(r, call, rule, out);
	}
	if (which >= n) {
		return script_want_count(r, call, n, which + 1);
	}
	*out = args[which]->type;
	return true;
}

bool
script_instruction(struct script_reader *r, const struct py_node *call,
		   const char *path, struct script_value *out)
{
	const struct instruction *known = find(path);
	struct script_typed_args args;
	const struct expr *const *list;
	struct dtype t;
	bool stated;

	/* the names of PTX's operands say more than their places: pred=… */
	all_arguments(r, call, strncmp(path, "ptx.", 4) == 0, &args);
	return stated_type(r, &args, &t, &stated) &&
	       arguments(r, args.list, args.n, &list) &&
	       (stated || type_of_result(r, call, known ? known->type : "void",
					 list, args.n, &t)) &&
	       call_named(r, call, INTRIN_CALL_INTRIN, path, t, list, args.n,
			  out);
}

bool
script_instruction_of(struct script_reader *r, const struct py_node *call,
		      const char *name, struct dtype t,
		      const struct expr *const *list, int n,
		      struct script_value *out)
{
	return call_named(r, call, INTRIN_CALL_INTRIN, name, t, list, n, out);
}

bool
script_is_instruction(const char *path)
{
	return find(path) != NULL;
}

/* T.call_intrin("float32", "tir.exp", x): an intrinsic by its name. */
bool
script_call_intrin(struct script_reader *r, const struct py_node *call,
		   struct script_value *out)
{
	static const char *const modules[] = { "tirx.", "tir." };
	struct script_typed_args args;
	const struct expr *const *list;
	struct dtype t;
	const char *name;
	enum intrin op;
	bool stated;

	if (!script_typed_args(r, call, &args) ||
	    !stated_type(r, &args, &t, &stated)) {
		return false;
	}
	if (args.n < 1 || !script_text(r, args.list[0], &name)) {
		return args.n > 0 || script_want_count(r, call, args.n, 1);
	}
	for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
		size_t n = strlen(modules[i]);

		if (strncmp(name, modules[i], n) == 0) {
			name += n;
		}
	}
	if (intrin_from_name(name, &op) && op != INTRIN_CALL_INTRIN) {
		return script_intrin_of(r, call, op, t, args.list + 1,
					args.n - 1, out);
	}
	return arguments(r, args.list + 1, args.n - 1, &list) &&
	       call_named(r, call, INTRIN_CALL_INTRIN, name, t, list,
			  args.n - 1, out);
}

/* ---- packed functions */

bool
script_is_packed(const char *path)
{
	static const char *const names[] = {
		"call_packed",         "call_cpacked",
		"tvm_call_packed",     "tvm_call_cpacked",
		"call_packed_lowered", "call_cpacked_lowered",
		"call_pure_extern",
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (strcmp(names[i], path) == 0) {
			return true;
		}
	}
	return false;
}

/* The name as one of C: "f.g" is f_g. */
static const char *
symbol(struct script_reader *r, const char *name)
{
	char *text = arena_strdup(&r->m->arena, name);

	for (char *c = text; *c; c++) {
		if (*c == '.' || *c == ':' || *c == '-') {
			*c = '_';
		}
	}
	return text;
}

/* T.call_packed("f", A, n): the external function f of pointers and numbers. */
bool
script_packed(struct script_reader *r, const struct py_node *call,
	      const char *path, struct script_value *out)
{
	bool pure = strcmp(path, "call_pure_extern") == 0;
	struct script_typed_args args;
	const struct expr *const *list;
	struct dtype t = dtype_of(DT_I32);
	const char *name;
	bool stated = false;

	if (!script_typed_args(r, call, &args) ||
	    ((pure || args.type) && !stated_type(r, &args, &t, &stated))) {
		return false;
	}
	if (args.n < 1) {
		return script_want_count(r, call, args.n, 1);
	}
	return script_text(r, args.list[0], &name) &&
	       arguments(r, args.list + 1, args.n - 1, &list) &&
	       call_named(r, call, INTRIN_CALL_EXTERN, symbol(r, name), t, list,
			  args.n - 1, out);
}

/* ---- calls by the name of their operator */

/* The name of the operator: "tir.exp" or tvm.ir.Op.get("tir.exp"), without the
 * module. */
static bool
operator_name(struct script_reader *r, const struct py_node *node,
	      const char **out)
{
	if (node->kind == PY_CALL && node->n_kids == 2) {
		node = node->kids[1];
	}
	if (!script_text(r, node, out)) {
		return false;
	}
	if (strncmp(*out, "tir.", 4) == 0 || strncmp(*out, "tirx.", 5) == 0) {
		*out = strchr(*out, '.') + 1;
	}
	return true;
}

static bool
has_keyword(const struct py_node *call, const char *name)
{
	for (int i = 1; i < call->n_kids; i++) {
		if (call->kids[i]->kind == PY_KEYWORD && call->kids[i]->text &&
		    strcmp(call->kids[i]->text, name) == 0) {
			return true;
		}
	}
	return false;
}

bool
script_call_node(struct script_reader *r, const struct py_node *call,
		 struct script_value *out)
{
	const struct py_node *found[4];
	struct py_node inner = *call;
	struct py_node type = *call;
	const struct py_node *const *list;
	const struct py_node **kids;
	const char *name, *path;
	int n;

	if (has_keyword(call, "ret_ty")
		    ? !script_args(r, call, "op, args, ret_ty", found + 1)
		    : !script_args(r, call, "dtype, op, args", found)) {
		return false;
	}
	if (has_keyword(call, "ret_ty")) {
		found[0] = found[3];
	}
	if (!operator_name(r, found[1], &name)) {
		return false;
	}
	list = script_items(&found[2], &n);
	kids = arena_array(&r->m->arena, const struct py_node *, n + 2);
	type.kind = PY_KEYWORD;
	type.text = "dtype";
	type.kids = &found[0];
	type.n_kids = 1;
	kids[0] = call->kids[0];
	for (int i = 0; i < n; i++) {
		kids[i + 1] = list[i];
	}
	kids[n + 1] = &type;
	inner.kids = kids;
	inner.n_kids = n + 2;
	path = arena_strdup(&r->m->arena, name);
	return script_call(r, &inner, path, out);
}
