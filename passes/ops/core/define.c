/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers to write operators as tensor expressions. */
#include "define.h"

#include <assert.h>
const char *
axis_name(struct module *m, int rank, int d)
{
	static const char *const names[6][5] = {
		{ NULL },
		{ "i" },
		{ "i", "j" },
		{ "i", "j", "k" },
		{ "n", "c", "h", "w" },
		{ "n", "c", "d", "h", "w" },
	};

	return rank <= 5 ? names[rank][d] : arena_printf(&m->arena, "i%d", d);
}

struct iter_var *
define_shape_axes(struct define *c, int ndim, const struct expr *const *shape)
{
	const char **names = arena_array(&c->module->arena, const char *,
					 ndim + 1);

	for (int d = 0; d < ndim; d++) {
		names[d] = axis_name(c->module, ndim, d);
	}
	return te_axes(c->module, ndim, shape, names);
}

struct iter_var *
define_axes(struct define *c, const struct tensor *t)
{
	return define_shape_axes(c, t->ndim, t->shape);
}

struct iter_var
define_reduce_axis(struct define *c, const struct te_tensor *t, int d)
{
	return te_reduce_axis(c->module,
			      axis_name(c->module, t->buffer->ndim, d),
			      t->buffer->shape[d]);
}

const struct expr **
axes_exprs(struct define *c, const struct iter_var *axes, int n)
{
	const struct expr **list = arena_exprs(&c->module->arena, n + 1);

	for (int i = 0; i < n; i++) {
		list[i] = axes[i].var->expr;
	}
	return list;
}

const struct expr **
kept_exprs(struct define *c, const struct expr *const *index,
	   const bool *reduced, int ndim)
{
	const struct expr **list = arena_exprs(&c->module->arena, ndim + 1);
	int n = 0;

	for (int d = 0; d < ndim; d++) {
		if (!reduced[d]) {
			list[n++] = index[d];
		}
	}
	return list;
}

const struct expr *
broadcast_index(struct module *m, const struct expr *dim,
		const struct expr *result, const struct expr *index)
{
	const struct expr *zero = expr_int(m, index->type, 0);
	int64_t constant;

	if (dim == result) {
		return index;
	}
	if (expr_is_value(dim, 1)) {
		return zero;
	}
	if (expr_is_int(dim, &constant)) {
		return index;
	}
	/* A symbolic size may be 1: then the only element, 0, is read. */
	return expr_select(m, expr_eq(m, dim, expr_i32(m, 1)), zero, index);
}

const struct expr *
define_broadcast(struct define *c, const struct te_tensor *t,
		 const struct expr *const *index,
		 const struct expr *const *shape, int rank)
{
	struct module *m = c->module;
	const struct buffer *b = t->buffer;
	const struct expr **at = arena_exprs(&m->arena, b->ndim + 1);

	for (int d = 0; d < b->ndim; d++) {
		int k = rank - b->ndim + d;

		at[d] = broadcast_index(m, b->shape[d], shape[k], index[k]);
	}
	return te_at(m, t, at, b->ndim);
}

void
define_stages(struct define *c, const char *const *names, const char *tag,
	      int n_axes, struct iter_var *axes,
	      const struct expr *const *bodies, int n, struct te_tensor **out)
{
	te_compute_multi(c->module, names, tag, n_axes, axes, bodies, n,
			 c->tensors.data, c->tensors.n, out);
	for (int k = 0; k < n; k++) {
		vec_push(&c->module->arena, &c->tensors, out[k]);
	}
}

struct te_tensor *
define_stage(struct define *c, const char *name, const char *tag, int n_axes,
	     struct iter_var *axes, const struct expr *body)
{
	struct te_tensor *out;

	define_stages(c, &name, tag, n_axes, axes, &body, 1, &out);
	return out;
}

void
define_ordered(struct define *c, struct te_tensor *const *out, int n,
	       struct iter_var *axes, int n_axes, const struct te_store *stores,
	       int n_stores)
{
	te_ordered_stores(c->module, out[0], axes, n_axes, stores, n_stores,
			  c->tensors.data, c->tensors.n);
	for (int k = 0; k < n; k++) {
		vec_push(&c->module->arena, &c->tensors, out[k]);
	}
}

