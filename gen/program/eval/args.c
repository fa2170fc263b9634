/* SPDX-License-Identifier: Apache-2.0 */
/* Checks and converts the arguments of built-in functions. A reported error has
 * the position of its argument. */
#include "library.h"

bool
arg_missing(const struct call *c, int i)
{
	return i >= c->n || c->args[i].kind == PV_MISSING;
}

bool
arg_given(const struct call *c, int i)
{
	return !arg_missing(c, i) && c->args[i].kind != PV_NONE;
}

bool
value_kind_error(struct call *c, int i, const char *wanted)
{
	return call_error(c, i, "%s of %s() should be %s, not %s",
			  c->params[i].name, c->row->name, wanted,
			  pv_kind_name(c->args[i].kind));
}

bool
arg_int(struct call *c, int i, int64_t min, int64_t max, int64_t *out)
{
	if (!eval_int(c->ev, &c->args[i], out)) {
		return value_kind_error(c, i, "an int");
	}
	if (*out < min || *out > max) {
		if (max == INT64_MAX) {
			return call_error(c, i,
					  "%s of %s() is %lld; it must "
					  "be at least %lld",
					  c->params[i].name, c->row->name,
					  (long long)*out, (long long)min);
		}
		return call_error(c, i,
				  "%s of %s() is %lld; it must be from "
				  "%lld to %lld",
				  c->params[i].name, c->row->name,
				  (long long)*out, (long long)min,
				  (long long)max);
	}
	return true;
}

bool
arg_text(struct call *c, int i, const char **out)
{
	if (c->args[i].kind != PV_STRING) {
		return value_kind_error(c, i, "a str");
	}
	*out = c->args[i].u.text.data;
	return true;
}

bool
arg_bool(struct call *c, int i, bool *out)
{
	return eval_truth(c->ev, c->spans[i], &c->args[i], out);
}

const char *
value_type_name(const struct pval *v)
{
	return v->kind == PV_STRING ? v->u.text.data
	       : v->kind == PV_BUILTIN &&
			       names_share(v->u.row->in,
					   IN_PYTHON | IN_SCRIPT_TIR | IN_NUMPY)
		       ? v->u.row->name
		       : NULL;
}

bool
arg_dtype(struct call *c, int i, struct dtype *out)
{
	const char *name = value_type_name(&c->args[i]);

	return name ? typed_dtype(&c->ev->typing, c->spans[i], name, out)
		    : value_kind_error(c, i, "a type such as \"float32\"");
}

bool
value_typed(struct eval *ev, struct py_span at, const struct pval *v,
	    struct typed *out, int *depth)
{
	struct py_number n;

	*depth = v->depth > 0 ? v->depth : 1;
	switch (v->kind) {
	case PV_EXPR:
		*out = typed_expr(v->u.expr);
		return true;
	case PV_AXIS:
	case PV_THREAD:
		*out = typed_expr(v->u.axis->iv.var->expr);
		return true;
	case PV_BOOL:
	case PV_INT:
	case PV_FLOAT:
		pv_number(v, &n);
		*out = typed_number(ev->m, &n);
		return true;
	case PV_STRING:
		*out = typed_expr(expr_string(ev->m, v->u.text.data));
		return true;
	case PV_TENSOR_PART:
		return eval_error(ev, at,
				  "%s has %d dimensions, but only %d "
				  "indices",
				  v->u.part->tensor->buffer->name,
				  v->u.part->tensor->buffer->ndim,
				  v->u.part->n);
	case PV_TENSOR:
		return eval_error(ev, at,
				  "the whole tensor %s where one of "
				  "its elements is needed; index it",
				  v->u.tensor->buffer->name);
	default:
		if (ops_of(ev, v->kind)->operand) {
			return ops_of(ev, v->kind)->operand(ev, at, v, out);
		}
		return eval_error(ev, at,
				  "a number or an expression is "
				  "needed here, not %s",
				  pv_kind_name(v->kind));
	}
}

bool
value_expr(struct eval *ev, struct py_span at, const struct pval *v,
	   const struct expr **out, int *depth)
{
	struct typed x;

	return value_typed(ev, at, v, &x, depth) &&
	       typed_settle(&ev->typing, at, &x, out);
}

bool
arg_expr(struct call *c, int i, const struct expr **out, int *depth)
{
	return value_expr(c->ev, c->spans[i], &c->args[i], out, depth);
}

bool
arg_tensor(struct call *c, int i, struct te_tensor **out)
{
	const struct pval *v = &c->args[i];

	if (v->kind != PV_TENSOR) {
		return value_kind_error(c, i, "a tensor");
	}
	*out = v->u.tensor;
	return true;
}

bool
arg_items(struct call *c, int i, struct pval **items, int *n)
{
	const struct pval *v = &c->args[i];

	if (v->kind == PV_LIST || v->kind == PV_TUPLE || v->kind == PV_RANGE ||
	    v->kind == PV_SET) {
		return eval_items(c->ev, c->spans[i], v, items, n);
	}
	*items = arena_new(c->ev->a, struct pval);
	**items = *v;
	*n = 1;
	return true;
}

bool
arg_tensors(struct call *c, int i, struct te_tensor ***out, int *n)
{
	struct pval *items;

	if (!arg_items(c, i, &items, n)) {
		return false;
	}
	*out = arena_array(c->ev->a, struct te_tensor *, *n + 1);
	for (int k = 0; k < *n; k++) {
		if (items[k].kind != PV_TENSOR && items[k].kind != PV_OP) {
			return call_error(c, i,
					  "%s of %s() should be "
					  "tensors, not %s",
					  c->params[i].name, c->row->name,
					  pv_kind_name(items[k].kind));
		}
		(*out)[k] = items[k].u.tensor;
	}
	return true;
}

/* Gives the range of a size, 0 or more, to each variable in e that has no
 * range. */
static void
bound_sizes(const struct expr *e)
{
	for (struct expr_iter it = expr_each_of(e, EXPR_VAR);
	     (e = expr_next(&it));) {
		if (e->u.var->min > e->u.var->max) {
			e->u.var->min = 0;
			e->u.var->max = BOUND_POS_INF;
		}
	}
}

bool
arg_shape(struct call *c, int i, const struct expr ***out, int *n)
{
	struct pval *items;
	int depth = 0;

	if (!arg_items(c, i, &items, n)) {
		return false;
	}
	if (*n > EVAL_MAX_RANK) {
		return call_error(c, i, "%d dimensions; at most %d are read",
				  *n, EVAL_MAX_RANK);
	}
	*out = arena_exprs(c->ev->a, *n + 1);
	for (int d = 0; d < *n; d++) {
		const struct expr *e;
		int64_t v;

		if (items[d].kind == PV_AXIS ||
		    !value_expr(c->ev, c->spans[i], &items[d], &e, &depth)) {
			return items[d].kind == PV_AXIS
				       ? call_error(c, i,
						    "an axis cannot be a "
						    "size")
				       : false;
		}
		if (!dtype_is_int(e->type) || e->type.lanes != 1 ||
		    depth > 100 || expr_has(e, EXPR_LOAD) ||
		    expr_has(e, EXPR_REDUCE)) {
			return call_error(c, i,
					  "dimension %d must be an integer "
					  "that is known before the function "
					  "runs",
					  d);
		}
		if (expr_is_int(e, &v) && (v < 0 || v > INT64_C(1) << 40)) {
			return call_error(c, i, "dimension %d is %lld", d,
					  (long long)v);
		}
		bound_sizes(e);
		(*out)[d] = e;
	}
	return true;
}
