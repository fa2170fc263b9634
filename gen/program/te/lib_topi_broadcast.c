/* SPDX-License-Identifier: Apache-2.0 */
/* topi's operators with two operands. They apply an operator of expressions to
 * each element, with the operator's rules for types, and broadcast as numpy
 * does:
 *
 * topi.add(A, B)  ->  te.compute(shape, lambda i, j: A[i, j] + B[0, j])
 *
 * An operand that is a number is a constant whose type does not depend on the
 * other operand, as in expressions: topi.add(A, 1) with an int8 tensor A has
 * the type int32. */
#include "define.h"

#include "te_parts.h"

bool
topi_locate(struct call *c, int first)
{
	for (int i = first; i < c->ev->m->diags.list.n; i++) {
		struct diag *d = &c->ev->m->diags.list.data[i];

		d->place.item = c->row->name;
		d->place.file = NULL;
	}
	return eval_locate(c->ev, c->span, first);
}

/* A tensor in a temporary graph with the shape of v, or without dimensions for
 * a number. Shape inference finds the shape of the result from such tensors. */
static struct tensor *
shape_of(struct graph *g, const struct pval *v)
{
	const struct buffer *b = v->kind == PV_TENSOR ? v->u.tensor->buffer
						      : NULL;
	struct tensor *x = graph_tensor(g, b ? b->name : "number");

	x->type = dtype_of(DT_F32);
	x->typed = true;
	x->is_input = true;
	x->ndim = b ? b->ndim : 0;
	x->shape = arena_copy(&g->module->arena, b ? b->shape : NULL,
			      sizeof *x->shape * (size_t)x->ndim);
	return x;
}

static bool
result_shape(struct call *c, const struct tensor **out)
{
	static const struct settings open = { .open_sizes = true };
	struct graph *g = graph_new(c->ev->m, "topi");
	struct tensor *in[2], *y;
	struct node *n;
	const struct pval one = pv_int(1);
	int errors = c->ev->m->diags.list.n;

	g->settings = &open;
	for (int i = 0; i < 2; i++) {
		in[i] = shape_of(g, i < c->n ? &c->args[i] : &one);
	}
	y = graph_tensor(g, "out");
	n = graph_node(g, "", "Add", "", in, 2, &y, 1);
	n->op = op_find("", "Add");
	*out = y;
	return ops_infer_node(g, n) || topi_locate(c, errors);
}

/* Sets *out to the operand that argument i gives for one element of y: an
 * element of a tensor, at the broadcast indices, or a number. Returns false
 * after an error. */
static bool
element(struct call *c, int i, const struct tensor *y,
	const struct iter_var *axes, struct pval *out)
{
	struct module *m = c->ev->m;
	const struct te_tensor *t;
	const struct expr **at, *e;
	int depth;

	if (c->args[i].kind != PV_TENSOR) {
		/* a number becomes a constant with a type of its own, even if
		 * it is the operand of a shift */
		if (!value_expr(c->ev, c->spans[i], &c->args[i], &e, &depth)) {
			return false;
		}
		*out = c->args[i].kind == PV_FLOAT ? c->args[i]
						   : pv_expr(e, depth);
		return true;
	}
	t = c->args[i].u.tensor;
	at = arena_exprs(&m->arena, t->buffer->ndim + 1);
	for (int d = 0; d < t->buffer->ndim; d++) {
		int k = y->ndim - t->buffer->ndim + d;

		at[d] = broadcast_index(m, t->buffer->shape[d], y->shape[k],
					axes[k].var->expr);
	}
	*out = pv_expr(te_at(m, t, at, t->buffer->ndim), te_depth(c->ev, t));
	return true;
}

bool
topi_broadcast(struct call *c, const char *op, struct pval *out)
{
	struct eval *ev = c->ev;
	const struct tensor *y;
	struct te_tensor *inputs[2], *made;
	struct pval v[2], result;
	struct iter_var *axes;
	const char **names;
	int n = 0;

	if (c->args[0].kind != PV_TENSOR &&
	    (c->n < 2 || c->args[1].kind != PV_TENSOR)) {
		return expr_function(c, op, c->args, c->n, out);
	}
	if (!result_shape(c, &y)) {
		return false;
	}
	names = arena_array(ev->a, const char *, y->ndim + 1);
	for (int d = 0; d < y->ndim; d++) {
		names[d] = axis_name(ev->m, y->ndim, d);
	}
	axes = te_axes(ev->m, y->ndim, y->shape, names);
	for (int i = 0; i < c->n; i++) {
		if (!element(c, i, y, axes, &v[i])) {
			return false;
		}
		if (c->args[i].kind == PV_TENSOR &&
		    (n == 0 || inputs[0] != c->args[i].u.tensor)) {
			inputs[n++] = c->args[i].u.tensor;
		}
	}
	if (!expr_function(c, op, v, c->n, &result)) {
		return false;
	}
	made = te_compute(ev->m, c->row->name,
			  c->n > 1 ? "broadcast" : "elemwise", y->ndim, axes,
			  result.u.expr, inputs, n);
	te_remember(ev, made, result.depth + 1);
	*out = pv_tensor(ev, made);
	return true;
}