void
define_phases(struct define *c, struct te_tensor *const *out, int n,
	      struct iter_var *axes, int n_axes, const struct te_phase *phases,
	      int n_phases)
{
	te_ordered_phases(c->module, out[0], axes, n_axes, phases, n_phases,
			  c->tensors.data, c->tensors.n);
	for (int k = 0; k < n; k++) {
		vec_push(&c->module->arena, &c->tensors, out[k]);
	}
}

const struct expr *
define_literal(struct define *c, const struct node *n, int i)
{
	struct tensor *t = node_input(n, i);

	if (!t || !t->value || t->value->elems < 1 ||
	    !tensor_known(c->module, t)) {
		return NULL;
	}
	for (int k = 1; k < t->n_elems; k++) {
		if (t->elems[k] != t->elems[0]) {
			return NULL;
		}
	}
	return t->elems[0]->type.kind == t->type.kind
		       ? t->elems[0]
		       : expr_cast(c->module, t->type, t->elems[0]);
}

const struct expr *
define_clamped(struct define *c, const struct expr *e, const struct expr *low,
	       const struct expr *high)
{
	struct module *m = c->module;
	struct dtype wide = dtype_of(DT_I64);

	if (e->type.kind == DT_U64) {
		/* as an int64, an index beyond INT64_MAX would become
		 * negative */
		e = expr_min(m, e, expr_cast(m, e->type, high));
	} else if (dtype_bits(e->type) < 32 || e->type.kind == DT_I32) {
		wide = high->type;
	}
	e = expr_max(m, expr_cast(m, wide, e), expr_cast(m, wide, low));
	e = expr_min(m, e, expr_cast(m, wide, high));
	return expr_cast(m, high->type, e);
}

const struct expr *
like(struct define *c, const struct expr *e, double v)
{
	return expr_const(c->module, e->type, v);
}

const struct expr *
define_count(struct define *c, struct dtype t, const struct expr *count)
{
	int64_t v;

	return expr_is_int(count, &v) ? expr_const(c->module, t, (double)v)
				      : expr_cast(c->module, t, count);
}

/* Is e a load of t's element at the axes? */
static bool
loads_at_axes(const struct expr *e, const struct te_tensor *t,
	      const struct iter_var *axes, int n)
{
	if (e->kind != EXPR_LOAD || e->u.buffer != t->buffer ||
	    e->n_args != n) {
		return false;
	}
	for (int d = 0; d < n; d++) {
		if (e->args[d] != axes[d].var->expr) {
			return false;
		}
	}
	return true;
}

struct te_tensor *
define_unwidened(struct define *c, struct te_tensor *t)
{
	const struct te_stage *s = t->stage;
	struct te_tensor *from;

	if (s == NULL || s->kind != TE_COMPUTE || s->n_inputs != 1 ||
	    s->bodies[0]->kind != EXPR_CAST) {
		return t;
	}
	from = s->inputs[0];
	if (!dtype_is_float(from->buffer->type) ||
	    !dtype_is_float(t->buffer->type) ||
	    dtype_bits(from->buffer->type) >= dtype_bits(t->buffer->type) ||
	    !loads_at_axes(s->bodies[0]->args[0], from, s->axes, s->n_axes)) {
		return t;
	}
	vec_push(&c->module->arena, &c->tensors, from);
	return from;
}

struct te_tensor *
define_narrow(struct define *c, struct te_tensor *t, struct dtype type)
{
	int ndim = t->buffer->ndim;
	struct iter_var *axes;

	if (dtype_equal(t->buffer->type, type)) {
		return t;
	}
	axes = define_shape_axes(c, ndim, t->buffer->shape);
	return define_stage(c, "cast", "elementwise", ndim, axes,
			    expr_cast(c->module, type,
				      te_at(c->module, t,
					    axes_exprs(c, axes, ndim), ndim)));
}

/* The element e as a float for computations: a float that is narrower than
 * single precision is widened to single precision. */
