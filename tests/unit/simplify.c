/* SPDX-License-Identifier: Apache-2.0 */
/* The analyser on what schedules and operators make of indices. */
#include "analyse.h"
#include "check.h"

static struct module *m;
static struct analyser a;

typedef const struct expr *E;

static struct var *
loop(const char *name, int64_t extent)
{
	struct var *v = var_new(m, name, dtype_of(DT_I32));

	analyser_bind(&a, v, expr_i32(m, 0), expr_i32(m, extent));
	return v;
}

static E
num(int64_t v)
{
	return expr_i32(m, v);
}

static E
add(E x, E y)
{
	return expr_add(m, x, y);
}

static E
sub(E x, E y)
{
	return expr_sub(m, x, y);
}

static E
mul(E x, int64_t c)
{
	return expr_mul(m, x, num(c));
}

static E
quotient(E x, int64_t c)
{
	return expr_floordiv(m, x, num(c));
}

static E
modulo(E x, int64_t c)
{
	return expr_floormod(m, x, num(c));
}

static void
is(E e, const char *want, int line)
{
	struct strbuf s;
	E simple = simplify(&a, e);

	strbuf_init(&s);
	expr_print(simple, &s);
	check_strings(s.data, want, __FILE__, line, "simplified");
	check_one(simplify(&a, simple) == simple, __FILE__, line,
		  "a second time changes nothing");
	strbuf_release(&s);
}

#define IS(e, want) is(e, want, __LINE__)

static void
check_sums(void)
{
	struct analyser_mark mark = analyser_mark(&a);
	E x = loop("x", 100)->expr, y = loop("y", 100)->expr;

	IS(sub(add(x, y), x), "y");
	IS(add(mul(x, 2), mul(x, 3)), "x * 5");
	IS(add(add(num(3), x), sub(y, num(5))), "x + y - 2");
	/* 70000 * 60000 and 2^31 are no int32 */
	IS(mul(mul(x, 70000), 60000), "x * 70000 * 60000");
	IS(mul(add(x, num(70000)), 60000), "(x + 70000) * 60000");
	IS(add(mul(x, 1 << 30), mul(x, 1 << 30)),
	   "x * 1073741824 + x * 1073741824");
	IS(quotient(mul(mul(x, 70000), 60000), 60000), "x * 70000");
	IS(sub(num(1), x), "1 - x");
	IS(add(mul(add(mul(x, 56), y), 56), x), "x * 3137 + y * 56");
	/* One node for both orders, the first that was seen. */
	IS(add(y, mul(x, 7)), "y + x * 7");
	IS(add(mul(x, 7), y), "y + x * 7");
	CHECK(prove_equal(&a, add(x, y), add(y, x)));
	analyser_pop(&a, mark);
}

static void
check_division(void)
{
	struct analyser_mark mark = analyser_mark(&a);
	E f = loop("f", 802816)->expr, h = loop("h", 56)->expr;
	E w = loop("w", 56)->expr,
	  free = var_new(m, "i", dtype_of(DT_I32))->expr;

	IS(quotient(add(mul(h, 56), w), 56), "h");
	IS(modulo(add(mul(h, 56), w), 56), "w");
	IS(quotient(add(mul(h, 56), w), 28), "h * 2 + w // 28");
	IS(add(mul(quotient(f, 56), 56), modulo(f, 56)), "f");
	IS(add(mul(add(mul(quotient(f, 3136), 56), modulo(quotient(f, 56), 56)),
		   56),
	       modulo(f, 56)),
	   "f");
	/* Remainders are equal where multiples of the divisor are apart. */
	IS(add(mul(quotient(add(mul(h, 16), w), 3), 3), modulo(add(h, w), 3)),
	   "h * 16 + w");
	IS(add(mul(quotient(add(add(mul(h, 16), w), num(1)), 3), 6),
	       mul(modulo(add(add(h, w), num(4)), 3), 2)),
	   "h * 32 + w * 2 + 2");
	IS(add(mul(quotient(add(mul(h, 16), w), 3), 3),
	       modulo(add(add(h, w), num(1)), 3)),
	   "(h * 16 + w) // 3 * 3 + (h + w + 1) % 3");
	IS(quotient(modulo(f, 3136), 56), "f // 56 % 56");
	IS(quotient(quotient(f, 8), 7), "f // 56");
	IS(modulo(modulo(f, 64), 16), "f % 16");
	IS(quotient(add(mul(f, 56), w), 3136), "f // 56");
	IS(modulo(add(mul(f, 8), num(3)), 4), "3");
	IS(modulo(add(mul(f, 8), modulo(free, 32)), 16), "(f * 8 + i) % 16");
	IS(modulo(mul(free, 6), 9), "i * 2 % 3 * 3");
	IS(quotient(add(w, num(56)), 56), "1");
	/* What cannot be negative divides as C does. */
	IS(quotient(sub(w, num(1)), 28), "(w + 27) // 28 - 1");
	IS(expr_floordiv(m, h, num(0)), "h // 0");
	IS(expr_div(m, add(mul(h, 4), num(2)), num(4)), "h");
	IS(expr_div(m, free, num(4)), "T.truncdiv(i, 4)");
	analyser_pop(&a, mark);
}

