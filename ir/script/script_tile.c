/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: operators on parts of buffers, as loops over their elements.
 * Which threads share the work (Tx.cta.copy, Tx.warp.copy) is not said here.
 *
 * 	Tx.add(B[0:8, j], A[0:8, j], 1.0)      for i in range(8):
 * 	                                           B[i, j] = A[i, j] + 1.0 */
#include "script_read.h"

enum { MAX_OPERANDS = 2 };

/* An operator: the name, how many operands it has, and what it computes: the name of a
 * function of T, an operator of Python, or "" for the operand itself. */
static const struct tile_operator {
	const char *name;
	int n;
	const char *function;
} operators[] = {
	{ "copy", 1, "" },           { "cast", 1, "" },
	{ "fill", 1, "" },           { "memset", 1, "" },
	{ "add", 2, "+" },           { "sub", 2, "-" },
	{ "mul", 2, "*" },           { "fdiv", 2, "/" },
	{ "maximum", 2, "max" },     { "minimum", 2, "min" },
	{ "exp", 1, "exp" },         { "exp2", 1, "exp2" },
	{ "sqrt", 1, "sqrt" },       { "log", 1, "log" },
	{ "sigmoid", 1, "sigmoid" },
};

static const struct tile_operator *
operator_of(const struct script_reader *r, const struct py_node *call)
{
	const char *path = script_path(r, call->kids[0]), *last;

	if (!path || strncmp(path, "tile.", 5) != 0) {
		return NULL;
	}
	last = strrchr(path, '.') + 1;
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
		if (strcmp(operators[i].name, last) == 0) {
			return &operators[i];
		}
	}
	return NULL;
}

bool
script_is_tile(const struct script_reader *r, const struct py_node *call)
{
	return operator_of(r, call) != NULL;
}

/* An operand: a part of a buffer, or of a view of one, with a range for each of its
 * dimensions; or a number, without ranges. */
struct operand {
	const struct py_node *at;
	struct range *ranges;
	struct script_value value;
};

static bool
read_operand(struct script_reader *r, const struct py_node *node,
	     struct operand *out)
{
	const struct py_node *of = node->kind == PY_SUBSCRIPT ? node->kids[0]
							      : node;
	struct script_value v = { .kind = SCRIPT_NONE };

	*out = (struct operand){ .at = node };
	if (!script_eval(r, of, &v)) {
		return false;
	}
	if (v.kind == SCRIPT_BUFFER && !script_is_scalar(r, &v)) {
		return script_ranges(r, node, &out->value, &out->ranges);
	}
	return script_eval(r, node, &out->value) &&
	       script_need_expr(r, node, &out->value);
}

static bool
is_one(const struct expr *e)
{
	return expr_is_value(e, 1);
}

/* Sets *out to the element of the operand's buffer, as a load, in the iteration with
 * these indices, one for each dimension of the target that is longer than 1. */
static bool
element_of(struct script_reader *r, const struct operand *o,
	   const struct expr *const *at, const struct expr *const *extents,
	   int n, const struct expr **out)
{
	const struct buffer *b = o->value.buffer;
	int rank = script_rank(&o->value), k = 0;
	const struct expr **index = arena_exprs(&r->m->arena, rank + 1);

	for (int d = 0; d < rank; d++) {
		const struct range *range = &o->ranges[d];

		index[d] = range->min;
		if (is_one(range->extent)) {
			continue;
		}
		if (k == n || range->extent != extents[k]) {
			return script_fail(r, o->at,
					   "a part of another shape than the "
					   "first one; give both the same");
		}
		index[d] = expr_add(r->m, range->min, at[k++]);
	}
	if (k != n) {
		return script_fail(r, o->at,
				   "a part of fewer dimensions than the first "
				   "one; give both the same");
	}
	if (!script_whole_index(r, o->at, &o->value, &index)) {
		return false;
	}
	*out = expr_load(r->m, b, index, b->ndim);
	return true;
}

