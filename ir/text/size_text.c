/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes as text and back. Reading makes exactly the nodes that were printed,
 * without the builders, which might simplify them; only expressions without
 * variables are computed, since a person may write 2 * 3. */
#include "size_text.h"

#include "bounds.h"
#include "print.h"
#include "python.h"
#include "text.h"

struct reading {
	const struct graph *graph;
	struct module *m;
	const char *const *symbols;
	struct source src;
};

static const struct expr *visit(struct reading *r, const struct py_node *node);

static int
count_sizes(const struct graph *g)
{
	return g->dims.n + g->run_sizes.n;
}

/* Variable i of the variables of sizes: the symbolic dimensions, then the sizes
 * that are known only at run time. */
static struct var *
size_var(const struct graph *g, int i)
{
	return i < g->dims.n ? g->dims.data[i]
			     : g->run_sizes.data[i - g->dims.n].var;
}

const char **
size_symbols(const struct graph *g)
{
	struct arena *a = &g->module->arena;
	const char **symbols = arena_array(a, const char *, count_sizes(g) + 1);
	struct printer p;

	printer_init(&p, SCRIPT_CURRENT, NULL);
	for (int i = 0; i < count_sizes(g); i++) {
		symbols[i] = arena_strdup(a,
					  print_unique(&p,
						       size_var(g, i)->name));
	}
	printer_release(&p);
	return symbols;
}

void
size_print(const struct graph *g, const char *const *symbols,
	   const struct expr *e, struct strbuf *out)
{
	struct printer p;

	printer_init(&p, SCRIPT_CURRENT, out);
	for (int i = 0; i < count_sizes(g); i++) {
		print_define(&p, size_var(g, i), symbols[i]);
	}
	print_expr(&p, e, PRINT_LOOSE);
	printer_release(&p);
}

/* -- reading -- */

#define fail(r, node, ...)                                                     \
	(py_error((r)->m, &(r)->src, (node)->span, __VA_ARGS__),               \
	 (const struct expr *)NULL)

bool
size_is_index(struct dtype t)
{
	return t.kind == DT_I32 || t.kind == DT_I64;
}

bool
size_is_element(struct dtype t, const struct expr *e)
{
	bool is_literal = e->kind == EXPR_INT || e->kind == EXPR_FLOAT;

	if (dtype_is_float(t)) {
		return dtype_is_float(e->type) || dtype_is_int(e->type);
	}
	return t.kind == DT_BOOL
		       ? e->type.kind == DT_BOOL
		       : (is_literal && dtype_is_int(e->type)) ||
				 (size_is_index(t) && size_is_index(e->type));
}

static bool
is_number(struct dtype t)
{
	return size_is_index(t) || dtype_is_float(t);
}

/* Is t a type that expressions of sizes may have: that of a number, or bool? */
static bool
is_value(struct dtype t)
{
	return is_number(t) || t.kind == DT_BOOL;
}

/* Can the type of the operands hold the result of the operation on both
 * literals? */
static bool
is_exact(enum expr_kind kind, const struct expr *a, const struct expr *b)
{
	struct bounds v;

	if (!size_is_index(a->type) || kind >= EXPR_EQ) {
		return true;
	}
	v = bounds_binary(kind, bounds_of_value(a->u.ival),
			  bounds_of_value(b->u.ival));
	return v.min > dtype_min_int(a->type) &&
	       v.max < (int64_t)dtype_max_int(a->type);
}

static const struct expr *
make(struct reading *r, enum expr_kind kind, struct dtype type,
     const struct expr *const *args, int n)
{
	struct expr payload = { .kind = kind, .type = type };

	return expr_make(r->m, &payload, args, n);
}

/* The node of an operation on two operands of one type; a literal takes the
 * type of the other operand, a size. NULL after an error. */
static const struct expr *
binary(struct reading *r, const struct py_node *node, enum expr_kind kind,
       const struct expr *a, const struct expr *b)
{
	const struct expr *args[] = { a, b };
	bool compares = kind >= EXPR_EQ && kind <= EXPR_GE;
	bool logic = kind == EXPR_AND || kind == EXPR_OR;
	bool floats = dtype_is_float(a->type);
	bool divides = kind == EXPR_FLOORDIV || kind == EXPR_FLOORMOD ||
		       kind == EXPR_TRUNCMOD || kind == EXPR_DIV;
	int64_t v;

	if (!dtype_equal(a->type, b->type)) {
		return fail(r, node,
			    "operands of types %s and %s; convert the "
			    "narrower one with T.Cast(\"int64\", …) or "
			    "T.int64(…)",
			    dtype_name(a->type), dtype_name(b->type));
	}
	if (logic ? a->type.kind != DT_BOOL : !is_number(a->type)) {
		return fail(r, node,
			    "the operator is not defined for %s; sizes are "
			    "of the types int32 and int64",
			    dtype_name(a->type));
	}
	if (divides && !floats && expr_is_int(b, &v) && v == 0) {
		return fail(r, node,
			    "a division by zero; write another "
			    "divisor");
	}
	if (floats && (kind == EXPR_TRUNCMOD || kind == EXPR_FLOORDIV ||
		       kind == EXPR_FLOORMOD)) {
		return fail(r, node,
			    "the operator is not defined for %s; write / or "
			    "use integers",
			    dtype_name(a->type));
	}
	if (a->n_args == 0 && b->n_args == 0 && a->kind != EXPR_VAR &&
	    b->kind != EXPR_VAR) {
		if (!is_exact(kind, a, b)) {
			return fail(r, node,
				    "the number does not fit in %s; write "
				    "smaller ones, or T.int64(…)",
				    dtype_name(a->type));
		}
		return expr_binary(r->m, kind, a, b);
	}
	return make(r, kind, compares ? dtype_of(DT_BOOL) : a->type, args, 2);
}

