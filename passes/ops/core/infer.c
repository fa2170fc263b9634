/* SPDX-License-Identifier: Apache-2.0 */
/* Infers the types and shapes of nodes' outputs from the types and shapes of
 * their inputs.
 *
 * before	x: f32[n, 3], y: f32[3]; z = Add(x, y), nothing known of z
 * after	z: f32[n, 3]
 *
 * This file has the driver and helpers for the functions of the families. */
#include "dims.h"

#include <stdarg.h>

#include "analyse.h"
#include "size_words.h"

/* More elements than any machine can address. */
static const int64_t elems_limit = (int64_t)1 << 46;

/* "[2, 3]" */
static void
put_shape(struct strbuf *s, const struct tensor *x)
{
	strbuf_putc(s, '[');
	for (int d = 0; d < x->ndim; d++) {
		strbuf_puts(s, d > 0 ? ", " : "");
		size_words(x->shape[d], s);
	}
	strbuf_putc(s, ']');
}

/* The text of a message "problem; remedy" with the shapes of the node's inputs
 * inserted after the problem. */
static const char *
with_shapes(struct infer *c, const char *text)
{
	const struct node *n = c->node;
	size_t problem = strcspn(text, ";");
	const char *all;
	struct strbuf s;
	int shown = 0;

	strbuf_init(&s);
	for (int i = 0; i < n->n_inputs; i++) {
		const struct tensor *x = n->inputs[i];

		if (x == NULL || x->ndim < 0) {
			continue;
		}
		strbuf_puts(&s, shown++ > 0 ? ", " : "");
		strbuf_printf(&s, "'%s' ", x->name);
		put_shape(&s, x);
	}
	all = arena_printf(&c->module->arena, "%.*s (%s %s)%s", (int)problem,
			   text, shown == 1 ? "the input is" : "the inputs are",
			   s.data != NULL ? s.data : "none", text + problem);
	strbuf_release(&s);
	return all;
}

bool
infer_error(struct infer *c, enum diag_id id, const char *fmt, ...)
{
	va_list ap;
	const char *text;

	/* definitions repeat checks that inference has already made; they need
	 * no message */
	if (!c) {
		return false;
	}
	va_start(ap, fmt);
	text = arena_vprintf(&c->module->arena, fmt, ap);
	va_end(ap);
	if (id == DIAG_BAD_SHAPE) {
		text = with_shapes(c, text);
	}
	return diag_error(&c->module->diags, id, node_place(c->graph, c->node),
			  "%s", text);
}

bool
infer_needs_constant(struct infer *c, const struct node *n, int i)
{
	const struct tensor *t = node_input(n, i);

	return infer_error(c, DIAG_UNKNOWN_SHAPE,
			   "input %d%s%s%s must be known when the code is "
			   "generated; make it constant; the value of an input "
			   "of the model can be given with --const-input",
			   i, t ? " ('" : "", t ? t->name : "", t ? "')" : "");
}

struct tensor *
node_output(const struct node *n, int i)
{
	return i < n->n_outputs ? n->outputs[i] : NULL;
}

static bool
count_down(const struct expr *e, int *left)
{
	if (--*left < 0) {
		return false;
	}
	for (int i = 0; i < e->n_args; i++) {
		if (!count_down(e->args[i], left)) {
			return false;
		}
	}
	return true;
}

bool
expr_is_short(const struct expr *e)
{
	int left = 400;

	return count_down(e, &left);
}

const struct expr *
dim_normal(struct module *m, const struct expr *e)
{
	struct analyser a;

	if (e->kind == EXPR_INT || e->kind == EXPR_VAR || !expr_is_short(e)) {
		return e;
	}
	analyser_init(&a, m);
	return simplify(&a, e);
}

void
infer_set(struct infer *c, struct tensor *t, struct dtype type, int ndim,
	  const struct expr *const *shape)
{
	if (!t) {
		return;
	}
	t->type = type;
	t->typed = true;
	t->ndim = ndim;
	t->shape = arena_exprs(&c->module->arena, ndim + 1);
	for (int d = 0; d < ndim; d++) {
		t->shape[d] = dim_normal(c->module, shape[d]);
	}
}

bool
infer_axis(struct infer *c, int64_t axis, int ndim, int *out)
{
	if (axis < -ndim || axis >= ndim) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "axis %lld is outside of [%d, %d); "
				   "correct the model",
				   (long long)axis, -ndim, ndim);
	}
	*out = (int)(axis < 0 ? axis + ndim : axis);
	return true;
}

