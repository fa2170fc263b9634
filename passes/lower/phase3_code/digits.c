/* SPDX-License-Identifier: Apache-2.0 */
/* Binds the original axes of a fused loop to variables: LETs for the fused
 * index and for its mixed-radix digits.
 *
 *   for k_o, k_i:                            for k_o, k_i:
 *       .. x[(k_o * 16 + k_i + 7) // 9 + 1,      k: T.let = k_o * 16 + k_i + 16
 *            (k_o * 16 + k_i + 1) % 3]    ->     ic: T.let = k // 9
 *                                                kw: T.let = k % 3
 *                                                .. x[ic, kw]
 *
 * Before this pass, the simplifier has rewritten each digit separately. So this
 * pass recovers the fused index from the most significant digit, e // size + c
 * = (e + c * size) // size. Another expression is one of the other digits if
 * that digit of the recovered index simplifies to this expression.
 *
 * Needs func->fused: the names and extents of the fused axes. */
#include "lower_passes.h"

#include "access.h"
#include "index_lets.h"
#include "iterate.h"

/* An expression that the function uses, and the lowest statement that contains
 * all of its uses. */
struct use {
	const struct expr *e;
	struct stmt *common;
	/* the axis is used in another way than as the operand of a modulus */
	bool used_directly;
};

struct digits {
	struct func *func;
	struct module *module;
	struct stmt *at; /* the statement whose expressions are collected */
	VEC(struct use) uses;
	/* the variables that this pass has bound */
	VEC(const struct var *) named;
};

/* The number formed by the digits first to last of an axis, and its expression
 * in the function. */
struct part {
	int first, last;
	/* the expression of the digit; NULL if the function contains no
	 * expression that is equal to it */
	const struct expr *value;
};

/* A fused axis that was found in the function: its index, and those of its
 * digits that the function uses. */
struct found {
	const struct fused_axis *axis;
	const struct expr *whole;
	/* the lowest statement that contains all uses of the axis's digits */
	struct stmt *common;
	/* the outermost place around common for a LET of `whole` */
	struct stmt *place;
	struct part *parts; /* the digits, then all runs of digits */
	int n_parts, n_used, n_runs;
	bool named_alike; /* `whole` uses a variable that has the name of the
			   * axis */
	/* the most significant digit is a sum that contains a division, not a
	 * division */
	bool is_sum;
};

/* -- expressions in the function */

/* The lowest common ancestor of x and y, or NULL if a statement below it binds
 * a variable of e. */
static struct stmt *
common_scope(struct stmt *x, struct stmt *y, const struct expr *e)
{
	struct stmt *common = stmt_common(x, y);

	for (int i = 0; i < 2; i++) {
		for (const struct stmt *s = i > 0 ? x : y; s != common;
		     s = s->parent) {
			const struct var *v = s->kind == STMT_FOR
						      ? s->u.loop.var
					      : s->kind == STMT_LET ? s->u.var
								    : NULL;

			if (v != NULL && expr_uses_var(e, v)) {
				return NULL;
			}
		}
	}
	return common;
}

/* The recorded use of e at which the variables of e are the same ones as at the
 * statement `at`; NULL if there is none. */
static struct use *
find_use(struct digits *d, const struct expr *e, struct stmt *at)
{
	for (int i = 0; i < d->uses.n; i++) {
		struct use *use = &d->uses.data[i];

		if (use->e == e && common_scope(use->common, at, e) != NULL) {
			return use;
		}
	}
	return NULL;
}

static bool
is_division(const struct expr *e)
{
	return e->kind == EXPR_FLOORDIV || e->kind == EXPR_FLOORMOD;
}

/* Finds a division by `size` (any division if size is NULL) that is e itself or
 * a term of the sum e; NULL if there is no such division. */
