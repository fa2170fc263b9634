/* SPDX-License-Identifier: Apache-2.0 */
/* Functions as source: each is run by the interpreter as it was made, then
 * lowered, emitted, compiled and run on the same data, at several sizes. */
#ifndef SOURCE_RUN_H
#define SOURCE_RUN_H

#include <stdio.h>
#include <stdlib.h>

#include "interp.h"
#include "lower.h"
#include "unit.h"

#include "../includes.h"

enum { SOURCE_MAX_PARAMS = 12 };

/* One function at one choice of sizes. */
struct source_trial {
	struct func *func;
	int64_t sizes[SOURCE_MAX_PARAMS]; /* of its scalars, in order */
	void *in[SOURCE_MAX_PARAMS];      /* NULL: a scalar */
	void *data[SOURCE_MAX_PARAMS];    /* what it becomes */
	size_t bytes[SOURCE_MAX_PARAMS];
};

struct source_run {
	struct module *m;
	const struct dialect *dialect;
	const char *folder, *cc;
	VEC(struct func *) funcs;
	VEC(struct source_trial) trials;
	uint32_t state;
	int failed;
};

static inline int64_t
source_value(const struct source_trial *t, const struct expr *e)
{
	int64_t a, b;
	int k = 0;

	if (expr_is_int(e, &a)) {
		return a;
	}
	for (int i = 0; i < t->func->params.n && e->kind == EXPR_VAR; i++) {
		if (t->func->params.data[i].buffer) {
			continue;
		}
		if (t->func->params.data[i].var == e->u.var) {
			return t->sizes[k];
		}
		k++;
	}
	if (e->n_args != 2) {
		return 1;
	}
	a = source_value(t, e->args[0]);
	b = source_value(t, e->args[1]);
	return e->kind == EXPR_ADD   ? a + b
	       : e->kind == EXPR_SUB ? a - b
				     : a * b;
}

/* Small integers, so that every order of evaluation gives the same. */
static inline void
source_fill(struct source_run *r, struct dtype t, void *data, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		union number v = { .i = 0 };
		int value;

		r->state = r->state * 1664525u + 1013904223u;
		value = (int)(r->state >> 24) % 7 - 3;
		if (dtype_is_float(t)) {
			v.f = value;
		} else {
			v.i = dtype_is_signed(t) ? value : value + 3;
		}
		number_store(t, data, i, v);
	}
}

static inline void
source_diags(const struct source_run *r)
{
	struct strbuf text;

	strbuf_init(&text);
	for (int i = 0; i < r->m->diags.list.n; i++) {
		diag_format(&r->m->diags.list.data[i], &text);
		strbuf_putc(&text, '\n');
	}
	fputs(text.data ? text.data : "", stderr);
	strbuf_release(&text);
}

/* Adds f, run by the interpreter as it is now, at each row of sizes. Schedules
 * may change it afterwards. */
static inline bool
source_add(struct source_run *r, struct func *f, int n_rows,
	   const int64_t (*rows)[3])
{
	struct arena *a = &r->m->arena;
	bool good = func_verify(f);

	for (int row = 0; row < n_rows && good; row++) {
		struct source_trial t = { .func = f };
		struct run_arg args[SOURCE_MAX_PARAMS] = { { .data = NULL } };
		int scalars = 0;

		memcpy(t.sizes, rows[row], sizeof rows[row]);
		for (int i = 0; i < f->params.n; i++) {
			const struct buffer *b = f->params.data[i].buffer;
			size_t n = 1;

			if (!b) {
				args[i].scalar = t.sizes[scalars++];
				continue;
			}
			for (int d = 0; d < b->ndim; d++) {
				n *= (size_t)source_value(&t, b->shape[d]);
			}
			t.bytes[i] = n * (size_t)dtype_bytes(b->type);
			t.data[i] = arena_alloc(a, t.bytes[i] + 1);
			source_fill(r, b->type, t.data[i], n);
			t.in[i] = arena_copy(a, t.data[i], t.bytes[i]);
			args[i].data = t.data[i];
		}
		good = interp_run(f, args, f->params.n);
		vec_push(a, &r->trials, t);
	}
	vec_push(a, &r->funcs, f);
	if (!good) {
		fprintf(stderr, "%s does not run\n", f->name);
		source_diags(r);
	}
	return good;
}

