/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the conditions of patterns on tensors and attributes, and formats the
 * reasons why they do not hold. */
#include <math.h>

#include "byoc.h"
#include "ops.h"
#include "passes.h"
#include "rewrite.h"
#include "window.h"

/* A constant with more elements does not meet a condition on its value. */
#define VALUE_ELEMS_MAX 65536

const char *
byoc_reason(struct graph *g, const char *fmt, ...)
{
	const char *text = "";

	if (g->byoc_notes != NULL) {
		va_list ap;

		va_start(ap, fmt);
		text = arena_vprintf(&g->module->arena, fmt, ap);
		va_end(ap);
	}
	return text;
}

/* Is a, a number of type t, equal to b, a number in a backend's file, after b
 * is rounded to t? */
static bool
is_number(struct dtype t, double a, double b)
{
	return a == b ||
	       (dtype_is_float(t) &&
		a == number_cast(t, dtype_of(DT_F64), (union number){ .f = b })
				.f);
}

/* -- numbers -- */

static const char *
limits_text(struct graph *g, const struct limits *l)
{
	struct arena *a = &g->module->arena;
	const char *text = "";

	for (int i = 0; i < l->one_of.n; i++) {
		text = arena_printf(a, "%s%s%lld", text, i > 0 ? " or " : "",
				    (long long)l->one_of.data[i]);
	}
	if (l->one_of.n == 0 && l->min != INT64_MIN && l->max != INT64_MAX) {
		text = arena_printf(a, "%lld to %lld", (long long)l->min,
				    (long long)l->max);
	} else if (l->min != INT64_MIN) {
		text = arena_printf(a, "%lld or more", (long long)l->min);
	} else if (l->max != INT64_MAX) {
		text = arena_printf(a, "%lld or less", (long long)l->max);
	}
	if (l->multiple > 1) {
		text = arena_printf(a, "%s%sa multiple of %lld", text,
				    *text ? ", " : "", (long long)l->multiple);
	}
	return text;
}

static const char *
byoc_limits_fail(struct graph *g, const struct limits *l, int64_t v,
		 const char *what)
{
	return !l->set || limits_hold(l, v)
		       ? NULL
		       : byoc_reason(g, "%s is %lld; %s is required", what,
				     (long long)v,
				     g->byoc_notes ? limits_text(g, l) : "");
}

/* -- tensors -- */

static const char *
dtypes_text(struct graph *g, uint64_t dtypes)
{
	struct arena *a = &g->module->arena;
	const char *text = "";

	for (int k = 0; k < DT_COUNT; k++) {
		if (dtypes >> k & 1) {
			text = arena_printf(a, "%s%s%s", text,
					    *text ? " or " : "",
					    dtype_name(dtype_of(
						    (enum dtype_kind)k)));
		}
	}
	return text;
}

static const char *
dims_fail(struct graph *g, const struct tensor_condition *c,
	  const struct tensor *t, const char *what)
{
	if (c->n_dims == 0 && !c->more_dims) {
		return NULL;
	}
	if (t->ndim < c->n_dims || (t->ndim > c->n_dims && !c->more_dims)) {
		return byoc_reason(g,
				   "%s has %d dimensions; %d%s are "
				   "required",
				   what, t->ndim, c->n_dims,
				   c->more_dims ? " or more" : "");
	}
	for (int d = 0; d < t->ndim; d++) {
		const struct limits *l = d < c->n_dims ? &c->dims[d]
						       : &c->other_dims;
		const char *why;
		int64_t v;

		if (!l->set) {
			continue;
		}
		if (!expr_is_int(t->shape[d], &v)) {
			return byoc_reason(g, "dimension %d of %s is not fixed",
					   d, what);
		}
		why = byoc_limits_fail(g, l, v,
				       byoc_reason(g, "dimension %d of %s", d,
						   what));
		if (why != NULL) {
			return why;
		}
	}
	return NULL;
}

