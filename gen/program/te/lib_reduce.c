/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions: te.sum and the like, and reductions by functions that the program
 * defines. */
#include "te_parts.h"

static bool
reduce_axes(struct call *c, struct py_span at, const struct pval *axis,
	    struct iter_var **axes, int *n)
{
	struct eval *ev = c->ev;
	const struct pval *items;

	if (!eval_items_or_one(ev, at, axis, axis->kind == PV_AXIS, &items,
			       n)) {
		return false;
	}
	*axes = arena_array(ev->a, struct iter_var, *n + 1);
	for (int i = 0; i < *n; i++) {
		if (items[i].kind != PV_AXIS ||
		    items[i].u.axis->iv.kind != ITER_REDUCE) {
			return eval_error(ev, at,
					  "a reduction runs over axes "
					  "made by te.reduce_axis");
		}
		(*axes)[i] = items[i].u.axis->iv;
	}
	return true;
}

/* May e be the value or the condition of a reduction? If not, reports an error
 * and returns false. */
static bool
check_source(struct eval *ev, struct py_span at, const struct expr *e)
{
	if (expr_has(e, EXPR_REDUCE)) {
		return eval_error(ev, at,
				  "a reduction inside of a reduction; "
				  "compute the inner one in a tensor of its "
				  "own, or reduce over both axes at once");
	}
	if (dtype_class(e->type) == DTC_STRING ||
	    dtype_class(e->type) == DTC_HANDLE ||
	    dtype_class(e->type) == DTC_VOID || e->type.lanes != 1) {
		return eval_error(ev, at, "%s cannot be reduced",
				  dtype_name(e->type));
	}
	return true;
}

static bool
condition_of(struct eval *ev, struct py_span at, const struct pval *v,
	     const struct expr **out)
{
	int depth;

	*out = NULL;
	if (v->kind == PV_MISSING || v->kind == PV_NONE) {
		return true;
	}
	if (!value_expr(ev, at, v, out, &depth)) {
		return false;
	}
	if (dtype_class((*out)->type) != DTC_BOOL ||
	    expr_has(*out, EXPR_REDUCE)) {
		return eval_error(ev, at, "where is a condition, not %s",
				  dtype_name((*out)->type));
	}
	return true;
}

/* Sets `out` to n expressions: the elements of v, a tuple or a list, or, if v
 * is a single value, this value. Returns false after an error, also if v does
 * not have n elements. what: what v is, for the message. */
static bool
several(struct eval *ev, struct py_span at, const struct pval *v, int n,
	const struct expr **out, const char *what)
{
	bool one = v->kind != PV_TUPLE && v->kind != PV_LIST;
	const struct pval *items;
	int have, depth;

	if (!eval_items_or_one(ev, at, v, one, &items, &have)) {
		return false;
	}
	if (have != n) {
		return eval_error(ev, at,
				  "%s gives %d value%s where %d %s "
				  "needed",
				  what, have, have == 1 ? "" : "s", n,
				  n == 1 ? "is" : "are");
	}
	for (int i = 0; i < n; i++) {
		if (!value_expr(ev, at, &items[i], &out[i], &depth)) {
			return false;
		}
	}
	return true;
}

/* If *e is a constant, converts it to the type t. Returns false after an error
 * if t cannot represent it. */
static bool
as_type(struct eval *ev, struct py_span at, struct dtype t,
	const struct expr **e)
{
	bool constant = (*e)->kind == EXPR_INT ||
			((*e)->kind == EXPR_FLOAT && dtype_is_float(t));

	if (!constant || dtype_equal((*e)->type, t) ||
	    (!dtype_is_int(t) && !dtype_is_float(t))) {
		return true;
	}
	if (!typed_fits(&ev->typing, at, *e, t,
			"cast what is reduced to a wider type")) {
		return false;
	}
	*e = expr_cast(ev->m, t, *e);
	return true;
}

/* Reads the initial values of a reduction. *out is NULL if the program gives
 * none; then the identity elements are used. Returns false after an error. */
