/* SPDX-License-Identifier: Apache-2.0 */
/* The Python reader: trees of small texts, and what it refuses, with the
 * place and the line shown. */
#include "check.h"

#include "python.h"
#include "text.h"

static void put_node(struct strbuf *out, const struct py_node *n);

static void
put_kids(struct strbuf *out, const struct py_node *n)
{
	for (int i = 0; i < n->n_kids; i++) {
		strbuf_putc(out, ' ');
		put_node(out, n->kids[i]);
	}
}

static void
put_params(struct strbuf *out, const struct py_node *n)
{
	static const char *const stars[] = { "", "*", "**" };

	strbuf_puts(out, " {");
	for (int i = 0; i < n->n_params; i++) {
		const struct py_param *p = &n->params[i];

		strbuf_printf(out, "%s%s%s%s", i ? " " : "",
			      p->keyword_only ? "!" : "", stars[p->kind],
			      p->name);
		if (p->annotation) {
			strbuf_putc(out, ':');
			put_node(out, p->annotation);
		}
		if (p->initial) {
			strbuf_putc(out, '=');
			put_node(out, p->initial);
		}
	}
	strbuf_putc(out, '}');
}

static void
put_node(struct strbuf *out, const struct py_node *n)
{
	static const char *const words[PY_KIND_COUNT] = {
		[PY_FSTRING] = "fstring",
		[PY_FORMAT] = "format",
		[PY_TUPLE] = "tuple",
		[PY_LIST] = "list",
		[PY_DICT] = "dict",
		[PY_SET] = "set",
		[PY_SUBSCRIPT] = "at",
		[PY_SLICE] = "slice",
		[PY_CALL] = "call",
		[PY_STAR] = "star",
		[PY_IFELSE] = "ifelse",
		[PY_LAMBDA] = "lambda",
		[PY_FOR_CLAUSE] = "clause",
		[PY_SUITE] = "do",
		[PY_EXPRESSION] = "expr",
		[PY_ASSIGN] = "assign",
		[PY_ANNOTATED] = "annotated",
		[PY_RETURN] = "return",
		[PY_IF] = "if",
		[PY_FOR] = "for",
		[PY_WHILE] = "while",
		[PY_WITH] = "with",
		[PY_AS] = "as",
		[PY_PASS] = "pass",
		[PY_BREAK] = "break",
		[PY_CONTINUE] = "continue",
		[PY_ASSERT] = "assert",
		[PY_RAISE] = "raise",
		[PY_TRY] = "try",
		[PY_EXCEPT] = "except",
		[PY_GLOBAL] = "global",
		[PY_DELETE] = "del",
		[PY_YIELD] = "yield",
		[PY_TRUE] = "True",
		[PY_FALSE] = "False",
		[PY_NONE] = "None",
		[PY_ELLIPSIS] = "...",
	};

	if (!n) {
		strbuf_putc(out, '_');
		return;
	}
	switch (n->kind) {
	case PY_NAME:
		strbuf_puts(out, n->text);
		return;
	case PY_INT:
		if (n->is_unsigned) {
			strbuf_printf(out, "%llu", (unsigned long long)n->ival);
		} else {
			strbuf_printf(out, "%lld", (long long)n->ival);
		}
		return;
	case PY_FLOAT:
		strbuf_printf(out, "%gf", n->fval);
		return;
	case PY_STRING:
		strbuf_putc(out, '"');
		for (size_t i = 0; i < n->length; i++) {
			unsigned char c = (unsigned char)n->text[i];

			if (c < 32) {
				strbuf_printf(out, "<%d>", c);
			} else {
				strbuf_putc(out, (char)c);
			}
		}
		strbuf_putc(out, '"');
		return;
	case PY_ATTRIBUTE:
		put_node(out, n->kids[0]);
		strbuf_printf(out, ".%s", n->text);
		return;
	default:
		break;
	}
	strbuf_putc(out, '(');
	for (int i = 0; i < n->n_decorators; i++) {
		strbuf_putc(out, '@');
		put_node(out, n->decorators[i]);
		strbuf_putc(out, ' ');
	}
	switch (n->kind) {
	case PY_KEYWORD:
		strbuf_printf(out, "%s=", n->text ? n->text : "**");
		break;
	case PY_UNARY:
	case PY_BINARY:
		strbuf_puts(out, n->op);
		break;
	case PY_AUGMENTED:
		strbuf_printf(out, "%s=", n->op);
		break;
	case PY_COMPARE:
		for (int i = 0; i + 1 < n->n_kids; i++) {
			strbuf_printf(out, "%s%s", i ? "," : "", n->ops[i]);
		}
		break;
	case PY_COMPREHENSION:
		strbuf_printf(out, "%s-of", n->text);
		break;
	case PY_DEF:
	case PY_CLASS:
		strbuf_printf(out, "%s %s", n->kind == PY_DEF ? "def" : "class",
			      n->text);
		break;
	case PY_IMPORT:
		strbuf_printf(out, "import %s:", n->text ? n->text : "");
		for (int i = 0; i < n->n_names; i++) {
			strbuf_printf(out, " %s>%s", n->names[i].path,
				      n->names[i].name ? n->names[i].name : "");
		}
		break;
	default:
		strbuf_puts(out, words[n->kind]);
		break;
	}
	if (n->kind == PY_DEF || n->kind == PY_LAMBDA) {
		put_params(out, n);
	}
	put_kids(out, n);
	strbuf_putc(out, ')');
}

