/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions as text: operators and functions in the dialect's forms, elements
 * of arrays, calls; and proofs about the values of expressions. */
#ifndef TIRC_WALK_EXPR_H
#define TIRC_WALK_EXPR_H

#include "walk.h"

/* The text of an expression with marks for line breaks (line_breaks.h), not yet
 * enclosed as a group. level: the precedence of its outermost operator, an
 * index in dialect.levels. */
struct piece {
	const char *text;
	int level;
};

/* The operation that multiplies values of type t: FORM_MUL_APART for scalar
 * floats if the function forbids contraction (unit.apart), else FORM_MUL. */
enum form_id walk_product(const struct walker *w, struct dtype t);
/* Is e the sum of a vector of 32-bit integers and, as the second operand, a
 * product of widened bytes of which at most one is signed? And does the dialect
 * have one form for the sum and the product together (FORM_ADD_PRODUCT)? */
bool walk_fuses(struct walker *w, const struct expr *e);
/* The text of e as an operand of precedence `level`: in parentheses if the
 * precedence of e itself is lower than `level`. */
const char *walk_expr(struct walker *w, const struct expr *e, int level);
/* The text of e as an operand of <, in parentheses if the dialect wants them
 * around operands of a comparison. */
const char *walk_compared(struct walker *w, const struct expr *e);
/* walk_piece: the text of expression e with the precedence of its operator.
 * walk_intrinsic does the same for a call of an intrinsic of the IR. */
struct piece walk_piece(struct walker *w, const struct expr *e);
struct piece walk_intrinsic(struct walker *w, const struct expr *e);
/* walk_form.c: the text of the operation `id` on n arguments, in the dialect's
 * form for operands of type t, and for a result of type `to`. */
struct piece walk_apply(struct walker *w, enum form_id id, struct dtype t,
			const struct expr *const *args, int n);
struct piece walk_apply_to(struct walker *w, enum form_id id, struct dtype t,
			   struct dtype to, const struct expr *const *args,
			   int n);
/* The text p, cast to type t. */
struct piece walk_cast_text(struct walker *w, struct dtype t, struct piece p);
/* If arithmetic on type t gives an int (spelled_type.promoted): the text p with
 * a cast back to type t; else p unchanged. */
struct piece walk_narrowed(struct walker *w, struct dtype t, struct piece p);
/* Makes the walker fail because an expression cannot be printed; returns a
 * placeholder, so that the walk can go on. */
struct piece walk_failed_piece(struct walker *w);
/* Is e a composite expression: the result of an operator whose precedence level
 * the dialect marks as composite, or a choice with a value that is
 * composite? */
bool walk_is_composite(struct walker *w, const struct expr *e);
/* Is e a cast of a signed integer to a signed scalar of more than 32 bits? */
bool walk_is_lengthened(const struct expr *e);
/* How an element is used. ELEMENT_VALUE: its value is read or written.
 * ELEMENT_PLACE: its address is passed to an intrinsic, the only use that
 * arrays of opaque layout allow. */
enum element_use { ELEMENT_VALUE, ELEMENT_PLACE };
/* The text of the element of b at n indices. */
const char *walk_element(struct walker *w, const struct buffer *b,
			 const struct expr *const *index, int n,
			 enum element_use use);
/* The text of the call by which the host reads an element in the memory of the
 * device. "" after an error if the dialect has no such call. */
const char *walk_read_back(struct walker *w, const struct buffer *b,
			   const struct expr *const *index, int n);
/* Is b in the memory of the device, so that the host cannot access it
 * directly? */
bool walk_is_on_device(struct walker *w, const struct buffer *b);
/* The text of a load of a vector from b, an array of vectors. `first`: the text
 * of the element. The result is `first` in the dialect's form for such loads,
 * or `first` itself if the dialect has no such form. */
const char *walk_read_vector(struct walker *w, const struct buffer *b,
			     const char *first);
/* walk_stored.c: storage-only types (spelled_type.is_stored_only), whose values
 * are computed in another type. For other types, these functions change
 * nothing. walk_computed: the type in which t is computed. walk_loaded: p, the
 * text of an element of type t, converted to that type. walk_rounded: p, the
 * text of e, rounded to a value that e's type can store. walk_stored: the text
 * of e as a store writes it. */
struct dtype walk_computed(const struct walker *w, struct dtype t);
bool walk_is_stored_only(const struct walker *w, struct dtype t);
struct piece walk_loaded(struct walker *w, struct dtype t, struct piece p);
struct piece walk_rounded(struct walker *w, const struct expr *e,
			  struct piece p);
const char *walk_stored(struct walker *w, const struct expr *e);
/* walk_number.c: is e, or the number that it spreads over lanes, proven not to be
 * NaN? */
bool walk_is_number(struct walker *w, const struct expr *e);
/* Does the value of e depend on elements of arrays, not only on loop variables
 * and sizes? */
