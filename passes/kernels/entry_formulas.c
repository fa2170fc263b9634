/* SPDX-License-Identifier: Apache-2.0 */
/* Formulas of sizes that may leave int64. The bounds of a formula are those of
 * integers without a largest number, but the emitted code computes the formula
 * in 64 bits. Where the bounds of the sizes allow a part of a formula to leave
 * int64, the entry function makes a check before the part is computed:
 *
 *	before	T.min(n * m, 9), n and m from 0 to 2^40
 *	after	checks: n <= (2^63 - 2) // T.max(m, 1)
 *
 * The formulas are in the shapes, in tensors whose elements are sizes, in the
 * conditions that are checked, and in the kernels, where lowering may have
 * changed them. Parts come before the formulas that contain them, so that a
 * check computes only parts that checks before it allow. */
#include "entry.h"

#include "bounds.h"
#include "iterate.h"

/* The largest magnitude that a part of a formula may have: the part, its
 * negative and the numbers next to both are in int64. */
#define PART_MAX (INT64_MAX - 1)

/* An expression that is computed from sizes alone. */
struct part {
	/* the part as an expression over the variables of the entry function,
	 * with each operation in 64 bits */
	const struct expr *wide;
	struct bounds span;
	/* no operation in the 32-bit expression exceeds 32 bits */
	bool fits;
};

struct formulas {
	struct entry *e;
	struct module *m;
	/* by expression and by variable: the index of its entry in `part` */
	struct pointer_map parts;
	VEC(struct part) part;
	struct pointer_map noted; /* conditions */
	VEC(struct size_check) checks;
	/* The expressions that are being added are sizes. If not, they may be
	 * data, whose casts may drop bits. */
	bool sizes;
	bool contradiction;
};

/* The part of an expression or of a variable; NULL if its value depends on more
 * than sizes. The pointer is valid until a part is added. */
static const struct part *
part_of(const struct formulas *x, const void *key)
{
	int i = pointer_map_get(&x->parts, key, -1);

	return i >= 0 ? &x->part.data[i] : NULL;
}

static void
add_part(struct formulas *x, const void *key, struct part p)
{
	pointer_map_put(&x->parts, key, x->part.n);
	vec_push(&x->m->arena, &x->part, p);
}

static const struct expr *
number(const struct formulas *x, int64_t v)
{
	return expr_int(x->m, dtype_of(DT_I64), v);
}

/* -- checks -- */

static void
check(struct formulas *x, const struct expr *condition)
{
	int64_t v;

	if (expr_is_int(condition, &v)) {
		x->contradiction |= v == 0;
		return;
	}
	if (pointer_map_add(&x->noted, condition)) {
		vec_push(&x->m->arena, &x->checks,
			 ((struct size_check){ .condition = condition }));
	}
}

/* An expression: the larger one of `least` and the value of part p, or, if
 * `negative` is set, of its negative value. */
static const struct expr *
at_least(const struct formulas *x, const struct part *p, bool negative,
	 int64_t least)
{
	const struct expr *e = negative ? expr_sub(x->m, number(x, 0), p->wide)
					: p->wide;
	int64_t min = negative ? -p->span.max : p->span.min;

	return min >= least ? e : expr_max(x->m, e, number(x, least));
}

/* An expression for the larger of `least` and the magnitude of p's value. */
static const struct expr *
magnitude(const struct formulas *x, const struct part *p, int64_t least)
{
	if (p->span.min >= 0) {
		return at_least(x, p, false, least);
	}
	if (p->span.max <= 0) {
		return at_least(x, p, true, least);
	}
	return expr_max(x->m, at_least(x, p, false, least),
			at_least(x, p, true, least));
}

/* Adds checks that a + b (if `minus` is set, a - b) fits in int64: one check
 * for each end of the bounds `span` of the result that does not fit. */
static void
check_sum(struct formulas *x, const struct part *a, const struct part *b,
	  bool minus, struct bounds span)
{
	struct module *m = x->m;

	if (span.max > PART_MAX) {
		check(x, expr_le(m, a->wide,
				 expr_sub(m, number(x, PART_MAX),
					  at_least(x, b, minus, 0))));
	}
	if (span.min < -PART_MAX) {
		check(x, expr_le(m,
				 expr_sub(m, at_least(x, b, !minus, 0),
					  number(x, PART_MAX)),
				 a->wide));
	}
}

static void
check_product(struct formulas *x, const struct part *a, const struct part *b)
{
	struct module *m = x->m;

	check(x, expr_le(m, magnitude(x, a, 0),
			 expr_binary(m, EXPR_DIV, number(x, PART_MAX),
				     magnitude(x, b, 1))));
}

