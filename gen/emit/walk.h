/* SPDX-License-Identifier: Apache-2.0 */
/* The emitter's tree walker: lowered functions as text in a dialect. A unit is
 * one source file; it collects the headers and helpers that its functions
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

/* -- within the walker -- */

struct walker;
/* walk_parallel_function.c: outlines a parallel loop; data gets the names for the
 * texts of dialect.tasks. False: the loop is emitted as an ordinary one. */
bool walk_share(struct walker *w, struct stmt *loop, struct tdata *data);

/* The source of bulk tensor copies in a kernel: one parameter, one box shape,
 * one destination scope. */
struct box_source {
	const struct expr *copy; /* the first copy */
	int param;
	const char *name; /* NULL: no name here */
};

struct box_sources {
	const struct func *kernel; /* NULL: no kernel */
	VEC(struct box_source) list;
};

/* Two equal local arrays with disjoint live ranges: one declaration serves
 * both. */
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
	bool knows_bytes; /* ranges includes constants of bytes */
	int indent;
	bool deep; /* many levels, of a few columns each */
	enum { WROTE_NOTHING, WROTE_DECLARATION, WROTE_STATEMENT } wrote;
	VEC(struct binding) bindings;
	struct pointer_map bound;         /* innermost bindings of variables */
	VEC(const char *) visible;        /* names, innermost last */
	struct pointer_map times_visible; /* by a string's expression */
	VEC(const struct stmt *) done;    /* stores that became initialisers */
	VEC(struct same_array) same;      /* arrays that share a declaration */
	bool failed;
	bool shares; /* within a parallel loop */
	/* Lanes at hand of the vectors of a predicated loop, or NULL. */
	const char *count;
	const struct expr *unrounded; /* an expression that its store rounds */
	bool whole;                   /* numbers are unbounded integers */
	bool addressed;               /* within the operand of address_of */
	bool entry;                   /* a model's entry function */
	bool declares; /* a prototype: no promise about aliases is needed */
	/* Text at the function's start and end that its external symbols need,
	 * or NULL. */
	const char *begin, *end;
	struct box_sources boxes;     /* of this function's kernel */
	const char *copies, *arrived; /* counters of bulk copies; or NULL */
};

/* The argument for a parameter b, from a pointer with that binding; is_const:
 * the callee does not write it. */
const char *walk_pointer_argument(struct walker *w, const struct binding *value,
				  const struct buffer *b, bool is_const,
				  enum memory_space space);

/* Text with layout marks, not yet a group of its own. */
struct piece {
	const char *text;
	int level;
};

/* The form of products of that type in the current function. */
enum form_id walk_product(const struct walker *w, struct dtype t);
/* Does the dialect have a fused form for this sum of a vector and a product of
 * bytes? */
bool walk_fuses(struct walker *w, const struct expr *e);
/* The text of e for a context of precedence `level`. */
const char *walk_expr(struct walker *w, const struct expr *e, int level);
struct piece walk_piece(struct walker *w, const struct expr *e);
struct piece walk_intrinsic(struct walker *w, const struct expr *e);
/* walk_form.c: an operator or function in the dialect's form for operands of
 * type t (and a result of type `to`). */
struct piece walk_apply(struct walker *w, enum form_id id, struct dtype t,
			const struct expr *const *args, int n);
struct piece walk_apply_to(struct walker *w, enum form_id id, struct dtype t,
			   struct dtype to, const struct expr *const *args,
			   int n);
/* A cast around a piece of text. */
struct piece walk_cast_text(struct walker *w, struct dtype t, struct piece p);
/* Casts back a result that integer promotion has widened. */
struct piece walk_narrowed(struct walker *w, struct dtype t, struct piece p);
/* For an expression that cannot be written: the walker has failed. */
struct piece walk_failed_piece(struct walker *w);
/* Is e a composite expression: the result of an operator, by the dialect's
 * precedence levels? */
bool walk_is_composite(struct walker *w, const struct expr *e);
/* Is e a value that is only cast to a longer type? */
bool walk_is_lengthened(const struct expr *e);
const char *walk_element(struct walker *w, const struct buffer *b,
			 const struct expr *const *index, int n);
/* The same in a function that launches kernels: an element of the device's
 * memory is read by a call. */
const char *walk_read_back(struct walker *w, const struct buffer *b,
			   const struct expr *const *index, int n);
/* Is it such an element? */
bool walk_is_on_device(struct walker *w, const struct buffer *b);
/* A load of the vector at `first` from b, an array of vectors, in the dialect's
 * form for loads of vectors; `first` itself if it has none. */
const char *walk_read_vector(struct walker *w, const struct buffer *b,
			     const char *first);
/* walk_stored.c, for storage-only types: the type in which values of type t are
 * computed; a loaded value widened; the result of e rounded. */
struct dtype walk_computed(const struct walker *w, struct dtype t);
bool walk_is_stored_only(const struct walker *w, struct dtype t);
struct piece walk_loaded(struct walker *w, struct dtype t, struct piece p);
struct piece walk_rounded(struct walker *w, const struct expr *e,
			  struct piece p);
const char *walk_stored(struct walker *w, const struct expr *e);
/* Does the value depend on data, and not on loops and sizes alone? */
bool walk_is_data(struct walker *w, const struct expr *e);
/* A call with the given arguments; a call of a function of the program. */
struct piece walk_call(struct walker *w, const char *callee,
		       const char *const *args, int n);
