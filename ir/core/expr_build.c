/* SPDX-License-Identifier: Apache-2.0 */
/* Builders: they unify the types of their operands, fold constants and drop
 * neutral elements. Folding gives the results that the interpreter would give:
 * floats rounded to the type, integers wrapped. Divisions by the integer zero
 * are not folded. */
#include "expr_build.h"

#include <assert.h>
#include <math.h>

#include "buffer.h"

static const struct expr *
make(struct module *m, enum expr_kind kind, struct dtype t,
     const struct expr *const *args, int n)
{
	struct expr payload = { .kind = kind, .type = t };

	return expr_make(m, &payload, args, n);
}

static struct dtype
with_lanes(struct dtype t, int lanes)
{
	t.lanes = (uint16_t)lanes;
	return t;
}

/* -- leaves */

/* Is t a type of indices (i32, i64)? Constants of these types that wrap are
 * counted. */
static bool
is_index(struct dtype t)
{
	return t.kind == DT_I32 || t.kind == DT_I64;
}

static const struct expr *
widen(struct module *m, const struct expr *e, int lanes)
{
	return e->type.lanes == lanes ? e : expr_broadcast(m, e, lanes);
}

const struct expr *
expr_int(struct module *m, struct dtype t, int64_t v)
{
	struct expr payload = { .kind = EXPR_INT, .type = with_lanes(t, 1) };
	union number n = { .i = v };

	assert(dtype_is_int(t) || dtype_class(t) == DTC_BOOL);
	payload.u.ival = number_round(t, n).i;
	m->n_wrapped += is_index(t) && payload.u.ival != v;
	return widen(m, expr_make(m, &payload, NULL, 0), t.lanes);
}

const struct expr *
expr_i32(struct module *m, int64_t v)
{
	return expr_int(m, dtype_of(DT_I32), v);
}

const struct expr *
expr_index(struct module *m, int64_t v)
{
	bool small = v >= INT32_MIN && v <= INT32_MAX;

	return expr_int(m, dtype_of(small ? DT_I32 : DT_I64), v);
}

const struct expr *
expr_float(struct module *m, struct dtype t, double v)
{
	struct expr payload = { .kind = EXPR_FLOAT, .type = with_lanes(t, 1) };
	union number n = { .f = v };

	assert(dtype_is_float(t));
	payload.u.fval = number_round(t, n).f;
	return widen(m, expr_make(m, &payload, NULL, 0), t.lanes);
}

const struct expr *
expr_const(struct module *m, struct dtype t, double v)
{
	union number n = { .f = v };

	if (dtype_is_float(t)) {
		return expr_float(m, t, v);
	}
	return expr_int(m, t, number_cast(t, dtype_of(DT_F64), n).i);
}

const struct expr *
expr_bool(struct module *m, bool v)
{
	return expr_int(m, dtype_of(DT_BOOL), v);
}

const struct expr *
expr_string(struct module *m, const char *text)
{
	struct expr payload = { .kind = EXPR_STRING,
				.type = dtype_of(DT_STRING) };

	payload.u.text = text;
	return expr_make(m, &payload, NULL, 0);
}

/* -- constants */

/* The literal that is the value of every lane of e, or NULL. */
static const struct expr *
literal(const struct expr *e)
{
	if (e->kind == EXPR_BROADCAST) {
		e = e->args[0];
	}
	return e->kind == EXPR_INT || e->kind == EXPR_FLOAT ? e : NULL;
}

static bool
is_literal(const struct expr *e, int v)
{
	e = literal(e);
	if (!e) {
		return false;
	}
	return e->kind == EXPR_INT ? e->u.ival == v : e->u.fval == v;
}

/* Is e a float literal whose sign bit is set, such as -0? */
static bool
is_negative(const struct expr *e)
{
	e = literal(e);
	return e && e->kind == EXPR_FLOAT && signbit(e->u.fval);
}

static union number
literal_number(const struct expr *e)
{
	union number n = { .i = 0 };

	if (e->kind == EXPR_INT) {
		n.i = e->u.ival;
	} else {
		n.f = e->u.fval;
	}
	return n;
}

