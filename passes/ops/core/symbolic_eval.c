/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates definitions at one index, over elements that may be symbolic sizes.
 *
 * Numbers are computed in the definition's types, so that integers wrap and
 * casts truncate. Expressions of symbolic sizes are computed without overflow;
 * if the type of such an expression is too narrow for sizes, its value counts
 * as not known. */
#include "symbolic_eval.h"

#include <math.h>

#include "analyse.h"
#include "fraction.h"

/* The results of an ordered stage, complete or while its stores are
 * evaluated. */
struct ordered_memory {
	const struct te_stage *stage;
	/* by output: its elements; NULL if the output is not evaluated yet */
	const struct expr ***elems;
	struct ordered_memory *next;
};

static const struct expr *evaluate(struct symbolic_eval *s,
				   const struct expr *e);
static const struct expr *decide_condition(struct module *m,
					   const struct expr *condition);

/* The tensor with the buffer b, among t and the tensors from which t is
 * computed; NULL if none has it. */
static struct te_tensor *
find_stage_tensor(struct te_tensor *t, const struct buffer *b)
{
	struct te_tensor *found = NULL;

	if (t->buffer == b) {
		return t;
	}
	for (int i = 0; t->stage && i < t->stage->n_inputs && !found; i++) {
		found = find_stage_tensor(t->stage->inputs[i], b);
	}
	return found;
}

static bool
bind(struct symbolic_eval *s, const struct var *v, const struct expr *value)
{
	if (s->n_bound == EVAL_BOUND_MAX) {
		return false;
	}
	s->bound[s->n_bound].var = v;
	s->bound[s->n_bound++].value = value;
	return true;
}

static bool
is_number(const struct expr *e)
{
	return e->kind == EXPR_INT || e->kind == EXPR_FLOAT;
}

/* Can a symbolic size have type t? Bounds of sizes need 32 bits, and sizes are
 * compared with negative numbers. */
static bool
holds_sizes(struct dtype t)
{
	return dtype_class(t) == DTC_BOOL || dtype_is_float(t) ||
	       (dtype_class(t) == DTC_INT && dtype_bits(t) >= 32);
}

/* May v wrap because t is int32 and v is out of its range? For a long formula
 * v, the answer is yes. Types other than int32 are assumed to hold all
 * sizes. */
static bool
may_wrap(struct dtype t, const struct expr *v)
{
	int64_t min, max;

	if (dtype_class(t) != DTC_INT || dtype_bits(t) != 32 ||
	    !dtype_is_int(v->type)) {
		return false;
	}
	return !expr_is_short(v) || (size_bounds(v, &min, &max) &&
				     (min < INT32_MIN || max > INT32_MAX));
}

/* v converted to type t; a number wraps. NULL if v is symbolic and might wrap,
 * or if t is uint64. */
static const struct expr *
in_type(struct module *m, struct dtype t, const struct expr *v)
{
	if (!v || (is_number(v) && dtype_equal(v->type, t))) {
		return v;
	}
	if (is_number(v)) {
		return dtype_class(t) == DTC_UINT && dtype_bits(t) == 64
			       ? NULL
			       : expr_cast(m, t, v);
	}
	return holds_sizes(t) && !may_wrap(t, v) ? v : NULL;
}

/* Gives the arguments of an operation one type: if one is symbolic, integer
 * literals get the type of indices. True if one is symbolic. */
static bool
symbolic_arguments(struct module *m, const struct expr **args, int n)
{
	bool symbolic = false;

	for (int i = 0; i < n; i++) {
		symbolic |= !is_number(args[i]);
	}
	for (int i = 0; i < n && symbolic; i++) {
		if (args[i]->kind == EXPR_INT && dtype_is_int(args[i]->type)) {
			args[i] = expr_index(m, args[i]->u.ival);
		}
	}
	return symbolic;
}