static const struct expr *
division_in(const struct expr *e, const struct expr *size)
{
	const struct expr *found = NULL;

	if (is_division(e)) {
		return size == NULL || (e->kind == EXPR_FLOORDIV &&
					e->args[1] == size)
			       ? e
			       : NULL;
	}
	if (e->kind == EXPR_ADD || e->kind == EXPR_SUB) {
		found = division_in(e->args[0], size);
	}
	if (e->kind == EXPR_ADD && found == NULL) {
		found = division_in(e->args[1], size);
	}
	return found;
}

/* Is e an integer division or modulus, or a sum that contains one? */
static bool
may_be_digit(const struct expr *e)
{
	return dtype_class(e->type) == DTC_INT && e->type.lanes == 1 &&
	       division_in(e, NULL) != NULL && !expr_has_load(e);
}

static void
collect_expr(struct digits *d, const struct expr *e, bool used_directly)
{
	struct use *use, fresh = { e, d->at, used_directly };

	for (int i = 0; i < e->n_args; i++) {
		collect_expr(d, e->args[i], e->kind != EXPR_FLOORMOD);
	}
	if (!may_be_digit(e)) {
		return;
	}
	use = find_use(d, e, d->at);
	if (use != NULL) {
		use->common = stmt_common(use->common, d->at);
		use->used_directly |= used_directly;
	} else {
		vec_push(&d->module->arena, &d->uses, fresh);
	}
}

static void
collect_stmt(struct digits *d, struct stmt *s)
{
	for (int i = 0; s->kind == STMT_LET && i < d->named.n; i++) {
		if (d->named.data[i] == s->u.var) {
			return;
		}
	}
	d->at = s;
	for (int i = 0; i < s->n_args; i++) {
		if (s->args[i] != NULL) {
			collect_expr(d, s->args[i], true);
		}
	}
}

/* -- matching expressions with the digits of an axis */

/* The product of the extents of digits first .. end - 1. */
static const struct expr *
size_of(struct digits *d, struct analyser *a, const struct fused_axis *axis,
	int first, int end)
{
	const struct expr *size = expr_i32(d->module, 1);

	for (int k = first; k < end; k++) {
		size = expr_mul(d->module, size, axis->extents[k]);
	}
	return simplify(a, size);
}

static const struct expr *
part_of(struct digits *d, struct analyser *a, const struct fused_axis *axis,
	const struct part *p, const struct expr *whole)
{
	const struct expr *e = whole;

	if (p->last < axis->n - 1) {
		e = expr_floordiv(d->module, e,
				  size_of(d, a, axis, p->last + 1, axis->n));
	}
	if (p->first > 0) {
		e = expr_floormod(d->module, e,
				  size_of(d, a, axis, p->first, p->last + 1));
	}
	return simplify(a, e);
}

/* Lists all runs of consecutive digits except the whole axis: shorter runs
 * first, from the least significant digit on. */
static struct part *
list_parts(struct digits *d, const struct fused_axis *axis, int *n)
{
	struct part *list = arena_array(&d->module->arena, struct part,
					axis->n * axis->n);

	*n = 0;
	for (int length = 1; length < axis->n; length++) {
		for (int i = axis->n - length; i >= 0; i--) {
			list[(*n)++] = (struct part){ i, i + length - 1, NULL };
		}
	}
	return list;
}

/* Does e use a variable whose name is `name`, or starts with `name` and "_"? */
static bool
uses_name(const struct expr *e, const char *name)
{
	size_t n = strlen(name);
	bool found = false;

	for (struct expr_iter it = expr_each_of(e, EXPR_VAR);
	     (e = expr_next(&it));) {
		found |= strncmp(e->u.var->name, name, n) == 0 &&
			 (e->u.var->name[n] == '\0' ||
			  e->u.var->name[n] == '_');
	}
	return found;
}

static bool
is_in_vector(const struct stmt *s)
{
	for (; s != NULL; s = s->parent) {
		if (s->kind == STMT_FOR && s->u.loop.kind == FOR_VECTORIZED) {
			return true;
		}
	}
	return false;
}

