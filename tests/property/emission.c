/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs as source: scheduled by the default rules or not at all,
 * lowered, emitted, compiled without a warning and run, they give what the
 * interpreter gave before any of that. All programs of a run are functions of
 * one file. argv: dialect, folder to work in, first seed, number of seeds,
 * compiler and flags. */
#include <stdio.h>
#include <stdlib.h>

#include "default_schedule.h"
#include "lower.h"
#include "random_te.h"
#include "unit.h"

#include "../includes.h"
#include "kernels.h"

struct sample {
	struct random_program program;
	struct run_arg args[RANDOM_MAX_ARGS];
	uint64_t seed;
};

struct batch {
	struct module *m;
	const struct dialect *dialect;
	const struct target *target;
	const char *folder;
	struct unit unit;
	struct strbuf functions, calls;
	struct sample *samples;
	int n;
};

static size_t
param_bytes(const struct random_program *p, int i)
{
	return (size_t)(p->elems[i] * dtype_bytes(p->buffer[i]->type));
}

static bool
schedule(struct batch *b, struct random_program *p)
{
	struct kernel *k = arena_new(&b->m->arena, struct kernel);

	k->name = p->func->name;
	k->func = p->func;
	for (int i = 0; i < p->n_args; i++) {
		struct kernel_arg arg = { .kind = ARG_DIM };

		if (i < p->n_params) {
			arg.kind = ARG_TENSOR;
			arg.buffer = p->buffer[i];
		} else {
			arg.var = p->dim;
		}
		vec_push(&b->m->arena, &k->args, arg);
	}
	return default_schedule(k, b->target, b->m, NULL);
}

/* The call of the function in the harness, between its files. */
static void
print_call(struct batch *b, const struct random_program *p, int number)
{
	struct strbuf *out = &b->calls;

	for (int i = 0; i < p->n_params; i++) {
		strbuf_printf(out, "\tp[%d] = take(in, %zu);\n", i,
			      param_bytes(p, i));
	}
	strbuf_printf(out, "\tk%d(", number);
	for (int i = 0; i < p->n_args; i++) {
		strbuf_printf(out, i < p->n_params ? "%sp[%d]" : "%s%d",
			      i ? ", " : "", i < p->n_params ? i : p->size);
	}
	strbuf_printf(out, ");\n\tfwrite(p[%d], 1, %zu, out);\n", p->output,
		      param_bytes(p, p->output));
	for (int i = 0; i < p->n_params; i++) {
		strbuf_printf(out, "\tfree(p[%d]);\n", i);
	}
}

/* Makes program number `number`, runs it here and adds it to the source. */
static bool
add_sample(struct batch *b, int number, uint64_t seed, FILE *data)
{
	struct sample *s = &b->samples[number];
	struct random_program *p = &s->program;
	struct rng r = { seed };
	struct random_options options = {
		.exact = seed % 3 != 0,
		.floats_only = seed % 2 == 0,
		.symbolic = seed % 5 == 0,
		.no_halves = true,
		.max_stages = 3,
		.max_extent = 9,
	};

	s->seed = seed;
	random_te(b->m, &r, &options, p);
	random_resize(p, 1 + rng_below(&r, RANDOM_MAX_SIZE));
	random_data(p, &r, &options, s->args);
	for (int i = 0; i < p->n_params; i++) {
		fwrite(s->args[i].data, 1, param_bytes(p, i), data);
	}
	p->func->name = arena_printf(&b->m->arena, "k%d", number);
	if (!interp_run(p->func, s->args, p->n_args) ||
	    (seed % 3 != 0 && !schedule(b, p))) {
		return false;
	}
	kernel_note_vectors(b->target, p->func);
	if (!lower_func(p->func, NULL) ||
	    !unit_func(&b->unit, p->func, &b->functions)) {
		return false;
	}
	strbuf_putc(&b->functions, '\n');
	print_call(b, p, number);
	return true;
}

static bool
write_source(struct batch *b, const char *path)
{
	static const char harness[] =
		"static void *\n"
		"take(FILE *in, size_t n)\n"
		"{\n"
		"\tvoid *p = aligned_alloc(64, (n + 64) / 64 * 64);\n\n"
		"\tif (p == NULL || fread(p, 1, n, in) != n) {\n"
		"\t\texit(1);\n"
		"\t}\n"
		"\treturn p;\n"
		"}\n\n"
		"int\n"
		"main(int argc, char **argv)\n"
		"{\n"
		"\tFILE *in = argc > 2 ? fopen(argv[1], \"rb\") : NULL;\n"
		"\tFILE *out = argc > 2 ? fopen(argv[2], \"wb\") : NULL;\n"
		"\tvoid *p[16];\n\n"
		"\tif (in == NULL || out == NULL) {\n"
		"\t\treturn 1;\n"
		"\t}\n";
	FILE *f = fopen(path, "w");
	struct strbuf helpers;
	bool ok;

	if (!f) {
		return false;
	}
	unit_need(&b->unit, "stdio.h");
	unit_need(&b->unit, "stdlib.h");
	strbuf_init(&helpers);
	ok = unit_print_helpers(&b->unit, &helpers);
	fputs("#define _ISOC11_SOURCE\n", f);
	print_includes(f, &b->unit);
	fprintf(f, "\n%s%s%s%s\tfclose(in);\n\treturn fclose(out);\n}\n",
		helpers.data ? helpers.data : "", b->functions.data, harness,
		b->calls.data);
	strbuf_release(&helpers);
	return ok && fclose(f) == 0;
}

