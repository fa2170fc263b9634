/* SPDX-License-Identifier: Apache-2.0 */
/* The stages of rows (softmax, normalization): blocks of which the leading axes
 * select a row, and which compute statistics of the row and its results. */
#ifndef TIRC_ROW_SHAPE_H
#define TIRC_ROW_SHAPE_H

#include "kernel_blocks.h"

/* Rows of fewer terms are short: one thread sums them as well as several do. */
enum { ROWS_SHORT = 32 };

struct row_shape {
	/* the number of leading axes that all stages have in common; an index
	 * along these axes selects a row */
	int rows;
	/* the number of rows; if it is symbolic, a number that is large enough
	 * to fill the device */
	int64_t count;
	/* the number of rows is symbolic, so that it may be any number */
	bool any_size;
	int64_t longest; /* the number of terms of the longest reduction */
	bool is_short;   /* fewer than ROWS_SHORT */
	/* the terms of each reduction are next to each other in memory */
	bool along;
};

/* row_axes.c: brings the axes of the n stages, and their loops, into an order in which
 * those that select a row come first. False after a failure. */
bool rows_lead(struct rules *r, const int *blocks, int n);
/* Measures the n stages; producers come before their consumers, and the last
 * block stores the results. False if the stages are not those of rows: if a size
 * is not known, or a reduction has several results per row. */
bool rows_measure(struct rules *r, struct row_shape *w, const int *blocks,
		  int n);
/* Are there rows enough to fill the device with a thread each? */
bool rows_fill_device(const struct rules *r, const struct row_shape *w);
/* The bytes of a row that the n stages but the last have as results. A thread that
 * computes a row keeps at most ROWS_KEPT_BYTES: registers, or a part of the first
 * cache. */
enum { ROWS_KEPT_BYTES = 256 };
int64_t rows_kept_bytes(struct rules *r, const struct row_shape *w,
			const int *blocks, int n);
/* If the last block reduces, appends to the n blocks one that copies the sums,
 * which are then in memory of the scope. False after a failure. */
bool rows_copy_output(struct rules *r, const char *scope, const int **blocks,
		      int *n);
/* Are the n stages one reduction and what is computed of each result alone? */
bool rows_are_one_sum(struct rules *r, const int *blocks, int n);
/* The product of the extents of the block's spatial axes (if `reduces` is set,
 * of its other axes) from axis `from` on; 0: it is symbolic. */
int64_t rows_count(const struct block *b, int from, bool reduces);
/* The extent of axis i of the block; 0: it is symbolic. */
int64_t rows_extent(const struct block *b, int i);
/* Are rows contiguous: does the last index of each load of the block use a
 * reduction axis, or no axis at all? */
bool rows_are_contiguous(struct rules *r, int block);

#endif