static bool
is_static(const struct tensor *t)
{
	int64_t v;

	for (int d = 0; d < t->ndim; d++) {
		if (!expr_is_int(t->shape[d], &v)) {
			return false;
		}
	}
	return t->ndim >= 0;
}

static const char *
not_fixed(struct graph *g, const struct tensor *t, const char *what)
{
	struct strbuf s;
	const char *why;

	if (g->byoc_notes == NULL) {
		return "";
	}
	strbuf_init(&s);
	tensor_print_type(t, &s);
	why = byoc_reason(g,
			  "%s is %s, which is not fixed; --dim NAME=SIZE makes "
			  "it so",
			  what, s.data);
	strbuf_release(&s);
	return why;
}

/* NULL if the matrices of t have a layout that condition c allows when a
 * Transpose that produces t is left out: which of the last two dimensions is
 * contiguous; else the reason why not. */
static const char *
layout_fails(struct graph *g, const struct tensor_condition *c,
	     const struct tensor *t, const char *what)
{
	unsigned layouts = LAYOUT_ROWS;
	const int64_t *perm;

	if (t->producer != NULL && t->ndim > 1 &&
	    node_attr_ints(t->producer, "perm", &perm) == t->ndim) {
		layouts = perm[t->ndim - 1] == t->ndim - 1   ? LAYOUT_ROWS
			  : perm[t->ndim - 2] == t->ndim - 1 ? LAYOUT_COLUMNS
							     : 0;
	}
	return c->layouts == 0 || (c->layouts & layouts) != 0
		       ? NULL
		       : byoc_reason(g, "%s is stored in %s; %s are required",
				     what,
				     layouts == LAYOUT_ROWS ? "rows"
				     : layouts != 0         ? "columns"
							    : "pieces",
				     c->layouts == LAYOUT_ROWS ? "rows"
				     : c->layouts == LAYOUT_COLUMNS
					     ? "columns"
					     : "rows or columns");
}

static const char *
value_fails(struct graph *g, const struct tensor_condition *c, struct tensor *t,
	    const char *what)
{
	const struct value *v;
	int64_t elems;

	if (!c->has_value) {
		return NULL;
	}
	if (!tensor_is_constant(t) || !tensor_const_elems(t, &elems) ||
	    elems > VALUE_ELEMS_MAX) {
		return byoc_reason(g,
				   "%s is not a small constant; %g is "
				   "required",
				   what, c->value);
	}
	v = tensor_value(g, t);
	for (int64_t i = 0; v != NULL && i < elems; i++) {
		union number x = v->data != NULL ? number_load(v->type, v->data,
							       (size_t)i)
						 : v->fill;
		double d = number_cast(dtype_of(DT_F64), v->type, x).f;

		if (!is_number(v->type, d, c->value)) {
			return byoc_reason(g, "%s is %g; %g is required", what,
					   d, c->value);
		}
	}
	return v != NULL ? NULL : byoc_reason(g, "%s has no value", what);
}

static const char *
kind_fails(struct graph *g, const struct tensor_condition *c,
	   const struct tensor *t, const char *what)
{
	bool constant = tensor_is_constant(t);

	if (c->kind == TENSOR_ABSENT) {
		return byoc_reason(g, "%s is present; it must be absent", what);
	}
	if (c->kind == TENSOR_CONSTANT && !constant) {
		return byoc_reason(g, "%s is not a constant", what);
	}
	if (c->kind == TENSOR_VARIABLE && constant) {
		return byoc_reason(g, "%s is a constant", what);
	}
	return NULL;
}

/* The limits of a symbolic shape must hold for the fewest and the most
 * elements; a list of allowed numbers, or a multiple, cannot hold for a
 * symbolic shape. */