/* a combined with b by the reducer. */
static const struct expr *
combine(struct module *m, const struct reducer *r, const struct expr *a,
	const struct expr *b)
{
	struct var *from[2] = { r->lhs[0], r->rhs[0] };
	const struct expr *to[2] = { a, b };
	struct var_map map = { from, to, 2 };

	symbolic_arguments(m, to, 2);
	return expr_substitute(m, r->result[0], &map);
}

static const struct expr *
evaluate_reduce(struct symbolic_eval *s, const struct expr *e, int axis,
		const struct expr *sum)
{
	const struct reduction *r = e->u.reduce;
	int64_t extent;

	if (axis == r->n_axes) {
		const struct expr *x = evaluate(s, e->args[0]);

		return x ? in_type(s->m, e->type,
				   combine(s->m, r->reducer, sum, x))
			 : NULL;
	}
	if (!expr_is_int(r->axes[axis].extent, &extent)) {
		return NULL;
	}
	for (int64_t i = 0; i < extent && sum; i++) {
		int mark = s->n_bound;

		if (!bind(s, r->axes[axis].var, expr_index(s->m, i))) {
			return NULL;
		}
		sum = evaluate_reduce(s, e, axis + 1, sum);
		s->n_bound = mark;
	}
	return sum;
}

/* The row-major position, in b, of the element at `index`; -1 if a part of the
 * index is not known, or is out of range. */
static int64_t
flat_position(struct symbolic_eval *s, const struct buffer *b,
	      const struct expr *const *index)
{
	int64_t flat = 0, at, extent;

	for (int d = 0; d < b->ndim; d++) {
		const struct expr *e = evaluate(s, index[d]);

		if (!e || !expr_is_int(e, &at) ||
		    !expr_is_int(b->shape[d], &extent) || at < 0 ||
		    at >= extent) {
			return -1;
		}
		flat = flat * extent + at;
	}
	return flat;
}

/* Sets elems[i], for the n elements of b, to the value that the stage `start`
 * computes, or to NULL if it is not known. False if a size is not known. */
static bool
evaluate_start(struct symbolic_eval *s, const struct te_stage *start,
	       const struct buffer *b, const struct expr **elems, int64_t n)
{
	int mark = s->n_bound;

	for (int64_t flat = 0; flat < n; flat++) {
		int64_t rest = flat, extent;

		for (int d = b->ndim - 1; d >= 0; d--) {
			if (!expr_is_int(b->shape[d], &extent) ||
			    !bind(s, start->axes[d].var,
				  expr_index(s->m, rest % extent))) {
				return false;
			}
			rest /= extent;
		}
		elems[flat] = evaluate(s, start->bodies[0]);
		s->n_bound = mark;
	}
	return true;
}

static bool
bind_lets(struct symbolic_eval *s, const struct te_store *store, int from,
	  int to)
{
	for (int k = from; k < to; k++) {
		const struct expr *e = evaluate(s, store->lets[k].value);

		if (!e || !bind(s, store->lets[k].var, e)) {
			return false;
		}
	}
	return true;
}

/* Evaluates the condition e; e NULL stands for true. Sets *holds; returns false
 * if the value of the condition is not known. */
static bool
evaluate_condition(struct symbolic_eval *s, const struct expr *e, bool *holds)
{
	e = e ? evaluate(s, e) : expr_bool(s->m, true);
	e = e ? decide_condition(s->m, e) : NULL;
	*holds = e && e->kind == EXPR_INT && e->u.ival != 0;
	return e && e->kind == EXPR_INT;
}

static bool
evaluate_store(struct symbolic_eval *s, struct ordered_memory *mem,
	       const struct te_store *store)
{
	const struct buffer *b = mem->stage->out[store->out]->buffer;
	int64_t at;
	bool holds;

	if (!bind_lets(s, store, 0, store->n_first) ||
	    !evaluate_condition(s, store->condition, &holds)) {
		return false;
	}
	if (!holds) {
		return true;
	}
	if (!bind_lets(s, store, store->n_first,
		       store->n_first + store->n_then) ||
	    !evaluate_condition(s, store->then, &holds)) {
		return false;
	}
	if (!holds) {
		return true;
	}
	at = flat_position(s, b, store->at);
	if (at < 0) {
		return false;
	}
	mem->elems[store->out][at] = evaluate(s, store->value);
	return mem->elems[store->out][at] != NULL;
}

