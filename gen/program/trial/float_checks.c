/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses whose place depends on floats:
 *
 * k: T.int32 = T.Cast("int32", x[i] * y[i])     # k depends on floats
 * B[i] = A[k]                                   # refused
 * B[i] = A[T.max(T.min(k, 15), 0)]              # proven
 *
 * The last digits of a float depend on the compiler. So an index that was
 * inside of its array in the interpreter may be outside in the compiled source.
 * For the functions of a source, this file
 *
 * 1. finds the integers that depend on floats (float_flow.c);
 * 2. proves of each access whose index is such an integer, or which is guarded
 * by a condition on one, that it is inside of its array.
 *
 * All other accesses are the same in each run on the same arrays, so that the
 * interpreter's run has already checked them. */
#include "float_checks.h"

#include "analyse.h"
#include "float_flow.h"
#include "interp.h"
#include "iterate.h"
#include "value_range.h"

/* The number of visited expressions of a function after which the proof is
 * given up. */
enum { MOST_VISITS = 1000000 };

struct proving {
	struct flow *w;
	const struct part *part;
	/* the function is the checked one, whose scalars have the given
	 * values */
	bool is_first;
	struct analyser a;
	struct value_ranges ranges;
	/* for each expression that is not known: the variable that stands for
	 * its value */
	struct memo unknown;
	struct memo lets; /* for each variable of a LET: its value */
	const struct stmt *at;
	int visits;
	bool ok;
};

/* A variable with the range from min to max that stands for the unknown value
 * of e. Each e has one such variable. */
static const struct expr *
unknown(struct proving *p, const struct expr *e, struct bounds range)
{
	struct memo_entry *known = memo_get(&p->unknown, e);
	struct var *v;

	if (known != NULL) {
		return ((const struct var *)known->value)->expr;
	}
	v = var_new(p->w->m, "unknown", e->type);
	v->min = range.min;
	v->max = range.max;
	memo_put(&p->unknown, e, v);
	return v->expr;
}

static struct bounds
type_range(struct dtype t)
{
	return dtype_is_int(t) ? value_range_of_type(t)
			       : (struct bounds){ 0, 1 };
}

static bool
is_known_within(struct bounds x, struct bounds y)
{
	return x.min != BOUND_NEG_INF && x.max != BOUND_POS_INF &&
	       bounds_within(x, y);
}

/* Returns e if its value fits in its type, so that e does not wrap; else a
 * variable that stands for e. of: an expression with the value that e would
 * have without wrapping. */
static const struct expr *
if_it_fits(struct proving *p, const struct expr *e, const struct expr *of)
{
	struct bounds all = type_range(e->type);

	return is_known_within(analyse_bounds(&p->a, of), all)
		       ? e
		       : unknown(p, e, all);
}

/* May the function change the element that e loads? */
static bool
may_change(struct proving *p, const struct expr *e)
{
	return func_writes(p->part->f, e->u.buffer) ||
	       func_calls(p->part->f, INTRIN_CALL_FUNC) ||
	       func_calls(p->part->f, INTRIN_CALL_EXTERN);
}

/* A variable for the element that e loads. If the interpreter has seen the
 * element being written, the variable has the range of the values that are
 * stored to the array; else the range of the type. */
static const struct expr *
element(struct proving *p, const struct expr *e, bool control)
{
	bool seen = !control && !any_rounded(p->w, e->args, e->n_args) &&
		    !has_mark(p->w, e->u.buffer->data, MARK_MAYBE);
	struct bounds range = type_range(e->type);
	struct var *v;

	if (!may_change(p, e)) {
		return unknown(p, e, range);
	}
	if (seen && dtype_is_int(e->type)) {
		range = value_range_of_buffer(&p->ranges, e->u.buffer).range;
	}
	v = var_new(p->w->m, "element", e->type);
	v->min = range.min;
	v->max = range.max;
	return v->expr;
}

static const struct expr *exact(struct proving *p, struct memo *done,
				const struct expr *e, bool control);

