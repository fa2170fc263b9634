/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces a node by its composition: the tables and the driver. */
#include "text_body.h"

#include "ops.h"

struct composition {
	const char *domain, *op_type;
	int min_inputs, max_inputs, max_outputs;
	compose_fn *fn;
};

static const struct composition rows[] = {
#define COMPOSE(domain, op, min, max, outputs, fn)                             \
	{ domain, #op, min, max, outputs, compose_##fn },
#include "compose.def"
#undef COMPOSE
};

/* Operators that have a composition if an input is a tensor of strings; for
 * tensors of numbers they are operators of ops.def. */
static const struct composition string_rows[] = {
#define COMPOSE(domain, op, min, max, outputs, fn)                             \
	{ domain, #op, min, max, outputs, compose_##fn },
#include "strings.def"
#undef COMPOSE
};

/* The operator of a node that is a composition, until the composition's nodes
 * replace it. */
static const struct op composition_op = {
	.name = "composition",
	.domain = "tirc",
	.max_inputs = -1,
	.max_outputs = -1,
};

bool
is_composition(const struct node *n)
{
	return n->op == &composition_op;
}

static const struct composition *
find_in(const struct composition *list, size_t count, const char *domain,
	const char *op_type)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(list[i].op_type, op_type) == 0 &&
		    strcmp(list[i].domain, domain) == 0) {
			return &list[i];
		}
	}
	return NULL;
}

static const struct composition *
find_row(const struct node *n)
{
	return find_in(rows, sizeof rows / sizeof *rows, n->domain, n->op_type);
}

bool
is_composed_operator(const char *domain, const char *op_type)
{
	return find_in(rows, sizeof rows / sizeof *rows, domain, op_type) ||
	       composition_text_find(domain, op_type);
}

bool
operator_limits(const char *domain, const char *op_type, int *least, int *most,
		int *outputs)
{
	const struct op *op = op_find(domain, op_type);
	const struct composition *row = find_in(rows,
						sizeof rows / sizeof *rows,
						domain, op_type);

	if (!op && !row) {
		return false;
	}
	*least = op ? op->min_inputs : row->min_inputs;
	*most = op ? op->max_inputs : row->max_inputs;
	*outputs = op ? op->max_outputs : row->max_outputs;
	return true;
}

bool
has_strings(const struct node *n)
{
	for (int i = 0; i < n->n_inputs; i++) {
		if (n->inputs[i] && n->inputs[i]->is_string) {
			return true;
		}
	}
	return strcmp(n->op_type, "Cast") == 0 && !*n->domain &&
	       node_attr_int(n, "to", 0) ==
		       dtype_onnx_number(dtype_of(DT_STRING));
}

bool
compose_resolve(struct node *n)
{
	if (!n->op && is_composed_operator(n->domain, n->op_type)) {
		n->op = &composition_op;
	}
	return is_composition(n);
}

void
compose_mark(struct graph *g, int first)
{
	for (int i = first; i < g->nodes.n; i++) {
		compose_resolve(g->nodes.data[i]);
	}
}

static bool
check_node(struct compose *c, const struct composition *row)
{
	const struct node *n = c->node;

	if (row->max_inputs >= 0 && n->n_inputs > row->max_inputs) {
		return compose_error(c, DIAG_BAD_MODEL,
				     "there are %d inputs; %s takes at most %d",
				     n->n_inputs, n->op_type, row->max_inputs);
	}
	if (row->max_outputs >= 0 && n->n_outputs > row->max_outputs) {
		return compose_error(c, DIAG_BAD_MODEL,
				     "there are %d outputs; %s has at most %d",
				     n->n_outputs, n->op_type,
				     row->max_outputs);
	}
	for (int i = 0; i < n->n_inputs || i < row->min_inputs; i++) {
		const struct tensor *t = node_input(n, i);

		if (!t && i < row->min_inputs) {
			return compose_error(c, DIAG_BAD_MODEL,
					     "input %d is missing; %s needs %d",
					     i, n->op_type, row->min_inputs);
		}
		if (t && (!t->typed || t->ndim < 0)) {
			return compose_error(c, DIAG_UNKNOWN_SHAPE,
					     "type or shape of input '%s' is "
					     "not known; give it with "
					     "--input-shape",
					     t->name);
		}
	}
	return true;
}

/* y, an output of the model's node, becomes the output of the node that
 * computed t; if the composition did not compute t itself, y becomes a copy of
 * t. */
