/* SPDX-License-Identifier: Apache-2.0 */
/* Both sides of every rewrite rule, evaluated in i32 at edges and at random:
 * where the pattern is defined (no division by zero; for exact rules, no
 * overflow) the replacement must be too, and equal. Nor may it be larger. */
#include "rules.h"
#include "check.h"

struct values {
	int64_t v[WILD_COUNT];
	bool exact; /* results that leave i32 are undefined; else they wrap */
	bool undefined;
};

static const int64_t edges[] = { 0, 1, -1, 64, INT32_MIN, INT32_MAX, 2, 7 };

enum { EDGES = sizeof edges / sizeof edges[0] };

static uint64_t
random_next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static int64_t
random_value(uint64_t *state)
{
	switch (random_next(state) % 4) {
	case 0:
		return edges[random_next(state) % EDGES];
	case 1:
		return (int64_t)(random_next(state) % 2001) - 1000;
	case 2:
		return (int64_t)(random_next(state) % 17) - 4;
	default:
		return (int64_t)(random_next(state) << 1) - INT32_MAX;
	}
}

static int64_t
floor_quotient(int64_t x, int64_t y)
{
	return x / y - (x % y != 0 && (x < 0) != (y < 0));
}

static int64_t
evaluate(const struct pattern *p, struct values *s)
{
	int64_t a = 0, b = 0, c = 0, r = 0;

	if (p->wild != WILD_NONE) {
		return s->v[p->wild];
	}
	a = evaluate(p->args[0], s);
	b = p->args[1] ? evaluate(p->args[1], s) : 0;
	c = p->args[2] ? evaluate(p->args[2], s) : 0;
	switch (p->kind) {
	case EXPR_ADD:
		r = a + b;
		break;
	case EXPR_SUB:
		r = a - b;
		break;
	case EXPR_MUL:
		r = a * b;
		break;
	case EXPR_FLOORDIV:
	case EXPR_FLOORMOD:
		if (b == 0) {
			s->undefined = true;
			return 0;
		}
		r = floor_quotient(a, b);
		if (p->kind == EXPR_FLOORMOD) {
			r = a - r * b;
		}
		break;
	case EXPR_MIN:
		r = a < b ? a : b;
		break;
	case EXPR_MAX:
		r = a > b ? a : b;
		break;
	case EXPR_EQ:
		r = a == b;
		break;
	case EXPR_NE:
		r = a != b;
		break;
	case EXPR_LT:
		r = a < b;
		break;
	case EXPR_LE:
		r = a <= b;
		break;
	case EXPR_GT:
		r = a > b;
		break;
	case EXPR_GE:
		r = a >= b;
		break;
	case EXPR_AND:
		r = a && b;
		break;
	case EXPR_OR:
		r = a || b;
		break;
	case EXPR_NOT:
		r = !a;
		break;
	case EXPR_SELECT:
		r = a ? b : c;
		break;
	default:
		CHECK(!"an operator that patterns use");
	}
	if (s->exact && (r < INT32_MIN || r > INT32_MAX)) {
		s->undefined = true;
		r = 0; /* keeps the arithmetic here defined */
	}
	return (int32_t)(uint32_t)r;
}

static int
size_of(const struct pattern *p)
{
	int n = 1;

	for (int i = 0; i < 3 && p->args[i]; i++) {
		n += size_of(p->args[i]);
	}
	/* Arithmetic on constants is folded away. */
	if (n == 3 && p->args[0]->wild >= WILD_C1 &&
	    p->args[0]->wild <= WILD_C2 && p->args[1] &&
	    p->args[1]->wild >= WILD_C1 && p->args[1]->wild <= WILD_C2) {
		return 1;
	}
	return n;
}

/* 1: checked, 0: does not apply, -1: wrong */
static int
check_at(const struct rule *r, struct values *s)
{
	int64_t want, got;

	if (!r->when(s->v[WILD_C1], s->v[WILD_C2])) {
		return 0;
	}
	s->exact = r->exact;
	s->undefined = false;
	want = evaluate(r->pattern, s);
	if (s->undefined) {
		return 0;
	}
	got = evaluate(r->replacement, s);
	if (s->undefined || got != want) {
		fprintf(stderr,
			"%s: x %lld y %lld z %lld p %lld q %lld r %lld "
			"c1 %lld c2 %lld: %lld becomes %lld%s\n",
			r->name, (long long)s->v[WILD_X],
			(long long)s->v[WILD_Y], (long long)s->v[WILD_Z],
			(long long)s->v[WILD_P], (long long)s->v[WILD_Q],
			(long long)s->v[WILD_R], (long long)s->v[WILD_C1],
			(long long)s->v[WILD_C2], (long long)want,
			(long long)got, s->undefined ? " (undefined)" : "");
		return -1;
	}
	return 1;
}

static void
check_rule(const struct rule *r)
{
	struct values s = { .v = { 0 } };
	uint64_t state = 1;
	int checked = 0, verdict;

	s.v[WILD_TRUE] = 1;
	for (int i = 0; i < 20000; i++) {
		/* First every pair of edges for x and y, then at random. */
		bool edge = i < EDGES * EDGES * 8;

		s.v[WILD_X] = edge ? edges[i % EDGES] : random_value(&state);
		s.v[WILD_Y] = edge ? edges[i / EDGES % EDGES]
				   : random_value(&state);
		s.v[WILD_Z] = random_value(&state);
		s.v[WILD_C1] = random_value(&state);
		s.v[WILD_C2] = random_value(&state);
		if (random_next(&state) % 2) { /* divisible ones */
			s.v[WILD_C2] = 1 + (int64_t)(random_next(&state) % 9);
			s.v[WILD_C1] = s.v[WILD_C2] *
				       (int64_t)(random_next(&state) % 9);
		}
		s.v[WILD_P] = i & 1;
		s.v[WILD_Q] = i >> 1 & 1;
		s.v[WILD_R] = i >> 2 & 1;
		verdict = check_at(r, &s);
		if (!CHECK(verdict >= 0)) {
			return;
		}
		checked += verdict;
	}
	if (!CHECK(checked > 100)) {
		fprintf(stderr, "%s: hardly ever applies\n", r->name);
	}
	if (!CHECK(size_of(r->replacement) <= size_of(r->pattern))) {
		fprintf(stderr, "%s: grows\n", r->name);
	}
}

int
main(void)
{
	for (int i = 0; i < rules_count; i++) {
		check_rule(&rules_table[i]);
	}
	return check_done();
}
