/* SPDX-License-Identifier: Apache-2.0 */
/* tirc.TreeEnsemble: decision trees as tables, with an element for each node of
 * all trees.
 *
 *	for t, n: node = root[t]
 *		  depth[t] times: node = next[node][x[n, feature[node]] <=
 *					value[node] ? 0 : 1]
 *		  y[n] += value[node]
 *
 * The next node of a leaf is the leaf itself, so that no branch depends on
 * data, and a processor can work on several rows or trees at once. If most
 * leaves of the trees are far above the lowest leaf, the input depth is absent.
 * Then the feature of a leaf is -1, and next has one element for each node: the
 * second child is the node after the first, so that next[node] is read while x
 * is compared:
 *
 *	while feature[node] >= 0:
 *		node = next[node] + (x[n, feature[node]] <= value[node] ? 0 : 1)
 *
 * The rows of x are processed in blocks, so that a tree stays in the cache for
 * all rows of a block. With more than one target, row[node] of a leaf is its
 * target, or its row in the table of weights. flags: bit 0: NaN goes to the
 * first child; bit 1: the node tests x == value.
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
		return true; /* recipes: they were checked when they had
			      * values */
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
 * itself; else each branch leads to later nodes, and a leaf has the feature
 * -1. */
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

struct forest {
	struct steps s;
	const struct node *n;
	struct te_tensor *const *in;
	struct dtype type;
	/* the number of the first row and the number of rows of a block */
	const struct expr *first, *rows;
	/* the number of the current row of x */
	const struct expr *row;
	const struct expr *node;
	/* the attribute aggregate_function: 'S' for SUM, 'V' for AVERAGE, 'I'
	 * for MIN, 'A' for MAX */
	char how;
};

static const struct expr *
table(const struct forest *f, int which, const struct expr *at)
{
	return te_at(f->s.m, f->in[which], &at, 1);
}

/* The condition that the first child of the current node is the next node. */
static const struct expr *
goes_first(const struct forest *f)
{
	struct module *m = f->s.m;
	const struct expr *at[] = { f->row, table(f, FEATURE, f->node) };
	const struct expr *x = te_at(m, f->in[X], at, 2), *flag, *first;
	const struct expr *value = table(f, VALUE, f->node);

	first = expr_le(m, x, value);
	if (!f->in[FLAGS]) {
		return first;
	}
	flag = table(f, FLAGS, f->node);
	first = expr_select(m, expr_lt(m, expr_const(m, flag->type, 1), flag),
			    expr_eq(m, x, value), first);
	flag = expr_call2(m, INTRIN_BITAND, flag, expr_const(m, flag->type, 1));
	return expr_or(m, first,
		       expr_and(m, expr_call1(m, INTRIN_ISNAN, x),
				expr_eq(m, flag,
					expr_const(m, flag->type, 1))));
}

static const struct expr *
next_node(const struct forest *f)
{
	struct module *m = f->s.m;
	const struct expr *second = expr_select(m, goes_first(f),
						expr_i32(m, 0), expr_i32(m, 1));
	const struct expr *at[] = { f->node, second };

	return f->in[DEPTH] ? te_at(m, f->in[NEXT], at, 2)
			    : expr_add(m, table(f, NEXT, f->node), second);
}

/* Sets `node` to the leaf of tree t. */
static struct stmt *
find_leaf(struct forest *f, const struct buffer *node, const struct expr *t)
{
	struct steps *s = &f->s;
	struct module *m = s->m;
	struct var *step = var_new(m, "step", dtype_of(DT_I32));
	struct stmt *move = step_set(s, node, next_node(f));

	if (f->in[DEPTH]) {
		move = step_for(s, step, table(f, DEPTH, t), move);
	} else {
		move = stmt_while(s->f,
				  expr_le(m, expr_i32(m, 0),
					  table(f, FEATURE, f->node)),
				  move);
	}
	return step_seq(s, 2, step_set(s, node, table(f, ROOT, t)), move, NULL,
			NULL);
}

static const struct expr *
combine(const struct forest *f, const struct expr *a, const struct expr *b)
{
	struct module *m = f->s.m;

	return f->how == 'I'   ? expr_min(m, a, b)
	       : f->how == 'A' ? expr_max(m, a, b)
			       : expr_add(m, a, b);
}

/* y[n, target] += value */
static struct stmt *
add_to(const struct forest *f, const struct expr *target,
       const struct expr *value)
{
	const struct expr *at[] = { f->row, target };
	struct module *m = f->s.m;
	const struct te_tensor *y = f->s.out[0];

	return stmt_store(f->s.f, y->buffer,
			  combine(f, te_at(m, y, at, 2),
				  expr_cast(m, f->type, value)),
			  at, 2);
}

