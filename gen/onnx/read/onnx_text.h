/* SPDX-License-Identifier: Apache-2.0 */
/* Converts ONNX's text form, which onnx.parser reads and onnx.printer writes,
 * to the same message in protobuf's wire format, which the importer then reads
 * like a binary file. Only text_error() and the functions at the end of this header
 * are called by files other than onnx_text*.c.
 *
 *	<ir_version: 8, opset_import: ["": 17]>
 *	scaled (float[n, 8] x) => (float[n, 8] y)
 *	<float two = {2}>
 *	{
 *		y = Mul (x, two)          # comments end with the line
 *	}
 *
 * Each reading function appends the message that it reads to r->out. False
 * after an error, which is reported once, with line and column. */
#ifndef TIRC_ONNX_TEXT_H
#define TIRC_ONNX_TEXT_H

#include "python.h"
#include "wire.h"

/* A word or a quoted text, without its quotes and escapes. */
struct onnx_word {
	/* the text of the literal; a zero byte follows it, and a quoted text
	 * may contain further zeros */
	const char *text;
	size_t length;
};

/* The type that was read last. */
struct onnx_text_type {
	struct strbuf bytes; /* the type as a TypeProto */
	/* has_shape: the type is a tensor with a shape. has_names: not all
	 * sizes in the shape are numbers. */
	bool is_tensor, has_shape, has_names;
	int64_t elem; /* the element type: ONNX's number */
	VEC(int64_t) dims;
};

struct onnx_text {
	struct module *m;
	struct arena *tmp;
	const struct source *src;
	size_t at; /* index of the next byte in src */
	/* the number of nested types and graphs that contain the next byte */
	int depth;
	struct strbuf *out;
	struct onnx_text_type type;
};

/* -- onnx_text_lex.c */

enum onnx_literal_kind { LITERAL_INT, LITERAL_FLOAT, LITERAL_STRING };

struct onnx_literal {
	enum onnx_literal_kind kind;
	struct onnx_word word; /* the string, or the text of the number */
	/* index in the source of the literal's first byte */
	size_t from;
};

/* Reports an error at the bytes [from, to) of a model's text, or, if these are no
 * bytes, at the byte `from`. Returns false. */
bool text_error(struct module *m, const struct source *src, size_t from,
		size_t to, const char *message);
/* Reports an error at the bytes from index `from` up to the next byte to be
 * read, or, if these are no bytes, at the next byte. Returns false. */
bool text_fail(struct onnx_text *r, size_t from, const char *fmt, ...)
	TIRC_PRINTF(3, 4);
/* The next byte after blanks and comments, which is not consumed; -1 at the
 * end. */
int text_peek(struct onnx_text *r);
/* If the next byte after blanks and comments is c, consumes it and returns
 * true; else returns false. */
bool text_accept(struct onnx_text *r, char c);
/* Consumes c, or reports that c must follow `what`: "an input". False after a
 * diagnostic. */
bool text_expect(struct onnx_text *r, char c, const char *what);
/* Returns the next word without consuming it; its length is 0 if no word
 * follows. */
struct onnx_word text_peek_word(struct onnx_text *r);
/* Reads a word; `what` says in the error message what is expected: "a name".
 * The functions below have a parameter `what`, too. */
bool text_word(struct onnx_text *r, const char *what, struct onnx_word *w);
/* Reads words with points between them, "ai.onnx.ml.Op": *last is "Op", *before
 * is "ai.onnx.ml", or of length 0 if there is one word only. False after a
 * diagnostic. */
bool text_words(struct onnx_text *r, const char *what, struct onnx_word *before,
		struct onnx_word *last);
/* The two texts with a point between them. */
struct onnx_word text_joined(struct onnx_text *r, struct onnx_word before,
			     struct onnx_word last);
/* Reads a word or a text in quotes. False after a diagnostic. */
bool text_name(struct onnx_text *r, const char *what, struct onnx_word *w);
bool text_string(struct onnx_text *r, const char *what, struct onnx_word *w);
bool text_literal(struct onnx_text *r, const char *what,
		  struct onnx_literal *l);
bool text_int64(struct onnx_text *r, const char *what, int64_t *v);
/* One function for each of four types: sets *v to the value of a number literal
 * as this type; false after a diagnostic. */
bool text_as_int(struct onnx_text *r, const struct onnx_literal *l, int64_t *v);
bool text_as_uint(struct onnx_text *r, const struct onnx_literal *l,
		  uint64_t *v);
bool text_as_float(struct onnx_text *r, const struct onnx_literal *l, float *v);
bool text_as_double(struct onnx_text *r, const struct onnx_literal *l,
		    double *v);
/* Is the next word inf, infinity or nan? */
bool text_is_special(struct onnx_text *r);
/* Is the word equal to the text? */
bool text_word_is(struct onnx_word w, const char *text);
/* Appends the text of the word as `field` of the message. */
void text_put(struct onnx_text *r, uint32_t field, struct onnx_word w);
/* Ends a message that wire_open() began at `start`; false after a diagnostic if
 * it is too long. */
bool text_close(struct onnx_text *r, size_t start);
/* Enters a nested type or graph; false after a diagnostic if they are nested
 * too deeply. */
bool text_enter(struct onnx_text *r);

/* -- onnx_text_type.c */

/* Does a type follow? */
bool text_is_type(struct onnx_text *r);
/* Reads a type into r->type. */
bool text_type(struct onnx_text *r);
/* Reads a name, with an optional type before it, and appends both as a
 * ValueInfoProto in field `field`. w: is set to the name. */
bool text_value_info(struct onnx_text *r, uint32_t field, struct onnx_word *w);
/* Reads the content of a tensor of r->type, appended as a TensorProto in
 * `field`. False after a diagnostic. */
bool text_tensor(struct onnx_text *r, uint32_t field, struct onnx_word name);
/* Reads "key": "value", …, appended as entries of `field`. False after a
 * diagnostic. */
bool text_entries(struct onnx_text *r, uint32_t field);

/* -- onnx_text_node.c */

/* Reads an attribute after its name, appended in `field`. False after a
 * diagnostic. */
bool text_attribute(struct onnx_text *r, uint32_t field, struct onnx_word name);
/* Reads a graph after its name, appended in `field`. False after a
 * diagnostic. */
bool text_graph(struct onnx_text *r, uint32_t field, struct onnx_word name);
/* Reads {…}, each node appended as a NodeProto in `field`. False after a
 * diagnostic. */
bool text_nodes(struct onnx_text *r, uint32_t field);
/* Reads <…>, a list of value infos, appended in `field`. Initializers are
 * appended in the field `initializers`, or refused if it is 0. False after a
 * diagnostic. */
bool text_values(struct onnx_text *r, uint32_t field, uint32_t initializers);

/* -- onnx_text.c */

/* Are these the bytes of a text, not of protobuf's wire format? */
bool onnx_is_text(const uint8_t *data, size_t length);
/* Converts the text of a model to a ModelProto. */
bool onnx_text_model(struct module *m, const struct source *src,
		     struct strbuf *out);
/* Converts the text of functions, or of a model with functions, to a ModelProto
 * of which the caller uses only the functions. */
bool onnx_text_functions(struct module *m, const struct source *src,
			 struct strbuf *out);

#endif
