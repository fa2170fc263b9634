/* SPDX-License-Identifier: Apache-2.0 */
/* Lowering: from scheduled blocks to loops, stores and local arrays. Each row
 * of lower.def is one pass of one phase, in its own file. After phase 3 a
 * function has no BLOCK and no REDUCE; buffers of scope "local" are ALLOCs at
 * the lowest common ancestor of their uses, and have only the size of the
 * region that is used; dimensions of extent 1 are dropped and dimensions that
 * every access fuses are merged; redundant guards are dropped; repeated index
 * expressions are LETs (ih = h + kh - 1). */
#ifndef TIRC_LOWER_H
#define TIRC_LOWER_H

#include "analyse.h"
#include "func.h"
#include "hooks.h"

/* A note on a function that has two copies of its reduction. One of them is
 * specialized for some iterations: conditions that hold in all of these are
 * left out. The note's text names these iterations: "ow_o 1 to 6". */
#define PARTITION_COPIES "copies"

struct lower_pass {
	const char *name, *what;
	int phase;
	bool needed; /* without this pass, the program is wrong */
	bool (*run)(struct func *f);
};

const struct lower_pass *lower_passes(int *n);
/* Runs the passes of all phases. The pass dims may give f's parameters new
 * buffers with merged dimensions: read f->params afterwards. */
bool lower_func(struct func *f, const struct pass_hooks *hooks);
/* Like lower_func, but stops after phase `last`, 0..LAST_PHASE. */
bool lower_func_to(struct func *f, int last, const struct pass_hooks *hooks);
/* Does the function, which is lowered, compute with vectors? */
bool lower_has_vectors(const struct func *f);
/* Makes statements on vectors loops over their lanes, for languages without
 * vectors; keeps_copies: for languages that load and store vectors, which keep the
 * statements that do only that. False if another vector is left, as an argument of an
 * external function or an element of an array; f is then half changed, and no longer
 * of use. */
bool lower_lane_loops(struct func *f, bool keeps_copies);
/* The largest number of bytes of local arrays that nested ALLOCs hold at the
 * same time, with symbolic sizes at their upper bounds. Arrays in loops bound
 * to threads do not count, nor do arrays whose size has no bound. */
int64_t lower_stack_bytes(const struct func *f);
/* The most bytes of its own arrays that a thread of a device kernel holds at the
 * same time, in registers or in memory. */
int64_t lower_thread_bytes(const struct func *kernel);
/* Turns local arrays of f into parameters, at the end of the signature: first
 * those whose size has no bound and depends on f's parameters alone, then the
 * largest of the remaining arrays, until lower_stack_bytes() is at most
 * limit_bytes. Returns the number of arrays moved; the caller provides their
 * memory. If an array is only copied to a result element by element, its
 * elements are stored in the result, and the array is not needed. */
int lower_scratch(struct func *f, int64_t limit_bytes);
/* May `in` and `out`, which have the same shape, be one pointer? They may if
 * every load of `in` is in the statement that stores the same element of `out`,
 * and no statement before it stores that element; or if outer loops run over
 * disjoint slices, and in each of their iterations all reads precede the
 * writes. */
bool lower_can_be_in_place(const struct func *f, const struct buffer *in,
			   const struct buffer *out);
/* Has `out` the shape of `in`, and is each element of `out` stored once and
 * never loaded? The stored element must depend on every loop around a store,
 * including loops of threads. */
bool lower_stores_once(const struct func *f, const struct buffer *in,
		       const struct buffer *out);
/* Makes `in` and `out` one buffer: removes in's parameter, and loads of `in`
 * become loads of `out`. */
void lower_make_in_place(struct func *f, const struct buffer *in,
			 const struct buffer *out);

#endif
