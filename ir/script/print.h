/* SPDX-License-Identifier: Apache-2.0 */
/* State shared by the parts of the script printer: the text under construction
 * and the names given so far. Private to ir/script/print_*.c. */
#ifndef TIRC_PRINT_H
#define TIRC_PRINT_H

#include "func.h"
#include "text_map.h"

/* The name under which a variable or a buffer is printed; key is its
 * address. */
struct print_name {
	const void *key;
	const char *name;
	/* ".data" if key is the pointer of a buffer, else "" */
	const char *suffix;
};

struct printer {
	struct strbuf *out;
	struct arena arena; /* owns the names */
	enum script_version version;
	/* for readers who know nothing of TVMScript: numbers without their types,
	 * and no casts between integers */
	bool words;
	int indent;
	/* a hash table by address; never iterated */
	struct print_name *names;
	int n_names, cap_names;
	/* the texts of the names that are in use, in a hash table */
	const char **taken;
	int n_taken, cap_taken;
	/* the index in `numbers` of a stem of names; see print_unique() */
	struct text_map stems;
	VEC(int) numbers;
};

/* The contexts in which expressions are printed, each with the precedence that
 * an expression needs to be printed without parentheses; PRINT_LOOSE: any. */
enum { PRINT_LOOSE = 0, PRINT_TERM = 12, PRINT_FACTOR = 13, PRINT_TIGHT = 16 };

/* The names that variables and buffers never get, in order; *n: their
 * number. */
const char *const *print_reserved(int *n);
void printer_init(struct printer *p, enum script_version version,
		  struct strbuf *out);
void printer_release(struct printer *p);
/* Gives key a new identifier made from hint, unique in the function. */
const char *print_define(struct printer *p, const void *key, const char *hint);
/* Defines a buffer, and its data pointer as "name.data". */
const char *print_define_buffer(struct printer *p, const struct buffer *b);
const char *print_unique(struct printer *p, const char *hint);
/* An identifier made from hint, which may be NULL; not unique. */
const char *print_identifier(struct printer *p, const char *hint);
const char *print_buffer_name(struct printer *p, const struct buffer *b);
void print_var(struct printer *p, const struct var *v);

void print_expr(struct printer *p, const struct expr *e, int strength);
void print_exprs(struct printer *p, const struct expr *const *list, int n);
/* "A[i, 0:16]" */
void print_region(struct printer *p, const struct region *r);
/* Appends min + extent, as one number if both are numbers. */
void print_end(struct printer *p, const struct expr *min,
	       const struct expr *extent);
void print_type(struct printer *p, struct dtype t); /* float32x4 */
void print_string(struct printer *p, const char *text);
/* {"key": value, ...} */
void print_notes(struct printer *p, const struct note *notes);

void print_indent(struct printer *p);
void print_line(struct printer *p, const char *text);
/* Appends the arguments that describe a buffer: [n, 8], dtype="float32",
 * strides=[...], scope="local", align=64 */
void print_buffer_facts(struct printer *p, const struct buffer *b);
/* Prints s as lines of a suite; last: it is the last statement of the suite, so
 * that an ALLOC, ATTR or LET needs no `with`. */
void print_stmt(struct printer *p, const struct stmt *s, bool last);

#endif
