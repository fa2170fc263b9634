/* SPDX-License-Identifier: Apache-2.0 */
/* The product instructions of a target, as the descriptions of their tensor
 * intrinsics have them. */
#ifndef TIRC_PRODUCT_INSTR_H
#define TIRC_PRODUCT_INSTR_H

#include "target.h"
#include "tensor_intrin.h"

/* Who executes the instruction, and where its sums are. */
enum product_kind {
	/* C[lanes] += A[depth] * B[lanes][depth]: a dot-product instruction;
	 * its sums are an array of the program. */
	PRODUCT_DOT,
	/* C[m][n_o][n_i] += A[m][k] * B[k_o][n_o][n_i][k_i]: one thread keeps
	 * the sums in tile registers, such as those of AMX. */
	PRODUCT_TILE,
	/* C[m][n] += A[m][k] * B[k][n], in any order and blocks: a tensor core;
	 * the threads of a warp or of a warp group keep the sums together. */
	PRODUCT_TENSOR_CORE
};

struct product_desc {
	enum product_kind kind;
	const struct product_instr *instr;
	const struct tensor_intrin *multiply;
	/* The parameters of multiply's description. */
	const struct buffer *operand[2], *sum;
};

/* Reads the description of p->multiply. False if the target finds no such
 * intrinsic, or it takes anything but two operands and a sum. */
bool product_describe(const struct target *t, const struct product_instr *p,
		      struct product_desc *out);
/* Does the target find all intrinsics of p, executed by as many threads? */
bool product_is_complete(const struct target *t, const struct product_desc *p);

/* Channels of a block of tensors of that type in memory: as many as a row of a tile
 * instruction's operand of that type has; of other types t->block_elems. 0: no
 * blocks. */
int target_block_elems(const struct target *t, struct dtype type);
/* The type of data of the first product of integers of 8 bits, and how many of
 * them a dot product or the tile's columns take together (1: each alone). False:
 * the target has none. */
bool target_byte_product(const struct target *t, struct dtype *data,
			 int *depth);

#endif
