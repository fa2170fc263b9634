/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the functions of programs: the interpreter computes the same results from
 * a function before any schedule and from the scheduled and lowered function,
 * and so does the function's source, compiled without a warning. At the sizes of
 * trial.h; with definitions of the external functions that the program declares.
 *
 * argv: folder to work in, compiler and flags, program, target (or none) */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "host_device.h"
#include "intrinsic_make.h"
#include "trial.h"

enum { MAX_PARAMS = 16 };

/* One function at one choice of sizes. */
struct trial {
	int func;   /* index in run.list */
	int number; /* of the choice of sizes */
	int64_t values[MAX_PARAMS + MAX_PARAMS];
	void *in[MAX_PARAMS], *want[MAX_PARAMS]; /* NULL: a scalar */
	size_t elems[MAX_PARAMS];
};

struct run {
	struct module *m;
	const char *folder, *cc, *stem, *target;
	struct program_result list; /* the functions with a source: those that
				     * need no GPU */
	struct program_sources text;
	VEC(struct trial) trials;
	int skipped, failed;
};

static int
fail(struct run *r, const char *what)
{
	fprintf(stderr, "%s: %s\n", r->stem, what);
	for (int i = 0; i < r->m->diags.list.n; i++) {
		const struct diag *d = &r->m->diags.list.data[i];
		struct strbuf s;

		strbuf_init(&s);
		diag_format(d, &s);
		fprintf(stderr, "%s\n%s\n", s.data,
			d->place.excerpt ? d->place.excerpt : "");
		strbuf_release(&s);
	}
	r->failed++;
	return 1;
}

static bool
same(struct dtype t, const void *want, const void *got, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		union number a = number_load(t, want, i);
		union number b = number_load(t, got, i);

		if (!dtype_is_float(t)
			    ? a.i != b.i
			    : !(a.f == b.f || (isnan(a.f) && isnan(b.f)) ||
				fabs(a.f - b.f) <= 1e-5 * (1 + fabs(a.f)))) {
			return false;
		}
	}
	return true;
}

static void *
array_for(struct run *r, const struct func *f, int i, struct trial *t)
{
	int64_t elems;

	if (!f->params.data[i].buffer) {
		return NULL;
	}
	if (!trial_elems(f, i, t->values, &elems)) {
		fail(r, "an array has no size");
		elems = 0;
	}
	t->elems[i] = (size_t)elems;
	return arena_alloc(&r->m->arena,
			   t->elems[i] * (size_t)dtype_bytes(
						 f->params.data[i]
							 .buffer->type) +
				   1);
}

/* Runs the lowered function on copies of the trial's data. */
static bool
agrees(struct run *r, struct func *lowered, struct trial *t, int n)
{
	void *got[MAX_PARAMS] = { NULL };
	bool ok = true;

	for (int i = 0; i < n; i++) {
		const struct buffer *b = lowered->params.data[i].buffer;

		if (b) {
			got[i] = arena_copy(&r->m->arena, t->in[i],
					    t->elems[i] * (size_t)dtype_bytes(
								  b->type));
		}
	}
	if (!trial_run(lowered, t->values, got, NULL)) {
		return !fail(r, "does not run in the interpreter");
	}
	for (int i = 0; i < n; i++) {
		const struct buffer *b = lowered->params.data[i].buffer;

		if (b && !same(b->type, t->want[i], got[i], t->elems[i])) {
			fprintf(stderr,
				"%s: parameter %d differs after lowering at "
				"sizes %d\n",
				r->stem, i, t->number);
			r->failed++;
			ok = false;
		}
	}
	return ok;
}

/* Compares the results of the plain and of the lowered function in the
 * interpreter, at each choice of sizes. func: the index of the function in
 * run.list, or -1. */
