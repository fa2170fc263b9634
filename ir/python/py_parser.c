/* SPDX-License-Identifier: Apache-2.0 */
/* The base of the parser of Python, which the files for its grammar share: the
 * current token, errors, nodes. */
#include "py_read.h"

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

const struct py_node *
py_finish1(struct py_parser *p, enum py_kind kind, const char *op,
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

const struct py_node *
py_finish2(struct py_parser *p, enum py_kind kind, const char *op,
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

const char *
py_text(struct py_parser *p, const struct py_token *t)
{
	return arena_strndup(&p->module->arena, t->text, t->length);
}
