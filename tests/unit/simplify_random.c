/* SPDX-License-Identifier: Apache-2.0 */
/* Random index expressions over loops: the simplified form, the bounds, the
 * divisibility and the covered interval agree with the values. */
#include <stdlib.h>

#include "analyse.h"
#include "check.h"

enum { VARS = 5, DEPTH = 5, POINTS = 40 };

struct scene {
	struct module *m;
	struct analyser a;
	struct var *vars[VARS];
	int64_t extents[VARS];
	uint64_t state;
	int64_t at[VARS]; /* the point of evaluation */
	bool undefined;
};

static int64_t
pick(struct scene *s, int64_t n)
{
	s->state = s->state * 6364136223846793005u + 1442695040888963407u;
	return (int64_t)(s->state >> 33) % n;
}

static const struct expr *random_bool(struct scene *s, int depth);

static const struct expr *
random_int(struct scene *s, int depth)
{
	static const int64_t constants[] = { 0, 1,  2,  3,  4,  7,
					     8, 16, 28, 56, -1, -3 };
	static const int64_t divisors[] = { 2, 3, 4, 7, 8, 14, 28, 56 };
	static const enum expr_kind sums[] = { EXPR_ADD, EXPR_SUB, EXPR_ADD };
	struct module *m = s->m;
	const struct expr *x;

	if (depth == 0 || pick(s, 8) == 0) {
		return pick(s, 4) == 0 ? expr_i32(m, constants[pick(s, 12)])
				       : s->vars[pick(s, VARS)]->expr;
	}
	x = random_int(s, depth - 1);
	switch (pick(s, 12)) {
	case 0:
	case 1:
	case 2:
	case 3:
		return expr_binary(m, sums[pick(s, 3)], x,
				   random_int(s, depth - 1));
	case 4:
	case 5:
		return expr_mul(m, x, expr_i32(m, constants[pick(s, 12)]));
	case 6:
	case 7:
		return expr_floordiv(m, x, expr_i32(m, divisors[pick(s, 8)]));
	case 8:
	case 9:
		return expr_floormod(m, x, expr_i32(m, divisors[pick(s, 8)]));
	case 10:
		return expr_binary(m, pick(s, 2) ? EXPR_MIN : EXPR_MAX, x,
				   random_int(s, depth - 1));
	default:
		return expr_binary(m, pick(s, 2) ? EXPR_DIV : EXPR_TRUNCMOD, x,
				   expr_i32(m, divisors[pick(s, 8)]));
	}
}

static const struct expr *
random_compare(struct scene *s, int depth)
{
	const struct expr *x = random_int(s, depth);

	return expr_binary(s->m, EXPR_EQ + (enum expr_kind)pick(s, 6), x,
			   random_int(s, depth));
}

static const struct expr *
random_bool(struct scene *s, int depth)
{
	const struct expr *x;

	if (depth <= 1) {
		return random_compare(s, 2);
	}
	x = random_bool(s, depth - 1);
	switch (pick(s, 4)) {
	case 0:
		return expr_not(s->m, x);
	case 1:
		return expr_or(s->m, x, random_bool(s, depth - 1));
	default:
		return expr_and(s->m, x, random_bool(s, depth - 1));
	}
}

static int64_t
evaluate(struct scene *s, const struct expr *e)
{
	int64_t x, y, r;

	if (e->kind == EXPR_INT) {
		return e->u.ival;
	}
	if (e->kind == EXPR_VAR) {
		for (int i = 0; i < VARS; i++) {
			if (s->vars[i] == e->u.var) {
				return s->at[i];
			}
		}
		abort();
	}
	x = evaluate(s, e->args[0]);
	if (e->kind == EXPR_NOT) {
		return !x;
	}
	if (e->kind == EXPR_IF || e->kind == EXPR_SELECT) {
		return evaluate(s, e->args[x ? 1 : 2]);
	}
	y = evaluate(s, e->args[1]);
	switch (e->kind) {
	case EXPR_ADD:
		r = x + y;
		break;
	case EXPR_SUB:
		r = x - y;
		break;
	case EXPR_MUL:
		r = x * y;
		break;
	case EXPR_DIV:
		r = x / y;
		break;
	case EXPR_TRUNCMOD:
		r = x % y;
		break;
	case EXPR_FLOORDIV:
		r = x / y - (x % y < 0);
		break;
	case EXPR_FLOORMOD:
		r = x % y < 0 ? x % y + y : x % y;
		break;
	case EXPR_MIN:
		return x < y ? x : y;
	case EXPR_MAX:
		return x > y ? x : y;
	case EXPR_EQ:
		return x == y;
	case EXPR_NE:
		return x != y;
	case EXPR_LT:
		return x < y;
	case EXPR_LE:
		return x <= y;
	case EXPR_GT:
		return x > y;
	case EXPR_GE:
		return x >= y;
	case EXPR_AND:
		return x && y;
	case EXPR_OR:
		return x || y;
	default:
		abort();
	}
	s->undefined |= r < INT32_MIN || r > INT32_MAX;
	return s->undefined ? 0 : r;
}

