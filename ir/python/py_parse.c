/* SPDX-License-Identifier: Apache-2.0 */
/* Parses Python's compound statements, which contain other statements, and the
 * file as a whole. */
#include "py_read.h"

static const struct py_node *statement_suite(struct py_parser *p,
					     const char *what);

const char *
py_take_name(struct py_parser *p, const char *what)
{
	const struct py_token *t = py_here(p);

	if (t->kind != PY_T_NAME) {
		py_fail(p, t->span, "a name expected, not %s; %s",
			py_describe(p, t), what);
		return NULL;
	}
	p->at++;
	return py_text(p, t);
}

bool
py_check_target(struct py_parser *p, const struct py_node *t)
{
	switch (t->kind) {
	case PY_NAME:
	case PY_ATTRIBUTE:
	case PY_SUBSCRIPT:
		return true;
	case PY_STAR:
	case PY_TUPLE:
	case PY_LIST:
		for (int i = 0; i < t->n_kids; i++) {
			if (!py_check_target(p, t->kids[i])) {
				return false;
			}
		}
		return true;
	default:
		py_fail(p, t->span,
			"a value that nothing can be assigned to; "
			"assign to a name, an element or an attribute");
		return false;
	}
}

/* ---- parameters */

struct py_params {
	struct py_param *data;
	int n, cap;
};

static bool
add_param(struct py_parser *p, struct py_node *node, struct py_params *list,
	  const struct py_param *param)
{
	for (int i = 0; i < node->n_params; i++) {
		if (strcmp(node->params[i].name, param->name) == 0) {
			py_fail(p, param->span,
				"a second parameter named "
				"'%s'; give it another name",
				param->name);
			return false;
		}
	}
	vec_push(&p->module->arena, list, *param);
	node->params = list->data;
	node->n_params = list->n;
	return true;
}

static bool
check_order(struct py_parser *p, const struct py_node *node,
	    const struct py_param *param)
{
	for (int i = 0; i < node->n_params; i++) {
		const struct py_param *other = &node->params[i];

		if (other->kind == PY_PARAM_DOUBLE_STAR) {
			py_fail(p, param->span,
				"a parameter behind '**%s'; "
				"move it in front",
				other->name);
			return false;
		}
		if (other->initial && !other->keyword_only && !param->initial &&
		    !param->keyword_only && param->kind == PY_PARAM_PLAIN) {
			py_fail(p, param->span,
				"a parameter without a value "
				"of its own behind one with such a value; "
				"give it one, or move it in front");
			return false;
		}
	}
	return true;
}

bool
py_parameters(struct py_parser *p, bool annotated, const char *end,
	      struct py_node *node)
{
	bool keyword_only = false;
	struct py_params list = { NULL, 0, 0 };

	while (!py_at(p, end)) {
		struct py_param param = { .span = py_here(p)->span };

		if (py_accept(p, "/")) {
			/* the parameters before the / are positional only,
			 * which makes no difference here */
		} else if (py_at(p, "*") && (py_here(p)[1].kind != PY_T_NAME)) {
			p->at++;
			keyword_only = true;
		} else {
			if (py_accept(p, "**")) {
				param.kind = PY_PARAM_DOUBLE_STAR;
			} else if (py_accept(p, "*")) {
				param.kind = PY_PARAM_STAR;
			}
			param.span = py_here(p)->span;
			param.name = py_take_name(p, "a parameter is a name");
			if (!param.name) {
				return false;
			}
			if (annotated && py_accept(p, ":") &&
			    !(param.annotation = py_expression(p))) {
				return false;
			}
			if (py_accept(p, "=") &&
			    !(param.initial = py_expression(p))) {
				return false;
			}
			param.keyword_only = keyword_only &&
					     param.kind == PY_PARAM_PLAIN;
			if (!check_order(p, node, &param) ||
			    !add_param(p, node, &list, &param)) {
				return false;
			}
			keyword_only |= param.kind == PY_PARAM_STAR;
		}
		if (!py_at(p, end) &&
		    !py_expect(
			    p, ",",
			    arena_printf(
				    &p->module->arena,
				    "separate the parameters, or end them with "
				    "'%s'",
				    end))) {
			return false;
		}
	}
	return true;
}

/* ---- compound statements */