/* Compares what the program wrote with what the interpreter said. */
static int
compare(struct batch *b, const char *path)
{
	FILE *f = fopen(path, "rb");
	int failed = 0;

	for (int i = 0; i < b->n; i++) {
		struct sample *s = &b->samples[i];
		struct random_program *p = &s->program;
		size_t bytes = param_bytes(p, p->output);
		unsigned char *got = malloc(bytes + 1);
		int64_t at = 0;

		if (f && fread(got, 1, bytes, f) == bytes) {
			at = random_difference(p, s->args[p->output].data, got,
					       1e-4);
		}
		if (at >= 0) {
			fprintf(stderr, "seed %llu (k%d): element %lld\n",
				(unsigned long long)s->seed, i, (long long)at);
			failed++;
		}
		free(got);
	}
	if (f) {
		fclose(f);
	}
	return failed;
}

static void
print_diagnostics(const struct module *m)
{
	struct strbuf text;

	strbuf_init(&text);
	for (int i = 0; i < m->diags.list.n; i++) {
		diag_format(&m->diags.list.data[i], &text);
		strbuf_putc(&text, '\n');
	}
	fputs(text.data ? text.data : "", stderr);
	strbuf_release(&text);
}

static bool
run_command(const char *command)
{
	if (system(command) != 0) {
		fprintf(stderr, "failed: %s\n", command);
		return false;
	}
	return true;
}

static int
run_batch(struct batch *b, uint64_t first, const char *cc)
{
	struct arena *a = &b->m->arena;
	const char *source = arena_printf(a, "%s/programs.c", b->folder);
	const char *binary = arena_printf(a, "%s/programs", b->folder);
	const char *in = arena_printf(a, "%s/in.bin", b->folder);
	const char *out = arena_printf(a, "%s/out.bin", b->folder);
	FILE *data = fopen(in, "wb");

	if (!data) {
		fprintf(stderr, "%s: cannot be written\n", in);
		return 1;
	}
	for (int i = 0; i < b->n; i++) {
		if (!add_sample(b, i, first + (uint64_t)i, data)) {
			fprintf(stderr, "seed %llu cannot be emitted\n",
				(unsigned long long)first + (uint64_t)i);
			print_diagnostics(b->m);
			fclose(data);
			return 1;
		}
	}
	if (fclose(data) != 0 || !write_source(b, source)) {
		print_diagnostics(b->m);
		return 1;
	}
	if (!run_command(arena_printf(a, "%s -o '%s' '%s' -lm", cc, binary,
				      source)) ||
	    !run_command(arena_printf(a, "'%s' '%s' '%s'", binary, in, out))) {
		return 1;
	}
	return compare(b, out);
}

int
main(int argc, char **argv)
{
	struct batch b = { .m = module_new() };
	int failed = 1;

	if (argc != 6) {
		fprintf(stderr,
			"usage: %s dialect folder first count "
			"'compiler flags'\n",
			argv[0]);
		return 2;
	}
	b.folder = argv[2];
	b.n = atoi(argv[4]);
	b.samples = arena_array(&b.m->arena, struct sample, b.n + 1);
	b.target = target_load(b.m, argv[1], NULL);
	b.dialect = b.target ? dialect_load(b.m, b.target->dialect, NULL)
			     : NULL;
	if (b.dialect &&
	    run_command(arena_printf(&b.m->arena, "mkdir -p '%s'", b.folder))) {
		unit_init(&b.unit, b.m, b.dialect);
		strbuf_init(&b.functions);
		strbuf_init(&b.calls);
		failed = run_batch(&b, strtoull(argv[3], NULL, 10), argv[5]);
		strbuf_release(&b.functions);
		strbuf_release(&b.calls);
	} else {
		print_diagnostics(b.m);
	}
	for (int i = 0; i < b.n; i++) {
		random_release(&b.samples[i].program, b.samples[i].args);
	}
	fprintf(stderr, "%d of %d failed\n", failed, b.n);
	module_free(b.m);
	return failed != 0;
}
