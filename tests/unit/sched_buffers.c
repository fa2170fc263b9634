/* SPDX-License-Identifier: Apache-2.0 */
/* The primitives that change where and how values are kept: each keeps the
 * results, before and after lowering, and refuses, with the reason and the
 * program as it was, what it cannot do. */
#include "schedule_help.h"

#include "primitive.h"
#include "storage_align.h"

static struct sched_value
blk(struct trial *t, const char *name)
{
	int id = sched_get_block(&t->s, name);

	CHECK(id > 0);
	return sv_block(id);
}

static struct sched_value
loop(struct trial *t, const char *name, int i)
{
	int *list = NULL, n = 0;

	CHECK(sched_get_loops(&t->s, blk(t, name).u.id, &list, &n));
	CHECK(i < n);
	return i < n ? sv_loop(list[i]) : sv_none();
}

static struct sched_value
buf(struct trial *t, const char *which, int i)
{
	return sv_list(t->m,
		       (struct sched_value[]){ sv_string(which), sv_int(i) },
		       2);
}

/* An array of arguments and its length. */
#define ARGS(...)                                                              \
	(struct sched_value[]){ __VA_ARGS__ },                                 \
		(int)(sizeof((struct sched_value[]){ __VA_ARGS__ }) /          \
		      sizeof(struct sched_value))

static struct sched_value
apply(struct trial *t, const char *name, const struct sched_value *args, int n)
{
	struct sched_value out = sv_none();

	if (!CHECK(sched_apply(&t->s, name, args, n, &out))) {
		fprintf(stderr, "in %s:\n", name);
	}
	if (!trial_same(t)) {
		fprintf(stderr, "after %s\n", name);
	}
	return out;
}

static void
refuse(struct trial *t, const char *why, const char *name,
       const struct sched_value *args, int n)
{
	struct strbuf before, after;
	int steps = t->s.trace.n;

	strbuf_init(&before);
	strbuf_init(&after);
	func_print(t->f, SCRIPT_CURRENT, &before);
	t->s.diags.list.n = 0;
	CHECK(!sched_apply(&t->s, name, args, n, NULL));
	func_print(t->f, SCRIPT_CURRENT, &after);
	CHECK(strcmp(before.data, after.data) == 0);
	CHECK_EQ(t->s.trace.n, steps);
	if (!CHECK(t->s.diags.list.n == 1 &&
		   strstr(t->s.diags.list.data[0].message, why))) {
		fprintf(stderr, "%s: wanted \"%s\", got \"%s\"\n", name, why,
			t->s.diags.list.n ? t->s.diags.list.data[0].message
					  : "nothing");
	}
	t->s.diags.list.n = 0;
	strbuf_release(&before);
	strbuf_release(&after);
}

/* lambda v0, v1, …: make(m, v) */
static struct sched_value
map_of(struct trial *t, int n, int n_out,
       void (*make)(struct module *m, const struct expr *const *v,
		    const struct expr **out))
{
	struct arena *a = &t->m->arena;
	struct index_map *map = arena_new(a, struct index_map);
	const struct expr **v = arena_array(a, const struct expr *, n);

	map->n_logical = n;
	map->n_physical = n_out;
	map->logical = arena_array(a, struct var *, n);
	map->to_physical = arena_array(a, const struct expr *, n_out);
	for (int i = 0; i < n; i++) {
		map->logical[i] = var_new(t->m, "v", dtype_of(DT_I32));
		v[i] = map->logical[i]->expr;
	}
	make(t->m, v, map->to_physical);
	return sv_map(map);
}

static void
swapped(struct module *m, const struct expr *const *v, const struct expr **out)
{
	(void)m;
	out[0] = v[1];
	out[1] = v[0];
}

/* The first by 4: dividing or not. */
static void
by_four(struct module *m, const struct expr *const *v, const struct expr **out)
{
	out[0] = expr_floordiv(m, v[0], expr_i32(m, 4));
	out[1] = v[1];
	out[2] = expr_floormod(m, v[0], expr_i32(m, 4));
}

static void
halved(struct module *m, const struct expr *const *v, const struct expr **out)
{
	out[0] = expr_floordiv(m, v[0], expr_i32(m, 2));
	out[1] = v[1];
}

