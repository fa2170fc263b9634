/* SPDX-License-Identifier: Apache-2.0 */
/* Random schedules of small programs: a step that succeeds keeps the results,
 * one that fails leaves the program as it was, and lowering keeps the results
 * of both. One argument: the number of schedules; a second: the first seed. */
#include "schedule_help.h"

#include "primitive.h"

struct rng {
	unsigned state;
};

static int
pick(struct rng *r, int n)
{
	r->state = r->state * 1664525u + 1013904223u;
	return (int)((r->state >> 8) % (unsigned)n);
}

static struct func *
make_program(struct module *m, struct rng *r)
{
	switch (pick(r, 4)) {
	case 0:
		return make_matmul(m, 1 + pick(r, 7), 1 + pick(r, 6),
				   1 + pick(r, 8));
	case 1:
		return make_conv(m, 1 + pick(r, 3), 4 + pick(r, 3),
				 1 + pick(r, 4), 1 + 2 * pick(r, 2),
				 1 + pick(r, 2));
	case 2:
		return make_softmax(m, 1 + pick(r, 5), 1 + pick(r, 6));
	default:
		return make_add(m, 1 + pick(r, 3), 1 + pick(r, 4),
				1 + pick(r, 4), pick(r, 2));
	}
}

static int
random_block(struct trial *t, struct rng *r)
{
	int *blocks, n = sched_get_child_blocks(&t->s, 0, &blocks);

	return n > 0 ? blocks[pick(r, n)] : 0;
}

static int
random_loop(struct trial *t, struct rng *r)
{
	int *loops, n;

	return sched_get_loops(&t->s, random_block(t, r), &loops, &n) && n > 0
		       ? loops[pick(r, n)]
		       : 0;
}

static bool
random_order(struct trial *t, struct rng *r)
{
	int *loops, n, count;

	if (!sched_get_loops(&t->s, random_block(t, r), &loops, &n) || n < 2) {
		return true;
	}
	for (int i = n - 1; i > 0; i--) {
		int k = pick(r, i + 1), held = loops[i];

		loops[i] = loops[k];
		loops[k] = held;
	}
	count = 2 + pick(r, n - 1);
	return sched_reorder(&t->s, loops, count);
}

static bool
random_fuse(struct trial *t, struct rng *r)
{
	int *loops, n, first, count, out;

	if (!sched_get_loops(&t->s, random_block(t, r), &loops, &n) || n < 2) {
		return true;
	}
	first = pick(r, n - 1);
	count = 2 + pick(r, n - first - 1);
	return sched_fuse(&t->s, loops + first, count, &out);
}

static bool
random_partition(struct trial *t, struct rng *r)
{
	struct sched_value factors[3], args[2];
	int n = 1 + pick(r, 3);

	for (int i = 0; i < n; i++) {
		factors[i] = sv_int(1 + pick(r, 3));
	}
	if (pick(r, 3) == 0) {
		factors[pick(r, n)] = sv_none();
	}
	args[0] = sv_loop(random_loop(t, r));
	args[1] = sv_list(t->m, factors, n);
	return sched_apply(&t->s, "loop_partition", args, 2, NULL);
}

static bool
random_merge(struct trial *t, struct rng *r)
{
	struct sched_value loops[2];
	struct sched_value arg;

	loops[0] = sv_loop(random_loop(t, r));
	loops[1] = sv_loop(random_loop(t, r));
	arg = sv_list(t->m, loops, 2);
	return sched_apply(&t->s, "merge", &arg, 1, NULL);
}

static bool
random_form(struct trial *t, struct rng *r)
{
	struct sched_value args[2], order[16];
	const struct stmt *b;
	int n;

	args[0] = sv_block(random_block(t, r));
	if (pick(r, 2)) {
		return sched_apply(&t->s, "add_unit_loop", args, 1, NULL);
	}
	b = func_find(t->f, args[0].u.id);
	n = b && b->u.block->n_iters <= 16 ? b->u.block->n_iters : 0;
	for (int i = 0; i < n; i++) {
		int at = pick(r, i + 1);

		order[i] = order[at];
		order[at] = sv_int(i);
	}
	args[1] = sv_list(t->m, order, n);
	return sched_apply(&t->s, "reorder_block_iter_var", args, 2, NULL);
}

static bool
random_blockize(struct trial *t, struct rng *r)
{
	struct sched_value blocks[2], args[2];

	args[1] = sv_bool(pick(r, 2));
	switch (pick(r, 4)) {
	case 0:
		args[0] = sv_block(random_block(t, r));
		break;
	case 1:
		blocks[0] = sv_block(random_block(t, r));
		blocks[1] = sv_block(random_block(t, r));
		args[0] = sv_list(t->m, blocks, 2);
		break;
	default:
		args[0] = sv_loop(random_loop(t, r));
		break;
	}
	return sched_apply(&t->s, "blockize", args, 2, NULL);
}

