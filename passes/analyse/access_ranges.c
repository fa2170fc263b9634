/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of indices. One walk gives the analyser the facts around each access:
 *
 * 	for oh in 0..8, kh in 0..3:
 * 	    ih = oh + kh - 1                    # [-1, 8]
 * 	    if ih >= 0 and ih < 8:
 * 	        ... x[ih, 0]                    # [0, 7], [0, 0]
 *
 * If the analyser proves nothing, a second analyser tries, in which LETs are
 * replaced by their values. */
#include "access_ranges.h"

/* The depth of nested conditional expressions in an index up to which each case
 * is analysed separately. */
enum { MOST_CASES = 4 };

struct ranging {
	struct analyser an;
	struct analyser expanded; /* knows no LETs */
	/* the LETs around the access, and their values without LETs */
	VEC(struct var *) lets;
	VEC(const struct expr *) values;
	struct arena *arena;
	struct stmt *at;
	struct access_ranges out;
	/* the element whose address a call takes, while the call is visited */
	const struct expr *addressed;
	bool fills; /* the call writes through the address */
};

/* -- one index -- */

/* The first and the last value of the index e. For a vector, these are the
 * values in its first and last lane: false if its lanes do not have a constant
 * step. */
static bool
ends_of(struct ranging *r, const struct expr *e, const struct expr **first,
	const struct expr **last)
{
	struct module *m = r->an.module;
	int64_t step;

	*first = *last = e;
	if (e->kind == EXPR_BROADCAST) {
		*first = *last = e->args[0];
	} else if (e->kind == EXPR_RAMP) {
		if (!expr_is_int(e->args[1], &step)) {
			return false;
		}
		*first = e->args[0];
		*last = expr_add(m, e->args[0],
				 expr_int(m, e->args[0]->type,
					  step * (e->type.lanes - 1)));
		if (step < 0) {
			const struct expr *swap = *first;

			*first = *last;
			*last = swap;
		}
	}
	return (*first)->type.lanes <= 1;
}

/* The expression e, with the variables of the LETs around the current statement
 * replaced by their values. */
static const struct expr *
expand(struct ranging *r, const struct expr *e)
{
	const struct var_map map = { r->lets.data, r->values.data, r->lets.n };

	return r->lets.n > 0 ? expr_substitute(r->an.module, e, &map) : e;
}

/* Is first >= 0 and last < extent? */
static bool
is_within(struct analyser *a, const struct expr *first, const struct expr *last,
	  const struct expr *extent)
{
	struct module *m = a->module;

	return prove(a, expr_le(m, expr_int(m, first->type, 0), first)) &&
	       prove(a, expr_lt(m, last, expr_cast(m, last->type, extent)));
}

/* The bounds of an index e. If e is a conditional expression: the bounds of
 * both of its values, each under its condition. */
static struct bounds
bounds_by_cases(struct analyser *a, const struct expr *e, int depth)
{
	struct analyser_mark mark = analyser_mark(a);
	struct bounds x, y;

	if ((e->kind != EXPR_SELECT && e->kind != EXPR_IF) || depth == 0) {
		return analyse_tight_bounds(a, e);
	}
	analyser_assume(a, e->args[0]);
	x = bounds_by_cases(a, e->args[1], depth - 1);
	analyser_pop(a, mark);
	analyser_assume(a, expr_not(a->module, e->args[0]));
	y = bounds_by_cases(a, e->args[2], depth - 1);
	analyser_pop(a, mark);
	return (struct bounds){ x.min < y.min ? x.min : y.min,
				x.max > y.max ? x.max : y.max };
}

/* Narrows x->bounds and sets x->is_within by what the second analyser
 * (r->expanded) proves of an index from `first` to `last` in a dimension of
 * `size`. */