static void
matmul_place(struct module *m, const struct expr *const *v,
	     const struct expr **out)
{
	(void)m;
	out[0] = v[2];
	out[1] = v[0];
}

static void
matmul_all(struct module *m, const struct expr *const *v,
	   const struct expr **out)
{
	out[0] = expr_add(m, expr_mul(m, v[0], expr_i32(m, 7)), v[1]);
	out[1] = v[2];
}

static void
matmul_mixed(struct module *m, const struct expr *const *v,
	     const struct expr **out)
{
	out[0] = expr_add(m, expr_mul(m, v[0], expr_i32(m, 5)), v[2]);
	out[1] = v[1];
}

static void
matmul_turn(struct module *m, const struct expr *const *v,
	    const struct expr **out)
{
	(void)m;
	out[0] = v[2];
	out[1] = v[0];
	out[2] = v[1];
}

static void
matmul_tiled(struct module *m, const struct expr *const *v,
	     const struct expr **out)
{
	out[0] = expr_floordiv(m, v[0], expr_i32(m, 4));
	out[1] = v[2];
	out[2] = expr_floormod(m, v[0], expr_i32(m, 4));
	out[3] = v[1];
}

static void
matmul_split_k(struct module *m, const struct expr *const *v,
	       const struct expr **out)
{
	out[0] = v[0];
	out[1] = v[1];
	out[2] = expr_floordiv(m, v[2], expr_i32(m, 2));
	out[3] = expr_floormod(m, v[2], expr_i32(m, 2));
}

/* y[i, j] = x[j, i] * 2, "y" */
static struct func *
make_transpose(struct module *m, int rows, int cols)
{
	static const char *const names[] = { "i", "j" };
	struct te_tensor *x = input(m, "x", 2, (int[]){ cols, rows });
	struct iter_var *ij = axes(m, 2, (int[]){ rows, cols }, names);
	const struct expr *at[] = { ij[1].var->expr, ij[0].var->expr };
	struct te_tensor *y =
		te_compute(m, "y", "injective", 2, ij,
			   expr_mul(m, te_at(m, x, at, 2),
				    expr_float(m, dtype_of(DT_F32), 2)),
			   &x, 1);

	return te_to_func(m, "transpose", (struct te_tensor *[]){ x, y }, 2);
}

/* b[i] = x[i] + 1; y[i] = sum_k b[i * stride + k]: "b", "y" */
static struct func *
make_window(struct module *m, int n, int window, int stride)
{
	static const char *const names[] = { "i" };
	int out = (n - window) / stride + 1;
	struct te_tensor *x = input(m, "x", 1, (int[]){ n });
	struct iter_var *i = axes(m, 1, (int[]){ n }, names);
	const struct expr *at[] = { i[0].var->expr };
	struct te_tensor *b =
		te_compute(m, "b", "elementwise", 1, i,
			   expr_add(m, te_at(m, x, at, 1),
				    expr_float(m, dtype_of(DT_F32), 1)),
			   &x, 1);
	struct iter_var *o = axes(m, 1, (int[]){ out }, names);
	struct iter_var k = te_reduce_axis(m, "k", expr_i32(m, window));
	const struct expr *where[] = {
		expr_add(m, expr_mul(m, o[0].var->expr, expr_i32(m, stride)),
			 k.var->expr)
	};
	struct te_tensor *y = te_compute(m, "y", "window", 1, o,
					 te_sum(m, te_at(m, b, where, 1), &k,
						1),
					 &b, 1);

	return te_to_func(m, "window", (struct te_tensor *[]){ x, y }, 2);
}

/* -- reindex */

