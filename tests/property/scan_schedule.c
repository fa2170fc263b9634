/* SPDX-License-Identifier: Apache-2.0 */
/* Scans under every schedule primitive: with arguments at random, whatever a
 * primitive accepts leaves what the program computes as it was, and lowering
 * too. argv: first seed, number of seeds. */
#include <stdio.h>
#include <stdlib.h>

#include "lower.h"
#include "primitive.h"
#include "random_te.h"
#include "schedule.h"

struct trial {
	struct module *m;
	struct random_program program;
	struct random_options options;
	struct run_arg args[RANDOM_MAX_ARGS]; /* and what is expected */
	void *out;
	size_t out_bytes;
	struct sched sched;
	struct rng rng;
	struct strbuf before, steps;
	int applied;
};

static bool
agrees(struct trial *t, const char *what)
{
	struct run_arg args[RANDOM_MAX_ARGS];
	int output = t->program.output;
	bool good = func_verify(t->program.func);

	memcpy(args, t->args, sizeof args);
	memset(t->out, 0xFF, t->out_bytes);
	args[output].data = t->out;
	good = good && interp_run(t->program.func, args, t->program.n_args) &&
	       random_difference(&t->program, t->args[output].data, t->out,
				 1e-4) < 0;
	if (!good) {
		fprintf(stderr, "wrong %s\n", what);
	}
	return good;
}

static int
some_block(struct trial *t)
{
	int *blocks;
	int n = sched_get_child_blocks(&t->sched, 0, &blocks);

	return n > 0 ? blocks[rng_below(&t->rng, n)] : 0;
}

static int
some_loop(struct trial *t)
{
	int *loops, n;

	return sched_get_loops(&t->sched, some_block(t), &loops, &n) && n > 0
		       ? loops[rng_below(&t->rng, n)]
		       : 0;
}

static bool
accepts(const struct sched_param *p, enum sched_value_kind kind)
{
	return p->accepts >> kind & 1;
}

/* False: nothing that the parameter takes. */
static bool
some_value(struct trial *t, const struct sched_param *p,
	   struct sched_value *out)
{
	static const char *const scopes[] = { "local", "global" };

	if (accepts(p, SV_BLOCK) &&
	    (!accepts(p, SV_LOOP) || rng_below(&t->rng, 2))) {
		*out = sv_block(some_block(t));
	} else if (accepts(p, SV_LOOP)) {
		*out = sv_loop(some_loop(t));
	} else if (accepts(p, SV_NONE) && rng_below(&t->rng, 3) == 0) {
		out->kind = SV_NONE;
	} else if (accepts(p, SV_INT)) {
		*out = sv_int(rng_below(&t->rng, 5) -
			      (rng_below(&t->rng, 4) == 0));
	} else if (accepts(p, SV_BOOL)) {
		*out = sv_bool(rng_below(&t->rng, 2));
	} else if (accepts(p, SV_STRING)) {
		*out = sv_string(scopes[rng_below(&t->rng, 2)]);
	} else {
		return false;
	}
	return true;
}

/* Loops of one block, so that some lists make sense. */
static struct sched_value
some_list(struct trial *t, const struct sched_param *p)
{
	struct sched_value items[4];
	int n = 1 + rng_below(&t->rng, 3), *loops, n_loops, first = 0;
	bool nest = accepts(p, SV_LOOP) && rng_below(&t->rng, 4) > 0 &&
		    sched_get_loops(&t->sched, some_block(t), &loops,
				    &n_loops) &&
		    n_loops >= 2;

	if (nest) {
		n = n < 2 ? 2 : n > n_loops ? n_loops : n;
		first = rng_below(&t->rng, n_loops - n + 1);
	}
	for (int i = 0; i < n; i++) {
		if (nest) {
			items[i] = sv_loop(loops[first + i]);
		} else if (!some_value(t, p, &items[i])) {
			items[i].kind = SV_NONE;
		}
	}
	if (nest && rng_below(&t->rng, 2)) {
		struct sched_value kept = items[0];

		items[0] = items[n - 1];
		items[n - 1] = kept;
	}
	return sv_list(t->m, items, n);
}

