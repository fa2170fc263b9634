/* SPDX-License-Identifier: Apache-2.0 */
/* State shared by the files that build a phase-0 function from tensor
 * expressions. Private to ir/te_*.c. */
#ifndef TIRC_TE_BUILD_H
#define TIRC_TE_BUILD_H

#include "te.h"

struct te_redirect {
	const struct buffer *from, *to;
};

struct te_build {
	struct module *m;
	struct func *f;
	struct te_tensor *const *params;
	int n_params;
	VEC(struct te_stage *) stages; /* producers first */
	VEC(const char *) names;
	VEC(const struct buffer *) allocs;
	/* bound: variables of axes; free: other variables, which become
	 * parameters */
	VEC(struct var *) bound, free;
	VEC(struct te_redirect) redirects;
	/* the list to which the blocks of the stages are added; NULL if the
	 * caller does not need it */
	struct te_blocks *blocks;
};

/* Where in time a stage of a scan is computed: in the scan's loop over `axis`,
 * whose variable is `now`, at the times now + first to now + last. */
struct te_step {
	const struct expr *now;
	struct iter_var axis;
	int first, last;
};

/* The axes of one block: its loop variables, its block variables, and a map
 * from the variables of the stage to the block variables. */
struct te_nest {
	struct iter_var *iters;
	/* for each iter var: the variable of its loop; NULL if the iter var has
	 * no loop */
	struct var **loops;
	struct range *ranges; /* of the loops */
	const struct expr **bindings;
	struct var_map map;
};

/* A nest that has no axes yet, with room for n axes. */
struct te_nest te_nest_new(struct te_build *b, int n);
void te_nest_add(struct te_build *b, struct te_nest *n,
		 const struct iter_var *axis);
/* Wraps body, a block over the iter vars of the nest, in the loops of the
 * nest. */
struct stmt *te_nest_loops(struct te_build *b, const struct te_nest *n,
			   struct stmt *body);
/* The expression e with the variables of the map replaced, and the buffers that
 * a scan replaces. */
const struct expr *te_inside(struct te_build *b, const struct expr *e,
			     const struct var_map *map);

const char *te_unique_name(struct te_build *b, const char *name);
bool te_is_param(const struct te_build *b, const struct buffer *buffer);
/* The buffer that replaces `buffer` in this function; `buffer` itself if it is
 * not replaced. */
const struct buffer *te_target(const struct te_build *b,
			       const struct buffer *buffer);
/* Is t a parameter, or read by a stage other than reader? */
bool te_is_shared(const struct te_build *b, const struct te_tensor *t,
		  const struct te_stage *reader);

/* Makes the scan's result replace the buffers of its states, and those buffers
 * of init and update that no other stage reads. */
void te_scan_redirect(struct te_build *b, const struct te_stage *s);
/* Adds a variable to `free` unless it is in `free` or `bound` already. */
void te_note_free(struct te_build *b, struct var *v);
/* Adds to `free` the variables that the body of a TE_EXTERN stage uses and does
 * not bind. */
void te_extern_vars(struct te_build *b, const struct te_stage *s);

/* The block of a TE_COMPUTE stage, with loops around it. step: the step of a
 * scan that the stage belongs to, or NULL. */
struct stmt *te_build_compute(struct te_build *b, const struct te_stage *s,
			      const struct te_step *step);
struct stmt *te_build_scan(struct te_build *b, const struct te_stage *s);
struct stmt *te_build_extern(struct te_build *b, const struct te_stage *s);
/* The statements of a TE_ORDERED stage: the loops and blocks that initialise
 * the outputs, then the loops and blocks of the stores. */
struct stmt *te_build_ordered(struct te_build *b, const struct te_stage *s);
/* A block, with loops around it, that copies the first `extent` elements of
 * dimension 0: out[i] = from[i]. */
struct stmt *te_build_copy(struct te_build *b, const char *name,
			   const struct buffer *from, const struct buffer *out,
			   const struct te_step *step,
			   const struct expr *extent);

/* Appends the expressions of a TE_COMPUTE stage's bodies, without axes. */
void te_stage_parts(struct arena *a, const struct te_stage *s,
		    struct exprs *out);

/* Appends the expressions of the stores of a TE_ORDERED stage. */
void te_ordered_parts(struct arena *a, const struct te_stage *s,
		      struct exprs *out);

#endif
