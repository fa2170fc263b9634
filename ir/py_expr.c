/* SPDX-License-Identifier: Apache-2.0 */
/* Python's expressions, by precedence climbing. */
#include "py_read.h"

/* A disjunction: no lambda, no conditional. */
static const struct py_node *py_disjunction(struct py_parser *p);

const struct py_token *
py_here(const struct py_parser *p)
{
	return &p->tokens.data[p->at];
}

bool
py_at(const struct py_parser *p, const char *op)
{
	const struct py_token *t = py_here(p);

	return t->op && strcmp(t->op, op) == 0;
}

bool
py_accept(struct py_parser *p, const char *op)
{
	if (!py_at(p, op)) {
		return false;
	}
	p->at++;
	return true;
}

const char *
py_describe(struct py_parser *p, const struct py_token *t)
{
	switch (t->kind) {
	case PY_T_END:
		return "the end of the text";
	case PY_T_NEWLINE:
		return "the end of the line";
	case PY_T_INDENT:
		return "an indented line";
	case PY_T_DEDENT:
		return "the end of the suite";
	case PY_T_STRING:
		return "a string";
	default:
		return arena_printf(&p->module->arena, "'%.*s%s'",
				    t->length > 40 ? 40 : (int)t->length,
				    t->text, t->length > 40 ? "..." : "");
	}
}

void
py_fail(struct py_parser *p, struct py_span at, const char *fmt, ...)
{
	va_list ap;

	if (p->failed) {
		return;
	}
	p->failed = true;
	va_start(ap, fmt);
	const char *text = arena_vprintf(&p->module->arena, fmt, ap);

	va_end(ap);
	py_error(p->module, p->src, at, "%s", text);
}

void
py_refuse(struct py_parser *p, struct py_span at, const char *what)
{
	py_fail(p, at,
		"%s is outside of the Python that tirc reads; write it "
		"without",
		what);
}

bool
py_expect(struct py_parser *p, const char *op, const char *why)
{
	if (py_accept(p, op)) {
		return true;
	}
	py_fail(p, py_here(p)->span, "'%s' expected, not %s; %s", op,
		py_describe(p, py_here(p)), why);
	return false;
}

bool
py_enter(struct py_parser *p)
{
	if (++p->nesting > PY_MAX_NESTING) {
		py_fail(p, py_here(p)->span,
			"nested deeper than %d levels; "
			"give parts of it names",
			(int)PY_MAX_NESTING);
		return false;
	}
	return true;
}

void
py_leave(struct py_parser *p)
{
	p->nesting--;
}

struct py_node *
py_node_new(struct py_parser *p, enum py_kind kind, int first_token)
{
	struct py_node *node = arena_new(&p->module->arena, struct py_node);

	node->kind = kind;
	node->span = p->tokens.data[first_token].span;
	return node;
}

void
py_push(struct py_parser *p, struct py_nodes *list, const struct py_node *node)
{
	vec_push(&p->module->arena, list, node);
}

static void
raise_height(struct py_node *node, const struct py_node *kid)
{
	if (kid && kid->height >= node->height) {
		node->height = kid->height + 1;
	}
}

const struct py_node *
py_finish(struct py_parser *p, struct py_node *node,
	  const struct py_nodes *kids, int first_token)
{
	node->span = p->tokens.data[first_token].span;
	if (p->at > first_token) {
		const struct py_span *last = &p->tokens.data[p->at - 1].span;

		node->span.end_line = last->end_line;
		node->span.end_col = last->end_col;
	}
	if (kids) {
		node->kids = kids->data;
		node->n_kids = kids->n;
	}
	node->height = 1;
	for (int i = 0; i < node->n_kids; i++) {
		raise_height(node, node->kids[i]);
	}
	for (int i = 0; i < node->n_params; i++) {
		raise_height(node, node->params[i].annotation);
		raise_height(node, node->params[i].initial);
	}
	for (int i = 0; i < node->n_decorators; i++) {
		raise_height(node, node->decorators[i]);
	}
	if (node->height > PY_MAX_HEIGHT) {
		py_fail(p, node->span,
			"an expression or suite of more than "
			"%d levels; give parts of it names",
			(int)PY_MAX_HEIGHT);
		return NULL;
	}
	return node;
}

