/* SPDX-License-Identifier: Apache-2.0 */
/* Iteration maps: what is claimed of a map holds when all iterations are
 * counted, and what split and fuse make is understood. */
#include <stdlib.h>

#include "check.h"

#include "index_map_inverse.h"
#include "iter_map.h"

enum { MOST = 4096 };

struct rng {
	unsigned state;
};

static int
pick(struct rng *r, int n)
{
	r->state = r->state * 1664525u + 1013904223u;
	return (int)((r->state >> 8) % (unsigned)n);
}

struct loops {
	struct module *m;
	struct iter_var it[4];
	int64_t min[4], extent[4];
	int n;
};

static void
loops_make(struct loops *l, struct module *m, int n, const int64_t *extents)
{
	static const char *const names[] = { "i", "j", "k", "l" };

	l->m = m;
	l->n = n;
	for (int i = 0; i < n; i++) {
		l->min[i] = 0;
		l->extent[i] = extents[i];
		l->it[i].var = var_new(m, names[i], dtype_of(DT_I32));
		l->it[i].min = expr_i32(m, 0);
		l->it[i].extent = expr_i32(m, extents[i]);
		l->it[i].kind = ITER_SPATIAL;
	}
}

/* e where the loops are at point number `at`. */
static int64_t
value_at(const struct loops *l, const struct expr *e, int64_t at)
{
	struct var *from[4];
	const struct expr *to[4];
	struct var_map map = { from, to, l->n };
	int64_t v = 0;

	for (int i = l->n - 1; i >= 0; i--) {
		from[i] = l->it[i].var;
		to[i] = expr_i32(l->m, l->min[i] + at % l->extent[i]);
		at /= l->extent[i];
	}
	CHECK(expr_is_int(expr_substitute(l->m, e, &map), &v));
	return v;
}

static int64_t
points(const struct loops *l)
{
	int64_t n = 1;

	for (int i = 0; i < l->n; i++) {
		n *= l->extent[i];
	}
	return n;
}

static void
print_case(const struct loops *l, const struct expr *predicate,
	   const struct expr *const *e, int n)
{
	struct strbuf out;

	strbuf_init(&out);
	for (int i = 0; i < l->n; i++) {
		strbuf_printf(&out, "%s < %d, ", l->it[i].var->name,
			      (int)l->extent[i]);
	}
	if (predicate) {
		strbuf_puts(&out, "where ");
		expr_print(predicate, &out);
	}
	for (int i = 0; i < n; i++) {
		strbuf_puts(&out, "; ");
		expr_print(e[i], &out);
	}
	fprintf(stderr, "%s\n", out.data);
	strbuf_release(&out);
}

/* Counts how often each combination of values occurs. */
static bool
check_claim(const struct loops *l, const struct expr *predicate,
	    const struct expr *const *e, const struct iter_map *map,
	    struct analyser *a, bool bijective)
{
	static int seen[MOST];
	int64_t size = 1, extent[8], base[8];
	bool good = true;

	for (int i = 0; i < map->n; i++) {
		const struct expr *x = iter_sum_extent(a, &map->indices[i]);

		if (!x) {
			return CHECK(!bijective);
		}
		good &= CHECK(expr_is_int(x, &extent[i]));
		good &= CHECK(expr_is_int(map->indices[i].base, &base[i]));
		size *= extent[i];
	}
	if (!good || size > MOST) {
		return good;
	}
	memset(seen, 0, sizeof seen);
	for (int64_t at = 0; at < points(l); at++) {
		int64_t where = 0;

		if (predicate && !value_at(l, predicate, at)) {
			continue;
		}
		for (int i = 0; i < map->n; i++) {
			int64_t v = value_at(l, e[i], at);
			const struct expr *normal =
				iter_sum_value(a, &map->indices[i]);

			good &= value_at(l, normal, at) == v;
			good &= v >= base[i] && v < base[i] + extent[i];
			where = where * extent[i] + v - base[i];
		}
		if (!CHECK(good)) {
			return false;
		}
		seen[where]++;
	}
	for (int64_t at = 0; at < size; at++) {
		good &= bijective ? seen[at] == 1 : seen[at] >= 1;
	}
	return CHECK(good);
}