static void
check_conditions(void)
{
	struct analyser_mark mark = analyser_mark(&a);
	E h = loop("h", 56)->expr, kh = loop("kh", 3)->expr;
	E wo = loop("wo", 8)->expr, wi = loop("wi", 7)->expr;
	E at = sub(add(h, kh), num(1));
	E inside = expr_and(m, expr_le(m, num(0), at), expr_lt(m, at, num(56)));

	IS(inside, "1 <= h + kh and h + kh < 57");
	CHECK(prove(&a, expr_lt(m, add(mul(wo, 7), wi), num(56))));
	CHECK(!prove(&a, expr_lt(m, add(mul(wo, 7), wi), num(55))));
	CHECK(prove(&a, expr_binary(m, EXPR_GE, at, num(-1))));
	IS(expr_lt(m, mul(h, 2), num(5)), "h < 3");
	IS(expr_le(m, mul(h, 2), num(5)), "h <= 2");
	IS(expr_le(m, num(5), mul(h, 2)), "3 <= h");
	IS(expr_eq(m, mul(h, 2), num(5)), "T.bool(False)");
	IS(expr_eq(m, num(5), h), "h == 5");
	IS(expr_binary(m, EXPR_GT, add(h, num(1)), kh), "kh <= h");
	IS(expr_and(m, expr_lt(m, h, num(9)), expr_lt(m, h, num(7))), "h < 7");
	IS(expr_or(m, expr_lt(m, h, num(9)), expr_lt(m, h, num(7))), "h < 9");
	IS(expr_and(m, expr_lt(m, h, num(3)), expr_lt(m, num(3), h)),
	   "T.bool(False)");
	IS(expr_or(m, expr_lt(m, h, num(3)), expr_le(m, num(3), h)),
	   "T.bool(True)");
	IS(expr_min(m, add(h, num(1)), add(h, num(2))), "h + 1");
	IS(expr_max(m, expr_min(m, h, num(55)), num(0)), "h");
	IS(expr_if(m, expr_lt(m, h, num(7)),
		   expr_select(m, expr_lt(m, h, num(9)), h, kh), kh),
	   "T.if_then_else(h < 7, h, kh)");
	analyser_assume(&a, inside);
	CHECK(prove(&a, expr_lt(m, num(0), add(h, kh))));
	CHECK(prove(&a, expr_lt(m, at, num(57))));
	IS(inside, "T.bool(True)");
	IS(modulo(at, 56), "h + kh - 1");
	analyser_pop(&a, mark);
}

