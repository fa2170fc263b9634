/* SPDX-License-Identifier: Apache-2.0 */
/* Names, types, values and attributes in the text form of graphs: printed and
 * read. Private to ir/text/print_graph*.c, ir/text/graph_read*.c and ir/text/graph_lex.c. */
#ifndef TIRC_GRAPH_LEX_H
#define TIRC_GRAPH_LEX_H

#include "graph_text.h"

/* Characters of names that stand without quotes. */
#define GRAPH_PLAIN                                                            \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ"                                           \
	"abcdefghijklmnopqrstuvwxyz"                                           \
	"0123456789_./:-"

/* Can the text be an attribute's value without quotes: does it begin like a
 * word, and has it no other meaning there? */
bool graph_is_word(const char *text);

/* -- printing: print_graph_value.c */

struct graph_printer {
	const struct graph *graph;
	const char *const *symbols; /* of its dimensions */
	bool whole;                 /* print all values of all constants */
	struct strbuf *out;
};

void graph_put_name(const struct graph_printer *p, const char *name);
void graph_put_type(const struct graph_printer *p, const struct tensor *t);
void graph_put_sizes(const struct graph_printer *p,
		     const struct expr *const *sizes, int n);
/* " = splat 0", " = {1, 2}", or nothing where the values are left out. */
void graph_put_value(const struct graph_printer *p, const struct value *v);
void graph_put_attr(const struct graph_printer *p, const struct attr *a);

/* -- reading: graph_lex.c. Each function reports the first mistake; after one,
 * nothing is read. */

struct graph_reader {
	struct module *module;
	struct graph *graph;
	const struct source *src;
	size_t at;            /* the next byte */
	int line;             /* from 1 */
	size_t line_start;    /* the first byte of it */
	const char **symbols; /* of the dimensions; NULL: not yet fixed */
	bool make_values;
	bool failed;
};

/* An error at the bytes from `from` up to the next one to be read. */
bool graph_fail(struct graph_reader *r, size_t from, const char *fmt, ...)
	TIRC_PRINTF(3, 4);
/* Skips blanks and a comment; true at the end of the line or text. */
bool graph_line_ends(struct graph_reader *r);
/* Goes to the next line that is not empty; false at the end of the text. */
bool graph_next_line(struct graph_reader *r);
/* Reads the punctuation if it is next. */
bool graph_accept(struct graph_reader *r, const char *text);
bool graph_expect(struct graph_reader *r, const char *text, const char *why);
/* The next word of plain characters, which stays unread; "" if there is none. */
const char *graph_peek(struct graph_reader *r);
/* A name, in quotes or without. */
bool graph_read_name(struct graph_reader *r, const char *what,
		     const char **name);
/* A quoted string of any bytes: *length of them. */
bool graph_read_string(struct graph_reader *r, const char **text,
		       size_t *length);
bool graph_read_int(struct graph_reader *r, int64_t *v);

/* -- reading: graph_read_value.c */

/* "float32[n, 8]"; "?[?]" where it is not known. */
bool graph_read_type(struct graph_reader *r, struct tensor *t);
/* "{n, 4}" */
bool graph_read_elems(struct graph_reader *r, struct tensor *t);
/* The values behind "=" of a constant: "splat 0", "{1, 2}". */
bool graph_read_value(struct graph_reader *r, struct dtype type, int64_t elems,
		      const struct value **out);
/* Generates values for a constant that has none in the text. */
bool graph_make_value(struct graph_reader *r, size_t from, struct dtype type,
		      int64_t elems, const struct value **out);
/* One number, which must fit the type. */
bool graph_read_number(struct graph_reader *r, struct dtype type,
		       union number *out);

/* -- reading: graph_read_attr.c */

/* The value of an attribute, behind "=". */
bool graph_read_attr(struct graph_reader *r, struct attr *a);

/* -- reading: graph_read_call.c */

struct graph_call {
	const char *domain, *op_type, *name;
	VEC(struct tensor *) inputs;
	VEC(struct attr) attrs;
};

/* The name of a tensor that is defined above. NULL after an error. */
struct tensor *graph_read_tensor(struct graph_reader *r);
bool graph_read_call(struct graph_reader *r, struct graph_call *c);
/* "{group = 1}", or nothing. */
bool graph_read_attrs(struct graph_reader *r, struct graph_call *c);
struct node *graph_call_node(struct graph_reader *r, const struct graph_call *c,
			     struct tensor *const *outputs, int n_outputs);

#endif
