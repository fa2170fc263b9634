/* SPDX-License-Identifier: Apache-2.0 */
/* Trials as source; see schedule_batch.h. Functions come as text, which is
 * read back into a module of the batch, so that no trial outlives its own. */
#include "schedule_batch.h"

#include <math.h>
#include <stdlib.h>

#include "lower.h"
#include "script.h"
#include "walk.h"

#include "../includes.h"

/* What the intrinsics' symbols do; lowered, in front. */
static bool
add_references(struct trial *t, struct strbuf *out)
{
	for (int i = 0; i < t->m->funcs.n; i++) {
		const struct func *f = t->m->funcs.data[i];
		struct func *copy = func_clone(f, f->name);

		if (!lower_func(copy, NULL)) {
			t->trouble = TROUBLE_LOWER;
			return false;
		}
		func_print(copy, SCRIPT_CURRENT, out);
		strbuf_putc(out, '\n');
	}
	return true;
}

bool
batch_add(struct batch *b, struct trial *t)
{
	struct batch_entry *x = &b->entries[b->n];
	const struct random_program *p = &t->program;
	struct func *f = t->for_device ? NULL : trial_lowered(t);
	struct run_arg packed[RANDOM_MAX_ARGS], out[RANDOM_MAX_ARGS];

	if (!f) {
		return t->trouble == TROUBLE_NONE;
	}
	*x = (struct batch_entry){
		.seed = t->seed, .n_params = p->n_params, .size = p->size,
		.has_size = p->dim != NULL, .output = p->output,
		.type = p->buffer[p->output]->type,
		.tolerance = t->tolerance,
	};
	strbuf_init(&x->text);
	f->name = arena_printf(&t->m->arena, "k%d", b->n);
	if (!add_references(t, &x->text)) {
		strbuf_release(&x->text);
		return false;
	}
	func_print(f, SCRIPT_CURRENT, &x->text);
	strbuf_putc(&x->text, '\n');
	trial_pack(t, packed, x->bytes);
	memcpy(out, packed, sizeof out);
	x->expected = malloc(x->bytes[x->output] + 1);
	memcpy(x->expected, packed[x->output].data, x->bytes[x->output]);
	out[x->output].data = x->expected;
	for (int i = 0; i < x->n_params; i++) {
		x->in[i] = packed[i].data;
	}
	b->n++;
	if (!interp_run(f, out, p->n_args)) {
		t->trouble = TROUBLE_LOWER_RUN;
		return false;
	}
	return true;
}

static void
empty(struct batch *b)
{
	for (int i = 0; i < b->n; i++) {
		struct batch_entry *x = &b->entries[i];

		strbuf_release(&x->text);
		free(x->expected);
		for (int k = 0; k < x->n_params; k++) {
			free(x->in[k]);
		}
	}
	b->n = 0;
}

/* -- one source file of some of the entries */

static void
print_call(const struct batch_entry *x, int number, FILE *out)
{
	for (int i = 0; i < x->n_params; i++) {
		fprintf(out, "\tp[%d] = take(in, %zu);\n", i, x->bytes[i]);
	}
	fprintf(out, "\tk%d(", number);
	for (int i = 0; i < x->n_params; i++) {
		fprintf(out, "%sp[%d]", i ? ", " : "", i);
	}
	if (x->has_size) {
		fprintf(out, ", %d", x->size);
	}
	fprintf(out, ");\n\tfwrite(p[%d], 1, %zu, out);\n", x->output,
		x->bytes[x->output]);
	for (int i = 0; i < x->n_params; i++) {
		fprintf(out, "\tfree(p[%d]);\n", i);
	}
}

static void
print_source(const struct batch *b, int from, int to, struct unit *unit,
	     const char *functions, FILE *out)
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
	struct strbuf helpers;

	strbuf_init(&helpers);
	unit_need(unit, "stdio.h");
	unit_need(unit, "stdlib.h");
	unit_print_helpers(unit, &helpers);
	fputs("#define _ISOC11_SOURCE\n", out);
	print_includes(out, unit);
	fprintf(out, "\n%s%s%s", helpers.data ? helpers.data : "", functions,
		harness);
	for (int i = from; i < to; i++) {
		print_call(&b->entries[i], i, out);
	}
	fputs("\tfclose(in);\n\treturn fclose(out);\n}\n", out);
	strbuf_release(&helpers);
}

/* Reads the functions and prints them as source. False: *bad cannot be. */
static bool
make_functions(const struct batch *b, int from, int to, struct unit *unit,
	       struct strbuf *out, int *bad)
{
	for (int i = from; i < to; i++) {
		const struct batch_entry *x = &b->entries[i];
		struct source src = { "batch", x->text.data, x->text.len };
		int first = unit->m->funcs.n;
		bool good = script_read(unit->m, &src);

		for (int k = first; k < unit->m->funcs.n && good; k++) {
			good = unit_func(unit, unit->m->funcs.data[k], out);
			strbuf_putc(out, '\n');
		}
		if (!good) {
			*bad = i;
			return false;
		}
	}
	return true;
}

