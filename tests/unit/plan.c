/* SPDX-License-Identifier: Apache-2.0 */
/* Offsets of blocks with random lives: nothing overlaps, the size is near its
 * bound; an order with a lower peak is found. */
#include "plan.h"
#include "check.h"
#include "storages.h"

#include <stdlib.h>

static uint32_t
next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static int64_t
bound_of(const struct block_life *b, int n, int moments)
{
	int64_t most = 0;

	for (int at = 0; at < moments; at++) {
		int64_t sum = 0;

		for (int i = 0; i < n; i++) {
			if (b[i].first <= at && at <= b[i].last) {
				sum += b[i].bytes;
			}
		}
		most = sum > most ? sum : most;
	}
	return most;
}

/* Those alive with each block, and their bytes, as all pairs tell. */
static void
check_lives(const struct block_life *b, int n, struct arena *a)
{
	struct lives lives;
	int *beside = arena_array(a, int, n + 1);

	lives_find(&lives, a, b, n);
	for (int i = 0; i < n; i++) {
		int found = lives_overlapping(&lives, i, beside), together = 0;
		int64_t bytes = 0, seen = 0;

		for (int k = 0; k < n; k++) {
			if (b[i].first <= b[k].last &&
			    b[k].first <= b[i].last) {
				together++;
				bytes += b[k].bytes;
			}
		}
		for (int k = 0; k < found; k++) {
			CHECK(b[beside[k]].first <= b[i].last &&
			      b[i].first <= b[beside[k]].last);
			seen += b[beside[k]].bytes;
		}
		CHECK_EQ(found, together);
		CHECK_EQ(seen, bytes);
		CHECK_EQ(lives_overlapping_bytes(&lives, i), bytes);
		CHECK(lives_peak_bytes(&lives, i) <= bytes);
		CHECK(lives_peak_bytes(&lives, i) >= b[i].bytes);
	}
}

static void
check_blocks(const struct block_life *b, int n, int64_t size, int64_t align)
{
	for (int i = 0; i < n; i++) {
		CHECK(b[i].offset_bytes >= 0);
		CHECK(b[i].offset_bytes % align == 0);
		CHECK(b[i].offset_bytes + b[i].bytes <= size);
		for (int k = 0; k < i; k++) {
			bool together = b[i].first <= b[k].last &&
					b[k].first <= b[i].last;
			bool apart = b[i].offset_bytes + b[i].bytes <=
					     b[k].offset_bytes ||
				     b[k].offset_bytes + b[k].bytes <=
					     b[i].offset_bytes;

			CHECK(!together || apart);
		}
	}
}

/* Blocks of a network: most live for a few kernels, some long. */
static void
test_random(uint32_t seed, int n, int64_t align)
{
	struct block_life b[120];
	struct arena a;
	const char *strategy;
	int64_t bound, size;

	arena_init(&a);
	for (int i = 0; i < n; i++) {
		uint32_t long_life = next_random(&seed) % 8 == 0;

		b[i] = (struct block_life){ .first = i, .align_bytes = 4 };
		b[i].last = i + 1 +
			    (int)(next_random(&seed) % (long_life ? 20 : 3));
		b[i].bytes = (1 + next_random(&seed) % 64) * 64;
	}
	check_lives(b, n, &a);
	bound = bound_of(b, n, n + 32);
	size = plan_offsets(&a, b, n, align, bound, &strategy);
	check_blocks(b, n, size, align);
	CHECK(size >= bound);
	CHECK(size * 100 <= bound * 115);
	arena_release(&a);
}

/* So many blocks are live together that a sweep places them. */
static void
test_many(int n, int64_t align)
{
	struct arena a;
	struct block_life *b;
	const char *strategy;
	uint32_t seed = 7;
	int64_t size;

	arena_init(&a);
	b = arena_array(&a, struct block_life, n);
	for (int i = 0; i < n; i++) {
		b[i] = (struct block_life){ .first = i, .align_bytes = 4 };
		b[i].last = next_random(&seed) % 4 != 0
				    ? n
				    : i + (int)(next_random(&seed) % 9);
		b[i].bytes = (1 + next_random(&seed) % 64) * 64;
	}
	size = plan_offsets(&a, b, n, align, 0, &strategy);
	CHECK_STR_EQ(strategy, "start, sweep");
	check_blocks(b, n, size, align);
	CHECK(size * 100 <= bound_of(b, n, n + 32) * 105);
	arena_release(&a);
}

