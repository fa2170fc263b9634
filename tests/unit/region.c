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
	struct range x[DIMS], y[DIMS];
	struct var *v = var_new(m, "v", dtype_of(DT_I32));
	bool covers;
	struct analyser a;

	analyser_init(&a, m);
	analyser_bind(&a, v, expr_i32(m, 0), expr_i32(m, 4));
	random_box(m, x, v);
	random_box(m, y, v);
	covers = region_covers(&a, x, y, DIMS);
	for (int value = 0; value < 4; value++) {
		struct points px = points_of(m, x, v, value);
		struct points py = points_of(m, y, v, value);

		for (int i = 0; i < SIZE * 2; i++) {
			for (int k = 0; k < SIZE * 2; k++) {
				CHECK(!covers || !py.in[i][k] || px.in[i][k]);
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
	struct range z[1] = { { expr_i32(m, 3), expr_i32(m, 2) } };
	struct analyser a;

	analyser_init(&a, m);
	CHECK(!region_covers(&a, x, y, 1));
	CHECK(region_covers(&a, x, x, 1));
	CHECK(region_covers(&a, x, z, 1) && region_covers(&a, y, z, 1));
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
	CHECK(region_accessed(f, loop->children[0], conv, pad, false, box));
	CHECK(expr_is_value(box[2].extent, 3)); /* three rows */
	CHECK(expr_is_value(box[3].extent, 7)); /* 3 columns, stride 2 */
	CHECK(!region_accessed(f, loop->children[0], conv, pad, true, box));
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