static const struct {
	const char *text, *tree;
} trees[] = {
	{ "", "(do)" },
	{ "# only a comment", "(do)" },
	{ "\n \n\t\n#x\n", "(do)" },
	{ "a", "(do (expr a))" },
	{ "a; b ;", "(do (expr a) (expr b))" },
	{ "a + b * c - d", "(do (expr (- (+ a (* b c)) d)))" },
	{ "-a ** -b", "(do (expr (- (** a (- b)))))" },
	{ "2 ** 3 ** x", "(do (expr (** 2 (** 3 x))))" },
	{ "not a == b and c or d",
	  "(do (expr (or (and (not (== a b)) c) d)))" },
	{ "0 <= i < n != m", "(do (expr (<=,<,!= 0 i n m)))" },
	{ "a not in b is not c", "(do (expr (not in,is not a b c)))" },
	{ "a | b ^ c & d << 1", "(do (expr (| a (^ b (& c (<< d 1))))))" },
	{ "~a // b % c @ d", "(do (expr (@ (% (// (~ a) b) c) d)))" },
	{ "a if b else c if d else e",
	  "(do (expr (ifelse a b (ifelse c d e))))" },
	{ "0x1F + 0b101 + 0o17 + 1_000", "(do (expr (+ (+ (+ 31 5) 15) "
					 "1000)))" },
	{ "18446744073709551615", "(do (expr 18446744073709551615))" },
	{ "1.5 + .5 + 1e3 + 1_0.0e-1 + 1.",
	  "(do (expr (+ (+ (+ (+ 1.5f 0.5f) 1000f) 1f) 1f)))" },
	{ "'a' \"b\" '''c\nd'''", "(do (expr \"abc<10>d\"))" },
	{ "'\\n\\x41\\101\\u00e9\\q\\\\\\''",
	  "(do (expr \"<10>AA\xc3\xa9\\q\\'\"))" },
	{ "r'\\n' b'x' u'y'", "(do (expr \"\\nxy\"))" },
	{ "'a\\\nb'", "(do (expr \"ab\"))" },
	{ "'\\0'", "(do (expr \"<0>\"))" },
	{ "f'a{b}c{{' 'd{' f'{e[0]}'",
	  "(do (expr (fstring \"a\" b \"c{d{\" (at e 0))))" },
	{ "f'{x + 1}{y[\"k\"]}'",
	  "(do (expr (fstring (+ x 1) (at y \"k\"))))" },
	{ "f'{a:.{n}f}{b!r}{c=}'",
	  "(do (expr (fstring (format a (fstring \".\" n \"f\")) "
	  "(format b _) \"c=\" (format c _))))" },
	{ "(a)", "(do (expr a))" },
	{ "(), (a,), [a, b,], {}, {a}, {a: b, c: d}",
	  "(do (expr (tuple (tuple) (tuple a) (list a b) (dict) (set a) "
	  "(dict a b c d))))" },
	{ "[i * 2 for i in r if i if j for k, l in m]",
	  "(do (expr (list-of (* i 2) (clause i r i j) "
	  "(clause (tuple k l) m))))" },
	{ "{i: j for i in r}, {i for i in r}, (i for i in r)",
	  "(do (expr (tuple (dict-of i j (clause i r)) (set-of i "
	  "(clause i r)) (tuple-of i (clause i r)))))" },
	{ "f(a, *b, c=d, **e)", "(do (expr (call f a (star b) (c= d) "
				"(**= e))))" },
	{ "f(i for i in r)", "(do (expr (call f (tuple-of i (clause i r)))))" },
	{ "a.b.c(1)[2]", "(do (expr (at (call a.b.c 1) 2)))" },
	{ "a[1:2, :, ::3, ..., b]",
	  "(do (expr (at a (tuple (slice 1 2 _) (slice _ _ _) "
	  "(slice _ _ 3) (...) b))))" },
	{ "a[b,]", "(do (expr (at a (tuple b))))" },
	{ "lambda: 0", "(do (expr (lambda {} 0)))" },
	{ "lambda a, *b, c=1, **d: a",
	  "(do (expr (lambda {a *b !c=1 **d} a)))" },
	{ "a = b, c = d", "(do (assign a (tuple b c) d))" },
	{ "a, *b = c", "(do (assign (tuple a (star b)) c))" },
	{ "a.b = c[d] = 1", "(do (assign a.b (at c d) 1))" },
	{ "a: T.int32 = 1", "(do (annotated a T.int32 1))" },
	{ "a: int", "(do (annotated a int _))" },
	{ "a += 1; b //= c; d <<= 2; e @= f",
	  "(do (+= a 1) (//= b c) (<<= d 2) (@= e f))" },
	{ "import a.b as c, d", "(do (import : a.b>c d>))" },
	{ "from a.b import c as d, e", "(do (import a.b: c>d e>e))" },
	{ "from a import (b,\n c,)", "(do (import a: b>b c>c))" },
	{ "from a import *", "(do (import a: *>))" },
	{ "try: a\nexcept E as e: b\nexcept: c\nelse: d\nfinally: f",
	  "(do (try (do (expr a)) (do (expr d)) (do (expr f)) "
	  "(except E (do (expr b))) (except _ (do (expr c)))))" },
	{ "global a, b\ndel c\nx = yield a\nyield",
	  "(do (global a b) (del c) (assign x (yield a)) "
	  "(expr (yield _)))" },
	{ "class A(B, c.D): pass", "(do (class A (do (pass)) B c.D))" },
	{ "assert a, 'b'\nraise C\nraise\n",
	  "(do (assert a \"b\") (raise C) (raise _))" },
	{ "if a: b\nelif c:\n  d\nelse:\n  pass",
	  "(do (if a (do (expr b)) (if c (do (expr d)) (do (pass)))))" },
	{ "for i, j in a, b:\n\tcontinue\n\tbreak\n",
	  "(do (for (tuple i j) (tuple a b) (do (continue) (break))))" },
	{ "while True: x", "(do (while (True) (do (expr x))))" },
	{ "with a as b, c: d", "(do (with (as a b) c (do (expr d))))" },
	{ "with (a as b,\n c,): d", "(do (with (as a b) c (do (expr d))))" },
	{ "with (a).b: d", "(do (with a.b (do (expr d))))" },
	{ "with (a, b) as c: d", "(do (with (as (tuple a b) c) (do "
				 "(expr d))))" },
	{ "def f(a, /, b: int = 1, *, c) -> T.int32:\n return a, b\n",
	  "(do (def f {a b:int=1 !c} (do (return (tuple a b))) T.int32))" },
	{ "@T.prim_func\n@a(1)\ndef f(): return",
	  "(do (@T.prim_func @(call a 1) def f {} (do (return _)) _))" },
	{ "@I.ir_module\nclass M:\n    x = 1\n\n    def f(self): pass\n",
	  "(do (@I.ir_module class M (do (assign x 1) (def f {self} "
	  "(do (pass)) _))))" },
	{ "a = (1 +\n  2)\nb = 1 + \\\n  2\n",
	  "(do (assign a (+ 1 2)) (assign b (+ 1 2)))" },
	{ "if a:\n  if b:\n    c\nd\r\ne\rf",
	  "(do (if a (do (if b (do (expr c)) _)) _) (expr d) (expr e) "
	  "(expr f))" },
	{ "\xef\xbb\xbf"
	  "a # \xff\xfe",
	  "(do (expr a))" },
};