static void
prove_expanded(struct ranging *r, const struct expr *first,
	       const struct expr *last, int64_t size, struct index_range *x)
{
	struct analyser *a = &r->expanded;

	first = simplify(a, expand(r, first));
	last = simplify(a, expand(r, last));
	x->bounds =
		bounds_meet(x->bounds,
			    (struct bounds){
				    bounds_by_cases(a, first, MOST_CASES).min,
				    bounds_by_cases(a, last, MOST_CASES).max });
	x->is_within = (size >= 0 && x->bounds.min >= 0 &&
			x->bounds.max < size) ||
		       is_within(a, first, last, expand(r, x->extent));
}

static struct index_range
range_of(struct ranging *r, const struct expr *e, const struct expr *extent)
{
	struct index_range x = { .bounds = { BOUND_NEG_INF, BOUND_POS_INF },
				 .extent = extent,
				 .is_data = holds_data(&r->an, e) };
	const struct expr *first, *last;
	int64_t size = -1;
	bool fixed = expr_is_int(extent, &size);

	if (!ends_of(r, e, &first, &last)) {
		return x;
	}
	x.bounds = (struct bounds){ analyse_bounds(&r->an, first).min,
				    analyse_bounds(&r->an, last).max };
	if (fixed && x.bounds.min >= 0 && x.bounds.max < size) {
		x.is_within = true;
		return x;
	}
	x.is_within = is_within(&r->an, first, last, extent);
	if (!x.is_within) {
		prove_expanded(r, first, last, fixed ? size : -1, &x);
	}
	if (x.is_within) {
		x.bounds = bounds_meet(x.bounds,
				       (struct bounds){
					       0, fixed ? size - 1
							: BOUND_POS_INF });
	}
	return x;
}

static void
add_access(struct ranging *r, struct access a)
{
	const struct buffer *b = a.buffer;
	struct index_range *index = arena_array(r->arena, struct index_range,
						b->ndim + 1);
	struct access_range one = { a, index };

	for (int d = 0; d < b->ndim; d++) {
		index[d] = range_of(r, a.index[d], b->shape[d]);
	}
	vec_push(r->arena, &r->out.list, one);
}

/* -- expressions -- */

static void
add_load(struct ranging *r, const struct expr *e)
{
	bool address = r->addressed == e;

	add_access(r, (struct access){ .buffer = e->u.buffer,
				       .at = r->at,
				       .load = e,
				       .index = e->args,
				       .address = address,
				       .fills = address && r->fills });
}

/* Does a condition within e decide whether a load is evaluated? */
static bool
has_conditions(const struct expr *e)
{
	bool found = false;
	const struct expr *x;

	for (struct expr_iter it = expr_each(e); (x = expr_next(&it));) {
		found |= expr_is_lazy(x);
	}
	return found && expr_has_load(e);
}

static void visit(struct ranging *r, const struct expr *e);

static void
assume_both(struct ranging *r, const struct expr *condition)
{
	analyser_assume(&r->an, condition);
	analyser_assume(&r->expanded, expand(r, condition));
}

static void
visit_under(struct ranging *r, const struct expr *condition,
	    const struct expr *e)
{
	struct analyser_mark mark = analyser_mark(&r->an);
	struct analyser_mark other = analyser_mark(&r->expanded);

	assume_both(r, condition);
	visit(r, e);
	analyser_pop(&r->an, mark);
	analyser_pop(&r->expanded, other);
}

/* Visits the arguments of a lazy expression: argument 0, which is always
 * evaluated, and each other argument under the condition under which it is
 * evaluated. */
static void
visit_lazy(struct ranging *r, const struct expr *e)
{
	const struct expr *c = e->args[0];

	visit(r, c);
	if (e->kind == EXPR_OR) {
		visit_under(r, expr_not(r->an.module, c), e->args[1]);
	} else if (e->n_args > 1) {
		visit_under(r, c, e->args[1]);
	}
	if (e->n_args > 2) {
		visit_under(r, expr_not(r->an.module, c), e->args[2]);
	}
}

static void
visit_call(struct ranging *r, const struct expr *e)
{
	for (int i = 0; i < e->n_args; i++) {
		visit(r, e->args[i]);
	}
}

static void
visit_address(struct ranging *r, const struct expr *load, bool fills)
{
	r->addressed = load;
	r->fills = fills;
	visit(r, load);
	r->addressed = NULL;
}