bool
infer_axes_set(struct infer *c, const int64_t *axes, int n, int ndim, bool *set)
{
	for (int i = 0; i < n; i++) {
		int d;

		if (!infer_axis(c, axes[i], ndim, &d)) {
			return false;
		}
		if (set[d]) {
			return infer_error(c, DIAG_BAD_ATTRIBUTE,
					   "axis %d is listed twice; correct "
					   "the model",
					   d);
		}
		set[d] = true;
	}
	return true;
}

bool
infer_broadcast(struct infer *c, const struct tensor *const *in, int n,
		int *ndim, const struct expr ***shape)
{
	int rank = 0;
	const struct expr **dims;

	for (int i = 0; i < n; i++) {
		if (in[i] && in[i]->ndim > rank) {
			rank = in[i]->ndim;
		}
	}
	dims = arena_exprs(&c->module->arena, rank + 1);
	for (int d = 0; d < rank; d++) {
		dims[d] = expr_i32(c->module, 1);
	}
	for (int i = 0; i < n; i++) {
		for (int d = 0; in[i] && d < in[i]->ndim; d++) {
			int at = rank - in[i]->ndim + d;
			const struct expr *dim =
				infer_broadcast_dim(c, c->module, dims[at],
						    in[i]->shape[d]);

			if (!dim) {
				return infer_error(
					c, DIAG_BAD_SHAPE,
					"dimension %d of input %d does not "
					"broadcast with the other inputs; "
					"correct the shapes in the model",
					d, i);
			}
			dims[at] = dim;
		}
	}
	*ndim = rank;
	*shape = dims;
	return true;
}

const struct expr *
shape_elems(struct module *m, const struct expr *const *shape, int from, int to)
{
	const struct expr *product = expr_i32(m, 1);

	for (int d = from; d < to; d++) {
		product = dim_mul(m, product, shape[d]);
	}
	return product;
}

static unsigned
type_bit(struct dtype t)
{
	switch (dtype_class(t)) {
	case DTC_FLOAT:
		return TYPES_FLOAT;
	case DTC_INT:
		return TYPES_SIGNED;
	case DTC_UINT:
		return TYPES_UNSIGNED;
	case DTC_BOOL:
		return TYPES_BOOL;
	case DTC_STRING:
		return TYPES_STRING;
	default:
		return 0;
	}
}

bool
infer_form(struct infer *c, const struct node *n, int i, unsigned types,
	   int least, int most)
{
	const struct tensor *t = node_input(n, i);

	if (!t) {
		return true;
	}
	if (!(type_bit(t->type) & types)) {
		return infer_error(c, DIAG_BAD_TYPE,
				   "input %d is %s, a type that %s does not "
				   "accept; insert a Cast",
				   i, dtype_name(t->type), n->op_type);
	}
	if (t->ndim < least || t->ndim > most) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "input %d has rank %d, which %s does not "
				   "accept; reshape it",
				   i, t->ndim, n->op_type);
	}
	return true;
}

const struct node *
made_by(const struct tensor *t, const char *domain, const char *op_type)
{
	const struct node *n = t->producer;

	return n && strcmp(n->domain, domain) == 0 &&
			       strcmp(n->op_type, op_type) == 0
		       ? n
		       : NULL;
}

int64_t
value_int(const struct value *v, int64_t k)
{
	return v->data ? number_load(v->type, v->data, (size_t)k).i : v->fill.i;
}

bool
infer_numbers(struct infer *c, const struct node *n, int i, const char *what,
	      int64_t low, int64_t high)
{
	const struct tensor *t = n->inputs[i];
	const struct value *v = t->value;
	bool fits = tensor_is_constant(t) && (dtype_class(t->type) == DTC_INT ||
					      dtype_class(t->type) == DTC_UINT);

	/* A constant that has a recipe and no value is not checked here: it was
	 * checked while it had its value. */
	for (int64_t k = 0; fits && v && k < (v->data ? v->elems : 1); k++) {
		int64_t at = value_int(v, k);

		fits = at >= low && at < high;
	}
	return fits ||
	       infer_error(c, DIAG_BAD_TENSOR,
			   "input %d must be constant, with %s from "
			   "%lld to %lld; correct it",
			   i, what, (long long)low, (long long)high - 1);
}

bool
infer_positions(struct infer *c, const struct node *n, int i, int64_t low,
		int64_t high)
{
	return infer_numbers(c, n, i, "positions", low, high);
}

