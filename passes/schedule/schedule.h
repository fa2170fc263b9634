/* SPDX-License-Identifier: Apache-2.0 */
/* Schedule primitives: edits of a phase-0 function (blocks under loops), each
 * checking that the meaning is kept. A failed primitive reports
 * DIAG_BAD_SCHEDULE naming step, loop or block and reason, returns false and
 * leaves the function as it was. Each successful step is recorded. */
#ifndef TIRC_SCHEDULE_H
#define TIRC_SCHEDULE_H

#include "analyse.h"
#include "func.h"
#include "intrinsic.h"
#include "kernel.h"

struct sched_step {
	const char *primitive;
	const char *text; /* "split(i, [4, 16])": names, for the comment */
	/* Arguments for replay: handles are numbers of earlier results. */
	VEC(int64_t) ints;
	VEC(const char *) strings;
	VEC(int) results;
};

struct sched {
	struct func *func;
	struct module *module;
	VEC(struct sched_step) trace;
	/* Failures go here, not to the module, so that rules can try. */
	struct diags diags;
	struct tensor_intrins *intrins; /* what tensorize knows; NULL: none */
};

/* A loop or block is the id of its statement. */
void sched_init(struct sched *s, struct func *f);

int sched_get_block(struct sched *s, const char *name); /* 0: none */
/* Loops around a block, outermost first; arena array. */
bool sched_get_loops(struct sched *s, int block, int **loops, int *n);
int sched_get_child_blocks(struct sched *s, int scope, int **blocks);
bool sched_get_producers(struct sched *s, int block, int **blocks, int *n);
bool sched_get_consumers(struct sched *s, int block, int **blocks, int *n);
bool sched_get_output_blocks(struct sched *s, int **blocks, int *n);

/* factors: 0 for at most one of them, to be inferred. A non-dividing split
 * adds a predicate to the blocks below. out: n loops, outermost first. */
bool sched_split(struct sched *s, int loop, const int64_t *factors, int n,
		 int *out);
bool sched_fuse(struct sched *s, const int *loops, int n, int *out);
bool sched_reorder(struct sched *s, const int *loops, int n);
bool sched_parallel(struct sched *s, int loop);
bool sched_vectorize(struct sched *s, int loop);
bool sched_unroll(struct sched *s, int loop);
bool sched_bind(struct sched *s, int loop, const char *thread);
bool sched_compute_inline(struct sched *s, int block);
bool sched_reverse_compute_inline(struct sched *s, int block);
bool sched_compute_at(struct sched *s, int block, int loop);
bool sched_reverse_compute_at(struct sched *s, int block, int loop);
/* The block's output is computed into a new buffer of that scope and copied;
 * returns the copying block. */
bool sched_cache_write(struct sched *s, int block, int write_index,
		       const char *scope, int *out);
bool sched_cache_read(struct sched *s, int block, int read_index,
		      const char *scope, int *out);
/* The init part becomes a block of its own, before loop. */
bool sched_decompose_reduction(struct sched *s, int block, int loop, int *out);
/* Partial results along a reduction loop in a block of their own (out), which
 * may be vectorized along it; block reduces them. */
bool sched_rfactor(struct sched *s, int block, int loop, int *out);
bool sched_set_scope(struct sched *s, int block, int write_index,
		     const char *scope);
bool sched_annotate(struct sched *s, int loop_or_block, const char *key,
		    const struct expr *value);
/* Changes how a buffer is laid out, everywhere in the function. The caller
 * supplies both directions. For a parameter: the signature's buffer changes
 * too, and the caller owns conversion (packed weights). */
bool sched_transform_layout(struct sched *s, const struct buffer *b,
			    const struct index_map *map,
			    const struct buffer **out);
/* "split(…); reorder(…)": the whole trace, one line each. */
void sched_print_trace(const struct sched *s, struct strbuf *out);

#endif