/* Computes the operator on two values or on one. */
static bool
compute(struct script_reader *r, const struct py_node *call,
	const struct tile_operator *op, const struct script_value *args,
	struct script_value *out)
{
	enum py_operator infix;
	const struct typed_function *f;
	struct typed_arg list[MAX_OPERANDS];
	struct typed x;

	if (!*op->function) {
		*out = args[0];
		return true;
	}
	if (py_operator_find(op->function, &infix)) {
		return script_binary(r, call, infix, &args[0], &args[1], out);
	}
	f = typed_function_find(op->function);
	for (int i = 0; i < op->n; i++) {
		list[i].at = call->span;
		if (!script_operand(r, call, &args[i], &list[i].x)) {
			return false;
		}
	}
	struct typed_call c = { .t = &r->typing,
				.at = call->span,
				.f = f,
				.args = list,
				.n = op->n };

	if (!typed_call(&c, &x)) {
		return false;
	}
	*out = script_value_of(x.e, false);
	return true;
}

/* The loops over the elements of the target, around the store of one. */
static struct stmt *
in_loops(struct script_reader *r, struct stmt *s, struct var *const *vars,
	 const struct expr *const *extents, int n)
{
	for (int i = n - 1; i >= 0; i--) {
		s = stmt_for(r->f, vars[i], expr_int(r->m, extents[i]->type, 0),
			     extents[i], FOR_SERIAL, s);
	}
	return s;
}

bool
script_tile(struct script_reader *r, const struct py_node *call,
	    struct script_suite *suite)
{
	const struct tile_operator *op = operator_of(r, call);
	struct operand all[1 + MAX_OPERANDS];
	struct script_value args[MAX_OPERANDS], value;
	const struct expr *at[SCRIPT_MAX_RANK], *extents[SCRIPT_MAX_RANK],
		*target, *e;
	struct var *vars[SCRIPT_MAX_RANK];
	struct dtype t;
	int n_given = 0, n = 0;

	for (int i = 1; i < call->n_kids && n_given < 1 + op->n; i++) {
		if (call->kids[i]->kind != PY_KEYWORD &&
		    !read_operand(r, call->kids[i], &all[n_given++])) {
			return false;
		}
	}
	if (n_given == op->n && op->n == 1) { /* Tx.exp(A[0:8]), in place */
		all[n_given++] = all[0];
	}
	if (n_given != 1 + op->n || !all[0].ranges) {
		return script_fail(r, call,
				   "an operator on parts of buffers without "
				   "its operands; write Tx.copy(B[0:8], "
				   "A[0:8])");
	}
	for (int d = 0; d < script_rank(&all[0].value); d++) {
		const struct expr *extent = all[0].ranges[d].extent;

		if (!is_one(extent)) {
			vars[n] = var_new(r->m, script_hint(r, "i"),
					  extent->type);
			at[n] = vars[n]->expr;
			extents[n++] = extent;
		}
	}
	if (!element_of(r, &all[0], at, extents, n, &target)) {
		return false;
	}
	for (int i = 0; i < op->n; i++) {
		const struct operand *o = &all[1 + i];

		args[i] = o->value;
		if (o->ranges) {
			if (!element_of(r, o, at, extents, n, &e)) {
				return false;
			}
			args[i] = script_value_of(script_view_loaded(r,
								     &o->value,
								     e),
						  false);
		}
	}
	if (!compute(r, call, op, args, &value)) {
		return false;
	}
	t = script_view_loaded(r, &all[0].value, target)->type;
	if (value.weak ? !script_convert(r, call, &value, t, &e)
		       : !script_settle(r, call, &value, &e)) {
		return false;
	}
	if (!script_cast(r, call, e, t, &e)) {
		return false;
	}
	e = script_view_stored(r, &all[0].value, e);
	script_push(r, suite, call,
		    in_loops(r,
			     stmt_store(r->f, target->u.buffer, e, target->args,
					target->n_args),
			     vars, extents, n));
	return true;
}