/* Those that change what is computed, or what the function looks like from
 * outside, on purpose. */
static bool
left_out(const char *name)
{
	static const char *const list[] = {
		"unsafe_set_dtype",
		"bind",
		"tensorize",
		"transform_layout",
		"transform_block_layout",
		"annotate",
		"unannotate",
	};

	for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
		if (strcmp(list[i], name) == 0) {
			return true;
		}
	}
	return false;
}

static bool
apply_one(struct trial *t, const char **name)
{
	struct sched_value args[8] = { { 0 } };
	const struct primitive *p;
	int n;
	const struct primitive *all = sched_primitives(&n);

	do {
		p = &all[rng_below(&t->rng, n)];
	} while (p->is_query || left_out(p->name) || p->n_params > 8);
	*name = p->name;
	for (int i = 0; i < p->n_params; i++) {
		const struct sched_param *q = &p->params[i];

		/* Whoever sets that vouches for the extents. */
		bool vouch = strcmp(q->name, "disable_predication") == 0;

		if (q->optional && (vouch || rng_below(&t->rng, 2))) {
			args[i] = q->initial;
		} else if (q->is_list) {
			args[i] = some_list(t, q);
		} else if (!some_value(t, q, &args[i])) {
			return false;
		}
	}
	return sched_apply(&t->sched, p->name, args, p->n_params, NULL);
}

static bool
run_trial(struct trial *t)
{
	const char *name = NULL;

	sched_init(&t->sched, t->program.func);
	for (int i = 12 + rng_below(&t->rng, 12); i > 0; i--) {
		if (!apply_one(t, &name)) {
			continue;
		}
		t->applied++;
		if (!agrees(t, name)) {
			sched_print_trace(&t->sched, &t->steps);
			return false;
		}
	}
	sched_print_trace(&t->sched, &t->steps);
	func_commit(t->program.func);
	return lower_func(t->program.func, NULL) && agrees(t, "lowered");
}

static bool
check_seed(uint64_t seed, int *applied)
{
	struct trial t = { .m = module_new(), .rng = { seed } };
	bool holds;

	t.options = (struct random_options){
		.exact = true,
		.floats_only = seed % 2 == 0,
		.max_stages = 2,
		.max_extent = 6,
		.symbolic = seed % 4 == 0,
		.scans = true,
	};
	strbuf_init(&t.steps);
	strbuf_init(&t.before);
	random_te(t.m, &t.rng, &t.options, &t.program);
	random_resize(&t.program, 1 + rng_below(&t.rng, RANDOM_MAX_SIZE));
	random_data(&t.program, &t.rng, &t.options, t.args);
	func_print(t.program.func, SCRIPT_CURRENT, &t.before);

	int output = t.program.output;

	t.out_bytes = (size_t)(t.program.elems[output] *
			       dtype_bytes(t.program.buffer[output]->type));
	t.out = malloc(t.out_bytes + 1);
	holds = interp_run(t.program.func, t.args, t.program.n_args) &&
		run_trial(&t);
	if (!holds) {
		struct strbuf text;

		strbuf_init(&text);
		for (int i = 0; i < t.m->diags.list.n; i++) {
			diag_format(&t.m->diags.list.data[i], &text);
			strbuf_putc(&text, '\n');
		}
		func_print(t.program.func, SCRIPT_CURRENT, &text);
		fprintf(stderr, "seed %llu:\n%s\n%s\n%s\n",
			(unsigned long long)seed, t.before.data,
			t.steps.data ? t.steps.data : "", text.data);
		strbuf_release(&text);
	}
	*applied += t.applied;
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
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 250;
	int failed = 0, applied = 0;

	for (uint64_t seed = first; seed < first + n && failed < 3; seed++) {
		failed += !check_seed(seed, &applied);
	}
	fprintf(stderr, "%d of %llu failed, %d steps\n", failed,
		(unsigned long long)n, applied);
	return failed != 0 || applied < (int)n;
}