static void
check_symbolic(void)
{
	struct analyser_mark mark = analyser_mark(&a);
	struct var *i = var_new(m, "i", dtype_of(DT_I32));
	struct var *o = var_new(m, "o", dtype_of(DT_I32));
	struct var *t = var_new(m, "t", dtype_of(DT_I32));
	struct var *f = var_new(m, "f", dtype_of(DT_I32));
	E n = var_new_dim(m, "n", 1, 4096)->expr, flat;
	E big = var_new_dim(m, "big", 1, INT32_MAX)->expr;
	E blocks = quotient(add(n, num(31)), 32), inner;

	analyser_bind(&a, i, num(0), n);
	analyser_bind(&a, o, num(0), blocks);
	inner = loop("v", 32)->expr;
	CHECK(prove(&a, expr_lt(m, i->expr, n)));
	CHECK(prove(&a, expr_lt(m, num(0), n)));
	CHECK(!prove(&a, expr_lt(m, n, num(4096))));
	CHECK(prove(&a, expr_lt(m, mul(o->expr, 32), n)));
	CHECK(prove(&a, expr_le(m, n, mul(blocks, 32))));
	IS(expr_lt(m, add(mul(o->expr, 32), inner), n), "o * 32 + v < n");
	/* The tail of a split: t runs over what is left. */
	analyser_bind(&a, t, num(0),
		      expr_min(m, num(32), sub(n, mul(o->expr, 32))));
	CHECK(prove(&a, expr_lt(m, add(mul(o->expr, 32), t->expr), n)));
	CHECK(prove(&a, expr_lt(m, t->expr, num(32))));
	flat = add(expr_mul(m, o->expr, n), i->expr);
	IS(expr_floordiv(m, flat, n), "o");
	IS(expr_floormod(m, flat, n), "i");
	CHECK(prove(&a, expr_lt(m, flat, expr_mul(m, blocks, n))));
	CHECK(!prove(&a,
		     expr_lt(m, add(flat, num(1)), expr_mul(m, blocks, n))));
	IS(sub(expr_mul(m, n, o->expr), expr_mul(m, o->expr, n)), "0");
	/* Whole numbers: x // c < n for x < c * n. */
	analyser_bind(&a, f, num(0), mul(big, 245));
	CHECK(prove(&a, expr_lt(m, quotient(f->expr, 245), big)));
	CHECK(prove(&a, expr_lt(m, quotient(add(f->expr, num(244)), 245),
				add(big, num(1)))));
	CHECK(!prove(&a, expr_lt(m, quotient(add(f->expr, num(1)), 245), big)));
	IS(expr_lt(m, quotient(flat, 7), n), "o * n + i < n * 7");
	IS(expr_le(m, n, quotient(flat, 7)), "n * 7 <= o * n + i");
	IS(expr_lt(m, quotient(flat, 7), big), "(o * n + i) // 7 < big");
	analyser_assume(&a, expr_lt(m, flat, mul(big, 7)));
	CHECK(prove(&a, expr_lt(m, quotient(flat, 7), big)));
	CHECK(!prove(&a, expr_lt(m, quotient(flat, 6), big)));
	analyser_pop(&a, mark);
}

/* i runs over lists of which each has a size of its own. A claim with a
 * counterexample takes no search. */
static void
check_many_sizes(void)
{
	enum { LISTS = 32 };
	struct analyser_mark mark = analyser_mark(&a);
	struct var *i = var_new(m, "i", dtype_of(DT_I32));
	E end[LISTS + 1] = { num(0) };

	for (int k = 0; k < LISTS; k++) {
		E size = var_new_dim(m, "size", 0, 1000)->expr;

		end[k + 1] = add(end[k], expr_min(m, size, num(300)));
	}
	analyser_bind(&a, i, num(0), end[LISTS]);
	CHECK(prove(&a, expr_lt(m, i->expr, end[LISTS])));
	for (int k = 1; k < LISTS; k++) {
		CHECK(!prove(&a, expr_lt(m, i->expr, end[k])));
		CHECK(k < 8 || a.steps > 390);
		CHECK(!prove(&a, expr_le(m, end[k], i->expr)));
		CHECK(k < 8 || a.steps > 390);
		analyser_assume(&a, expr_le(m, end[k], i->expr));
		CHECK(prove(&a, expr_le(m, end[k], i->expr)));
		CHECK(prove(&a, expr_le(m, end[k - 1], i->expr)));
	}
	CHECK(prove(&a, expr_lt(m, sub(i->expr, end[LISTS - 1]), num(300))));
	analyser_pop(&a, mark);
}