static const struct {
	const char *text, *message, *excerpt;
} mistakes[] = {
	{ "a = 1 +\n",
	  "t.py:1:8: an expression expected, not the end of the "
	  "line; write a value here",
	  "    a = 1 +\n           ^" },
	{ "if a\n  b",
	  "t.py:1:5: ':' expected, not the end of the line; it "
	  "follows the condition",
	  "    if a\n        ^" },
	{ "if a:\nb",
	  "t.py:2:1: an indented line expected behind the ':' of "
	  "line 1, not 'b'; indent the suite, or write 'pass'",
	  "    b\n    ^" },
	{ "a\n  b",
	  "t.py:2:3: a line indented deeper than its neighbours; "
	  "align it with them",
	  "      b\n      ^" },
	{ "if a:\n    b\n  c",
	  "t.py:3:1: an indentation that no line above "
	  "has; align it with the suite it belongs to",
	  "      c\n    ^^" },
	{ "if a:\n\tb\n        c",
	  "t.py:3:1: tabs and spaces mixed; indent "
	  "with spaces alone",
	  "            c\n    ^^^^^^^^" },
	{ "if a:\n\tb = $\n",
	  "t.py:2:6: a character that Python does not "
	  "know; remove it",
	  "    \tb = $\n    \t    ^" },
	{ "a = 'x\n", "t.py:1:5: a string without an end; close it with '",
	  "    a = 'x\n        ^" },
	{ "a = '''x\n", "t.py:1:5: a string without an end; close it with '''",
	  "    a = '''x\n        ^^^" },
	{ "f(a, b",
	  "t.py:1:7: ',' expected, not the end of the line; "
	  "separate the arguments, or close with ')'",
	  "    f(a, b\n          ^" },
	{ "a)",
	  "t.py:1:2: ')' where the statement should end; begin a new "
	  "line, or see what is missing before it",
	  "    a)\n     ^" },
	{ "f(a=1, b)",
	  "t.py:1:8: an argument without a name behind one with "
	  "a name; move it to the front",
	  "    f(a=1, b)\n           ^" },
	{ "f(aa=1, aa=2)",
	  "t.py:1:9: the argument 'aa' is given twice; give "
	  "it once",
	  "    f(aa=1, aa=2)\n            ^^^^" },
	{ "f() = 3",
	  "t.py:1:1: a value that nothing can be assigned to; "
	  "assign to a name, an element or an attribute",
	  "    f() = 3\n    ^^^" },
	{ "try:\n  a\nb",
	  "t.py:3:1: 'except' or 'finally' expected, not 'b'; one of "
	  "them follows a 'try'",
	  "    b\n    ^" },
	{ "async def f(): pass",
	  "t.py:1:1: 'async' is outside of the Python "
	  "that tirc reads; write it without",
	  "    async def f(): pass\n    ^^^^^" },
	{ "(a := 1)",
	  "t.py:1:4: ':=' is outside of the Python that tirc "
	  "reads; write it without",
	  "    (a := 1)\n       ^^" },
	{ "for a in b: c\nelse: d",
	  "t.py:2:1: 'else' of a for loop is "
	  "outside of the Python that tirc reads; write it without",
	  "    else: d\n    ^^^^" },
	{ "def f(a, a): pass",
	  "t.py:1:10: a second parameter named 'a'; give "
	  "it another name",
	  "    def f(a, a): pass\n             ^" },
	{ "def f(a=1, b): pass",
	  "t.py:1:12: a parameter without a value of "
	  "its own behind one with such a value; give it one, or move it in "
	  "front",
	  "    def f(a=1, b): pass\n               ^" },
	{ "@a\nb = 1",
	  "t.py:2:1: a decorator before 'b'; it belongs directly "
	  "above a 'def' or a 'class'",
	  "    b = 1\n    ^" },
	{ "x = 18446744073709551616",
	  "t.py:1:5: a number of more than 64 "
	  "bits; use a smaller one",
	  "    x = 18446744073709551616\n        ^^^^^^^^^^^^^^^^^^^^" },
	{ "x = 012",
	  "t.py:1:5: a number with leading zeros; drop them, or "
	  "write 0o for octal",
	  "    x = 012\n        ^^^" },
	{ "x = 3x",
	  "t.py:1:5: no number; put a space or an operator between "
	  "number and name",
	  "    x = 3x\n        ^^" },
	{ "x = 2j",
	  "t.py:1:5: complex numbers are not part of tensor "
	  "programs; use two real ones",
	  "    x = 2j\n        ^^" },
	{ "\xc3\xa9 = 1",
	  "t.py:1:1: a letter outside of ASCII in the program "
	  "itself; names are made of a-z, A-Z, 0-9 and _",
	  "    \xc3\xa9 = 1\n    ^" },
	{ "'\xc3\xa9' + )",
	  "t.py:1:8: an expression expected, not ')'; write "
	  "a value here",
	  "    '\xc3\xa9' + )\n          ^" },
	{ "f'{a'",
	  "t.py:1:3: a brace without its partner; close it, or write "
	  "{{ for the character itself",
	  "    f'{a'\n      ^^" },
	{ "f'{a!x}'",
	  "t.py:1:5: a conversion that is none of !r, !s and !a; "
	  "write one of these",
	  "    f'{a!x}'\n        ^" },
	{ "f'{a:{b}'",
	  "t.py:1:9: a brace without its partner; close it, or write "
	  "{{ for the character itself",
	  "    f'{a:{b}'\n            ^" },
	{ "f'''\n{a +}'''",
	  "t.py:2:5: an expression expected, not the end of "
	  "the text; write a value here",
	  "    {a +}'''\n        ^" },
	{ "'\\x4'", "t.py:1:2: an escape that lacks digits; give 2 of them",
	  "    '\\x4'\n     ^^^" },
	{ "a \\ b",
	  "t.py:1:3: a \\ that no line end follows; remove it or "
	  "what stands behind it",
	  "    a \\ b\n      ^" },
	{ "{a: 1, b}",
	  "t.py:1:8: a dict's entry and a set's in one display; "
	  "write 'key: value' in all of them or in none",
	  "    {a: 1, b}\n           ^" },
	{ "class A(B c): pass",
	  "t.py:1:11: ',' expected, not 'c'; separate the bases, or close "
	  "with ')'",
	  "    class A(B c): pass\n              ^" },
	{ "from . import a",
	  "t.py:1:6: an import relative to a package is "
	  "outside of the Python that tirc reads; write it without",
	  "    from . import a\n         ^" },
};