static void
test_reindex(void)
{
	struct module *m = module_new();
	struct trial t;

	trial_start(&t, m, make_transpose(m, 5, 7));
	apply(&t, "reindex", ARGS(blk(&t, "y"), buf(&t, "read", 0)));
	CHECK(trial_text_has(&t, "x_reindex[v_i, v_j]"));
	apply(&t, "reindex", ARGS(blk(&t, "y"), buf(&t, "write", 0)));
	CHECK(trial_text_has(&t, "y_reindex[v_i_1, v_j_1]"));
	trial_lower(&t);
	/* A convolution's input becomes one row per output element. */
	trial_start(&t, m, make_conv(m, 2, 5, 3, 3, 2));
	apply(&t, "reindex", ARGS(blk(&t, "conv"), buf(&t, "read", 0)));
	apply(&t, "reindex", ARGS(blk(&t, "conv"), buf(&t, "write", 0)));
	trial_lower(&t);
	/* What is padded is read with the condition. */
	trial_start(&t, m, make_conv(m, 2, 5, 3, 3, 1));
	apply(&t, "reindex", ARGS(blk(&t, "pad"), buf(&t, "read", 0)));
	CHECK(trial_text_has(&t, "= x_reindex["));
	trial_lower(&t);
	/* y reads c at [i, j] and bias at [j]; c is read once only. */
	trial_start(&t, m, make_matmul(m, 4, 5, 6));
	apply(&t, "reindex", ARGS(blk(&t, "c"), buf(&t, "read", 1)));
	trial_lower(&t);
	module_free(m);
}

static void
test_reindex_refusals(void)
{
	struct module *m = module_new();
	struct trial t;

	trial_start(&t, m, make_conv(m, 2, 5, 3, 3, 1));
	apply(&t, "compute_at", ARGS(blk(&t, "pad"), loop(&t, "conv", 2)));
	refuse(&t, "before compute_at", "reindex",
	       ARGS(blk(&t, "conv"), buf(&t, "read", 0)));
	refuse(&t, "before compute_at", "reindex",
	       ARGS(blk(&t, "pad"), buf(&t, "write", 0)));
	refuse(&t, "has no input 5", "reindex",
	       ARGS(blk(&t, "conv"), buf(&t, "read", 5)));
	trial_start(&t, m, make_softmax(m, 3, 4));
	CHECK(trial_same(&t));
	module_free(m);
}

static void
test_reindex_cache(void)
{
	struct module *m = module_new();
	struct trial t;

	trial_start(&t, m, make_matmul(m, 6, 5, 7));
	apply(&t, "reindex_cache_read",
	      ARGS(blk(&t, "c"), sv_int(0), sv_string("local"),
		   map_of(&t, 3, 2, matmul_place)));
	CHECK(trial_text_has(&t, "a_local[v_k, v_i]"));
	apply(&t, "reindex_cache_write",
	      ARGS(blk(&t, "y"), sv_int(0), sv_string("local"),
		   map_of(&t, 2, 3, by_four)));
	CHECK(trial_text_has(&t, "y_local[v_i_2 // 4, v_j_1, v_i_2 % 4]"));
	trial_lower(&t);
	trial_start(&t, m, make_matmul(m, 6, 5, 7));
	refuse(&t, "is used by the index map but not by the buffer's index",
	       "reindex_cache_read",
	       ARGS(blk(&t, "c"), sv_int(1), sv_string("local"),
		    map_of(&t, 3, 2, matmul_place)));
	refuse(&t, "takes 2 variables", "reindex_cache_read",
	       ARGS(blk(&t, "c"), sv_int(0), sv_string("local"),
		    map_of(&t, 2, 2, swapped)));
	refuse(&t, "the index of", "reindex_cache_read",
	       ARGS(blk(&t, "y"), sv_int(0), sv_string("local"),
		    map_of(&t, 2, 2, halved)));
	module_free(m);
}

/* -- caches */