/* Executes the stores of an ordered stage for all points of its axes number
 * `axis` and higher; the axes before these have values. False if a store cannot
 * be evaluated. */
static bool
evaluate_stores(struct symbolic_eval *s, struct ordered_memory *mem, int axis)
{
	const struct te_ordered *o = mem->stage->ordered;
	int64_t extent;
	int mark = s->n_bound;

	if (axis == o->n_axes) {
		for (int i = 0; i < o->n_stores; i++) {
			if (!evaluate_store(s, mem, &o->stores[i])) {
				return false;
			}
			s->n_bound = mark;
		}
		return true;
	}
	if (!expr_is_int(o->axes[axis].extent, &extent)) {
		return false;
	}
	for (int64_t i = 0; i < extent; i++) {
		if (!bind(s, o->axes[axis].var, expr_index(s->m, i)) ||
		    !evaluate_stores(s, mem, axis + 1)) {
			return false;
		}
		s->n_bound = mark;
	}
	return true;
}

/* Evaluates the outputs of an ordered stage; an element that is not known is
 * NULL. Returns NULL if the stage cannot be evaluated. */
static struct ordered_memory *
evaluate_ordered(struct symbolic_eval *s, const struct te_stage *stage)
{
	struct arena *a = &s->m->arena;
	struct ordered_memory *mem;
	bool known = stage->ordered->n_phases == 0;

	for (mem = s->memory; mem; mem = mem->next) {
		if (mem->stage == stage) {
			return mem;
		}
	}
	mem = arena_new(a, struct ordered_memory);
	mem->stage = stage;
	mem->elems = arena_array(a, const struct expr **, stage->n_out);
	mem->next = s->memory;
	s->memory = mem;
	for (int k = 0; k < stage->n_out && known; k++) {
		const struct buffer *b = stage->out[k]->buffer;
		int64_t n;

		known = buffer_const_elems(b, &n) && n <= KNOWN_ELEMS_MAX;
		if (known) {
			mem->elems[k] = arena_exprs(a, n + 1);
			known = !stage->ordered->start[k] ||
				evaluate_start(s, stage->ordered->start[k], b,
					       mem->elems[k], n);
		}
	}
	if (!known || !evaluate_stores(s, mem, 0)) {
		for (int k = 0; k < stage->n_out; k++) {
			mem->elems[k] = NULL;
		}
	}
	return mem;
}

static const struct expr *
evaluate_stage(struct symbolic_eval *s, const struct te_tensor *t,
	       const struct expr *const *index)
{
	const struct expr *body, *e;
	int mark = s->n_bound;

	if (t->stage->kind == TE_ORDERED) {
		const struct ordered_memory *mem = evaluate_ordered(s,
								    t->stage);
		int64_t at = flat_position(s, t->buffer, index);

		return mem->elems[t->index] && at >= 0
			       ? mem->elems[t->index][at]
			       : NULL;
	}
	if (t->stage->kind != TE_COMPUTE) {
		return NULL;
	}
	body = t->stage->bodies[t->index];
	for (int d = 0; d < t->stage->n_axes; d++) {
		if (!bind(s, t->stage->axes[d].var, index[d])) {
			return NULL;
		}
	}
	if (body->kind != EXPR_REDUCE) {
		e = evaluate(s, body);
	} else if (body->u.reduce->reducer->n == 1 &&
		   !body->u.reduce->condition && !body->u.reduce->init) {
		e = evaluate_reduce(s, body, 0,
				    body->u.reduce->reducer->identity[0]);
	} else {
		e = NULL;
	}
	s->n_bound = mark;
	return e;
}