static bool
init_of(struct eval *ev, struct py_span at, const struct pval *v,
	const struct expr *const *sources, int n, const struct iter_var *axes,
	int n_axes, const struct expr ***out)
{
	const struct expr **init;

	*out = NULL;
	if (v->kind == PV_MISSING || v->kind == PV_NONE) {
		return true;
	}
	init = arena_exprs(ev->a, n);
	if (!several(ev, at, v, n, init, "init")) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (!as_type(ev, at, sources[i]->type, &init[i])) {
			return false;
		}
		if (expr_has(init[i], EXPR_REDUCE)) {
			return eval_error(ev, at,
					  "init is a reduction; "
					  "compute it in a tensor of its own");
		}
		if (!dtype_equal(init[i]->type, sources[i]->type)) {
			return eval_error(ev, at,
					  "init is of type %s, what "
					  "is reduced of type %s; cast one "
					  "of them",
					  dtype_name(init[i]->type),
					  dtype_name(sources[i]->type));
		}
		for (int k = 0; k < n_axes; k++) {
			if (expr_uses_var(init[i], axes[k].var)) {
				return eval_error(
					ev, at,
					"init comes before "
					"the reduction; it cannot use %s",
					axes[k].var->name);
			}
		}
	}
	*out = init;
	return true;
}

static const struct reducer *
built_in(struct module *m, const char *name, struct dtype t)
{
	return strcmp(name, "sum") == 0    ? reducer_sum(m, t)
	       : strcmp(name, "prod") == 0 ? reducer_prod(m, t)
	       : strcmp(name, "max") == 0  ? reducer_max(m, t)
					   : reducer_min(m, t);
}

static enum expr_kind
combine_kind(const char *name)
{
	return strcmp(name, "sum") == 0    ? EXPR_ADD
	       : strcmp(name, "prod") == 0 ? EXPR_MUL
	       : strcmp(name, "max") == 0  ? EXPR_MAX
					   : EXPR_MIN;
}

/* te.sum(expr, axis, where, init) and the like. Without an axis, te.max(a, b)
 * is a binary operator. */
bool
te_reduction(struct call *c, struct pval *out)
{
	struct eval *ev = c->ev;
	const struct pval *axis = &c->args[1];
	const struct expr *source, *condition, *result, **init;
	struct iter_var *axes;
	int n, depth;

	if (axis->kind != PV_AXIS && axis->kind != PV_LIST &&
	    axis->kind != PV_TUPLE) {
		*out = c->args[0];
		for (int i = 1; i < 4; i++) {
			struct pval before = *out;

			if (arg_given(c, i) &&
			    !eval_expr_binary(ev, c->span,
					      combine_kind(c->row->name),
					      &before, &c->args[i], out)) {
				return false;
			}
		}
		return true;
	}
	if (!reduce_axes(c, c->spans[1], axis, &axes, &n) ||
	    !arg_expr(c, 0, &source, &depth) ||
	    !check_source(ev, c->spans[0], source) ||
	    !condition_of(ev, c->spans[2], &c->args[2], &condition)) {
		return false;
	}
	if (n == 0) {
		struct pval value = pv_expr(source, depth);

		*out = value;
		return !arg_given(c, 3) ||
		       eval_expr_binary(ev, c->span, combine_kind(c->row->name),
					&c->args[3], &value, out);
	}
	if (dtype_class(source->type) == DTC_BOOL &&
	    combine_kind(c->row->name) != EXPR_MAX &&
	    combine_kind(c->row->name) != EXPR_MIN) {
		source = expr_cast(ev->m, dtype_of(DT_I32), source);
	}
	if (!init_of(ev, c->spans[3], &c->args[3], &source, 1, axes, n,
		     &init)) {
		return false;
	}
	te_reduce_from(ev->m, built_in(ev->m, c->row->name, source->type),
		       &source, axes, n, condition, init, &result);
	*out = pv_expr(result, depth + 1);
	return true;
}

bool
te_comm_reducer(struct call *c, struct pval *out)
{
	struct reducer_def *r = arena_new(c->ev->a, struct reducer_def);

	r->name = "reduce";
	if (arg_given(c, 2) && !arg_text(c, 2, &r->name)) {
		return false;
	}
	r->combine = c->args[0];
	r->identity = c->args[1];
	*out = (struct pval){ .kind = PV_REDUCER, .u.reducer = r };
	return true;
}

