/* SPDX-License-Identifier: Apache-2.0 */
/* Interning, folding, walking. */
#include <math.h>

#include "buffer.h"
#include "check.h"
#include "func.h"

static const struct dtype i32 = { DT_I32, 1 }, f32 = { DT_F32, 1 };

static void
check_interning(struct module *m)
{
	struct var *x = var_new(m, "x", i32), *y = var_new(m, "y", i32);
	struct expr payload = { .kind = EXPR_FLOAT, .type = f32 };
	const struct expr *plus, *minus;

	CHECK(expr_add(m, x->expr, y->expr) == expr_add(m, x->expr, y->expr));
	CHECK(expr_add(m, x->expr, y->expr) != expr_add(m, y->expr, x->expr));
	CHECK(expr_string(m, "a") == expr_string(m, "a"));
	payload.u.fval = 0.0;
	plus = expr_make(m, &payload, NULL, 0);
	payload.u.fval = -0.0;
	minus = expr_make(m, &payload, NULL, 0);
	CHECK(plus != minus);
	for (int i = 0; i < 5000; i++) {
		expr_i32(m, i);
	}
	for (int i = 0; i < 5000; i += 97) {
		CHECK_EQ(expr_i32(m, i)->u.ival, i);
		CHECK(expr_i32(m, i) == expr_i32(m, i));
	}
}

static void
check_folding(struct module *m)
{
	struct var *x = var_new(m, "x", i32), *v = var_new(m, "v", f32);
	struct var *wide = var_new(m, "w", dtype_of(DT_I64));
	struct var *c = var_new(m, "c", dtype_of(DT_BOOL));
	const struct expr *zero = expr_i32(m, 0), *t = expr_bool(m, true);
	const struct expr *f = expr_bool(m, false);
	const struct expr *min = expr_i32(m, INT32_MIN);

	CHECK(expr_add(m, x->expr, zero) == x->expr);
	CHECK(expr_mul(m, x->expr, expr_i32(m, 1)) == x->expr);
	CHECK(expr_mul(m, x->expr, zero) == zero);
	CHECK(expr_mul(m, v->expr, zero)->kind == EXPR_MUL);
	CHECK(expr_is_value(expr_floordiv(m, expr_i32(m, -7), expr_i32(m, 2)),
			    -4));
	CHECK(expr_is_value(expr_floormod(m, expr_i32(m, -7), expr_i32(m, 2)),
			    1));
	CHECK(expr_is_value(expr_div(m, expr_i32(m, -7), expr_i32(m, 2)), -3));
	CHECK(expr_floordiv(m, min, zero)->kind == EXPR_FLOORDIV);
	CHECK(expr_floormod(m, min, zero)->kind == EXPR_FLOORMOD);
	CHECK(expr_div(m, min, expr_i32(m, -1)) == min);
	CHECK(expr_add(m, min, min) == zero);
	CHECK(expr_is_value(expr_mul(m, expr_int(m, wide->type, INT64_MIN),
				     expr_int(m, wide->type, -1)),
			    INT64_MIN));
	CHECK(expr_and(m, c->expr, t) == c->expr);
	CHECK(expr_and(m, f, c->expr) == f);
	CHECK(expr_or(m, c->expr, t) == t);
	CHECK(expr_not(m, expr_not(m, c->expr)) == c->expr);
	CHECK(expr_select(m, f, x->expr, zero) == zero);
	CHECK(expr_if(m, c->expr, x->expr, x->expr) == x->expr);
	CHECK(expr_min(m, x->expr, x->expr) == x->expr);
	CHECK(expr_lt(m, expr_i32(m, 1), expr_i32(m, 2)) == t);
	CHECK(expr_add(m, x->expr, wide->expr)->type.kind == DT_I64);
	CHECK(expr_add(m, wide->expr, expr_i32(m, 3))->type.kind == DT_I64);
	CHECK(expr_add(m, x->expr, expr_int(m, wide->type, 3))->type.kind ==
	      DT_I32);
	CHECK(expr_add(m, expr_float(m, f32, 0.1), expr_float(m, f32, 0.2))
		      ->u.fval == (double)(0.1f + 0.2f));
	CHECK(expr_cast(m, f32, expr_i32(m, 16777217))->u.fval == 16777216);
	CHECK(isnan(expr_max(m, expr_float(m, f32, (double)NAN),
			     expr_float(m, f32, 1))
			    ->u.fval));
	CHECK(expr_add(m, expr_ramp(m, x->expr, expr_i32(m, 1), 4), x->expr)
		      ->type.lanes == 4);
}