static const struct expr *
exact_call(struct proving *p, struct memo *done, const struct expr *e,
	   bool control)
{
	struct bounds range = type_range(e->type);
	int64_t mask;

	if (e->u.intrin == INTRIN_LIKELY) {
		return exact(p, done, e->args[0], control);
	}
	if (e->u.intrin == INTRIN_BITAND && expr_is_int(e->args[1], &mask) &&
	    mask >= 0) {
		range = (struct bounds){ 0, mask };
	}
	/* the result changes if the elements from which it is computed
	 * change */
	if (!intrin_is_pure(e->u.intrin) || expr_has(e, EXPR_LOAD)) {
		struct var *v = var_new(p->w->m, "result", e->type);

		v->min = range.min;
		v->max = range.max;
		return v->expr;
	}
	return unknown(p, e, range);
}

/* The value of a variable. In the first function, a scalar has the value that
 * was given for it. In another function, the interpreter has checked that a
 * parameter is within its declared bounds; but a parameter that depends on
 * floats may be outside of them in the compiled source. */
static const struct expr *
exact_var(struct proving *p, const struct expr *e)
{
	if (p->is_first) {
		return expr_substitute(p->w->m, e, &p->w->of->values);
	}
	return func_has_var(p->part->f, e->u.var) &&
			       (p->part->control ||
				has_mark(p->w, e->u.var, MARK_FLOAT))
		       ? unknown(p, e, type_range(e->type))
		       : e;
}

static const struct expr *
exact_kind(struct proving *p, struct memo *done, const struct expr *e,
	   bool control)
{
	const struct expr *x, *args[3] = { NULL };
	int64_t divisor;

	if (e->n_args > 3 || e->kind == EXPR_CALL || e->kind == EXPR_LOAD) {
		return e->kind == EXPR_LOAD ? element(p, e, control)
		       : e->kind == EXPR_CALL
			       ? exact_call(p, done, e, control)
			       : unknown(p, e, type_range(e->type));
	}
	for (int i = 0; i < e->n_args; i++) {
		if (dtype_is_float(e->args[i]->type)) {
			struct var *v = var_new(p->w->m, "rounded", e->type);
			struct bounds range = type_range(e->type);

			v->min = range.min;
			v->max = range.max;
			return v->expr;
		}
		args[i] = exact(p, done, e->args[i], control);
	}
	x = e->n_args > 0 ? expr_rebuild(p->w->m, e, args) : e;
	switch (e->kind) {
	case EXPR_VAR:
		return exact_var(p, e);
	case EXPR_ADD:
	case EXPR_SUB:
	case EXPR_MUL:
		return if_it_fits(p, x, x);
	case EXPR_CAST:
		return if_it_fits(p, x, args[0]);
	case EXPR_DIV:
	case EXPR_TRUNCMOD:
	case EXPR_FLOORDIV:
	case EXPR_FLOORMOD:
		return expr_is_int(args[1], &divisor) && divisor > 0
			       ? x
			       : unknown(p, x, type_range(x->type));
	default:
		return x;
	}
}

/* Rewrites e for the analyser, which assumes that integers do not wrap and that
 * an element has the same value at each use: expressions that may wrap or
 * change become variables. */
static const struct expr *
exact(struct proving *p, struct memo *done, const struct expr *e, bool control)
{
	const struct memo_entry *known = memo_get(done, e);
	const struct expr *x;

	if (known != NULL) {
		return known->value;
	}
	x = exact_kind(p, done, e, control);
	memo_put(done, e, x);
	return x;
}

static const struct expr *
exact_of(struct proving *p, const struct expr *e, bool control)
{
	const struct expr *x;
	struct memo done;

	memo_init(&done);
	x = exact(p, &done, e, control);
	memo_release(&done);
	return x;
}

static void
assume(struct proving *p, const struct expr *condition, bool holds,
       bool control)
{
	const struct expr *x;

	if (condition->type.lanes != 1) {
		return;
	}
	x = exact_of(p, condition, control);
	analyser_assume(&p->a, holds ? x : expr_not(p->w->m, x));
}

static bool
is_index_type(struct dtype t)
{
	return t.lanes == 1 && (t.kind == DT_I32 || t.kind == DT_I64);
}

static bool is_inside(struct proving *p, const struct expr *e,
		      const struct expr *size);