static const char *
elems_fail(struct graph *g, const struct tensor_condition *c,
	   const struct tensor *t, const char *what)
{
	const char *of, *why;
	int64_t least, most;

	if (!c->elems.set) {
		return NULL;
	}
	of = byoc_reason(g, "the size of %s", what);
	if (tensor_const_elems(t, &least)) {
		return byoc_limits_fail(g, &c->elems, least, of);
	}
	if (c->elems.multiple > 1 || c->elems.one_of.n > 0 ||
	    !tensor_min_elems(t, &least) || !tensor_max_elems(t, &most)) {
		return byoc_reason(g, "%s is not fixed", of);
	}
	why = byoc_limits_fail(g, &c->elems, least, of);
	return why != NULL ? why : byoc_limits_fail(g, &c->elems, most, of);
}

const char *
byoc_tensor_fails(struct graph *g, const struct tensor_condition *c,
		  struct tensor *t, const char *what)
{
	const char *why;

	if (t == NULL) {
		return c->kind == TENSOR_ABSENT || c->optional
			       ? NULL
			       : byoc_reason(g, "%s is absent", what);
	}
	why = kind_fails(g, c, t, what);
	if (why != NULL) {
		return why;
	}
	if (c->dtypes != 0 && !(c->dtypes >> t->type.kind & 1)) {
		return byoc_reason(g, "%s is %s; %s is required", what,
				   dtype_name(t->type),
				   g->byoc_notes ? dtypes_text(g, c->dtypes)
						 : "");
	}
	if (c->rank.set &&
	    (why = byoc_limits_fail(g, &c->rank, t->ndim,
				    byoc_reason(g, "the rank of %s", what))) !=
		    NULL) {
		return why;
	}
	why = dims_fail(g, c, t, what);
	if (why != NULL) {
		return why;
	}
	if (c->is_static >= 0 && is_static(t) != (c->is_static == 1)) {
		return c->is_static ? not_fixed(g, t, what)
				    : byoc_reason(g, "the shape of %s is fixed",
						  what);
	}
	why = elems_fail(g, c, t, what);
	if (why != NULL) {
		return why;
	}
	if (c->users.set &&
	    (why = byoc_limits_fail(g, &c->users, t->uses.n + t->is_output,
				    byoc_reason(g, "the number of users of %s",
						what))) != NULL) {
		return why;
	}
	why = layout_fails(g, c, t, what);
	return why != NULL ? why : value_fails(g, c, t, what);
}

/* Is each dimension of `from`, counted from the last, 1 or equal to the same
 * dimension of `to`? */
bool
byoc_broadcasts_to(const struct tensor *from, const struct tensor *to)
{
	int shift = to->ndim - from->ndim;

	for (int d = 0; shift >= 0 && d < from->ndim; d++) {
		int64_t v;

		if (from->shape[d] != to->shape[d + shift] &&
		    !(expr_is_int(from->shape[d], &v) && v == 1)) {
			return false;
		}
	}
	return shift >= 0;
}

/* t is an operand and y the result of a MatMul of a batch of matrices. Is each
 * dimension of t's batch equal to that of y, or 1? The last `inner` dimensions
 * of t and `y_inner` of y are those of a matrix or vector and do not count. */
static bool
batch_broadcasts_to(const struct tensor *t, int inner, const struct tensor *y,
		    int y_inner)
{
	for (int i = 0; i < t->ndim - inner; i++) {
		const struct expr *size = t->shape[t->ndim - inner - 1 - i];
		int at = y->ndim - y_inner - 1 - i;

		if (!expr_is_value(size, 1) &&
		    (at < 0 || size != y->shape[at])) {
			return false;
		}
	}
	return true;
}

const char *
byoc_product_fails(const struct node *n)
{
	const struct tensor *a, *b, *y;
	int a_inner, b_inner;

	if (n->n_inputs < 2 || n->inputs[0] == NULL || n->inputs[1] == NULL) {
		return NULL;
	}
	y = n->outputs[0];
	if (strcmp(n->op_type, "Gemm") == 0) {
		return n->n_inputs < 3 || n->inputs[2] == NULL ||
				       byoc_broadcasts_to(n->inputs[2], y)
			       ? NULL
			       : "it is not certain how input 2 is broadcast";
	}
	if (strcmp(n->op_type, "MatMul") != 0) {
		return NULL;
	}
	a = n->inputs[0];
	b = n->inputs[1];
	a_inner = a->ndim > 1 ? 2 : 1;
	b_inner = b->ndim > 1 ? 2 : 1;
	return batch_broadcasts_to(a, a_inner, y, a_inner + b_inner - 2) &&
			       batch_broadcasts_to(b, b_inner, y,
						   a_inner + b_inner - 2)
		       ? NULL
		       : "it is not certain how its matrices are broadcast";
}

