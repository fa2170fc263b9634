/* SPDX-License-Identifier: Apache-2.0 */
/* The walker: lowered functions as text, by the words of a dialect. A unit is
 * one source file: it collects the headers and helpers that its functions
 * use. */
#ifndef TIRC_WALK_H
#define TIRC_WALK_H

#include "analyse.h"
#include "dialect.h"
#include "identifiers.h"
#include "intrinsics.h"
#include "line_breaks.h"
#include "pointer_map.h"
#include "value_range.h"
#include "width.h"

/* A vector type; loose: aligned as its elements are. */
struct vector_use {
	struct dtype type;
	bool loose;
	const char *name, *line; /* its definition; "": the language has it */
};

struct helper_use {
	const struct helper *helper;
	struct dtype type, to;
	const char *name;
	bool apart; /* functions use it in which products are not fused */
};

/* A parameter of a symbol from outside. */
struct external_param {
	struct dtype type;
	bool pointer, is_const;
	const char *space; /* the word for its memory, or NULL */
};

struct external {
	const char *name;
	struct dtype ret;
	struct external_param *params;
	int n;
	const struct intrinsic_symbol *symbol; /* written here, or NULL */
	const struct intrinsic_text *text;
};

/* Tells in which range all elements of a parameter are that is a constant of the
 * model, for every call of its function. False: it is no such constant. */
struct constant_ranges {
	bool (*range)(void *ctx, const struct buffer *b,
		      struct value_range *out); /* NULL: nothing is known */
	void *ctx;
};

struct named_pointer {
	const struct var *var;
	const char *text;
};

struct unit {
	struct module *m;
	const struct dialect *d;
	struct arena *a;
	VEC(const char *) headers;      /* sorted */
	VEC(struct vector_use) vectors; /* in order of first use */
	VEC(struct helper_use) helpers;
	struct name_set globals;          /* of the file: no local takes one */
	VEC(const struct func *) callees; /* beside those of the module */
	struct pointer_map callee;        /* by its name's expression: which */
	VEC(struct external) externals;   /* in order of first use */
	const struct intrinsic_set *intrinsics; /* loaded on first need */
	bool apart;              /* products are not added unrounded */
	const char *model;       /* whose threads share loops; or NULL */
	VEC(const char *) parts; /* functions that stand before this one */
	bool in_part;            /* this one is such a function */
	struct constant_ranges constants;
	const struct tensor_intrins *intrins; /* that functions call, or NULL */
	const struct var *model_var; /* of the model's struct; or NULL */
	/* Pointers that bodies named, in order: the variable, and its text. */
	VEC(struct named_pointer) pointers;
};

/* What a call may be given without a cast. */
enum value_kind {
	VALUE_SCALAR,
	VALUE_VOID_POINTER, /* converts to any pointer */
	VALUE_CONST_VOID_POINTER,
	VALUE_POINTER, /* to elements */
	VALUE_ARRAY    /* of the shape of `buffer` */
};

/* How a variable (or a buffer, by its data variable) is spelled. */
struct binding {
	const struct var *var;
	const char *text;
	enum value_kind kind;
	bool is_const, flat, data;
	bool local;              /* the function declares it */
	enum memory_space space; /* of pointers and arrays */
	bool fragment;           /* its last two dimensions are inside of it */
	const struct buffer *buffer;
	const struct expr *value; /* what it stands for, or NULL */
	int outer; /* which binding of var this one hides; -1: none */
};

void unit_init(struct unit *u, struct module *m, const struct dialect *d);
void unit_need(struct unit *u, const char *header);
/* Lets bodies call f, which the module need not have. Its name is final. */
void unit_add_callee(struct unit *u, const struct func *f);
/* Adds them to data as the list "includes", those that have a condition
 * last. */
void unit_add_includes(const struct unit *u, struct tdata *data);
void unit_need_type(struct unit *u, struct dtype t);
/* How the type is spelled; with what that needs. NULL: the dialect has no such
 * type; diagnosed. */
const char *unit_type(struct unit *u, struct dtype t);
/* The same for elements of b, which may be vectors of no known alignment. */
const char *unit_element_type(struct unit *u, const struct buffer *b);
const char *unit_vector(struct unit *u, struct dtype t, bool loose);
/* What templates may say of a type. */
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
/* How a symbol that was noted is written here; NULL: it is not. */
const struct intrinsic_text *unit_external_text(const struct unit *u,
						const char *name);
/* Appends the helpers that were used, each followed by an empty line; also
 * what intrinsics are written as, and declarations of other symbols. */
bool unit_print_helpers(struct unit *u, struct strbuf *out);
/* The dialect's lines before and behind functions in which products are kept
 * apart, as the lists "exact_starts" and "exact_ends" of data; empty where the
 * function is not the first or not the last of a run of such. */