/* -- the primitives on buffers, through the table */

static struct sched_value
random_buffer(struct trial *t, struct rng *r)
{
	struct sched_value pair[2] = { sv_string(pick(r, 2) ? "read" : "write"),
				       sv_int(pick(r, 2)) };

	return sv_list(t->m, pair, 2);
}

/* The variables in another order, and one of them split or two joined. */
static struct sched_value
random_map(struct trial *t, struct rng *r, int n)
{
	struct module *m = t->m;
	struct index_map *map = arena_new(&m->arena, struct index_map);
	const struct expr *by = expr_i32(m, 1 + pick(r, 4));
	int turn = n > 0 ? pick(r, n) : 0, k = 0;

	map->n_logical = n;
	map->logical = arena_array(&m->arena, struct var *, n + 1);
	map->to_physical = arena_array(&m->arena, const struct expr *, n + 2);
	for (int i = 0; i < n; i++) {
		map->logical[i] = var_new(m, "v", dtype_of(DT_I32));
	}
	for (int i = 0; i < n; i++) {
		const struct expr *v = map->logical[(i + turn) % n]->expr;

		if (i == 0 && pick(r, 2)) {
			map->to_physical[k++] = expr_floordiv(m, v, by);
			v = expr_floormod(m, v, by);
		}
		map->to_physical[k++] = v;
	}
	map->n_physical = k;
	return sv_map(map);
}

static const struct buffer *
written(struct trial *t, int block)
{
	const struct stmt *s = func_find(t->f, block);

	return s && s->kind == STMT_BLOCK && s->u.block->n_writes > 0
		       ? s->u.block->writes[0].buffer
		       : NULL;
}

static bool
is_parameter(struct trial *t, int block)
{
	const struct buffer *b = written(t, block);

	for (int i = 0; b && i < t->f->params.n; i++) {
		if (t->f->params.data[i].buffer == b) {
			return true;
		}
	}
	return !b;
}

static int
rank_written(struct trial *t, int block)
{
	return written(t, block)->ndim;
}

static int
iters_of(struct trial *t, int block)
{
	const struct stmt *s = func_find(t->f, block);

	return s && s->kind == STMT_BLOCK ? s->u.block->n_iters : 1;
}

static bool
random_buffer_step(struct trial *t, struct rng *r)
{
	int block = random_block(t, r), n = iters_of(t, block);
	struct sched_value b = sv_block(block);
	struct sched_value l = sv_loop(random_loop(t, r));
	struct sched_value local = sv_string("local");
	struct sched_value i = sv_int(pick(r, 2));
	struct sched_value which = random_buffer(t, r);
	struct sched_value pads[8], args[5] = { b, i, local };

	switch (pick(r, 18)) {
	case 16:
		return sched_apply(&t->s, "annotate",
				   (struct sched_value[]){
					   b, sv_string("double_buffer_scope"),
					   sv_int(0) },
				   3, NULL);
	case 17:
		return sched_apply(&t->s, "bind",
				   (struct sched_value[]){
					   l, sv_string("vthread") },
				   2, NULL);
	case 0:
		return sched_apply(&t->s, "reindex",
				   (struct sched_value[]){ b, which }, 2, NULL);
	case 1:
	case 2:
		args[3] = random_map(t, r, n);
		return sched_apply(&t->s,
				   pick(r, 2) ? "reindex_cache_read"
					      : "reindex_cache_write",
				   args, 4, NULL);
	case 3:
		return sched_apply(&t->s, "cache_inplace", args, 3, NULL);
	case 4:
		return sched_apply(&t->s, "cache_index",
				   (struct sched_value[]){ b, local }, 2, NULL);
	case 5:
	case 6:
		return sched_apply(&t->s, pick(r, 2) ? "read_at" : "write_at",
				   (struct sched_value[]){ l, b, i, local }, 4,
				   NULL);
	case 7:
		return sched_apply(&t->s, "storage_align",
				   (struct sched_value[]){
					   b, sv_int(0), sv_int(pick(r, 2)),
					   sv_int(1 + pick(r, 8)),
					   sv_int(pick(r, 4)) },
				   5, NULL);
	case 8:
	case 9:
		/* Of parameters the layout is the caller's. */
		if (is_parameter(t, block)) {
			return true;
		}
		args[1] = sv_list(t->m,
				  (struct sched_value[]){ sv_string("write"),
							  sv_int(0) },
				  2);
		args[2] = random_map(t, r, rank_written(t, block));
		args[3] = pick(r, 2) ? sv_none() : sv_int(7);
		return sched_apply(&t->s, "transform_layout", args, 4, NULL);
	case 10:
	case 11:
		return sched_apply(&t->s, "transform_block_layout",
				   (struct sched_value[]){
					   b, random_map(t, r, n) },
				   2, NULL);
	case 12:
		return sched_apply(&t->s, "decompose_padding",
				   (struct sched_value[]){ b, l }, 2, NULL);
	case 13:
		for (int k = 0; k < 8; k++) {
			pads[k] = sv_int(1 + pick(r, 4));
		}
		return n > 8 || sched_apply(&t->s, "pad_einsum",
					    (struct sched_value[]){
						    b, sv_list(t->m, pads, n) },
					    2, NULL);
	case 14:
		return sched_apply(&t->s, "rolling_buffer",
				   (struct sched_value[]){ b, sv_int(0) }, 2,
				   NULL);
	default:
		return sched_apply(&t->s, "fuse_reduction_epilogue",
				   (struct sched_value[]){
					   b, sv_block(random_block(t, r)) },
				   2, NULL);
	}
}

