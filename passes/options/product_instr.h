/* SPDX-License-Identifier: Apache-2.0 */
/* The product instructions of a target, read from the descriptions of their
 * tensor intrinsics. */
#ifndef TIRC_PRODUCT_INSTR_H
#define TIRC_PRODUCT_INSTR_H

#include "target.h"
#include "tensor_intrin.h"

/* The kinds of product instructions: which threads execute the instruction, and
 * where its sums are. */
enum product_kind {
	/* C[lanes] += A[depth] * B[lanes][depth]: a dot-product instruction of
	 * one thread; its sums are an array of the program. */
	PRODUCT_DOT,
	/* C[m][n_o][n_i] += A[m][k] * B[k_o][n_o][n_i][k_i]: one thread keeps
	 * the sums in tile registers, such as those of AMX. */
	PRODUCT_TILE,
	/* C[m][n] += A[m][k] * B[k][n]: a tensor core. The threads of a warp or
	 * of a warp group execute it and keep the sums together; the order of
	 * the elements in the operands is the instruction's own. */
	PRODUCT_TENSOR_CORE
};

struct product_desc {
	enum product_kind kind;
	const struct product_instr *instr;
	const struct tensor_intrin *multiply;
	/* The parameters of the description of `multiply`: A, B and the
	 * sums. */
	const struct buffer *operand[2], *sum;
};

/* Reads the description of p->multiply. False if the target does not have the
 * intrinsic, or if its parameters are not two operands and a sum. */
bool product_describe(const struct target *t, const struct product_instr *p,
		      struct product_desc *out);
/* Does the target have all intrinsics of p, and are they executed by the same
 * number of threads? */
bool product_is_complete(const struct target *t, const struct product_desc *p);

/* The number of channels in a channel block of tensors of this type: the length
 * of a row of the first operand of a tile instruction for the type; a vector of
 * bytes with t->dot_loops; else t->block_elems. 0: channels are not in
 * blocks. */
int target_block_elems(const struct target *t, struct dtype type);
/* Of the first product instruction for 8-bit integers the type of the data, and
 * of those for it the least number of adjacent elements that a dot product sums
 * or that a column of a tile has together (1: a single one). With t->dot_loops
 * and without instructions, unsigned bytes, one by one. False if the target has
 * neither. */
bool target_byte_product(const struct target *t, struct dtype *data,
			 int *depth);
/* The number of adjacent data elements of this type that the target's first
 * instruction for them sums, other than a tensor core; 0: it has none. */
int target_dot_depth(const struct target *t, struct dtype data);
/* The number of elements of a narrow float type, by as many others of it, that a
 * dot product of the target sums in float32; 0 if it has no such dot product. */
int target_float_depth(const struct target *t, struct dtype type);

#endif
