/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates the definition of a node over known elements of its inputs:
 * numbers, and expressions of symbolic sizes. */
#ifndef TIRC_SYMBOLIC_EVAL_H
#define TIRC_SYMBOLIC_EVAL_H

#include "define.h"

enum { EVAL_RANK_MAX = 16, EVAL_BOUND_MAX = 64 };

struct symbolic_eval {
	struct module *m;
	/* ordered stages that were evaluated; initialize to NULL */
	struct ordered_memory *memory;
	/* by tensor in `tensors`: its placeholder in the definition, or NULL */
	struct te_tensor **inputs;
	struct tensor **tensors;
	int n_inputs;
	struct te_tensor **outputs;
	int n_outputs;
	struct {
		const struct var *var;
		const struct expr *value;
	} bound[EVAL_BOUND_MAX];
	int n_bound;
	/* the number of nodes of expressions that may still be visited */
	int64_t budget;
};

/* Sets elems to the n elements of out, which has the given shape; false if one
 * is not known. */
bool symbolic_elems(struct symbolic_eval *s, struct te_tensor *out,
		    struct dtype type, const int64_t *shape, int rank,
		    int64_t n, const struct expr **elems);

#endif