static const struct py_node *
finish1(struct py_parser *p, enum py_kind kind, const char *op,
	const struct py_node *a, int first)
{
	struct py_node *node = py_node_new(p, kind, first);
	struct py_nodes kids = { NULL, 0, 0 };

	if (!a) {
		return NULL;
	}
	node->op = op;
	py_push(p, &kids, a);
	return py_finish(p, node, &kids, first);
}

static const struct py_node *
finish2(struct py_parser *p, enum py_kind kind, const char *op,
	const struct py_node *a, const struct py_node *b, int first)
{
	struct py_node *node = py_node_new(p, kind, first);
	struct py_nodes kids = { NULL, 0, 0 };

	if (!a || !b) {
		return NULL;
	}
	node->op = op;
	py_push(p, &kids, a);
	py_push(p, &kids, b);
	return py_finish(p, node, &kids, first);
}

static const char *
take_text(struct py_parser *p, const struct py_token *t)
{
	return arena_strndup(&p->module->arena, t->text, t->length);
}

/* ---- displays and comprehensions */

static bool
comprehension_clauses(struct py_parser *p, struct py_nodes *kids)
{
	while (py_at(p, "for")) {
		int first = p->at++;
		struct py_node *node = py_node_new(p, PY_FOR_CLAUSE, first);
		struct py_nodes parts = { NULL, 0, 0 };
		const struct py_node *target = py_target_list(p);

		if (!target || !py_expect(p, "in",
					  "a comprehension is "
					  "[value for name in list]")) {
			return false;
		}
		const struct py_node *list = py_disjunction(p);

		if (!list) {
			return false;
		}
		py_push(p, &parts, target);
		py_push(p, &parts, list);
		while (py_accept(p, "if")) {
			const struct py_node *condition = py_disjunction(p);

			if (!condition) {
				return false;
			}
			py_push(p, &parts, condition);
		}
		const struct py_node *clause = py_finish(p, node, &parts,
							 first);

		if (!clause) {
			return false;
		}
		py_push(p, kids, clause);
	}
	return true;
}

/* kids holds the element; "for" is next. */
static const struct py_node *
comprehension(struct py_parser *p, const char *what, struct py_nodes *kids,
	      int first, const char *end)
{
	struct py_node *node = py_node_new(p, PY_COMPREHENSION, first);

	node->text = what;
	if (!comprehension_clauses(p, kids) ||
	    (end && !py_expect(p, end, "the comprehension ends here"))) {
		return NULL;
	}
	return py_finish(p, node, kids, first);
}

static const struct py_node *
starred(struct py_parser *p)
{
	int first = p->at;

	if (py_accept(p, "*")) {
		return finish1(p, PY_STAR, NULL, py_disjunction(p), first);
	}
	return py_expression(p);
}

/* Elements up to the closing bracket, the first one read already. */
static bool
elements(struct py_parser *p, struct py_nodes *kids, const char *end)
{
	while (!py_at(p, end)) {
		if (!py_expect(
			    p, ",",
			    arena_printf(&p->module->arena,
					 "separate the elements, or close with "
					 "'%s'",
					 end))) {
			return false;
		}
		if (py_at(p, end)) {
			break;
		}
		const struct py_node *one = starred(p);

		if (!one) {
			return false;
		}
		py_push(p, kids, one);
	}
	p->at++;
	return true;
}

static const struct py_node *
list_display(struct py_parser *p)
{
	int first = p->at++;
	struct py_nodes kids = { NULL, 0, 0 };

	if (!py_at(p, "]")) {
		const struct py_node *one = starred(p);

		if (!one) {
			return NULL;
		}
		py_push(p, &kids, one);
		if (py_at(p, "for")) {
			return comprehension(p, "list", &kids, first, "]");
		}
	}
	if (kids.n == 0) {
		p->at++;
	} else if (!elements(p, &kids, "]")) {
		return NULL;
	}
	return py_finish(p, py_node_new(p, PY_LIST, first), &kids, first);
}

