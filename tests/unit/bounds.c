/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of sizes and of the analyser against all values of formulas: each
 * operator with all intervals of small operands, which is exact except for
 * remainders; random formulas of sizes; ends of int64. */
#include <stdlib.h>

#include "analyse.h"
#include "check.h"
#include "size_bounds.h"

enum { VARS = 3, DEPTH = 4, LEAST = -4, MOST = 4 };

struct scene {
	struct module *m;
	struct analyser a;
	struct var *vars[VARS];
	int64_t at[VARS];
	uint64_t state;
};

static int64_t
pick(struct scene *s, int64_t n)
{
	s->state = s->state * 6364136223846793005u + 1442695040888963407u;
	return (int64_t)(s->state >> 33) % n;
}

/* x / y or the remainder, rounded down or toward zero; 0 where y is 0. */
static int64_t
division(enum expr_kind kind, int64_t x, int64_t y)
{
	bool down = y != 0 && x % y != 0 && (x < 0) != (y < 0);

	if (y == 0) {
		return 0;
	}
	switch (kind) {
	case EXPR_DIV:
		return x / y;
	case EXPR_TRUNCMOD:
		return x % y;
	case EXPR_FLOORDIV:
		return x / y - down;
	default:
		return x % y + (down ? y : 0);
	}
}

static int64_t
binary(enum expr_kind kind, int64_t x, int64_t y)
{
	switch (kind) {
	case EXPR_ADD:
		return x + y;
	case EXPR_SUB:
		return x - y;
	case EXPR_MUL:
		return x * y;
	case EXPR_MIN:
		return x < y ? x : y;
	case EXPR_MAX:
		return x > y ? x : y;
	case EXPR_EQ:
		return x == y;
	case EXPR_LT:
		return x < y;
	case EXPR_AND:
		return x && y;
	default:
		return division(kind, x, y);
	}
}

static int64_t
evaluate(const struct scene *s, const struct expr *e)
{
	int64_t x;

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
	switch (e->kind) {
	case EXPR_CAST:
		return x;
	case EXPR_NOT:
		return !x;
	case EXPR_CALL:
		return x < 0 ? -x : x;
	case EXPR_SELECT:
	case EXPR_IF:
		return evaluate(s, e->args[x ? 1 : 2]);
	default:
		return binary(e->kind, x, evaluate(s, e->args[1]));
	}
}

/* -- one operator, all intervals -- */

static struct bounds
values_of(enum expr_kind kind, struct bounds x, struct bounds y)
{
	struct bounds all = { INT64_MAX, INT64_MIN };

	for (int64_t i = x.min; i <= x.max; i++) {
		for (int64_t k = y.min; k <= y.max; k++) {
			int64_t v = binary(kind, i, k);

			all = bounds_union(all, (struct bounds){ v, v });
		}
	}
	return all;
}

static void
check_operator(enum expr_kind kind, struct bounds x, struct bounds y)
{
	struct bounds have = bounds_binary(kind, x, y);
	struct bounds want = values_of(kind, x, y);
	bool remainder = kind == EXPR_TRUNCMOD || kind == EXPR_FLOORMOD;
	bool by_zero = y.min == 0 && y.max == 0 &&
		       (remainder || kind == EXPR_DIV || kind == EXPR_FLOORDIV);
	bool right = remainder || by_zero
			     ? bounds_within(want, have)
			     : want.min == have.min && want.max == have.max;

	if (!right) {
		fprintf(stderr,
			"%s of [%d, %d] and [%d, %d]: [%d, %d], not [%d, "
			"%d]\n",
			expr_kind_name(kind), (int)x.min, (int)x.max,
			(int)y.min, (int)y.max, (int)have.min, (int)have.max,
			(int)want.min, (int)want.max);
	}
	CHECK(right);
	/* A remainder is nearer to 0 than the divisor. */
	CHECK(!remainder || by_zero || (have.min > LEAST && have.max < MOST) ||
	      bounds_within(have, bounds_union(x, (struct bounds){ 0, 0 })));
	/* Ends that are not known. */
	x.max = BOUND_POS_INF;
	CHECK(bounds_within(want, bounds_binary(kind, x, y)));
	y.min = BOUND_NEG_INF;
	CHECK(bounds_within(want, bounds_binary(kind, x, y)));
	x.min = BOUND_NEG_INF;
	CHECK(bounds_within(want, bounds_binary(kind, x, y)));
	y.max = BOUND_POS_INF;
	CHECK(bounds_within(want, bounds_binary(kind, x, y)));
}

static void
check_operators(void)
{
	struct bounds x, y;

	for (int kind = EXPR_ADD; kind <= EXPR_MAX; kind++) {
		for (x.min = LEAST; x.min <= MOST; x.min++) {
			for (x.max = x.min; x.max <= MOST; x.max++) {
				for (y.min = LEAST; y.min <= MOST; y.min++) {
					for (y.max = y.min; y.max <= MOST;
					     y.max++) {
						check_operator((enum expr_kind)
								       kind,
							       x, y);
					}
				}
			}
		}
	}
}

/* -- random formulas -- */

static const struct expr *random_size(struct scene *s, int depth);

static const struct expr *
random_bool(struct scene *s, int depth)
{
	static const enum expr_kind kinds[] = { EXPR_EQ, EXPR_LT };
	const struct expr *e = expr_binary(s->m, kinds[pick(s, 2)],
					   random_size(s, depth),
					   random_size(s, depth));

	switch (pick(s, 4)) {
	case 0:
		return expr_not(s->m, e);
	case 1:
		return expr_and(s->m, e, random_bool(s, depth - 1));
	default:
		return e;
	}
}

