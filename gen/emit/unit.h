/* SPDX-License-Identifier: Apache-2.0 */
/* A unit is one source file in a dialect. It prints functions, prototypes and
 * expressions as text, and collects the headers, types and helpers that they
 * use. */
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

/* A vector type. loose: it has only the alignment of its elements. */
struct vector_use {
	struct dtype type;
	bool loose;
	/* line: its definition; "" if it is built into the language */
	const char *name, *line;
};

struct helper_use {
	const struct helper *helper;
	struct dtype type, to;
	const char *name;
	bool apart; /* functions that forbid contraction use it */
};

/* A parameter of an external function. */
struct external_param {
	struct dtype type;
	bool pointer, is_const;
	/* the keyword of the pointer's address space, or NULL */
	const char *space;
};

struct external {
	const char *name;
	struct dtype ret;
	struct external_param *params;
	int n;
	/* defined by this intrinsic; NULL: only declared */
	const struct intrinsic_symbol *symbol;
	const struct intrinsic_text *text;
};

/* A callback that gives the value range of the elements of parameter b, if the
 * argument is a constant of the model in every call of the function. It returns
 * false if not. */
struct constant_ranges {
	bool (*range)(void *ctx, const struct buffer *b,
		      struct bounds *out); /* NULL if no ranges are known */
	void *ctx;
};

struct named_pointer {
	const struct var *var;
	const char *text;
};

struct unit {
	struct module *m;
	/* shifted_most: a bound, proven from constants, of the magnitude of
	 * each integer that the kernel shifts left by `shift`; 0: unknown. */
	int64_t shifted_most, shift;
	/* Elements that are multiplied by 0 may be larger than shifted_most. */
	bool shifts_larger;
	const struct dialect *d;
	struct arena *a;
	VEC(const char *) headers;      /* sorted */
	VEC(struct vector_use) vectors; /* in order of first use */
	VEC(struct helper_use) helpers;
	/* names at file scope, which local names must not shadow */
	struct name_set globals;
	/* callees besides the functions of the module */
	VEC(const struct func *) callees;
	/* from the expression of a name to the callee */
	struct pointer_map callee;
	VEC(struct external) externals;         /* in order of first use */
	const struct intrinsic_set *intrinsics; /* loaded when first needed */
	/* products and sums must not be contracted */
	bool apart;
	/* the model whose threads run parallel loops, or NULL */
	const char *model;
	/* the function that tirc makes to call the others, or NULL */
	const struct func *entry;
	bool reads_back; /* the host waits for the results of kernels */
	/* functions for loops that were emitted before this one */
	VEC(const char *) parts;
	/* the function that is printed is one of `parts` */
	bool in_part;
	struct constant_ranges constants;
	/* the intrinsics that functions may call, or NULL */
	const struct tensor_intrins *intrins;
	/* the variable of the model's struct, or NULL */
	const struct var *model_var;
	/* The pointer variables that bodies declared, in order, and their
	 * names. */
	VEC(struct named_pointer) pointers;
};

/* Kinds of values, by the casts that they need as arguments. */
enum value_kind {
	VALUE_SCALAR,
	VALUE_VOID_POINTER, /* void *: converts to any pointer */
	VALUE_CONST_VOID_POINTER,
	VALUE_POINTER, /* pointer to elements */
	VALUE_ARRAY    /* array with the shape of `buffer` */
};

/* The text that stands for a variable, or for a buffer by its data variable. */
struct binding {
	const struct var *var;
	const char *text;
	enum value_kind kind;
	bool is_const, flat, data;
	bool local;              /* the function itself declares it */
	enum memory_space space; /* for pointers and arrays */
	/* each element is a fragment, for the last two dimensions of the
	 * buffer */
	bool fragment;
	const struct buffer *buffer;
	/* the expression that replaces the variable, or NULL */
	const struct expr *value;
	/* index of the binding of var that this one shadows, or -1 */
	int outer;
};

void unit_init(struct unit *u, struct module *m, const struct dialect *d);
void unit_need(struct unit *u, const char *header);
/* Makes f, which need not be in the module, a function that bodies may call.
 * Its name must not change afterwards. */
