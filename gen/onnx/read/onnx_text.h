/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX's text form, as onnx.parser reads and onnx.printer writes it, becomes the
 * bytes of the same message in protobuf's wire format, which the importer reads as
 * those of any file. Private to onnx_text*.c, but for the functions at the end.
 *
 *	<ir_version: 8, opset_import: ["": 17]>
 *	scaled (float[n, 8] x) => (float[n, 8] y)
 *	<float two = {2}>
 *	{
 *		y = Mul (x, two)          # comments end with the line
 *	}
 *
 * Functions of each reader append what they read to r->out. They return false
 * after a mistake, which is reported once, with line and column. */
#ifndef TIRC_ONNX_TEXT_H
#define TIRC_ONNX_TEXT_H

#include "python.h"
#include "wire.h"

/* A word or a quoted text of the file, without quotes and escapes. */
struct onnx_word {
	const char *text; /* ends in 0, and may hold zeros before */
	size_t length;
};

/* The type that was read last. */
struct onnx_text_type {
	struct strbuf bytes; /* a TypeProto */
	bool is_tensor, has_shape, has_names;
	int64_t elem; /* ONNX's number */
	VEC(int64_t) dims;
};

struct onnx_text {
	struct module *m;
	struct arena *tmp;
	const struct source *src;
	size_t at; /* the next byte */
	int depth; /* of types and graphs in each other */
	struct strbuf *out;
	struct onnx_text_type type;
};

/* -- onnx_text_lex.c */

enum onnx_literal_kind { LITERAL_INT, LITERAL_FLOAT, LITERAL_STRING };

struct onnx_literal {
	enum onnx_literal_kind kind;
	struct onnx_word word; /* a number as it is written */
	size_t from;           /* its first byte */
};

/* Reports a mistake at the bytes from `from` up to the next one to be read, or at
 * that one. */
bool text_fail(struct onnx_text *r, size_t from, const char *fmt, ...)
	TIRC_PRINTF(3, 4);
/* The next byte behind blanks and comments; -1: the end. */
int text_peek(struct onnx_text *r);
bool text_accept(struct onnx_text *r, char c);
/* After what: "an input". */
bool text_expect(struct onnx_text *r, char c, const char *what);
/* The next word, which stays unread; length 0: none. */
struct onnx_word text_peek_word(struct onnx_text *r);
bool text_word(struct onnx_text *r, const char *what, struct onnx_word *w);
/* A word, or any text in quotes. */
bool text_name(struct onnx_text *r, const char *what, struct onnx_word *w);
bool text_string(struct onnx_text *r, const char *what, struct onnx_word *w);
bool text_literal(struct onnx_text *r, const char *what,
		  struct onnx_literal *l);
bool text_int64(struct onnx_text *r, const char *what, int64_t *v);
/* The value of a literal that is a number. */
bool text_as_int(struct onnx_text *r, const struct onnx_literal *l, int64_t *v);
bool text_as_uint(struct onnx_text *r, const struct onnx_literal *l,
		  uint64_t *v);
bool text_as_float(struct onnx_text *r, const struct onnx_literal *l, float *v);
bool text_as_double(struct onnx_text *r, const struct onnx_literal *l,
		    double *v);
/* Is the next word inf, infinity or nan? */
bool text_is_special(struct onnx_text *r);
bool text_word_is(struct onnx_word w, const char *text);
void text_put(struct onnx_text *r, uint32_t field, struct onnx_word w);
bool text_close(struct onnx_text *r, size_t start);
/* Enters a type or graph within another. */
bool text_enter(struct onnx_text *r);

/* -- onnx_text_type.c */

bool text_is_type(struct onnx_text *r);
/* A type, to r->type. */
bool text_type(struct onnx_text *r);
/* A type, which may be missing, and a name, as a ValueInfoProto of the field. */
bool text_value_info(struct onnx_text *r, uint32_t field, struct onnx_word *w);
/* The content of a tensor of r->type, as a TensorProto of the field. */
bool text_tensor(struct onnx_text *r, uint32_t field, struct onnx_word name);
/* "key": "value", … as entries of the field. */
bool text_entries(struct onnx_text *r, uint32_t field);

/* -- onnx_text_node.c */

/* The rest of an attribute behind its name. */
bool text_attribute(struct onnx_text *r, uint32_t field, struct onnx_word name);
/* The rest of a graph behind its name. */
bool text_graph(struct onnx_text *r, uint32_t field, struct onnx_word name);
/* {…}: each a NodeProto of the field. */
bool text_nodes(struct onnx_text *r, uint32_t field);
/* <…> of value infos, and of initializers if that field is not 0. */
bool text_values(struct onnx_text *r, uint32_t field, uint32_t initializers);

/* -- onnx_text.c */

/* Do these bytes begin as a text, and not in protobuf's wire format? */
bool onnx_is_text(const uint8_t *data, size_t length);
/* A model's text as a ModelProto. */
bool onnx_text_model(struct module *m, const struct source *src,
		     struct strbuf *out);
/* The text of functions, or of a model with functions, as a ModelProto, of which
 * the functions count. */
bool onnx_text_functions(struct module *m, const struct source *src,
			 struct strbuf *out);

#endif
