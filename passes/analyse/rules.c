/* SPDX-License-Identifier: Apache-2.0 */
/* Rewriting by the rules of rules.def. The table is constant data: patterns are
 * static trees, conditions are functions. */
#include "rules.h"

#include "linear.h"

/* Is x * y small enough to be an index? */
static bool
product_fits(int64_t x, int64_t y)
{
	int64_t v;

	return !__builtin_mul_overflow(x, y, &v) && v >= INT32_MIN &&
	       v <= INT32_MAX;
}

/* -- the table */

#define LEAF(w) (&(const struct pattern){ .wild = WILD_##w })
#define NODE(k, ...)                                                           \
	(&(const struct pattern){ .kind = EXPR_##k, .args = { __VA_ARGS__ } })

#define X LEAF(X)
#define Y LEAF(Y)
#define Z LEAF(Z)
#define P LEAF(P)
#define Q LEAF(Q)
#define R LEAF(R)
#define C1 LEAF(C1)
#define C2 LEAF(C2)
#define ZERO LEAF(ZERO)
#define TRUE LEAF(TRUE)
#define FALSE LEAF(FALSE)
#define ADD(a, b) NODE(ADD, a, b)
#define SUB(a, b) NODE(SUB, a, b)
#define MUL(a, b) NODE(MUL, a, b)
#define FLOORDIV(a, b) NODE(FLOORDIV, a, b)
#define FLOORMOD(a, b) NODE(FLOORMOD, a, b)
#define MIN(a, b) NODE(MIN, a, b)
#define MAX(a, b) NODE(MAX, a, b)
#define EQ(a, b) NODE(EQ, a, b)
#define NE(a, b) NODE(NE, a, b)
#define LT(a, b) NODE(LT, a, b)
#define LE(a, b) NODE(LE, a, b)
#define GT(a, b) NODE(GT, a, b)
#define GE(a, b) NODE(GE, a, b)
#define AND(a, b) NODE(AND, a, b)
#define OR(a, b) NODE(OR, a, b)
#define NOT(a) NODE(NOT, a)
#define SELECT(c, a, b) NODE(SELECT, c, a, b)

#define RULE(name, pattern, replacement, condition)                            \
	static bool when_##name(int64_t c1, int64_t c2)                        \
	{                                                                      \
		(void)c1;                                                      \
		(void)c2;                                                      \
		return condition;                                              \
	}
#define EXACT_RULE RULE
#include "rules.def"
#undef EXACT_RULE
#undef RULE

const struct rule rules_table[] = {
#define RULE(name, pattern, replacement, condition)                            \
	{ #name, pattern, replacement, false, when_##name },
#define EXACT_RULE(name, pattern, replacement, condition)                      \
	{ #name, pattern, replacement, true, when_##name },
#include "rules.def"
#undef EXACT_RULE
#undef RULE
};

const int rules_count = (int)(sizeof rules_table / sizeof rules_table[0]);

/* -- matching */

struct match {
	const struct expr *bound[WILD_COUNT];
};

static bool
wildcard_accepts(enum wildcard w, const struct expr *e)
{
	switch (w) {
	case WILD_X:
	case WILD_Y:
	case WILD_Z:
		return type_is_index(e->type);
	case WILD_P:
	case WILD_Q:
	case WILD_R:
		return dtype_class(e->type) == DTC_BOOL && e->type.lanes == 1;
	case WILD_C1:
	case WILD_C2:
		return e->kind == EXPR_INT && type_is_index(e->type);
	case WILD_ZERO:
		return expr_is_value(e, 0) && type_is_index(e->type);
	case WILD_TRUE:
	case WILD_FALSE:
		return dtype_class(e->type) == DTC_BOOL &&
		       expr_is_value(e, w == WILD_TRUE);
	default:
		return false;
	}
}

static bool
matches(struct analyser *a, const struct rule *r, const struct pattern *p,
	const struct expr *e, struct match *m)
{
	if (p->wild != WILD_NONE) {
		if (m->bound[p->wild]) {
			return m->bound[p->wild] == e;
		}
		m->bound[p->wild] = e;
		return wildcard_accepts(p->wild, e);
	}
	if (e->kind != p->kind || (r->exact && may_wrap(a, e))) {
		return false;
	}
	for (int i = 0; i < e->n_args && i < 3; i++) {
		if (!matches(a, r, p->args[i], e->args[i], m)) {
			return false;
		}
	}
	return true;
}

static const struct expr *
build(struct module *m, const struct pattern *p, const struct match *match,
      struct dtype t)
{
	const struct expr *args[3] = { NULL, NULL, NULL };

	switch (p->wild) {
	case WILD_NONE:
		break;
	case WILD_ZERO:
		return expr_int(m, t, 0);
	case WILD_TRUE:
	case WILD_FALSE:
		return expr_bool(m, p->wild == WILD_TRUE);
	default:
		return match->bound[p->wild];
	}
	for (int i = 0; i < 3 && p->args[i]; i++) {
		args[i] = build(m, p->args[i], match, t);
	}
	if (p->kind == EXPR_NOT) {
		return expr_not(m, args[0]);
	}
	if (p->kind == EXPR_SELECT) {
		return expr_select(m, args[0], args[1], args[2]);
	}
	return expr_binary(m, p->kind, args[0], args[1]);
}

const struct expr *
rules_apply(struct analyser *a, const struct expr *e)
{
	for (int i = 0; i < rules_count; i++) {
		const struct rule *r = &rules_table[i];
		struct match match;
		int64_t c1 = 0, c2 = 0;

		if (r->pattern->kind != e->kind) {
			continue;
		}
		match = (struct match){ { NULL } };
		if (!matches(a, r, r->pattern, e, &match)) {
			continue;
		}
		if (match.bound[WILD_C1]) {
			c1 = match.bound[WILD_C1]->u.ival;
		}
		if (match.bound[WILD_C2]) {
			c2 = match.bound[WILD_C2]->u.ival;
		}
		if (r->when(c1, c2)) {
			return build(a->module, r->replacement, &match,
				     e->type);
		}
	}
	return NULL;
}
