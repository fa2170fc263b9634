/* SPDX-License-Identifier: Apache-2.0 */
/* Lowering: from scheduled blocks to loops, stores and local arrays. Each row
 * of lower.def is one pass of one phase, one file. After phase 3 a function
 * has no BLOCK and no REDUCE; buffers of scope "local" are ALLOCs at the
 * lowest common ancestor of their uses, compacted to the region they need;
 * dimensions of extent 1 are gone and dimensions that every access fuses are
 * merged; guards that cannot fail are dropped; repeated index expressions
 * are LETs (ih = h + kh - 1). */
#ifndef TIRC_LOWER_H
#define TIRC_LOWER_H

#include "analyse.h"
#include "func.h"
#include "hooks.h"

/* The note of a function with a reduction in two forms, of which one is without
 * the conditions that hold in the iterations that it names: "ow_o 1 to 6". */
#define PARTITION_COPIES "copies"

struct lower_pass {
	const char *name, *what;
	int phase;
	bool needed; /* the program is not right without it */
	bool (*run)(struct func *f);
};

const struct lower_pass *lower_passes(int *n);
/* Runs the passes of all phases. f's parameters may get new buffers (merged
 * dimensions): look at f->params afterwards. */
bool lower_func(struct func *f, const struct pass_hooks *hooks);
/* The same, but stops after a phase, 0..LAST_PHASE. */
bool lower_func_to(struct func *f, int last, const struct pass_hooks *hooks);
/* Bytes of the local arrays alive at once, at most. */
int64_t lower_stack_bytes(const struct func *f);
/* Turns local arrays that may have any size into parameters (at the end of the
 * signature), and the largest of the others until no more than limit_bytes are
 * alive on the stack. Returns how many; the caller provides the memory. */
int lower_scratch(struct func *f, int64_t limit_bytes);
/* True if every load of `in` happens in the same statement as, and at the
 * same index as, the store of the same element of `out`, and nothing is
 * stored to out elsewhere before; or if all reads come before the writes in
 * each iteration of loops that move through separate parts: then both may be
 * one pointer. Same shapes. */
bool lower_can_share(const struct func *f, const struct buffer *in,
		     const struct buffer *out);
/* Have they one shape, is out only stored to, and does every loop around a store,
 * those of threads among them, move the element? */
bool lower_moves_on(const struct func *f, const struct buffer *in,
		    const struct buffer *out);
/* Makes them one: in's parameter is removed, its loads read out. */
void lower_share(struct func *f, const struct buffer *in,
		 const struct buffer *out);

#endif
