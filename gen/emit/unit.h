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

/* A vector type that the source uses. loose: a type that has only the alignment
 * of its elements. */
struct vector_use {
	struct dtype type;
	bool loose;
	/* the type's name, and the line that defines the type; the line is ""
	 * if the type is built into the language */
	const char *name, *line;
};

/* A helper function that the source uses, for operands of `type` and a result
 * of type `to`. */
struct helper_use {
	const struct helper *helper;
	struct dtype type, to;
	const char *name; /* of the function */
	/* a function in which contraction (fused multiply-add) is forbidden
	 * calls the helper */
	bool apart;
};

/* A parameter of an external function. */
struct external_param {
	struct dtype type;
	bool pointer, is_const;
	/* the keyword of the pointer's address space, or NULL */
	const char *space;
};

/* A function that the source calls and does not define itself. */
struct external {
	const char *name;    /* the name of the function in the program */
	const char *printed; /* in the source */
	struct dtype ret;
	struct external_param *params;
	int n;
	/* If a tensor intrinsic defines the function: its symbol, and the
	 * symbol's text for the dialect, which is put into the source. NULL:
	 * the source only declares the function, and the user links it. */
	const struct intrinsic_symbol *symbol;
	const struct intrinsic_text *text;
};

/* `range` sets *out to the value range of the elements of parameter b, an
 * array. It returns false if a call of the function passes an array that is not
 * a constant of the model, or if the range of a constant is not known. */
struct constant_ranges {
	bool (*range)(void *ctx, const struct buffer *b,
		      /* the parameter of `range` that it sets */
		      struct bounds *out);
	void *ctx;
};

/* A pointer variable, and its name in the source. */
struct named_pointer {
	const struct var *var;
	const char *text;
};

struct unit {
	struct module *m;
	/* Facts about the kernel that is printed. shifted_most: a bound, proven
	 * from constants, of the magnitude of each integer that the kernel
	 * shifts left by `shift` bits; 0: unknown. */
	int64_t shifted_most, shift;
	/* shifted_most does not hold for elements that are multiplied by 0 */
	bool shifts_larger;
	const struct dialect *d;
	struct arena *a;
	VEC(const char *) headers;      /* sorted */
	VEC(struct vector_use) vectors; /* in order of first use */
	VEC(struct helper_use) helpers;
	/* names at file scope, which local names must not shadow */
	struct name_set globals;
	/* functions that are not in the module and that bodies may call */
	VEC(const struct func *) callees;
	/* maps a function's name, as expr_string(), to its index in callees */
	struct pointer_map callee;
	VEC(struct external) externals; /* in order of first use */
	/* prefix of the names of functions that are only declared (struct
	 * program_text), or NULL */
	const char *external_prefix;
	const struct intrinsic_set *intrinsics; /* loaded when first needed */
	/* the printed function forbids contraction: compilers must not replace
	 * a product and a sum by a fused multiply-add */
	bool apart;
	/* the model whose threads run parallel loops, or NULL */
	const char *model;
	/* The target has no vector registers: vectorized loops are printed as
	 * serial ones, without a pragma, since compilers would warn about the
	 * pragma. */
	bool no_lanes;
	/* the function of a model's source that tirc makes to call the kernels;
	 * NULL in other sources */
	const struct func *entry;
	/* `entry` shows tensors to its caller: calls of ENTRY_TRACED are
	 * spelled by the dialect's access.traced */
	bool traced;
	/* the host reads elements that kernels compute, and waits for the
	 * kernels */
	bool reads_back;
	/* Texts of the functions into which the parallel loops of the printed
	 * function are outlined; in the source they stand before the printed
	 * function. */
	VEC(const char *) parts;
	/* the function that is printed is one of `parts` */
	bool in_part;
	struct constant_ranges constants;
	/* the intrinsics that functions may call, or NULL */
	const struct tensor_intrins *intrins;
	/* how comments show names of the model; NULL: each name as it is */
	struct long_names *names;
	/* the variable that points to the model's struct, or NULL */
	const struct var *model_var;
	/* the pointer variables that the printed bodies declare, in order */
	VEC(struct named_pointer) pointers;
};

/* Kinds of values, which need different casts when they are passed as
 * arguments. */
enum value_kind {
	VALUE_SCALAR,
	VALUE_VOID_POINTER, /* void *: converts to any pointer */
	VALUE_CONST_VOID_POINTER,
	VALUE_POINTER, /* pointer to elements */
	VALUE_ARRAY    /* an array with the shape of `buffer` */
};

/* The text that stands for a variable, or for a buffer by its data variable. */
struct binding {
	const struct var *var;
	const char *text;
	enum value_kind kind;
	/* is_const: the function does not write the array. flat: the array is
	 * accessed with one linearized index. data: the variable's value
	 * depends on elements of arrays (walk_is_data), not only on loop
	 * variables and sizes. */
	bool is_const, flat, data;
	/* the array is declared by an ALLOC of the printed function; it is not
	 * a parameter */
	bool local;
	enum memory_space space; /* the memory of a pointer's or an array's
				  * elements */
	/* each element of the array is a fragment, a tile of the last two
	 * dimensions of the buffer (struct fragment_form) */
	bool fragment;
	const struct buffer *buffer;
	/* of the variable of a LET that the source declares under the name
	 * `text`: the value; NULL for other variables */
	const struct expr *value;
	/* index in `bindings` of the earlier binding of var that this one
	 * shadows, or -1 */
	int outer;
};