/* A function that others call: written ahead of them. */
static inline void
source_helper(struct source_run *r, struct func *f)
{
	vec_push(&r->m->arena, &r->funcs, f);
	for (int i = r->funcs.n - 1; i > 0; i--) {
		r->funcs.data[i] = r->funcs.data[i - 1];
	}
	r->funcs.data[0] = f;
}

/* Does f, changed since it was added, still give the same? */
static inline bool
source_again(struct source_run *r, struct func *f)
{
	bool good = func_verify(f);

	for (int k = 0; k < r->trials.n && good; k++) {
		const struct source_trial *t = &r->trials.data[k];
		struct run_arg args[SOURCE_MAX_PARAMS] = { { .data = NULL } };
		int scalars = 0;

		if (t->func != f) {
			continue;
		}
		for (int i = 0; i < f->params.n; i++) {
			if (t->in[i]) {
				args[i].data = arena_copy(&r->m->arena,
							  t->in[i],
							  t->bytes[i]);
			} else {
				args[i].scalar = t->sizes[scalars++];
			}
		}
		good = interp_run(f, args, f->params.n);
		for (int i = 0; i < f->params.n && good; i++) {
			good = !t->in[i] || memcmp(args[i].data, t->data[i],
						   t->bytes[i]) == 0;
		}
	}
	if (!good) {
		fprintf(stderr, "%s gives something else now\n", f->name);
		source_diags(r);
	}
	return good;
}

static inline bool
source_write_data(const struct source_run *r, const char *path)
{
	FILE *in = fopen(path, "wb");

	for (int k = 0; in && k < r->trials.n; k++) {
		const struct source_trial *t = &r->trials.data[k];

		for (int i = 0; i < t->func->params.n; i++) {
			if (t->in[i]) {
				fwrite(t->in[i], 1, t->bytes[i], in);
			}
		}
	}
	return in && fclose(in) == 0;
}

static inline void
source_call(const struct source_trial *t, FILE *out)
{
	int scalars = 0;

	for (int i = 0; i < t->func->params.n; i++) {
		if (t->data[i]) {
			fprintf(out, "\tp[%d] = take(in, %zu);\n", i,
				t->bytes[i]);
		}
	}
	fprintf(out, "\t%s(", t->func->name);
	for (int i = 0; i < t->func->params.n; i++) {
		fprintf(out, i ? ", " : "");
		if (t->data[i]) {
			fprintf(out, "p[%d]", i);
		} else {
			fprintf(out, "%lld", (long long)t->sizes[scalars++]);
		}
	}
	fprintf(out, ");\n");
	for (int i = 0; i < t->func->params.n; i++) {
		if (t->data[i]) {
			fprintf(out,
				"\tfwrite(p[%d], 1, %zu, out);\n"
				"\tfree(p[%d]);\n",
				i, t->bytes[i], i);
		}
	}
}