/* Adds checks that the value of a, converted to the type `to`, fits in it: one
 * check for each end of a's bounds that does not fit. */
static void
check_cast(struct formulas *x, const struct part *a, struct dtype to)
{
	int64_t min = dtype_min_int(to), max = (int64_t)dtype_max_int(to);

	if (a->span.max > max) {
		check(x, expr_le(x->m, a->wide, number(x, max)));
	}
	if (a->span.min < min) {
		check(x, expr_le(x->m, number(x, min), a->wide));
	}
}

/* -- parts -- */

/* Is t a type of sizes? Operations of 32 bits are widened where that is
 * needed. */
static bool
is_index(struct dtype t)
{
	return dtype_class(t) == DTC_INT && dtype_bits(t) >= 32 && t.lanes == 1;
}

static struct bounds
span_of(void *state, const struct expr *e)
{
	return part_of(state, e)->span;
}

/* Adds the checks that e, an operation on parts, stays in int64. Returns the
 * bounds of e if they hold. */
static struct bounds
check_operation(struct formulas *x, const struct expr *e)
{
	struct bounds span = bounds_of_operation(e, span_of, x);
	const struct part *a = part_of(x, e->args[0]);
	const struct part *b = e->n_args > 1 ? part_of(x, e->args[1]) : NULL;
	bool fits = span.min >= -PART_MAX && span.max <= PART_MAX;

	switch (e->kind) {
	case EXPR_ADD:
	case EXPR_SUB:
		check_sum(x, a, b, e->kind == EXPR_SUB, span);
		break;
	case EXPR_MUL:
		if (!fits) {
			check_product(x, a, b);
		}
		break;
	case EXPR_CAST:
		if (x->sizes && is_index(e->args[0]->type)) {
			check_cast(x, a, e->type);
		}
		break;
	default:
		return span;
	}
	return bounds_meet(span, (struct bounds){ -PART_MAX, PART_MAX });
}

static const struct expr *
widened(const struct formulas *x, const struct expr *e)
{
	const struct expr **args = arena_exprs(&x->m->arena, e->n_args + 1);

	if (e->kind == EXPR_CAST && is_index(e->type) &&
	    is_index(e->args[0]->type)) {
		return part_of(x, e->args[0])->wide;
	}
	for (int i = 0; i < e->n_args; i++) {
		args[i] = part_of(x, e->args[i])->wide;
	}
	return expr_rebuild(x->m, e, args);
}

/* Can an expression of this kind be a part (be computed from sizes alone) if
 * its arguments are? */
static bool
may_be_part(const struct expr *e)
{
	switch (e->kind) {
	case EXPR_CALL:
		return intrin_is_pure(e->u.intrin) && !is_index(e->type);
	case EXPR_CAST:
	case EXPR_SELECT:
	case EXPR_IF:
	case EXPR_NOT:
		return true;
	default:
		return e->kind >= EXPR_ADD && e->kind <= EXPR_OR;
	}
}

/* Adds e, whose arguments have been added, if it is an expression of sizes. */
static void
add(struct formulas *x, const struct expr *e)
{
	struct part p = { .wide = e, .fits = true };

	if (part_of(x, e) != NULL || e->type.lanes != 1) {
		return;
	}
	if (e->kind == EXPR_INT || e->kind == EXPR_FLOAT) {
		p.span = bounds_of_operation(e, span_of, x);
		p.wide = is_index(e->type) ? number(x, e->u.ival) : e;
	} else if (e->kind == EXPR_VAR) {
		const struct part *value = part_of(x, e->u.var);

		if (value == NULL) {
			return;
		}
		p = *value;
	} else {
		if (!may_be_part(e) || e->n_args == 0) {
			return;
		}
		for (int i = 0; i < e->n_args; i++) {
			const struct part *a = part_of(x, e->args[i]);

			if (a == NULL) {
				return;
			}
			p.fits &= a->fits;
		}
		p.span = is_index(e->type) ? check_operation(x, e)
					   : bounds_of_operation(e, span_of, x);
		p.wide = widened(x, e);
		p.fits &= !is_index(e->type) || dtype_bits(e->type) > 32 ||
			  (p.span.min >= INT32_MIN && p.span.max <= INT32_MAX);
	}
	add_part(x, e, p);
}

static void
add_all(struct formulas *x, const struct expr *const *list, int n)
{
	struct tree_iter it = exprs_each(list, n);
	const struct expr *e;

	while ((e = tree_next(&it)) != NULL) {
		add(x, e);
	}
}