static void
take_result(struct compose *c, struct tensor *y, struct tensor *t)
{
	struct node *p = t->producer;
	int made_here = tensor_index(t, c->made.data, c->made.n);

	if (made_here < 0 || p->outputs[t->output_index] != t) {
		y->producer = NULL;
		p = graph_node_at(c->g, c->pos, "", "Identity", c->node->name,
				  &t, 1, &y, 1);
		graph_share_origins(p, c->node);
		p->op = op_find("", "Identity");
		import_note_inferred(c->imp, p);
		c->pos++;
	} else {
		p->outputs[t->output_index] = y;
		y->output_index = t->output_index;
		graph_replace_uses(c->g, t, y);
		t->producer = NULL;
	}
	y->producer = p;
	y->type = t->type;
	y->is_string = t->is_string;
	y->typed = true;
	y->ndim = t->ndim;
	y->shape = t->shape;
	y->elems = t->elems;
	y->n_elems = t->n_elems;
}

static bool
take_results(struct compose *c)
{
	for (int k = 0; k < c->node->n_outputs; k++) {
		if (compose_wants(c, k) && !c->results[k]) {
			return compose_refuse(c,
					      "its output %d is not supported",
					      k);
		}
	}
	for (int k = 0; k < c->node->n_outputs; k++) {
		struct tensor *y = c->node->outputs[k];

		if (y && c->results[k]) {
			take_result(c, y, c->results[k]);
		} else if (y) {
			y->producer = NULL;
		}
	}
	return true;
}

/* The scalar that helpers return after a failure. Its shape can be read at
 * every index that a composition may use, -1 included, and is 1 everywhere. */
static struct tensor *
make_stand_in(struct module *m)
{
	struct tensor *t = arena_new(&m->arena, struct tensor);
	const struct expr **ones = arena_exprs(&m->arena, 2 * ONNX_MAX_RANK);

	for (int d = 0; d < 2 * ONNX_MAX_RANK; d++) {
		ones[d] = expr_index(m, 1);
	}
	t->name = "";
	t->type = dtype_of(DT_F32);
	t->typed = true;
	t->shape = ones + ONNX_MAX_RANK;
	return t;
}

/* Makes the nodes and results of c->node from the text of the row, after a
 * check of the numbers of inputs and outputs of c->node. False after a
 * diagnostic. */
static bool
from_text(struct compose *c, const struct composition_text *row)
{
	const struct text_body *b = body_read(c->imp, row);
	const struct composition limits = {
		.max_inputs = b ? (int)b->proto->n_input : 0,
		.max_outputs = b ? (int)b->proto->n_output : 0,
	};

	return b && check_node(c, &limits) && body_compose(c, b);
}

/* Makes the nodes and results of a node whose operator has no function in C:
 * from a text, if one defines the operator; else reports that tirc does not
 * support the operator. */
static bool
without_row(struct compose *c)
{
	const struct node *n = c->node;
	const struct composition_text *text = composition_text_find(n->domain,
								    n->op_type);

	if (!text && !*n->domain) {
		text = composition_text_find("tirc", arena_printf(&c->imp->tmp,
								  "String%s",
								  n->op_type));
	}
	if (text) {
		return from_text(c, text);
	}
	/* tirc.Copy copies the result of a branch: if it copies strings, the
	 * strings are in a branch */
	if ((n->op && n->op->fuse == FUSE_CONTROL) ||
	    strcmp(n->op_type, "Copy") == 0) {
		return compose_refuse(c, "strings in a branch or a loop are "
					 "not supported");
	}
	return compose_refuse(c, "%s of strings is not supported", n->op_type);
}

bool
compose_node_at(struct importer *imp, int *pos)
{
	struct node *n = imp->g->nodes.data[*pos];
	const struct composition *row = find_row(n);
	struct compose c = {
		.imp = imp,
		.m = imp->m,
		.g = imp->g,
		.node = n,
		.pos = *pos,
		.version = imp->versions.data[n->id],
		.results = arena_array(&imp->tmp, struct tensor *,
				       n->n_outputs + 1),
		.stand_in = make_stand_in(imp->m),
	};

	if (!row) {
		row = find_in(string_rows,
			      sizeof string_rows / sizeof *string_rows,
			      n->domain, n->op_type);
	}
	if (!(row ? check_node(&c, row) && row->fn(&c) : without_row(&c)) ||
	    c.failed) {
		return false;
	}
	if (c.keep) {
		n->op = op_find(n->domain, n->op_type);
		++*pos;
		return ops_infer_node(imp->g, n);
	}
	if (!take_results(&c)) {
		return false;
	}
	graph_remove_node(imp->g, n, NULL, NULL);
	*pos = c.pos;
	return true;
}
