/* SPDX-License-Identifier: Apache-2.0 */
/* Searches in sorted tables; the importer makes these nodes from
 * TfIdfVectorizer (gen/onnx/compose/compose_ngrams.c):
 *
 *	tirc.FindString (x, keys)            where each string is among keys, or -1
 *	tirc.NGrams (x, item, first, column, weight)
 *	                                     how often each n-gram is in a row */
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

struct finder {
	struct steps s;
	struct te_tensor *const *in;
	const struct expr *row, *bytes;
	const struct buffer *low, *high, *k;
};

static const struct expr *
number(const struct steps *s, int64_t v)
{
	return expr_i32(s->m, v);
}

static const struct expr *
byte_at(struct finder *f, int which, const struct expr *row)
{
	const struct expr *at[] = { row, step_get(&f->s, f->k) };

	return te_at(f->s.m, f->in[which], at, 2);
}

/*	k = 0
 *	while k < bytes - 1 and x[row, k] == keys[middle, k] != 0: k += 1
 *	if keys[middle, k] < x[row, k]: low = middle + 1
 *	else if x[row, k] < keys[middle, k]: high = middle
 *	else: found[row] = middle; low = high */
static struct stmt *
compare_key(struct finder *f, const struct expr *middle)
{
	struct steps *s = &f->s;
	struct module *m = s->m;
	const struct expr *k = step_get(s, f->k), *more;
	const struct expr *a = byte_at(f, X, f->row);
	const struct expr *b = byte_at(f, KEYS, middle);
	struct stmt *all;

	more = expr_and(m, expr_eq(m, a, b),
			expr_not(m, expr_eq(m, a, expr_const(m, a->type, 0))));
	more = expr_and(m, expr_lt(m, k, expr_sub(m, f->bytes, number(s, 1))),
			more);
	all = step_seq(s, 2,
		       stmt_store(s->f, s->out[0]->buffer, middle, &f->row, 1),
		       step_set(s, f->low, step_get(s, f->high)), NULL, NULL);
	all = stmt_if(s->f, expr_lt(m, a, b), step_set(s, f->high, middle),
		      all);
	all = stmt_if(s->f, expr_lt(m, b, a),
		      step_set(s, f->low, expr_add(m, middle, number(s, 1))),
		      all);
	return step_seq(s, 3, step_set(s, f->k, number(s, 0)),
			stmt_while(s->f, more,
				   step_set(s, f->k,
					    expr_add(m, k, number(s, 1)))),
			all, NULL);
}

/* The loop of a binary search: while low < high: body, with the variable
 * `middle` for the position in the middle. */
static struct stmt *
halve(struct steps *s, const struct buffer *low, const struct buffer *high,
      struct var *middle, struct stmt *body)
{
	struct module *m = s->m;
	const struct expr *from = step_get(s, low), *to = step_get(s, high);

	body = stmt_let(s->f, middle,
			expr_call2(m, INTRIN_SHR, expr_add(m, from, to),
				   number(s, 1)),
			body);
	return stmt_while(s->f, expr_lt(m, from, to), body);
}

/* A string that fills its row has no zero after it. Only the bytes that the
 * rows of both tensors have are compared; a longer key differs in the next
 * byte, where the string counts as ended. */
bool
define_find_string(struct define *c, const struct node *n,
		   struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const names[] = { "found" };
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0], *keys = n->inputs[KEYS];
	struct iter_var *axes = define_axes(c, y);
	struct var *middle = var_new(m, "middle", dtype_of(DT_I32));
	struct finder f = { .in = in, .row = axes[0].var->expr };
	struct steps *s = &f.s;
	struct stmt *body;

	f.s = steps_begin(c, "find_string", "find_string", names, &y->type,
			  &y->ndim, (const struct expr *const *[]){ y->shape },
			  1, in, 2, out);
	f.bytes = expr_min(m, n->inputs[X]->shape[1], keys->shape[1]);
	f.low = step_local(s, "low", dtype_of(DT_I32));
	f.high = step_local(s, "high", dtype_of(DT_I32));
	f.k = step_local(s, "k", dtype_of(DT_I32));
	body = step_alloc(s, f.k, compare_key(&f, middle->expr));
	body = step_seq(s, 4,
			stmt_store(s->f, s->out[0]->buffer, number(s, -1),
				   &f.row, 1),
			step_set(s, f.low, number(s, 0)),
			step_set(s, f.high, keys->shape[0]),
			halve(s, f.low, f.high, middle, body));
	steps_end(s, axes, 1,
		  step_alloc(s, f.low, step_alloc(s, f.high, body)));
	return true;
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
 * column[n] is the column of the n-gram that ends at node n, or -1; weight[n],
 * if present, is added for it. With the attribute `once`, an n-gram counts once
 * for each row. */
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

struct counter {
	struct steps s;
	/* the inputs; in[WEIGHT] is NULL if absent */
	struct te_tensor *const *in;
	const struct node *n;
	const struct expr *row, *skip, *start;
	const struct buffer *node, *at, *low, *high;
};

static const struct expr *
table(const struct counter *c, int which, const struct expr *at)
{
	return te_at(c->s.m, c->in[which], &at, 1);
}

/*	column = column[node]
 *	if column >= 0 and (at > start or skip == 0): y[row, column] += weight
 *
 * An n-gram of one item skips nothing and is counted once. */
