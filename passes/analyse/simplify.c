/* SPDX-License-Identifier: Apache-2.0 */
/* Simplification, bottom up: operands first, then the rule table, then linear
 * forms for sums, quotients, min and max, and comparisons of indices.
 * Floating-point arithmetic is not changed, only its operands. */
#include "linear.h"

/* Results are not shared between different conditions. Without these limits, a
 * subexpression below many nested conditions could be simplified once for each
 * path. */
enum { FUEL = 5000, FORKS = 256 };

static const struct expr *simp(struct analyser *a, const struct expr *e);

/* Simplifies the expression e, the result of a rewrite, once more, as long as
 * the allowed number of rewrites (fuel) is not used up. */
static const struct expr *
again(struct analyser *a, const struct expr *e)
{
	if (a->fuel <= 0) {
		return e;
	}
	a->fuel--;
	return simp(a, e);
}

static const struct expr *
simplify_var(struct analyser *a, const struct expr *e)
{
	const struct analyser_var *v = analyser_find(a, e->u.var);
	struct bounds b;

	if (!type_is_index(e->type)) {
		return v && v->inlined ? simp(a, v->value) : e;
	}
	if (v && v->value &&
	    (v->inlined || v->value->kind == EXPR_INT ||
	     v->value->kind == EXPR_VAR)) {
		return expr_cast(a->module, e->type, simp(a, v->value));
	}
	if (v && v->extent && expr_is_value(v->extent, 1)) {
		return expr_cast(a->module, e->type, simp(a, v->min));
	}
	if (v || a->sums.n > 0) {
		b = analyse_bounds(a, e);
		if (b.min == b.max && b.min >= dtype_min_int(e->type) &&
		    b.min <= (int64_t)dtype_max_int(e->type)) {
			return expr_int(a->module, e->type, b.min);
		}
	}
	return e;
}

/* Adds x * y to l; neither is a constant. */
static void
add_product(struct analyser *a, const struct expr *x, const struct expr *y,
	    struct linear *out)
{
	struct product p = { .scale = 1 };

	if (!product_add(&p, x) || !product_add(&p, y)) {
		linear_add_term(out, expr_mul(a->module, x, y), 1);
		return;
	}
	linear_add_product(a, out, &p);
}

static const struct expr *
simplify_sum(struct analyser *a, enum expr_kind kind, const struct expr *x,
	     const struct expr *y)
{
	const struct expr *plain = expr_binary(a->module, kind, x, y), *r;
	struct linear l;
	int64_t c;

	if (plain->kind != kind) {
		return plain;
	}
	r = rules_apply(a, plain);
	if (r) {
		return again(a, r);
	}
	linear_init(&l, a);
	if (kind != EXPR_MUL) {
		linear_add_modulo(&l, x, 1);
		linear_add_modulo(&l, y, kind == EXPR_ADD ? 1 : -1);
	} else if (expr_is_int(x, &c)) {
		linear_add_modulo(&l, y, c);
	} else if (expr_is_int(y, &c)) {
		linear_add_modulo(&l, x, c);
	} else {
		add_product(a, x, y, &l);
	}
	if (l.broken) {
		return plain;
	}
	linear_merge_division(a, &l, plain->type);
	linear_fit(&l, plain->type);
	return l.broken ? plain : linear_emit(a, &l, plain->type);
}

static const struct expr *
simplify_extreme(struct analyser *a, enum expr_kind kind, const struct expr *x,
		 const struct expr *y)
{
	const struct expr *plain = expr_binary(a->module, kind, x, y), *r;
	struct linear l;

	if (plain->kind != kind) {
		return plain;
	}
	if (linear_difference(a, x, y, &l)) {
		if (linear_never_positive(a, &l)) {
			return kind == EXPR_MIN ? x : y;
		}
		if (linear_never_negative(a, &l)) {
			return kind == EXPR_MIN ? y : x;
		}
	}
	r = rules_apply(a, plain);
	return r ? again(a, r) : plain;
}

static const struct expr *
simplify_division(struct analyser *a, enum expr_kind kind, const struct expr *x,
		  const struct expr *d)
{
	const struct expr *plain = expr_binary(a->module, kind, x, d);

	if (plain->kind != kind) {
		return plain;
	}
	if (kind == EXPR_DIV || kind == EXPR_TRUNCMOD) {
		if (analyse_bounds(a, x).min < 0 ||
		    analyse_bounds(a, d).min <= 0) {
			return plain;
		}
		kind = kind == EXPR_DIV ? EXPR_FLOORDIV : EXPR_FLOORMOD;
	}
	return simplify_floor(a, kind, x, d);
}

