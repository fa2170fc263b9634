/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of programs, run: what each computes before any schedule, in
 * the interpreter, is what it computes scheduled and lowered, and what its
 * source computes, compiled without a warning. At several sizes each: one,
 * multiples of common tiles, and numbers that no tile divides. Outside
 * functions that a program declares get reference source made from what it
 * declares of them.
 *
 * argv: folder to work in, compiler and flags, program, target (or none) */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "host_device.h"
#include "interp.h"
#include "intrinsic_make.h"
#include "program.h"

enum { MAX_PARAMS = 16 };

static const int64_t sizes[][3] = {
	{ 1, 1, 1 }, { 8, 16, 32 }, { 33, 7, 5 }, { 64, 12, 40 }, { 13, 31, 9 },
};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

/* One function at one choice of sizes. */
struct trial {
	int func;
	const int64_t *sizes;
	void *in[MAX_PARAMS]; /* NULL: a scalar */
	void *want[MAX_PARAMS];
	size_t elems[MAX_PARAMS];
};

struct run {
	struct module *m;
	const char *folder, *cc, *stem, *target;
	struct program_result list; /* without those that need a GPU */
	struct program_sources text;
	VEC(struct trial) trials;
	uint32_t state;
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

/* The value of a size expression of f's scalars. */
static int64_t
value_of(const struct func *f, const int64_t *given, const struct expr *e)
{
	int64_t a, b;
	int k = 0;

	if (expr_is_int(e, &a)) {
		return a;
	}
	for (int i = 0; i < f->params.n && e->kind == EXPR_VAR; i++) {
		if (f->params.data[i].buffer) {
			continue;
		}
		if (f->params.data[i].var == e->u.var) {
			return given[k % 3];
		}
		k++;
	}
	if (e->kind == EXPR_CAST) {
		return value_of(f, given, e->args[0]);
	}
	if (e->n_args != 2) {
		return 1;
	}
	a = value_of(f, given, e->args[0]);
	b = value_of(f, given, e->args[1]);
	switch (e->kind) {
	case EXPR_ADD:
		return a + b;
	case EXPR_SUB:
		return a - b;
	case EXPR_MUL:
		return a * b;
	case EXPR_FLOORDIV:
	case EXPR_DIV:
		return b > 0 ? a / b : 0;
	case EXPR_FLOORMOD:
		return b > 0 ? a % b : 0;
	case EXPR_MIN:
		return a < b ? a : b;
	case EXPR_MAX:
		return a > b ? a : b;
	default:
		return 1;
	}
}

static size_t
elems_of(const struct func *f, const int64_t *given, const struct buffer *b)
{
	size_t n = 1;

	for (int d = 0; d < b->ndim; d++) {
		n *= (size_t)value_of(f, given, b->shape[d]);
	}
	return n;
}

/* Small integers: sums are exact in any order. */
static void
fill(struct run *r, struct dtype t, void *data, size_t n)
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

/* Runs f on copies of the trial's data; parameters that f has beside those of
 * the program are scratch. */
static bool
interpret(struct run *r, struct func *f, const struct trial *t, int n,
	  void **data)
{
	struct run_arg args[MAX_PARAMS] = { { .data = NULL } };
	int scalars = 0;

	for (int i = 0; i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;
		size_t bytes;

		if (!b) {
			args[i].scalar = t->sizes[scalars++ % 3];
			continue;
		}
		bytes = elems_of(f, t->sizes, b) * (size_t)dtype_bytes(b->type);
		data[i] = arena_alloc(&r->m->arena, bytes + 1);
		if (i < n) {
			memcpy(data[i], t->in[i], bytes);
		}
		args[i].data = data[i];
	}
	return interp_run(f, args, f->params.n);
}

/* Plain against lowered, in the interpreter. */
static bool
add_trials(struct run *r, const struct program_func *f, int number)
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
	for (int row = 0; row < (symbolic ? N_SIZES : 1); row++) {
		struct trial t = { .func = number, .sizes = sizes[row] };
		void *got[MAX_PARAMS] = { NULL };

		for (int i = 0; i < n; i++) {
			const struct buffer *b =
				f->plain->params.data[i].buffer;

			if (!b) {
				continue;
			}
			t.elems[i] = elems_of(f->plain, t.sizes, b);
			t.in[i] = arena_alloc(&r->m->arena,
					      t.elems[i] * (size_t)dtype_bytes(
								   b->type) +
						      1);
			fill(r, b->type, t.in[i], t.elems[i]);
		}
		if (!interpret(r, f->plain, &t, n, t.want) ||
		    !interpret(r, lowered, &t, n, got)) {
			return !fail(r, "does not run in the interpreter");
		}
		for (int i = 0; i < n; i++) {
			const struct buffer *b =
				f->plain->params.data[i].buffer;

			if (b &&
			    !same(b->type, t.want[i], got[i], t.elems[i])) {
				fprintf(stderr,
					"%s number %d: parameter %d "
					"differs after lowering at %lld, "
					"%lld, %lld\n",
					r->stem, number, i,
					(long long)t.sizes[0],
					(long long)t.sizes[1],
					(long long)t.sizes[2]);
				r->failed++;
			}
		}
		if (number >= 0) {
			vec_push(&r->m->arena, &r->trials, t);
		}
	}
	return true;
}

