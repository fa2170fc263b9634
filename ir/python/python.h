/* SPDX-License-Identifier: Apache-2.0 */
/* The part of Python's grammar that tensor programs use, as a tree. Nothing is
 * evaluated here: the readers of TVMScript (ir/script/script.h) and of programs
 * (gen/program/) walk the tree. Everything lives in the module's arena. */
#ifndef TIRC_PYTHON_H
#define TIRC_PYTHON_H

#include "module.h"
#include "text.h"

/* A text to be read; name is for messages. The bytes need not be valid UTF-8 or
 * end in 0. The text must exist as long as diagnostics are to show its
 * lines. */
struct source {
	const char *name;
	const char *text;
	size_t length;
};

/* The keywords of Python, which cannot be names. */
#define PY_KEYWORDS                                                            \
	"False", "None", "True", "and", "as", "assert", "async", "await",      \
		"break", "class", "continue", "def", "del", "elif", "else",    \
		"except", "finally", "for", "from", "global", "if", "import",  \
		"in", "is", "lambda", "nonlocal", "not", "or", "pass",         \
		"raise", "return", "try", "while", "with", "yield"

bool py_is_keyword(const char *text, size_t length);

/* Columns count bytes from 1; the end is exclusive. */
struct py_span {
	int line, col, end_line, end_col;
};

enum py_kind {
	/* expressions: what kids hold */
	PY_NAME, /* text */
	/* ival; is_unsigned if the value is above INT64_MAX: then ival has its
	 * bits; more than 64 bits are an error; text: as written */
	PY_INT,
	PY_FLOAT, /* fval; text: as written */
	/* text, length: the unescaped string; adjacent strings are joined */
	PY_STRING,
	/* kids: PY_STRING parts and expressions, in order; {x!r:>8} is a
	 * PY_FORMAT, {x=} a PY_STRING and one */
	PY_FSTRING,
	/* kids: value, and its format, a PY_FSTRING, or NULL; text: "r", "s" or
	 * "a" of {x!r}, else NULL */
	PY_FORMAT,
	PY_TRUE,
	PY_FALSE,
	PY_NONE,
	PY_ELLIPSIS,
	PY_TUPLE,     /* kids: elements (PY_STAR allowed) */
	PY_LIST,      /* kids: elements */
	PY_DICT,      /* kids: key, value, key, value, … */
	PY_SET,       /* kids: elements */
	PY_ATTRIBUTE, /* kids[0].text */
	PY_SUBSCRIPT, /* kids[0][kids[1]]; several indices are a PY_TUPLE */
	PY_SLICE,     /* kids: start, stop, step; NULL where absent */
	PY_CALL,      /* kids[0](kids[1…]); PY_KEYWORD, PY_STAR among them */
	PY_KEYWORD,   /* text=kids[0]; text NULL: **kids[0] */
	PY_STAR,      /* *kids[0] */
	PY_UNARY,     /* op kids[0]: "-", "+", "~", "not" */
	PY_BINARY,    /* kids[0] op kids[1]: "+", "//", "and", "<<", … */
	PY_COMPARE,   /* kids[0] ops[0] kids[1] ops[1] kids[2] … */
	PY_IFELSE,    /* kids: value, condition, other */
	PY_LAMBDA,    /* params, kids[0]: body */
	/* kids[0]: the element (for a dict, kids[0] and kids[1]: key and
	 * value), then PY_FOR_CLAUSEs; text "list", "tuple" (generator),
	 * "dict", "set" */
	PY_COMPREHENSION,
	PY_FOR_CLAUSE, /* kids: target, iterable, conditions… */
	/* statements */
	PY_SUITE,      /* kids: statements; also the whole file */
	PY_EXPRESSION, /* kids[0] */
	PY_ASSIGN,     /* kids: targets…, value (a = b = v has two targets) */
	PY_AUGMENTED,  /* kids[0] op= kids[1]; op "+", … */
	PY_ANNOTATED,  /* kids: target, annotation, value or NULL */
	PY_RETURN,     /* kids[0] or NULL */
	/* kids: condition, suite, else suite (or PY_IF for an elif) or NULL */
	PY_IF,
	PY_FOR,    /* kids: target, iterable, suite */
	PY_WHILE,  /* kids: condition, suite */
	PY_WITH,   /* kids: item, …, suite; item: PY_AS or expression */
	PY_AS,     /* kids: expression, target */
	PY_DEF,    /* text: name; params; decorators; kids: suite, return
			* annotation or NULL */
	PY_CLASS,  /* text: name; decorators; kids: suite, bases… */
	PY_IMPORT, /* text: dotted module (NULL for `import a.b as c`, …);
			* names */
	PY_PASS,
	PY_BREAK,
	PY_CONTINUE,
	PY_ASSERT, /* kids: condition, message or NULL */
	PY_RAISE,  /* kids[0] or NULL */
	/* kids: suite, else suite or NULL, finally suite or NULL, PY_EXCEPT… */
	PY_TRY,
	PY_EXCEPT, /* kids: class or NULL, suite; text: the name or NULL */
	PY_GLOBAL, /* text: "global" or "nonlocal"; kids: PY_NAME… */
	PY_DELETE, /* kids: targets */
	/* an expression; kids[0] or NULL; text: "from" of `yield from`, or NULL */
	PY_YIELD,
	PY_KIND_COUNT
};

enum py_param_kind { PY_PARAM_PLAIN, PY_PARAM_STAR, PY_PARAM_DOUBLE_STAR };

struct py_param {
	const char *name;
	struct py_span span;
	enum py_param_kind kind;
	bool keyword_only;
	const struct py_node *annotation, *initial; /* NULL if absent */
};

/* `import a.b as c`: path "a.b", name "c"; without "as" name is NULL and "a"
 * is bound. `from a import b as c`: path "b", name "c"; `import *`: path "*",
 * name NULL. */
struct py_import {
	const char *path, *name;
	struct py_span span;
};

struct py_node {
	enum py_kind kind;
	struct py_span span;
	const char *text;
	size_t length; /* of a string's text, which may have zero bytes */
	int64_t ival;
	bool is_unsigned; /* of ival */
	/* the expression is written in parentheses: a in (a) + b */
	bool parenthesised;
	/* 1 plus the largest height of the node's children; py_parse limits
	 * it */
	int height;
	double fval;
	const char *op;
	const char *const *ops;
	const struct py_node *const *kids;
	int n_kids;
	const struct py_param *params;
	int n_params;
	bool is_generator; /* of a PY_DEF: its body contains a yield */
	const struct py_node *const *decorators;
	int n_decorators;
	const struct py_import *names;
	int n_names;
};

/* The tree of a whole file (a PY_SUITE), or NULL after a DIAG_BAD_PROGRAM with
 * position. At most one error per text. Nesting deeper than PY_MAX_NESTING
 * (ir/python/py_read.h) is an error. */
const struct py_node *py_parse(struct module *m, const struct source *src);

/* Reports an error at a position in the text: "file:line:col: message". The
 * diagnostic's excerpt is the line, with a row of ^ below it. Returns false. */
bool py_error(struct module *m, const struct source *src, struct py_span at,
	      const char *fmt, ...) TIRC_PRINTF(4, 5);
/* Like py_error, as a diagnostic of kind id. */
bool source_error(struct module *m, enum diag_id id, const struct source *src,
		  struct py_span at, const char *message);

#endif
