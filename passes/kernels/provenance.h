/* SPDX-License-Identifier: Apache-2.0 */
/* Provenance in a compiled program: for each node of the model the kernels that
 * compute the node, the constants into which it was folded, and the passes that
 * changed it; for each kernel its nodes; for each constant its formula over the
 * model's constants, and its layout.
 *
 * A kernel here is a call: calls that share a function have separate nodes. */
#ifndef TIRC_PROVENANCE_H
#define TIRC_PROVENANCE_H

#include "kernel.h"

/* What became of one node of the model. */
struct node_fate {
	/* the kernels that compute the node, in the order of execution */
	VEC(const struct kernel *) kernels;
	/* the kernels whose constants depend on the node */
	VEC(const struct kernel *) folded;
	/* the constants whose values depend on the node */
	VEC(const struct weight *) weights;
	/* The name of the last graph pass that changed the node, and why. If no
	 * kernel computes the node, the name may also be "view" (no code:
	 * another tensor has the bytes), "control" (code of the entry
	 * function), "empty" (its results have no elements) or "import"
	 * (dropped by the reader of the model). Both are NULL if a kernel
	 * computes the unchanged node. */
	const char *pass, *why;
};

/* The fate of each node of the model: an array of graph.origins.n entries, in
 * the module's arena. */
struct node_fate *provenance_fates(struct program *p);

struct origin_list {
	VEC(int) list; /* indices into graph.origins, ascending */
};

/* The model's nodes that a kernel computes. */
struct origin_list provenance_computed(struct program *p,
				       const struct kernel *k);
/* The nodes of the model whose results the kernel has only as a part of the
 * values of its constants. */
struct origin_list provenance_folded(struct program *p, const struct kernel *k);
/* The nodes of the model from which the value of the constant is computed. */
struct origin_list provenance_of_constant(struct arena *a,
					  const struct tensor *constant);

/* The names, in the model, of the initialisers and of the outputs of Constant
 * nodes from which a constant is computed; each name once. */
struct constant_sources {
	VEC(const char *) names;
};
struct constant_sources provenance_sources(struct arena *a,
					   const struct tensor *constant);
/* The formula of a constant over the model's constants: "\"conv1.weight\" *
 * (\"bn1.scale\" / sqrt(\"bn1.var\" + 1e-05))". */
const char *provenance_recipe(struct arena *a, const struct tensor *constant);
/* The reverse of provenance_recipe and the functions above, for saved graphs:
 * sets constant.made_by to a description with this recipe, these sources and
 * these origins. */
void provenance_restore(struct graph *g, struct tensor *constant,
			const char *recipe,
			const struct constant_sources *sources,
			const struct origin_list *origins);
/* Describes where the element at logical indices is stored: "[oc][ic][kh][kw]
 * at [kh][kw][ic/4][oc][ic%4]". NULL if the layout is the identity. */
const char *provenance_index(struct program *p, const struct weight *w);

#endif