static void
covers(E e, struct var *v, int64_t extent, const char *min, int64_t width,
       int line)
{
	struct iter_var r = { v, num(0), num(extent), ITER_REDUCE };
	struct strbuf s;
	E lo, hi;

	if (!CHECK(analyse_cover(&a, e, &r, 1, &lo, &hi))) {
		return;
	}
	strbuf_init(&s);
	expr_print(lo, &s);
	check_strings(s.data, min, __FILE__, line, "lower end");
	check_one(expr_is_value(simplify(&a, add(sub(hi, lo), num(1))), width),
		  __FILE__, line, "extent");
	strbuf_release(&s);
}

#define COVERS(e, v, extent, min, width)                                       \
	covers(e, v, extent, min, width, __LINE__)

static void
check_regions(void)
{
	struct analyser_mark mark = analyser_mark(&a);
	struct var *k = var_new(m, "k", dtype_of(DT_I32)), *vars[2];
	struct var *oh = loop("oh", 28);
	E at = sub(add(mul(oh->expr, 2), k->expr), num(1)), rest;
	int64_t coeff[2];
	struct modular mod;

	COVERS(at, k, 3, "oh * 2 - 1", 3);
	COVERS(sub(mul(oh->expr, 2), k->expr), k, 3, "oh * 2 - 2", 3);
	COVERS(quotient(add(mul(oh->expr, 16), k->expr), 4), k, 16, "oh * 4",
	       4);
	COVERS(modulo(add(mul(oh->expr, 16), k->expr), 16), k, 16, "0", 16);
	vars[0] = oh;
	vars[1] = k;
	CHECK(analyse_affine(&a, at, vars, 2, coeff, &rest));
	CHECK(coeff[0] == 2 && coeff[1] == 1 && expr_is_value(rest, -1));
	CHECK(!analyse_affine(&a, quotient(at, 3), vars, 2, coeff, &rest));
	mod = analyse_modular(&a, add(mul(oh->expr, 6), mul(k->expr, 4)));
	CHECK(mod.coeff == 2 && mod.base == 0);
	mod = analyse_modular(&a, add(mul(oh->expr, 6), num(4)));
	CHECK(mod.coeff == 6 && mod.base == 4);
	analyser_pop(&a, mark);
}

/* Values that are loaded may wrap: no conclusions from differences. */
static void
check_loads(void)
{
	const struct expr *shape[1] = { num(8) };
	struct buffer_spec spec = { .name = "data",
				    .type = dtype_of(DT_I32),
				    .ndim = 1,
				    .shape = shape };
	const struct buffer *b = buffer_new(m, &spec);
	const struct expr *zero[1] = { num(0) };
	E load = expr_load(m, b, zero, 1);

	IS(expr_lt(m, add(load, num(1)), load), "data[0] + 1 < data[0]");
	IS(expr_binary(m, EXPR_GT, load, num(1)), "data[0] > 1");
	IS(quotient(add(load, num(10)), 7), "(data[0] + 10) // 7");
	IS(modulo(add(load, num(10)), 7), "(data[0] + 10) % 7");
	CHECK(!prove(&a, expr_lt(m, load, num(5))));
	analyser_assume(&a, expr_lt(m, load, num(5)));
	CHECK(!prove(&a, expr_lt(m, load, num(5))));
	CHECK(prove(&a, expr_lt(m, modulo(load, 5), num(5))));
}

/* Nor of a variable that has a loaded value, whatever is known of its sign: sums
 * that may wrap have no bounds, no order and no quotients. */