/* Finds the digits of `whole` that the function uses, and fills in *out. False
 * unless, wherever the LETs would be in scope, the expressions found equal the
 * digits, and no condition guards a division in the LETs. */
static bool
match(struct digits *d, const struct fused_axis *axis, const struct expr *whole,
      struct stmt *at, struct found *out)
{
	struct analyser near, a;

	*out = (struct found){ .axis = axis, .whole = whole, .common = at };
	out->parts = list_parts(d, axis, &out->n_parts);
	analyser_at(&near, d->module, at);
	for (int i = 0; i < out->n_parts; i++) {
		struct part *p = &out->parts[i];
		const struct expr *value = part_of(d, &near, axis, p, whole);
		const struct use *use = find_use(d, value, at);

		/* The variables of `whole` must be in scope at the digit's
		 * use. */
		if (use != NULL && use->used_directly &&
		    common_scope(use->common, out->common, whole) != NULL) {
			p->value = value;
			out->common = stmt_common(out->common, use->common);
		}
	}
	out->place = let_place(out->common, whole);
	analyser_at(&a, d->module, out->place);
	for (int i = 0; i < out->n_parts; i++) {
		struct part *p = &out->parts[i];

		if (p->value != NULL &&
		    (part_of(d, &a, axis, p, whole) != p->value ||
		     !expr_is_total(&a, p->value))) {
			p->value = NULL;
		} else if (p->value != NULL) {
			out->n_used += p->first == p->last;
			out->n_runs += p->first < p->last;
		}
	}
	out->named_alike = uses_name(whole, axis->name);
	return out->n_used > (out->named_alike ? 0 : 1) &&
	       expr_is_total(&a, whole) && !let_is_around_kernel(out->place) &&
	       !is_in_vector(out->place);
}

/* The quality of a match. The number of digits in use counts most. If the most
 * significant digit is a sum, the match explains more of the function than one
 * with the division alone. */
static int
score(const struct found *f)
{
	return f->n_used * 8 + f->n_runs * 4 + f->named_alike * 2 + f->is_sum;
}

static void
keep_better(struct found *best, const struct found *f)
{
	if (best->axis == NULL || score(f) > score(best)) {
		*best = *f;
	}
}

/* Is the value of `use` provably in the range of the axis's most significant
 * digit? */
static bool
is_in_range(struct digits *d, const struct fused_axis *axis,
	    const struct use *use)
{
	struct bounds b;
	struct analyser a;
	int64_t extent;

	analyser_at(&a, d->module, use->common);
	b = analyse_bounds(&a, use->e);
	return expr_is_int(axis->extents[0], &extent) && b.min >= 0 &&
	       b.max < extent;
}

/* Tries `use` as the most significant digit, a division by size or a sum with a
 * division: rest + e // size = (rest * size + e) // size. A sum that can leave
 * the digit's range, for example if `rest` is the start of a window, is not a
 * digit. */
static void
try_highest(struct digits *d, const struct fused_axis *axis,
	    const struct use *use, const struct expr *size, struct found *best)
{
	struct module *m = d->module;
	const struct expr *division = division_in(use->e, size), *rest;
	struct analyser a;
	struct found f;
	int64_t c;

	if (division == NULL) {
		return;
	}
	analyser_init(&a, m);
	rest = simplify(&a, expr_sub(m, use->e, division));
	if (!expr_is_int(rest, &c) && !is_in_range(d, axis, use)) {
		return;
	}
	if (match(d, axis,
		  simplify(&a, expr_add(m, expr_mul(m, rest, size),
					division->args[0])),
		  use->common, &f)) {
		f.is_sum = division != use->e;
		keep_better(best, &f);
	}
}