static bool
no_else(struct py_parser *p, const char *loop)
{
	if (py_at(p, "else")) {
		py_refuse(p, py_here(p)->span, loop);
		return false;
	}
	return true;
}

static const struct py_node *
if_statement(struct py_parser *p)
{
	int first = p->at++;
	struct py_nodes kids = { NULL, 0, 0 };
	const struct py_node *condition = py_expression(p), *then;
	const struct py_node *otherwise = NULL;

	if (!condition || !(then = statement_suite(p, "the condition"))) {
		return NULL;
	}
	if (py_at(p, "elif")) {
		if (!py_enter(p)) {
			return NULL;
		}
		otherwise = if_statement(p);
		py_leave(p);
		if (!otherwise) {
			return NULL;
		}
	} else if (py_accept(p, "else") &&
		   !(otherwise = statement_suite(p, "'else'"))) {
		return NULL;
	}
	py_push(p, &kids, condition);
	py_push(p, &kids, then);
	py_push(p, &kids, otherwise);
	return py_finish(p, py_node_new(p, PY_IF, first), &kids, first);
}

static const struct py_node *
for_statement(struct py_parser *p)
{
	int first = p->at++;
	struct py_nodes kids = { NULL, 0, 0 };
	const struct py_node *target = py_target_list(p), *list, *suite;

	if (!target || !py_expect(p, "in", "a loop is 'for name in list:'") ||
	    !(list = py_expression_list(p)) ||
	    !(suite = statement_suite(p, "the list")) ||
	    !no_else(p, "'else' of a for loop")) {
		return NULL;
	}
	py_push(p, &kids, target);
	py_push(p, &kids, list);
	py_push(p, &kids, suite);
	return py_finish(p, py_node_new(p, PY_FOR, first), &kids, first);
}

static const struct py_node *
while_statement(struct py_parser *p)
{
	int first = p->at++;
	struct py_nodes kids = { NULL, 0, 0 };
	const struct py_node *condition = py_expression(p), *suite;

	if (!condition || !(suite = statement_suite(p, "the condition")) ||
	    !no_else(p, "'else' of a while loop")) {
		return NULL;
	}
	py_push(p, &kids, condition);
	py_push(p, &kids, suite);
	return py_finish(p, py_node_new(p, PY_WHILE, first), &kids, first);
}

static const struct py_node *
with_item(struct py_parser *p)
{
	int first = p->at;
	const struct py_node *value = py_expression(p), *target;
	struct py_nodes kids = { NULL, 0, 0 };

	if (!value || !py_accept(p, "as")) {
		return value;
	}
	target = py_target(p);
	if (!target) {
		return NULL;
	}
	py_push(p, &kids, value);
	py_push(p, &kids, target);
	return py_finish(p, py_node_new(p, PY_AS, first), &kids, first);
}

/* Do the parentheses that open here enclose all items of a `with`? */
static bool
items_in_parentheses(const struct py_parser *p)
{
	int depth = 0;

	if (!py_at(p, "(")) {
		return false;
	}
	for (int i = p->at; i < p->tokens.n; i++) {
		const char *op = p->tokens.data[i].op;

		if (!op || p->tokens.data[i].kind != PY_T_OP || op[1]) {
			continue;
		}
		depth += strchr("([{", *op) != NULL;
		depth -= strchr(")]}", *op) != NULL;
		if (depth == 0) {
			const char *next = p->tokens.data[i + 1].op;

			return next && strcmp(next, ":") == 0;
		}
	}
	return false;
}

static const struct py_node *
with_statement(struct py_parser *p)
{
	int first = p->at++;
	struct py_nodes kids = { NULL, 0, 0 };
	bool parentheses = items_in_parentheses(p);

	p->at += parentheses;
	do {
		if (parentheses && kids.n > 0 && py_at(p, ")")) {
			break;
		}
		const struct py_node *item = with_item(p);

		if (!item) {
			return NULL;
		}
		py_push(p, &kids, item);
	} while (py_accept(p, ","));
	if (parentheses && !py_expect(p, ")", "the items end in it")) {
		return NULL;
	}
	const struct py_node *suite = statement_suite(p, "the items");

	if (!suite) {
		return NULL;
	}
	py_push(p, &kids, suite);
	return py_finish(p, py_node_new(p, PY_WITH, first), &kids, first);
}

