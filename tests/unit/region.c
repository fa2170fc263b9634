/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes against their points: random ones of constant ends, and of ends that
 * speak of a variable. */
#include "schedule_help.h"

#include "region.h"

enum { SIZE = 8, DIMS = 2 };

struct points {
	bool in[SIZE * 2][SIZE * 2];
};

static unsigned state = 7;

static int
pick(int n)
{
	state = state * 1664525u + 1013904223u;
	return (int)((state >> 8) % (unsigned)n);
}

/* Every point of the box, where v has that value. */
static struct points
points_of(struct module *m, const struct range *box, struct var *v, int value)
{
	const struct expr *at = expr_i32(m, value);
	struct var_map map = { &v, &at, 1 };
	int64_t min[DIMS], extent[DIMS];
	struct points p = { 0 };

	for (int d = 0; d < DIMS; d++) {
		CHECK(expr_is_int(expr_substitute(m, box[d].min, &map),
				  &min[d]));
		CHECK(expr_is_int(expr_substitute(m, box[d].extent, &map),
				  &extent[d]));
	}
	for (int64_t i = min[0]; i < min[0] + extent[0]; i++) {
		for (int64_t k = min[1]; k < min[1] + extent[1]; k++) {
			if (CHECK(i >= 0 && i < SIZE * 2 && k >= 0 &&
				  k < SIZE * 2)) {
				p.in[i][k] = true;
			}
		}
	}
	return p;
}

static void
random_box(struct module *m, struct range *box, struct var *v)
{
	for (int d = 0; d < DIMS; d++) {
		const struct expr *min = expr_i32(m, pick(4));

		box[d].min = pick(3) ? min : expr_add(m, v->expr, min);
		box[d].extent = expr_i32(m, 1 + pick(4));
	}
}

static void
check_boxes(struct module *m)
{
	struct range x[DIMS], y[DIMS], both[DIMS], common[DIMS], rest[DIMS];
	struct var *v = var_new(m, "v", dtype_of(DT_I32));
	bool covers, disjoint, left;
	struct analyser a;

	analyser_init(&a, m);
	analyser_bind(&a, v, expr_i32(m, 0), expr_i32(m, 4));
	random_box(m, x, v);
	random_box(m, y, v);
	covers = region_covers(&a, x, y, DIMS);
	disjoint = region_disjoint(&a, x, y, DIMS);
	region_union(&a, x, y, DIMS, both);
	region_intersect(&a, x, y, DIMS, common);
	left = region_difference(&a, x, y, DIMS, rest);
	CHECK(region_equal(&a, x, x, DIMS));
	for (int value = 0; value < 4; value++) {
		struct points px = points_of(m, x, v, value);
		struct points py = points_of(m, y, v, value);
		struct points pu = points_of(m, both, v, value);
		struct points pc = points_of(m, common, v, value);
		struct points pr = { 0 };

		if (left) {
			pr = points_of(m, rest, v, value);
		}
		for (int i = 0; i < SIZE * 2; i++) {
			for (int k = 0; k < SIZE * 2; k++) {
				bool in_x = px.in[i][k], in_y = py.in[i][k];

				CHECK(!covers || !in_y || in_x);
				CHECK(!disjoint || !(in_x && in_y));
				CHECK((!in_x && !in_y) || pu.in[i][k]);
				CHECK_EQ(pc.in[i][k], in_x && in_y);
				CHECK(!(in_x && !in_y) || pr.in[i][k]);
				CHECK(!pr.in[i][k] || in_x);
			}
		}
	}
}

/* Where the ends are numbers everything is decided. */
static void
test_known(struct module *m)
{
	struct range x[1] = { { expr_i32(m, 2), expr_i32(m, 6) } };
	struct range y[1] = { { expr_i32(m, 0), expr_i32(m, 5) } };
	struct range z[1] = { { expr_i32(m, 9), expr_i32(m, 2) } };
	struct range out[1];
	struct analyser a;

	analyser_init(&a, m);
	CHECK(!region_covers(&a, x, y, 1));
	CHECK(region_disjoint(&a, x, z, 1));
	CHECK(!region_equal(&a, x, y, 1));
	region_union(&a, x, z, 1, out);
	CHECK(expr_is_value(out[0].min, 2) && expr_is_value(out[0].extent, 9));
	region_intersect(&a, x, y, 1, out);
	CHECK(expr_is_value(out[0].min, 2) && expr_is_value(out[0].extent, 3));
	CHECK(region_difference(&a, x, y, 1, out));
	CHECK(expr_is_value(out[0].min, 5) && expr_is_value(out[0].extent, 3));
	CHECK(!region_difference(&a, x, x, 1, out));
	CHECK(expr_is_value(range_last(m, x), 7));
}

/* What a block touches, seen from its loops. */
static void
test_touched(struct module *m)
{
	struct func *f = make_conv(m, 2, 6, 3, 3, 2);
	struct stmt *conv = func_find_block(f, "conv"), *loop = conv;
	const struct buffer *pad = NULL;
	struct range box[4];

	for (int i = 0; i < conv->u.block->n_reads; i++) {
		if (strcmp(conv->u.block->reads[i].buffer->name, "pad") == 0) {
			pad = conv->u.block->reads[i].buffer;
		}
	}
	if (!CHECK(pad)) {
		return;
	}
	while (strcmp(loop->kind == STMT_FOR ? loop->u.loop.var->name : "",
		      "h") != 0) {
		loop = loop->parent;
	}
	CHECK(region_touched(f, loop->children[0], conv, pad, false, box));
	CHECK(expr_is_value(box[2].extent, 3)); /* three rows */
	CHECK(expr_is_value(box[3].extent, 7)); /* 3 columns, stride 2 */
	CHECK(!region_touched(f, loop->children[0], conv, pad, true, box));
	region_full(m, pad, box);
	CHECK(expr_is_value(box[3].min, 0) && box[3].extent == pad->shape[3]);
}

int
main(void)
{
	struct module *m = module_new();

	for (int i = 0; i < 300; i++) {
		check_boxes(m);
	}
	test_known(m);
	test_touched(m);
	module_free(m);
	return check_done();
}
