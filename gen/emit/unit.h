/* SPDX-License-Identifier: Apache-2.0 */
/* A unit is one source file in a dialect. It collects the headers, types and
 * helpers that its functions use, and prints functions, prototypes and expressions
 * as text. */
#ifndef TIRC_UNIT_H
#define TIRC_UNIT_H

#include "analyse.h"
#include "dialect.h"
#include "identifiers.h"
#include "intrinsics.h"
#include "line_breaks.h"
#include "pointer_map.h"
#include "value_range.h"
#include "width.h"

/* A vector type; loose: with the alignment of its elements only. */
struct vector_use {
	struct dtype type;
	bool loose;
	/* its definition; "": built into the language */
	const char *name, *line;
};

struct helper_use {
	const struct helper *helper;
	struct dtype type, to;
	const char *name;
	bool apart; /* used by functions that forbid contraction */
};

/* A parameter of a symbol from outside. */
struct external_param {
	struct dtype type;
	bool pointer, is_const;
	const char *space; /* the keyword of its address space, or NULL */
};

struct external {
	const char *name;
	struct dtype ret;
	struct external_param *params;
	int n;
	const struct intrinsic_symbol *symbol; /* written here, or NULL */
	const struct intrinsic_text *text;
};

/* Callback: the value range of a parameter's elements, if the parameter is a
 * constant of the model in every call of its function. False: it is not. */
struct constant_ranges {
	bool (*range)(void *ctx, const struct buffer *b,
		      struct bounds *out); /* NULL: nothing is known */
	void *ctx;
};

struct named_pointer {
	const struct var *var;
	const char *text;
};

struct unit {
	struct module *m;
	/* The largest magnitude of each integer that the kernel shifts left by
	 * `shift`, proven from constants; 0: not known. */
	int64_t shifted_most, shift;
	/* Some elements may be larger: their product with 0 does not depend on
	 * them. */
	bool shifts_larger;
	const struct dialect *d;
	struct arena *a;
	VEC(const char *) headers;      /* sorted */
	VEC(struct vector_use) vectors; /* in order of first use */
	VEC(struct helper_use) helpers;
	/* names at file scope: no local shadows one */
	struct name_set globals;
	/* in addition to the module's functions */
	VEC(const struct func *) callees;
	/* callees by the expression of their name */
	struct pointer_map callee;
	VEC(struct external) externals;         /* in order of first use */
	const struct intrinsic_set *intrinsics; /* loaded on first need */
	/* contraction of products and sums is forbidden */
	bool apart;
	/* the model whose threads run parallel loops; or NULL */
	const char *model;
	bool is_entry;           /* tirc made its functions: no program did */
	bool reads_back;         /* the host waits for what kernels store */
	VEC(const char *) parts; /* functions emitted before this one */
	bool in_part;            /* this function is one of the parts */
	struct constant_ranges constants;
	/* intrinsics that functions call, or NULL */
	const struct tensor_intrins *intrins;
	const struct var *model_var; /* of the model's struct; or NULL */
	/* Pointer variables that bodies declared, in order, and their texts. */
	VEC(struct named_pointer) pointers;
};

/* Kinds of arguments that need no cast. */
enum value_kind {
	VALUE_SCALAR,
	VALUE_VOID_POINTER, /* converts to any pointer */
	VALUE_CONST_VOID_POINTER,
	VALUE_POINTER, /* to elements */
	VALUE_ARRAY    /* of the shape of `buffer` */
};

/* The text of a variable (or of a buffer, by its data variable). */
struct binding {
	const struct var *var;
	const char *text;
	enum value_kind kind;
	bool is_const, flat, data;
	bool local;              /* the function declares it */
	enum memory_space space; /* of pointers and arrays */
	/* a fragment, which contains the last two dimensions */
	bool fragment;
	const struct buffer *buffer;
	/* the expression it is replaced by, or NULL */
	const struct expr *value;
	int outer; /* the binding of var that this one shadows; -1: none */
};