/* Reads "except Class as name: …". */
static const struct py_node *
handler(struct py_parser *p)
{
	int first = p->at++;
	struct py_node *node = py_node_new(p, PY_EXCEPT, first);
	struct py_nodes kids = { NULL, 0, 0 };
	const struct py_node *type = NULL, *suite;

	if (py_at(p, "*")) {
		py_refuse(p, py_here(p)->span, "'except*'");
		return NULL;
	}
	if (!py_at(p, ":") && !(type = py_expression(p))) {
		return NULL;
	}
	if (type && py_accept(p, "as") &&
	    !(node->text = py_take_name(p, "'as' needs the name to use"))) {
		return NULL;
	}
	suite = statement_suite(p, "'except'");
	if (!suite) {
		return NULL;
	}
	py_push(p, &kids, type);
	py_push(p, &kids, suite);
	return py_finish(p, node, &kids, first);
}

static const struct py_node *
try_statement(struct py_parser *p)
{
	int first = p->at++;
	struct py_nodes kids = { NULL, 0, 0 };

	for (int i = 0; i < 3; i++) {
		py_push(p, &kids, NULL);
	}
	kids.data[0] = statement_suite(p, "'try'");
	if (!kids.data[0]) {
		return NULL;
	}
	while (py_at(p, "except")) {
		const struct py_node *one = handler(p);

		if (!one) {
			return NULL;
		}
		py_push(p, &kids, one);
	}
	if (kids.n > 3 && py_accept(p, "else") &&
	    !(kids.data[1] = statement_suite(p, "'else'"))) {
		return NULL;
	}
	if (py_accept(p, "finally") &&
	    !(kids.data[2] = statement_suite(p, "'finally'"))) {
		return NULL;
	}
	if (kids.n == 3 && !kids.data[2]) {
		py_fail(p, py_here(p)->span,
			"'except' or 'finally' expected, not %s; one of them "
			"follows a 'try'",
			py_describe(p, py_here(p)));
		return NULL;
	}
	return py_finish(p, py_node_new(p, PY_TRY, first), &kids, first);
}

static const struct py_node *
definition(struct py_parser *p, const struct py_nodes *decorators, int first)
{
	struct py_node *node = py_node_new(p, PY_DEF, first);
	struct py_nodes kids = { NULL, 0, 0 };
	const struct py_node *suite, *result = NULL;
	bool outer = p->yields;

	p->at++;
	node->decorators = decorators->data;
	node->n_decorators = decorators->n;
	node->text = py_take_name(p, "a function needs one");
	if (!node->text ||
	    !py_expect(p, "(", "the parameters follow the name") ||
	    !py_parameters(p, true, ")", node)) {
		return NULL;
	}
	p->at++;
	if (py_accept(p, "->") && !(result = py_expression(p))) {
		return NULL;
	}
	p->yields = false;
	suite = statement_suite(p, "the parameters");
	node->is_generator = p->yields;
	p->yields = outer;
	if (!suite) {
		return NULL;
	}
	py_push(p, &kids, suite);
	py_push(p, &kids, result);
	return py_finish(p, node, &kids, first);
}

/* Reads the bases of a class and the closing parenthesis. False after an
 * error. */
static bool
class_bases(struct py_parser *p, struct py_nodes *kids)
{
	while (!py_at(p, ")")) {
		const struct py_node *base = py_expression(p);

		if (!base) {
			return false;
		}
		py_push(p, kids, base);
		if (!py_at(p, ")") &&
		    !py_expect(p, ",",
			       "separate the bases, or close with ')'")) {
			return false;
		}
	}
	p->at++;
	return true;
}

static const struct py_node *
class_definition(struct py_parser *p, const struct py_nodes *decorators,
		 int first)
{
	struct py_node *node = py_node_new(p, PY_CLASS, first);
	struct py_nodes kids = { NULL, 0, 0 };

	p->at++;
	node->decorators = decorators->data;
	node->n_decorators = decorators->n;
	node->text = py_take_name(p, "a class needs one");
	if (!node->text) {
		return NULL;
	}
	py_push(p, &kids, NULL);
	if (py_accept(p, "(") && !class_bases(p, &kids)) {
		return NULL;
	}
	kids.data[0] = statement_suite(p, "the name");
	return kids.data[0] ? py_finish(p, node, &kids, first) : NULL;
}

