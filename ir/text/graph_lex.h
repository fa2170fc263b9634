/* SPDX-License-Identifier: Apache-2.0 */
/* Names, types, values and attributes in the text form of graphs: printed and
 * read. Private to ir/text/print_graph*.c, ir/text/graph_read*.c and
 * ir/text/graph_lex.c. */
#ifndef TIRC_GRAPH_LEX_H
#define TIRC_GRAPH_LEX_H

#include "graph_text.h"

/* The characters of names that need no quotes. */
#define GRAPH_PLAIN                                                            \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ"                                           \
	"abcdefghijklmnopqrstuvwxyz"                                           \
	"0123456789_./:-"

/* Can the text be an attribute's value without quotes? It must begin like a
 * word and have no other meaning as an attribute's value. */
bool graph_is_word(const char *text);

/* -- printing: print_graph_value.c */

struct graph_printer {
	const struct graph *graph;
	const char *const *symbols; /* the identifiers of the graph's
				     * dimensions, by index */
	bool whole;                 /* print all values of all constants */
	struct strbuf *out;
};

void graph_put_name(const struct graph_printer *p, const char *name);
void graph_put_type(const struct graph_printer *p, const struct tensor *t);
void graph_put_sizes(const struct graph_printer *p,
		     const struct expr *const *sizes, int n);
/* Prints " = splat 0" or " = {1, 2}", or nothing if the printer leaves out
 * values. */
void graph_put_value(const struct graph_printer *p, const struct value *v);
void graph_put_attr(const struct graph_printer *p, const struct attr *a);

/* -- reading: graph_lex.c. Each function reports the first mistake; after a
 * mistake, nothing more is read. */

struct graph_reader {
	struct module *module;
	struct graph *graph;
	const struct source *src;
	size_t at; /* the next byte */
	int line;  /* from 1 */
	/* the offset of the first byte of the current line */
	size_t line_start;
	/* the identifiers of the dimensions; NULL until their declarations are
	 * read */
	const char **symbols;
	bool make_values;
	bool failed;
};

/* Reports an error at the bytes from `from` up to the next byte to be read.
 * Returns false. */
bool graph_fail(struct graph_reader *r, size_t from, const char *fmt, ...)
	TIRC_PRINTF(3, 4);
/* Skips blanks and a comment; returns true at the end of the line or text. */
bool graph_line_ends(struct graph_reader *r);
/* Goes to the next line that is not empty; returns false at the end of the
 * text. */
bool graph_next_line(struct graph_reader *r);
/* If the punctuation `text` is next, reads it and returns true; else returns
 * false. */
bool graph_accept(struct graph_reader *r, const char *text);
bool graph_expect(struct graph_reader *r, const char *text, const char *why);
/* The next word of plain characters, without reading it; "" if the next
 * character is not a plain character. */
const char *graph_peek(struct graph_reader *r);
/* Reads a name, with or without quotes. False after a diagnostic. */
bool graph_read_name(struct graph_reader *r, const char *what,
		     const char **name);
/* Reads a quoted string, of *length bytes of any value. False after a
 * diagnostic. */
bool graph_read_string(struct graph_reader *r, const char **text,
		       size_t *length);
bool graph_read_int(struct graph_reader *r, int64_t *v);

/* -- reading: graph_read_value.c */

/* Reads the type and the shape of t: "float32[n, 8]", or "?[?]" if they are not
 * known. False after a diagnostic. */
bool graph_read_type(struct graph_reader *r, struct tensor *t);
/* "{n, 4}" */
bool graph_read_elems(struct graph_reader *r, struct tensor *t);
/* Reads the values of a constant, which follow "=", to *out: "splat 0" or "{1,
 * 2}". False after a diagnostic. */
bool graph_read_value(struct graph_reader *r, struct dtype type, int64_t elems,
		      const struct value **out);
/* Makes values for a constant whose values the text leaves out: small numbers,
 * always the same for the same text. False after a diagnostic. */
bool graph_make_value(struct graph_reader *r, size_t from, struct dtype type,
		      int64_t elems, const struct value **out);
/* Reads one number, which must be representable in the type. False after a
 * diagnostic. */
bool graph_read_number(struct graph_reader *r, struct dtype type,
		       union number *out);

/* -- reading: graph_read_attr.c */

/* Reads the value of an attribute, after "=". False after a diagnostic. */
bool graph_read_attr(struct graph_reader *r, struct attr *a);

/* -- reading: graph_read_call.c */

struct graph_call {
	const char *domain, *op_type, *name;
	VEC(struct tensor *) inputs;
	VEC(struct attr) attrs;
};

/* Reads the name of a tensor that an earlier line defines. NULL after an
 * error. */
struct tensor *graph_read_tensor(struct graph_reader *r);
bool graph_read_call(struct graph_reader *r, struct graph_call *c);
/* Reads the attributes "{group = 1}" into c; reads nothing if the next byte is
 * not "{". False after a diagnostic. */
bool graph_read_attrs(struct graph_reader *r, struct graph_call *c);
struct node *graph_call_node(struct graph_reader *r, const struct graph_call *c,
			     struct tensor *const *outputs, int n_outputs);

#endif