static bool
write_files(const struct batch *b, int from, int to, const char *stem,
	    int *bad)
{
	struct module *m = module_new();
	const struct dialect *d = dialect_load(m, b->dialect, NULL);
	FILE *in = fopen(arena_printf(&m->arena, "%s.in", stem), "wb");
	FILE *out = fopen(arena_printf(&m->arena, "%s.c", stem), "w");
	struct strbuf functions;
	struct unit unit;
	bool good = false;

	*bad = from;
	strbuf_init(&functions);
	if (d && in && out) {
		unit_init(&unit, m, d);
		good = make_functions(b, from, to, &unit, &functions, bad);
	}
	if (good) {
		print_source(b, from, to, &unit,
			     functions.data ? functions.data : "", out);
	}
	for (int i = from; i < to && in; i++) {
		const struct batch_entry *x = &b->entries[i];

		for (int k = 0; k < x->n_params; k++) {
			fwrite(x->in[k], 1, x->bytes[k], in);
		}
	}
	for (int i = 0; i < m->diags.list.n; i++) {
		fprintf(stderr, "%s\n", m->diags.list.data[i].message);
	}
	strbuf_release(&functions);
	good &= in && fclose(in) == 0 && out && fclose(out) == 0;
	module_free(m);
	return good;
}

static bool
close_enough(const struct batch_entry *x, const void *got)
{
	size_t n = x->bytes[x->output] / (size_t)dtype_bytes(x->type);

	for (size_t i = 0; i < n; i++) {
		union number a = number_load(x->type, x->expected, i);
		union number b = number_load(x->type, got, i);

		if (!dtype_is_float(x->type) ? a.u != b.u
		    : a.f != b.f && !(isnan(a.f) && isnan(b.f)) &&
		      !(fabs(a.f - b.f) <=
			x->tolerance * fmax(1, fabs(a.f)))) {
			return false;
		}
	}
	return true;
}

/* Which entry's output differs; to: none. */
static int
compare(const struct batch *b, int from, int to, const char *path)
{
	FILE *f = fopen(path, "rb");
	int bad = to;

	for (int i = from; i < to && bad == to; i++) {
		const struct batch_entry *x = &b->entries[i];
		size_t bytes = x->bytes[x->output];
		void *got = malloc(bytes + 1);

		if (!f || fread(got, 1, bytes, f) != bytes ||
		    !close_enough(x, got)) {
			bad = i;
		}
		free(got);
	}
	if (f) {
		fclose(f);
	}
	return bad;
}

static bool
command(const char *fmt, const char *a, const char *b)
{
	char *text = malloc(strlen(fmt) + 4 * strlen(a) + 4 * strlen(b) + 1);
	bool good;

	sprintf(text, fmt, a, b, b, b);
	good = system(text) == 0;
	free(text);
	return good;
}

static enum trouble
run(const struct batch *b, int from, int to, int *bad)
{
	struct strbuf stem, path;
	enum trouble trouble = TROUBLE_NONE;

	strbuf_init(&stem);
	strbuf_init(&path);
	strbuf_printf(&stem, "%s/trials", b->folder);
	strbuf_printf(&path, "%s.out", stem.data);
	*bad = from;
	if (!command("mkdir -p '%s'%.0s", b->folder, "")) {
		trouble = TROUBLE_EMIT;
	} else if (!write_files(b, from, to, stem.data, bad)) {
		trouble = TROUBLE_EMIT;
	} else if (!command("%s -o '%s' '%s.c' -lm", b->cc, stem.data)) {
		trouble = TROUBLE_COMPILE;
	} else if (!command("%.0s'%s' '%s.in' '%s.out'", "", stem.data)) {
		trouble = TROUBLE_SOURCE_RESULT;
	} else {
		*bad = compare(b, from, to, path.data);
		trouble = *bad < to ? TROUBLE_SOURCE_RESULT : TROUBLE_NONE;
	}
	strbuf_release(&stem);
	strbuf_release(&path);
	return trouble;
}

enum trouble
batch_finish(struct batch *b, uint64_t *seed)
{
	int bad = 0;
	enum trouble all = b->n > 0 ? run(b, 0, b->n, &bad) : TROUBLE_NONE;
	enum trouble one = all;

	/* Which of them does not compile? */
	for (int i = 0; i < b->n && (all == TROUBLE_COMPILE ||
				     all == TROUBLE_SOURCE_RESULT); i++) {
		one = run(b, i, i + 1, &bad);
		if (one != TROUBLE_NONE) {
			all = one;
			break;
		}
	}
	if (all != TROUBLE_NONE) {
		*seed = b->entries[bad].seed;
	}
	empty(b);
	return all;
}
