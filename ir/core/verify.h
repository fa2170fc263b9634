/* SPDX-License-Identifier: Apache-2.0 */
/* State shared by the two halves of the verifier. Private to ir/verify*.c. */
#ifndef TIRC_VERIFY_H
#define TIRC_VERIFY_H

#include "func.h"
#include "pointer_map.h"

struct verifier {
	const struct func *func;
	struct arena arena;      /* memory that is released at the end of the
				  * check */
	const struct stmt *stmt; /* the statement being checked, for reports */
	/* The mark of a variable is 1 if it is in scope; of a buffer in scope,
	 * 1 plus the number of the blocks around its declaration, counting the
	 * block that allocates it; of a statement, 1 if it has been visited; of
	 * an expression, the epoch of its last check. Each statement and scope
	 * begins a new epoch. */
	struct pointer_map marks;
	int epoch;
	/* the first element of the source array of the current COPY_BOX: only
	 * its address is used */
	const struct expr *origin;
	VEC(const struct stmt *)
	blocks; /* the BLOCKs around stmt, outermost first */
	VEC(int) ids;
	int n_errors;
};

void verify_fail(struct verifier *v, const char *what, const struct expr *e);

void verify_access(struct verifier *v, const struct buffer *b,
		   const struct expr *const *index, bool writes);

/* Checks the arity, the types and the scope of all nodes of e. */
void verify_expr(struct verifier *v, const struct expr *e);
/* Calls verify_expr; also checks that e is a scalar integer or a scalar
 * bool. */
void verify_index(struct verifier *v, const struct expr *e);
void verify_condition(struct verifier *v, const struct expr *e);
void verify_buffer(struct verifier *v, const struct buffer *b);
/* Checks the indices of b, and that the selected element has value's type. */
void verify_element(struct verifier *v, const struct buffer *b,
		    const struct expr *const *index, const struct expr *value);

#endif