static bool
detect(const struct loops *l, const struct expr *predicate,
       const struct expr *const *e, int n, enum iter_level level)
{
	struct iter_map map;
	struct analyser a;
	bool ok;

	analyser_init(&a, l->m);
	for (int i = 0; i < l->n; i++) {
		analyser_bind(&a, l->it[i].var, l->it[i].min, l->it[i].extent);
	}
	ok = iter_map_detect(&a, l->it, l->n, predicate, e, n, level, &map);
	CHECK(ok || map.why);
	if (ok && level != ITER_MAP_ANY &&
	    !check_claim(l, predicate, e, &map, &a,
			 level == ITER_MAP_BIJECTIVE)) {
		print_case(l, predicate, e, n);
	}
	return ok;
}

/* -- what has to be understood */

static void
test_known(void)
{
	struct module *m = module_new();
	struct loops l;
	const struct expr *i, *j, *k, *f, *e[3];

	loops_make(&l, m, 3, (int64_t[]){ 5, 4, 6 });
	i = l.it[0].var->expr;
	j = l.it[1].var->expr;
	k = l.it[2].var->expr;
#define N(v) expr_i32(m, v)
#define ADD(x, y) expr_add(m, x, y)
#define MUL(x, y) expr_mul(m, x, y)
#define DIV(x, y) expr_floordiv(m, x, y)
#define MOD(x, y) expr_floormod(m, x, y)
	f = ADD(MUL(i, N(4)), j);
	e[0] = f;
	e[1] = k;
	CHECK(detect(&l, NULL, e, 2, ITER_MAP_BIJECTIVE));
	CHECK(!detect(&l, NULL, e, 1, ITER_MAP_BIJECTIVE));
	CHECK(detect(&l, NULL, e, 1, ITER_MAP_SURJECTIVE));
	/* a tail */
	CHECK(detect(&l, expr_lt(m, f, N(19)), e, 2, ITER_MAP_BIJECTIVE));
	CHECK(detect(&l, expr_and(m, expr_lt(m, f, N(19)), expr_le(m, N(2), f)),
		     e, 2, ITER_MAP_BIJECTIVE));
	/* fused, and taken apart otherwise */
	e[0] = DIV(f, N(10));
	e[1] = MOD(f, N(10));
	e[2] = k;
	CHECK(detect(&l, NULL, e, 3, ITER_MAP_BIJECTIVE));
	e[0] = DIV(f, N(7));
	e[1] = MOD(f, N(7));
	CHECK(!detect(&l, NULL, e, 3, ITER_MAP_BIJECTIVE));
	CHECK(detect(&l, expr_lt(m, f, N(14)), e, 3, ITER_MAP_BIJECTIVE));
	/* digits of digits */
	e[0] = DIV(k, N(2));
	e[1] = ADD(MUL(MOD(k, N(2)), N(20)), f);
	CHECK(detect(&l, NULL, e, 2, ITER_MAP_BIJECTIVE));
	/* as the simplifier writes it: (i * 4 + j) % 3 */
	e[0] = MOD(ADD(i, j), N(3));
	e[1] = DIV(f, N(3));
	e[2] = k;
	CHECK(detect(&l, expr_lt(m, f, N(18)), e, 3, ITER_MAP_BIJECTIVE));
	CHECK(!detect(&l, NULL, e, 1, ITER_MAP_SURJECTIVE));
	/* overlaps, holes, diagonals */
	e[0] = ADD(MUL(i, N(3)), j);
	e[1] = k;
	CHECK(!detect(&l, NULL, e, 2, ITER_MAP_SURJECTIVE));
	e[0] = ADD(MUL(i, N(5)), j);
	CHECK(!detect(&l, NULL, e, 2, ITER_MAP_SURJECTIVE));
	e[0] = i;
	e[1] = ADD(i, j);
	CHECK(!detect(&l, NULL, e, 2, ITER_MAP_SURJECTIVE));
	e[0] = MUL(i, j);
	CHECK(!detect(&l, NULL, e, 1, ITER_MAP_ANY));
	e[0] = i;
	e[1] = j;
	CHECK(!detect(&l, expr_lt(m, ADD(i, j), N(4)), e, 2,
		      ITER_MAP_SURJECTIVE));
	module_free(m);
}