/* Simplifies an expression like e with operands args, which are simplified. */
static const struct expr *
combine(struct analyser *a, const struct expr *e,
	const struct expr *const *args)
{
	const struct expr *r, *rewritten;
	bool changed = false;

	for (int i = 0; i < e->n_args; i++) {
		changed |= args[i] != e->args[i];
	}
	switch (e->kind) {
	case EXPR_ADD:
	case EXPR_SUB:
	case EXPR_MUL:
		if (type_is_index(e->type)) {
			return simplify_sum(a, e->kind, args[0], args[1]);
		}
		break;
	case EXPR_MIN:
	case EXPR_MAX:
		if (type_is_index(e->type)) {
			return simplify_extreme(a, e->kind, args[0], args[1]);
		}
		break;
	case EXPR_DIV:
	case EXPR_TRUNCMOD:
	case EXPR_FLOORDIV:
	case EXPR_FLOORMOD:
		if (type_is_index(e->type)) {
			return simplify_division(a, e->kind, args[0], args[1]);
		}
		break;
	case EXPR_CALL:
		if (e->u.intrin == INTRIN_ABS &&
		    dtype_class(e->type) == DTC_UINT) {
			return args[0];
		}
		break;
	case EXPR_EQ:
	case EXPR_NE:
	case EXPR_LT:
	case EXPR_LE:
	case EXPR_GT:
	case EXPR_GE:
		r = simplify_compare(a, e->kind, args[0], args[1]);
		rewritten = rules_apply(a, r);
		return rewritten ? again(a, rewritten) : r;
	case EXPR_AND:
	case EXPR_OR:
	case EXPR_NOT:
	case EXPR_SELECT:
		r = changed ? expr_rebuild(a->module, e, args) : e;
		rewritten = rules_apply(a, r);
		if (rewritten) {
			return again(a, rewritten);
		}
		if (r->kind == EXPR_AND || r->kind == EXPR_OR) {
			return simplify_logical(a, r->kind, r->args[0],
						r->args[1]);
		}
		return r;
	default:
		break;
	}
	return changed ? expr_rebuild(a->module, e, args) : e;
}

/* Simplifies one of the two values of a conditional expression, under its
 * condition. */
static const struct expr *
simplify_side(struct analyser *a, const struct expr *condition,
	      const struct expr *e)
{
	struct analyser_mark mark = analyser_mark(a);
	const struct expr *r;

	if (e->n_args > 0 && a->forks > 0) {
		a->forks--;
		analyser_assume(a, condition);
	}
	r = simp(a, e);
	analyser_pop(a, mark);
	return r;
}

static const struct expr *
simplify_if(struct analyser *a, const struct expr *e)
{
	const struct expr *c = simp(a, e->args[0]), *x, *y;

	if (c->kind == EXPR_INT) {
		return simp(a, e->args[c->u.ival ? 1 : 2]);
	}
	x = simplify_side(a, c, e->args[1]);
	y = simplify_side(a, expr_not(a->module, c), e->args[2]);
	return expr_if(a->module, c, x, y);
}

static const struct expr *
simplify_reduce(struct analyser *a, const struct expr *e)
{
	struct arena *arena = &a->module->arena;
	const struct reduction *old = e->u.reduce;
	struct reduction *r = arena_copy(arena, old, sizeof *old);
	const struct expr **args = arena_exprs(arena, e->n_args);
	struct analyser_mark mark = analyser_mark(a);

	r->axes = arena_copy(arena, old->axes,
			     sizeof *old->axes * (size_t)old->n_axes);
	for (int i = 0; i < r->n_axes; i++) {
		r->axes[i].min = simp(a, r->axes[i].min);
		r->axes[i].extent = simp(a, r->axes[i].extent);
	}
	if (r->init) {
		const struct expr **init = arena_exprs(arena, r->reducer->n);

		for (int i = 0; i < r->reducer->n; i++) {
			init[i] = simp(a, r->init[i]);
		}
		r->init = init;
	}
	for (int i = 0; i < r->n_axes; i++) {
		analyser_bind(a, r->axes[i].var, r->axes[i].min,
			      r->axes[i].extent);
	}
	if (r->condition) {
		r->condition = simp(a, r->condition);
		if (expr_is_value(r->condition, 1)) {
			r->condition = NULL;
		}
	}
	for (int i = 0; i < e->n_args; i++) {
		args[i] = simp(a, e->args[i]);
	}
	analyser_pop(a, mark);
	return expr_reduce(a->module, r, args, e->n_args);
}

static const struct expr *
fresh(struct analyser *a, const struct expr *e)
{
	const struct expr *few[8], **args = few, *r;
	struct bounds b;

	if (e->kind == EXPR_IF) {
		r = simplify_if(a, e);
	} else if (e->kind == EXPR_REDUCE) {
		r = simplify_reduce(a, e);
	} else {
		if (e->n_args > 8) {
			args = arena_exprs(&a->module->arena, e->n_args);
		}
		for (int i = 0; i < e->n_args; i++) {
			args[i] = simp(a, e->args[i]);
		}
		r = combine(a, e, args);
	}
	if (type_is_index(r->type) && r->kind != EXPR_INT) {
		b = analyse_bounds(a, r);
		if (b.min == b.max && b.min >= dtype_min_int(r->type) &&
		    b.min <= (int64_t)dtype_max_int(r->type)) {
			return expr_int(a->module, r->type, b.min);
		}
	}
	return r;
}

static void
remember(struct analyser *a, const struct expr *e, const struct expr *simple)
{
	struct analyser_entry *entry = analyser_entry(a, e);

	entry->simple = simple;
	entry->simple_version = a->version;
}

static const struct expr *
simp(struct analyser *a, const struct expr *e)
{
	const struct analyser_entry *entry;
	const struct expr *r;

	a->module->quota.steps++;
	if (e->kind == EXPR_VAR) {
		return simplify_var(a, e);
	}
	if (e->n_args == 0) {
		return e;
	}
	entry = analyser_entry(a, e);
	if (entry->simple_version == a->version) {
		return entry->simple;
	}
	r = fresh(a, e);
	remember(a, e, r);
	if (r != e && r->n_args > 0) {
		remember(a, r, r);
	}
	return r;
}

const struct expr *
simplify(struct analyser *a, const struct expr *e)
{
	a->fuel = FUEL;
	a->forks = FORKS;
	return simp(a, e);
}
