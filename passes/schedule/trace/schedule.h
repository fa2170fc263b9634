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
	const struct sched_value *args; /* one per parameter */
	/* SV_NONE, a block, a loop, an expression, or a list of these */
	struct sched_value result;
	const char *text; /* "split(i, [4, 16])", for comments */
};

/* A value that was sampled: var stands for it in later arguments. */
struct sched_sample {
	struct var *var;
	int64_t value;
};

/* A change of a buffer's layout by transform_layout. */
struct sched_layout {
	const struct buffer *from, *to;
	const struct index_map *map; /* both directions */
};

struct sched {
	struct func *func;
	struct module *module;
	VEC(struct sched_step) trace;
	VEC(struct sched_sample) samples;
	VEC(struct sched_layout) layouts;
	/* Failures are reported here, not in the module, so that rules can try
	 * primitives. */
	struct diags diags;
	uint64_t random;                /* state of the random generator */
	struct tensor_intrins *intrins; /* for tensorize; NULL: none */
	/* Bytes to which the address of each parameter is known to be aligned,
	 * whatever its buffer says; NULL: not known. */
	const int64_t *param_align;
};

/* A loop or block is the id of its statement. */
void sched_init(struct sched *s, struct func *f);
/* Equal seeds give equal samples. sched_init seeds with 1. */
void sched_seed(struct sched *s, uint64_t seed);

/* A state to roll back to: function, trace and samples. */
struct sched_mark {
	int journal, steps, samples, layouts;
	uint64_t random;
};
struct sched_mark sched_checkpoint(struct sched *s);
void sched_rollback(struct sched *s, struct sched_mark mark);
/* Copies the schedule and its function (same names, same trace); handles of s
 * are valid in the copy. */
void sched_fork(const struct sched *s, struct sched *out);

/* Shorthands of sched_apply. Handles must come from these queries, so that the
 * trace can be replayed. */
int sched_get_block(struct sched *s, const char *name); /* 0: none */
/* Loops around a block, outermost first; arena array. */
bool sched_get_loops(struct sched *s, int block, int **loops, int *n);
/* scope 0: the root block. Returns their number. */
int sched_get_child_blocks(struct sched *s, int scope, int **blocks);
bool sched_get_producers(struct sched *s, int block, int **blocks, int *n);
bool sched_get_consumers(struct sched *s, int block, int **blocks, int *n);

/* At most one factor may be 0: it is inferred. A split that does not divide
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
/* Computes the block's output in a new buffer of that scope and copies it;
 * returns the copying block. */
bool sched_cache_write(struct sched *s, int block, int write_index,
		       const char *scope, int *out);
bool sched_cache_read(struct sched *s, int block, int read_index,
		      const char *scope, int *out);
/* Writes the block's output to a new buffer in the order of the block's iter
 * vars, and copies it; returns the copying block. */
bool sched_reindex(struct sched *s, int block, int write_index, int *out);
/* Moves the init part to a block of its own, before the loop. */
bool sched_decompose_reduction(struct sched *s, int block, int loop, int *out);
/* Computes partial results along a reduction loop in a block of their own
 * (*out), which may be vectorized along it; the old block reduces them.
 * factor_axis: the dimension that the partial results' buffer gets; -1: the
 * last. */
bool sched_rfactor(struct sched *s, int loop, int factor_axis, int *out);
bool sched_set_scope(struct sched *s, int block, int write_index,
		     const char *scope);
bool sched_annotate(struct sched *s, int loop_or_block, const char *key,
		    struct sched_value value);
/* Changes the layout of a buffer everywhere in the function: of the one that
 * the block reads (writes) as its index-th. A parameter's buffer changes in the
 * signature too; the caller must convert its data (packed weights). */
bool sched_transform_layout(struct sched *s, int block, bool write, int index,
			    const struct index_map *map);
bool sched_rename_loop(struct sched *s, int loop, const char *name);
bool sched_rename_buffer(struct sched *s, int block, int write_index,
			 const char *name);

/* Prints the steps that changed the function, one per line, for people. */
void sched_print_trace(const struct sched *s, struct strbuf *out);

#endif
