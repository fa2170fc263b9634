/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions as text: operators and functions in the dialect's forms, elements of
 * arrays, calls, and what is proved of values. */
#ifndef TIRC_WALK_EXPR_H
#define TIRC_WALK_EXPR_H

#include "walk.h"

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
/* e as an operand of <, with the parentheses that the dialect has there. */
const char *walk_compared(struct walker *w, const struct expr *e);
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
/* The element of b at index[0..n). Of an array that only intrinsics can access a
 * place may be named, to be handed to one, and no value. */
enum element_use { ELEMENT_VALUE, ELEMENT_PLACE };
const char *walk_element(struct walker *w, const struct buffer *b,
			 const struct expr *const *index, int n,
			 enum element_use use);
/* The value of an element in a function that launches kernels: an element of the device's
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
struct piece walk_barrier(struct walker *w, const struct expr *e);
struct piece walk_shuffle(struct walker *w, const struct expr *e);
/* Asynchronous copies: a commit of a group, or a wait. False if e is neither or
 * the dialect has no asynchronous copies. */
bool walk_async(struct walker *w, const struct expr *e, struct piece *out);
/* Does the function wait for asynchronous copies to b? */
bool walk_is_awaited(struct walker *w, const struct buffer *b);
/* The kernel's descriptor parameter, and the argument in a launch for the array
 * at pointer. */
const char *walk_box_parameter(struct walker *w, struct box_source *source);
const char *walk_box_argument(struct walker *w, const struct box_source *source,
			      const char *pointer);
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
/* Is the magnitude of e, a sum or product of wide integers, proved to be at most
 * *most, within its type? */
bool walk_value_bound(struct walker *w, const struct expr *e, int64_t *most);
bool walk_is_negative(struct walker *w, const struct expr *e);
/* Is the divisor known to be neither 0 nor -1? */
bool walk_is_safe_divisor(struct walker *w, const struct expr *e);
/* Is e a sum of a vector and a product with a fused form in the dialect? */
bool walk_multiplies_too(const struct walker *w, const struct expr *e);
/* The argument for a parameter b, from a pointer with that binding; is_const:
 * the callee does not write it. */
const char *walk_pointer_argument(struct walker *w, const struct binding *value,
				  const struct buffer *b, bool is_const,
				  enum memory_space space);

/* Is b accessed with one linearized index in this dialect, which may lack multidimensional arrays. */
bool walk_is_flat(const struct walker *w, const struct buffer *b);

#endif
