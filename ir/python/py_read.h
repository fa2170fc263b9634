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
	const char *text; /* the token's first byte in the source; of a string,
			   * the byte after its prefix and quotes */
	size_t length;
	const char *op;
	int64_t ival;
	double fval;
	bool is_unsigned;
	bool raw, format; /* of strings: r"", f"" */
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
	int brackets;      /* the number of open brackets; inside of brackets,
			    * ends of lines are white space */
	struct py_tokens tokens;
};

/* Reads all tokens of the text; the last token is PY_T_END. False after an
 * error. */
bool py_lex(struct py_lexer *lex);
/* Reads the tokens of [at, end) as if they were in brackets. False after an
 * error. */
bool py_lex_inside(struct py_lexer *lex);

enum {
	PY_MAX_NESTING = 120, /* the largest depth of brackets and suites */
	PY_MAX_HEIGHT = 400   /* the largest height of a tree; a long chain such
			       * as a + b + … makes a high one */
};

struct py_parser {
	struct module *module;
	const struct source *src;
	struct py_tokens tokens;
	int at;
	int nesting;
	bool yields; /* the function that is read has a yield */
	bool failed;
};

struct py_nodes {
	const struct py_node **data;
	int n, cap;
};

/* Tokens. */
const struct py_token *py_here(const struct py_parser *p);
/* is the next token this operator or keyword? */
bool py_at(const struct py_parser *p, const char *op);
bool py_accept(struct py_parser *p, const char *op);
/* Skips op; if another token is here, reports "'X' expected, not …; why". False
 * after an error. */
bool py_expect(struct py_parser *p, const char *op, const char *why);
/* The token in words, for a message: "the end of the line". */
const char *py_describe(struct py_parser *p, const struct py_token *t);
const char *py_text(struct py_parser *p, const struct py_token *t);
/* Reads the next token, which must be a name; if it is not, reports an error
 * that ends in `what`. Returns the name, or NULL. */
const char *py_take_name(struct py_parser *p, const char *what);
/* Reports an error at a span, unless the parser has already reported an error
 * for this text. */
void py_fail(struct py_parser *p, struct py_span at, const char *fmt, ...)
	TIRC_PRINTF(3, 4);
/* Reports that tirc does not read this construct of Python; what: its name. */
void py_refuse(struct py_parser *p, struct py_span at, const char *what);
/* goes one level deeper in the nesting; an error if the text is nested too
 * deeply */
bool py_enter(struct py_parser *p);
void py_leave(struct py_parser *p);

/* Nodes. A node's span begins at a token, given by its index, and ends at the
 * last token that was read. */
struct py_node *py_node_new(struct py_parser *p, enum py_kind kind,
			    int first_token);
void py_push(struct py_parser *p, struct py_nodes *list,
	     const struct py_node *node);
/* Sets the node's children, its height and its span, and returns the node. NULL
 * after an error if the tree is too high. */
const struct py_node *py_finish(struct py_parser *p, struct py_node *node,
				const struct py_nodes *kids, int first_token);
/* A node with one child, or with two; NULL if a child is NULL, after an
 * error. */
const struct py_node *py_finish1(struct py_parser *p, enum py_kind kind,
				 const char *op, const struct py_node *a,
				 int first_token);
const struct py_node *py_finish2(struct py_parser *p, enum py_kind kind,
				 const char *op, const struct py_node *a,
				 const struct py_node *b, int first_token);

/* The parts of the grammar. Each function reads the part of its name, which
 * begins at the next token, and returns its node, or NULL after an error. */
const struct py_node *py_expression(struct py_parser *p);
/* An expression that is neither a lambda nor a conditional. */
const struct py_node *py_disjunction(struct py_parser *p);
/* An expression, or a star and an expression. */
const struct py_node *py_starred(struct py_parser *p);
/* A name, literal or display, with the calls, indices and attributes that
 * follow it. */
const struct py_node *py_primary(struct py_parser *p);
/* An expression, or a tuple without parentheses; stars are allowed. */
const struct py_node *py_expression_list(struct py_parser *p);
const struct py_node *py_target(struct py_parser *p);
/* Reads the targets of a `for`: one, or a tuple without parentheses. */
const struct py_node *py_target_list(struct py_parser *p);
bool py_parameters(struct py_parser *p, bool annotated, const char *end,
		   struct py_node *node);
/* Reads adjacent string tokens as one node. */
const struct py_node *py_strings(struct py_parser *p);
bool py_check_target(struct py_parser *p, const struct py_node *target);
/* Appends the simple statements of one line. False after an error. */
bool py_simple_statements(struct py_parser *p, struct py_nodes *out);

#endif
