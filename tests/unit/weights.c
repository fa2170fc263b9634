/* SPDX-License-Identifier: Apache-2.0 */
/* Weights as they are streamed: as they are, one number throughout, computed
 * by a recipe, packed with padding, and larger than a chunk. */
#include "check.h"
#include "kernel.h"
#include "ops.h"
#include "plan.h"

#include <stdlib.h>

struct collected {
	unsigned char *data;
	size_t n, cap;
	int calls;
};

static bool
collect(void *ctx, const void *bytes, size_t n)
{
	struct collected *c = ctx;

	if (c->n + n > c->cap) {
		return false;
	}
	memcpy(c->data + c->n, bytes, n);
	c->n += n;
	c->calls++;
	return true;
}

static struct collected
stream(struct graph *g, struct tensor *t, const struct index_map *map,
       size_t cap)
{
	struct collected c = { calloc(1, cap + 1), 0, cap, 0 };
	struct weight w = { .name = "w", .tensor = t, .map = map };

	CHECK(weight_stream(g, &w, collect, &c));
	return c;
}

/* w [rows, columns] of small integers, s [columns] = 1, 2, 3, …;
 * Mul (w, s) as a recipe. */
static struct tensor *
scaled(struct graph *g, int64_t rows, int64_t columns)
{
	struct arena *a = &g->module->arena;
	float *w = arena_array(a, float, rows *columns);
	float *s = arena_array(a, float, columns);
	int64_t shape[2] = { rows, columns };
	struct tensor *in[2], *out = graph_tensor(g, "scaled");
	struct node *n;

	for (int64_t i = 0; i < rows * columns; i++) {
		w[i] = (float)(i % 101);
	}
	for (int64_t i = 0; i < columns; i++) {
		s[i] = (float)(i + 1);
	}
	in[0] = graph_constant(g, "w", dtype_of(DT_F32), 2, shape, w);
	in[1] = graph_constant(g, "s", dtype_of(DT_F32), 1, shape + 1, s);
	n = graph_node(g, "", "Mul", "", in, 2, &out, 1);
	CHECK(ops_resolve(g));
	CHECK(ops_infer_node(g, n));
	graph_make_recipe(g, n, "fold", "");
	return out;
}

static float
expected(int64_t columns, int64_t r, int64_t c)
{
	return (float)((r * columns + c) % 101 * (c + 1));
}

static void
test_plain(void)
{
	static const float data[3] = { 1, 2, 3 };
	struct module *m = module_new();
	struct graph *g = graph_new(m, "plain");
	int64_t shape = 3;
	struct tensor *t = graph_constant(g, "w", dtype_of(DT_F32), 1, &shape,
					  data);
	struct collected c = stream(g, t, NULL, 100);

	CHECK_EQ(c.n, 12);
	CHECK(memcmp(c.data, data, 12) == 0);
	free(c.data);
	module_free(m);
}

static void
test_splat(void)
{
	struct module *m = module_new();
	struct graph *g = graph_new(m, "splat");
	int64_t shape = 2000000;
	struct tensor *t = graph_constant(g, "w", dtype_of(DT_F32), 1, &shape,
					  NULL);
	struct value v = *t->value;
	struct collected c;
	bool same = true;

	v.fill.f = 1.5;
	t->value = &v;
	c = stream(g, t, NULL, 8000000);
	CHECK_EQ(c.n, 8000000);
	CHECK(c.calls > 1);
	for (int64_t i = 0; i < shape; i++) {
		same &= ((float *)c.data)[i] == 1.5f;
	}
	CHECK(same);
	free(c.data);
	module_free(m);
}

static void
test_recipe(int64_t rows, int64_t columns)
{
	struct module *m = module_new();
	struct graph *g = graph_new(m, "recipe");
	struct tensor *t = scaled(g, rows, columns);
	size_t bytes = (size_t)(rows * columns) * sizeof(float);
	struct collected c = stream(g, t, NULL, bytes);
	bool same = true;

	CHECK_EQ(c.n, bytes);
	for (int64_t i = 0; i < rows * columns; i++) {
		same &= ((float *)c.data)[i] ==
			expected(columns, i / columns, i % columns);
	}
	CHECK(same);
	CHECK(t->value == NULL); /* nothing was kept */
	free(c.data);
	module_free(m);
}

/* [rows, columns] as [rows / 4, columns, 4], rows padded with zeros. */
static void
test_packed(void)
{
	int64_t rows = 10, columns = 5;
	struct module *m = module_new();
	struct graph *g = graph_new(m, "packed");
	struct tensor *t = scaled(g, rows, columns);
	struct var *p[3], *l[2];
	const struct expr *to[2], *shape[3], *physical[3];
	struct index_map map = { .n_logical = 2,
				 .n_physical = 3,
				 .logical = l,
				 .physical = p,
				 .to_physical = physical,
				 .physical_shape = shape,
				 .to_logical = to };
	struct collected c;

	for (int i = 0; i < 3; i++) {
		p[i] = var_new(m, "p", dtype_of(DT_I32));
		shape[i] = expr_i32(m, i == 0 ? 3 : i == 1 ? columns : 4);
	}
	l[0] = var_new(m, "r", dtype_of(DT_I32));
	l[1] = var_new(m, "c", dtype_of(DT_I32));
	physical[0] = expr_floordiv(m, l[0]->expr, expr_i32(m, 4));
	physical[1] = l[1]->expr;
	physical[2] = expr_floormod(m, l[0]->expr, expr_i32(m, 4));
	to[0] = expr_add(m, expr_mul(m, p[0]->expr, expr_i32(m, 4)),
			 p[2]->expr);
	to[1] = p[1]->expr;
	map.in_range = expr_lt(m, to[0], expr_i32(m, rows));
	c = stream(g, t, &map, 1000);
	CHECK_EQ(c.n, 3 * columns * 4 * 4);
	for (int64_t i = 0; i < 3 * columns * 4; i++) {
		int64_t r = i / (columns * 4) * 4 + i % 4;
		int64_t column = i / 4 % columns;

		CHECK_NEAR(((float *)c.data)[i],
			   r < rows ? expected(columns, r, column) : 0, 0);
	}
	free(c.data);
	module_free(m);
}

int
main(void)
{
	test_plain();
	test_splat();
	test_recipe(7, 5);
	test_recipe(1300, 1000); /* several chunks and a tail */
	test_packed();
	return check_done();
}