void unit_add_guard(struct unit *u, struct tdata *data, bool starts, bool ends);
bool unit_print_externals(struct unit *u, struct strbuf *out);
/* Does f hand loops to the threads of the model? */
bool unit_shares(const struct unit *u, const struct func *f);
/* Appends the text of a function, behind those that its loops became. */
bool unit_func(struct unit *u, const struct func *f, struct strbuf *out);
/* The same, a function that others call. */
bool unit_exported(struct unit *u, const struct func *f, struct strbuf *out);
/* Its declaration, as a header that other languages read may have it. */
bool unit_prototype(struct unit *u, const struct func *f, struct strbuf *out);
/* Adds an item for each parameter to the list, with its "text"; bound, with
 * room for all, tells what each is called. False: diagnosed. */
bool unit_parameters(struct unit *u, const struct func *f, struct tdata *data,
		     const char *list, struct binding *bound);
/* An array as an argument where a pointer to the elements of b is wanted, which
 * nobody writes. */
const char *unit_argument(struct unit *u, const struct binding *value,
			  const struct buffer *b);
/* An expression of f's scalar parameters, in whole numbers of any width. */
const char *unit_expr(struct unit *u, const struct func *f,
		      const struct expr *e);
/* The same of parameters that are spelled as the bindings say. */
const char *unit_bound_expr(struct unit *u, const struct func *f,
			    const struct binding *params, int n,
			    const struct expr *e);
/* Appends the statements of f's body alone, one tab in; the parameters are
 * spelled as the bindings say. */
bool unit_body(struct unit *u, const struct func *f,
	       const struct binding *params, int n, struct strbuf *out);

/* -- within the walker -- */

struct walker;
/* walk_share.c: a parallel loop as a function of its own; data has what the
 * texts of dialect.tasks may say. False: it is a loop like others. */
bool walk_share(struct walker *w, struct stmt *loop, struct tdata *data);

/* What a kernel copies boxes of: of one parameter, of one shape, to arrays of one
 * scope. */
struct box_source {
	const struct expr *copy; /* the first one */
	int param;
	const char *name; /* NULL: it has none here */
};

struct box_sources {
	const struct func *kernel; /* NULL: there is none */
	VEC(struct box_source) list;
};

/* A local array whose life is over when that of a later one begins, which is
 * alike: both are one in the text. */
struct same_array {
	const struct buffer *first, *later;
};

struct walker {
	struct unit *u;
	const struct dialect *d;
	struct arena *a;
	struct module *m;
	const struct func *f;
	struct strbuf *out;
	struct analyser an;
	struct value_ranges ranges;
	bool knows_bytes; /* ranges has those of constants of bytes, too */
	int indent;
	bool deep; /* many levels, of a few columns each */
	enum { WROTE_NOTHING, WROTE_DECLARATION, WROTE_STATEMENT } wrote;
	VEC(struct binding) bindings;
	struct pointer_map bound;  /* variables: their innermost binding */
	VEC(const char *) visible; /* names, innermost last */
	struct pointer_map times_visible; /* by a string's expression */
	VEC(const struct stmt *) done;    /* stores that became initialisers */
	VEC(struct same_array) same;      /* arrays that stand in for others */
	bool failed;
	bool shares; /* within a parallel loop */
	/* Lanes at hand of the vectors of a predicated loop, or NULL. */
	const char *count;
	const struct expr *unrounded; /* whoever stores it rounds it */
	bool whole;                   /* numbers are whole ones, of no width */
	bool addressed;               /* within the operand of address_of */
	bool declares; /* a prototype: no promise about aliases is needed */
	/* What the function does first and last for symbols that it calls, or
	 * NULL. */
	const char *begin, *end;
	struct box_sources boxes;     /* of this function, if it is a kernel */
	const char *copies, *arrived; /* what boxes are counted by; or NULL */
};

/* What a parameter b is given for a pointer that is spelled like that; is_const:
 * it is not written. */
const char *walk_pointer_argument(struct walker *w, const struct binding *value,
				  const struct buffer *b, bool is_const,
				  enum memory_space space);

/* Text with layout marks, not yet a group of its own. */
struct piece {
	const char *text;
	int level;
};

/* How products of that type are spelled here. */
enum form_id walk_product(const struct walker *w, struct dtype t);
/* Has the dialect one form for this sum of a vector and a product of bytes? */
bool walk_fuses(struct walker *w, const struct expr *e);
/* The text of e where something that binds as tightly as `level` fits. */
const char *walk_expr(struct walker *w, const struct expr *e, int level);
const char *walk_element(struct walker *w, const struct buffer *b,
			 const struct expr *const *index, int n);
/* walk_stored.c: the type of values of type t, which may only be stored; a
 * value just loaded; the result of e; e's value as it is stored. */
struct dtype walk_computed(const struct walker *w, struct dtype t);
bool walk_is_stored_only(const struct walker *w, struct dtype t);
struct piece walk_loaded(struct walker *w, struct dtype t, struct piece p);
struct piece walk_rounded(struct walker *w, const struct expr *e,
			  struct piece p);
