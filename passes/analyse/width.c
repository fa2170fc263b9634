/* SPDX-License-Identifier: Apache-2.0 */
/* Widths of index arithmetic, computed bottom-up: first from the intervals of
 * the operands, which is cheap, and, if these do not suffice, by the
 * analyser. */
#include "width.h"

#include "buffer.h"
#include "iterate.h"
#include "linear.h"

struct wide {
	const struct expr *e;
	/* the interval of the expression's value, as an unbounded integer */
	struct bounds span;
	bool data;
};

static struct wide wide_of(struct widths *w, const struct expr *e);

static const struct bounds narrow = { INT32_MIN, INT32_MAX };

static bool
is_narrow(struct dtype t)
{
	return dtype_class(t) == DTC_INT && dtype_bits(t) == 32 && t.lanes == 1;
}

/* Is t a type of indices: a signed scalar of 32 or 64 bits? */
static bool
is_index(struct dtype t)
{
	return dtype_class(t) == DTC_INT && dtype_bits(t) >= 32 && t.lanes == 1;
}

/* -- sizes */

static void
bind_size(struct analyser *a, const struct var *v)
{
	int64_t min = v->min <= v->max ? v->min : 0;

	if (!is_narrow(v->type) || analyser_find(a, v) != NULL ||
	    (v->min <= v->max && v->max <= INT32_MAX)) {
		return;
	}
	analyser_bind(a, v, expr_i32(a->module, min),
		      expr_i32(a->module, INT32_MAX - WIDTH_ROOM - min + 1));
}

static const struct expr *
elements_of(struct module *m, const struct buffer *b)
{
	const struct expr *all = expr_i32(m, 1);

	for (int d = 0; d < b->ndim; d++) {
		all = expr_mul_sizes(m, all, b->shape[d]);
	}
	return all;
}

static void
bind_array(struct analyser *a, const struct buffer *b, int64_t object_bytes)
{
	struct module *m = a->module;
	const struct expr *most = expr_index(m,
					     object_bytes /
						     buffer_element_bytes(b));

	for (int d = 0; d < b->ndim; d++) {
		if (b->shape[d]->kind == EXPR_VAR) {
			analyser_assume(a, expr_le(m, b->shape[d], most));
		}
	}
	if (b->ndim > 1) {
		analyser_assume(a, expr_le(m, elements_of(m, b), most));
	}
}

void
width_bind_sizes(struct analyser *a, const struct func *f, int64_t object_bytes)
{
	for (int i = 0; i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;
		const struct expr *e;

		if (b == NULL) {
			continue;
		}
		for (struct tree_iter it =
			     exprs_each_of(b->shape, b->ndim, EXPR_VAR);
		     (e = tree_next(&it));) {
			bind_size(a, e->u.var);
		}
	}
	for (int i = 0; i < f->params.n && object_bytes > 0; i++) {
		const struct buffer *b = f->params.data[i].buffer;

		if (b != NULL) {
			bind_array(a, b, object_bytes);
		}
	}
}

/* -- expressions */

/* The interval of e from its type and the analyser. */
static struct bounds
leaf_span(struct widths *w, const struct expr *e)
{
	struct bounds known = { BOUND_NEG_INF, BOUND_POS_INF };

	if (dtype_is_int(e->type) && e->type.lanes == 1) {
		known = analyse_bounds(w->analyser, e);
	}
	return is_narrow(e->type) ? bounds_meet(known, narrow) : known;
}

static const struct expr *
as_type(struct widths *w, const struct expr *e, struct dtype t)
{
	return dtype_equal(e->type, t) ? e
				       : expr_cast(w->analyser->module, t, e);
}

static struct wide
variable(struct widths *w, const struct expr *e)
{
	struct wide r = { .e = e, .span = leaf_span(w, e) };

	for (int i = w->vars.n - 1; i >= 0; i--) {
		const struct width_var *v = &w->vars.data[i];

		if (v->from == e->u.var) {
			r.e = v->to != NULL ? v->to : e;
			r.data = v->data;
			if (v->to != NULL) {
				r.span = analyse_bounds(w->analyser, e);
			}
			break;
		}
	}
	return r;
}

/* For an operation whose result keeps its type: operands that were widened are
 * cast back to their old types, but the indices of a LOAD keep the wider
 * type. */
static struct wide
same_type(struct widths *w, const struct expr *e)
{
	struct module *m = w->analyser->module;
	const struct expr **args = arena_exprs(&m->arena, e->n_args + 1);
	struct wide r = { .e = e,
			  .span = leaf_span(w, e),
			  .data = e->kind == EXPR_LOAD };
	bool changed = false;

	for (int i = 0; i < e->n_args; i++) {
		struct wide x = wide_of(w, e->args[i]);

		args[i] = e->kind == EXPR_LOAD
				  ? x.e
				  : as_type(w, x.e, e->args[i]->type);
		r.data |= x.data;
		changed |= args[i] != e->args[i];
	}
	if (changed) {
		r.e = expr_rebuild(m, e, args);
	}
	return r;
}

