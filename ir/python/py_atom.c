/* SPDX-License-Identifier: Apache-2.0 */
/* The expressions of Python that operators join: names, numbers, displays,
 * comprehensions, and the calls, indices and attributes that follow them. */
#include "py_read.h"

/* ---- displays and comprehensions */

/* Reads "for target in list if condition …", any number of times, and adds a
 * PY_FOR_CLAUSE for each to kids. False after an error. */
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

/* Reads the clauses of a comprehension; kids holds its element, and "for" is
 * the next token. */
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

const struct py_node *
py_starred(struct py_parser *p)
{
	int first = p->at;

	if (py_accept(p, "*")) {
		return py_finish1(p, PY_STAR, NULL, py_disjunction(p), first);
	}
	return py_expression(p);
}

/* Reads elements up to the closing bracket `end`. The first element was already
 * read. */
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
		const struct py_node *one = py_starred(p);

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
		const struct py_node *one = py_starred(p);

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
	const struct py_node *one = py_starred(p);

	if (!one) {
		return NULL;
	}
	if (py_at(p, ")") && one->kind != PY_STAR) {
		/* a copy of the expression, whose span has the parentheses, for
		 * messages */
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
	const struct py_node *key = py_starred(p);

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
		node->text = py_text(p, t);
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
		if (py_at(p, "await")) {
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
			one = part == 0 ? py_starred(p) : py_expression(p);
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
			atom(p); /* reports that an index is missing */
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
	return py_finish2(p, PY_SUBSCRIPT, NULL, of, index, first);
}

static const struct py_node *
keyword_argument(struct py_parser *p)
{
	int first = p->at;
	struct py_node *node = py_node_new(p, PY_KEYWORD, first);
	struct py_nodes kids = { NULL, 0, 0 };

	if (!py_accept(p, "**")) {
		node->text = py_text(p, py_here(p));
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
						    : py_starred(p);

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
	node->text = py_text(p, py_here(p));
	p->at++;
	py_push(p, &kids, of);
	return py_finish(p, node, &kids, first);
}

const struct py_node *
py_primary(struct py_parser *p)
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