bool
te_call_reducer(struct eval *ev, struct py_span at, const struct pval *f,
		const struct call_args *args, struct pval *out)
{
	const struct reducer_def *def = f->u.reducer;
	struct call c = { .ev = ev, .span = at };
	const struct py_signature s =
		py_signature_declared(ev->a, def->name,
				      "expr, axis, where?, init?");
	struct pval *values, lhs, rhs, types, v;
	struct py_span *spans;
	struct iter_var *axes;
	const struct expr **sources, **result, **identity, **all, **init;
	const struct expr *condition;
	struct dtype *kinds;
	struct pval *left, *right, *words;
	struct reducer *r;
	const char *why;
	int n = 1, n_axes, depth = 0;

	if (!eval_bind(ev, at, &s, args, &values, &spans)) {
		return false;
	}
	if (values[0].kind == PV_TUPLE || values[0].kind == PV_LIST) {
		n = values[0].u.list->n;
	}
	if (n < 1 || n > 8) {
		return eval_error(ev, at,
				  "a reducer combines 1 to 8 values, "
				  "not %d",
				  n);
	}
	sources = arena_exprs(ev->a, n);
	result = arena_exprs(ev->a, n);
	identity = arena_exprs(ev->a, n);
	all = arena_exprs(ev->a, n);
	kinds = arena_array(ev->a, struct dtype, n);
	left = arena_array(ev->a, struct pval, n);
	right = arena_array(ev->a, struct pval, n);
	words = arena_array(ev->a, struct pval, n);
	if (!reduce_axes(&c, at, &values[1], &axes, &n_axes) ||
	    !several(ev, at, &values[0], n, sources, "the source") ||
	    !condition_of(ev, at, &values[2], &condition)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (!check_source(ev, at, sources[i])) {
			return false;
		}
		kinds[i] = sources[i]->type;
	}
	if (!init_of(ev, at, &values[3], sources, n, axes, n_axes, &init)) {
		return false;
	}
	r = te_reducer_declare(ev->m, def->name, n, kinds);
	for (int i = 0; i < n; i++) {
		left[i] = pv_expr(r->lhs[i]->expr, 1);
		right[i] = pv_expr(r->rhs[i]->expr, 1);
		words[i] = pv_string(ev, dtype_name(kinds[i]));
	}
	lhs = n == 1 ? left[0] : pv_list_of(ev, PV_TUPLE, left, n);
	rhs = n == 1 ? right[0] : pv_list_of(ev, PV_TUPLE, right, n);
	types = pv_list_of(ev, PV_TUPLE, words, n);
	{
		struct pval both[2] = { lhs, rhs };

		if (!eval_apply(ev, at, &def->combine, both, 2, &v) ||
		    !several(ev, at, &v, n, result, "the combiner") ||
		    !eval_apply(ev, at, &def->identity, types.u.list->data, n,
				&v) ||
		    !several(ev, at, &v, n, identity, "the identity")) {
			return false;
		}
	}
	for (int i = 0; i < n; i++) {
		if (!as_type(ev, at, kinds[i], &result[i]) ||
		    !as_type(ev, at, kinds[i], &identity[i])) {
			return false;
		}
	}
	if (!te_reducer_define(ev->m, r, result, identity, &why)) {
		return eval_error(ev, at, "%s", why);
	}
	te_reduce_from(ev->m, r, sources, axes, n_axes, condition, init, all);
	for (int i = 0; i < n; i++) {
		int deep = values[0].depth;

		if (n > 1 || values[0].kind == PV_TUPLE ||
		    values[0].kind == PV_LIST) {
			deep = values[0].u.list->data[i].depth;
		}
		depth = deep > depth ? deep : depth;
	}
	for (int i = 0; i < n; i++) {
		left[i] = pv_expr(all[i], depth + 2);
	}
	*out = n == 1 ? left[0] : pv_list_of(ev, PV_TUPLE, left, n);
	return true;
}