static struct stmt *
add_leaf(struct forest *f, const struct expr *targets)
{
	struct steps *s = &f->s;
	struct module *m = s->m;
	struct var *k = var_new(m, "k", targets->type);
	const struct expr *at[2];

	if (f->in[WEIGHTS]) {
		at[0] = table(f, ROW, f->node);
		at[1] = k->expr;
		return step_for(s, k, targets,
				add_to(f, k->expr,
				       te_at(m, f->in[WEIGHTS], at, 2)));
	}
	return add_to(f, f->in[ROW] ? table(f, ROW, f->node) : expr_i32(m, 0),
		      table(f, VALUE, f->node));
}

/* Begins a loop over the rows of the block: returns its variable, and sets
 * f->row. */
static struct var *
begin_rows(struct forest *f)
{
	struct var *i = var_new(f->s.m, "i", f->rows->type);

	f->row = expr_add(f->s.m, f->first, i->expr);
	return i;
}

/* Makes y[n, k] = value for all rows of the block and all targets k. */
static struct stmt *
for_targets(struct forest *f, const struct expr *targets,
	    const struct expr *(*value)(struct forest *f,
					const struct expr *old))
{
	struct steps *s = &f->s;
	struct var *i = begin_rows(f);
	struct var *k = var_new(s->m, "k", targets->type);
	const struct expr *at[] = { f->row, k->expr };
	const struct te_tensor *y = s->out[0];

	return step_for(s, i, f->rows,
			step_for(s, k, targets,
				 stmt_store(s->f, y->buffer,
					    value(f, te_at(s->m, y, at, 2)), at,
					    2)));
}

static const struct expr *
start_value(struct forest *f, const struct expr *old)
{
	(void)old;
	return expr_float(f->s.m, f->type,
			  f->how == 'I'   ? INFINITY
			  : f->how == 'A' ? -INFINITY
					  : 0);
}

/* The final value of an element: an average is divided by the number of trees;
 * a minimum or maximum of no values is 0. */
static const struct expr *
end_value(struct forest *f, const struct expr *old)
{
	struct module *m = f->s.m;
	const struct expr *count = f->in[ROOT]->buffer->shape[0];

	if (f->how == 'V') {
		return expr_div(m, old, expr_cast(m, f->type, count));
	}
	return expr_select(m, expr_eq(m, old, start_value(f, old)),
			   expr_float(m, f->type, 0), old);
}

/* The axis over the blocks of rows. */
static struct iter_var *
block_axis(struct forest *f)
{
	struct module *m = f->s.m;
	const struct expr *n = f->n->outputs[0]->shape[0], *blocks;
	int64_t size, rows = BLOCK_ROWS;
	struct iter_var *axis;

	if (expr_is_int(n, &size) && size < rows) {
		rows = size;
	}
	blocks = dim_ceil_div(m, n, rows);
	axis = te_axes(m, 1, &blocks, (const char *const[]){ "block" });
	f->first = expr_mul(m, axis->var->expr,
			    expr_int(m, axis->var->type, rows));
	f->rows = expr_int(m, n->type, rows);
	if (!expr_is_int(n, &size) || size % rows != 0) {
		f->rows = expr_min(m, f->rows, expr_sub(m, n, f->first));
	}
	return axis;
}

bool
define_trees(struct define *c, const struct node *n,
	     struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const name[] = { "trees" };
	struct module *m = c->module;
	struct arena *a = &m->arena;
	const struct tensor *y = n->outputs[0];
	const char *how = node_attr_string(n, "aggregate_function", "SUM");
	struct iter_var *axis;
	struct var *i, *t = var_new(m, "t", dtype_of(DT_I32));
	struct te_tensor **all = arena_array(a, struct te_tensor *, FLAGS + 1);
	struct te_tensor **given = arena_array(a, struct te_tensor *,
					       FLAGS + 1);
	const struct buffer *node;
	struct forest f = { .n = n, .in = all, .type = y->type };
	struct stmt *body;
	int n_in = 0;

	for (int k = 0; k < n->n_inputs; k++) {
		all[k] = in[k];
		if (in[k]) {
			given[n_in++] = in[k];
		}
	}
	f.how = strcmp(how, "SUM") == 0 ? 'S' : how[1];
	f.s = steps_begin(c, name[0], "trees", name, &y->type, &y->ndim,
			  (const struct expr *const *[]){ y->shape }, 1, given,
			  n_in, out);
	axis = block_axis(&f);
	i = begin_rows(&f);
	node = step_local(&f.s, "node", dtype_of(DT_I32));
	f.node = step_get(&f.s, node);
	body = step_seq(&f.s, 2, find_leaf(&f, node, t->expr),
			add_leaf(&f, y->shape[1]), NULL, NULL);
	body = step_for(&f.s, i, f.rows, step_alloc(&f.s, node, body));
	body = step_for(&f.s, t, in[ROOT]->buffer->shape[0], body);
	body = step_seq(&f.s, 2, for_targets(&f, y->shape[1], start_value),
			body, NULL, NULL);
	if (f.how != 'S') {
		body = step_seq(&f.s, 2, body,
				for_targets(&f, y->shape[1], end_value), NULL,
				NULL);
	}
	steps_end(&f.s, axis, 1, body);
	return true;
}