bool walk_is_data(struct walker *w, const struct expr *e);
/* walk_call: the text of a call of `callee` with n arguments.
 * walk_call_function: the text of e, a call of a function of the module or of
 * an external function. */
struct piece walk_call(struct walker *w, const char *callee,
		       const char *const *args, int n);
/* e as an argument of a function that is not tirc's: an array is a pointer to its
 * first element, a text a literal. */
const char *walk_passed(struct walker *w, const struct expr *e);
struct piece walk_call_function(struct walker *w, const struct expr *e);
/* walk_traced.c: a call of ENTRY_TRACED. */
struct piece walk_traced(struct walker *w, const struct expr *e);
/* The texts of the list, separated by commas. */
const char *walk_with_commas(struct walker *w, const char *const *args, int n);
/* A text as a literal of C, whose bytes a callee reads through a pointer. */
const char *walk_text_literal(struct walker *w, const char *text);
/* The texts of the arguments of the call e from index `first` on, separated by
 * commas. */
const char *walk_arguments(struct walker *w, const struct expr *e, int first);
/* Is the name of a called function an identifier? False after a diagnostic. */
bool walk_names_function(struct walker *w, const char *name);
/* The function with that name in unit.callees or in the module; NULL if it is
 * an external function. */
const struct func *walk_callee(struct walker *w, const char *name);
/* The text of e, the launch of a kernel. */
struct piece walk_launch(struct walker *w, const struct expr *e);
/* The number of bytes of the one dynamic array that contains all shared arrays
 * of the kernel; 0 if each shared array is declared separately. */
int64_t walk_pooled_bytes(const struct walker *w, const struct func *kernel);
/* walk_barrier: the text of e, a barrier of the threads of a block.
 * walk_shuffle: the text of e, a read of another thread's value. */
struct piece walk_barrier(struct walker *w, const struct expr *e);
struct piece walk_shuffle(struct walker *w, const struct expr *e);
/* e: an instruction of a device, which the dialect must have. */
struct piece walk_instruction(struct walker *w, const struct expr *e);
/* Sets *out to the text of e, a call that ends a group of asynchronous copies
 * or waits for groups. False if nothing is printed, because copies of the
 * dialect are synchronous. */
bool walk_async(struct walker *w, const struct expr *e, struct piece *out);
/* Does the function wait for asynchronous copies that write b? */
bool walk_is_awaited(struct walker *w, const struct buffer *b);
/* For bulk copies from one source. walk_box_parameter: the text of the kernel's
 * parameter for the descriptor of the source. walk_box_argument: the text of
 * the argument for this parameter in a launch; `pointer` is the array. */
const char *walk_box_parameter(struct walker *w, struct box_source *source);
const char *walk_box_argument(struct walker *w, const struct box_source *source,
			      const char *pointer);
/* walk_copy_box: the text of a bulk copy. walk_box_async: the text of the end
 * of a group of bulk copies, or of a wait for groups. */
const char *walk_copy_box(struct walker *w, const struct expr *e);
const char *walk_box_async(struct walker *w, const struct expr *e);
/* Is b in a memory scope whose rows bulk copies store in a swizzled order
 * (struct box_layout)? Then only intrinsics can access b's elements. False for
 * fragments, which have forms of their own. */
bool walk_is_opaque(const struct walker *w, const struct buffer *b);
/* The kernel named `name` in the module; NULL if the module has none. */
const struct func *walk_kernel(struct walker *w, const char *name);
/* May the operation e overflow in a way that the language does not define?
 * Arithmetic on loop variables and sizes cannot overflow: it is widened where
 * needed. Unsigned arithmetic wraps by definition, except products of types
 * that the language promotes to int. */
bool walk_may_wrap(struct walker *w, const struct expr *e);
/* Is e a sum, difference or product of wide integers that is proven to fit in
 * its type, with a bound that is worth a comment? *most: the bound of the
 * magnitude of e. */
bool walk_value_bound(struct walker *w, const struct expr *e, int64_t *most);
/* May e be negative? False if its type, or the bounds of loops and sizes,
 * exclude that. */
bool walk_is_negative(struct walker *w, const struct expr *e);
/* Is the divisor e proven to be neither 0 nor -1? Never true if e depends on
 * data. */
bool walk_is_safe_divisor(struct walker *w, const struct expr *e);
/* Is e the sum of a vector of floats and a product, does the dialect have a
 * fused multiply-add for the sum (FORM_FMA), and may the function contract sum
 * and product? */
bool walk_multiplies_too(const struct walker *w, const struct expr *e);
/* The text of `value`, a pointer or an array, as the argument for parameter b,
 * which is in the memory `space`. is_const: the callee does not write b. */
const char *walk_pointer_argument(struct walker *w, const struct binding *value,
				  const struct buffer *b, bool is_const,
				  enum memory_space space);

/* Is b accessed with one linearized index? Always in a dialect without
 * multidimensional arrays. */
bool walk_is_flat(const struct walker *w, const struct buffer *b);

#endif