static const struct expr *
visit_binary(struct reading *r, const struct py_node *node)
{
	static const struct {
		const char *op;
		enum expr_kind kind;
	} kinds[] = {
		{ "+", EXPR_ADD },      { "-", EXPR_SUB },
		{ "*", EXPR_MUL },      { "//", EXPR_FLOORDIV },
		{ "%", EXPR_FLOORMOD }, { "/", EXPR_DIV },
		{ "and", EXPR_AND },    { "or", EXPR_OR },
		{ "==", EXPR_EQ },      { "!=", EXPR_NE },
		{ "<", EXPR_LT },       { "<=", EXPR_LE },
		{ ">", EXPR_GT },       { ">=", EXPR_GE },
	};
	const char *op = node->kind == PY_COMPARE ? node->ops[0] : node->op;
	const struct expr *a, *b;

	a = visit(r, node->kids[0]);
	b = a ? visit(r, node->kids[1]) : NULL;
	if (!b) {
		return NULL;
	}
	for (size_t i = 0;
	     node->n_kids == 2 && i < sizeof kinds / sizeof *kinds; i++) {
		if (strcmp(kinds[i].op, op) != 0) {
			continue;
		}
		if (strcmp(op, "/") == 0 && !dtype_is_float(a->type)) {
			return fail(r, node,
				    "/ is not defined for integers; write // "
				    "or T.truncdiv(…)");
		}
		return binary(r, node, kinds[i].kind, a, b);
	}
	return fail(r, node,
		    "sizes do not have this operator; use + - * // "
		    "%%");
}

static const struct expr *
visit_unary(struct reading *r, const struct py_node *node)
{
	const struct expr *a = visit(r, node->kids[0]);

	if (!a) {
		return NULL;
	}
	if (strcmp(node->op, "-") == 0 && a->kind == EXPR_INT &&
	    dtype_class(a->type) == DTC_INT) {
		return expr_index(r->m, (int64_t)(0 - (uint64_t)a->u.ival));
	}
	if (strcmp(node->op, "-") == 0 && a->kind == EXPR_FLOAT) {
		return expr_float(r->m, a->type, -a->u.fval);
	}
	if (strcmp(node->op, "not") == 0 && a->type.kind == DT_BOOL) {
		return make(r, EXPR_NOT, a->type, &a, 1);
	}
	return fail(r, node,
		    "sizes do not have this operator; write 0 - x, or not "
		    "before a comparison");
}

/* Reads a literal of type t from the argument of T.float32(0.5), T.int64(7) or
 * T.float32("inf"). NULL after an error. */
static const struct expr *
literal(struct reading *r, const struct py_node *node, struct dtype t,
	const struct py_node *arg)
{
	struct expr payload = { .kind = EXPR_INT, .type = t };
	double sign = 1;

	if (arg->kind == PY_UNARY && strcmp(arg->op, "-") == 0) {
		sign = -1;
		arg = arg->kids[0];
	}
	if (dtype_is_float(t)) {
		double v = arg->kind == PY_FLOAT ? arg->fval
			   : arg->kind == PY_INT ? (double)arg->ival
						 : 0;

		if (arg->kind == PY_FLOAT || arg->kind == PY_INT ||
		    (arg->kind == PY_STRING && text_float(arg->text, &v))) {
			return expr_float(r->m, t, sign * v);
		}
	} else if (t.kind == DT_BOOL) {
		if (arg->kind == PY_TRUE || arg->kind == PY_FALSE) {
			return expr_bool(r->m, arg->kind == PY_TRUE);
		}
	} else if (arg->kind == PY_INT && dtype_is_int(t) && t.lanes == 1) {
		payload.u.ival = sign < 0 ? (int64_t)(0 - (uint64_t)arg->ival)
					  : arg->ival;
		payload.u.ival =
			number_round(t, (union number){ .i = payload.u.ival })
				.i;
		return expr_make(r->m, &payload, NULL, 0);
	}
	return fail(r, node,
		    "this is not a literal of type %s; write a "
		    "number",
		    dtype_name(t));
}