static const struct expr *
evaluate_load(struct symbolic_eval *s, const struct expr *e)
{
	const struct expr *index[EVAL_RANK_MAX];
	const struct buffer *b = e->u.buffer;
	int64_t flat = 0, at, extent;
	struct te_tensor *t = NULL;

	if (e->n_args > EVAL_RANK_MAX) {
		return NULL;
	}
	for (int d = 0; d < e->n_args; d++) {
		index[d] = evaluate(s, e->args[d]);
		if (!index[d] || !expr_is_int(index[d], &at) ||
		    !expr_is_int(b->shape[d], &extent) || at < 0 ||
		    at >= extent) {
			return NULL;
		}
		flat = flat * extent + at;
	}
	for (int i = 0; i < s->n_inputs; i++) {
		if (s->inputs[i] && s->inputs[i]->buffer == b) {
			return tensor_known(s->m, s->tensors[i]) &&
					       flat < s->tensors[i]->n_elems
				       ? in_type(s->m, b->type,
						 s->tensors[i]->elems[flat])
				       : NULL;
		}
	}
	for (int k = 0; k < s->n_outputs && !t; k++) {
		if (s->outputs[k]) {
			t = find_stage_tensor(s->outputs[k], b);
		}
	}
	return t && t->stage ? evaluate_stage(s, t, index) : NULL;
}

/* Evaluates the call e of a function (floor, ceil, …) of the float x, which
 * depends on symbolic sizes; NULL if the result is not known. */
static const struct expr *
evaluate_symbolic_call(struct module *m, const struct expr *e,
		       const struct expr *x)
{
	const struct expr *whole;

	switch (e->u.intrin) {
	case INTRIN_FLOOR:
		whole = fraction_floor(m, x);
		break;
	case INTRIN_CEIL:
		whole = fraction_ceil(m, x);
		break;
	case INTRIN_TRUNC:
	case INTRIN_TO_INT:
		whole = fraction_trunc(m, x);
		break;
	case INTRIN_ROUND:
	case INTRIN_NEARBYINT:
		whole = fraction_whole(m, x);
		break;
	default:
		return NULL;
	}
	return whole && dtype_is_float(e->type) ? expr_cast(m, e->type, whole)
						: whole;
}

static const struct expr *
evaluate_call(struct module *m, const struct expr *e, const struct expr *x)
{
	double v;

	if (e->u.intrin == INTRIN_ABS && x->kind == EXPR_INT) {
		return x->u.ival < 0 ? expr_neg(m, x) : x;
	}
	if (x->kind != EXPR_FLOAT) {
		return evaluate_symbolic_call(m, e, x);
	}
	v = x->u.fval;
	switch (e->u.intrin) {
	case INTRIN_FLOOR:
		v = floor(v);
		break;
	case INTRIN_CEIL:
		v = ceil(v);
		break;
	case INTRIN_TRUNC:
		v = trunc(v);
		break;
	case INTRIN_ROUND:
		v = round(v);
		break;
	case INTRIN_NEARBYINT:
		v = nearbyint(v);
		break;
	case INTRIN_SQRT:
		v = sqrt(v);
		break;
	case INTRIN_TO_INT:
		return expr_const(m, e->type, v);
	case INTRIN_ABS:
		v = fabs(v);
		break;
	default:
		return NULL;
	}
	return expr_float(m, x->type, v);
}

/* The condition as a literal if the bounds of the sizes decide it; else the
 * condition. */
static const struct expr *
decide_condition(struct module *m, const struct expr *condition)
{
	struct analyser a;

	analyser_init(&a, m);
	condition = simplify(&a, condition);
	if (condition->kind == EXPR_INT) {
		return condition;
	}
	if (prove(&a, condition)) {
		return expr_bool(m, true);
	}
	return prove(&a, expr_not(m, condition)) ? expr_bool(m, false)
						 : condition;
}

static const struct expr *
evaluate_choice(struct symbolic_eval *s, const struct expr *e)
{
	const struct expr *c = evaluate(s, e->args[0]), *a, *b;

	if (!c) {
		return NULL;
	}
	c = decide_condition(s->m, c);
	if (c->kind == EXPR_INT) {
		return evaluate(s, e->args[c->u.ival ? 1 : 2]);
	}
	a = evaluate(s, e->args[1]);
	b = evaluate(s, e->args[2]);
	return a && b ? expr_select(s->m, c, a, b) : NULL;
}