static void
test_caches(void)
{
	struct module *m = module_new();
	struct trial t;
	struct sched_value e, y;

	/* e is read by sum and y: both, or one of them. */
	trial_start(&t, m, make_softmax(m, 3, 5));
	apply(&t, "cache_read",
	      ARGS(blk(&t, "sum"), sv_int(0), sv_string("local")));
	CHECK(!trial_text_has(&t, "= e[v_i_4, v_j_1] / sum"));
	trial_lower(&t);
	trial_start(&t, m, make_softmax(m, 3, 5));
	y = blk(&t, "y");
	apply(&t, "cache_read",
	      ARGS(blk(&t, "sum"), sv_int(0), sv_string("local"),
		   sv_list(m, &y, 1)));
	CHECK(trial_text_has(&t, "sum[v_i_2] + e[v_i_2, v_k_1]"));
	trial_lower(&t);
	trial_start(&t, m, make_softmax(m, 3, 5));
	y = blk(&t, "y");
	apply(&t, "cache_write",
	      ARGS(blk(&t, "e"), sv_int(0), sv_string("local"),
		   sv_list(m, &y, 1)));
	CHECK(trial_text_has(&t, "e_local[v_i_4, v_j_2] / sum[v_i_4]"));
	trial_lower(&t);
	/* Producer and consumer in one loop: the copy stands between them. */
	trial_start(&t, m, make_softmax(m, 3, 5));
	e = blk(&t, "e");
	apply(&t, "compute_at", ARGS(blk(&t, "top"), loop(&t, "e", 0)));
	apply(&t, "cache_read", ARGS(e, sv_int(1), sv_string("local")));
	trial_lower(&t);
	trial_start(&t, m, make_softmax(m, 3, 5));
	e = blk(&t, "e");
	refuse(&t, "that only reads", "cache_read",
	       ARGS(blk(&t, "sum"), sv_int(0), sv_string("local"),
		    sv_list(m, &e, 1)));
	refuse(&t, "does not read e after block e", "cache_write",
	       ARGS(e, sv_int(0), sv_string("local"), sv_list(m, &e, 1)));
	refuse(&t, "no input 7", "cache_read",
	       ARGS(e, sv_int(7), sv_string("local")));
	apply(&t, "compute_at", ARGS(blk(&t, "top"), loop(&t, "e", 0)));
	refuse(&t, "before compute_at", "cache_write",
	       ARGS(blk(&t, "top"), sv_int(0), sv_string("local")));
	module_free(m);
}

/* x[i] = x[i] * 2 for i < n (the block "x"), all of y = x + 1 ("y"); x is
 * inside the function, filled with z by block "fill". */
static struct func *
make_inplace(struct module *m, int n, bool conditional)
{
	struct func *f = make_window(m, n, 1, 1);
	struct stmt *fill = func_find_block(f, "b"), *body, *copy;
	struct stmt *nest = fill->parent, *pair[2];
	const struct buffer *b;
	struct stmt *store;

	copy = stmt_clone(f, nest, true);
	body = copy;
	while (body->kind != STMT_BLOCK) {
		body = body->children[0];
	}
	{
		struct block info = *body->u.block;

		info.name = "x";
		info.reads = info.writes;
		info.n_reads = 1;
		stmt_set_block(f, body, &info);
	}
	store = body->children[0];
	b = store->u.buffer;
	stmt_set_arg(f, store, 0,
		     expr_mul(m, expr_load(m, b, store->args + 1, 1),
			      expr_float(m, dtype_of(DT_F32), 2)));
	if (conditional) {
		struct stmt_place place = stmt_place_of(store);

		stmt_put(f, place,
			 stmt_if(f, expr_lt(m, expr_i32(m, 1), store->args[1]),
				 store, NULL));
	}
	pair[0] = nest;
	pair[1] = copy;
	{
		struct stmt_place place = stmt_place_of(nest);

		stmt_put(f, place, stmt_seq(f, pair, 2));
	}
	return f;
}

static void
test_inplace(void)
{
	struct module *m = module_new();
	struct trial t;

	for (int conditional = 0; conditional < 2; conditional++) {
		trial_start(&t, m, make_inplace(m, 6, conditional));
		apply(&t, "cache_inplace",
		      ARGS(blk(&t, "x"), sv_int(0), sv_string("local")));
		CHECK(trial_text_has(&t, "] = b_local["));
		trial_lower(&t);
	}
	trial_start(&t, m, make_inplace(m, 6, false));
	refuse(&t, "other blocks also write b", "cache_write",
	       ARGS(blk(&t, "x"), sv_int(0), sv_string("local")));
	refuse(&t, "use cache_read", "cache_inplace",
	       ARGS(blk(&t, "y"), sv_int(0), sv_string("local")));
	module_free(m);
}

/* -- layouts */

static void
corner(struct module *m, const struct expr *const *v, const struct expr **out)
{
	out[0] = expr_cast(m, dtype_of(DT_F32), expr_add(m, v[0], v[2]));
}