static const struct expr *
from_number(struct module *m, struct dtype t, union number n)
{
	if (dtype_is_float(t)) {
		/* The sign of a computed NaN depends on the machine. */
		return expr_float(m, t, isnan(n.f) ? (double)NAN : n.f);
	}
	return expr_int(m, t, n.i);
}

/* -- types of operands */

/* The type, of one lane, that the operands of an operator are cast to: see the
 * rules of the builders in expr.h. Other mixes are a bug (assert). */
static struct dtype
common_type(const struct expr *a, const struct expr *b)
{
	struct dtype ta = with_lanes(a->type, 1), tb = with_lanes(b->type, 1);
	const struct expr *la = literal(a), *lb = literal(b);
	int64_t v;

	if (dtype_equal(ta, tb)) {
		return ta;
	}
	if (dtype_class(ta) == DTC_INT && dtype_class(tb) == DTC_INT) {
		/* A literal takes the type of the other operand if that type
		 * can represent its value; otherwise the wider of both types is
		 * taken. */
		if (lb && !la && expr_is_int(lb, &v) && dtype_holds(ta, v)) {
			return ta;
		}
		if (la && !lb && expr_is_int(la, &v) && dtype_holds(tb, v)) {
			return tb;
		}
		return dtype_bits(ta) > dtype_bits(tb) ? ta : tb;
	}
	if (lb && lb->kind == EXPR_INT) {
		return ta;
	}
	if (la && la->kind == EXPR_INT) {
		return tb;
	}
	if (dtype_is_float(ta) && dtype_is_float(tb) && (la || lb)) {
		return la ? tb : ta;
	}
	assert(!"operands of different types");
	return ta;
}

static const struct expr *
convert(struct module *m, struct dtype t, const struct expr *e)
{
	return expr_cast(m, with_lanes(t, e->type.lanes), e);
}

static void
unify(struct module *m, const struct expr **a, const struct expr **b)
{
	struct dtype t;
	int lanes;

	if (dtype_equal((*a)->type, (*b)->type)) {
		return;
	}
	t = common_type(*a, *b);
	*a = convert(m, t, *a);
	*b = convert(m, t, *b);
	lanes = (*a)->type.lanes > (*b)->type.lanes ? (*a)->type.lanes
						    : (*b)->type.lanes;
	*a = widen(m, *a, lanes);
	*b = widen(m, *b, lanes);
}

/* -- folding */

/* The value of x op y in doubles. MIN and MAX of a NaN are NaN; FLOORMOD has
 * the sign of y. */
static union number
fold_float(enum expr_kind kind, double x, double y)
{
	union number n = { .f = 0 };

	switch (kind) {
	case EXPR_ADD:
		n.f = x + y;
		break;
	case EXPR_SUB:
		n.f = x - y;
		break;
	case EXPR_MUL:
		n.f = x * y;
		break;
	case EXPR_DIV:
		n.f = x / y;
		break;
	case EXPR_TRUNCMOD:
		n.f = fmod(x, y);
		break;
	case EXPR_FLOORDIV:
		n.f = floor(x / y);
		break;
	case EXPR_FLOORMOD:
		n.f = fmod(x, y);
		if (n.f != 0 && (n.f < 0) != (y < 0)) {
			n.f += y;
		}
		break;
	case EXPR_MIN:
		n.f = isnan(x) || isnan(y) ? (double)NAN : x < y ? x : y;
		break;
	case EXPR_MAX:
		n.f = isnan(x) || isnan(y) ? (double)NAN : x > y ? x : y;
		break;
	default:
		assert(!"an arithmetic operator");
	}
	return n;
}

static union number
fold_unsigned(enum expr_kind kind, uint64_t x, uint64_t y)
{
	union number n = { .u = 0 };

	switch (kind) {
	case EXPR_ADD:
		n.u = x + y;
		break;
	case EXPR_SUB:
		n.u = x - y;
		break;
	case EXPR_MUL:
		n.u = x * y;
		break;
	case EXPR_DIV:
	case EXPR_FLOORDIV:
		n.u = x / y;
		break;
	case EXPR_TRUNCMOD:
	case EXPR_FLOORMOD:
		n.u = x % y;
		break;
	case EXPR_MIN:
		n.u = x < y ? x : y;
		break;
	case EXPR_MAX:
		n.u = x > y ? x : y;
		break;
	default:
		assert(!"an arithmetic operator");
	}
	return n;
}

