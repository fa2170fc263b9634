/* SPDX-License-Identifier: Apache-2.0 */
/* Random graphs mean the same before and after all graph passes, evaluated
 * node by node on small integers, and as kernels run by the entry function in
 * the planned workspace. The verifiers run after each pass. */
#include <stdlib.h>

#include "interp.h"
#include "kernel.h"
#include "kernels.h"
#include "plan.h"
#include "random_graph.h"

/* Every node of the model has a kernel, or a pass that took it away; and each
 * node that is left comes from some of the model's. */
static void
check_origins(const struct graph *g)
{
	bool *found = arena_array(&g->module->arena, bool, g->origins.n + 1);

	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];

		CHECK(n->group >= 0);
		CHECK(n->origins.n > 0);
		for (int k = 0; k < n->origins.n; k++) {
			found[n->origins.data[k]] = true;
		}
	}
	for (int i = 0; i < g->origins.n; i++) {
		CHECK(found[i] || g->origins.data[i].pass);
	}
}

static bool
append(void *ctx, const void *bytes, size_t n)
{
	char **at = ctx;

	memcpy(*at, bytes, n);
	*at += n;
	return true;
}

static void
verify_func(void *ctx, const char *pass, const struct func *f)
{
	(void)ctx;
	if (!CHECK(func_verify((struct func *)(uintptr_t)f))) {
		fprintf(stderr, "%s after %s\n", f->name, pass);
	}
}

/* Runs the entry function: the outputs' values are what it stores. They are
 * as large as those of `like`, whose batch is a number. */
static bool
run_program(struct graph *g, const struct graph *like, int batch)
{
	struct target target = { .vector_bytes = 16,
				 .vector_registers = 16,
				 .l1_bytes = 32768,
				 .l2_bytes = 1 << 20,
				 .stack_limit_bytes = 4096,
				 .align_bytes = 64,
				 .typed_workspace = batch % 2 != 0 };
	struct pass_hooks hooks = { .after_func = verify_func };
	struct arena *a = &g->module->arena;
	struct program p;
	struct run_arg *args;
	int n = 0;

	if (!CHECK(program_build(g, &target, &hooks, &p))) {
		return false;
	}
	CHECK(p.plan.workspace_bytes >= p.plan.bound_bytes);
	args = arena_array(a, struct run_arg, p.entry->params.n + 1);
	args[n++].data = arena_copy(a, input_data, sizeof input_data);
	for (int i = 0; i < g->outputs.n; i++) {
		struct tensor *t = g->outputs.data[i];
		struct value *v = arena_new(a, struct value);

		tensor_const_elems(like->outputs.data[i], &v->elems);
		v->type = t->type;
		v->bytes = (size_t)v->elems * sizeof(float);
		v->data = args[n++].data = arena_alloc(a, v->bytes + 1);
		memset(args[n - 1].data, 0xff, v->bytes);
		t->value = v;
	}
	for (int i = 0; i < p.weights.n; i++) {
		char *at = args[n++].data =
			arena_alloc(a, (size_t)p.weights.data[i]->bytes + 1);

		CHECK(weight_stream(g, p.weights.data[i], append, &at));
	}
	for (int i = 0; i < p.plan.parts.n; i++) {
		const struct workspace_part *part = &p.plan.parts.data[i];
		size_t bytes = (size_t)part->elems *
			       (size_t)dtype_bytes(part->type);

		args[n].data = arena_alloc(a, bytes);
		memset(args[n++].data, 0xff, bytes);
	}
	if (p.plan.workspace_bytes > 0 && p.plan.parts.n == 0) {
		args[n].data = arena_alloc(a, (size_t)p.plan.workspace_bytes);
		memset(args[n++].data, 0xff, (size_t)p.plan.workspace_bytes);
	}
	for (int i = 0; i < g->dims.n; i++) {
		args[n++].scalar = batch;
	}
	CHECK_EQ(n, p.entry->params.n);
	return CHECK(interp_run_entry(p.entry, args, n));
}

/* Sizes as parameters: the same kernels for every batch. */
static void
test_symbolic(uint32_t seed)
{
	struct pass_hooks hooks = { .after_graph = verify };
	int failed = check_failed;

	for (int batch = 1; batch <= MAX_BATCH; batch++) {
		struct maker plain, compiled;

		make_graph(&plain, seed, batch);
		make_graph(&compiled, seed, SYMBOLIC);
		evaluate(plain.g, batch);
		CHECK(graph_optimize(compiled.g, &hooks));
		if (run_program(compiled.g, plain.g, batch)) {
			for (int i = 0; i < plain.g->outputs.n; i++) {
				compare(plain.g->outputs.data[i],
					compiled.g->outputs.data[i], seed);
			}
		}
		if (check_failed != failed) {
			fprintf(stderr, "seed %u, batch %d\n", seed, batch);
			print_graph(plain.g);
			print_graph(compiled.g);
			print_diags(compiled.m);
			failed = check_failed;
		}
		module_free(compiled.m);
		module_free(plain.m);
	}
}

static void
test_seed(uint32_t seed)
{
	struct pass_hooks hooks = { .after_graph = verify };
	struct maker plain, optimized, compiled;
	int failed = check_failed;

	make_graph(&plain, seed, 1);
	make_graph(&optimized, seed, 1);
	CHECK(graph_verify(plain.g));
	if (!CHECK(graph_optimize(optimized.g, &hooks))) {
		print_diags(optimized.m);
	}
	check_origins(optimized.g);
	evaluate(plain.g, 1);
	evaluate(optimized.g, 1);
	CHECK_EQ(optimized.g->outputs.n, plain.g->outputs.n);
	for (int i = 0; i < plain.g->outputs.n; i++) {
		const struct tensor *a = plain.g->outputs.data[i];
		const struct tensor *b = optimized.g->outputs.data[i];

		CHECK_STR_EQ(b->name, a->name);
		compare(a, b, seed);
	}
	make_graph(&compiled, seed, 1);
	CHECK(graph_optimize(compiled.g, &hooks));
	if (run_program(compiled.g, plain.g, 1)) {
		for (int i = 0; i < plain.g->outputs.n; i++) {
			compare(plain.g->outputs.data[i],
				compiled.g->outputs.data[i], seed);
		}
	}
	if (check_failed != failed) {
		fprintf(stderr, "seed %u\n", seed);
		print_graph(plain.g);
		print_graph(optimized.g);
		print_diags(compiled.m);
	}
	module_free(compiled.m);
	module_free(plain.m);
	module_free(optimized.m);
}

int
main(int argc, char **argv)
{
	uint32_t first = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;
	uint32_t count = argc > 2 ? (uint32_t)atoi(argv[2]) : 24;

	for (uint32_t seed = first; seed < first + count; seed++) {
		test_seed(seed);
		if (seed % 4 == 0) {
			test_symbolic(seed);
		}
	}
	return check_done();
}