static const struct py_node *
decorated(struct py_parser *p)
{
	struct py_nodes decorators = { NULL, 0, 0 };

	while (py_accept(p, "@")) {
		const struct py_node *one = py_expression(p);

		if (!one) {
			return NULL;
		}
		if (py_here(p)->kind != PY_T_NEWLINE) {
			py_fail(p, py_here(p)->span,
				"%s behind a decorator; "
				"begin a new line",
				py_describe(p, py_here(p)));
			return NULL;
		}
		p->at++;
		py_push(p, &decorators, one);
	}
	if (py_at(p, "def")) {
		return definition(p, &decorators, p->at);
	}
	if (py_at(p, "class")) {
		return class_definition(p, &decorators, p->at);
	}
	if (py_at(p, "async")) {
		py_refuse(p, py_here(p)->span, "'async'");
		return NULL;
	}
	py_fail(p, py_here(p)->span,
		"a decorator before %s; it belongs "
		"directly above a 'def' or a 'class'",
		py_describe(p, py_here(p)));
	return NULL;
}

static const struct py_node *
compound_statement(struct py_parser *p)
{
	static const struct py_nodes none = { NULL, 0, 0 };

	if (py_at(p, "if")) {
		return if_statement(p);
	}
	if (py_at(p, "for")) {
		return for_statement(p);
	}
	if (py_at(p, "while")) {
		return while_statement(p);
	}
	if (py_at(p, "with")) {
		return with_statement(p);
	}
	if (py_at(p, "try")) {
		return try_statement(p);
	}
	if (py_at(p, "def")) {
		return definition(p, &none, p->at);
	}
	if (py_at(p, "class")) {
		return class_definition(p, &none, p->at);
	}
	return decorated(p);
}

static bool
statements(struct py_parser *p, struct py_nodes *out)
{
	static const char *const compound[] = {
		"if", "for", "while", "with", "try", "def", "class", "@",
	};

	for (size_t i = 0; i < sizeof compound / sizeof *compound; i++) {
		if (py_at(p, compound[i])) {
			const struct py_node *one = compound_statement(p);

			py_push(p, out, one);
			return one != NULL;
		}
	}
	if (py_here(p)->kind == PY_T_INDENT) {
		py_fail(p, (py_here(p) + 1)->span,
			"a line indented deeper "
			"than its neighbours; align it with them");
		return false;
	}
	return py_simple_statements(p, out);
}

/* Reads ": statements" on the same line, or ":" and an indented block. */
static const struct py_node *
statement_suite(struct py_parser *p, const char *what)
{
	struct py_nodes kids = { NULL, 0, 0 };
	bool good = true;

	if (!py_expect(p, ":",
		       arena_printf(&p->module->arena, "it follows %s",
				    what)) ||
	    !py_enter(p)) {
		return NULL;
	}
	int first = p->at;

	if (py_here(p)->kind != PY_T_NEWLINE) {
		good = py_simple_statements(p, &kids);
	} else {
		p->at++;
		if (py_here(p)->kind != PY_T_INDENT) {
			py_fail(p, py_here(p)->span,
				"an indented line "
				"expected behind the ':' of line %d, not %s; "
				"indent the suite, or write 'pass'",
				p->tokens.data[first - 1].span.line,
				py_describe(p, py_here(p)));
			return NULL;
		}
		first = ++p->at;
		while (good && py_here(p)->kind != PY_T_DEDENT) {
			good = statements(p, &kids);
		}
		p->at += good;
	}
	py_leave(p);
	return good ? py_finish(p, py_node_new(p, PY_SUITE, first), &kids,
				first)
		    : NULL;
}

static const struct py_node *
py_suite_of_file(struct py_parser *p)
{
	struct py_nodes kids = { NULL, 0, 0 };

	while (py_here(p)->kind != PY_T_END) {
		if (!statements(p, &kids)) {
			return NULL;
		}
	}
	return py_finish(p, py_node_new(p, PY_SUITE, 0), &kids, 0);
}

const struct py_node *
py_parse(struct module *m, const struct source *src)
{
	struct py_lexer lex = {
		.module = m,
		.src = src,
		.end = src->length,
		.line = 1,
	};

	if (!py_lex(&lex)) {
		return NULL;
	}
	struct py_parser p = {
		.module = m,
		.src = src,
		.tokens = lex.tokens,
	};

	return py_suite_of_file(&p);
}
