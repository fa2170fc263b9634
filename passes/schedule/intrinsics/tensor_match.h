/* SPDX-License-Identifier: Apache-2.0 */
/* Does a block compute the same as the description of an instruction? These may
 * differ: names of buffers, offsets of the parameters in larger buffers, the
 * order of loops and iter vars, iter vars of extent 1, and the order of
 * commutative operands. */
#ifndef TIRC_TENSOR_MATCH_H
#define TIRC_TENSOR_MATCH_H

#include "edit.h"
#include "tensor_intrin.h"

/* A parameter as a view of a buffer of the program: element i of dimension d
 * is element offset[dim_of[d]] + step[d] * i of dimension dim_of[d]. */
struct tensor_view {
	const struct buffer *param;  /* the parameter of the description */
	const struct buffer *target; /* NULL until the first access is
				      * matched */
	int *dim_of;   /* -1 if the dimension has extent 1 and no counterpart */
	int64_t *step; /* in elements of the buffer's dimension */
	const struct expr **offset; /* for each dimension of target */
};

struct tensor_match {
	struct edit *e;
	struct analyser a;
	const struct func *desc;
	struct tensor_view *views; /* one for each parameter */
	int n_views;
	/* Size variables of the description and the program's sizes. */
	VEC(struct var *) sizes;
	VEC(const struct expr *) size_values;
	struct stmt *outer;
	const char *why; /* the last difference, in words */
};

enum tensor_part {
	TENSOR_ALL,    /* the init, if there is one, and the body */
	TENSOR_UPDATE, /* only the body */
	TENSOR_INIT    /* the description's init is the block's body */
};

/* A block of the matched statement and the loops around it. */
struct tensor_leaf {
	struct stmt *block;
	struct iter_var *loops;
	int n_loops;
};

struct tensor_leaves {
	VEC(struct tensor_leaf) list;
};

/* The blocks of body, a sequence of perfect loop nests around blocks. False if
 * body has another form. */
bool tensor_leaves(struct func *f, struct stmt *body,
		   struct tensor_leaves *out);
/* Starts a match of the intrinsic desc with statements in `outer`, a block
 * whose iter vars count as constants. */
void tensor_match_init(struct tensor_match *t, struct edit *e,
		       const struct func *desc, struct stmt *outer);
/* Matches a block, and finds the views; false with the reason in t->why. */
bool tensor_match_block(struct tensor_match *t, const struct tensor_leaf *desc,
			const struct tensor_leaf *block, enum tensor_part part);
/* The stride, in elements, of a dimension of a buffer; of a view. */
const struct expr *buffer_stride(struct module *m, const struct buffer *b,
				 int dim);
const struct expr *view_stride(struct module *m, const struct tensor_view *v,
			       int dim);

#endif