static const struct expr *
computable(struct define *c, const struct expr *e)
{
	return dtype_is_float(e->type)
		       ? expr_cast(c->module, accumulator_type(e->type), e)
		       : e;
}

/* The first element of t, a tensor whose rank is larger than that of the
 * result: the bounds of a Clip may have rank 1, and CastLike uses only the type
 * of its second input. */
static const struct expr *
first_element(struct define *c, const struct te_tensor *t)
{
	const struct expr **at = arena_exprs(&c->module->arena,
					     t->buffer->ndim + 1);

	for (int d = 0; d < t->buffer->ndim; d++) {
		at[d] = expr_i32(c->module, 0);
	}
	return te_at(c->module, t, at, t->buffer->ndim);
}

/* The definition of elementwise operators: out[axes] = body(x[0][axes],
 * x[1][axes], …), each input broadcast. */
bool
define_map(struct define *c, const struct node *n, struct te_tensor *const *in,
	   struct te_tensor **out)
{
	const struct tensor *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);
	const struct expr **index = axes_exprs(c, axes, y->ndim);
	const struct expr **x = arena_exprs(&c->module->arena, n->n_inputs + 3);
	const struct expr *body;

	for (int i = 0; i < n->n_inputs; i++) {
		if (!in[i]) {
			continue;
		}
		x[i] = define_literal(c, n, i);
		if (!x[i] && in[i]->buffer->ndim > y->ndim) {
			x[i] = first_element(c, in[i]);
		}
		if (!x[i]) {
			x[i] = define_broadcast(c, in[i], index, y->shape,
						y->ndim);
		}
		x[i] = computable(c, x[i]);
	}
	body = n->op->body(c, n, x);
	if (!body) {
		return false;
	}
	if (dtype_is_float(body->type) && dtype_is_float(y->type)) {
		body = expr_cast(c->module, y->type, body);
	}
	assert(dtype_equal(body->type, y->type));
	out[0] = define_stage(c, "map",
			      n->n_inputs > 1 ? "broadcast" : "elementwise",
			      y->ndim, axes, body);
	return true;
}

const struct expr *
define_param(struct define *c, const struct node *n, int i,
	     struct te_tensor *const *in, const struct expr *index,
	     struct dtype t)
{
	struct module *m = c->module;
	const struct expr *literal = NULL, *at;
	const struct buffer *b;

	if (i < 0 || !node_input(n, i)) {
		return expr_const(m, t, 0);
	}
	literal = define_literal(c, n, i);
	if (literal) {
		return literal;
	}
	b = in[i]->buffer;
	if (b->ndim == 0) {
		return te_at(m, in[i], NULL, 0);
	}
	at = !index || expr_is_value(b->shape[0], 1) ? expr_i32(m, 0) : index;
	return te_at(m, in[i], &at, 1);
}

const struct expr *
define_scalar(struct define *c, const struct node *n,
	      struct te_tensor *const *in, int i)
{
	const struct expr *literal = define_literal(c, n, i);
	int ndim = literal ? 0 : in[i]->buffer->ndim;
	const struct expr **zero = arena_exprs(&c->module->arena, ndim + 1);

	for (int d = 0; d < ndim; d++) {
		zero[d] = expr_i32(c->module, 0);
	}
	return literal ? literal : te_at(c->module, in[i], zero, ndim);
}

bool
ops_define(struct graph *g, const struct node *n, struct te_tensor *const *in,
	   struct te_tensor **out)
{
	struct define c = { .graph = g, .module = g->module, .node = n };

	for (int i = 0; i < n->n_inputs; i++) {
		if (in[i]) {
			vec_push(&g->module->arena, &c.tensors, in[i]);
		}
	}
	return n->op->define(&c, n, in, out);
}

bool
ops_define_alone(struct graph *g, const struct node *n, struct te_tensor **in,
		 struct te_tensor **out)
{
	for (int i = 0; i < n->n_inputs; i++) {
		const struct tensor *t = n->inputs[i];

		in[i] = t != NULL ? te_placeholder(g->module, t->name, t->type,
						   t->ndim, t->shape)
				  : NULL;
	}
	return ops_define(g, n, in, out);
}
