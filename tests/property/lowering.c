/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs through schedules and lowering: whatever primitives are
 * applied, by the default rules or at random, the function stays sound and
 * computes what it did; and the executor runs what lowering made of it.
 * argv: first seed, number of seeds. */
#include <stdio.h>
#include <stdlib.h>

#include "default_schedule.h"
#include "lower.h"
#include "random_te.h"
#include "script.h"

struct trial {
	struct module *m;
	struct random_program program;
	struct random_options options;
	struct run_arg args[RANDOM_MAX_ARGS]; /* and what is expected */
	void *out;
	size_t out_bytes;
	struct sched sched;
	const char *trouble;
	struct strbuf steps;
	struct strbuf before; /* the program as it was made */
};

static bool
fail(struct trial *t, const char *what)
{
	t->trouble = what;
	return false;
}

/* Does f still give the expected output? */
static bool
agrees(struct trial *t, struct func *f, const char *what)
{
	struct run_arg args[RANDOM_MAX_ARGS];
	int output = t->program.output;

	if (!func_verify(f) || !func_verify_text(f)) {
		return fail(t, what);
	}
	memcpy(args, t->args, sizeof args);
	memset(t->out, 0xFF, t->out_bytes);
	args[output].data = t->out;
	if (!interp_run(f, args, t->program.n_args)) {
		return fail(t, what);
	}
	return random_difference(&t->program, t->args[output].data, t->out,
				 1e-4) < 0 ||
	       fail(t, what);
}

static bool
executes(struct trial *t, struct func *f, const char *what)
{
	struct run_arg args[RANDOM_MAX_ARGS];
	int output = t->program.output;
	struct arena arena;
	const struct exec *x;
	bool holds = true;

	arena_init(&arena);
	x = exec_compile(&arena, f);
	memcpy(args, t->args, sizeof args);
	memset(t->out, 0xFF, t->out_bytes);
	args[output].data = t->out;
	if (x) {
		holds = exec_run(x, args, t->program.n_args) &&
			random_difference(&t->program, t->args[output].data,
					  t->out, 1e-4) < 0;
	}
	arena_release(&arena);
	return holds || fail(t, what);
}

/* ---- schedules */

static int
random_block(struct trial *t, struct rng *r)
{
	int *blocks;
	int n = sched_get_child_blocks(&t->sched, 0, &blocks);

	return n > 0 ? blocks[rng_below(r, n)] : 0;
}

static int
random_loop(struct trial *t, struct rng *r)
{
	int *loops, n;

	return sched_get_loops(&t->sched, random_block(t, r), &loops, &n) &&
			       n > 0
		       ? loops[rng_below(r, n)]
		       : 0;
}

static bool
random_reorder(struct trial *t, struct rng *r)
{
	int *loops, n;

	if (!sched_get_loops(&t->sched, random_block(t, r), &loops, &n) ||
	    n < 2) {
		return false;
	}
	for (int i = n - 1; i > 0; i--) {
		int k = rng_below(r, i + 1);
		int kept = loops[i];

		loops[i] = loops[k];
		loops[k] = kept;
	}
	return sched_reorder(&t->sched, loops, 2 + rng_below(r, n - 1));
}

static bool
random_fuse(struct trial *t, struct rng *r)
{
	int *loops, n, out;

	if (!sched_get_loops(&t->sched, random_block(t, r), &loops, &n) ||
	    n < 2) {
		return false;
	}
	return sched_fuse(&t->sched, loops + rng_below(r, n - 1), 2, &out);
}

static bool
random_step(struct trial *t, struct rng *r)
{
	struct sched *s = &t->sched;
	int64_t factors[] = { 0, 1 + rng_below(r, 5), 1 + rng_below(r, 3) };
	int out[4];
	bool changed;

	switch (rng_below(r, 13)) {
	case 0:
	case 1:
		return sched_split(s, random_loop(t, r), factors,
				   2 + rng_below(r, 2), out);
	case 2:
		return random_fuse(t, r);
	case 3:
		return random_reorder(t, r);
	case 4:
		return sched_compute_inline(s, random_block(t, r));
	case 5:
		return sched_reverse_compute_inline(s, random_block(t, r));
	case 6:
		return sched_compute_at(s, random_block(t, r),
					random_loop(t, r));
	case 7:
		return sched_reverse_compute_at(s, random_block(t, r),
						random_loop(t, r));
	case 8:
		return sched_cache_write(s, random_block(t, r), 0, "local",
					 out);
	case 9:
		return sched_cache_read(s, random_block(t, r), rng_below(r, 2),
					"local", out);
	case 10:
		return sched_decompose_reduction(s, random_block(t, r),
						 random_loop(t, r), out);
	case 11:
		return sched_vectorize(s, random_loop(t, r));
	default:
		changed = rng_below(r, 2)
				  ? sched_unroll(s, random_loop(t, r))
				  : sched_parallel(s, random_loop(t, r));
		return changed;
	}
}