/* Is the last dimension of `row` equal to that of `of`, and are all other
 * dimensions of `row` 1? */
bool
byoc_is_row_of(const struct tensor *row, const struct tensor *of)
{
	if (row->ndim < 1 || row->ndim > of->ndim ||
	    row->shape[row->ndim - 1] != of->shape[of->ndim - 1]) {
		return false;
	}
	for (int d = 0; d < row->ndim - 1; d++) {
		if (!expr_is_value(row->shape[d], 1)) {
			return false;
		}
	}
	return true;
}

/* -- attributes -- */

static const char *
ints_fail(struct graph *g, const struct attribute_condition *c,
	  const struct attr *attr)
{
	const int64_t *v = attr->kind == ATTR_INT ? &attr->i : attr->ints;
	int n = attr->kind == ATTR_INT ? 1 : attr->n;
	const char *what = byoc_reason(g, "attribute %s", c->name);
	const char *why = byoc_limits_fail(g, &c->length, n,
					   byoc_reason(g, "the length of %s",
						       what));

	for (int i = 0; why == NULL && i < n; i++) {
		why = byoc_limits_fail(g, &c->number, v[i], what);
	}
	if (why == NULL && c->has_list &&
	    (n != c->n_list ||
	     memcmp(v, c->list, sizeof *v * (size_t)n) != 0)) {
		why = byoc_reason(g, "%s is another list", what);
	}
	for (int i = 0; why == NULL && c->has_float && i < n; i++) {
		if ((double)v[i] != c->real) {
			why = byoc_reason(g, "%s is %lld; %g is required", what,
					  (long long)v[i], c->real);
		}
	}
	return why != NULL || c->n_texts == 0
		       ? why
		       : byoc_reason(g, "%s is not a text", what);
}

static const char *
text_fails(struct graph *g, const struct attribute_condition *c,
	   const char *text, size_t length)
{
	for (int i = 0; i < c->n_texts; i++) {
		if (strlen(c->texts[i]) == length &&
		    memcmp(c->texts[i], text, length) == 0) {
			return NULL;
		}
	}
	return byoc_reason(g, "attribute %s is '%.*s'%s%s", c->name,
			   (int)length, text,
			   c->n_texts > 0 ? "; required is " : "",
			   c->n_texts > 0 ? c->texts[0] : "");
}

const char *
byoc_attribute_fails(struct graph *g, const struct attribute_condition *c,
		     const struct node *n)
{
	const struct attr *attr = node_attr(n, c->name);

	if (attr == NULL) {
		return c->or_absent || c->must_be_absent
			       ? NULL
			       : byoc_reason(g, "attribute %s is absent",
					     c->name);
	}
	if (c->must_be_absent) {
		return byoc_reason(g, "attribute %s is present", c->name);
	}
	switch (attr->kind) {
	case ATTR_INT:
	case ATTR_INTS:
		return ints_fail(g, c, attr);
	case ATTR_FLOAT:
		return c->has_float && is_number(dtype_of(DT_F32), attr->f,
						 c->real)
			       ? NULL
			       : byoc_reason(g, "attribute %s is %g", c->name,
					     attr->f);
	case ATTR_STRING:
		return text_fails(g, c, attr->s, attr->s_len);
	default:
		return byoc_reason(g,
				   "attribute %s is of a kind that patterns "
				   "do not support",
				   c->name);
	}
}

/* -- windows -- */