static void
test_layout(void)
{
	struct module *m = module_new();
	struct trial t;

	trial_start(&t, m, make_matmul(m, 8, 5, 7));
	apply(&t, "transform_layout",
	      ARGS(blk(&t, "c"), buf(&t, "write", 0),
		   map_of(&t, 2, 3, by_four)));
	CHECK(trial_text_has(&t, "c[v_i // 4, v_j, v_i % 4]"));
	apply(&t, "transform_layout",
	      ARGS(blk(&t, "c"), sv_string("c"),
		   map_of(&t, 3, 3, matmul_turn)));
	trial_lower(&t);
	/* 6 rows in tiles of 4, padded. */
	for (int k = 0; k < 3; k++) {
		trial_start(&t, m, make_matmul(m, 6, 5, 7));
		apply(&t, "transform_layout",
		      ARGS(blk(&t, "y"), buf(&t, "read", 0),
			   map_of(&t, 2, 3, by_four),
			   k == 0   ? sv_none()
			   : k == 1 ? sv_int(0)
				    : map_of(&t, 3, 1, corner)));
		CHECK_EQ(trial_text_has(&t, "c_pad"), k > 0);
		trial_lower(&t);
	}
	trial_start(&t, m, make_matmul(m, 6, 5, 7));
	refuse(&t, "has 2 dimensions, the map takes 3", "transform_layout",
	       ARGS(blk(&t, "c"), buf(&t, "write", 0),
		    map_of(&t, 3, 3, matmul_turn)));
	refuse(&t, "or set assume_injective_transform", "transform_layout",
	       ARGS(blk(&t, "c"), buf(&t, "write", 0),
		    map_of(&t, 2, 2, halved)));
	refuse(&t, "c now has 3 dimensions", "transform_layout",
	       ARGS(blk(&t, "c"), buf(&t, "write", 0),
		    map_of(&t, 2, 3, by_four), map_of(&t, 2, 2, swapped)));
	refuse(&t, "neither", "transform_layout",
	       ARGS(blk(&t, "c"), buf(&t, "wrote", 0),
		    map_of(&t, 2, 3, by_four)));
	module_free(m);
}

/* -- block layout */

static void
test_block_layout(void)
{
	struct module *m = module_new();
	struct trial t;

	trial_start(&t, m, make_matmul(m, 6, 5, 7));
	apply(&t, "transform_block_layout",
	      ARGS(blk(&t, "c"), map_of(&t, 3, 2, matmul_all)));
	CHECK(trial_text_has(&t, "c[v_i0 // 7, v_i0 % 7]"));
	apply(&t, "transform_block_layout",
	      ARGS(blk(&t, "y"), map_of(&t, 2, 2, swapped)));
	trial_lower(&t);
	/* 6 rows in tiles of 4: a predicate. */
	trial_start(&t, m, make_matmul(m, 6, 5, 7));
	apply(&t, "transform_block_layout",
	      ARGS(blk(&t, "c"), map_of(&t, 3, 4, matmul_tiled)));
	trial_lower(&t);
	trial_start(&t, m, make_matmul(m, 6, 6, 7));
	apply(&t, "transform_block_layout",
	      ARGS(blk(&t, "c"), map_of(&t, 3, 4, matmul_split_k)));
	trial_lower(&t);
	module_free(m);
}

static void
test_block_layout_refusals(void)
{
	struct module *m = module_new();
	struct trial t;

	trial_start(&t, m, make_matmul(m, 6, 5, 7));
	refuse(&t, "mixes spatial and reduction", "transform_block_layout",
	       ARGS(blk(&t, "c"), map_of(&t, 3, 2, matmul_mixed)));
	refuse(&t, "does not divide a reduction iter var",
	       "transform_block_layout",
	       ARGS(blk(&t, "c"), map_of(&t, 3, 4, matmul_split_k)));
	refuse(&t, "takes 2 variables", "transform_block_layout",
	       ARGS(blk(&t, "c"), map_of(&t, 2, 2, swapped)));
	refuse(&t, "the index map of block y", "transform_block_layout",
	       ARGS(blk(&t, "y"), map_of(&t, 2, 2, halved)));
	apply(&t, "parallel", ARGS(loop(&t, "y", 0)));
	refuse(&t, "not a plain perfect nest", "transform_block_layout",
	       ARGS(blk(&t, "y"), map_of(&t, 2, 2, swapped)));
	apply(&t, "split",
	      ARGS(loop(&t, "c", 0),
		   sv_list(m, (struct sched_value[]){ sv_none(), sv_int(2) },
			   2)));
	refuse(&t, "not bound to a loop of its own", "transform_block_layout",
	       ARGS(blk(&t, "c"), map_of(&t, 3, 2, matmul_all)));
	module_free(m);
}