static union number
fold_signed(enum expr_kind kind, int64_t x, int64_t y)
{
	union number n = { .i = 0 };

	/* a quotient of integers overflows only for INT_MIN / -1, which
	 * wraps */
	if (y == -1) {
		if (kind == EXPR_DIV || kind == EXPR_FLOORDIV) {
			n.u = 0 - (uint64_t)x;
			return n;
		}
		if (kind == EXPR_TRUNCMOD || kind == EXPR_FLOORMOD) {
			return n;
		}
	}
	switch (kind) {
	case EXPR_DIV:
		n.i = x / y;
		break;
	case EXPR_TRUNCMOD:
		n.i = x % y;
		break;
	case EXPR_FLOORDIV:
		n.i = x / y - (x % y != 0 && (x < 0) != (y < 0));
		break;
	case EXPR_FLOORMOD:
		n.i = x % y;
		if (n.i != 0 && (x < 0) != (y < 0)) {
			n.i += y;
		}
		break;
	case EXPR_MIN:
		n.i = x < y ? x : y;
		break;
	case EXPR_MAX:
		n.i = x > y ? x : y;
		break;
	default: /* ADD, SUB, MUL wrap */
		n = fold_unsigned(kind, (uint64_t)x, (uint64_t)y);
	}
	return n;
}

/* Does x op y leave 64 bits? */
static bool
overflows(enum expr_kind kind, int64_t x, int64_t y)
{
	int64_t n;

	switch (kind) {
	case EXPR_ADD:
		return __builtin_add_overflow(x, y, &n);
	case EXPR_SUB:
		return __builtin_sub_overflow(x, y, &n);
	case EXPR_MUL:
		return __builtin_mul_overflow(x, y, &n);
	case EXPR_DIV:
	case EXPR_FLOORDIV:
		return x == INT64_MIN && y == -1;
	default:
		return false;
	}
}

static bool
is_division(enum expr_kind kind)
{
	return kind == EXPR_DIV || kind == EXPR_TRUNCMOD ||
	       kind == EXPR_FLOORDIV || kind == EXPR_FLOORMOD;
}

/* x OP y of two literals of one type, or NULL. */
static const struct expr *
fold_arithmetic(struct module *m, enum expr_kind kind, struct dtype t,
		const struct expr *x, const struct expr *y)
{
	union number a = literal_number(x), b = literal_number(y), n;

	if (dtype_is_float(t)) {
		return from_number(m, t, fold_float(kind, a.f, b.f));
	}
	if (is_division(kind) && b.i == 0) {
		return NULL;
	}
	m->n_wrapped += is_index(t) && overflows(kind, a.i, b.i);
	n = dtype_is_signed(t) ? fold_signed(kind, a.i, b.i)
			       : fold_unsigned(kind, a.u, b.u);
	return from_number(m, t, n);
}

static const struct expr *
fold_compare(struct module *m, enum expr_kind kind, struct dtype t, int lanes,
	     const struct expr *x, const struct expr *y)
{
	union number a = literal_number(x), b = literal_number(y);
	bool lt, eq, unordered = false, holds = false;

	if (dtype_is_float(t)) {
		lt = a.f < b.f;
		eq = a.f == b.f;
		unordered = isnan(a.f) || isnan(b.f);
	} else if (dtype_is_signed(t)) {
		lt = a.i < b.i;
		eq = a.i == b.i;
	} else {
		lt = a.u < b.u;
		eq = a.u == b.u;
	}
	switch (kind) {
	case EXPR_EQ:
		holds = eq;
		break;
	case EXPR_NE:
		holds = !eq;
		break;
	case EXPR_LT:
		holds = lt;
		break;
	case EXPR_LE:
		holds = lt || eq;
		break;
	case EXPR_GT:
		holds = !unordered && !lt && !eq;
		break;
	case EXPR_GE:
		holds = !unordered && !lt;
		break;
	default:
		assert(!"a comparison");
	}
	return expr_int(m, with_lanes(dtype_of(DT_BOOL), lanes), holds);
}

/* Is x + e (or x - e) equal to x for every x? For floats not with e = 0 (or
 * -0): -0 + 0 and -0 - -0 are 0. */
