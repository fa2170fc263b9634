/* SPDX-License-Identifier: Apache-2.0 */
/* How operators compute whose loops do not tell it: for the comment of their
 * kernel. */
#include "ops.h"

#include <string.h>

/* The inputs of tirc.TreeEnsemble (passes/ops/ml/trees.c). */
enum { TREE_DEPTH = 5, TREE_ROW = 6, TREE_WEIGHTS = 7, TREE_FLAGS = 8 };

static const char *
tree_method(struct arena *a, const struct node *n)
{
	bool has_depth = node_input(n, TREE_DEPTH) != NULL;

	return arena_printf(
		a,
		"from the root of each tree %s until a leaf is reached%s: the "
		"first child if the element of x that the node tests is at most "
		"value[node], else the second%s%s",
		has_depth ? "to next[node][0] or next[node][1]"
			  : "to next[node] or the node after it",
		has_depth ? ", which leads to itself"
			  : ", of which feature is -1",
		node_input(n, TREE_FLAGS) != NULL
			? "; flags: bit 0: NaN goes to the first child, bit 1: "
			  "equal in place of at most"
			: "",
		node_input(n, TREE_WEIGHTS) != NULL
			? "; row: that of a leaf in weights"
		: node_input(n, TREE_ROW) != NULL
			? "; row: the result that a leaf adds to"
			: "");
}

const char *
op_method(struct arena *a, const struct node *n)
{
	if (strcmp(n->op_type, "TreeEnsemble") == 0) {
		return tree_method(a, n);
	}
	if (strcmp(n->op_type, "NonMaxSuppression") == 0) {
		return "class by class, the boxes with enough score are made a "
		       "heap, by score and then by position; its root is the "
		       "next box until enough are kept, and is kept unless a "
		       "kept box of its class overlaps it too much";
	}
	return NULL;
}