/* -- storage */

static void
test_storage(void)
{
	struct module *m = module_new();
	struct trial t;

	trial_start(&t, m, make_matmul(m, 6, 5, 8));
	apply(&t, "storage_align",
	      ARGS(blk(&t, "c"), sv_int(0), sv_int(-2), sv_int(8), sv_int(1)));
	CHECK(trial_text_has(&t, "\"buffer_dim_align\": [[0, 0, 8, 1]]"));
	apply(&t, "storage_align",
	      ARGS(blk(&t, "c"), sv_int(0), sv_int(0), sv_int(8), sv_int(3)));
	CHECK(trial_text_has(&t, "\"buffer_dim_align\": [[0, 0, 8, 3]]"));
	refuse(&t, "no axis 2", "storage_align",
	       ARGS(blk(&t, "c"), sv_int(0), sv_int(2), sv_int(8), sv_int(1)));
	refuse(&t, "are contiguous", "storage_align",
	       ARGS(blk(&t, "c"), sv_int(0), sv_int(1), sv_int(8), sv_int(1)));
	refuse(&t, "must be from 1 to 65536", "storage_align",
	       ARGS(blk(&t, "c"), sv_int(0), sv_int(0), sv_int(0), sv_int(1)));
	refuse(&t, "writes the parameter y", "storage_align",
	       ARGS(blk(&t, "y"), sv_int(0), sv_int(0), sv_int(8), sv_int(1)));
	refuse(&t, "has no output 1", "storage_align",
	       ARGS(blk(&t, "c"), sv_int(1), sv_int(0), sv_int(8), sv_int(1)));
	trial_lower(&t);
	CHECK(trial_text_has(&t, "(6, 11)"));
	/* Small integers are exact in half precision. */
	trial_start(&t, m, make_matmul(m, 6, 5, 7));
	apply(&t, "unsafe_set_dtype",
	      ARGS(blk(&t, "c"), sv_int(0), sv_string("float16")));
	CHECK(trial_text_has(&t, "\"float16\""));
	CHECK(m->diags.list.n == 1 &&
	      m->diags.list.data[0].severity == DIAG_NOTE);
	CHECK(strstr(m->diags.list.data[0].place.item,
		     "matmul: step 2, unsafe_set_dtype"));
	refuse(&t, "is not an element type", "unsafe_set_dtype",
	       ARGS(blk(&t, "c"), sv_int(0), sv_string("float17")));
	refuse(&t, "is not an element type", "unsafe_set_dtype",
	       ARGS(blk(&t, "c"), sv_int(0), sv_string("float16x4")));
	refuse(&t, "writes the parameter y", "unsafe_set_dtype",
	       ARGS(blk(&t, "y"), sv_int(0), sv_string("float16")));
	trial_lower(&t);
	module_free(m);
}

/* Six dimensions, each padded to a multiple of 65536 and one more, would be
 * 2^96 elements: as many are padded as memory may hold. */
static void
test_align_limit(void)
{
	struct module *m = module_new();
	const struct expr *shape[6], *list[5];
	int64_t elems = 1, n;

	for (int d = 0; d < 6; d++) {
		shape[d] = expr_i32(m, 3);
	}
	for (int d = 0; d < 5; d++) {
		const struct expr *entry[] = { expr_i32(m, d),
					       expr_i32(m, 65536),
					       expr_i32(m, 1) };

		list[d] = expr_list(m, entry, 3);
	}
	storage_align_shape(m, expr_list(m, list, 5), shape, 6);
	for (int d = 0; d < 6; d++) {
		CHECK(expr_is_int(shape[d], &n) && n >= 3);
		CHECK(!__builtin_mul_overflow(elems, n, &elems));
	}
	CHECK(expr_is_value(shape[5], 65537));
	CHECK(elems <= (int64_t)1 << 40);
	module_free(m);
}

/* -- padding */