struct piece walk_call_function(struct walker *w, const struct expr *e);
/* The arguments of a call from number first on, separated by commas. */
const char *walk_arguments(struct walker *w, const struct expr *e, int first);
/* Is the name that a call has an identifier? False after a report. */
bool walk_names_function(struct walker *w, const char *name);
const struct func *walk_callee(struct walker *w, const char *name);
/* A kernel's launch; the threads of a block wait. */
struct piece walk_launch(struct walker *w, const struct expr *e);
/* The size of the pool that holds a kernel's shared arrays; 0: no pool. */
int64_t walk_pooled_bytes(const struct walker *w, const struct func *kernel);
/* A statement needed before a program's launch, or NULL. */
const char *walk_before_launch(struct walker *w, const struct expr *e);
struct piece walk_barrier(struct walker *w, const struct expr *e);
struct piece walk_shuffle(struct walker *w, const struct expr *e);
/* Asynchronous copies: a commit of a group, or a wait. False if e is neither or
 * the dialect has no asynchronous copies. */
bool walk_async(struct walker *w, const struct expr *e, struct piece *out);
/* Does the function wait for asynchronous copies to b? */
bool walk_is_awaited(struct walker *w, const struct buffer *b);
/* The store as an asynchronous copy; NULL: it is not one. */
const char *walk_async_copy(struct walker *w, const struct stmt *s);
/* walk_bulk_copy.c, bulk tensor copies: their sources in a kernel (NULL: none); is
 * a parameter used by them alone? */
void walk_find_boxes(struct walker *w, const struct func *kernel,
		     struct box_sources *out);
bool walk_only_boxes(const struct box_sources *boxes, int param);
/* The kernel's descriptor parameter, and the argument in a launch for the array
 * at pointer. */
const char *walk_box_parameter(struct walker *w, struct box_source *source);
const char *walk_box_argument(struct walker *w, const struct box_source *source,
			      const char *pointer);
/* Prints the prologue of a kernel with bulk copies. */
void walk_box_begin(struct walker *w, struct layout *l);
/* A bulk copy; a commit of bulk copies, or a wait. */
const char *walk_copy_box(struct walker *w, const struct expr *e);
const char *walk_box_async(struct walker *w, const struct expr *e);
/* Is the array's element layout opaque, known to intrinsics only? */
bool walk_is_opaque(const struct walker *w, const struct buffer *b);
/* The kernel of that name; NULL: there is none. */
const struct func *walk_kernel(struct walker *w, const char *name);
/* May the operation overflow? Arithmetic on loop variables and sizes is widened
 * where needed and cannot. */
bool walk_may_wrap(struct walker *w, const struct expr *e);
void walk_init_ranges(struct walker *w);
/* Is b an array of accumulators whose magnitude is proved to be at most *most,
 * within its type? */
bool walk_bound(struct walker *w, const struct buffer *b, int64_t *most);
/* The same for e, a sum or product of wide integers. */
bool walk_value_bound(struct walker *w, const struct expr *e, int64_t *most);
/* The smaller bound of a LET's value that is proven for shifting it left, if the
 * LET's statement does that. */
void walk_shifted_bound(struct walker *w, const struct stmt *let,
			int64_t *most);
bool walk_is_negative(struct walker *w, const struct expr *e);
/* Is the divisor known to be neither 0 nor -1? */
bool walk_is_safe_divisor(struct walker *w, const struct expr *e);
void walk_stmt(struct walker *w, struct stmt *s);
/* walk_predicated.c: a vectorized loop over vectors with a variable number of
 * lanes. False: the loop is emitted as an ordinary one. */
bool walk_part_type(struct walker *w, struct stmt *loop, struct dtype *t);
struct stmt *walk_parts(struct walker *w, struct stmt *loop, struct dtype t);

/* Fills in one of the dialect's texts. */
const char *walk_render(struct walker *w, const char *text,
			const struct tdata *data);
struct binding *walk_find(struct walker *w, const struct var *v);
/* The binding's index; -1 if walk_find returns NULL. */
int walk_binding(const struct walker *w, const struct var *v);
/* Adds a binding that shadows earlier ones of its variable; the pointer is
 * valid until the next call. */
struct binding *walk_add(struct walker *w, const struct binding *b);
/* Removes all but the first bindings. */
void walk_drop(struct walker *w, int bindings, int visible);
/* Binds v to a name that is unique among the visible ones. */
struct binding *walk_bind(struct walker *w, const struct var *v,
			  const char *base);
bool walk_fail(struct walker *w, const char *fmt, ...) TIRC_PRINTF(2, 3);
/* Reports a form that the file of a dialect (w's or one that it extends)
 * rejects. */
bool walk_refuse(struct walker *w, const char *file, const char *why);
/* Is e a sum of a vector and a product with a fused form in the dialect? */
bool walk_multiplies_too(const struct walker *w, const struct expr *e);
/* The number of elements of b; NULL: not constant. */
const char *walk_elements(struct arena *a, const struct buffer *b);
/* Is b accessed with one linearized index instead of one per dimension? */
bool buffer_is_flat(const struct buffer *b);
/* The same in this dialect, which may lack multidimensional arrays. */
bool walk_is_flat(const struct walker *w, const struct buffer *b);

/* -- walk_stmt.c and walk_alloc.c */
/* The array whose declaration serves b; b itself if none does. */
const struct buffer *walk_first_of(const struct walker *w,
				   const struct buffer *b);
/* One statement's text, with an empty line where a run of declarations starts
 * or ends inside a block. */
void walk_put(struct walker *w, bool declaration, const char *text);
/* A declaration and the proved bound of its values, as a comment behind it, or
 * before it if the line is full. */
void walk_declare_bounded(struct walker *w, enum statement_id id,
			  const char *name, int64_t most,
			  const struct tdata *data);
/* One statement in the dialect's form `id`. */
void walk_say(struct walker *w, enum statement_id id, bool declaration,
	      const struct tdata *data);
/* An ALLOC with its body. */
void walk_alloc(struct walker *w, struct stmt *s);

#endif