void unit_add_callee(struct unit *u, const struct func *f);
/* Adds the list "includes" of headers to data, conditional ones last. */
void unit_add_includes(const struct unit *u, struct tdata *data);
void unit_need_type(struct unit *u, struct dtype t);
/* The spelling of the type; its headers are added. NULL after a diagnostic if
 * the dialect does not have the type. */
const char *unit_type(struct unit *u, struct dtype t);
/* The same for the elements of b, which may be vectors of unknown alignment. */
const char *unit_element_type(struct unit *u, const struct buffer *b);
const char *unit_vector(struct unit *u, struct dtype t, bool loose);
/* The names about a type that templates may use. */
const struct tdata *unit_facts(struct unit *u, struct dtype t);
const char *unit_literal(struct unit *u, struct dtype t, union number v);
/* The name of a helper for operands of type t and results of type `to`, which
 * is added to the unit. NULL after a diagnostic. */
const char *unit_helper(struct unit *u, const struct helper *h, struct dtype t,
			struct dtype to);
/* Records a call of an external function with n parameters (in the arena), for
 * its declaration. False after a diagnostic. */
bool unit_external(struct unit *u, const struct func *f, const char *name,
		   struct dtype ret, const struct external_param *params,
		   int n);
/* The intrinsic text of a recorded external function, or NULL. */
const struct intrinsic_text *unit_external_text(const struct unit *u,
						const char *name);
/* Appends the helpers, each followed by an empty line, the intrinsic texts, and
 * the declarations of other external functions. */
bool unit_print_helpers(struct unit *u, struct strbuf *out);
/* The dialect has lines around functions that must not be contracted. Adds
 * these to data as the lists "exact_starts" and "exact_ends"; they are empty
 * unless the function is the first or the last of a run of such functions. */
void unit_add_guard(struct unit *u, struct tdata *data, bool starts, bool ends);
/* relied_on.c. unit_print_relied_on appends the lines that refuse a compiler
 * without the required instructions; unit_relied_on gives the i-th requirement,
 * NULL after the last one. */
bool unit_print_relied_on(struct unit *u, struct strbuf *out);
const struct requirement *unit_relied_on(const struct unit *u, int i);
bool unit_print_externals(struct unit *u, struct strbuf *out);
/* Does f have loops that the model's threads run? */
bool unit_shares(const struct unit *u, const struct func *f);
/* Appends the text of a function, preceded by the functions into which its
 * parallel loops are outlined. False after a diagnostic. */
bool unit_func(struct unit *u, const struct func *f, struct strbuf *out);
/* The same with external linkage. */
bool unit_exported(struct unit *u, const struct func *f, struct strbuf *out);
/* Appends its declaration, for a header that other languages may include. */
bool unit_prototype(struct unit *u, const struct func *f, struct strbuf *out);
/* Adds a list of the parameters to data; each item has a "text". `bound` has
 * room for all parameters and gets their bindings. False after a diagnostic. */
bool unit_parameters(struct unit *u, const struct func *f, struct tdata *data,
		     const char *list, struct binding *bound);
/* The argument for a parameter that is a read-only pointer to elements of b,
 * from an array or pointer with this binding. */
const char *unit_argument(struct unit *u, const struct binding *value,
			  const struct buffer *b);
/* The text of an expression of f's scalar parameters, for a language with
 * integers of unlimited size. */
const char *unit_expr(struct unit *u, const struct func *f,
		      const struct expr *e);
/* The same with the given bindings of the parameters. */
const char *unit_bound_expr(struct unit *u, const struct func *f,
			    const struct binding *params, int n,
			    const struct expr *e);
/* Appends the statements of f's body, indented by one tab; bound: the bindings
 * of the parameters. */
bool unit_body(struct unit *u, const struct func *f,
	       const struct binding *params, int n, struct strbuf *out);
/* The number of elements of b as text; NULL if it is not constant. */
const char *unit_elements(struct arena *a, const struct buffer *b);
/* Is b accessed with one linearized index instead of one index for each
 * dimension? */
bool buffer_is_flat(const struct buffer *b);

#endif
