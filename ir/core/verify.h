/* SPDX-License-Identifier: Apache-2.0 */
/* State shared by the two halves of the verifier. Private to ir/verify*.c. */
#ifndef TIRC_VERIFY_H
#define TIRC_VERIFY_H

#include "func.h"

struct mark {
	const void *key;
	uint32_t value;
};

struct verifier {
	const struct func *func;
	struct arena arena;      /* released at the end of the check */
	const struct stmt *stmt; /* the one being checked, for reports */
	/* Variables and buffers in scope: 1. Statements seen: 1. Expressions:
	 * the epoch (one per statement and scope) of their check. */
	struct mark *marks;
	uint32_t n_marks, cap_marks;
	uint32_t epoch;
	VEC(int) ids;
	int n_errors;
};

/* The mark of an address, 0 at first; valid until the next call. */
uint32_t *verify_mark(struct verifier *v, const void *key);
void verify_fail(struct verifier *v, const char *what, const struct expr *e);

void verify_access(struct verifier *v, const struct buffer *b,
		   const struct expr *const *index, bool writes);

/* Types, arities and the scope of everything below e. */
void verify_expr(struct verifier *v, const struct expr *e);
/* verify_expr, and e is one integer / one bool. */
void verify_index(struct verifier *v, const struct expr *e);
void verify_condition(struct verifier *v, const struct expr *e);
void verify_buffer(struct verifier *v, const struct buffer *b);
/* Checks the indices of b, and that the selected element has value's type. */
void verify_element(struct verifier *v, const struct buffer *b,
		    const struct expr *const *index, const struct expr *value);

#endif