/* Reads T.Cast("int64", n); arg: the node of the type's name. NULL after an
 * error. */
static const struct expr *
visit_cast(struct reading *r, const struct py_node *node,
	   const struct py_node *arg)
{
	const struct expr *a = visit(r, node->kids[2]);
	struct dtype t;

	if (!a) {
		return NULL;
	}
	if (arg->kind != PY_STRING || !dtype_from_name(arg->text, &t) ||
	    t.lanes != 1 || !is_value(t) || !is_value(a->type)) {
		return fail(r, node,
			    "sizes are not computed in this type; write "
			    "\"int32\", \"int64\" or a type of floats");
	}
	if (dtype_is_float(a->type) && !dtype_is_float(t)) {
		return fail(r, node,
			    "a float does not become a size; compute with "
			    "integers and //");
	}
	return make(r, EXPR_CAST, t, &a, 1);
}

static const struct expr *
visit_choice(struct reading *r, const struct py_node *node, enum expr_kind kind)
{
	const struct expr *args[3];

	for (int i = 0; i < 3; i++) {
		args[i] = visit(r, node->kids[i + 1]);
		if (!args[i]) {
			return NULL;
		}
	}
	if (args[0]->type.kind != DT_BOOL || !is_value(args[1]->type) ||
	    !dtype_equal(args[1]->type, args[2]->type)) {
		return fail(r, node,
			    "the arguments must be a condition and two "
			    "values of one type");
	}
	return make(r, kind, args[1]->type, args, 3);
}

static const struct expr *
visit_call(struct reading *r, const struct py_node *node)
{
	static const struct {
		const char *name;
		int n;
		enum expr_kind kind;
	} calls[] = {
		{ "min", 2, EXPR_MIN },       { "max", 2, EXPR_MAX },
		{ "truncdiv", 2, EXPR_DIV },  { "truncmod", 2, EXPR_TRUNCMOD },
		{ "Select", 3, EXPR_SELECT }, { "if_then_else", 3, EXPR_IF },
	};
	const struct py_node *callee = node->kids[0];
	const struct expr *a, *b;
	struct dtype t;
	int n = node->n_kids - 1;

	if (callee->kind != PY_ATTRIBUTE || callee->kids[0]->kind != PY_NAME ||
	    strcmp(callee->kids[0]->text, "T") != 0) {
		return fail(r, node,
			    "sizes do not have this function; use functions "
			    "of T");
	}
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		if (strcmp(calls[i].name, callee->text) != 0 ||
		    calls[i].n != n) {
			continue;
		}
		if (n == 3) {
			return visit_choice(r, node, calls[i].kind);
		}
		a = visit(r, node->kids[1]);
		b = a ? visit(r, node->kids[2]) : NULL;
		return b ? binary(r, node, calls[i].kind, a, b) : NULL;
	}
	if (strcmp(callee->text, "Cast") == 0 && n == 2) {
		return visit_cast(r, node, node->kids[1]);
	}
	if (n == 1 && dtype_from_name(callee->text, &t) && t.lanes == 1) {
		return literal(r, node, t, node->kids[1]);
	}
	return fail(r, node, "T.%s is not a function of sizes", callee->text);
}

static const struct expr *
visit(struct reading *r, const struct py_node *node)
{
	const struct graph *g = r->graph;

	switch (node->kind) {
	case PY_INT:
		return node->is_unsigned
			       ? fail(r, node, "the number is too large")
			       : expr_index(r->m, node->ival);
	case PY_NAME:
		for (int i = 0; i < count_sizes(g); i++) {
			if (strcmp(r->symbols[i], node->text) == 0) {
				return size_var(g, i)->expr;
			}
		}
		return fail(r, node,
			    "no dimension has this name; declare it "
			    "under dims");
	case PY_BINARY:
	case PY_COMPARE:
		return visit_binary(r, node);
	case PY_UNARY:
		return visit_unary(r, node);
	case PY_CALL:
		return visit_call(r, node);
	default:
		return fail(r, node, "this is not an expression of sizes");
	}
}

const struct expr *
size_read(const struct graph *g, const char *const *symbols, const char *text,
	  const char *place)
{
	struct reading r = {
		.graph = g,
		.m = g->module,
		.symbols = symbols,
		.src = { .name = place, .text = text, .length = strlen(text) },
	};
	const struct py_node *tree = py_parse(g->module, &r.src);

	if (!tree) {
		return NULL;
	}
	if (tree->n_kids != 1 || tree->kids[0]->kind != PY_EXPRESSION) {
		py_error(g->module, &r.src, tree->span,
			 "a single expression is expected here");
		return NULL;
	}
	return visit(&r, tree->kids[0]->kids[0]);
}