static void
test_symbolic(void)
{
	struct module *m = module_new();
	struct var *n = var_new_dim(m, "n", 1, 1000);
	const struct expr *size = n->expr, *o, *f, *e[2];
	struct loops l;
	struct analyser a;
	struct iter_map map;

	loops_make(&l, m, 2, (int64_t[]){ 1, 16 });
	l.it[0].extent = DIV(ADD(size, N(15)), N(16));
	analyser_init(&a, m);
	for (int i = 0; i < 2; i++) {
		analyser_bind(&a, l.it[i].var, l.it[i].min, l.it[i].extent);
	}
	o = l.it[0].var->expr;
	f = ADD(MUL(o, N(16)), l.it[1].var->expr);
	e[0] = f;
	CHECK(iter_map_detect(&a, l.it, 2, expr_lt(m, f, size), e, 1,
			      ITER_MAP_BIJECTIVE, &map));
	CHECK(iter_sum_extent(&a, &map.indices[0]) == size);
	CHECK(iter_map_detect(&a, l.it, 2, NULL, e, 1, ITER_MAP_BIJECTIVE,
			      &map));
	/* i, j of n: fused and taken apart */
	loops_make(&l, m, 2, (int64_t[]){ 8, 1 });
	l.it[1].extent = size;
	for (int i = 0; i < 2; i++) {
		analyser_bind(&a, l.it[i].var, l.it[i].min, l.it[i].extent);
	}
	f = ADD(MUL(l.it[0].var->expr, size), l.it[1].var->expr);
	e[0] = DIV(f, size);
	e[1] = MOD(f, size);
	CHECK(iter_map_detect(&a, l.it, 2, NULL, e, 2, ITER_MAP_BIJECTIVE,
			      &map));
	e[0] = f;
	CHECK(iter_map_detect(&a, l.it, 2, NULL, e, 1, ITER_MAP_BIJECTIVE,
			      &map));
	module_free(m);
}

/* -- random maps */

static const struct expr *
random_term(struct loops *l, struct rng *r)
{
	struct module *m = l->m;
	const struct expr *e = l->it[pick(r, l->n)].var->expr;

	switch (pick(r, 4)) {
	case 0:
		return DIV(e, N(1 + pick(r, 4)));
	case 1:
		return MOD(e, N(1 + pick(r, 4)));
	default:
		return e;
	}
}

static const struct expr *
random_index(struct loops *l, struct rng *r)
{
	struct module *m = l->m;
	const struct expr *e = random_term(l, r);
	int64_t scale = 1;

	for (int i = pick(r, 3); i > 0; i--) {
		scale *= 1 + pick(r, 4);
		e = ADD(MUL(random_term(l, r), N(scale)), e);
	}
	switch (pick(r, 6)) {
	case 0:
		return DIV(e, N(1 + pick(r, 6)));
	case 1:
		return MOD(e, N(1 + pick(r, 6)));
	case 2:
		return ADD(e, N(pick(r, 5)));
	default:
		return e;
	}
}

static int
random_map(struct rng *r, bool legal)
{
	struct module *m = module_new();
	struct loops l;
	int64_t extents[3];
	const struct expr *e[3], *predicate = NULL;
	int n = 1 + pick(r, 3), found = 0;

	for (int i = 0; i < 3; i++) {
		extents[i] = 1 + pick(r, 7);
	}
	loops_make(&l, m, n, extents);
	for (int i = 0; i < n; i++) {
		e[i] = random_index(&l, r);
	}
	if (pick(r, 3) == 0) {
		predicate = expr_lt(m, e[pick(r, n)], N(1 + pick(r, 12)));
		if (pick(r, 2)) {
			predicate = expr_and(m, predicate,
					     expr_le(m, N(pick(r, 4)),
						     e[pick(r, n)]));
		}
		if (predicate->kind == EXPR_INT) {
			predicate = NULL;
		}
	}
	found += detect(&l, predicate, e, n, ITER_MAP_SURJECTIVE);
	found += detect(&l, predicate, e, n, ITER_MAP_BIJECTIVE);
	(void)legal;
	module_free(m);
	return found;
}