/* Visits all loads in an expression without conditions, each once. */
static void
visit_plain(struct ranging *r, const struct expr *e)
{
	for (struct expr_iter it = expr_each_of(e, EXPR_LOAD);
	     (e = expr_next(&it));) {
		add_load(r, e);
	}
}

static void
visit(struct ranging *r, const struct expr *e)
{
	if (e->kind == EXPR_CALL && intrin_is_address(e->u.intrin)) {
		visit_address(r, e->args[0], false);
	} else if (e->kind == EXPR_CALL && e->u.intrin == INTRIN_COPY_BOX) {
		visit_address(r, e->args[0]->args[0], true);
		for (int i = 1; i < e->n_args; i++) {
			visit(r, e->args[i]);
		}
	} else if (e->kind == EXPR_CALL) {
		visit_call(r, e);
	} else if (has_conditions(e)) {
		if (expr_is_lazy(e)) {
			visit_lazy(r, e);
			return;
		}
		for (int i = 0; i < e->n_args; i++) {
			visit(r, e->args[i]);
		}
		if (e->kind == EXPR_LOAD) {
			add_load(r, e);
		}
	} else if (expr_has(e, EXPR_CALL)) {
		/* the address of an element may be an argument of a call */
		for (int i = 0; i < e->n_args; i++) {
			visit(r, e->args[i]);
		}
		if (e->kind == EXPR_LOAD) {
			add_load(r, e);
		}
	} else {
		visit_plain(r, e);
	}
}

/* -- statements -- */

static void walk(struct ranging *r, struct stmt *s);

static void
enter_let(struct ranging *r, const struct stmt *s)
{
	analyser_bind_value(&r->an, s->u.var, s->args[0]);
	if (expr_has_load(s->args[0]) || !dtype_is_int(s->args[0]->type)) {
		analyser_bind_value(&r->expanded, s->u.var, s->args[0]);
		return;
	}
	vec_push(r->arena, &r->values, expand(r, s->args[0]));
	vec_push(r->arena, &r->lets, s->u.var);
}

/* Gives the analysers the facts for child i of s. */
static void
enter(struct ranging *r, const struct stmt *s, int i)
{
	if (s->kind == STMT_FOR) {
		analyser_bind(&r->an, s->u.loop.var, s->args[0], s->args[1]);
		analyser_bind(&r->expanded, s->u.loop.var,
			      expand(r, s->args[0]), expand(r, s->args[1]));
	} else if (s->kind == STMT_LET) {
		enter_let(r, s);
	} else if (s->kind == STMT_IF && i > 0) {
		assume_both(r, expr_not(r->an.module, s->args[0]));
	} else if (s->kind == STMT_IF || s->kind == STMT_WHILE) {
		assume_both(r, s->args[0]);
	}
}

static void
walk_child(struct ranging *r, struct stmt *s, int i)
{
	struct analyser_mark mark = analyser_mark(&r->an);
	struct analyser_mark other = analyser_mark(&r->expanded);
	int n_lets = r->lets.n;

	if (s->children[i] == NULL) {
		return;
	}
	enter(r, s, i);
	walk(r, s->children[i]);
	r->lets.n = r->values.n = n_lets;
	analyser_pop(&r->an, mark);
	analyser_pop(&r->expanded, other);
}

static void
walk(struct ranging *r, struct stmt *s)
{
	r->at = s;
	for (int i = 0; i < s->n_args; i++) {
		if (s->args[i] != NULL) {
			visit(r, s->args[i]);
		}
	}
	if (s->kind == STMT_STORE) {
		add_access(r, (struct access){ .buffer = s->u.buffer,
					       .at = s,
					       .index = s->args + 1,
					       .fills = true });
	}
	for (int i = 0; i < s->n_children; i++) {
		walk_child(r, s, i);
	}
}

struct access_ranges
access_ranges_of(const struct func *f)
{
	struct ranging r = { .arena = &f->module->arena };

	analyser_init(&r.an, f->module);
	analyser_init(&r.expanded, f->module);
	walk(&r, f->body);
	return r.out;
}