static bool
add_trials(struct run *r, const struct program_func *f, int func)
{
	struct func *lowered = func_clone(f->func, f->func->name);
	int n = f->plain->params.n;
	bool symbolic = false;

	for (int i = 0; i < n; i++) {
		symbolic |= !f->plain->params.data[i].buffer;
	}
	if (f->stage < PROGRAM_LOWERED &&
	    !program_lower(lowered, 3, false, NULL)) {
		return !fail(r, "cannot be lowered");
	}
	for (int row = 0; row < (symbolic ? TRIAL_SIZES : 1); row++) {
		struct trial t = { .func = func, .number = row };

		trial_values(f->plain, row, t.values);
		for (int i = 0; i < n; i++) {
			t.in[i] = array_for(r, f->plain, i, &t);
			t.want[i] = array_for(r, f->plain, i, &t);
		}
		if (!trial_make(f->plain, t.values, 1, t.in, t.want, NULL)) {
			return !fail(r, "does not run in the interpreter");
		}
		if (!agrees(r, lowered, &t, n)) {
			return false;
		}
		if (func >= 0) {
			vec_push(&r->m->arena, &r->trials, t);
		}
	}
	return true;
}

/* -- source -- */

static bool
write_bytes(struct run *r, const char *name, const void *bytes, size_t n)
{
	FILE *f = fopen(arena_printf(&r->m->arena, "%s/%s", r->folder, name),
			"wb");
	bool ok = f && fwrite(bytes, 1, n, f) == n;

	return f && fclose(f) == 0 && ok;
}

static bool
write_text(struct run *r, const char *name, const char *text)
{
	return !text || write_bytes(r, name, text, strlen(text));
}

static bool
command(const char *text)
{
	if (system(text) != 0) {
		fprintf(stderr, "failed: %s\n", text);
		return false;
	}
	return true;
}

/* The size of parameter i's array. */
static size_t
bytes_of(const struct trial *t, const struct func *f, int i)
{
	return t->elems[i] *
	       (size_t)dtype_bytes(f->params.data[i].buffer->type);
}

static bool
read_result(struct run *r, int i, void *data, size_t bytes)
{
	FILE *f = fopen(arena_printf(&r->m->arena, "%s/result_%d.bin",
				     r->folder, i),
			"rb");
	bool ok = f && fread(data, 1, bytes, f) == bytes;

	return f && fclose(f) == 0 && ok;
}

/* Runs the source on a trial's data, and compares. */
static bool
run_trial(struct run *r, const struct trial *t)
{
	const struct func *f = r->text.funcs[t->func];
	const struct func *plain = r->list.funcs.data[t->func].plain;
	int n = plain->params.n;
	bool ok = true;

	for (int i = 0; i < n && ok; i++) {
		if (f->params.data[i].buffer) {
			ok = write_bytes(r,
					 arena_printf(&r->m->arena,
						      "array_%d.bin", i),
					 t->in[i], bytes_of(t, f, i));
		}
	}
	if (!ok ||
	    !write_text(r, "arguments.txt",
			trial_arguments(plain, f, 1, t->func, t->values)) ||
	    !command(arena_printf(&r->m->arena, "cd '%s' && ./program",
				  r->folder))) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		const struct buffer *b = f->params.data[i].buffer;
		void *got;

		if (!b) {
			continue;
		}
		got = malloc(bytes_of(t, f, i) + 1);
		if (!read_result(r, i, got, bytes_of(t, f, i)) ||
		    !same(b->type, t->want[i], got, t->elems[i])) {
			fprintf(stderr,
				"%s: %s: parameter %d of the source differs "
				"at sizes %d\n",
				r->stem, f->name, i, t->number);
			ok = false;
		}
		free(got);
	}
	return ok;
}

static bool
write_source(struct run *r)
{
	struct program_options o = { .stem = r->stem };

	r->text.with_header = true;
	r->text.with_caller = true;
	return (program_source(r->m, &r->list, &o, r->target, &r->text) &&
		trial_definitions(r->m, &r->list, &o, NULL, &r->text) &&
		command(arena_printf(&r->m->arena, "mkdir -p '%s'",
				     r->folder)) &&
		write_text(r, r->text.source_name, r->text.source) &&
		write_text(r, r->text.header_name, r->text.header) &&
		write_text(r, r->text.definitions_name, r->text.definitions) &&
		write_text(r, r->text.caller_name, r->text.caller)) ||
	       !fail(r, "cannot be written as source");
}