/* -- source -- */

static void
print_call(struct run *r, const struct trial *t, FILE *out)
{
	const struct func *plain = r->list.funcs.data[t->func].plain;
	const struct func *f = r->text.funcs[t->func];
	int scalars = 0;

	for (int i = 0; i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;
		bool given = i < plain->params.n;
		size_t bytes = b ? elems_of(f, t->sizes, b) *
					       (size_t)dtype_bytes(b->type)
				 : 0;

		if (b) {
			fprintf(out, "\tp[%d] = take(%s, %zu);\n", i,
				given ? "in" : "NULL", bytes);
		}
	}
	fprintf(out, "\t%s(", f->name);
	for (int i = 0; i < f->params.n; i++) {
		fprintf(out, i ? ", " : "");
		if (f->params.data[i].buffer) {
			fprintf(out, "p[%d]", i);
		} else {
			fprintf(out, "%lld",
				(long long)t->sizes[scalars++ % 3]);
		}
	}
	fprintf(out, ");\n");
	for (int i = 0; i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;

		if (b && i < plain->params.n) {
			fprintf(out, "\tfwrite(p[%d], 1, %zu, out);\n", i,
				t->elems[i] * (size_t)dtype_bytes(b->type));
		}
		if (b) {
			fprintf(out, "\tfree(p[%d]);\n", i);
		}
	}
}

static bool
write_file(struct run *r, const char *name, const char *text)
{
	FILE *f = fopen(arena_printf(&r->m->arena, "%s/%s", r->folder, name),
			"w");

	return f && fputs(text, f) >= 0 && fclose(f) == 0;
}

static bool
write_harness(struct run *r)
{
	static const char head[] =
		"static void *\ntake(FILE *in, size_t n)\n{\n"
		"\tvoid *p = calloc(1, n + 1);\n\n"
		"\tif (p == NULL || (in && fread(p, 1, n, in) != n)) {\n"
		"\t\texit(1);\n\t}\n\treturn p;\n}\n\n"
		"int\nmain(int argc, char **argv)\n{\n"
		"\tFILE *in = argc > 2 ? fopen(argv[1], \"rb\") : NULL;\n"
		"\tFILE *out = argc > 2 ? fopen(argv[2], \"wb\") : NULL;\n"
		"\tvoid *p[32];\n\n"
		"\tif (in == NULL || out == NULL) {\n\t\treturn 1;\n\t}\n";
	struct arena *a = &r->m->arena;
	FILE *out = fopen(arena_printf(a, "%s/harness.c", r->folder), "w");
	FILE *in = fopen(arena_printf(a, "%s/in.bin", r->folder), "wb");
	bool ok;

	if (!out || !in) {
		return false;
	}
	fprintf(out,
		"#include <stdio.h>\n#include <stdlib.h>\n\n"
		"#include \"%s\"\n\n%s",
		r->text.header_name, head);
	for (int k = 0; k < r->trials.n; k++) {
		const struct trial *t = &r->trials.data[k];
		const struct func *plain = r->list.funcs.data[t->func].plain;

		print_call(r, t, out);
		for (int i = 0; i < plain->params.n; i++) {
			const struct buffer *b = plain->params.data[i].buffer;

			if (b) {
				fwrite(t->in[i], (size_t)dtype_bytes(b->type),
				       t->elems[i], in);
			}
		}
	}
	fprintf(out, "\tfclose(in);\n\treturn fclose(out);\n}\n");
	ok = fclose(in) == 0;
	return fclose(out) == 0 && ok;
}