static bool
random_schedule(struct trial *t, struct rng *r)
{
	sched_init(&t->sched, t->program.func);
	for (int i = rng_below(r, 8); i > 0; i--) {
		if (random_step(t, r) &&
		    !agrees(t, t->program.func, "after a step")) {
			sched_print_trace(&t->sched, &t->steps);
			return false;
		}
	}
	sched_print_trace(&t->sched, &t->steps);
	return true;
}

static bool
rules_schedule(struct trial *t)
{
	static const struct target target = {
		.name = "test",
		.dialect = "c99",
		.vector_bytes = 32,
		.vector_registers = 16,
		.l1_bytes = 32768,
		.l2_bytes = 1 << 20,
		.stack_limit_bytes = 1 << 16,
		.align_bytes = 64,
	};
	struct kernel *k = arena_new(&t->m->arena, struct kernel);

	k->name = "main";
	k->func = t->program.func;
	for (int i = 0; i < t->program.n_params; i++) {
		struct kernel_arg arg = { .kind = ARG_TENSOR };

		arg.buffer = t->program.buffer[i];
		vec_push(&t->m->arena, &k->args, arg);
	}
	if (t->program.dim) {
		struct kernel_arg arg = { .kind = ARG_DIM };

		arg.var = t->program.dim;
		vec_push(&t->m->arena, &k->args, arg);
	}
	if (!default_schedule(k, &target, t->m, NULL)) {
		return fail(t, "the default rules fail");
	}
	strbuf_puts(&t->steps, k->schedule ? k->schedule : "");
	return agrees(t, k->func, "after the default rules");
}

static void
after_pass(void *ctx, const char *pass, const struct func *f)
{
	if (!func_verify_text(f)) {
		fail(ctx, pass);
	}
}

/* Half of the functions may use vectors, short ones, since extents are. */
static void
state_vectors(struct func *f, struct rng *r)
{
	if (rng_below(r, 2)) {
		func_set_attribute(
			f, "vectors",
			expr_string(
				f->module,
				"float32x8 float64x4 float32x3 float32x2 float64x2"));
	}
	if (rng_below(r, 2)) {
		f->facts.vector_params = true;
	}
}

static bool
run_trial(struct trial *t, struct rng *r)
{
	struct func *f = t->program.func;
	struct pass_hooks hooks = { .ctx = t, .after_func = after_pass };
	int how = rng_below(r, 3);

	if (how == 1 && !random_schedule(t, r)) {
		return false;
	}
	if (how == 2 && !rules_schedule(t)) {
		return false;
	}
	if (!executes(t, f, "by the executor, scheduled")) {
		return false;
	}
	state_vectors(f, r);
	if (!lower_func(f, &hooks) || t->trouble) {
		return fail(t, t->trouble ? t->trouble : "lowering fails");
	}
	return agrees(t, f, "after lowering") &&
	       executes(t, f, "by the executor, lowered");
}

static void
report(struct trial *t, uint64_t seed)
{
	struct strbuf text;

	strbuf_init(&text);
	for (int i = 0; i < t->m->diags.list.n; i++) {
		diag_format(&t->m->diags.list.data[i], &text);
		strbuf_putc(&text, '\n');
	}
	func_print(t->program.func, SCRIPT_CURRENT, &text);
	fprintf(stderr, "seed %llu: %s\n%s\n%s\n%s\n", (unsigned long long)seed,
		t->trouble, t->before.data, t->steps.data ? t->steps.data : "",
		text.data);
	strbuf_release(&text);
}

static bool
check_seed(uint64_t seed)
{
	struct rng r = { seed };
	struct trial t = { .m = module_new() };
	bool holds;

	t.options = (struct random_options){
		.exact = true,
		.floats_only = seed % 2 == 0,
		.max_stages = 3,
		.max_extent = 7,
		.symbolic = seed % 3 == 0,
	};
	strbuf_init(&t.steps);
	strbuf_init(&t.before);
	random_te(t.m, &r, &t.options, &t.program);
	random_resize(&t.program, 1 + rng_below(&r, RANDOM_MAX_SIZE));
	random_data(&t.program, &r, &t.options, t.args);

	func_print(t.program.func, SCRIPT_CURRENT, &t.before);

	int output = t.program.output;

	t.out_bytes = (size_t)(t.program.elems[output] *
			       dtype_bytes(t.program.buffer[output]->type));
	t.out = malloc(t.out_bytes + 1);
	holds = (func_verify_text(t.program.func) &&
		 interp_run(t.program.func, t.args, t.program.n_args)) ||
		fail(&t, "as it was made");
	holds = holds && run_trial(&t, &r);
	if (!holds) {
		report(&t, seed);
	}
	free(t.out);
	strbuf_release(&t.steps);
	strbuf_release(&t.before);
	random_release(&t.program, t.args);
	module_free(t.m);
	return holds;
}

int
main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 300;
	int failed = 0;

	for (uint64_t seed = first; seed < first + n && failed < 3; seed++) {
		failed += !check_seed(seed);
	}
	fprintf(stderr, "%d of %llu failed\n", failed, (unsigned long long)n);
	return failed != 0;
}