static void
check_loaded_variables(void)
{
	struct analyser_mark mark = analyser_mark(&a);
	const struct expr *shape[1] = { num(8) };
	struct buffer_spec spec = { .name = "data",
				    .type = dtype_of(DT_I32),
				    .ndim = 1,
				    .shape = shape };
	const struct buffer *b = buffer_new(m, &spec);
	const struct expr *zero[1] = { num(0) };
	struct var *z = var_new(m, "z", dtype_of(DT_I32));
	struct var *n = var_new(m, "n", dtype_of(DT_I32));
	struct bounds some;
	E small;

	analyser_bind_value(&a, z, expr_load(m, b, zero, 1));
	analyser_assume(&a, expr_lt(m, num(5), z->expr));
	CHECK(prove(&a, expr_lt(m, num(0), z->expr)));
	CHECK(!prove(&a, expr_lt(m, num(0), add(z->expr, num(1)))));
	CHECK(!prove(&a, expr_lt(m, z->expr, add(z->expr, num(1)))));
	CHECK(analyse_bounds(&a, add(z->expr, num(1))).min == BOUND_NEG_INF);
	CHECK(analyse_bounds(&a, sub(z->expr, num(6))).min == 0);
	IS(modulo(mul(z->expr, 3), 63), "z * 3 % 63");
	IS(quotient(mul(z->expr, 4), 4), "z * 4 // 4");
	IS(expr_max(m, add(z->expr, num(1)), add(n->expr, num(1))),
	   "T.max(z + 1, n + 1)");
	IS(expr_binary(m, EXPR_TRUNCMOD, add(z->expr, num(1)), num(7)),
	   "T.truncmod(z + 1, 7)");
	CHECK(analyse_modular(&a, mul(z->expr, 3)).coeff == 1);
	/* sums are written again as they were */
	IS(sub(add(z->expr, num(1)), num(1)), "z");
	IS(add(mul(quotient(z->expr, 7), 7), modulo(z->expr, 7)), "z");
	/* what cannot wrap is an index like others */
	small = expr_min(m, z->expr, num(1000));
	CHECK(prove(&a, expr_lt(m, num(5), add(small, num(1)))));
	IS(quotient(mul(small, 4), 4), "T.min(z, 1000)");
	some = analyse_bounds(&a, add(mul(small, 4), num(2)));
	CHECK(some.min == 26 && some.max == 4002);
	/* sizes never do */
	CHECK(prove(&a, expr_lt(m, n->expr, add(n->expr, num(1)))));
	analyser_pop(&a, mark);
}

static void
check_functions(void)
{
	struct func *f = func_new(m, "f");
	struct var *h = var_new(m, "h", dtype_of(DT_I32));
	struct var *n = var_new(m, "n", dtype_of(DT_I32));
	struct var *z = var_new(m, "z", dtype_of(DT_I32));
	const struct expr *shape[1] = { num(56) }, *index[1];
	struct buffer_spec spec = {
		.name = "x", .type = dtype_of(DT_F32), .ndim = 1, .shape = shape
	};
	const struct buffer *x = buffer_new(m, &spec);
	struct stmt *store, *empty, *body;
	E zero = expr_float(m, dtype_of(DT_F32), 0);

	func_add_param(f, x->data, x);
	index[0] = add(mul(n->expr, 56), h->expr);
	store = stmt_store(f, x, zero, index, 1);
	empty = stmt_for(f, z, num(0), num(0), FOR_SERIAL,
			 stmt_store(f, x, zero, index, 1));
	body = stmt_if(f, expr_lt(m, index[0], num(56)),
		       stmt_seq(f, (struct stmt *[]){ store, empty }, 2), NULL);
	body = stmt_for(f, n, num(0), num(1), FOR_SERIAL, body);
	f->body = stmt_for(f, h, num(0), num(56), FOR_SERIAL, body);
	simplify_func(f);
	CHECK(f->body->kind == STMT_FOR);
	CHECK(f->body->children[0] == store);
	CHECK(store->parent == f->body);
	CHECK(store->args[1] == h->expr);
}

int
main(void)
{
	m = module_new();
	analyser_init(&a, m);
	check_sums();
	check_division();
	check_conditions();
	check_symbolic();
	check_many_sizes();
	check_regions();
	check_loads();
	check_loaded_variables();
	check_functions();
	module_free(m);
	return check_done();
}
