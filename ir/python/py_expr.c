/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of Python, by precedence climbing; lambdas, conditionals, lists
 * without brackets, targets. */
#include "py_read.h"

enum {
	STRENGTH_OR = 1,
	STRENGTH_AND,
	STRENGTH_NOT,
	STRENGTH_COMPARE,
	STRENGTH_BIT_OR,
	STRENGTH_BIT_XOR,
	STRENGTH_BIT_AND,
	STRENGTH_SHIFT,
	STRENGTH_SUM,
	STRENGTH_PRODUCT,
	STRENGTH_UNARY
};

static int
binary_strength(const struct py_token *t)
{
	static const struct {
		const char *op;
		int strength;
	} rows[] = {
		{ "or", STRENGTH_OR },     { "and", STRENGTH_AND },
		{ "|", STRENGTH_BIT_OR },  { "^", STRENGTH_BIT_XOR },
		{ "&", STRENGTH_BIT_AND }, { "<<", STRENGTH_SHIFT },
		{ ">>", STRENGTH_SHIFT },  { "+", STRENGTH_SUM },
		{ "-", STRENGTH_SUM },     { "*", STRENGTH_PRODUCT },
		{ "/", STRENGTH_PRODUCT }, { "//", STRENGTH_PRODUCT },
		{ "%", STRENGTH_PRODUCT }, { "@", STRENGTH_PRODUCT },
	};

	for (size_t i = 0; t->op && i < sizeof rows / sizeof *rows; i++) {
		if (strcmp(rows[i].op, t->op) == 0) {
			return rows[i].strength;
		}
	}
	return 0;
}

static const char *
accept_comparison(struct py_parser *p)
{
	static const char *const ops[] = {
		"<", ">", "==", ">=", "<=", "!=", "in",
	};

	if (py_accept(p, "is")) {
		return py_accept(p, "not") ? "is not" : "is";
	}
	if (py_at(p, "not")) {
		const struct py_token *next = py_here(p) + 1;

		if (next->op && strcmp(next->op, "in") == 0) {
			p->at += 2;
			return "not in";
		}
	}
	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
		if (py_accept(p, ops[i])) {
			return ops[i];
		}
	}
	return NULL;
}

static const struct py_node *operation(struct py_parser *p, int strength);

static const struct py_node *
unary(struct py_parser *p)
{
	static const char *const ops[] = { "-", "+", "~" };
	int first = p->at;

	for (int i = 0; i < 3; i++) {
		if (!py_accept(p, ops[i])) {
			continue;
		}
		if (!py_enter(p)) {
			return NULL;
		}
		const struct py_node *of = unary(p);

		py_leave(p);
		return py_finish1(p, PY_UNARY, ops[i], of, first);
	}
	const struct py_node *base = py_primary(p);

	if (!base || !py_accept(p, "**")) {
		return base;
	}
	if (!py_enter(p)) {
		return NULL;
	}
	const struct py_node *exponent = unary(p);

	py_leave(p);
	return py_finish2(p, PY_BINARY, "**", base, exponent, first);
}

static const struct py_node *
comparison(struct py_parser *p)
{
	int first = p->at;
	const struct py_node *left = operation(p, STRENGTH_BIT_OR);
	struct py_nodes kids = { NULL, 0, 0 };
	VEC(const char *) ops = { NULL, 0, 0 };
	const char *op = left ? accept_comparison(p) : NULL;

	if (!op) {
		return left;
	}
	py_push(p, &kids, left);
	for (; op; op = accept_comparison(p)) {
		const struct py_node *right = operation(p, STRENGTH_BIT_OR);

		if (!right) {
			return NULL;
		}
		vec_push(&p->module->arena, &ops, op);
		py_push(p, &kids, right);
	}
	struct py_node *node = py_node_new(p, PY_COMPARE, first);

	node->ops = ops.data;
	return py_finish(p, node, &kids, first);
}

static const struct py_node *
negation(struct py_parser *p)
{
	int first = p->at;

	if (!py_accept(p, "not")) {
		return comparison(p);
	}
	if (!py_enter(p)) {
		return NULL;
	}
	const struct py_node *of = negation(p);

	py_leave(p);
	return py_finish1(p, PY_UNARY, "not", of, first);
}

/* Reads operands joined by operators of at least this strength (precedence);
 * operators of equal strength associate to the left. */