static bool
random_step(struct trial *t, struct rng *r)
{
	int out[4];
	int64_t factors[] = { 0, 1 + pick(r, 5), 1 + pick(r, 3) };

	if (pick(r, 4) == 0) {
		return random_buffer_step(t, r);
	}
	switch (pick(r, 19)) {
	case 0:
	case 1:
		return sched_split(&t->s, random_loop(t, r), factors,
				   2 + pick(r, 2), out);
	case 2:
		return random_fuse(t, r);
	case 3:
	case 4:
		return random_order(t, r);
	case 5:
		return sched_compute_inline(&t->s, random_block(t, r));
	case 6:
		return sched_reverse_compute_inline(&t->s, random_block(t, r));
	case 7:
	case 8:
		return sched_compute_at(&t->s, random_block(t, r),
					random_loop(t, r));
	case 9:
	case 10:
		return sched_reverse_compute_at(&t->s, random_block(t, r),
						random_loop(t, r));
	case 11:
		return sched_cache_write(&t->s, random_block(t, r), 0, "local",
					 out);
	case 12:
		return sched_cache_read(&t->s, random_block(t, r), pick(r, 2),
					"local", out);
	case 13:
		switch (pick(r, 4)) {
		case 0:
			return sched_decompose_reduction(&t->s,
							 random_block(t, r),
							 random_loop(t, r),
							 out);
		case 1:
			return sched_rfactor_inside(&t->s, random_loop(t, r),
						    (int)pick(r, 3) - 1, out);
		case 2:
			return sched_unroll(&t->s, random_loop(t, r));
		default:
			return sched_vectorize(&t->s, random_loop(t, r));
		}
	case 14:
		return random_partition(t, r);
	case 15:
		return random_merge(t, r);
	case 16:
		return random_form(t, r);
	case 17:
		return random_blockize(t, r);
	default:
		return sched_parallel(&t->s, random_loop(t, r));
	}
}

static bool
schedule_once(unsigned seed)
{
	struct rng r = { seed * 2654435761u + 1 };
	struct module *m = module_new();
	struct trial t;
	struct strbuf before, after, trace;
	bool good = true;
	int steps = 3 + pick(&r, 10);

	trial_start(&t, m, make_program(m, &r));
	for (int i = 0; i < steps && good; i++) {
		strbuf_init(&before);
		strbuf_init(&after);
		func_print(t.f, SCRIPT_CURRENT, &before);
		if (random_step(&t, &r)) {
			good = trial_same(&t);
		} else {
			func_print(t.f, SCRIPT_CURRENT, &after);
			good = CHECK(strcmp(before.data, after.data) == 0) &&
			       CHECK(t.s.diags.list.n > 0);
			t.s.diags.list.n = 0;
		}
		strbuf_release(&before);
		strbuf_release(&after);
	}
	good = good && trial_lower(&t);
	if (!good) {
		strbuf_init(&trace);
		strbuf_puts(&trace, "");
		sched_print_trace(&t.s, &trace);
		fprintf(stderr, "seed %u:\n%s", seed, trace.data);
		strbuf_release(&trace);
	}
	module_free(m);
	return good;
}

int
main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 150;
	unsigned first = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	unsigned bad = 0;

	for (unsigned seed = first; seed < first + n && bad < 3; seed++) {
		bad += !schedule_once(seed);
	}
	return check_done();
}
