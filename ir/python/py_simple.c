/* SPDX-License-Identifier: Apache-2.0 */
/* Parses Python's simple statements, which end with their line: assignments,
 * imports, return and others. */
#include "py_read.h"

static const struct py_node *
assignment(struct py_parser *p, const struct py_node *first_target, int first)
{
	struct py_nodes kids = { NULL, 0, 0 };
	const struct py_node *value = first_target;

	py_push(p, &kids, value);
	while (py_accept(p, "=")) {
		if (!py_check_target(p, value)) {
			return NULL;
		}
		value = py_expression_list(p);
		if (!value) {
			return NULL;
		}
		py_push(p, &kids, value);
	}
	return py_finish(p, py_node_new(p, PY_ASSIGN, first), &kids, first);
}

static const struct py_node *
annotated(struct py_parser *p, const struct py_node *target, int first)
{
	struct py_nodes kids = { NULL, 0, 0 };
	const struct py_node *type, *value = NULL;

	p->at++;
	if (target->kind == PY_TUPLE || target->kind == PY_LIST) {
		py_fail(p, target->span,
			"a type for several targets at once; "
			"give each a statement of its own");
		return NULL;
	}
	if (!py_check_target(p, target) || !(type = py_expression(p)) ||
	    (py_accept(p, "=") && !(value = py_expression_list(p)))) {
		return NULL;
	}
	py_push(p, &kids, target);
	py_push(p, &kids, type);
	py_push(p, &kids, value);
	return py_finish(p, py_node_new(p, PY_ANNOTATED, first), &kids, first);
}

static const struct py_node *
augmented(struct py_parser *p, const struct py_node *target, const char *op,
	  int first)
{
	struct py_node *node = py_node_new(p, PY_AUGMENTED, first);
	struct py_nodes kids = { NULL, 0, 0 };
	const struct py_node *value;

	if (target->kind == PY_TUPLE || target->kind == PY_LIST) {
		py_fail(p, target->span,
			"'%s=' on several targets at once; "
			"give each a statement of its own",
			op);
		return NULL;
	}
	p->at++;
	if (!py_check_target(p, target) || !(value = py_expression_list(p))) {
		return NULL;
	}
	node->op = op;
	py_push(p, &kids, target);
	py_push(p, &kids, value);
	return py_finish(p, node, &kids, first);
}

/* If the next token is an augmented assignment such as "+=": its operator, "+";
 * else NULL. */
static const char *
augmented_operator(const struct py_parser *p)
{
	static const char *const ops[] = {
		"+", "-", "*", "/",  "//", "%",  "@",
		"&", "|", "^", ">>", "<<", "**",
	};
	const char *here = py_here(p)->op;

	for (size_t i = 0; here && i < sizeof ops / sizeof *ops; i++) {
		size_t n = strlen(ops[i]);

		if (strncmp(here, ops[i], n) == 0 &&
		    strcmp(here + n, "=") == 0) {
			return ops[i];
		}
	}
	return NULL;
}

static const struct py_node *
expression_statement(struct py_parser *p)
{
	int first = p->at;
	const struct py_node *value = py_expression_list(p);
	struct py_nodes kids = { NULL, 0, 0 };

	if (!value) {
		return NULL;
	}
	if (py_at(p, "=")) {
		return assignment(p, value, first);
	}
	if (py_at(p, ":")) {
		return annotated(p, value, first);
	}
	const char *op = augmented_operator(p);

	if (op) {
		return augmented(p, value, op, first);
	}
	py_push(p, &kids, value);
	return py_finish(p, py_node_new(p, PY_EXPRESSION, first), &kids, first);
}

static const char *
dotted_name(struct py_parser *p)
{
	const char *name = py_take_name(p, "an import needs a module");

	while (name && py_accept(p, ".")) {
		const char *more = py_take_name(p,
						"a module's name ends in one");

		if (!more) {
			return NULL;
		}
		name = arena_printf(&p->module->arena, "%s.%s", name, more);
	}
	return name;
}

/* Reads `path [as name], …`. `modules`: each path is a module's, which may have
 * dots. False after an error. */
static bool
import_names(struct py_parser *p, struct py_node *node, bool modules)
{
	bool parenthesised = !modules && py_accept(p, "(");
	VEC(struct py_import) list = { NULL, 0, 0 };

	do {
		struct py_import one = { .span = py_here(p)->span };

		if (parenthesised && py_at(p, ")")) {
			break;
		}
		if (!modules && py_accept(p, "*")) {
			one.path = "*";
		} else {
			one.path = modules ? dotted_name(p)
					   : py_take_name(p, "name what to "
							     "import");
			one.name = modules ? NULL : one.path;
		}
		if (!one.path) {
			return false;
		}
		if (py_accept(p, "as") &&
		    !(one.name = py_take_name(p, "'as' needs the name to "
						 "use here"))) {
			return false;
		}
		vec_push(&p->module->arena, &list, one);
	} while (py_accept(p, ","));
	node->names = list.data;
	node->n_names = list.n;
	return !parenthesised ||
	       py_expect(p, ")", "the list of names ends in it");
}

