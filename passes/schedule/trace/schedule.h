/* SPDX-License-Identifier: Apache-2.0 */
/* Schedule primitives: edits of a phase-0 function (blocks under loops) that
 * keep its meaning. A primitive that fails reports DIAG_BAD_SCHEDULE with the
 * step, the loop or block and the reason, returns false and leaves the function
 * unchanged. Each successful step is recorded. */
#ifndef TIRC_SCHEDULE_H
#define TIRC_SCHEDULE_H

#include "analyse.h"
#include "func.h"
#include "primitive.h"
#include "tensor_intrin.h"

/* A primitive that was applied, with its arguments and result. Handles among
 * the arguments are results of earlier steps. */
struct sched_step {
	const struct primitive *primitive;
	/* the arguments, one for each parameter */
	const struct sched_value *args;
	/* SV_NONE, a block, a loop, an expression, or a list of these */
	struct sched_value result;
	const char *text; /* the step for comments: "split(i, [4, 16])" */
};

/* A sampled value; in the arguments of later steps, the variable `var` stands
 * for it. */
struct sched_sample {
	struct var *var;
	int64_t value;
};

/* A change of a buffer's layout by transform_layout. */
struct sched_layout {
	const struct buffer *from, *to;
	const struct index_map *map; /* the layout, with both directions */
};

struct sched {
	struct func *func;
	struct module *module;
	VEC(struct sched_step) trace;
	VEC(struct sched_sample) samples;
	VEC(struct sched_layout) layouts;
	/* Diagnostics of failed primitives: here and not in the module, so that
	 * rules can try primitives. */
	struct diags diags;
	/* the state of the generator of random numbers */
	uint64_t random;
	/* the intrinsics that tensorize may use; NULL if it may use none */
	struct tensor_intrins *intrins;
	/* For each parameter, the alignment of its address in bytes that is
	 * known in addition to that of its buffer. NULL: none is known. */
	const int64_t *param_align;
};

/* Starts a schedule of f. Loops and blocks are given by the ids of their
 * statements. */
void sched_init(struct sched *s, struct func *f);
/* Sets the seed: equal seeds give equal samples. The seed of sched_init is
 * 1. */
void sched_seed(struct sched *s, uint64_t seed);

/* A state of the function, the trace and the samples to which a schedule can be
 * rolled back. */
struct sched_mark {
	int journal, steps, samples, layouts;
	uint64_t random;
};
struct sched_mark sched_checkpoint(struct sched *s);
void sched_rollback(struct sched *s, struct sched_mark mark);
/* Copies the schedule and its function, with the same names and trace; handles
 * of s are valid in the copy. */
void sched_fork(const struct sched *s, struct sched *out);

/* Shorthands of sched_apply. Handles must come from these queries, so that the
 * trace can be replayed. */
/* The id of the block named `name`; 0 if there is none. */
int sched_get_block(struct sched *s, const char *name);
/* Sets *loops to the loops around a block, outermost first, as an array in the
 * arena, and *n to their number. False after a diagnostic. */
bool sched_get_loops(struct sched *s, int block, int **loops, int *n);
/* Sets *blocks to the child blocks of the block `scope` (0: of the root block),
 * and returns their number. */
int sched_get_child_blocks(struct sched *s, int scope, int **blocks);
bool sched_get_producers(struct sched *s, int block, int **blocks, int *n);
bool sched_get_consumers(struct sched *s, int block, int **blocks, int *n);

/* Splits the loop by n factors. One factor may be 0: it is then inferred. If
 * the product of the factors is larger than the extent, the blocks below get a
 * predicate. out: the n new loops, outermost first. False after a
 * diagnostic. */
bool sched_split(struct sched *s, int loop, const int64_t *factors, int n,
		 int *out);
bool sched_fuse(struct sched *s, const int *loops, int n, int *out);
bool sched_reorder(struct sched *s, const int *loops, int n);
/* Permutes the n iter vars of a block: number i becomes the one that was
 * order[i]. */
bool sched_reorder_block_iters(struct sched *s, int block, const int *order,
			       int n);
/* Merges two adjacent nests of equal loops, down to the given loop of each
 * nest. */
bool sched_merge(struct sched *s, int first, int second);
bool sched_parallel(struct sched *s, int loop);
bool sched_vectorize(struct sched *s, int loop);
bool sched_unroll(struct sched *s, int loop);
bool sched_bind(struct sched *s, int loop, const char *thread);
bool sched_compute_inline(struct sched *s, int block);
bool sched_reverse_compute_inline(struct sched *s, int block);
bool sched_compute_at(struct sched *s, int block, int loop);
bool sched_reverse_compute_at(struct sched *s, int block, int loop);
/* Makes the block write its output to a new buffer in the memory scope `scope`,
 * and adds a block that copies this buffer to the old output; *out is the
 * copying block. */
bool sched_cache_write(struct sched *s, int block, int write_index,
		       const char *scope, int *out);
bool sched_cache_read(struct sched *s, int block, int read_index,
		      const char *scope, int *out);
/* Makes the block write its output to a new buffer whose dimensions are in the
 * order of the block's iter vars, and adds a block that copies this buffer to
 * the old output; *out is the copying block. */
bool sched_reindex(struct sched *s, int block, int write_index, int *out);
/* Moves the init part of the block's reduction to a separate block, *out,
 * before the loop. */
bool sched_decompose_reduction(struct sched *s, int block, int loop, int *out);
/* Computes partial results along a reduction loop in a separate block, *out,
 * which can be vectorized along the loop; the old block reduces the partial
 * results, in the loops around the reduction. factor_axis: the position of the
 * new dimension in the buffer of the partial results; -1: the last position. */
bool sched_rfactor_inside(struct sched *s, int loop, int factor_axis, int *out);
bool sched_set_scope(struct sched *s, int block, int write_index,
		     const char *scope);
bool sched_annotate(struct sched *s, int loop_or_block, const char *key,
		    struct sched_value value);
/* Changes the layout of a buffer everywhere in the function: the buffer of the
 * block's read region number `index`, or, if `write`, of its write region. The
 * buffer of a parameter also changes in the signature; the caller must convert
 * its data (packed weights). */
bool sched_transform_layout(struct sched *s, int block, bool write, int index,
			    const struct index_map *map);
bool sched_rename_loop(struct sched *s, int loop, const char *name);
bool sched_rename_buffer(struct sched *s, int block, int write_index,
			 const char *name);

/* Appends to *out, for people, the steps that changed the function, one on each
 * line. */
void sched_print_trace(const struct sched *s, struct strbuf *out);

#endif