static bool
adds_nothing(const struct expr *e, bool add)
{
	return is_literal(e, 0) &&
	       (!dtype_is_float(e->type) || is_negative(e) == add);
}

/* Simplifies the operation `kind` on a and b if one of them is a neutral or
 * absorbing operand; returns NULL if none is. */
static const struct expr *
fold_neutral(struct module *m, enum expr_kind kind, const struct expr *a,
	     const struct expr *b)
{
	bool is_float = dtype_is_float(a->type);

	switch (kind) {
	case EXPR_ADD:
		if (adds_nothing(a, true)) {
			return b;
		}
		return adds_nothing(b, true) ? a : NULL;
	case EXPR_SUB:
		return adds_nothing(b, false) ? a : NULL;
	case EXPR_MUL:
		if (is_literal(a, 1)) {
			return b;
		}
		if (is_literal(b, 1)) {
			return a;
		}
		if (!is_float && is_literal(a, 0)) {
			return a;
		}
		return !is_float && is_literal(b, 0) ? b : NULL;
	case EXPR_DIV:
		return is_literal(b, 1) ? a : NULL;
	case EXPR_FLOORDIV:
		return !is_float && is_literal(b, 1) ? a : NULL;
	case EXPR_TRUNCMOD:
	case EXPR_FLOORMOD:
		return !is_float && is_literal(b, 1) ? expr_int(m, a->type, 0)
						     : NULL;
	case EXPR_MIN:
	case EXPR_MAX:
		return a == b ? a : NULL;
	default:
		return NULL;
	}
}

static const struct expr *
build_arithmetic(struct module *m, enum expr_kind kind, const struct expr *a,
		 const struct expr *b)
{
	const struct expr *la, *lb, *folded = NULL, *args[2];

	unify(m, &a, &b);
	la = literal(a);
	lb = literal(b);
	if (la && lb) {
		folded = fold_arithmetic(m, kind, a->type, la, lb);
	}
	if (!folded) {
		folded = fold_neutral(m, kind, a, b);
	}
	if (folded) {
		return folded;
	}
	args[0] = a;
	args[1] = b;
	return make(m, kind, a->type, args, 2);
}

static const struct expr *
build_compare(struct module *m, enum expr_kind kind, const struct expr *a,
	      const struct expr *b)
{
	const struct expr *la, *lb, *args[2];
	struct dtype t = dtype_of(DT_BOOL);

	unify(m, &a, &b);
	la = literal(a);
	lb = literal(b);
	t.lanes = a->type.lanes;
	if (la && lb) {
		return fold_compare(m, kind, a->type, t.lanes, la, lb);
	}
	if (a == b && !dtype_is_float(a->type)) {
		return expr_int(m, t,
				kind == EXPR_EQ || kind == EXPR_LE ||
					kind == EXPR_GE);
	}
	args[0] = a;
	args[1] = b;
	return make(m, kind, t, args, 2);
}

static const struct expr *
build_logical(struct module *m, enum expr_kind kind, const struct expr *a,
	      const struct expr *b)
{
	int neutral = kind == EXPR_AND;
	const struct expr *args[2];

	unify(m, &a, &b);
	assert(dtype_class(a->type) == DTC_BOOL);
	if (is_literal(a, neutral) || a == b) {
		return b;
	}
	if (is_literal(b, neutral) || is_literal(a, !neutral)) {
		return a;
	}
	if (is_literal(b, !neutral)) {
		return b;
	}
	args[0] = a;
	args[1] = b;
	return make(m, kind, a->type, args, 2);
}

const struct expr *
expr_binary(struct module *m, enum expr_kind kind, const struct expr *a,
	    const struct expr *b)
{
	_Static_assert(EXPR_MAX + 1 == EXPR_EQ && EXPR_GE + 1 == EXPR_AND &&
			       EXPR_OR + 1 == EXPR_NOT,
		       "order of the table");
	assert(kind >= EXPR_ADD && kind <= EXPR_OR);
	if (kind < EXPR_EQ) {
		return build_arithmetic(m, kind, a, b);
	}
	if (kind < EXPR_AND) {
		return build_compare(m, kind, a, b);
	}
	return build_logical(m, kind, a, b);
}

