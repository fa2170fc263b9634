/* SPDX-License-Identifier: Apache-2.0 */
/* The values of expressions in the texts of compositions. Only for
 * body_*.c. */
#ifndef TIRC_BODY_VALUE_H
#define TIRC_BODY_VALUE_H

#include "py_number.h"
#include "text_body.h"

#define BODY_LIST_MOST (1 << 16) /* elements */

static inline struct body_value
none(void)
{
	return (struct body_value){ .kind = BODY_NONE };
}

static inline struct body_value
truth(bool b)
{
	return (struct body_value){ .kind = BODY_BOOL, .truth = b };
}

static inline struct body_value
size(const struct expr *e)
{
	return (struct body_value){ .kind = BODY_INT, .size = e };
}

static inline struct body_value
integer(struct body_frame *f, int64_t v)
{
	return size(expr_index(f->c->m, v));
}

static inline struct body_value
number(double v)
{
	return (struct body_value){ .kind = BODY_FLOAT, .number = v };
}

static inline struct body_value
of_number(struct body_frame *f, const struct py_number *x)
{
	return x->kind == PY_NUMBER_BOOL  ? truth(x->i != 0)
	       : x->kind == PY_NUMBER_INT ? integer(f, x->i)
					  : number(x->f);
}

static inline struct body_value
text(const char *s)
{
	return (struct body_value){ .kind = BODY_STRING, .text = s };
}

static inline struct body_value
type_value(struct dtype t)
{
	return (struct body_value){ .kind = BODY_TYPE, .type = t };
}

static inline struct body_value
tensor_value(struct tensor *t)
{
	return (struct body_value){ .kind = BODY_TENSOR, .tensor = t };
}

static inline struct body_value
list(const struct body_value *items, int n)
{
	return (struct body_value){ .kind = BODY_LIST, .items = items, .n = n };
}

/* -- body_value.c */

/* A new array with room for n + 1 values. */
struct body_value *body_items(struct body_frame *f, int n);
/* Reports that a size of the expression must be known; returns None. */
struct body_value body_unknown_size(struct body_frame *f);
/* Reports a list of more than BODY_LIST_MOST elements; returns None. */
struct body_value body_long_list(struct body_frame *f);
/* Is v a bool, a float, or an int without symbolic sizes? If so, sets *out to
 * the number. */
bool body_known(const struct body_value *v, struct py_number *out);
/* Are a and b both integers, and is at least one of them symbolic? */
bool body_symbolic(const struct body_value *a, const struct body_value *b);
/* The known number; false after a diagnostic. */
bool body_number(struct body_frame *f, const struct body_value *v,
		 struct py_number *out);
/* The integer, and the real number, of v; false after a diagnostic. */
bool body_int(struct body_frame *f, const struct body_value *v, int64_t *out);
bool body_real(struct body_frame *f, const struct body_value *v, double *out);
/* The tensor of v; NULL after a diagnostic. */
struct tensor *body_needed_tensor(struct body_frame *f,
				  const struct body_value *v);
/* The value in a message. */
const char *body_words(struct body_frame *f, const struct body_value *v);

/* -- body_tensor.c */

/* A list or a number as a tensor of a type. */
struct body_value body_typed(struct body_frame *f, struct dtype t,
			     const struct body_value *v);

/* -- body_operator.c */

/* The value of `a op b`, for an operator of the groups NUMBERS, POWERS and BITS
 * (py_operator.def). */
struct body_value body_binary(struct body_frame *f, enum py_operator op,
			      const struct body_value *a,
			      const struct body_value *b);
struct body_value body_unary(struct body_frame *f, enum py_operator op,
			     const struct body_value *v);
/* Is `a op b` true, for an operator of the groups ORDER and MEMBERSHIP? False
 * also after a diagnostic. */
bool body_compare(struct body_frame *f, enum py_operator op,
		  const struct body_value *a, const struct body_value *b);

/* -- body_list.c: functions of expressions on lists; in: the arguments */

/* listed(v): v if it is a list, else a list of v. */
struct body_value body_listed(struct body_frame *f,
			      const struct body_value *in);
/* filled(v, n): a list of n elements: v if it is one, else n times v, which is a
 * number or a list of one. */
struct body_value body_filled(struct body_frame *f,
			      const struct body_value *in);
/* both_ends(v, n): a list of 2 n elements, n at the beginnings of dimensions and
 * n at their ends: v if it is one, else twice v if it has n, else copies of
 * v. */
struct body_value body_both_ends(struct body_frame *f,
				 const struct body_value *in);
/* reshaped(x, sizes): the sizes of Relay's reshape of x, of which one at most is
 * -1. */
struct body_value body_reshaped(struct body_frame *f,
				const struct body_value *in);

/* -- body_call.c */

/* Is there a function `name` that takes n arguments? */
bool body_is_function(const char *name, int n);

/* The value of a call of the function `name` with n >= 1 arguments. */
struct body_value body_call(struct body_frame *f, const char *name,
			    const struct body_value *in, int n);

#endif