static bool
run_source(struct run *r)
{
	struct arena *a = &r->m->arena;
	const char *text = arena_printf(
		a,
		"cd '%s' && %s -c '%s' && cc -o program '%s.o' '%s' %s%s%s "
		"-lm",
		r->folder, r->cc, r->text.source_name, r->stem,
		r->text.caller_name, r->text.definitions ? "'" : "",
		r->text.definitions ? r->text.definitions_name : "",
		r->text.definitions ? "'" : "");

	if (!command(text)) {
		r->failed++;
		return false;
	}
	for (int i = 0; i < r->trials.n; i++) {
		r->failed += !run_trial(r, &r->trials.data[i]);
	}
	return r->failed == 0;
}

static bool
read_file(struct run *r, const char *path, struct source *out)
{
	FILE *f = fopen(path, "rb");
	struct strbuf s;
	int c;

	strbuf_init(&s);
	while (f && (c = getc(f)) != EOF) {
		strbuf_putc(&s, (char)c);
	}
	if (f) {
		fclose(f);
	}
	out->name = path;
	out->length = s.len;
	out->text = arena_copy(&r->m->arena, s.data ? s.data : "", s.len + 1);
	strbuf_release(&s);
	return f != NULL;
}

static bool
run_program(struct run *r, const char *path)
{
	struct program_options o = { .stem = r->stem };
	VEC(struct program_func) threads = { 0 };
	struct program_result all;
	struct source src;
	const char **why, *reason = "";

	if (!read_file(r, path, &src) || !program_run(r->m, &src, &o, &all)) {
		return !fail(r, "does not run");
	}
	program_order_calls(r->m, &all);
	why = arena_array(&r->m->arena, const char *, all.funcs.n + 1);
	r->list.intrins = all.intrins;
	for (int i = 0; i < all.funcs.n; i++) {
		const struct program_func *f = &all.funcs.data[i];

		why[i] = trial_obstacle(r->m, &all, i, why);
		if (why[i] || f->plain->params.n > MAX_PARAMS) {
			r->skipped++;
		} else if (lower_has_threads(f->func)) {
			/* Its source is another target's. */
			vec_push(&r->m->arena, &threads, *f);
		} else {
			vec_push(&r->m->arena, &r->list.funcs, *f);
		}
	}
	if (!write_source(r)) {
		return false;
	}
	/* the external functions that only functions for GPUs call */
	if (!intrinsic_references(r->m, all.intrins, &reason)) {
		return !fail(r, reason);
	}
	for (int i = 0; i < r->list.funcs.n; i++) {
		add_trials(r, &r->list.funcs.data[i], i);
	}
	for (int i = 0; i < threads.n; i++) {
		add_trials(r, &threads.data[i], -1);
	}
	return r->failed == 0 && (r->list.funcs.n == 0 || run_source(r));
}

int
main(int argc, char **argv)
{
	struct run r = { .m = module_new() };
	const char *slash;
	char stem[256];

	if (argc != 4 && argc != 5) {
		fprintf(stderr,
			"usage: %s folder 'compiler and flags' "
			"program.py [target]\n",
			argv[0]);
		return 2;
	}
	slash = strrchr(argv[3], '/');
	snprintf(stem, sizeof stem, "%s", slash ? slash + 1 : argv[3]);
	*strrchr(stem, '.') = '\0';
	r.folder = argv[1];
	r.cc = argv[2];
	r.stem = stem;
	r.target = argc > 4 ? argv[4] : NULL;
	if (!run_program(&r, argv[3])) {
		r.failed += r.failed == 0;
	}
	fprintf(stderr,
		"%s: %d functions as source, %d runs, %d skipped, %d "
		"failed\n",
		stem, r.list.funcs.n, r.trials.n, r.skipped, r.failed);
	module_free(r.m);
	return r.failed != 0;
}
