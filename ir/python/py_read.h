/* SPDX-License-Identifier: Apache-2.0 */
/* State shared by the parts of the Python reader: tokens, and the parser that
 * walks them. Private to ir/python/py_*.c. */
#ifndef TIRC_PY_READ_H
#define TIRC_PY_READ_H

#include "python.h"

enum py_token_kind {
	PY_T_END,
	PY_T_NEWLINE,
	PY_T_INDENT,
	PY_T_DEDENT,
	PY_T_NAME,
	PY_T_INT,
	PY_T_FLOAT,
	PY_T_STRING,
	PY_T_OP,     /* op: "+", "(", … */
	PY_T_KEYWORD /* op: "def", "not", … */
};

struct py_token {
	enum py_token_kind kind;
	struct py_span span;
	const char *text; /* in the source; a string's without its quotes */
	size_t length;
	const char *op;
	int64_t ival;
	double fval;
	bool is_unsigned;
	bool raw, format; /* strings: r"", f"" */
	int line, col;    /* of text */
};

struct py_tokens {
	struct py_token *data;
	int n, cap;
};

/* The lexer's position; the expressions of an f-string have a lexer of their
 * own. */
struct py_lexer {
	struct module *module;
	const struct source *src;
	size_t at, end;
	int line;
	size_t line_start; /* offset of the line's first byte */
	int brackets;      /* open ones: inside, line ends are white space */
	struct py_tokens tokens;
};

/* All tokens of the text, ending in PY_T_END. */
bool py_lex(struct py_lexer *lex);
/* The tokens of [at, end), read as if in brackets. */
bool py_lex_inside(struct py_lexer *lex);

enum {
	PY_MAX_NESTING = 120, /* depth of brackets and suites */
	PY_MAX_HEIGHT = 400   /* of a tree; long chains count too */
};

struct py_parser {
	struct module *module;
	const struct source *src;
	struct py_tokens tokens;
	int at;
	int nesting;
	bool failed;
};

struct py_nodes {
	const struct py_node **data;
	int n, cap;
};

/* Tokens. */
const struct py_token *py_here(const struct py_parser *p);
bool py_at(const struct py_parser *p, const char *op); /* operator, keyword */
bool py_accept(struct py_parser *p, const char *op);
/* Skips op, or reports "'X' expected, not …; why". */
bool py_expect(struct py_parser *p, const char *op, const char *why);
/* The token in words, for a message. */
const char *py_describe(struct py_parser *p, const struct py_token *t);
const char *py_text(struct py_parser *p, const struct py_token *t);
/* The name here; an error that ends in `what` if there is none. */
const char *py_take_name(struct py_parser *p, const char *what);
/* Reports once at a span; all further errors of the text are dropped. */
void py_fail(struct py_parser *p, struct py_span at, const char *fmt, ...)
	TIRC_PRINTF(3, 4);
/* Reports a construct that tirc does not read, by its name. */
void py_refuse(struct py_parser *p, struct py_span at, const char *what);
bool py_enter(struct py_parser *p); /* one level deeper, or an error */
void py_leave(struct py_parser *p);

/* Nodes. The start is a token's index; the end is what was read last. */
struct py_node *py_node_new(struct py_parser *p, enum py_kind kind,
			    int first_token);
void py_push(struct py_parser *p, struct py_nodes *list,
	     const struct py_node *node);
/* Sets the children, measures the height and the span. NULL if too high. */
const struct py_node *py_finish(struct py_parser *p, struct py_node *node,
				const struct py_nodes *kids, int first_token);
/* A node of one child or two; NULL if one of them is NULL. */
const struct py_node *py_finish1(struct py_parser *p, enum py_kind kind,
				 const char *op, const struct py_node *a,
				 int first_token);
const struct py_node *py_finish2(struct py_parser *p, enum py_kind kind,
				 const char *op, const struct py_node *a,
				 const struct py_node *b, int first_token);

/* Grammar; NULL after an error. */
const struct py_node *py_expression(struct py_parser *p);
/* No lambda, no conditional. */
const struct py_node *py_disjunction(struct py_parser *p);
/* An expression, or one behind a star. */
const struct py_node *py_starred(struct py_parser *p);
/* A name, literal or display with the calls, indices and attributes behind. */
const struct py_node *py_primary(struct py_parser *p);
/* One, or a tuple without parentheses; stars allowed. */
const struct py_node *py_expression_list(struct py_parser *p);
const struct py_node *py_target(struct py_parser *p);
/* Targets of for: one, or a tuple without parentheses. */
const struct py_node *py_target_list(struct py_parser *p);
bool py_parameters(struct py_parser *p, bool annotated, const char *end,
		   struct py_node *node);
/* Adjacent string tokens as one node. */
const struct py_node *py_strings(struct py_parser *p);
bool py_check_target(struct py_parser *p, const struct py_node *target);
/* The simple statements of one line. */
bool py_simple_statements(struct py_parser *p, struct py_nodes *out);

#endif
