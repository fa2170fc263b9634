/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs: the executor gives the interpreter's bits, and takes
 * nearly all of them. argv: first seed, number of seeds. */
#include <stdio.h>
#include <stdlib.h>

#include "random_te.h"

struct tally {
	int run, compiled, failed;
};

static void
report(const struct random_program *p, uint64_t seed, int64_t at,
       const struct run_arg *args, const void *got)
{
	struct dtype t = p->buffer[p->output]->type;
	union number want = number_load(t, args[p->output].data, (size_t)at);
	union number have = number_load(t, got, (size_t)at);
	struct strbuf text;

	strbuf_init(&text);
	func_print(p->func, SCRIPT_CURRENT, &text);
	fprintf(stderr,
		"seed %llu: element %lld is %.17g (%lld), not %.17g "
		"(%lld)\n%s",
		(unsigned long long)seed, (long long)at, have.f,
		(long long)have.i, want.f, (long long)want.i, text.data);
	strbuf_release(&text);
}

static void
report_module(const struct module *m, uint64_t seed)
{
	struct strbuf text;

	strbuf_init(&text);
	for (int i = 0; i < m->diags.list.n; i++) {
		diag_format(&m->diags.list.data[i], &text);
		strbuf_putc(&text, '\n');
	}
	fprintf(stderr, "seed %llu:\n%s", (unsigned long long)seed,
		text.data ? text.data : "");
	strbuf_release(&text);
}

static void
check_seed(uint64_t seed, struct tally *tally)
{
	struct module *m = module_new();
	struct rng r = { seed };
	struct random_options options = { .exact = seed % 5 == 0,
					  .floats_only = seed % 7 == 0,
					  .symbolic = seed % 23 == 0 };
	struct random_program p;
	struct run_arg args[RANDOM_MAX_ARGS];
	struct run_arg fast[RANDOM_MAX_ARGS];
	struct arena arena;
	const struct exec *x;

	random_te(m, &r, &options, &p);
	random_data(&p, &r, &options, args);
	tally->run++;
	if (!func_verify(p.func) || !interp_run(p.func, args, p.n_args)) {
		report_module(m, seed);
		tally->failed++;
	}
	memcpy(fast, args, sizeof fast);

	size_t bytes = (size_t)(p.elems[p.output] *
				dtype_bytes(p.buffer[p.output]->type));
	void *out = malloc(bytes + 1);

	memset(out, 0xFF, bytes);
	fast[p.output].data = out;
	arena_init(&arena);
	x = exec_compile(&arena, p.func);
	if (x) {
		int64_t at = 0;

		tally->compiled++;
		if (!exec_run(x, fast, p.n_args)) {
			fprintf(stderr, "seed %llu: the executor fails\n",
				(unsigned long long)seed);
			tally->failed++;
		} else {
			at = random_difference(&p, args[p.output].data, out, 0);
			if (at >= 0) {
				report(&p, seed, at, args, out);
				tally->failed++;
			}
		}
	}
	arena_release(&arena);
	free(out);
	random_release(&p, args);
	module_free(m);
}

int
main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 1500;
	struct tally tally = { 0, 0, 0 };

	for (uint64_t seed = first; seed < first + n; seed++) {
		check_seed(seed, &tally);
	}
	fprintf(stderr, "%d programs, %d by the executor, %d failed\n",
		tally.run, tally.compiled, tally.failed);
	return tally.failed != 0 || tally.compiled * 10 < tally.run * 9;
}