/* Is the value of e, a choice, proven to be an index inside of `size` in the
 * case that e's condition has the value `holds`? */
static bool
chosen_inside(struct proving *p, const struct expr *e, bool holds,
	      const struct expr *size)
{
	struct analyser_mark before = analyser_mark(&p->a);
	bool inside;

	p->visits++;
	analyser_assume(&p->a,
			holds ? e->args[0] : expr_not(p->w->m, e->args[0]));
	inside = p->visits < MOST_VISITS &&
		 is_inside(p, e->args[holds ? 1 : 2], size);
	analyser_pop(&p->a, before);
	return inside;
}

/* Is it proven that 0 <= e < size? */
static bool
is_inside(struct proving *p, const struct expr *e, const struct expr *size)
{
	struct module *m = p->w->m;
	struct memo_entry *let = memo_get(&p->lets, e);
	const struct expr *value = let != NULL ? let->value : e;
	struct bounds b = analyse_bounds(&p->a, e);
	int64_t most;

	if (value->kind == EXPR_SELECT || value->kind == EXPR_IF) {
		return chosen_inside(p, value, true, size) &&
		       chosen_inside(p, value, false, size);
	}
	if (expr_is_int(size, &most) && most > 0 &&
	    is_known_within(b, (struct bounds){ 0, most - 1 })) {
		return true;
	}
	return is_index_type(e->type) && is_index_type(size->type) &&
	       prove(&p->a, expr_le(m, expr_int(m, e->type, 0), e)) &&
	       prove(&p->a, expr_lt(m, e, size));
}

/* Is it proven that the indices in all lanes of e are at least 0 and less than
 * `size`? */
static bool
lanes_inside(struct proving *p, const struct expr *e, const struct expr *size,
	     bool control)
{
	struct module *m = p->w->m;
	const struct expr *last;

	size = exact_of(p, size, control);
	if (e->kind == EXPR_BROADCAST) {
		e = e->args[0];
	}
	if (e->kind == EXPR_RAMP) {
		const struct expr *first = exact_of(p, e->args[0], control);

		last = expr_add(m, first,
				expr_mul(m, exact_of(p, e->args[1], control),
					 expr_int(m, e->args[1]->type,
						  e->type.lanes - 1)));
		return is_inside(p, first, size) && is_inside(p, last, size);
	}
	return e->type.lanes == 1 &&
	       is_inside(p, exact_of(p, e, control), size);
}

/* Reports that it is not certain that `what`, as a part of a sentence. remedy:
 * what the user can do. */
static void
refuse(struct proving *p, const char *what, const char *remedy)
{
	const struct float_check *of = p->w->of;
	bool known = p->at->pos.line > 0;

	p->ok = diag_error(
		&p->w->m->diags, DIAG_BAD_PROGRAM,
		(struct diag_place){ .file = of->file,
				     .line = known ? p->at->pos.line : of->line,
				     .col = known ? p->at->pos.col : of->col,
				     .item = p->part->f->name },
		"%s %s%s; %s", what,
		of->all ? "depends on data and is not proven"
			: "depends on floats, whose last digits depend on the "
			  "compiler",
		of->ending, remedy);
}

static void
refuse_index(struct proving *p, const struct buffer *b,
	     const struct expr *index, int dim)
{
	struct arena *a = &p->w->m->arena;
	struct strbuf text;

	strbuf_init(&text);
	expr_print(index, &text);
	refuse(p,
	       arena_printf(a,
			    "whether index %s of dimension %d of '%s' is "
			    "inside",
			    text.data, dim, b->name),
	       arena_printf(a,
			    "clamp it, as in T.max(T.min(%s, size - 1), 0), or "
			    "access the element only if it is inside",
			    text.data));
	strbuf_release(&text);
}

static bool
is_short(const struct proving *p, const struct buffer *b)
{
	for (int i = 0;
	     p->is_first && !p->w->of->all && i < p->part->f->params.n; i++) {
		if (p->part->f->params.data[i].buffer == b) {
			return p->w->of->is_short[i];
		}
	}
	return false;
}