/* The interval of a quotient or remainder, never larger than the operands'. */
static struct bounds
quotient_span(enum expr_kind kind, struct bounds x, struct bounds y)
{
	struct bounds r = bounds_binary(kind, x, y);
	bool rest = kind == EXPR_TRUNCMOD || kind == EXPR_FLOORMOD;
	struct bounds most = rest ? y : x;
	int64_t far;

	if (most.min == BOUND_NEG_INF || most.max == BOUND_POS_INF) {
		return r;
	}
	far = -most.min > most.max ? -most.min : most.max;
	return bounds_meet(r,
			   (struct bounds){ x.min >= 0 && y.min >= 0 ? 0 : -far,
					    far });
}

static struct bounds
operation_span(enum expr_kind kind, struct bounds x, struct bounds y)
{
	switch (kind) {
	case EXPR_DIV:
	case EXPR_FLOORDIV:
	case EXPR_TRUNCMOD:
	case EXPR_FLOORMOD:
		return quotient_span(kind, x, y);
	case EXPR_SELECT:
	case EXPR_IF:
		return bounds_union(x, y);
	default:
		return bounds_binary(kind, x, y);
	}
}

/* A binary operation on indices: 32 bits if both operands and the result fit,
 * else 64. */
static struct wide
operation(struct widths *w, const struct expr *e)
{
	struct module *m = w->analyser->module;
	int first = e->n_args - 2;
	const struct expr *args[3] = { 0 };
	bool compares = dtype_class(e->type) == DTC_BOOL;
	struct wide a = wide_of(w, e->args[first]), r = { 0 };
	struct wide b = wide_of(w, e->args[first + 1]);
	struct dtype t;

	r.data = a.data || b.data;
	r.span = operation_span(e->kind, a.span, b.span);
	if (!bounds_within(r.span, narrow)) {
		r.span = bounds_meet(r.span, analyse_bounds(w->analyser, e));
	}
	if (r.data && !compares && !w->address) {
		t = e->type;
		r.span = leaf_span(w, e);
	} else {
		bool wide = dtype_bits(a.e->type) > 32 ||
			    dtype_bits(b.e->type) > 32 ||
			    (!compares && !bounds_within(r.span, narrow));

		t = dtype_of(wide ? DT_I64 : DT_I32);
	}
	if (first > 0) {
		args[0] = wide_of(w, e->args[0]).e;
	}
	args[first] = as_type(w, a.e, t);
	args[first + 1] = as_type(w, b.e, t);
	r.e = args[first] == e->args[first] &&
			      args[first + 1] == e->args[first + 1] &&
			      (first == 0 || args[0] == e->args[0])
		      ? e
	      : first == 0         ? expr_binary(m, e->kind, args[0], args[1])
	      : e->kind == EXPR_IF ? expr_if(m, args[0], args[1], args[2])
				   : expr_select(m, args[0], args[1], args[2]);
	return r;
}

static struct wide
cast(struct widths *w, const struct expr *e)
{
	const struct expr *of = e->args[0];
	struct wide r = { .e = of };

	if (w->address && is_narrow(of->type)) {
		r.span = leaf_span(w, of);
		return r;
	}
	r = wide_of(w, of);
	r.e = as_type(w, r.e, e->type);
	if (!is_index(e->type) || !is_index(of->type) ||
	    (is_narrow(e->type) && !bounds_within(r.span, narrow))) {
		r.span = leaf_span(w, e);
	}
	return r;
}

static struct wide
literal(struct widths *w, const struct expr *e)
{
	struct bounds span = { e->u.ival, e->u.ival };
	bool shorter = w->address && is_index(e->type) &&
		       bounds_within(span, narrow);

	return (struct wide){ shorter ? expr_i32(w->analyser->module, e->u.ival)
				      : e,
			      span, false };
}

static struct wide
ramp(struct widths *w, const struct expr *e)
{
	const struct expr *base = wide_of(w, e->args[0]).e;
	const struct expr *stride = e->args[1];
	struct wide r = { .e = e, .span = { BOUND_NEG_INF, BOUND_POS_INF } };

	if (base != e->args[0]) {
		r.e = expr_ramp(w->analyser->module, base,
				as_type(w, stride, base->type), e->type.lanes);
	}
	return r;
}

static struct wide
wide_of(struct widths *w, const struct expr *e)
{
	if (w->address && (e->kind == EXPR_LOAD || e->kind == EXPR_CALL)) {
		return (struct wide){ e, leaf_span(w, e), true };
	}
	switch (e->kind) {
	case EXPR_INT:
		return literal(w, e);
	case EXPR_VAR:
		return variable(w, e);
	case EXPR_RAMP:
		return ramp(w, e);
	case EXPR_CAST:
		if (e->type.lanes == 1) {
			return cast(w, e);
		}
		break;
	default:
		if (e->n_args >= 2 && e->kind >= EXPR_ADD &&
		    e->kind <= EXPR_IF && is_index(e->args[1]->type)) {
			return operation(w, e);
		}
		break;
	}
	return same_type(w, e);
}

const struct expr *
width_of(struct widths *w, const struct expr *e)
{
	return wide_of(w, e).e;
}

bool
width_is_data(struct widths *w, const struct expr *e)
{
	return wide_of(w, e).data;
}