static void
move(struct scene *s)
{
	for (int i = 0; i < VARS; i++) {
		s->at[i] = pick(s, s->extents[i]);
	}
	s->undefined = false;
}

static void
complain(struct scene *s, const char *what, const struct expr *e,
	 const struct expr *simple)
{
	struct strbuf text;

	strbuf_init(&text);
	strbuf_printf(&text, "%s: ", what);
	expr_print(e, &text);
	strbuf_puts(&text, "  ->  ");
	expr_print(simple, &text);
	for (int i = 0; i < VARS; i++) {
		strbuf_printf(&text, "%s %s = %d of %d", i ? "," : " at",
			      s->vars[i]->name, (int)s->at[i],
			      (int)s->extents[i]);
	}
	fprintf(stderr, "%s\n", text.data);
	strbuf_release(&text);
}

static int
size_of(const struct expr *e)
{
	int n = 1;

	for (int i = 0; i < e->n_args; i++) {
		n += size_of(e->args[i]);
	}
	return n;
}

static bool
check_cover(struct scene *s, const struct expr *e)
{
	struct iter_var relaxed[2];
	const struct expr *lo, *hi;
	int64_t v;

	for (int i = 0; i < 2; i++) {
		relaxed[i] = (struct iter_var){
			s->vars[VARS - 1 - i], expr_i32(s->m, 0),
			expr_i32(s->m, s->extents[VARS - 1 - i]), ITER_SPATIAL
		};
	}
	if (!analyse_cover(&s->a, e, relaxed, 2, &lo, &hi)) {
		return true;
	}
	if (expr_uses_var(lo, relaxed[0].var) ||
	    expr_uses_var(hi, relaxed[1].var)) {
		return false;
	}
	for (int i = 0; i < POINTS; i++) {
		move(s);
		v = evaluate(s, e);
		if (!s->undefined &&
		    (v < evaluate(s, lo) || v > evaluate(s, hi)) &&
		    !s->undefined) {
			complain(s, "not covered", e, lo);
			complain(s, "not covered", e, hi);
			return false;
		}
	}
	return true;
}

/* Returns by how much the expression shrank. */
static int
check_expr(struct scene *s, const struct expr *e, bool is_int)
{
	const struct expr *simple = simplify(&s->a, e);
	struct bounds b = analyse_bounds(&s->a, e);
	struct modular mod = { 1, 0 };
	bool right = true;

	if (is_int) {
		mod = analyse_modular(&s->a, e);
	}
	for (int i = 0; i < POINTS && right; i++) {
		int64_t want, got;

		move(s);
		want = evaluate(s, e);
		if (s->undefined) {
			continue;
		}
		got = evaluate(s, simple);
		right = want == got;
		if (!right) {
			complain(s, "other value", e, simple);
		} else if (want < b.min || want > b.max) {
			complain(s, "out of bounds", e, simple);
			right = false;
		} else if (is_int && (mod.coeff ? (want - mod.base) % mod.coeff
						: want - mod.base) != 0) {
			complain(s, "not divisible so", e, simple);
			right = false;
		}
	}
	CHECK(right);
	CHECK(!is_int || check_cover(s, e));
	return size_of(e) - size_of(simple);
}

static int
check_scene(uint64_t seed)
{
	static const int64_t extents[] = { 1, 2, 3, 4, 7, 8, 16, 28, 56 };
	static const char *const names[VARS] = { "a", "b", "c", "d", "e" };
	struct scene s = { .state = seed };
	const struct expr *fact;
	int shrunk = 0;

	s.m = module_new();
	analyser_init(&s.a, s.m);
	for (int i = 0; i < VARS; i++) {
		s.vars[i] = var_new(s.m, names[i], dtype_of(DT_I32));
		s.extents[i] = extents[pick(&s, 9)];
		analyser_bind(&s.a, s.vars[i], expr_i32(s.m, 0),
			      expr_i32(s.m, s.extents[i]));
	}
	for (int i = 0; i < 30; i++) {
		shrunk += check_expr(&s, random_int(&s, DEPTH), true);
		fact = random_bool(&s, 3);
		shrunk += check_expr(&s, fact, false);
		fact = random_compare(&s, 2);
		shrunk += check_expr(&s,
				     expr_if(s.m, fact, random_int(&s, 3),
					     random_int(&s, 3)),
				     false);
	}
	module_free(s.m);
	return shrunk;
}

int
main(int argc, char **argv)
{
	int scenes = argc > 1 ? atoi(argv[1]) : 60, shrunk = 0;
	int first = argc > 2 ? atoi(argv[2]) : 1;

	for (int i = 0; i < scenes; i++) {
		shrunk += check_scene((uint64_t)(first + i) * 7919);
	}
	fprintf(stderr, "%d nodes less\n", shrunk);
	CHECK(shrunk > 0);
	return check_done();
}
