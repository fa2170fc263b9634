/* SPDX-License-Identifier: Apache-2.0 */
/* Value ranges of the integers that a lowered function computes; they prove
 * that an accumulator does not overflow. All elements of a local array share
 * one range:
 *
 *	acc[i] = 0                          # [0, 0]
 *	for c, k in T.grid(64, 9):          # 576 times for each element
 *	    acc[i] = acc[i] + x * w         # [-128, 127] by [-128, 127]
 *	                                    # |acc| <= 576 * 16384 = 9437184
 *
 * INT64_MIN and INT64_MAX as ends of a range are numbers, not infinities. The
 * range of an array holds at every point of the array's live range, for any
 * order of summation. Without a proof, the range is that of the type. */
#ifndef TIRC_VALUE_RANGE_H
#define TIRC_VALUE_RANGE_H

#include "analyse.h"
#include "tensor_intrin.h"

struct buffer_range {
	const struct var *data; /* the data pointer of the buffer */
	struct bounds range;
	/* the origin of the range: the buffer's type; a call of
	 * value_ranges_state; the analysis of all stores to the buffer */
	enum { RANGE_OF_TYPE, RANGE_STATED, RANGE_SUMMED } how;
	/* the range of the variable is being computed: a use of the variable in
	 * its own computation has the range of the type */
	bool is_pending;
};

struct expr_range {
	const struct expr *expr; /* NULL if the entry is free */
	struct bounds range;
	bool fits; /* the *fits of value_range_of */
};

struct value_ranges {
	struct module *module;
	const struct func *func;
	const struct tensor_intrins
		*intrins; /* describes intrinsics that are called; may be
			   * NULL */
	VEC(struct buffer_range) buffers;
	/* the loops, blocks and LETs of func: they bind variables */
	VEC(const struct stmt *) binders;
	/* a hash table of the ranges that are computed so far */
	struct expr_range *known;
	size_t n_known, cap_known;
};

struct bounds value_range_of_type(struct dtype t);
/* If e is a variable of a LET, returns its value, resolved in the same way, in
 * turn. Else returns e. */
const struct expr *value_range_resolved(const struct value_ranges *r,
					const struct expr *e);
/* Uses the module's arena; f must not change while r is in use. intrins may be
 * NULL: then arrays whose addresses are passed to calls have the range of their
 * type. */
void value_ranges_init(struct value_ranges *r, const struct func *f,
		       const struct tensor_intrins *intrins);
/* States that all elements of the parameter b are within the range. Ignored if
 * f writes b. */
void value_ranges_state(struct value_ranges *r, const struct buffer *b,
			struct bounds range);
/* The range of b's elements, and where it comes from. */
struct buffer_range value_range_of_buffer(struct value_ranges *r,
					  const struct buffer *b);
/* The range of the integer expression e. *fits is true if e's outermost
 * operation cannot overflow, whatever the operands within their ranges. */
struct bounds value_range_of(struct value_ranges *r, const struct expr *e,
			     bool *fits);
/* The largest absolute value in the range; INT64_MAX if it does not fit in
 * int64. */
int64_t value_range_magnitude(struct bounds v);

#endif