static const struct py_node *
operation(struct py_parser *p, int strength)
{
	int first = p->at;
	const struct py_node *left = strength <= STRENGTH_NOT ? negation(p)
							      : unary(p);

	while (left) {
		const struct py_token *t = py_here(p);
		int own = binary_strength(t);

		if (own == 0 || own < strength) {
			return left;
		}
		p->at++;
		left = py_finish2(p, PY_BINARY, t->op, left,
				  operation(p, own + 1), first);
	}
	return NULL;
}

const struct py_node *
py_disjunction(struct py_parser *p)
{
	return operation(p, STRENGTH_OR);
}

static const struct py_node *
lambda(struct py_parser *p)
{
	int first = p->at++;
	struct py_node *node = py_node_new(p, PY_LAMBDA, first);
	struct py_nodes kids = { NULL, 0, 0 };

	if (!py_parameters(p, false, ":", node)) {
		return NULL;
	}
	p->at++;

	const struct py_node *body = py_expression(p);

	if (!body) {
		return NULL;
	}
	py_push(p, &kids, body);
	return py_finish(p, node, &kids, first);
}

static const struct py_node *
conditional(struct py_parser *p)
{
	int first = p->at;
	const struct py_node *value = py_disjunction(p);
	struct py_nodes kids = { NULL, 0, 0 };

	if (!value || !py_accept(p, "if")) {
		return value;
	}
	const struct py_node *condition = py_disjunction(p);

	if (!condition || !py_expect(p, "else",
				     "a conditional value needs "
				     "the other one too")) {
		return NULL;
	}
	const struct py_node *other = py_expression(p);

	if (!other) {
		return NULL;
	}
	py_push(p, &kids, value);
	py_push(p, &kids, condition);
	py_push(p, &kids, other);
	return py_finish(p, py_node_new(p, PY_IFELSE, first), &kids, first);
}

/* Does a list without brackets end at the next token? True if no element can
 * begin there. */
static bool
ends_list(const struct py_parser *p)
{
	const struct py_token *t = py_here(p);

	return t->kind == PY_T_NEWLINE || t->kind == PY_T_END ||
	       py_at(p, "=") || py_at(p, ":") || py_at(p, ";") ||
	       py_at(p, ")") || py_at(p, "]") || py_at(p, "}") ||
	       py_at(p, "in");
}

/* yield, yield x and yield from x */
static const struct py_node *
yield_expression(struct py_parser *p)
{
	int first = p->at++;
	struct py_node *node = py_node_new(p, PY_YIELD, first);
	struct py_nodes kids = { NULL, 0, 0 };
	const struct py_node *value = NULL;

	p->yields = true;
	node->text = py_accept(p, "from") ? "from" : NULL;
	if ((node->text || !ends_list(p)) && !(value = py_expression_list(p))) {
		return NULL;
	}
	py_push(p, &kids, value);
	return py_finish(p, node, &kids, first);
}

const struct py_node *
py_expression(struct py_parser *p)
{
	if (!py_enter(p)) {
		return NULL;
	}
	const struct py_node *node = py_at(p, "lambda")  ? lambda(p)
				     : py_at(p, "yield") ? yield_expression(p)
							 : conditional(p);

	py_leave(p);
	if (node && py_at(p, ":=")) {
		py_refuse(p, py_here(p)->span, "':='");
		return NULL;
	}
	return node;
}

static const struct py_node *
bare_list(struct py_parser *p, const struct py_node *(*one)(struct py_parser *))
{
	int first = p->at;
	const struct py_node *node = one(p);
	struct py_nodes kids = { NULL, 0, 0 };

	if (!node || !py_at(p, ",")) {
		return node;
	}
	py_push(p, &kids, node);
	while (py_accept(p, ",") && !ends_list(p)) {
		node = one(p);
		if (!node) {
			return NULL;
		}
		py_push(p, &kids, node);
	}
	return py_finish(p, py_node_new(p, PY_TUPLE, first), &kids, first);
}

const struct py_node *
py_expression_list(struct py_parser *p)
{
	return bare_list(p, py_starred);
}

static const struct py_node *
target(struct py_parser *p)
{
	int first = p->at;

	if (py_accept(p, "*")) {
		return py_finish1(p, PY_STAR, NULL, py_primary(p), first);
	}
	return py_primary(p);
}

const struct py_node *
py_target(struct py_parser *p)
{
	const struct py_node *node = target(p);

	return node && py_check_target(p, node) ? node : NULL;
}

const struct py_node *
py_target_list(struct py_parser *p)
{
	const struct py_node *node = bare_list(p, target);

	return node && py_check_target(p, node) ? node : NULL;
}