static const struct expr *
random_size(struct scene *s, int depth)
{
	struct module *m = s->m;
	const struct expr *x, *y;

	if (depth <= 0 || pick(s, 8) == 0) {
		return pick(s, 3) == 0 ? expr_i32(m, pick(s, 9) - 4)
				       : s->vars[pick(s, VARS)]->expr;
	}
	x = random_size(s, depth - 1);
	y = random_size(s, depth - 1);
	switch (pick(s, 12)) {
	case 0:
		return expr_cast(m, dtype_of(DT_I32),
				 random_bool(s, depth - 1));
	case 1:
		return expr_select(m, random_bool(s, depth - 1), x, y);
	case 2:
		return expr_if(m, random_bool(s, depth - 1), x, y);
	default:
		return expr_binary(m, EXPR_ADD + (enum expr_kind)pick(s, 9), x,
				   y);
	}
}

static void
check_bounds(const char *what, struct bounds have, struct bounds want,
	     const struct expr *e)
{
	struct strbuf text;

	CHECK(bounds_within(want, have));
	if (bounds_within(want, have)) {
		return;
	}
	strbuf_init(&text);
	expr_print(e, &text);
	fprintf(stderr, "%s: %s is [%lld, %lld], not within [%lld, %lld]\n",
		what, text.data, (long long)want.min, (long long)want.max,
		(long long)have.min, (long long)have.max);
	strbuf_release(&text);
}

/* Are the bounds known? They are unless all divisors of one division are 0. */
static bool
check_formula(struct scene *s, const struct expr *e)
{
	struct bounds want = { INT64_MAX, INT64_MIN }, have;
	bool known = size_bounds(e, &have.min, &have.max);
	int64_t max;

	for (int i = 0; i < VARS; i++) {
		s->at[i] = s->vars[i]->min;
	}
	for (int i = 0; i < VARS;) {
		int64_t v = evaluate(s, e);

		want = bounds_union(want, (struct bounds){ v, v });
		for (i = 0; i < VARS && s->at[i] == s->vars[i]->max; i++) {
			s->at[i] = s->vars[i]->min;
		}
		if (i < VARS) {
			s->at[i]++;
		}
	}
	check_bounds("size", have, want, e);
	CHECK(!known || (size_max(e, &max) && max == have.max));
	check_bounds("analyser", analyse_bounds(&s->a, e), want, e);
	return known;
}

/* Returns for how many of 100 formulas the bounds are known. */
static int
check_scene(uint64_t seed)
{
	int known = 0;
	static const char *const names[VARS] = { "n", "m", "k" };
	struct scene s = { .m = module_new(), .state = seed };

	analyser_init(&s.a, s.m);
	for (int i = 0; i < VARS; i++) {
		int64_t min = pick(&s, 6) - 3;

		s.vars[i] = var_new_dim(s.m, names[i], min, min + pick(&s, 6));
	}
	for (int i = 0; i < 100; i++) {
		known += check_formula(&s, random_size(&s, DEPTH));
	}
	module_free(s.m);
	return known;
}

/* -- ends of int64 -- */

static void
check_ends(void)
{
	static const int64_t ends[] = {
		INT64_MIN, INT64_MIN + 1, -2,       -1, 0, 1,
		2,         INT64_MAX - 1, INT64_MAX
	};
	enum { N = sizeof ends / sizeof *ends };
	struct module *m = module_new();
	int64_t sum;

	for (int i = 0; i < N; i++) {
		struct bounds x = bounds_of_value(ends[i]);

		CHECK(x.min <= ends[i] && ends[i] <= x.max);
		CHECK(x.min != BOUND_POS_INF && x.max != BOUND_NEG_INF);
		for (int k = 0; k < N; k++) {
			struct bounds y = bounds_of_value(ends[k]), r;

			for (int kind = EXPR_ADD; kind <= EXPR_MAX; kind++) {
				r = bounds_binary((enum expr_kind)kind, x, y);
				CHECK(r.min <= r.max);
				CHECK(r.min != BOUND_POS_INF);
				CHECK(r.max != BOUND_NEG_INF);
			}
			if (!__builtin_add_overflow(ends[i], ends[k], &sum)) {
				r = bounds_binary(EXPR_ADD, x, y);
				CHECK(r.min <= sum && sum <= r.max);
			}
		}
	}
	module_free(m);
}

/* A sum of shared nodes with 2^12 terms, more than sum_of reads. */
static void
check_shared(void)
{
	struct module *m = module_new();
	const struct expr *e = var_new_dim(m, "n", 0, 9)->expr;
	int64_t max;

	for (int i = 0; i < 12; i++) {
		e = expr_add(m, e, e);
	}
	CHECK(size_max(e, &max) && max == 9 << 12);
	module_free(m);
}

int
main(int argc, char **argv)
{
	int scenes = argc > 1 ? atoi(argv[1]) : 200, known = 0;

	check_operators();
	for (int i = 1; i <= scenes; i++) {
		known += check_scene((uint64_t)i * 7919);
	}
	CHECK(known >= scenes * 80);
	fprintf(stderr, "%d of %d bounds known\n", known, scenes * 100);
	check_ends();
	check_shared();
	return check_done();
}
