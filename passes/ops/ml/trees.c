/* SPDX-License-Identifier: Apache-2.0 */
/* tirc.TreeEnsemble: decision trees as tables, with an element for each node of
 * all trees.
 *
 *	for t, n: node = root[t]
 *		  depth[t] times: node = next[node][x[n, feature[node]] <=
 *					value[node] ? 0 : 1]
 *		  y[n] += value[node]
 *
 * The node after a leaf is the leaf itself, so that no branch depends on data,
 * and a processor can work on several rows or trees at once. If most leaves of
 * the trees are far above the lowest leaf, the input depth is absent. Then the
 * feature of a leaf is -1, and `next` has only one element for each node, its
 * first child; the second child is the node after the first one, so that
 * next[node] can be read while x is compared:
 *
 *	while feature[node] >= 0:
 *		node = next[node] + (x[n, feature[node]] <= value[node] ? 0 : 1)
 *
 * The rows of x are processed in blocks, so that a tree stays in the cache for
 * all rows of a block. If there is more than one target, row[node] of a leaf is
 * the leaf's target, or its row in the table of weights. flags: bit 0: NaN goes
 * to the first child; bit 1: the node tests x == value.
 *
 * Inputs: x, feature, value, next, root, depth, row, weights, flags. */
#include "dims.h"
#include "steps.h"

#include <math.h>

enum { BLOCK_ROWS = 32 };

enum { X, FEATURE, VALUE, NEXT, ROOT, DEPTH, ROW, WEIGHTS, FLAGS };

/* Checks that each branch leads to two later nodes; false after a
 * diagnostic. */
static bool
leads_on(struct infer *c, const struct node *n, int64_t nodes)
{
	const struct value *feature = n->inputs[FEATURE]->value;
	const struct value *next = n->inputs[NEXT]->value;
	bool all = true;

	if (!feature || !next) {
		/* constants that have recipes were checked when they still had
		 * values */
		return true;
	}
	for (int64_t i = 0; all && i < nodes; i++) {
		int64_t to = value_int(next, i);

		all = value_int(feature, i) < 0 || (to > i && to + 1 < nodes);
	}
	return all ||
	       infer_error(c, DIAG_BAD_TENSOR,
			   "a branch of its trees does not lead to later "
			   "nodes; correct the model");
}

/* Checks that the tables lead from the root of each tree to leaves, by features
 * that x has; false after a diagnostic. With the input depth, a leaf leads to
 * itself; without this input, a node leads only to nodes after it, and a leaf
 * has the feature -1. */
static bool
check_tables(struct infer *c, const struct node *n, int64_t targets)
{
	bool steps = node_input(n, DEPTH) != NULL;
	const struct tensor *next = n->inputs[NEXT];
	int64_t nodes, features, trees, leaves = targets;

	if (!expr_is_int(n->inputs[FEATURE]->shape[0], &nodes) ||
	    !expr_is_int(n->inputs[X]->shape[1], &features)) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "the numbers of nodes and features must be "
				   "constants; correct the model");
	}
	for (int i = VALUE; i <= FLAGS; i++) {
		bool of_nodes = i == VALUE || i == NEXT || i == ROW ||
				i == FLAGS;

		if (of_nodes && node_input(n, i) &&
		    !infer_size_of(c, n, i, 0, nodes)) {
			return false;
		}
	}
	if (!expr_is_int(n->inputs[ROOT]->shape[0], &trees) ||
	    (steps && !infer_size_of(c, n, DEPTH, 0, trees))) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "it needs a root and, if any, a number of "
				   "steps for each tree; correct the model");
	}
	if (node_input(n, WEIGHTS) &&
	    (!infer_form(c, n, WEIGHTS, TYPES_FLOAT, 2, 2) ||
	     !expr_is_int(n->inputs[WEIGHTS]->shape[0], &leaves) ||
	     !infer_size_of(c, n, WEIGHTS, 1, targets) ||
	     !node_input(n, ROW))) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "the weights of the leaves are not valid; "
				   "correct the model");
	}
	if ((steps && (next->ndim != 2 || !infer_size_of(c, n, NEXT, 1, 2) ||
		       !infer_positions(c, n, DEPTH, 0, nodes))) ||
	    (!steps && next->ndim != 1) ||
	    !infer_positions(c, n, FEATURE, steps ? 0 : -1, features) ||
	    !infer_positions(c, n, NEXT, 0, steps ? nodes : nodes + 1) ||
	    !infer_positions(c, n, ROOT, 0, nodes) ||
	    (node_input(n, ROW) && !infer_positions(c, n, ROW, 0, leaves))) {
		return false;
	}
	return steps || leads_on(c, n, nodes);
}