static void
add_tensor(struct formulas *x, const struct tensor *t)
{
	add_all(x, t->shape, t->ndim);
	if (t->elems != NULL) {
		add_all(x, t->elems, t->n_elems);
	}
}

/* -- the formulas of a compiled model -- */

/* Records a size v of the model, cast to 64 bits, as a part of formulas, with
 * the bounds of v. */
static void
add_size(struct formulas *x, const struct var *v)
{
	struct part p = {
		.wide = expr_cast(x->m, dtype_of(DT_I64), v->expr),
		.span = { v->min, v->max },
		.fits = true,
	};

	add_part(x, v, p);
}

static void
add_sizes(struct formulas *x)
{
	const struct graph *g = x->e->p->graph;

	for (int i = 0; i < g->dims.n; i++) {
		add_size(x, g->dims.data[i]);
	}
	for (int i = 0; i < g->run_sizes.n; i++) {
		add_size(x, g->run_sizes.data[i].var);
	}
}

static void
add_tensors(struct formulas *x)
{
	const struct graph *g = x->e->p->graph;

	x->sizes = true;
	for (int i = 0; i < g->inputs.n; i++) {
		add_tensor(x, g->inputs.data[i]);
	}
	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];

		for (int k = 0; k < n->n_inputs; k++) {
			if (n->inputs[k] != NULL) {
				add_tensor(x, n->inputs[k]);
			}
		}
		for (int k = 0; k < n->n_outputs; k++) {
			if (n->outputs[k] != NULL) {
				add_tensor(x, n->outputs[k]);
			}
		}
	}
	x->sizes = false;
}

/* Replaces the conditions that are checked: their operations are 64 bits wide
 * where 32 do not suffice. */
static void
add_conditions(struct formulas *x)
{
	struct graph *g = x->e->p->graph;

	for (int i = 0; i < g->checks.n; i++) {
		struct size_check *c = &g->checks.data[i];

		add_all(x, &c->condition, 1);
		c->condition = entry_wide(x->e, c->condition);
	}
}

/* Adds the formulas in the function of kernel k. The function's parameters
 * stand for the sizes that k passes: several kernels may have one function. */
static void
add_kernel(struct formulas *x, const struct kernel *k)
{
	struct pointer_map outside = x->parts;
	const struct func *f = k->func;
	struct tree_iter it;
	const struct expr *e;
	bool any = false;

	pointer_map_init(&x->parts, &x->m->arena);
	for (int i = 0; i < k->args.n; i++) {
		int p = k->args.data[i].kind != ARG_DIM
				? -1
				: pointer_map_get(&outside, k->args.data[i].var,
						  -1);

		if (p >= 0) {
			pointer_map_put(&x->parts, f->params.data[i].var, p);
			any = true;
		}
	}
	for (int i = 0; any && i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;

		if (b != NULL) {
			add_all(x, b->shape, b->ndim);
		}
	}
	for (it = tree_each(any ? f->body : NULL);
	     (e = tree_next(&it)) != NULL;) {
		add(x, e);
		if (it.at->kind == STMT_LET && e == it.at->args[0] &&
		    part_of(x, e) != NULL) {
			add_part(x, it.at->u.var, *part_of(x, e));
		}
	}
	x->parts = outside;
}

const struct expr *
entry_wide(const struct entry *e, const struct expr *of)
{
	const struct part *p = e->formulas != NULL ? part_of(e->formulas, of)
						   : NULL;

	return p != NULL && !p->fits ? p->wide : of;
}

bool
entry_check_formulas(struct entry *e)
{
	struct graph *g = e->p->graph;
	struct formulas *x = arena_new(&e->m->arena, struct formulas);

	if (g->dims.n + g->run_sizes.n == 0) {
		return true;
	}
	x->e = e;
	x->m = e->m;
	pointer_map_init(&x->parts, &e->m->arena);
	pointer_map_init(&x->noted, &e->m->arena);
	e->formulas = x;
	add_sizes(x);
	add_tensors(x);
	add_conditions(x);
	for (int i = 0; i < e->p->kernels.n; i++) {
		add_kernel(x, e->p->kernels.data[i]);
	}
	for (int i = 0; i < g->checks.n; i++) {
		vec_push(&e->m->arena, &x->checks, g->checks.data[i]);
	}
	g->checks.n = 0;
	for (int i = 0; i < x->checks.n; i++) {
		vec_push(&e->m->arena, &g->checks, x->checks.data[i]);
	}
	return !x->contradiction ||
	       diag_error(
		       &e->m->diags, DIAG_TOO_LARGE,
		       (struct diag_place){ .file = g->file },
		       "a formula of sizes leaves 64 bits for all sizes that are "
		       "allowed; correct it, or the bounds of --dim");
}
