/* SPDX-License-Identifier: Apache-2.0 */
/* Notes the memory space of each parameter of a kernel, after memory
 * planning. */
#include <assert.h>

#include "kernel_build.h"
#include "plan.h"

static enum memory_space
space_of(const struct program *p, const struct kernel_arg *arg)
{
	const struct placement *at;

	switch (arg->kind) {
	case ARG_WEIGHT:
		return SPACE_WEIGHTS;
	case ARG_TENSOR:
		at = plan_find(&p->plan, arg->tensor);
		return at == NULL || at->kind == PLACE_WORKSPACE
			       ? SPACE_WORKSPACE
		       : at->kind == PLACE_WEIGHT ? SPACE_WEIGHTS
						  : SPACE_INTERFACE;
	case ARG_SCRATCH:
	default:
		return SPACE_WORKSPACE;
	}
}

void
kernels_note_spaces(struct program *p)
{
	for (int i = 0; i < p->kernels.n; i++) {
		struct kernel *k = p->kernels.data[i];
		int n = k->args.n < k->func->params.n ? k->args.n
						      : k->func->params.n;

		/* A region's constants may be passed to its init function: then
		 * func has fewer parameters. */
		assert(k->init != NULL || k->args.n == k->func->params.n);
		for (int a = 0; a < n && k->init == NULL; a++) {
			k->func->params.data[a].space =
				space_of(p, &k->args.data[a]);
		}
	}
}
