/* SPDX-License-Identifier: Apache-2.0 */
/* Where everything in a compiled program comes from: for each node of the
 * model the kernels that compute it, the constants that it went into, and what
 * passes did to it; for each kernel its nodes; for each constant how it was
 * computed from the model's, and how it lies in memory.
 *
 * A kernel here is a call: where several calls share one function, each has
 * nodes of its own. */
#ifndef TIRC_PROVENANCE_H
#define TIRC_PROVENANCE_H

#include "kernel.h"

/* What became of one node of the model. */
struct node_fate {
	VEC(const struct kernel *) kernels; /* in the order of execution */
	VEC(const struct kernel *) folded;  /* whose constants it is part of */
	VEC(const struct weight *) weights; /* whose values it is part of */
	/* What the last pass that touched it did, and why: of the graph's
	 * passes, or "view" (no code: the bytes are there already), "empty" (its
	 * results have no elements). Both NULL: computed as it is. */
	const char *pass, *why;
};

/* By origin, graph.origins.n of them, in the module's arena. */
struct node_fate *provenance_fates(struct program *p);

struct origin_list {
	VEC(int) list; /* indices into graph.origins, ascending */
};

/* The model's nodes that a kernel computes. */
struct origin_list provenance_computed(struct program *p,
				       const struct kernel *k);
/* Those that are only in the values of its constants, arrays and numbers. */
struct origin_list provenance_folded(struct program *p, const struct kernel *k);
/* Those in the values of one constant. */
struct origin_list provenance_of_constant(struct arena *a,
					  const struct tensor *constant);

/* The initialisers (and outputs of Constant nodes) that a constant is computed
 * from, each once: the model's names. */
struct constant_sources {
	VEC(const char *) names;
};
struct constant_sources provenance_sources(struct arena *a,
					   const struct tensor *constant);
/* How a constant is computed from these, as they are in the model:
 * "\"conv1.weight\" * (\"bn1.scale\" / sqrt(\"bn1.var\" + 1e-05))". */
const char *provenance_recipe(struct arena *a, const struct tensor *constant);
/* The reverse, of what has been written down: constant.made_by is set to what
 * says this, comes from these, and stands for these origins. */
void provenance_restore(struct graph *g, struct tensor *constant,
			const char *recipe,
			const struct constant_sources *sources,
			const struct origin_list *origins);
/* Where the element at given indices of that is stored, as an expression of
 * them: "[oc][ic][kh][kw] at [kh][kw][ic/4][oc][ic%4]"; NULL: it lies as it
 * is computed. */
const char *provenance_index(struct program *p, const struct weight *w);

#endif