static void
check_access(struct proving *p, const struct buffer *b,
	     const struct expr *const *index, bool control)
{
	for (int d = 0; d < b->ndim && p->ok; d++) {
		if (!control && !is_rounded(p->w, index[d])) {
			/* the interpreter has already checked this index */
			continue;
		}
		if (is_short(p, b) || is_rounded(p->w, b->shape[d]) ||
		    p->visits >= MOST_VISITS ||
		    !lanes_inside(p, index[d], b->shape[d], control)) {
			refuse_index(p, b, index[d], d);
		}
	}
}

static void
check_call(struct proving *p, const struct expr *call, bool control)
{
	for (int i = 1; i < call->n_args && p->ok; i++) {
		const struct expr *at;
		const struct var *data = array_of(call->args[i], &at);

		if (dtype_class(call->args[i]->type) != DTC_HANDLE ||
		    data == NULL ||
		    (!control && (at == NULL ||
				  !any_rounded(p->w, at->args, at->n_args)))) {
			continue;
		}
		refuse(p,
		       arena_printf(&p->w->m->arena,
				    "whether '%s' is called, or argument %d of "
				    "the call,",
				    call->args[0]->u.text, i),
		       "call it in any case, with an address that does not");
	}
}

static void check_expr(struct proving *p, struct memo *seen,
		       const struct expr *e, bool control);

/* Checks the accesses in e, which is evaluated only if the condition has the
 * value `holds`. */
static void
check_branch(struct proving *p, const struct expr *condition, bool holds,
	     const struct expr *e, bool control)
{
	struct analyser_mark before = analyser_mark(&p->a);
	struct memo seen;

	memo_init(&seen);
	assume(p, condition, holds, control);
	check_expr(p, &seen, e, control || is_rounded(p->w, condition));
	memo_release(&seen);
	analyser_pop(&p->a, before);
}

/* Checks the accesses in e. seen: the expressions that were already checked
 * under the same conditions. */
static void
check_expr(struct proving *p, struct memo *seen, const struct expr *e,
	   bool control)
{
	int n = e->n_args;

	if (!p->ok || !memo_add(seen, e)) {
		return;
	}
	p->visits++;
	if (e->type.lanes == 1 && e->kind == EXPR_IF) {
		check_expr(p, seen, e->args[0], control);
		check_branch(p, e->args[0], true, e->args[1], control);
		check_branch(p, e->args[0], false, e->args[2], control);
		return;
	}
	if (e->type.lanes == 1 && (e->kind == EXPR_AND || e->kind == EXPR_OR)) {
		check_expr(p, seen, e->args[0], control);
		check_branch(p, e->args[0], e->kind == EXPR_AND, e->args[1],
			     control);
		return;
	}
	if (e->kind == EXPR_IF) {
		control |= is_rounded(p->w, e->args[0]);
	}
	if (e->kind == EXPR_CALL && intrin_is_address(e->u.intrin)) {
		e = e->args[0]; /* check_call checks the address itself */
		n = e->n_args;
	} else if (e->kind == EXPR_LOAD) {
		check_access(p, e->u.buffer, e->args, control);
	} else if (is_call(e)) {
		check_call(p, e, control);
	}
	for (int i = 0; i < n; i++) {
		check_expr(p, seen, e->args[i], control);
	}
}

static void check(struct proving *p, const struct stmt *s, bool control);

static void
check_loop(struct proving *p, const struct stmt *s, bool control)
{
	bool rounded = any_rounded(p->w, s->args, s->n_args);

	analyser_bind(&p->a, s->u.loop.var, exact_of(p, s->args[0], control),
		      exact_of(p, s->args[1], control));
	check(p, s->children[0], control || rounded);
}

static void
check_block(struct proving *p, const struct stmt *s, bool control)
{
	const struct block *b = s->u.block;

	for (int i = 0; i < b->n_iters; i++) {
		analyser_bind(&p->a, b->iters[i].var,
			      exact_of(p, b->iters[i].min, control),
			      exact_of(p, b->iters[i].extent, control));
	}
	control |= is_rounded(p->w, s->args[0]);
	check(p, s->children[1], control);
	check(p, s->children[0], control);
}