/* What legal splits and fuses of loops make of the indices. */
static void
random_splits(struct rng *r)
{
	struct module *m = module_new();
	struct loops l;
	const struct expr *value[2], *predicate = NULL, *f;
	int64_t size[2] = { 2 + pick(r, 7), 2 + pick(r, 5) };
	int64_t total = size[0] * size[1];
	int64_t in = 2 + pick(r, 4), mid = 1 + pick(r, 3);
	int64_t outer = (total + in * mid - 1) / (in * mid);

	/* fused to one loop of total, split to (outer, mid, in) */
	loops_make(&l, m, 3, (int64_t[]){ outer, mid, in });
	f = ADD(MUL(ADD(MUL(l.it[0].var->expr, N(mid)), l.it[1].var->expr),
		    N(in)),
		l.it[2].var->expr);
	if (outer * mid * in != total) {
		predicate = expr_lt(m, f, N(total));
	}
	value[0] = DIV(f, N(size[1]));
	value[1] = MOD(f, N(size[1]));
	if (!CHECK(detect(&l, predicate, value, 2, ITER_MAP_BIJECTIVE))) {
		print_case(&l, predicate, value, 2);
	}
	module_free(m);
}

/* -- division */

static bool
check_division(struct rng *r)
{
	struct module *m = module_new();
	struct loops l;
	int64_t e0 = 1 + pick(r, 4), e1 = 1 + pick(r, 4), e2 = 1 + pick(r, 4);
	const struct expr *index[2], *po, *pi, *predicate = NULL;
	const char *why = NULL;
	struct iter_division d[2];
	struct analyser a;
	int n_outer = pick(r, 4), a_first = pick(r, 2);
	bool ok;

	loops_make(&l, m, 3, (int64_t[]){ e0, e1, e2 });
	analyser_init(&a, m);
	for (int i = 0; i < 3; i++) {
		analyser_bind(&a, l.it[i].var, l.it[i].min, l.it[i].extent);
	}
	index[0] = a_first ? ADD(MUL(l.it[0].var->expr, N(e2)),
				 l.it[2].var->expr)
			   : ADD(MUL(l.it[2].var->expr, N(e0)),
				 l.it[0].var->expr);
	index[1] = l.it[1].var->expr;
	if (pick(r, 2) && e0 * e2 > 1) {
		predicate = expr_lt(m, index[0], N(e0 * e2 - 1));
		if (predicate->kind == EXPR_INT) {
			predicate = NULL;
		}
	}
	ok = iter_map_divide(&a, l.it, 3, n_outer, predicate, index, NULL, 2, d,
			     &po, &pi, &why);
	CHECK(ok || why);
	for (int64_t at = 0; ok && at < points(&l); at++) {
		for (int i = 0; i < 2; i++) {
			int64_t outer = value_at(&l, d[i].outer, at);
			int64_t inner = value_at(&l, d[i].inner, at);
			int64_t oe = value_at(&l, d[i].outer_extent, at);
			int64_t ie = value_at(&l, d[i].inner_extent, at);

			if (!predicate || value_at(&l, predicate, at)) {
				CHECK(outer >= 0 && outer < oe);
				CHECK(inner >= 0 && inner < ie);
			}
			CHECK_EQ(value_at(&l, d[i].base, at) + outer * ie +
					 inner,
				 value_at(&l, index[i], at));
		}
		CHECK_EQ(value_at(&l, po, at) && value_at(&l, pi, at),
			 !predicate || value_at(&l, predicate, at));
	}
	for (int i = 0; ok && i < 3; i++) {
		for (int k = 0; k < 2; k++) {
			CHECK(!expr_uses_var(i < n_outer ? d[k].inner
							 : d[k].outer,
					     l.it[i].var));
		}
	}
	/* loops in the order of their strides can be cut anywhere */
	CHECK(ok || !a_first);
	module_free(m);
	return ok;
}

/* -- layouts */