static void
test_decompose_padding(void)
{
	struct module *m = module_new();
	struct trial t;

	trial_start(&t, m, make_conv(m, 2, 5, 3, 3, 1));
	apply(&t, "decompose_padding",
	      ARGS(blk(&t, "pad"), loop(&t, "pad", 0)));
	CHECK(trial_text_has(&t, "pad_pad_const"));
	CHECK(trial_text_has(&t, "T.grid(1, 2, 5, 5)"));
	trial_lower(&t);
	/* Tiled loops: a predicate. */
	trial_start(&t, m, make_conv(m, 2, 5, 3, 3, 1));
	apply(&t, "split",
	      ARGS(loop(&t, "pad", 3),
		   sv_list(m, (struct sched_value[]){ sv_none(), sv_int(4) },
			   2)));
	apply(&t, "decompose_padding",
	      ARGS(blk(&t, "pad"), loop(&t, "pad", 2)));
	trial_lower(&t);
	/* Inside of its consumer's loops. */
	trial_start(&t, m, make_conv(m, 2, 6, 3, 3, 2));
	apply(&t, "compute_at", ARGS(blk(&t, "pad"), loop(&t, "conv", 2)));
	apply(&t, "decompose_padding",
	      ARGS(blk(&t, "pad"), loop(&t, "pad", 3)));
	trial_lower(&t);
	trial_start(&t, m, make_conv(m, 2, 5, 3, 3, 1));
	refuse(&t, "does not select between", "decompose_padding",
	       ARGS(blk(&t, "y"), loop(&t, "y", 0)));
	refuse(&t, "not a single assignment", "decompose_padding",
	       ARGS(blk(&t, "conv"), loop(&t, "conv", 0)));
	refuse(&t, "is not around block pad", "decompose_padding",
	       ARGS(blk(&t, "pad"), loop(&t, "conv", 0)));
	module_free(m);
}

static void
test_pad_einsum(void)
{
	struct module *m = module_new();
	struct trial t;
	struct sched_value by[3] = { sv_int(4), sv_int(4), sv_int(8) };
	struct sched_value one[3] = { sv_int(1), sv_int(1), sv_int(8) };
	struct sched_value bad[3] = { sv_int(0), sv_int(1), sv_int(8) };

	trial_start(&t, m, make_matmul(m, 6, 5, 7));
	apply(&t, "pad_einsum", ARGS(blk(&t, "c"), sv_list(m, by, 3)));
	CHECK(trial_text_has(&t, "T.grid(8, 8, 8)"));
	trial_lower(&t);
	trial_start(&t, m, make_matmul(m, 6, 5, 7));
	apply(&t, "pad_einsum", ARGS(blk(&t, "c"), sv_list(m, one, 3)));
	trial_lower(&t);
	trial_start(&t, m, make_matmul(m, 6, 5, 7));
	refuse(&t, "2 paddings for the 3 iter vars", "pad_einsum",
	       ARGS(blk(&t, "c"), sv_list(m, by, 2)));
	refuse(&t, "not a positive number", "pad_einsum",
	       ARGS(blk(&t, "c"), sv_list(m, bad, 3)));
	refuse(&t, "not a reduction of one value", "pad_einsum",
	       ARGS(blk(&t, "y"), sv_list(m, by, 2)));
	trial_start(&t, m, make_softmax(m, 3, 4));
	refuse(&t, "is not a sum", "pad_einsum",
	       ARGS(blk(&t, "top"), sv_list(m, by, 2)));
	trial_start(&t, m, make_window(m, 9, 3, 1));
	refuse(&t, "neither an iter var nor a constant", "pad_einsum",
	       ARGS(blk(&t, "y"), sv_list(m, by, 2)));
	module_free(m);
}

/* -- rolling */