static struct stmt *
count_ngram(struct counter *c)
{
	struct steps *s = &c->s;
	struct module *m = s->m;
	struct var *column = var_new(m, "y_column", dtype_of(DT_I32));
	const struct expr *at[] = { c->row, column->expr };
	const struct expr *value = te_at(m, s->out[0], at, 2), *counts, *weight;
	struct stmt *body;

	weight = c->in[WEIGHT] ? table(c, WEIGHT, step_get(s, c->node))
			       : expr_float(m, value->type, 1);
	value = node_attr_int(c->n, "once", 0) ? weight
					       : expr_add(m, value, weight);
	counts = expr_or(m, expr_lt(m, c->start, step_get(s, c->at)),
			 expr_eq(m, c->skip, number(s, 0)));
	counts = expr_and(m, expr_le(m, number(s, 0), column->expr), counts);
	body = stmt_store(s->f, s->out[0]->buffer, value, at, 2);
	return stmt_let(s->f, column, table(c, COLUMN, step_get(s, c->node)),
			stmt_if(s->f, counts, body, NULL));
}

/* 	node = the child of node with the item x[row, at], or -1
 *
 * by a binary search for the first item that is not less. */
static struct stmt *
follow(struct counter *c)
{
	struct steps *s = &c->s;
	struct module *m = s->m;
	const struct expr *at[] = { c->row, step_get(s, c->at) };
	const struct expr *x = te_at(m, c->in[ROW], at, 2), *low, *node;
	struct var *value = var_new(m, "value", x->type);
	struct var *end = var_new(m, "end", dtype_of(DT_I32));
	struct var *middle = var_new(m, "middle", dtype_of(DT_I32));
	struct stmt *search, *take;

	low = step_get(s, c->low);
	node = step_get(s, c->node);
	search = stmt_if(s->f,
			 expr_lt(m, table(c, ITEM, middle->expr), value->expr),
			 step_set(s, c->low,
				  expr_add(m, middle->expr, number(s, 1))),
			 step_set(s, c->high, middle->expr));
	search = halve(s, c->low, c->high, middle, search);
	take = step_seq(s, 2,
			step_set(s, c->node, expr_add(m, low, number(s, 1))),
			count_ngram(c), NULL, NULL);
	take = stmt_if(s->f, expr_eq(m, table(c, ITEM, low), value->expr), take,
		       NULL);
	take = stmt_if(s->f, expr_lt(m, low, end->expr), take, NULL);
	search = step_seq(s, 3, step_set(s, c->high, end->expr), search,
			  step_set(s, c->node, number(s, -1)), NULL);
	search = step_seq(s, 3, step_set(s, c->low, table(c, FIRST, node)),
			  search, take, NULL);
	search = stmt_let(s->f, end,
			  table(c, FIRST, expr_add(m, node, number(s, 1))),
			  search);
	return stmt_let(s->f, value, x, search);
}

/* 	for j: y[row, j] = 0
 *	for skip, start: node = 0; at = start
 *		while node >= 0 and at < items of a row:
 *			follow the item; count the n-gram; at += skip + 1 */
bool
define_ngrams(struct define *c, const struct node *n,
	      struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const names[] = { "counts" };
	struct module *m = c->module;
	struct dtype i32 = dtype_of(DT_I32);
	const struct tensor *y = n->outputs[0];
	const struct expr *items = expr_cast(m, i32, n->inputs[ROW]->shape[1]);
	const struct expr *skips = expr_i32(m, node_attr_int(n, "skips", 0));
	struct iter_var *axes = define_axes(c, y);
	struct var *j = var_new(m, "j", i32), *skip = var_new(m, "skip", i32);
	struct var *start = var_new(m, "start", i32);
	struct te_tensor *const all[] = { in[ROW], in[ITEM], in[FIRST],
					  in[COLUMN],
					  n->n_inputs > WEIGHT ? in[WEIGHT]
							       : NULL };
	struct counter k = { .in = all, .n = n, .row = axes[0].var->expr };
	const struct expr *at[] = { k.row, j->expr }, *next;
	struct steps *s = &k.s;
	struct stmt *body, *clear;

	k.s = steps_begin(c, "ngrams", "ngrams", names, &y->type, &y->ndim,
			  (const struct expr *const *[]){ y->shape }, 1, all,
			  4 + (all[WEIGHT] != NULL), out);
	k.skip = skip->expr;
	k.start = start->expr;
	k.node = step_local(s, "node", i32);
	k.at = step_local(s, "at", i32);
	k.low = step_local(s, "low", i32);
	k.high = step_local(s, "high", i32);
	next = expr_add(m, step_get(s, k.at),
			expr_add(m, k.skip, number(s, 1)));
	clear = step_for(s, j, expr_cast(m, i32, y->shape[1]),
			 stmt_store(s->f, s->out[0]->buffer,
				    expr_float(m, y->type, 0), at, 2));
	body = step_alloc(s, k.low, step_alloc(s, k.high, follow(&k)));
	body = step_seq(s, 2, body, step_set(s, k.at, next), NULL, NULL);
	body = stmt_while(s->f,
			  expr_and(m,
				   expr_le(m, number(s, 0),
					   step_get(s, k.node)),
				   expr_lt(m, step_get(s, k.at), items)),
			  body);
	body = step_seq(s, 3, step_set(s, k.node, number(s, 0)),
			step_set(s, k.at, k.start), body, NULL);
	body = step_for(s, start, items, body);
	body = step_for(s, skip,
			expr_min(m, expr_add(m, skips, number(s, 1)), items),
			body);
	body = step_seq(s, 2, clear, body, NULL, NULL);
	steps_end(s, axes, 1, step_alloc(s, k.node, step_alloc(s, k.at, body)));
	return true;
}