/* Checks that x and the leaves' values have one type, and that the attribute
 * aggregate_function is known; false after a diagnostic. */
static bool
check_values(struct infer *c, const struct node *n)
{
	static const char *const ways[] = { "SUM", "AVERAGE", "MIN", "MAX" };
	const char *how = node_attr_string(n, "aggregate_function", "SUM");
	bool known = false;

	for (int k = 0; k < 4; k++) {
		known = known || strcmp(how, ways[k]) == 0;
	}
	if (!known) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "aggregate_function must be SUM, AVERAGE, "
				   "MIN or MAX; correct the model");
	}
	return dtype_equal(n->inputs[X]->type, n->inputs[VALUE]->type) ||
	       infer_error(c, DIAG_BAD_TYPE,
			   "inputs %d and %d must have the same type; correct "
			   "the model",
			   X, VALUE);
}

bool
infer_trees(struct infer *c, struct node *n)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[X];
	int64_t targets = node_attr_int(n, "targets", 1);
	const struct expr *shape[2];

	if (!infer_form(c, n, X, TYPES_FLOAT, 2, 2) ||
	    !infer_form(c, n, VALUE, TYPES_FLOAT, 1, 1) ||
	    !infer_form(c, n, NEXT, TYPES_SIGNED, 1, 2) ||
	    !infer_form(c, n, FLAGS, TYPES_UNSIGNED, 1, 1) ||
	    !check_values(c, n)) {
		return false;
	}
	if (targets < 1 || targets > INT32_MAX) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "targets must be from 1 to 2147483647; "
				   "correct the model");
	}
	for (int i = FEATURE; i <= ROW; i++) {
		if (i != VALUE && i != NEXT && node_input(n, i) &&
		    !infer_form(c, n, i, TYPES_SIGNED, 1, 1)) {
			return false;
		}
	}
	if (!check_tables(c, n, targets)) {
		return false;
	}
	shape[0] = x->shape[0];
	shape[1] = expr_i32(m, (int32_t)targets);
	infer_set(c, n->outputs[0], x->type, 2, shape);
	return true;
}

bool
define_trees(struct define *c, const struct node *n,
	     struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const name[] = { "trees" };
	static const char *const inputs[] = { "x",    "feature", "value",
					      "next", "root",    "depth",
					      "row",  "weights", "flags" };
	static const char *const has[] = {
		NULL,        NULL,      NULL,          NULL,       NULL,
		"has_depth", "has_row", "has_weights", "has_flags"
	};
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	const struct expr *rows = y->shape[0], *first, *blocks;
	const char *how = node_attr_string(n, "aggregate_function", "SUM");
	bool is_min = strcmp(how, "MIN") == 0, is_max = strcmp(how, "MAX") == 0;
	struct te_tensor *given[FLAGS + 1];
	struct iter_var *axis;
	struct steps s;
	int64_t all, block = BLOCK_ROWS;
	int n_in = 0;

	for (int k = 0; k < n->n_inputs; k++) {
		if (in[k]) {
			given[n_in++] = in[k];
		}
	}
	s = steps_begin(c, name[0], "trees", name, &y->type, &y->ndim,
			(const struct expr *const *[]){ y->shape }, 1, given,
			n_in, out);
	for (int k = 0; k <= FLAGS; k++) {
		bool present = k < n->n_inputs && in[k];

		if (present) {
			steps_tensor(&s, inputs[k], in[k]);
		}
		if (has[k]) {
			steps_flag(&s, has[k], present);
		}
	}
	if (expr_is_int(rows, &all) && all < block) {
		block = all;
	}
	blocks = dim_ceil_div(m, rows, block);
	axis = te_axes(m, 1, &blocks, (const char *const[]){ "block" });
	first = expr_mul(m, axis->var->expr,
			 expr_int(m, axis->var->type, block));
	if (!expr_is_int(rows, &all) || all % block != 0) {
		rows = expr_min(m, expr_int(m, rows->type, block),
				expr_sub(m, rows, first));
	} else {
		rows = expr_int(m, rows->type, block);
	}
	steps_tensor(&s, "y", out[0]);
	steps_value(&s, "first", first);
	steps_value(&s, "rows", rows);
	steps_value(&s, "start",
		    expr_float(m, y->type,
			       is_min   ? INFINITY
			       : is_max ? -INFINITY
					: 0));
	steps_flag(&s, "is_average", strcmp(how, "AVERAGE") == 0);
	steps_flag(&s, "is_min", is_min);
	steps_flag(&s, "is_max", is_max);
	return steps_run(&s, "trees", axis, 1);
}