static void
check_if(struct proving *p, const struct stmt *s, bool control)
{
	bool rounded = is_rounded(p->w, s->args[0]);

	for (int i = 0; i < s->n_children; i++) {
		struct analyser_mark before = analyser_mark(&p->a);

		assume(p, s->args[0], i == 0, control);
		check(p, s->children[i], control || rounded);
		analyser_pop(&p->a, before);
	}
}

static void
check_alloc(struct proving *p, const struct stmt *s)
{
	const struct buffer *b = s->u.buffer;

	if (any_rounded(p->w, b->shape, b->ndim)) {
		refuse(p,
		       arena_printf(&p->w->m->arena, "the size of '%s'",
				    b->name),
		       "give it its largest size");
	}
}

/* Checks the accesses in s. */
static void
check(struct proving *p, const struct stmt *s, bool control)
{
	struct analyser_mark before = analyser_mark(&p->a);
	struct memo seen;

	if (s == NULL || !p->ok) {
		return;
	}
	p->at = s;
	memo_init(&seen);
	for (int i = 0; i < s->n_args; i++) {
		if (s->args[i] != NULL) {
			check_expr(p, &seen, s->args[i], control);
		}
	}
	memo_release(&seen);
	switch (s->kind) {
	case STMT_FOR:
		check_loop(p, s, control);
		break;
	case STMT_BLOCK:
		check_block(p, s, control);
		break;
	case STMT_IF:
		check_if(p, s, control);
		break;
	case STMT_WHILE:
		check(p, s->children[0],
		      control || is_rounded(p->w, s->args[0]));
		break;
	case STMT_STORE:
		check_access(p, s->u.buffer, s->args + 1, control);
		break;
	case STMT_LET:
		if (is_index_type(s->u.var->type)) {
			const struct expr *value = exact_of(p, s->args[0],
							    control);

			analyser_bind_value(&p->a, s->u.var, value);
			memo_put(&p->lets, s->u.var->expr, value);
		}
		check(p, s->children[0], control);
		break;
	case STMT_ALLOC:
		check_alloc(p, s);
		check(p, s->children[0], control);
		break;
	default:
		for (int i = 0; i < s->n_children; i++) {
			check(p, s->children[i], control);
		}
		break;
	}
	analyser_pop(&p->a, before);
}

static bool
check_part(struct flow *w, const struct part *part, bool is_first)
{
	struct proving p = {
		.w = w, .part = part, .is_first = is_first, .ok = true
	};

	analyser_init(&p.a, w->m);
	value_ranges_init(&p.ranges, part->f, NULL);
	memo_init(&p.unknown);
	memo_init(&p.lets);
	check(&p, part->f->body, part->control);
	memo_release(&p.lets);
	memo_release(&p.unknown);
	return p.ok;
}

/* A copy of f with the given values in place of its scalar parameters; f itself
 * if no values are given. */
static const struct func *
at_values(const struct func *f, const struct var_map *values)
{
	struct func *copy;

	if (values->n == 0) {
		return f;
	}
	copy = func_clone(f, f->name);
	stmt_substitute(copy, copy->body, values);
	return copy;
}

bool
program_check_floats(struct module *m, const struct float_check *of)
{
	struct flow w = { .m = m, .of = of };
	bool ok = true;

	w.parts = arena_array(&m->arena, struct part, of->n_callees + 1);
	pointer_map_init(&w.marks, &m->arena);
	for (int i = 0; i < of->n_callees; i++) {
		w.parts[i].f = of->callees[i].func;
	}
	w.parts[of->first].f = at_values(of->callees[of->first].func,
					 &of->values);
	w.parts[of->first].reached = true;
	w.parts[of->first].control = of->all;
	flow_all(&w);
	for (int i = 0; ok && i < of->n_callees; i++) {
		if (w.parts[i].reached) {
			ok = check_part(&w, &w.parts[i], i == of->first);
		}
	}
	return ok;
}

bool
program_prove_indices(const struct func *f, const char *file)
{
	struct run_callee own = { .name = f->name, .func = f };
	struct float_check all = { .callees = &own,
				   .n_callees = 1,
				   .all = true,
				   .file = file,
				   .ending = "" };

	return program_check_floats(f->module, &all);
}