static void
compare(struct run *r)
{
	FILE *f = fopen(arena_printf(&r->m->arena, "%s/out.bin", r->folder),
			"rb");

	for (int k = 0; k < r->trials.n; k++) {
		const struct trial *t = &r->trials.data[k];
		const struct func *plain = r->list.funcs.data[t->func].plain;

		for (int i = 0; i < plain->params.n; i++) {
			const struct buffer *b = plain->params.data[i].buffer;
			size_t size = b ? (size_t)dtype_bytes(b->type) : 0;
			unsigned char *got;

			if (!b) {
				continue;
			}
			got = malloc(t->elems[i] * size + 1);
			if (!f ||
			    fread(got, size, t->elems[i], f) != t->elems[i] ||
			    !same(b->type, t->want[i], got, t->elems[i])) {
				fprintf(stderr,
					"%s: %s: parameter %d of the "
					"source differs at %lld, %lld, %lld\n",
					r->stem, r->text.funcs[t->func]->name,
					i, (long long)t->sizes[0],
					(long long)t->sizes[1],
					(long long)t->sizes[2]);
				r->failed++;
			}
			free(got);
		}
	}
	if (f) {
		fclose(f);
	}
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

/* What the program says of outside functions, as a file of its own. */
static bool
write_outside(struct run *r, int first, int n)
{
	struct program_result outside = { .intrins = r->list.intrins };
	struct program_options o = { .stem = "outside" };
	struct program_sources text = { 0 };

	for (int i = first; i < n; i++) {
		struct program_func f = {
			.stage = PROGRAM_CREATED,
			.func = r->m->funcs.data[i],
			.named = true,
		};

		vec_push(&r->m->arena, &outside.funcs, f);
	}
	return program_source(r->m, &outside, &o, NULL, &text) &&
	       write_file(r, "outside.c", text.source);
}

/* Without an outside function of unknown behaviour? */
struct search {
	const struct module *m;
	bool unknown;
};

static void
see_call(void *ctx, const struct expr *e)
{
	struct search *s = ctx;

	s->unknown |= e->kind == EXPR_CALL &&
		      e->u.intrin == INTRIN_CALL_EXTERN &&
		      !module_find_func(s->m, e->args[0]->u.text);
}

static bool
visit(void *ctx, struct stmt *s)
{
	for (int i = 0; i < s->n_args; i++) {
		if (s->args[i]) {
			expr_visit(s->args[i], see_call, ctx);
		}
	}
	return true;
}

static bool
is_known(struct run *r, const struct func *f)
{
	struct search s = { r->m, false };

	stmt_visit(f->body, visit, &s);
	return !s.unknown;
}

static bool
run_source(struct run *r, int outside)
{
	int known = r->m->funcs.n;
	struct program_options o = { .stem = r->stem };
	struct arena *a = &r->m->arena;

	/* To the source they are outside: declared, not known. */
	r->m->funcs.n = outside;
	r->text.with_header = true;
	if (!program_source(r->m, &r->list, &o, r->target, &r->text) ||
	    !command(arena_printf(a, "mkdir -p '%s'", r->folder)) ||
	    !write_file(r, r->text.source_name, r->text.source) ||
	    !write_file(r, r->text.header_name, r->text.header) ||
	    !write_outside(r, outside, known) || !write_harness(r)) {
		return !fail(r, "cannot be written as source");
	}
	if (!command(arena_printf(a,
				  "cd '%s' && %s -c '%s' && %s -c "
				  "outside.c && cc -c harness.c && cc -o "
				  "program '%s.o' outside.o harness.o -lm",
				  r->folder, r->cc, r->text.source_name, "cc",
				  r->stem)) ||
	    !command(arena_printf(a, "cd '%s' && ./program in.bin out.bin",
				  r->folder))) {
		r->failed++;
		return false;
	}
	compare(r);
	return true;
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
	struct program_result all;
	struct source src;
	const char *why = "";
	int outside;

	if (!read_file(r, path, &src) || !program_run(r->m, &src, &o, &all)) {
		return !fail(r, "does not run");
	}
	outside = r->m->funcs.n;
	if (!intrinsic_references(r->m, all.intrins, &why)) {
		return !fail(r, why);
	}
	r->list.intrins = all.intrins;
	for (int i = 0; i < all.funcs.n; i++) {
		const struct program_func *f = &all.funcs.data[i];
		struct func *lowered = func_clone(f->func, f->func->name);

		if (!is_known(r, f->plain) || f->plain->params.n > MAX_PARAMS) {
			r->skipped++;
			continue;
		}
		if (f->stage < PROGRAM_LOWERED &&
		    !program_lower(lowered, 3, false, NULL)) {
			return !fail(r, "cannot be lowered");
		}
		if (lower_has_threads(lowered)) {
			/* Its source is another target's. */
			add_trials(r, f, -1);
			continue;
		}
		vec_push(&r->m->arena, &r->list.funcs, *f);
		add_trials(r, f, r->list.funcs.n - 1);
	}
	return r->failed == 0 &&
	       (r->list.funcs.n == 0 || run_source(r, outside));
}

int
main(int argc, char **argv)
{
	struct run r = { .m = module_new(), .state = 1 };
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