#define BINARY(name, KIND)                                                     \
	const struct expr *expr_##name(struct module *m, const struct expr *a, \
				       const struct expr *b)                   \
	{                                                                      \
		return expr_binary(m, EXPR_##KIND, a, b);                      \
	}

BINARY(add, ADD)
BINARY(sub, SUB)
BINARY(mul, MUL)
BINARY(div, DIV)
BINARY(floordiv, FLOORDIV)
BINARY(floormod, FLOORMOD)
BINARY(min, MIN)
BINARY(max, MAX)
BINARY(eq, EQ)
BINARY(lt, LT)
BINARY(le, LE)
BINARY(and, AND)
BINARY(or, OR)

const struct expr *
expr_not(struct module *m, const struct expr *a)
{
	const struct expr *l = literal(a);

	assert(dtype_class(a->type) == DTC_BOOL);
	if (l) {
		return expr_int(m, a->type, !l->u.ival);
	}
	if (a->kind == EXPR_NOT) {
		return a->args[0];
	}
	return make(m, EXPR_NOT, a->type, &a, 1);
}

const struct expr *
expr_mul_sizes(struct module *m, const struct expr *a, const struct expr *b)
{
	int64_t x, y, both;

	return expr_is_int(a, &x) && expr_is_int(b, &y) &&
			       !__builtin_mul_overflow(x, y, &both)
		       ? expr_index(m, both)
		       : expr_mul(m, a, b);
}

const struct expr *
expr_neg(struct module *m, const struct expr *a)
{
	/* multiplied by -1, which is exact and also right for the sign of zero,
	 * unlike 0 - x */
	if (dtype_is_float(a->type)) {
		return expr_mul(m, a, expr_float(m, a->type, -1));
	}
	return expr_sub(m, expr_int(m, a->type, 0), a);
}

static const struct expr *
build_choice(struct module *m, enum expr_kind kind, const struct expr *c,
	     const struct expr *a, const struct expr *b, bool folds)
{
	const struct expr *args[3], *l = literal(c);

	unify(m, &a, &b);
	if (c->type.lanes > a->type.lanes) {
		a = widen(m, a, c->type.lanes);
		b = widen(m, b, c->type.lanes);
	}
	if (l) {
		return l->u.ival ? a : b;
	}
	if (folds && a == b) {
		return a;
	}
	if (kind == EXPR_SELECT) {
		c = widen(m, c, a->type.lanes);
	}
	args[0] = c;
	args[1] = a;
	args[2] = b;
	return make(m, kind, a->type, args, 3);
}

const struct expr *
expr_select(struct module *m, const struct expr *c, const struct expr *a,
	    const struct expr *b)
{
	return build_choice(m, EXPR_SELECT, c, a, b, true);
}

const struct expr *
expr_if(struct module *m, const struct expr *c, const struct expr *a,
	const struct expr *b)
{
	return build_choice(m, EXPR_IF, c, a, b, true);
}

const struct expr *
expr_choice(struct module *m, enum expr_kind kind, const struct expr *c,
	    const struct expr *a, const struct expr *b)
{
	return build_choice(m, kind, c, a, b, false);
}

const struct expr *
expr_cast(struct module *m, struct dtype t, const struct expr *a)
{
	const struct expr *l = literal(a);

	if (dtype_equal(t, a->type)) {
		return a;
	}
	if (t.lanes != a->type.lanes && a->type.lanes == 1) {
		return expr_broadcast(m, expr_cast(m, with_lanes(t, 1), a),
				      t.lanes);
	}
	assert(t.lanes == a->type.lanes);
	if (l && dtype_class(t) != DTC_HANDLE) {
		union number of = literal_number(l);
		union number n = number_cast(t, l->type, of);

		m->n_wrapped += is_index(t) && is_index(l->type) && n.i != of.i;
		return from_number(m, t, n);
	}
	return make(m, EXPR_CAST, t, &a, 1);
}

const struct expr *
expr_load(struct module *m, const struct buffer *b,
	  const struct expr *const *index, int n)
{
	struct expr payload = { .kind = EXPR_LOAD, .type = b->type };
	int lanes = 1;

	assert(n == b->ndim);
	for (int i = 0; i < n; i++) {
		if (index[i]->type.lanes > lanes) {
			lanes = index[i]->type.lanes;
		}
	}
	payload.type.lanes = (uint16_t)(b->type.lanes * lanes);
	payload.u.buffer = b;
	return expr_make(m, &payload, index, n);
}

/* If e is x + 0 with a literal 0, the operand x; else e. x + 0 and x differ
 * only in the sign of a zero: for uses of e that do not depend on this sign. */
static const struct expr *
without_zero(const struct expr *e)
{
	if (e->kind != EXPR_ADD) {
		return e;
	}
	return is_literal(e->args[1], 0)   ? e->args[0]
	       : is_literal(e->args[0], 0) ? e->args[1]
					   : e;
}

const struct expr *
expr_call(struct module *m, enum intrin op, struct dtype t,
	  const struct expr *const *args, int n)
{
	struct expr payload = { .kind = EXPR_CALL, .type = t };
	const struct expr *rounded;

	assert(intrin_arity(op) < 0 || intrin_arity(op) == n);
	if (op == INTRIN_TO_INT) {
		rounded = without_zero(args[0]);
		args = &rounded;
	}
	payload.u.intrin = op;
	return expr_make(m, &payload, args, n);
}

enum intrin_result
intrin_result(enum intrin op)
{
	static const enum intrin_result results[] = {
#define INTRIN(id, name, n, effect, result) RESULT_##result,
#include "intrin.def"
#undef INTRIN
	};

	return results[op];
}

struct dtype
expr_call_type(enum intrin op, struct dtype given, struct dtype arg0)
{
	switch (intrin_result(op)) {
	case RESULT_SAME:
		return arg0;
	case RESULT_BOOL:
		return with_lanes(dtype_of(DT_BOOL), arg0.lanes);
	case RESULT_VOID:
		return dtype_of(DT_VOID);
	default:
		return given;
	}
}

const struct expr *
expr_call1(struct module *m, enum intrin op, const struct expr *a)
{
	assert(intrin_result(op) != RESULT_OTHER);
	if (op == INTRIN_LIKELY && literal(a)) {
		return a;
	}
	return expr_call(m, op, expr_call_type(op, a->type, a->type), &a, 1);
}

const struct expr *
expr_call2(struct module *m, enum intrin op, const struct expr *a,
	   const struct expr *b)
{
	const struct expr *args[2];

	assert(intrin_result(op) != RESULT_OTHER);
	unify(m, &a, &b);
	args[0] = a;
	args[1] = b;
	return expr_call(m, op, expr_call_type(op, a->type, a->type), args, 2);
}

const struct expr *
expr_list(struct module *m, const struct expr *const *items, int n)
{
	return expr_call(m, INTRIN_LIST, dtype_of(DT_HANDLE), items, n);
}

bool
expr_is_list(const struct expr *e)
{
	return e->kind == EXPR_CALL && e->u.intrin == INTRIN_LIST;
}

const struct expr *
expr_ramp(struct module *m, const struct expr *base, const struct expr *stride,
	  int lanes)
{
	const struct expr *args[2];

	unify(m, &base, &stride);
	assert(base->type.lanes == 1);
	if (lanes == 1) {
		return base;
	}
	if (is_literal(stride, 0)) {
		return expr_broadcast(m, base, lanes);
	}
	args[0] = base;
	args[1] = stride;
	return make(m, EXPR_RAMP, with_lanes(base->type, lanes), args, 2);
}

const struct expr *
expr_broadcast(struct module *m, const struct expr *a, int lanes)
{
	if (lanes == 1) {
		return a;
	}
	assert(a->type.lanes == 1);
	return make(m, EXPR_BROADCAST, with_lanes(a->type, lanes), &a, 1);
}

const struct expr *
expr_reduce(struct module *m, const struct reduction *r,
	    const struct expr *const *sources, int n)
{
	struct expr payload = { .kind = EXPR_REDUCE };
	struct reduction *copy;

	assert(n == r->reducer->n && r->index >= 0 && r->index < n);
	copy = arena_copy(&m->arena, r, sizeof *r);
	copy->axes = arena_copy(&m->arena, r->axes,
				sizeof *r->axes * (size_t)r->n_axes);
	payload.type = sources[r->index]->type;
	payload.u.reduce = copy;
	return expr_make(m, &payload, sources, n);
}