void unit_init(struct unit *u, struct module *m, const struct dialect *d);
void unit_need(struct unit *u, const char *header);
/* Declares f, which need not be in the module, as a callee of bodies. Its name
 * is final. */
void unit_add_callee(struct unit *u, const struct func *f);
/* Adds the headers to data as the list "includes", conditional ones last. */
void unit_add_includes(const struct unit *u, struct tdata *data);
void unit_need_type(struct unit *u, struct dtype t);
/* The text of the type, whose headers are noted. NULL: the dialect lacks the
 * type; diagnosed. */
const char *unit_type(struct unit *u, struct dtype t);
/* The same for elements of b, which may be vectors of no known alignment. */
const char *unit_element_type(struct unit *u, const struct buffer *b);
const char *unit_vector(struct unit *u, struct dtype t, bool loose);
/* The names that templates may use for a type. */
const struct tdata *unit_facts(struct unit *u, struct dtype t);
const char *unit_literal(struct unit *u, struct dtype t, union number v);
/* Name of a helper for operands of type t (and result type to). */
const char *unit_helper(struct unit *u, const struct helper *h, struct dtype t,
			struct dtype to);
/* Notes the call of a symbol from outside; n parameters (in the arena). False:
 * diagnosed. */
bool unit_external(struct unit *u, const struct func *f, const char *name,
		   struct dtype ret, const struct external_param *params,
		   int n);
/* The intrinsic text of a noted external symbol; NULL: it has none. */
const struct intrinsic_text *unit_external_text(const struct unit *u,
						const char *name);
/* Appends the helpers in use, each followed by an empty line, the texts of
 * intrinsics, and declarations of other symbols. */
bool unit_print_helpers(struct unit *u, struct strbuf *out);
/* Adds the dialect's lines around functions that forbid contraction as the
 * lists "exact_starts" and "exact_ends" of data; empty unless the function is
 * the first or the last of a run of such functions. */
void unit_add_guard(struct unit *u, struct tdata *data, bool starts, bool ends);
/* relied_on.c: appends the lines by which a compiler that lacks instructions
 * refuses the source; the i-th requirement behind them, NULL: there is none. */
bool unit_print_relied_on(struct unit *u, struct strbuf *out);
const struct requirement *unit_relied_on(const struct unit *u, int i);
bool unit_print_externals(struct unit *u, struct strbuf *out);
/* Does f hand loops to the threads of the model? */
bool unit_shares(const struct unit *u, const struct func *f);
/* Appends the text of a function, after the functions that its parallel loops
 * became. */
bool unit_func(struct unit *u, const struct func *f, struct strbuf *out);
/* The same with external linkage. */
bool unit_exported(struct unit *u, const struct func *f, struct strbuf *out);
/* Its declaration for a header that other languages may include. */
bool unit_prototype(struct unit *u, const struct func *f, struct strbuf *out);
/* Adds an item with a "text" for each parameter to the list; bound, with room
 * for all, gets the parameters' bindings. False: diagnosed. */
bool unit_parameters(struct unit *u, const struct func *f, struct tdata *data,
		     const char *list, struct binding *bound);
/* An array as the argument for a parameter that is a read-only pointer to
 * elements of b. */
const char *unit_argument(struct unit *u, const struct binding *value,
			  const struct buffer *b);
/* An expression of f's scalar parameters, in whole numbers of any width. */
const char *unit_expr(struct unit *u, const struct func *f,
		      const struct expr *e);
/* The same with the given bindings of the parameters. */
const char *unit_bound_expr(struct unit *u, const struct func *f,
			    const struct binding *params, int n,
			    const struct expr *e);
/* Appends the statements of f's body, indented by one tab, with the given
 * bindings of the parameters. */
bool unit_body(struct unit *u, const struct func *f,
	       const struct binding *params, int n, struct strbuf *out);
/* The number of elements of b; NULL: not constant. */
const char *unit_elements(struct arena *a, const struct buffer *b);
/* Is b accessed with one linearized index instead of one per dimension? */
bool buffer_is_flat(const struct buffer *b);

#endif