static inline bool
source_write(struct source_run *r, const char *path)
{
	static const char harness[] =
		"static void *\ntake(FILE *in, size_t n)\n{\n"
		"\tvoid *p = malloc(n + 1);\n\n"
		"\tif (p == NULL || fread(p, 1, n, in) != n) {\n"
		"\t\texit(1);\n\t}\n\treturn p;\n}\n\n"
		"int\nmain(int argc, char **argv)\n{\n"
		"\tFILE *in = argc > 2 ? fopen(argv[1], \"rb\") : NULL;\n"
		"\tFILE *out = argc > 2 ? fopen(argv[2], \"wb\") : NULL;\n"
		"\tvoid *p[16];\n\n"
		"\tif (in == NULL || out == NULL) {\n\t\treturn 1;\n\t}\n";
	struct unit unit;
	struct strbuf functions, helpers;
	bool good = true;
	FILE *out;

	unit_init(&unit, r->m, r->dialect);
	strbuf_init(&functions);
	strbuf_init(&helpers);
	for (int i = 0; i < r->funcs.n && good; i++) {
		good = lower_func(r->funcs.data[i], NULL) &&
		       unit_func(&unit, r->funcs.data[i], &functions);
		strbuf_putc(&functions, '\n');
	}
	unit_need(&unit, "stdio.h");
	unit_need(&unit, "stdlib.h");
	good = good && unit_print_helpers(&unit, &helpers);
	out = good ? fopen(path, "w") : NULL;
	if (out) {
		print_includes(out, &unit);
		fprintf(out, "\n%s%s%s", helpers.data ? helpers.data : "",
			functions.data, harness);
		for (int k = 0; k < r->trials.n; k++) {
			source_call(&r->trials.data[k], out);
		}
		fprintf(out, "\tfclose(in);\n\treturn fclose(out);\n}\n");
		good = fclose(out) == 0;
	}
	strbuf_release(&functions);
	strbuf_release(&helpers);
	if (!good || !out) {
		source_diags(r);
	}
	return good && out;
}

static inline void
source_compare(struct source_run *r, const char *path)
{
	FILE *f = fopen(path, "rb");

	for (int k = 0; k < r->trials.n; k++) {
		const struct source_trial *t = &r->trials.data[k];

		for (int i = 0; i < t->func->params.n; i++) {
			unsigned char *got = malloc(t->bytes[i] + 1);

			if (t->data[i] &&
			    (!f ||
			     fread(got, 1, t->bytes[i], f) != t->bytes[i] ||
			     memcmp(got, t->data[i], t->bytes[i]) != 0)) {
				fprintf(stderr,
					"%s(%lld, %lld, %lld): "
					"parameter %d differs\n",
					t->func->name, (long long)t->sizes[0],
					(long long)t->sizes[1],
					(long long)t->sizes[2], i);
				r->failed++;
			}
			free(got);
		}
	}
	if (f) {
		fclose(f);
	}
}

static inline bool
source_command(const char *command)
{
	bool good = system(command) == 0;

	if (!good) {
		fprintf(stderr, "failed: %s\n", command);
	}
	return good;
}

/* Compiles, runs and compares; true if everything agrees. outside: source that
 * the functions call, a file of its own, or NULL. */
static inline bool
source_finish(struct source_run *r, const char *name, const char *outside)
{
	struct arena *a = &r->m->arena;
	const char *stem = arena_printf(a, "%s/%s", r->folder, name);
	const char *source = arena_printf(a, "%s.c", stem);
	const char *out = arena_printf(a, "%s.out", stem);
	const char *other = outside ? arena_printf(a, "%s_outside.c", stem)
				    : NULL;
	FILE *f;

	if (!source_command(arena_printf(a, "mkdir -p '%s'", r->folder)) ||
	    !source_write_data(r, arena_printf(a, "%s.in", stem)) ||
	    !source_write(r, source)) {
		return false;
	}
	f = other ? fopen(other, "w") : NULL;
	if (f) {
		fputs(outside, f);
		fclose(f);
	}
	if (!source_command(arena_printf(a, "%s -o '%s' '%s' %s -lm", r->cc,
					 stem, source, other ? other : "")) ||
	    !source_command(
		    arena_printf(a, "'%s' '%s.in' '%s'", stem, stem, out))) {
		return false;
	}
	source_compare(r, out);
	fprintf(stderr, "%s: %d runs of %d functions, %d differ\n", name,
		r->trials.n, r->funcs.n, r->failed);
	return r->failed == 0 && r->trials.n > 0;
}

#endif