const char *walk_stored(struct walker *w, const struct expr *e);
/* Does the value come from data, rather than from loops and sizes alone? */
bool walk_is_data(struct walker *w, const struct expr *e);
/* A call with the given arguments; that of a function of the program. */
struct piece walk_call(struct walker *w, const char *callee,
		       const char *const *args, int n);
struct piece walk_call_function(struct walker *w, const struct expr *e);
/* The arguments of a call, from the first-th on, with their commas. */
const char *walk_arguments(struct walker *w, const struct expr *e, int first);
const struct func *walk_callee(struct walker *w, const char *name);
/* A kernel's launch; the threads of a block wait. */
struct piece walk_launch(struct walker *w, const struct expr *e);
/* Bytes of shared arrays, where they are places in one; else 0. */
int64_t walk_pooled_bytes(const struct walker *w, const struct func *kernel);
/* A statement that has to stand before a program's launch, or NULL. */
const char *walk_before_launch(struct walker *w, const struct expr *e);
struct piece walk_barrier(struct walker *w, const struct expr *e);
struct piece walk_shuffle(struct walker *w, const struct expr *e);
/* Copies that arrive later: the end of a group, a wait. False if e is neither,
 * or the dialect has no such copies: then there is nothing to write. */
bool walk_async(struct walker *w, const struct expr *e, struct piece *out);
/* Does the function wait for what is copied to b? */
bool walk_is_awaited(struct walker *w, const struct buffer *b);
/* The store as such a copy; NULL: it is none. */
const char *walk_async_copy(struct walker *w, const struct stmt *s);
/* walk_boxes.c: what a kernel (NULL: none) copies boxes of; whether it does
 * nothing else with a parameter. */
void walk_find_boxes(struct walker *w, const struct func *kernel,
		     struct box_sources *out);
bool walk_only_boxes(const struct box_sources *boxes, int param);
/* The kernel's parameter for it, and what a launch gives, pointer being the
 * array. */
const char *walk_box_parameter(struct walker *w, struct box_source *source);
const char *walk_box_argument(struct walker *w, const struct box_source *source,
			      const char *pointer);
/* What a kernel starts with that copies boxes, on lines of l. */
void walk_box_begin(struct walker *w, struct layout *l);
/* A copy; the end of a group of these, a wait. */
const char *walk_copy_box(struct walker *w, const struct expr *e);
const char *walk_box_async(struct walker *w, const struct expr *e);
/* Do only intrinsics know where elements of such an array are? */
bool walk_is_opaque(const struct walker *w, const struct buffer *b);
/* The kernel of that name; NULL: there is none. */
const struct func *walk_kernel(struct walker *w, const char *name);
/* May the operation leave its type? Loops and sizes are planned to fit. */
bool walk_may_wrap(struct walker *w, const struct expr *e);
void walk_init_ranges(struct walker *w);
/* Is b an array of sums that are proven to stay within *most and its type? */
bool walk_bound(struct walker *w, const struct buffer *b, int64_t *most);
/* Is e a sum or product of wide integers that is proven to? */
bool walk_value_bound(struct walker *w, const struct expr *e, int64_t *most);
bool walk_is_negative(struct walker *w, const struct expr *e);
/* Is the divisor known to be neither 0 nor -1? */
bool walk_is_safe_divisor(struct walker *w, const struct expr *e);
void walk_stmt(struct walker *w, struct stmt *s);
/* walk_parts.c: the stores of a vectorized loop on vectors, the last of which
 * may have fewer lanes. False: it is a loop like others. */
bool walk_part_type(struct walker *w, struct stmt *loop, struct dtype *t);
struct stmt *walk_parts(struct walker *w, struct stmt *loop, struct dtype t);

/* Fills in one of the dialect's texts. */
const char *walk_render(struct walker *w, const char *text,
			const struct tdata *data);
struct binding *walk_find(struct walker *w, const struct var *v);
/* Its index; -1 where walk_find gives NULL. */
int walk_binding(const struct walker *w, const struct var *v);
/* Adds a binding, which hides those of the same variable; valid until the next
 * one is added. */
struct binding *walk_add(struct walker *w, const struct binding *b);
/* Forgets all but the first ones. */
void walk_drop(struct walker *w, int bindings, int visible);
/* A name for v, like no other that is visible. */
struct binding *walk_bind(struct walker *w, const struct var *v,
			  const char *base);
bool walk_fail(struct walker *w, const char *fmt, ...) TIRC_PRINTF(2, 3);
/* What the file of a dialect, w's or one that it extends, refuses. */
bool walk_refuse(struct walker *w, const char *file, const char *why);
/* Is e a sum of vectors with a product that the dialect adds in one? */
bool walk_multiplies_too(const struct walker *w, const struct expr *e);
/* How many elements b has; NULL: that is no number. */
const char *walk_elements(struct arena *a, const struct buffer *b);
/* Is b accessed with one index, computed, rather than one per dimension? */
bool buffer_is_flat(const struct buffer *b);
/* The same in this dialect, which may have no arrays of arrays. */
bool walk_is_flat(const struct walker *w, const struct buffer *b);

#endif