static const struct py_node *
parenthesis(struct py_parser *p)
{
	int first = p->at++;
	struct py_nodes kids = { NULL, 0, 0 };

	if (py_accept(p, ")")) {
		return py_finish(p, py_node_new(p, PY_TUPLE, first), &kids,
				 first);
	}
	const struct py_node *one = starred(p);

	if (!one) {
		return NULL;
	}
	if (py_at(p, ")") && one->kind != PY_STAR) {
		/* The parentheses belong to the span, for messages. */
		struct py_node *copy = arena_copy(&p->module->arena, one,
						  sizeof *one);

		p->at++;
		copy->span = p->tokens.data[first].span;
		copy->span.end_line = p->tokens.data[p->at - 1].span.end_line;
		copy->span.end_col = p->tokens.data[p->at - 1].span.end_col;
		copy->parenthesised = true;
		return copy;
	}
	py_push(p, &kids, one);
	if (py_at(p, "for")) {
		return comprehension(p, "tuple", &kids, first, ")");
	}
	if (!elements(p, &kids, ")")) {
		return NULL;
	}
	return py_finish(p, py_node_new(p, PY_TUPLE, first), &kids, first);
}

static bool
dict_entry(struct py_parser *p, struct py_nodes *kids)
{
	if (py_at(p, "**")) {
		py_refuse(p, py_here(p)->span, "'**' in a dict");
		return false;
	}
	const struct py_node *key = starred(p);

	if (!key) {
		return false;
	}
	py_push(p, kids, key);
	if (!py_accept(p, ":")) {
		return true; /* a set's element */
	}
	const struct py_node *value = py_expression(p);

	py_push(p, kids, value);
	return value != NULL;
}

static const struct py_node *
dict_display(struct py_parser *p)
{
	int first = p->at++;
	struct py_nodes kids = { NULL, 0, 0 };
	bool is_set = false;

	if (!py_at(p, "}")) {
		if (!dict_entry(p, &kids)) {
			return NULL;
		}
		is_set = kids.n == 1;
		if (py_at(p, "for")) {
			return comprehension(p, is_set ? "set" : "dict", &kids,
					     first, "}");
		}
	}
	while (!py_at(p, "}")) {
		int before = kids.n;

		if (!py_expect(p, ",",
			       "separate the entries, or close with "
			       "'}'")) {
			return NULL;
		}
		if (py_at(p, "}")) {
			break;
		}
		int entry = p->at;

		if (!dict_entry(p, &kids)) {
			return NULL;
		}
		if (kids.n - before != (is_set ? 1 : 2)) {
			py_fail(p, p->tokens.data[entry].span,
				"a dict's "
				"entry and a set's in one display; write "
				"'key: value' in all of them or in none");
			return NULL;
		}
	}
	p->at++;
	return py_finish(p, py_node_new(p, is_set ? PY_SET : PY_DICT, first),
			 &kids, first);
}

/* ---- atoms and what follows them */

static const struct py_node *
literal(struct py_parser *p, enum py_kind kind)
{
	int first = p->at;
	const struct py_token *t = py_here(p);
	struct py_node *node = py_node_new(p, kind, first);

	if (kind == PY_NAME || kind == PY_INT || kind == PY_FLOAT) {
		node->text = take_text(p, t);
		node->ival = t->ival;
		node->is_unsigned = t->is_unsigned;
		node->fval = t->fval;
	}
	p->at++;
	return py_finish(p, node, NULL, first);
}