static bool
check_layout(struct rng *r, int kind)
{
	struct module *m = module_new();
	struct loops l;
	int64_t a = 1 + pick(r, 9), b = 1 + pick(r, 6), c = 1 + pick(r, 4);
	const struct expr *e[4], *shape[3], *f, *i, *j;
	struct index_map *map = NULL;
	struct var *vars[3];
	const char *why = NULL;
	int n = 3;
	bool ok;

	loops_make(&l, m, 2, (int64_t[]){ a, b });
	i = l.it[0].var->expr;
	j = l.it[1].var->expr;
	f = ADD(MUL(i, N(b)), j);
	switch (kind) {
	case 0: /* blocked */
		e[0] = DIV(i, N(c));
		e[1] = j;
		e[2] = MOD(i, N(c));
		break;
	case 1: /* both blocked */
		e[0] = DIV(i, N(c));
		e[1] = DIV(j, N(2));
		e[2] = ADD(MUL(MOD(i, N(c)), N(2)), MOD(j, N(2)));
		break;
	case 2: /* fused and cut */
		e[0] = DIV(f, N(c));
		e[1] = MOD(f, N(c));
		n = 2;
		break;
	case 3: /* transposed, flat */
		e[0] = ADD(MUL(j, N(a)), i);
		n = 1;
		break;
	default: /* with gaps */
		e[0] = ADD(MUL(i, N(b + c)), j);
		n = 1;
		break;
	}
	for (int d = 0; d < 2; d++) {
		vars[d] = l.it[d].var;
		shape[d] = l.it[d].extent;
	}
	ok = index_map_from_forward(m, vars, 2, e, n, shape, &map, &why);
	CHECK(ok || why);
	if (ok) {
		struct loops p;
		int64_t sizes[4], there = 0;

		for (int d = 0; d < n; d++) {
			CHECK(expr_is_int(map->physical_shape[d], &sizes[d]));
		}
		loops_make(&p, m, n, sizes);
		for (int d = 0; d < n; d++) {
			p.it[d].var = map->physical[d];
		}
		for (int64_t at = 0; at < points(&p); at++) {
			int64_t x, y;
			bool in = !map->in_range ||
				  value_at(&p, map->in_range, at);

			if (!in) {
				continue;
			}
			x = value_at(&p, map->to_logical[0], at);
			y = value_at(&p, map->to_logical[1], at);
			CHECK(x >= 0 && x < a && y >= 0 && y < b);
			for (int d = 0; d < n; d++) {
				int64_t want = at;

				for (int q = n - 1; q > d; q--) {
					want /= sizes[q];
				}
				CHECK_EQ(value_at(&l, map->to_physical[d],
						  x * b + y),
					 want % sizes[d]);
			}
			there++;
		}
		/* as many places as elements, each its own: a bijection */
		if (!CHECK_EQ(there, a * b)) {
			print_case(&l, NULL, e, n);
		}
	}
	module_free(m);
	return ok;
}

static void
test_layout_refusals(void)
{
	struct module *m = module_new();
	struct loops l;
	const struct expr *e[2], *shape[2] = { N(6), N(4) };
	struct var *vars[2];
	struct index_map *map = NULL;
	const char *why = NULL;

	loops_make(&l, m, 2, (int64_t[]){ 6, 4 });
	vars[0] = l.it[0].var;
	vars[1] = l.it[1].var;
	e[0] = ADD(vars[0]->expr, vars[1]->expr);
	CHECK(!index_map_from_forward(m, vars, 2, e, 1, shape, &map, &why));
	CHECK(why && strchr(why, ';'));
	why = NULL;
	e[0] = vars[0]->expr;
	CHECK(!index_map_from_forward(m, vars, 2, e, 1, shape, &map, &why));
	CHECK(why && strchr(why, ';'));
	e[0] = ADD(vars[0]->expr, N(1));
	e[1] = vars[1]->expr;
	CHECK(!index_map_from_forward(m, vars, 2, e, 2, shape, &map, &why));
	e[0] = vars[0]->expr;
	CHECK(index_map_from_forward(m, vars, 2, e, 2, shape, &map, &why));
	CHECK(!map->in_range);
	map = index_map_inverse(m, map, shape);
	CHECK(map && map->n_logical == 2);
	module_free(m);
}

int
main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 2000;
	int found = 0, divided = 0;

	test_known();
	test_symbolic();
	test_layout_refusals();
	for (unsigned seed = 1; seed <= n; seed++) {
		struct rng r = { seed * 2654435761u };

		found += random_map(&r, false);
		divided += check_division(&r);
		random_splits(&r);
		for (int kind = 0; kind < 5; kind++) {
			if (!CHECK(check_layout(&r, kind))) {
				fprintf(stderr, "seed %u kind %d\n", seed,
					kind);
			}
		}
		if (check_failed > 10) {
			break;
		}
	}
	fprintf(stderr, "%d random maps understood, %d divisions\n", found,
		divided);
	CHECK(found > (int)n / 10 && divided > (int)n / 2);
	return check_done();
}