/* The end of a block that is written late has room for others before. */
static void
test_pieces(void)
{
	static const struct piece pieces[2] = { { 0, 100, 0, 4 },
						{ 100, 200, 3, 4 } };
	struct block_life b[2] = {
		{ .bytes = 200,
		  .align_bytes = 4,
		  .first = 0,
		  .last = 4,
		  .pieces = pieces,
		  .n_pieces = 2 },
		{ .bytes = 100, .align_bytes = 4, .first = 1, .last = 2 },
	};
	struct arena a;
	const char *strategy;

	arena_init(&a);
	CHECK_EQ(plan_offsets(&a, b, 2, 4, 200, &strategy), 200);
	CHECK_EQ(b[0].offset_bytes, 0);
	CHECK_EQ(b[1].offset_bytes, 100);
	arena_release(&a);
}

static void
test_nothing(void)
{
	struct arena a;
	const char *strategy;

	arena_init(&a);
	CHECK_EQ(plan_offsets(&a, NULL, 0, 64, 0, &strategy), 0);
	arena_release(&a);
}

static struct tensor *
make_tensor(struct graph *g, const char *name, int64_t elems)
{
	struct tensor *t = graph_tensor(g, name);

	t->typed = true;
	t->type = dtype_of(DT_F32);
	t->ndim = 1;
	t->shape = arena_array(&g->module->arena, const struct expr *, 1);
	t->shape[0] = expr_index(g->module, elems);
	return t;
}

static struct kernel *
make_kernel(struct program *p, const char *name, struct tensor *const *in,
	    int n_in, struct tensor *out)
{
	struct module *m = p->graph->module;
	struct kernel *k = arena_new(&m->arena, struct kernel);
	struct kernel_arg arg = { .kind = ARG_TENSOR };

	k->name = name;
	k->group = arena_new(&m->arena, struct group);
	vec_push(&m->arena, &k->group->nodes,
		 graph_node(p->graph, "", "Op", name, in, n_in, &out, 1));
	for (int i = 0; i <= n_in; i++) {
		arg.tensor = i < n_in ? in[i] : out;
		arg.read = i < n_in;
		arg.written = i == n_in;
		vec_push(&m->arena, &k->args, arg);
	}
	vec_push(&m->arena, &p->kernels, k);
	return k;
}

/* Two branches that each swell and shrink: one after the other needs less
 * than both at once, which is the order given. */
static void
test_order(void)
{
	struct module *m = module_new();
	struct graph *g = graph_new(m, "branches");
	struct program p = { .graph = g };
	struct tensor *x = make_tensor(g, "x", 10), *big[2], *small[2];
	struct tensor *y = make_tensor(g, "y", 10);
	int64_t before;

	x->is_input = true;
	y->is_output = true;
	big[0] = make_tensor(g, "big0", 1000);
	big[1] = make_tensor(g, "big1", 1000);
	small[0] = make_tensor(g, "small0", 10);
	small[1] = make_tensor(g, "small1", 10);
	make_kernel(&p, "a", &x, 1, big[0]);
	make_kernel(&p, "b", &x, 1, big[1]);
	make_kernel(&p, "c", &big[0], 1, small[0]);
	make_kernel(&p, "d", &big[1], 1, small[1]);
	make_kernel(&p, "e", small, 2, y);

	CHECK(plan_memory(&p));
	before = p.plan.bound_bytes;
	CHECK_EQ(before, 4 * 2010);
	plan_order(&p);
	CHECK(plan_memory(&p));
	CHECK_EQ(p.plan.bound_bytes, 4 * 1020);
	CHECK(p.plan.workspace_bytes <= p.plan.bound_bytes + 128);
	CHECK_STR_EQ(p.kernels.data[1]->name, "c");
	CHECK_EQ(plan_find(&p.plan, x)->kind, PLACE_INPUT);
	CHECK_EQ(plan_find(&p.plan, y)->kind, PLACE_OUTPUT);
	CHECK_EQ(plan_find(&p.plan, small[0])->kind, PLACE_WORKSPACE);
	module_free(m);
}

/* The same branches, but c must not write before a size is read from d's
 * result: d comes first. */