static const struct py_node *
atom(struct py_parser *p)
{
	const struct py_token *t = py_here(p);

	switch (t->kind) {
	case PY_T_NAME:
		return literal(p, PY_NAME);
	case PY_T_INT:
		return literal(p, PY_INT);
	case PY_T_FLOAT:
		return literal(p, PY_FLOAT);
	case PY_T_STRING:
		return py_strings(p);
	case PY_T_OP:
		if (py_at(p, "(")) {
			return parenthesis(p);
		}
		if (py_at(p, "[")) {
			return list_display(p);
		}
		if (py_at(p, "{")) {
			return dict_display(p);
		}
		if (py_at(p, "...")) {
			return literal(p, PY_ELLIPSIS);
		}
		break;
	case PY_T_KEYWORD:
		if (py_at(p, "True")) {
			return literal(p, PY_TRUE);
		}
		if (py_at(p, "False")) {
			return literal(p, PY_FALSE);
		}
		if (py_at(p, "None")) {
			return literal(p, PY_NONE);
		}
		if (py_at(p, "await") || py_at(p, "yield")) {
			py_refuse(p, t->span,
				  arena_printf(&p->module->arena, "'%s'",
					       t->op));
			return NULL;
		}
		break;
	default:
		break;
	}
	py_fail(p, t->span,
		"an expression expected, not %s; write a value "
		"here",
		py_describe(p, t));
	return NULL;
}

static const struct py_node *
slice(struct py_parser *p)
{
	int first = p->at;
	struct py_node *node = py_node_new(p, PY_SLICE, first);
	struct py_nodes kids = { NULL, 0, 0 };
	bool is_slice = false;

	for (int part = 0; part < 3; part++) {
		const struct py_node *one = NULL;

		if (!py_at(p, ":") && !py_at(p, ",") && !py_at(p, "]")) {
			one = part == 0 ? starred(p) : py_expression(p);
			if (!one) {
				return NULL;
			}
		}
		py_push(p, &kids, one);
		if (part < 2 && !py_accept(p, ":")) {
			break;
		}
		is_slice |= part < 2;
	}
	if (!is_slice) {
		if (!kids.data[0]) {
			atom(p); /* which says what is missing */
		}
		return kids.data[0];
	}
	while (kids.n < 3) {
		py_push(p, &kids, NULL);
	}
	return py_finish(p, node, &kids, first);
}

static const struct py_node *
subscript(struct py_parser *p, const struct py_node *of, int first)
{
	int inside = ++p->at;
	struct py_nodes kids = { NULL, 0, 0 };
	bool comma = false;

	do {
		if (comma && py_at(p, "]")) {
			break;
		}
		const struct py_node *one = slice(p);

		if (!one) {
			return NULL;
		}
		py_push(p, &kids, one);
		comma |= py_at(p, ",");
	} while (py_accept(p, ","));

	const struct py_node *index = kids.data[0];

	if (comma) {
		index = py_finish(p, py_node_new(p, PY_TUPLE, inside), &kids,
				  inside);
	}
	if (!index || !py_expect(p, "]", "the index ends in it")) {
		return NULL;
	}
	return finish2(p, PY_SUBSCRIPT, NULL, of, index, first);
}

static const struct py_node *
keyword_argument(struct py_parser *p)
{
	int first = p->at;
	struct py_node *node = py_node_new(p, PY_KEYWORD, first);
	struct py_nodes kids = { NULL, 0, 0 };

	if (!py_accept(p, "**")) {
		node->text = take_text(p, py_here(p));
		p->at += 2;
	}
	const struct py_node *value = py_expression(p);

	if (!value) {
		return NULL;
	}
	py_push(p, &kids, value);
	return py_finish(p, node, &kids, first);
}

static bool
is_keyword_argument(const struct py_parser *p)
{
	const struct py_token *next = &p->tokens.data[p->at];

	return py_at(p, "**") || (next->kind == PY_T_NAME && next[1].op &&
				  strcmp(next[1].op, "=") == 0);
}

static bool
check_argument(struct py_parser *p, const struct py_nodes *kids,
	       const struct py_node *one)
{
	for (int i = 1; i < kids->n; i++) {
		const struct py_node *other = kids->data[i];

		if (other->kind != PY_KEYWORD) {
			continue;
		}
		if (one->kind != PY_KEYWORD && one->kind != PY_STAR) {
			py_fail(p, one->span,
				"an argument without a name "
				"behind one with a name; move it to the "
				"front");
			return false;
		}
		if (one->kind == PY_KEYWORD && one->text && other->text &&
		    strcmp(one->text, other->text) == 0) {
			py_fail(p, one->span,
				"the argument '%s' is given "
				"twice; give it once",
				one->text);
			return false;
		}
	}
	return true;
}

