/* SPDX-License-Identifier: Apache-2.0 */
/* Does a block compute the same as the description of an instruction? Block and
 * description may differ in: names of buffers, offsets of the parameters in
 * larger buffers, the order of loops and iter vars, iter vars of extent 1, and
 * the order of commutative operands. */
#ifndef TIRC_TENSOR_MATCH_H
#define TIRC_TENSOR_MATCH_H

#include "edit.h"
#include "tensor_intrin.h"

/* A parameter as a view of a buffer of the program: index i in dimension d of
 * the parameter is index offset[dim_of[d]] + step[d] * i in dimension dim_of[d]
 * of the buffer. */
struct tensor_view {
	/* the parameter of the intrinsic's description */
	const struct buffer *param;
	/* the buffer of the program that the parameter stands for; NULL until
	 * the first access is matched */
	const struct buffer *target;
	/* by dimension of the parameter: the dimension of the buffer that
	 * belongs to it; -1 if the dimension has extent 1 and belongs to
	 * none */
	int *dim_of;
	/* by dimension of the parameter: the step between consecutive indices,
	 * in elements of the buffer's dimension */
	int64_t *step;
	/* by dimension of the buffer: the index of the view's first element */
	const struct expr **offset;
};

struct tensor_match {
	struct edit *e;
	struct analyser a;
	const struct func *desc;
	/* one view for each parameter of the description */
	struct tensor_view *views;
	int n_views;
	/* The variables of sizes in the description. The next member: the sizes
	 * of the program that take their place. */
	VEC(struct var *) sizes;
	VEC(const struct expr *) size_values;
	struct stmt *outer;
	const char *why; /* the last difference that was found, in words */
};

enum tensor_part {
	/* match the description's init, if there is one, and its body */
	TENSOR_ALL,
	TENSOR_UPDATE, /* match only the description's body */
	TENSOR_INIT    /* match the description's init with the block's body */
};

/* A block of a statement that is matched, and the loops around the block. */
struct tensor_leaf {
	struct stmt *block;
	struct iter_var *loops;
	int n_loops;
};

struct tensor_leaves {
	VEC(struct tensor_leaf) list;
};

/* Sets out to the blocks in body, which must be a sequence of perfect loop
 * nests around blocks. False if it has another form. */
bool tensor_leaves(struct func *f, struct stmt *body,
		   struct tensor_leaves *out);
/* Starts a match of the intrinsic desc with statements in `outer`, a block
 * whose iter vars count as constants. */
void tensor_match_init(struct tensor_match *t, struct edit *e,
		       const struct func *desc, struct stmt *outer);
/* Matches a block of the program with the block `desc` of the description, or
 * with that part of it which `part` names, and completes t's views. False with
 * the reason in t->why. */
bool tensor_match_block(struct tensor_match *t, const struct tensor_leaf *desc,
			const struct tensor_leaf *block, enum tensor_part part);
/* The stride, in elements, of dimension dim of a buffer; view_stride: of a
 * view. */
const struct expr *buffer_stride(struct module *m, const struct buffer *b,
				 int dim);
const struct expr *view_stride(struct module *m, const struct tensor_view *v,
			       int dim);

#endif
