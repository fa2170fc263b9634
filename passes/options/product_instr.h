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
	/* C[m][n_o][n_i] += A[m][k] * B[k_o][n_o][n_i][k_i]: the sums are in
	 * the tile registers of one thread, such as those of AMX. */
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
/* Does the target have all intrinsics of the product p, and does the same
 * number of threads execute each of them? */
bool product_is_complete(const struct target *t, const struct product_desc *p);

/* The number of channels in a channel block of tensors of this type: if the
 * target has a tile instruction for the type, the length of a row of its first
 * operand; if t->dot_loops is set, the number of bytes of a vector; else
 * t->block_elems. 0: channels are not in blocks. */
int target_block_elems(const struct target *t, struct dtype type);
/* Sets *data to the type of the data operand of the target's first product
 * instruction for 8-bit integers, and *depth to the smallest number of adjacent
 * elements that an instruction for this type combines: those that a dot product
 * sums, or that a column of a tile has next to each other (1: single elements).
 * If the target has t->dot_loops and no such instruction: unsigned bytes, and
 * 1. False if it has neither. */
bool target_byte_product(const struct target *t, struct dtype *data,
			 int *depth);
/* The number of adjacent data elements of type `data` that are summed by the
 * first product instruction of the target for this type that is not for a
 * tensor core; 0: the target has no such instruction. */
int target_dot_depth(const struct target *t, struct dtype data);
/* The number of products of elements of the narrow float type `type` that a dot
 * product of the target sums in float32; 0 if it has no such dot product. */
int target_float_depth(const struct target *t, struct dtype type);

#endif