bool
infer_size_of(struct infer *c, const struct node *n, int i, int d, int64_t size)
{
	const struct tensor *t = n->inputs[i];

	return (d < t->ndim && expr_is_value(t->shape[d], size)) ||
	       infer_error(c, DIAG_BAD_SHAPE,
			   "input %d must have %lld elements in dimension %d; "
			   "correct its shape",
			   i, (long long)size, d);
}

bool
infer_param(struct infer *c, const struct node *n, int i, unsigned types,
	    const struct expr *size)
{
	const struct tensor *t = node_input(n, i);

	if (!infer_form(c, n, i, types, 0, 1)) {
		return false;
	}
	if (t && t->ndim == 1 && !expr_is_value(t->shape[0], 1) &&
	    (!size || !dims_equal(c, t->shape[0], size))) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "input %d must have one element, or one "
				   "per row or channel; correct its shape",
				   i);
	}
	return true;
}

bool
infer_zero_point(struct infer *c, const struct node *n, int i, int zero)
{
	const struct tensor *t = n->inputs[i], *z = node_input(n, zero);

	if (dtype_bits(t->type) > 8 || !dtype_is_int(t->type)) {
		return infer_error(c, DIAG_BAD_TYPE,
				   "input %d is %s; it must be int8 or uint8",
				   i, dtype_name(t->type));
	}
	if (z && !dtype_equal(z->type, t->type)) {
		return infer_error(c, DIAG_BAD_TYPE,
				   "input %d is %s and its zero point %s; "
				   "the types must be equal",
				   i, dtype_name(t->type), dtype_name(z->type));
	}
	return true;
}

/* ---- shared by elementwise.c and others ---- */

bool
infer_same_types(struct infer *c, const struct node *n)
{
	struct dtype want = n->inputs[0]->type;

	for (int i = 1; i < n->n_inputs; i++) {
		struct tensor *t = n->inputs[i];

		if (t && !dtype_equal(t->type, want)) {
			return infer_error(c, DIAG_BAD_TYPE,
					   "input %d is %s and input 0 is %s; "
					   "insert a Cast",
					   i, dtype_name(t->type),
					   dtype_name(want));
		}
	}
	return true;
}

static bool
infer_map(struct infer *c, struct node *n, struct dtype type)
{
	int ndim;
	const struct expr **shape;

	if (!infer_broadcast(c, (const struct tensor *const *)n->inputs,
			     n->n_inputs, &ndim, &shape)) {
		return false;
	}
	infer_set(c, n->outputs[0], type, ndim, shape);
	return true;
}

void
infer_like_input(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];

	infer_set(c, n->outputs[0], x->type, x->ndim, x->shape);
}

bool
infer_same(struct infer *c, struct node *n)
{
	return infer_same_types(c, n) && infer_map(c, n, n->inputs[0]->type);
}

bool
infer_bool(struct infer *c, struct node *n)
{
	return infer_same_types(c, n) && infer_map(c, n, dtype_of(DT_BOOL));
}

bool
infer_pow(struct infer *c, struct node *n)
{
	return infer_map(c, n, n->inputs[0]->type);
}

bool
infer_where(struct infer *c, struct node *n)
{
	if (!dtype_equal(n->inputs[1]->type, n->inputs[2]->type)) {
		return infer_error(c, DIAG_BAD_TYPE,
				   "the two values are %s and %s; insert a "
				   "Cast",
				   dtype_name(n->inputs[1]->type),
				   dtype_name(n->inputs[2]->type));
	}
	return infer_map(c, n, n->inputs[1]->type);
}

/* ---- the driver ---- */

/* Checks that n has as many inputs and outputs as its operator requires and
 * allows. False after a diagnostic. */
static bool
check_counts(struct infer *c, const struct node *n)
{
	const struct op *op = n->op;

	/* The inputs of a variadic operator are not optional. */
	int needed = op->max_inputs < 0 && n->n_inputs > op->min_inputs
			     ? n->n_inputs
			     : op->min_inputs;

	for (int i = 0; i < needed; i++) {
		if (!node_input(n, i)) {
			return infer_error(c, DIAG_BAD_MODEL,
					   "input %d is missing; %s needs %d",
					   i, op->name, needed);
		}
	}
	if (op->max_inputs >= 0 && n->n_inputs > op->max_inputs) {
		return infer_error(c, DIAG_BAD_MODEL,
				   "there are %d inputs; %s takes at most %d",
				   n->n_inputs, op->name, op->max_inputs);
	}
	for (int i = 0; i < op->min_outputs; i++) {
		if (i >= n->n_outputs) {
			return infer_error(c, DIAG_BAD_MODEL,
					   "output %d is missing; %s has %d", i,
					   op->name, op->min_outputs);
		}
	}
	if (op->max_outputs >= 0 && n->n_outputs > op->max_outputs) {
		return infer_error(c, DIAG_BAD_MODEL,
				   "there are %d outputs; %s has at most %d",
				   n->n_outputs, op->name, op->max_outputs);
	}
	return true;
}

