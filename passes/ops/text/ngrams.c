/* SPDX-License-Identifier: Apache-2.0 */
/* Searches in sorted tables; the importer makes these nodes from
 * TfIdfVectorizer (gen/onnx/compose/compose_ngrams.c):
 *
 * 	tirc.FindString (x, keys) where each string is among keys, or -1
 * 	tirc.NGrams (x, item, first, column, weight)
 * 	                                     how often each n-gram is in a row */
#include "steps.h"

/* ---- FindString: the keys are sorted as strcmp compares them ---- */

enum { X, KEYS };

bool
infer_find_string(struct infer *c, struct node *n)
{
	if (!infer_strings(c, n, X, 2, 2) || !infer_strings(c, n, KEYS, 2, 2)) {
		return false;
	}
	infer_set(c, n->outputs[0], dtype_of(DT_I32), 1, n->inputs[X]->shape);
	return true;
}

bool
define_find_string(struct define *c, const struct node *n,
		   struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const names[] = { "found" };
	const struct tensor *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);
	struct steps s = steps_begin(c, "find_string", "find_string", names,
				     &y->type, &y->ndim,
				     (const struct expr *const *[]){ y->shape },
				     1, in, 2, out);

	steps_row(&s, "x", in[X], &axes[0].var->expr, 1);
	steps_row(&s, "found", out[0], &axes[0].var->expr, 1);
	steps_tensor(&s, "keys", in[KEYS]);
	return steps_run(&s, "find_string", axes, 1);
}

/* ---- NGrams: the n-grams are a tree whose node 0 is the root ---- */

enum { ROW, ITEM, FIRST, COLUMN, WEIGHT };

/* Checks that the tables name only nodes of the tree and columns of the result;
 * false after a diagnostic. */
static bool
check_tables(struct infer *c, const struct node *n)
{
	int64_t columns = node_attr_int(n, "columns", 1);
	int64_t skips = node_attr_int(n, "skips", 0), items;

	if (!expr_is_int(n->inputs[ITEM]->shape[0], &items) || columns < 1 ||
	    columns > INT32_MAX || skips < 0 || skips >= INT32_MAX) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "its columns, skips or items are not valid; "
				   "correct the model");
	}
	return infer_size_of(c, n, FIRST, 0, items + 2) &&
	       infer_positions(c, n, FIRST, 0, items + 1) &&
	       infer_size_of(c, n, COLUMN, 0, items + 1) &&
	       infer_positions(c, n, COLUMN, -1, columns) &&
	       (!node_input(n, WEIGHT) ||
		infer_size_of(c, n, WEIGHT, 0, items + 1));
}

/* The children of node n are the nodes first[n] + 1 to first[n + 1]; item[i]
 * leads to node i + 1, and the items of the children of a node are sorted.
 * column[n] is the column of the result for the n-gram that ends at node n, or
 * -1; weight[n], if the input is present, is added there in place of 1. With
 * the attribute `once`, an n-gram counts once for each row. */
bool
infer_ngrams(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[ROW];
	const struct expr *shape[2];

	if ((node_input(n, WEIGHT) &&
	     !infer_form(c, n, WEIGHT, TYPES_FLOAT, 1, 1)) ||
	    !infer_form(c, n, ROW, TYPES_SIGNED, 2, 2) ||
	    !infer_form(c, n, ITEM, TYPES_SIGNED, 1, 1) ||
	    !infer_form(c, n, FIRST, TYPES_SIGNED, 1, 1) ||
	    !infer_form(c, n, COLUMN, TYPES_SIGNED, 1, 1)) {
		return false;
	}
	if (!dtype_equal(x->type, n->inputs[ITEM]->type) ||
	    (node_input(n, WEIGHT) && n->inputs[WEIGHT]->type.kind != DT_F32)) {
		return infer_error(c, DIAG_BAD_TYPE,
				   "its items must have the type of input 0, "
				   "and its weights be float32; correct the "
				   "model");
	}
	if (!check_tables(c, n)) {
		return false;
	}
	shape[0] = x->shape[0];
	shape[1] = expr_index(c->module, node_attr_int(n, "columns", 1));
	infer_set(c, n->outputs[0], dtype_of(DT_F32), 2, shape);
	return true;
}

bool
define_ngrams(struct define *c, const struct node *n,
	      struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const names[] = { "counts" };
	struct module *m = c->module;
	struct dtype i32 = dtype_of(DT_I32);
	const struct tensor *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);
	bool has_weights = n->n_inputs > WEIGHT && in[WEIGHT];
	struct steps s = steps_begin(c, "ngrams", "ngrams", names, &y->type,
				     &y->ndim,
				     (const struct expr *const *[]){ y->shape },
				     1, in, 4 + has_weights, out);

	steps_row(&s, "x", in[ROW], &axes[0].var->expr, 1);
	steps_row(&s, "counts", out[0], &axes[0].var->expr, 1);
	steps_tensor(&s, "item", in[ITEM]);
	steps_tensor(&s, "first", in[FIRST]);
	steps_tensor(&s, "column", in[COLUMN]);
	if (has_weights) {
		steps_tensor(&s, "weights", in[WEIGHT]);
	}
	steps_flag(&s, "has_weights", has_weights);
	steps_value(&s, "items", expr_cast(m, i32, n->inputs[ROW]->shape[1]));
	steps_value(&s, "columns", expr_cast(m, i32, y->shape[1]));
	steps_value(&s, "skips", expr_i32(m, node_attr_int(n, "skips", 0)));
	steps_flag(&s, "once", node_attr_int(n, "once", 0) != 0);
	return steps_run(&s, "ngrams", axes, 1);
}