void unit_init(struct unit *u, struct module *m, const struct dialect *d);
/* Makes the source include a header. */
void unit_need(struct unit *u, const char *header);
/* Allows bodies to call f, a function that need not be in the module. Its name
 * must not change afterwards. */
void unit_add_callee(struct unit *u, const struct func *f);
/* Adds the headers that the source includes to data, as the list "includes";
 * conditional headers come last. */
void unit_add_includes(const struct unit *u, struct tdata *data);
/* Makes the source include the headers of a type. */
void unit_need_type(struct unit *u, struct dtype t);
/* The spelling of the type; its headers are added. NULL after a diagnostic if
 * the dialect does not have the type. */
const char *unit_type(struct unit *u, struct dtype t);
/* The spelling of the type of b's elements; of vectors with less than their
 * natural alignment, a loose type (struct vector_use). Its headers are added.
 * NULL after a diagnostic. */
const char *unit_element_type(struct unit *u, const struct buffer *b);
/* The name of the vector type t, whose definition is added; loose: see struct
 * vector_use. NULL after a diagnostic. */
const char *unit_vector(struct unit *u, struct dtype t, bool loose);
/* The data about type t for templates: its spelling, short name, number of bits
 * and others. */
const struct tdata *unit_facts(struct unit *u, struct dtype t);
/* The literal for the number v of type t. Adds the headers that the literal
 * needs to the unit. */
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
/* The text for the dialect of the tensor intrinsic that defines the external
 * function `name`; NULL if no intrinsic defines it. The function must have been
 * recorded by unit_external(). */
const struct intrinsic_text *unit_external_text(const struct unit *u,
						const char *name);
/* The name that the source gives to the external function `name`, which
 * unit_external() must have recorded. */
const char *unit_external_name(const struct unit *u, const char *name);
/* Appends the helpers that functions use, each followed by an empty line, then
 * what unit_print_externals appends. False after a diagnostic. */
bool unit_print_helpers(struct unit *u, struct strbuf *out);
/* Adds to data the dialect's lines around a run of functions in which
 * contraction is forbidden. "exact_starts": the lines before the run if this
 * function starts it; "exact_ends": the lines after the run if this function
 * ends it. If a function does neither, these lists are empty. */
void unit_add_guard(struct unit *u, struct tdata *data, bool starts, bool ends);
/* relied_on.c. unit_print_relied_on appends the lines that stop a compiler
 * which does not use the required instructions. unit_relied_on returns the i-th
 * requirement; NULL if there are at most i. */
bool unit_print_relied_on(struct unit *u, struct strbuf *out);
const struct requirement *unit_relied_on(const struct unit *u, int i);
/* Appends the declarations of external functions, then the intrinsic texts that
 * define the other functions, each once. False after a diagnostic. */
bool unit_print_externals(struct unit *u, struct strbuf *out);
/* Does f have loops that are outlined into functions (struct task_forms), which
 * the model's threads run? */
bool unit_shares(const struct unit *u, const struct func *f);
/* Appends the text of a function, preceded by the functions into which its
 * parallel loops are outlined. False after a diagnostic. */
bool unit_func(struct unit *u, const struct func *f, struct strbuf *out);
/* Appends the text of the function f alone, with external linkage. False after
 * a diagnostic. */
bool unit_exported(struct unit *u, const struct func *f, struct strbuf *out);
/* Appends the declaration of f, for a header that other languages may include.
 * False after a diagnostic. */
bool unit_prototype(struct unit *u, const struct func *f, struct strbuf *out);
/* Adds a list of f's parameters to data; each item has a "text", the
 * parameter's declaration. `bound` has room for all parameters and gets their
 * bindings. False after a diagnostic. */
bool unit_parameters(struct unit *u, const struct func *f, struct tdata *data,
		     const char *list, struct binding *bound);
/* The text of the argument `value`, an array or pointer, for a parameter that
 * is a read-only pointer to elements of b. */
const char *unit_argument(struct unit *u, const struct binding *value,
			  const struct buffer *b);
/* The text of an expression of f's scalar parameters, for a language with
 * integers of unlimited size. */
const char *unit_expr(struct unit *u, const struct func *f,
		      const struct expr *e);
/* The text of an expression of f's parameters, in which the parameters have the
 * n given bindings. */
const char *unit_bound_expr(struct unit *u, const struct func *f,
			    const struct binding *params, int n,
			    const struct expr *e);
/* Appends the statements of f's body, indented by one tab. params: the n
 * bindings of its parameters. False after a diagnostic. */
bool unit_body(struct unit *u, const struct func *f,
	       const struct binding *params, int n, struct strbuf *out);
/* The extent, as text, of a C array that has room for the elements of b, at least
 * "1"; NULL if b's size is not constant. */
const char *unit_elements(struct arena *a, const struct buffer *b);
/* Is an element of b accessed with one linearized index instead of one index
 * for each dimension? True if b has strides, or if an extent other than the
 * first is not constant. */
bool buffer_is_flat(const struct buffer *b);

#endif
