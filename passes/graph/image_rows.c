/* SPDX-License-Identifier: Apache-2.0 */
/* Finds from the tensor expressions that define an operator whether the rows of
 * its inputs stay apart. A row is an index of the first dimension.
 *
 *	y[n, c] = sum(x[n, k] * w[c, k])	rows of x stay apart
 *	y[n, c] = x[n, c] / sum(x[m, c])	they do not: x[m, c]
 *	y[n, c] = where(n < 4, x[n, c], 0)	they do not: n < 4
 *
 * So no list of operators is needed. */
#include "images.h"
#include "ops.h"
#include "pointer_map.h"

enum rows {
	ROWS_NONE, /* the rows do not depend on inputs that differ by image */
	/* row i of the result depends on row i of the inputs alone */
	ROWS_APART,
	ROWS_MIXED /* anything else */
};

struct row_search {
	/* enum rows: for the node's inputs, keyed by their buffers; for stages,
	 * keyed by the stages */
	struct pointer_map known;
};

static enum rows rows_of(struct row_search *s, const struct te_tensor *t);

/* Does the node e itself, without its operands, keep the rows of tensors with a
 * row for each image (ROWS_APART) apart? Then it uses the variable `row` only as
 * the first index of loads from these tensors, and in each of these loads.
 * loaded: enum rows of the inputs of the stage with e, keyed by their
 * buffers. */
static bool
uses_row_well(const struct pointer_map *loaded, const struct expr *e,
	      const struct expr *row)
{
	int first = 0;

	if (e->kind == EXPR_LOAD) {
		int rows = pointer_map_get(loaded, e->u.buffer, ROWS_MIXED);

		if (rows == ROWS_MIXED ||
		    (rows == ROWS_APART &&
		     (e->n_args == 0 || e->args[0] != row))) {
			return false;
		}
		first = rows == ROWS_APART;
	}
	for (int i = first; i < e->n_args; i++) {
		if (e->args[i] == row) {
			return false;
		}
	}
	for (int i = 0; e->kind == EXPR_REDUCE && i < e->u.reduce->n_axes;
	     i++) {
		const struct iter_var *axis = &e->u.reduce->axes[i];

		if (expr_uses_var(axis->min, row->u.var) ||
		    expr_uses_var(axis->extent, row->u.var)) {
			return false;
		}
	}
	return true;
}

static bool
body_keeps_rows(const struct pointer_map *loaded, const struct te_stage *stage,
		const struct expr *body)
{
	const struct expr *row = stage->axes[0].var->expr, *e;
	struct expr_iter it;

	if (body == row) {
		return false;
	}
	for (it = expr_each(body); (e = expr_next(&it)) != NULL;) {
		if (!uses_row_well(loaded, e, row)) {
			expr_stop(&it);
			return false;
		}
	}
	return true;
}

static enum rows
rows_of_stage(struct row_search *s, const struct te_stage *stage)
{
	struct pointer_map loaded;
	bool any = false;
	int64_t start;

	pointer_map_init(&loaded, s->known.arena);
	for (int i = 0; i < stage->n_inputs; i++) {
		enum rows rows = rows_of(s, stage->inputs[i]);

		pointer_map_put(&loaded, stage->inputs[i]->buffer, (int)rows);
		any |= rows != ROWS_NONE;
	}
	if (!any) {
		return ROWS_NONE;
	}
	if (stage->kind != TE_COMPUTE || stage->n_axes == 0 ||
	    !expr_is_int(stage->axes[0].min, &start) || start != 0) {
		return ROWS_MIXED;
	}
	for (int k = 0; k < stage->n_out; k++) {
		if (!body_keeps_rows(&loaded, stage, stage->bodies[k])) {
			return ROWS_MIXED;
		}
	}
	return ROWS_APART;
}

static enum rows
rows_of(struct row_search *s, const struct te_tensor *t)
{
	int rows;

	if (t->stage == NULL) {
		return (enum rows)pointer_map_get(&s->known, t->buffer,
						  ROWS_MIXED);
	}
	rows = pointer_map_get(&s->known, t->stage, -1);
	if (rows < 0) {
		rows = (int)rows_of_stage(s, t->stage);
		pointer_map_put(&s->known, t->stage, rows);
	}
	return (enum rows)rows;
}

bool
node_keeps_rows(struct graph *g, const struct node *n, const bool *by_image)
{
	struct module *m = g->module;
	struct te_tensor **out = arena_array(&m->arena, struct te_tensor *,
					     n->n_outputs + 1);
	struct te_tensor **in = arena_array(&m->arena, struct te_tensor *,
					    n->n_inputs + 1);
	struct row_search s;

	if (n->op->fuse == FUSE_VIEW || n->op->fuse == FUSE_CONTROL) {
		return false;
	}
	if (!ops_define_alone(g, n, in, out)) {
		return false;
	}
	pointer_map_init(&s.known, &m->arena);
	for (int i = 0; i < n->n_inputs; i++) {
		if (in[i] != NULL) {
			pointer_map_put(&s.known, in[i]->buffer,
					by_image[i] ? ROWS_APART : ROWS_NONE);
		}
	}
	for (int k = 0; k < n->n_outputs; k++) {
		if (n->outputs[k] != NULL &&
		    rows_of(&s, out[k]) != ROWS_APART) {
			return false;
		}
	}
	return true;
}