const char *
byoc_windows_fail(struct graph *g, const struct node *n)
{
	struct window w;
	const char *wrong = window_of_node(g->module, n, NULL, false, &w);

	if (wrong != NULL) {
		return byoc_reason(g, "%s", wrong);
	}
	for (int d = 0; d < w.n; d++) {
		if (window_may_miss(g->module, &w, d)) {
			return byoc_reason(
				g,
				"a window along dimension %d may lie in "
				"the padding alone",
				d + 2);
		}
	}
	return NULL;
}

/* -- facts -- */

/* Sets *out to the value of the attribute if it is an integer, a float, a text
 * or a list of integers, and returns NULL; for another kind of attribute,
 * returns the reason why it cannot. */
static const char *
fact_of_attribute(struct graph *g, const struct attr *attr, struct fact *out)
{
	switch (attr->kind) {
	case ATTR_INT:
		out->kind = FACT_INT;
		out->i = attr->i;
		out->f = (double)attr->i;
		return NULL;
	case ATTR_FLOAT:
		out->kind = FACT_FLOAT;
		out->f = attr->f;
		return NULL;
	case ATTR_STRING:
		out->kind = FACT_TEXT;
		out->text = arena_strndup(&g->module->arena, attr->s,
					  attr->s_len);
		return NULL;
	case ATTR_INTS:
		out->kind = FACT_INTS;
		out->n = attr->n;
		out->ints = attr->ints;
		return NULL;
	default:
		return byoc_reason(g,
				   "attribute %s is of a kind that templates "
				   "do not support",
				   attr->name);
	}
}

static const char *
fact_of_constant(struct graph *g, struct tensor *t, int input, struct fact *out)
{
	const struct value *v = NULL;
	union number x;
	int64_t elems;

	if (tensor_is_constant(t) && tensor_const_elems(t, &elems) &&
	    elems == 1) {
		v = tensor_value(g, t);
	}
	if (v == NULL) {
		return byoc_reason(g,
				   "input %d is not a constant of one "
				   "element",
				   input);
	}
	x = v->data != NULL ? number_load(v->type, v->data, 0) : v->fill;
	out->f = number_cast(dtype_of(DT_F64), v->type, x).f;
	out->kind = dtype_is_float(v->type) ? FACT_FLOAT : FACT_INT;
	if (out->kind == FACT_INT) {
		out->i = number_cast(dtype_of(DT_I64), v->type, x).i;
	}
	return NULL;
}

const char *
byoc_fact(struct graph *g, const struct fact_rule *rule, const struct node *n,
	  struct tensor *const *inputs, struct fact *out)
{
	const struct attr *attr = rule->attribute != NULL
					  ? node_attr(n, rule->attribute)
					  : NULL;
	struct tensor *t = rule->input >= 0 && rule->input < n->n_inputs
				   ? inputs[rule->input]
				   : NULL;

	*out = (struct fact){ .name = rule->name };
	if (attr != NULL) {
		return fact_of_attribute(g, attr, out);
	}
	if (t != NULL) {
		return fact_of_constant(g, t, rule->input, out);
	}
	if (!rule->has_default) {
		return rule->attribute != NULL
			       ? byoc_reason(g, "attribute %s is absent",
					     rule->attribute)
			       : byoc_reason(g, "input %d is absent",
					     rule->input);
	}
	*out = rule->value;
	out->name = rule->name;
	return NULL;
}

/* The number that a fact is; NaN if the fact is not a number. */
static double
fact_number(const struct fact *f)
{
	return f->kind == FACT_INT     ? (double)f->i
	       : f->kind == FACT_FLOAT ? f->f
				       : (double)NAN;
}

const char *
byoc_order_fails(struct graph *g, const char *at_least,
		 const struct fact *facts, int i)
{
	double v = fact_number(&facts[i]), least = (double)NAN;

	for (int k = 0; k < i; k++) {
		if (strcmp(facts[k].name, at_least) == 0) {
			least = fact_number(&facts[k]);
		}
	}
	return v >= least ? NULL
			  : byoc_reason(g,
					"%s is %g; %s or more is required, "
					"which is %g",
					facts[i].name, v, at_least, least);
}