static const struct py_node *
import_statement(struct py_parser *p)
{
	int first = p->at;
	struct py_node *node = py_node_new(p, PY_IMPORT, first);

	if (py_accept(p, "import")) {
		return import_names(p, node, true)
			       ? py_finish(p, node, NULL, first)
			       : NULL;
	}
	p->at++;
	if (py_at(p, ".") || py_at(p, "...")) {
		py_refuse(p, py_here(p)->span,
			  "an import relative to a "
			  "package");
		return NULL;
	}
	node->text = dotted_name(p);
	if (!node->text ||
	    !py_expect(p, "import", "it is 'from module import name'") ||
	    !import_names(p, node, false)) {
		return NULL;
	}
	return py_finish(p, node, NULL, first);
}

/* Reads return, raise or assert: a keyword, and expressions up to the line's
 * end. */
static const struct py_node *
keyword_statement(struct py_parser *p, enum py_kind kind)
{
	int first = p->at++;
	struct py_nodes kids = { NULL, 0, 0 };
	const struct py_node *value = NULL, *message = NULL;
	bool bare = py_here(p)->kind == PY_T_NEWLINE || py_at(p, ";");

	if (kind == PY_RETURN && !bare && !(value = py_expression_list(p))) {
		return NULL;
	}
	if (kind == PY_RAISE && !bare && !(value = py_expression(p))) {
		return NULL;
	}
	/* `from` names what caused the exception, which only a traceback shows */
	if (kind == PY_RAISE && py_accept(p, "from") && !py_expression(p)) {
		return NULL;
	}
	if (kind == PY_ASSERT) {
		if (!(value = py_expression(p)) ||
		    (py_accept(p, ",") && !(message = py_expression(p)))) {
			return NULL;
		}
	}
	py_push(p, &kids, value);
	if (kind == PY_ASSERT) {
		py_push(p, &kids, message);
	}
	return py_finish(p, py_node_new(p, kind, first), &kids, first);
}

/* global x, y and nonlocal x, y */
static const struct py_node *
scope_statement(struct py_parser *p)
{
	int first = p->at;
	struct py_node *node = py_node_new(p, PY_GLOBAL, first);
	struct py_nodes kids = { NULL, 0, 0 };

	node->text = py_here(p)->op;
	p->at++;
	do {
		int at = p->at;
		struct py_node *name = py_node_new(p, PY_NAME, at);

		name->text = py_take_name(p, "it is 'global name'");
		if (!name->text) {
			return NULL;
		}
		py_push(p, &kids, py_finish(p, name, NULL, at));
	} while (py_accept(p, ","));
	return py_finish(p, node, &kids, first);
}

static const struct py_node *
delete_statement(struct py_parser *p)
{
	int first = p->at++;
	const struct py_node *target = py_target_list(p);

	return target ? py_finish1(p, PY_DELETE, NULL, target, first) : NULL;
}

static const struct py_node *
word_statement(struct py_parser *p, enum py_kind kind)
{
	int first = p->at++;

	return py_finish(p, py_node_new(p, kind, first), NULL, first);
}

static const struct py_node *
simple_statement(struct py_parser *p)
{
	static const char *const refused[] = {
		"async",
		"await",
		"except",
		"finally",
	};

	if (py_at(p, "return")) {
		return keyword_statement(p, PY_RETURN);
	}
	if (py_at(p, "raise")) {
		return keyword_statement(p, PY_RAISE);
	}
	if (py_at(p, "assert")) {
		return keyword_statement(p, PY_ASSERT);
	}
	if (py_at(p, "import") || py_at(p, "from")) {
		return import_statement(p);
	}
	if (py_at(p, "global") || py_at(p, "nonlocal")) {
		return scope_statement(p);
	}
	if (py_at(p, "del")) {
		return delete_statement(p);
	}
	if (py_at(p, "pass")) {
		return word_statement(p, PY_PASS);
	}
	if (py_at(p, "break")) {
		return word_statement(p, PY_BREAK);
	}
	if (py_at(p, "continue")) {
		return word_statement(p, PY_CONTINUE);
	}
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		if (py_at(p, refused[i])) {
			py_refuse(p, py_here(p)->span,
				  arena_printf(&p->module->arena, "'%s'",
					       refused[i]));
			return NULL;
		}
	}
	return expression_statement(p);
}

/* Reads the simple statements of one line, which ";" separates. False after an
 * error. */
bool
py_simple_statements(struct py_parser *p, struct py_nodes *out)
{
	do {
		if (py_here(p)->kind == PY_T_NEWLINE) {
			break;
		}
		const struct py_node *one = simple_statement(p);

		if (!one) {
			return false;
		}
		py_push(p, out, one);
	} while (py_accept(p, ";"));
	if (py_here(p)->kind != PY_T_NEWLINE) {
		py_fail(p, py_here(p)->span,
			"%s where the statement should "
			"end; begin a new line, or see what is missing "
			"before it",
			py_describe(p, py_here(p)));
		return false;
	}
	p->at++;
	return true;
}