static void
test_trees(void)
{
	for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
		struct module *m = module_new();
		struct source src = { "t.py", trees[i].text,
				      strlen(trees[i].text) };
		const struct py_node *n = py_parse(m, &src);
		struct strbuf out;

		strbuf_init(&out);
		if (n) {
			put_node(&out, n);
		} else {
			diag_format(&m->diags.list.data[0], &out);
		}
		CHECK_STR_EQ(out.data, trees[i].tree);
		strbuf_release(&out);
		module_free(m);
	}
}

static void
test_mistakes(void)
{
	for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
		struct module *m = module_new();
		struct source src = { "t.py", mistakes[i].text,
				      strlen(mistakes[i].text) };
		struct strbuf out;

		strbuf_init(&out);
		CHECK(!py_parse(m, &src));
		CHECK(m->diags.list.n == 1);
		CHECK(m->diags.list.data[0].id == DIAG_BAD_PROGRAM);
		diag_format(&m->diags.list.data[0], &out);
		CHECK_STR_EQ(out.data, mistakes[i].message);
		CHECK_STR_EQ(m->diags.list.data[0].place.excerpt,
			     mistakes[i].excerpt);
		strbuf_release(&out);
		module_free(m);
	}
}

/* Deep in any way there is: an error, no crash. */
static void
test_depth(void)
{
	static const char *const repeated[] = {
		"(",     "[",        "{",    "-",    "not ", "a[",
		"a(",    "lambda: ", "a + ", "a.",   "f()",  "a if b else ",
		"a ** ", "f'{",      "{a: ", "a < ", "*",    "a = ",
		"@a\n",  "a()()",
	};

	for (size_t i = 0; i < sizeof repeated / sizeof *repeated; i++) {
		struct module *m = module_new();
		struct strbuf text;

		strbuf_init(&text);
		for (int k = 0; k < 20000; k++) {
			strbuf_puts(&text, repeated[i]);
		}
		strbuf_puts(&text, "a");
		struct source src = { "t.py", text.data, text.len };
		const struct py_node *n = py_parse(m, &src);

		CHECK((n == NULL) == (m->diags.n_errors > 0));
		strbuf_release(&text);
		module_free(m);
	}
	struct module *m = module_new();
	struct strbuf text;

	strbuf_init(&text);
	for (int k = 0; k < 1000; k++) {
		for (int i = 0; i < k; i++) {
			strbuf_putc(&text, ' ');
		}
		strbuf_puts(&text, "if a:\n");
	}
	struct source src = { "t.py", text.data, text.len };

	CHECK(!py_parse(m, &src) && m->diags.n_errors == 1);
	strbuf_release(&text);
	module_free(m);
}

static void
test_nearest(void)
{
	static const char *const names[] = { "float32", "int32", "T", "max" };

	CHECK_STR_EQ(text_nearest("flaot32", names, 4), "float32");
	CHECK_STR_EQ(text_nearest("itn32", names, 4), "int32");
	CHECK_STR_EQ(text_nearest("mx", names, 4), "max");
	CHECK(!text_nearest("split", names, 4));
	CHECK(!text_nearest("mean", names, 4));
	CHECK(!text_nearest("fload2", names, 4));
	CHECK(!text_nearest("S", names, 4));
	CHECK(!text_nearest("", names, 4));
}

int
main(void)
{
	test_trees();
	test_mistakes();
	test_depth();
	test_nearest();
	return check_done();
}