/* Checks that t has at most GRAPH_MAX_RANK dimensions; false after a
 * diagnostic. */
static bool
check_rank(struct infer *c, const struct tensor *t)
{
	return t->ndim <= GRAPH_MAX_RANK ||
	       infer_error(c, DIAG_TOO_LARGE,
			   "'%s' has %d dimensions; the most is %d", t->name,
			   t->ndim, GRAPH_MAX_RANK);
}

static bool
check_inputs(struct infer *c, const struct node *n)
{
	for (int i = 0; i < n->n_inputs; i++) {
		const struct tensor *t = n->inputs[i];

		if (t && (!t->typed || t->ndim < 0)) {
			return infer_error(c, DIAG_UNKNOWN_SHAPE,
					   "type or shape of input '%s' is "
					   "not known; give it with "
					   "--input-shape",
					   t->name);
		}
		if (t && !check_rank(c, t)) {
			return false;
		}
	}
	if (n->n_inputs > 0 && n->inputs[0] &&
	    !(type_bit(n->inputs[0]->type) & (unsigned)n->op->types)) {
		return infer_error(c, DIAG_BAD_TYPE,
				   "%s of %s is not defined; insert a Cast",
				   n->op->name, dtype_name(n->inputs[0]->type));
	}
	return true;
}

static bool
check_outputs(struct infer *c, const struct node *n)
{
	for (int k = 0; k < n->n_outputs; k++) {
		const struct tensor *t = n->outputs[k];
		int64_t elems, dim;

		if (!t) {
			continue;
		}
		if (!t->typed || t->ndim < 0) {
			return infer_error(c, DIAG_UNKNOWN_SHAPE,
					   "the shape of '%s' depends on "
					   "data; make it constant",
					   t->name);
		}
		if (!check_rank(c, t)) {
			return false;
		}
		for (int d = 0; d < t->ndim; d++) {
			if (!expr_is_short(t->shape[d])) {
				return infer_error(
					c, DIAG_TOO_LARGE,
					"the formula for dimension %d of "
					"'%s' is too long; fix a size with "
					"--dim",
					d, t->name);
			}
			if (expr_is_int(t->shape[d], &dim) && dim < 0) {
				return infer_error(
					c, DIAG_BAD_SHAPE,
					"dimension %d of '%s' would be %lld; "
					"correct the input's shape or the "
					"attributes",
					d, t->name, (long long)dim);
			}
			if (!infer_not_negative(c, t->shape[d])) {
				return false;
			}
		}
		if (!tensor_max_elems(t, &elems)
			    ? !c->graph->settings->open_sizes
			    : elems > elems_limit) {
			return infer_error(c, DIAG_TOO_LARGE,
					   "'%s' would have more elements "
					   "than any machine addresses; "
					   "correct the shapes",
					   t->name);
		}
	}
	return true;
}

bool
ops_infer_node(struct graph *g, struct node *n)
{
	struct infer c = { g, g->module, n };
	int errors = g->module->diags.n_errors;

	if (!op_check_strings(g, n) || !check_counts(&c, n) ||
	    !check_inputs(&c, n)) {
		return false;
	}
	for (int k = 0; k < n->n_outputs; k++) {
		if (n->outputs[k]) {
			n->outputs[k]->elems = NULL;
			n->outputs[k]->n_elems = 0;
		}
	}
	/* A comparison of sizes (relations.c) may report an error and
	 * continue. */
	if (!n->op->infer(&c, n) || !check_outputs(&c, n) ||
	    g->module->diags.n_errors > errors) {
		return false;
	}
	infer_values(g, n);
	return quota_check_steps(g->module, node_place(g, n));
}

bool
ops_infer(struct graph *g)
{
	for (int i = 0; i < g->nodes.n; i++) {
		if (!ops_infer_node(g, g->nodes.data[i])) {
			return false;
		}
	}
	return true;
}