static const struct py_node *
call(struct py_parser *p, const struct py_node *callee, int first)
{
	struct py_nodes kids = { NULL, 0, 0 };

	py_push(p, &kids, callee);
	p->at++;
	while (!py_at(p, ")")) {
		int start = p->at;
		const struct py_node *one = is_keyword_argument(p)
						    ? keyword_argument(p)
						    : starred(p);

		if (one && py_at(p, "for")) {
			struct py_nodes inner = { NULL, 0, 0 };

			py_push(p, &inner, one);
			one = comprehension(p, "tuple", &inner, start, NULL);
		}
		if (!one || !check_argument(p, &kids, one)) {
			return NULL;
		}
		py_push(p, &kids, one);
		if (py_at(p, ")")) {
			break;
		}
		if (!py_expect(p, ",",
			       "separate the arguments, or close with "
			       "')'")) {
			return NULL;
		}
	}
	p->at++;
	return py_finish(p, py_node_new(p, PY_CALL, first), &kids, first);
}

static const struct py_node *
attribute(struct py_parser *p, const struct py_node *of, int first)
{
	struct py_node *node = py_node_new(p, PY_ATTRIBUTE, first);
	struct py_nodes kids = { NULL, 0, 0 };

	p->at++;
	if (py_here(p)->kind != PY_T_NAME) {
		py_fail(p, py_here(p)->span,
			"a name expected behind the dot, "
			"not %s; write which attribute is meant",
			py_describe(p, py_here(p)));
		return NULL;
	}
	node->text = take_text(p, py_here(p));
	p->at++;
	py_push(p, &kids, of);
	return py_finish(p, node, &kids, first);
}

static const struct py_node *
primary(struct py_parser *p)
{
	int first = p->at;

	if (!py_enter(p)) {
		return NULL;
	}
	const struct py_node *at = atom(p);

	while (at) {
		if (py_at(p, ".")) {
			at = attribute(p, at, first);
		} else if (py_at(p, "(")) {
			at = call(p, at, first);
		} else if (py_at(p, "[")) {
			at = subscript(p, at, first);
		} else {
			break;
		}
	}
	py_leave(p);
	return at;
}

/* ---- operators */

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
		return finish1(p, PY_UNARY, ops[i], of, first);
	}
	const struct py_node *base = primary(p);

	if (!base || !py_accept(p, "**")) {
		return base;
	}
	if (!py_enter(p)) {
		return NULL;
	}
	const struct py_node *exponent = unary(p);

	py_leave(p);
	return finish2(p, PY_BINARY, "**", base, exponent, first);
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
	return finish1(p, PY_UNARY, "not", of, first);
}

/* Operators of at least this strength, joined to the left. */
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
		left = finish2(p, PY_BINARY, t->op, left, operation(p, own + 1),
			       first);
	}
	return NULL;
}

static const struct py_node *
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

const struct py_node *
py_expression(struct py_parser *p)
{
	if (!py_enter(p)) {
		return NULL;
	}
	const struct py_node *node = py_at(p, "lambda") ? lambda(p)
							: conditional(p);

	py_leave(p);
	if (node && py_at(p, ":=")) {
		py_refuse(p, py_here(p)->span, "':='");
		return NULL;
	}
	return node;
}

/* Can an element of a list without brackets not begin here? */
static bool
ends_list(const struct py_parser *p)
{
	const struct py_token *t = py_here(p);

	return t->kind == PY_T_NEWLINE || t->kind == PY_T_END ||
	       py_at(p, "=") || py_at(p, ":") || py_at(p, ";") ||
	       py_at(p, ")") || py_at(p, "]") || py_at(p, "}") ||
	       py_at(p, "in");
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
	return bare_list(p, starred);
}

static const struct py_node *
target(struct py_parser *p)
{
	int first = p->at;

	if (py_accept(p, "*")) {
		return finish1(p, PY_STAR, NULL, primary(p), first);
	}
	return primary(p);
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