static void
test_rolling(void)
{
	struct module *m = module_new();
	struct trial t;

	for (int stride = 1; stride < 3; stride++) {
		trial_start(&t, m, make_window(m, 13, 4, stride));
		apply(&t, "compute_at", ARGS(blk(&t, "b"), loop(&t, "y", 0)));
		apply(&t, "rolling_buffer", ARGS(blk(&t, "b"), sv_int(0)));
		CHECK(trial_text_has(&t, "% 4"));
		trial_lower(&t);
	}
	/* Rows roll; columns are computed anew. */
	trial_start(&t, m, make_conv(m, 2, 6, 3, 3, 1));
	apply(&t, "reorder",
	      ARGS(sv_list(m,
			   (struct sched_value[]){ loop(&t, "conv", 2),
						   loop(&t, "conv", 3),
						   loop(&t, "conv", 1) },
			   3)));
	apply(&t, "compute_at", ARGS(blk(&t, "pad"), loop(&t, "conv", 2)));
	apply(&t, "rolling_buffer", ARGS(blk(&t, "pad"), sv_int(0)));
	trial_lower(&t);
	trial_start(&t, m, make_window(m, 13, 4, 1));
	refuse(&t, "not in a common loop", "rolling_buffer",
	       ARGS(blk(&t, "b"), sv_int(0)));
	refuse(&t, "not a single assignment", "rolling_buffer",
	       ARGS(blk(&t, "y"), sv_int(0)));
	trial_start(&t, m, make_window(m, 12, 4, 4));
	apply(&t, "compute_at", ARGS(blk(&t, "b"), loop(&t, "y", 0)));
	refuse(&t, "nothing to keep", "rolling_buffer",
	       ARGS(blk(&t, "b"), sv_int(0)));
	trial_start(&t, m, make_window(m, 13, 4, 1));
	apply(&t, "compute_at", ARGS(blk(&t, "b"), loop(&t, "y", 0)));
	apply(&t, "parallel", ARGS(loop(&t, "y", 0)));
	refuse(&t, "only a serial loop", "rolling_buffer",
	       ARGS(blk(&t, "b"), sv_int(0)));
	module_free(m);
}

/* -- epilogue */

/* d[i] = sum_k a[i, k] + bias[i], then * 2 if more: "c", "d" */
static struct func *
make_bias(struct module *m, int rows, int depth, bool more)
{
	static const char *const names[] = { "i" };
	struct te_tensor *a = input(m, "a", 2, (int[]){ rows, depth });
	struct te_tensor *bias = input(m, "bias", 1, (int[]){ rows });
	struct iter_var *i = axes(m, 1, (int[]){ rows }, names);
	struct iter_var k = te_reduce_axis(m, "k", expr_i32(m, depth));
	const struct expr *at[] = { i[0].var->expr, k.var->expr };
	struct te_tensor *c = te_compute(m, "c", "reduce", 1, i,
					 te_sum(m, te_at(m, a, at, 2), &k, 1),
					 &a, 1);
	struct iter_var *o = axes(m, 1, (int[]){ rows }, names);
	const struct expr *where[] = { o[0].var->expr };
	const struct expr *value = expr_add(m, te_at(m, bias, where, 1),
					    te_at(m, c, where, 1));
	struct te_tensor *d;

	if (more) {
		value = expr_mul(m, value, expr_float(m, dtype_of(DT_F32), 2));
	}
	d = te_compute(m, "d", "elementwise", 1, o, value,
		       (struct te_tensor *[]){ c, bias }, 2);
	return te_to_func(m, "bias", (struct te_tensor *[]){ a, bias, d }, 3);
}

static void
test_epilogue(void)
{
	struct module *m = module_new();
	struct trial t;

	trial_start(&t, m, make_bias(m, 5, 6, false));
	apply(&t, "fuse_reduction_epilogue", ARGS(blk(&t, "c"), blk(&t, "d")));
	CHECK(trial_text_has(&t, "d[v_i] = bias[v_i]"));
	trial_lower(&t);
	trial_start(&t, m, make_bias(m, 5, 6, true));
	refuse(&t, "does not apply a single +", "fuse_reduction_epilogue",
	       ARGS(blk(&t, "c"), blk(&t, "d")));
	refuse(&t, "not a reduction of one value", "fuse_reduction_epilogue",
	       ARGS(blk(&t, "d"), blk(&t, "c")));
	trial_start(&t, m, make_matmul(m, 4, 5, 6));
	refuse(&t, "does not apply a single +", "fuse_reduction_epilogue",
	       ARGS(blk(&t, "c"), blk(&t, "y")));
	trial_start(&t, m, make_softmax(m, 4, 5));
	refuse(&t, "does not read", "fuse_reduction_epilogue",
	       ARGS(blk(&t, "sum"), blk(&t, "e")));
	module_free(m);
}

int
main(void)
{
	test_reindex();
	test_reindex_refusals();
	test_reindex_cache();
	test_caches();
	test_inplace();
	test_layout();
	test_block_layout();
	test_block_layout_refusals();
	test_storage();
	test_align_limit();
	test_decompose_padding();
	test_pad_einsum();
	test_rolling();
	test_epilogue();
	return check_done();
}