static void
test_order_of_sizes(void)
{
	struct module *m = module_new();
	struct graph *g = graph_new(m, "sizes");
	struct program p = { .graph = g };
	struct tensor *x = make_tensor(g, "x", 10), *big[2], *small[2];
	struct tensor *y = make_tensor(g, "y", 10);
	struct tensor *size = make_tensor(g, "size", 1);
	struct run_size read = { .var = var_new_dim(m, "n", 0, 10) };
	struct kernel *c;

	x->is_input = true;
	y->is_output = true;
	big[0] = make_tensor(g, "big0", 1000);
	big[1] = make_tensor(g, "big1", 1000);
	small[0] = make_tensor(g, "small0", 10);
	small[1] = make_tensor(g, "small1", 1);
	make_kernel(&p, "a", &x, 1, big[0]);
	make_kernel(&p, "b", &x, 1, big[1]);
	make_kernel(&p, "d", &big[1], 1, small[1]);
	c = make_kernel(&p, "c", &big[0], 1, small[0]);
	make_kernel(&p, "e", small, 2, y);
	read.read_by = graph_node(g, "tirc", "RunSize", "", &small[1], 1, &size,
				  1);
	vec_push(&m->arena, &g->run_sizes, read);
	vec_push(&m->arena, &c->group->waits, 0);

	plan_order(&p);
	CHECK(plan_memory(&p));
	CHECK_EQ(p.plan.bound_bytes, 4 * 1011);
	CHECK_STR_EQ(p.kernels.data[1]->name, "d");
	CHECK_STR_EQ(p.kernels.data[3]->name, "c");
	module_free(m);
}

/* With an array for each type no two types have bytes in common; those of the
 * largest elements come first. */
static void
test_types(void)
{
	struct module *m = module_new();
	struct graph *g = graph_new(m, "types");
	const struct target target = { .typed_workspace = true,
				       .align_bytes = 64 };
	struct program p = { .graph = g, .target = &target };
	struct tensor *x = make_tensor(g, "x", 10);
	struct tensor *a = make_tensor(g, "a", 5);
	struct tensor *b = make_tensor(g, "b", 100);
	struct tensor *c = make_tensor(g, "c", 7);
	struct tensor *y = make_tensor(g, "y", 10);

	x->is_input = true;
	y->is_output = true;
	a->type = c->type = dtype_of(DT_I8);
	make_kernel(&p, "a", &x, 1, a);
	make_kernel(&p, "b", &a, 1, b);
	make_kernel(&p, "c", &b, 1, c);
	make_kernel(&p, "y", &c, 1, y);
	CHECK(plan_memory(&p));
	CHECK_EQ(p.plan.parts.n, 2);
	CHECK(dtype_equal(p.plan.parts.data[0].type, dtype_of(DT_F32)));
	CHECK_EQ(p.plan.parts.data[0].elems, 100);
	CHECK_EQ(p.plan.parts.data[1].offset_bytes, 400);
	CHECK_EQ(p.plan.parts.data[1].elems, 7);
	CHECK_EQ(p.plan.workspace_bytes, 408);
	CHECK_EQ(p.plan.align_bytes, 4);
	CHECK_EQ(plan_find(&p.plan, b)->offset_bytes, 0);
	CHECK_EQ(plan_find(&p.plan, a)->offset_bytes, 400);
	CHECK_EQ(plan_find(&p.plan, c)->offset_bytes, 400);
	module_free(m);
}

/* A result in place takes its input's bytes; a part lies in its whole. */
static void
test_shared(void)
{
	struct module *m = module_new();
	struct graph *g = graph_new(m, "shared");
	struct program p = { .graph = g };
	struct tensor *x = make_tensor(g, "x", 100);
	struct tensor *a = make_tensor(g, "a", 100);
	struct tensor *b = make_tensor(g, "b", 100);
	struct tensor *c = make_tensor(g, "c", 50);
	struct tensor *whole = make_tensor(g, "whole", 150);
	struct tensor *y = make_tensor(g, "y", 10), *parts[2] = { b, c };
	struct kernel *k;

	x->is_input = true;
	y->is_output = true;
	make_kernel(&p, "a", &x, 1, a);
	k = make_kernel(&p, "b", &a, 1, b);
	k->args.data[1].in_place = a;
	make_kernel(&p, "c", &x, 1, c);
	graph_node(g, "", "Concat", "", parts, 2, &whole, 1);
	b->part_of = c->part_of = whole;
	c->part_offset_bytes = 400;
	make_kernel(&p, "y", &whole, 1, y);
	CHECK(plan_memory(&p));
	CHECK_EQ(p.plan.bound_bytes, 600);
	CHECK_EQ(p.plan.workspace_bytes, 600);
	CHECK_EQ(plan_find(&p.plan, a)->offset_bytes, 0);
	CHECK_EQ(plan_find(&p.plan, b)->offset_bytes, 0);
	CHECK_EQ(plan_find(&p.plan, c)->offset_bytes, 400);
	CHECK_EQ(plan_find(&p.plan, whole)->bytes, 600);
	module_free(m);
}

int
main(void)
{
	for (uint32_t seed = 1; seed <= 12; seed++) {
		test_random(seed, 20 + (int)seed * 8, seed % 2 ? 64 : 16);
	}
	test_many(5000, 64);
	test_pieces();
	test_nothing();
	test_order();
	test_order_of_sizes();
	test_types();
	test_shared();
	return check_done();
}