/* Constants of the types of indices are counted where they wrap. */
static void
check_wrapped(void)
{
	struct module *m = module_new();
	struct dtype i64 = dtype_of(DT_I64);
	const struct expr *most = expr_i32(m, INT32_MAX), *one = expr_i32(m, 1);
	const struct expr *wide = expr_int(m, i64, INT64_MAX);

	expr_sub(m, most, one);
	expr_mul(m, wide, one);
	expr_cast(m, i64, most);
	expr_add(m, expr_int(m, dtype_of(DT_U8), 255),
		 expr_int(m, dtype_of(DT_U8), 1));
	CHECK(m->n_wrapped == 0);
	expr_add(m, most, one);
	expr_mul(m, most, most);
	expr_i32(m, (int64_t)INT32_MAX + 1);
	expr_cast(m, dtype_of(DT_I32), wide);
	CHECK(m->n_wrapped == 4);
	expr_add(m, wide, expr_int(m, i64, 1));
	expr_sub(m, expr_int(m, i64, INT64_MIN), expr_int(m, i64, 1));
	expr_mul(m, wide, wide);
	expr_div(m, expr_int(m, i64, INT64_MIN), expr_int(m, i64, -1));
	CHECK(m->n_wrapped == 8);
	module_free(m);
}

static void
count(void *ctx, const struct expr *e)
{
	(void)e;
	++*(int *)ctx;
}

static void
check_walks(struct module *m)
{
	struct var *x = var_new(m, "x", i32), *y = var_new(m, "y", i32);
	const struct expr *e = x->expr, *shape[1] = { expr_i32(m, 8) };
	const struct expr *load, *moved, *to[1] = { expr_i32(m, 2) };
	struct buffer_spec spec = {
		.name = "a", .type = f32, .ndim = 1, .shape = shape
	};
	const struct buffer *a = buffer_new(m, &spec);
	const struct buffer *b = buffer_with_scope(m, a, "local");
	struct var *from[1] = { y };
	struct var_map map = { from, to, 1 };
	int n = 0;
	int64_t elems;

	/* 2^60 paths, 61 nodes. */
	for (int i = 0; i < 60; i++) {
		e = expr_add(m, e, e);
	}
	expr_visit(e, count, &n);
	CHECK_EQ(n, 61);
	from[0] = x;
	CHECK(expr_substitute(m, e, &map)->kind == EXPR_INT);
	from[0] = y;
	CHECK(expr_substitute(m, e, &map) == e);
	CHECK(expr_uses_var(e, x) && !expr_uses_var(e, y));
	/* A search for another variable looks at no node, and 64 of them have
	 * bits of their own. */
	CHECK_EQ(e->var_bits, var_bit(x));
	CHECK((e->var_bits & var_bit(y)) == 0);
	CHECK_EQ(expr_add(m, e, y->expr)->var_bits, var_bit(x) | var_bit(y));
	load = expr_load(m, a, &x->expr, 1);
	load = expr_add(m, load, expr_load(m, a, &to[0], 1));
	moved = expr_replace_buffer(m, load, a, b);
	CHECK(expr_uses_buffer(moved, b) && !expr_uses_buffer(moved, a));
	CHECK(buffer_const_elems(a, &elems) && elems == 8);
}

static void
check_bounds_of_buffers(struct module *m)
{
	struct var *n = var_new_dim(m, "n", 1, 100);
	const struct expr *shape[2] = { expr_mul(m, n->expr, expr_i32(m, 2)),
					expr_i32(m, 3) };
	struct buffer_spec spec = {
		.name = "a", .type = f32, .ndim = 2, .shape = shape
	};
	const struct buffer *b = buffer_new(m, &spec);
	int64_t elems;

	CHECK(!buffer_const_elems(b, &elems));
	CHECK(buffer_max_elems(b, &elems) && elems == 600);
	/* n - (n + 1) / 2, the difference as a negative product */
	shape[0] = expr_add(m, n->expr,
			    expr_mul(m,
				     expr_floordiv(m,
						   expr_add(m, n->expr,
							    expr_i32(m, 1)),
						   expr_i32(m, 2)),
				     expr_i32(m, -1)));
	b = buffer_new(m, &spec);
	CHECK(buffer_max_elems(b, &elems) && elems == 297);
	/* (n - min(n, 57) + 2) // 3, whose dividend seems to reach -54 */
	shape[0] = expr_sub(m, n->expr, expr_min(m, n->expr, expr_i32(m, 57)));
	shape[0] = expr_floordiv(m, expr_add(m, shape[0], expr_i32(m, 2)),
				 expr_i32(m, 3));
	b = buffer_new(m, &spec);
	CHECK(buffer_max_elems(b, &elems) && elems == 99);
}

int
main(void)
{
	struct module *m = module_new();
	struct strbuf s;

	check_interning(m);
	check_folding(m);
	check_wrapped();
	check_walks(m);
	check_bounds_of_buffers(m);
	diag_error(&m->diags, DIAG_BAD_ATTRIBUTE,
		   (struct diag_place){ "a.onnx", 3, 4, "node 1", NULL },
		   "no %s; give one", "axis");
	strbuf_init(&s);
	diag_format(&m->diags.list.data[0], &s);
	CHECK_STR_EQ(s.data, "a.onnx:3:4: node 1: no axis; give one");
	CHECK_STR_EQ(diag_id_name(DIAG_BAD_ATTRIBUTE), "bad-attribute");
	strbuf_release(&s);
	module_free(m);
	return check_done();
}