/* Evaluates an operation on known arguments; NULL if the result is not
 * known. */
static const struct expr *
evaluate_operation(struct module *m, const struct expr *e,
		   const struct expr **args)
{
	bool symbolic = symbolic_arguments(m, args, e->n_args);
	const struct expr *value;

	if (e->kind == EXPR_CALL) {
		value = evaluate_call(m, e, args[0]);
	} else if (symbolic && e->kind == EXPR_CAST && dtype_is_int(e->type) &&
		   dtype_is_int(args[0]->type)) {
		value = args[0];
	} else if (symbolic && e->kind == EXPR_CAST && dtype_is_int(e->type) &&
		   dtype_class(args[0]->type) == DTC_BOOL) {
		value = expr_cast(m, dtype_of(DT_I32), args[0]);
	} else {
		value = expr_rebuild(m, e, args);
	}
	return value ? in_type(m, e->type, value) : NULL;
}

static const struct expr *
evaluate(struct symbolic_eval *s, const struct expr *e)
{
	const struct expr *args[EVAL_RANK_MAX];

	if (--s->budget < 0 || e->n_args > EVAL_RANK_MAX) {
		return NULL;
	}
	switch (e->kind) {
	case EXPR_INT:
	case EXPR_FLOAT:
		return e;
	case EXPR_VAR:
		for (int i = s->n_bound - 1; i >= 0; i--) {
			if (s->bound[i].var == e->u.var) {
				return in_type(s->m, e->type,
					       s->bound[i].value);
			}
		}
		return e->u.var->is_dim ? e : NULL;
	case EXPR_LOAD:
		return evaluate_load(s, e);
	case EXPR_IF:
	case EXPR_SELECT:
		return evaluate_choice(s, e);
	case EXPR_STRING:
	case EXPR_REDUCE:
	case EXPR_RAMP:
	case EXPR_BROADCAST:
		return NULL;
	default:
		break;
	}
	for (int i = 0; i < e->n_args; i++) {
		args[i] = evaluate(s, e->args[i]);
		if (!args[i]) {
			return NULL;
		}
	}
	return evaluate_operation(s->m, e, args);
}

/* The integer expression e in the type of indices: literals get that type, and
 * casts between integers are left out. */
static const struct expr *
index_form(struct module *m, const struct expr *e)
{
	const struct expr *args[EVAL_RANK_MAX];

	if (e->kind == EXPR_INT) {
		return expr_index(m, e->u.ival);
	}
	if (e->kind == EXPR_CAST && dtype_is_int(e->args[0]->type)) {
		return index_form(m, e->args[0]);
	}
	if (e->n_args == 0 || e->n_args > EVAL_RANK_MAX ||
	    !dtype_is_int(e->type)) {
		return e;
	}
	for (int i = 0; i < e->n_args; i++) {
		args[i] = index_form(m, e->args[i]);
	}
	return expr_rebuild(m, e, args);
}

bool
symbolic_elems(struct symbolic_eval *s, struct te_tensor *out,
	       struct dtype type, const int64_t *shape, int rank, int64_t n,
	       const struct expr **elems)
{
	for (int64_t flat = 0; flat < n; flat++) {
		const struct expr *index[EVAL_RANK_MAX], *e;
		int64_t rest = flat;

		for (int d = rank - 1; d >= 0; d--) {
			index[d] = expr_index(s->m, rest % shape[d]);
			rest /= shape[d];
		}
		e = evaluate_stage(s, out, index);
		if (!e || !expr_is_short(e)) {
			return false;
		}
		if (dtype_is_int(type)) {
			e = dim_normal(s->m, index_form(s->m, e));
		} else if (dtype_class(type) == DTC_BOOL) {
			e = decide_condition(s->m, e);
		}
		elems[flat] = e;
	}
	return true;
}