static struct found
find_best(struct digits *d)
{
	struct found best = { 0 }, f;
	struct analyser a;

	analyser_init(&a, d->module);
	for (int k = 0; k < d->func->fused.n; k++) {
		const struct fused_axis *axis = &d->func->fused.data[k];
		const struct expr *size = size_of(d, &a, axis, 1, axis->n);

		for (int i = 0; i < d->uses.n; i++) {
			const struct use *use = &d->uses.data[i];

			try_highest(d, axis, use, size, &best);
			if (use->e->kind == EXPR_FLOORMOD &&
			    use->e->args[1] == axis->extents[axis->n - 1] &&
			    match(d, axis, use->e->args[0], use->common, &f)) {
				keep_better(&best, &f);
			}
		}
	}
	return best;
}

/* -- names */

static const char *
part_name(struct digits *d, const struct fused_axis *axis, const struct part *p)
{
	const char *name = axis->digits[p->first];

	for (int i = p->first + 1; i <= p->last; i++) {
		name = arena_printf(&d->module->arena, "%s_%s", name,
				    axis->digits[i]);
	}
	return name;
}

static bool
is_free(struct digits *d, struct stmt *at, const char *name)
{
	return strcmp(let_name(d->func, at, name, "_"), name) == 0;
}

/* The name for a digit: `name`, or `name` with "_pos" if an array is called
 * `name` ("w_pos" beside the weights w). */
static const char *
free_name(struct digits *d, struct stmt *at, const char *name)
{
	return is_free(d, at, name) ? name
				    : let_name(d->func, at,
					       arena_printf(&d->module->arena,
							    "%s_pos", name),
					       "_");
}

/* The place of the LETs: the outermost possible place if none of their names is
 * used there, else a place next to the uses. */
static struct stmt *
choose_place(struct digits *d, const struct found *f)
{
	bool free = f->whole->kind == EXPR_VAR ||
		    is_free(d, f->place, f->axis->name);

	for (int i = 0; i < f->n_parts && free; i++) {
		free = f->parts[i].value == NULL ||
		       is_free(d, f->place,
			       part_name(d, f->axis, &f->parts[i]));
	}
	return free ? f->place : f->common;
}

/* Binds the digits, the runs of digits and `whole` to variables. Each LET is
 * put around the LETs made before it: a digit may use the variable of a run,
 * and all of them may use that of `whole`. */
static void
bind_digits(struct digits *d, const struct found *f)
{
	const struct fused_axis *axis = f->axis;
	struct stmt *at = choose_place(d, f);
	const struct expr *whole = f->whole;
	struct var *k = NULL;
	struct analyser a;

	analyser_at(&a, d->module, at);
	if (whole->kind != EXPR_VAR) {
		k = var_new(d->module, free_name(d, at, axis->name),
			    whole->type);
		analyser_bind_value(&a, k, whole);
		whole = k->expr;
	}
	for (int i = 0; i < f->n_parts; i++) {
		const struct part *p = &f->parts[i];
		struct var *v;

		if (p->value == NULL) {
			continue;
		}
		v = var_new(d->module, free_name(d, at, part_name(d, axis, p)),
			    p->value->type);
		vec_push(&d->module->arena, &d->named, v);
		stmt_replace_expr(d->func, at, p->value, v->expr);
		at = let_wrap(d->func, at, v, part_of(d, &a, axis, p, whole));
	}
	if (k != NULL) {
		stmt_replace_expr(d->func, at, f->whole, whole);
		let_wrap(d->func, at, k, f->whole);
	}
}

bool
lower_digits(struct func *f)
{
	enum { LIMIT = 50 };
	struct digits d = { .func = f, .module = f->module };

	for (int i = 0; i < LIMIT && f->fused.n > 0; i++) {
		struct stmt_iter it = stmt_each(f->body);
		struct found best;
		struct stmt *s;

		d.uses.n = 0;
		while ((s = stmt_next(&it)) != NULL) {
			collect_stmt(&d, s);
		}
		best = find_best(&d);
		if (best.axis == NULL) {
			break;
		}
		bind_digits(&d, &best);
	}
	return true;
}
