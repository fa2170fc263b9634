/* SPDX-License-Identifier: Apache-2.0 */
/* Trials as source; see schedule_batch.h. Functions come as text, which is
 * read back into a module of the batch, so that no trial outlives its own. */
#include "schedule_batch.h"

#include <math.h>
#include <stdlib.h>

#include "lower.h"
#include "script.h"
#include "unit.h"

#include "../includes.h"
#include "emit.h"
#include "host_device.h"

/* Prints the lowered function f, behind the functions that it calls: lowering
 * may have removed a call, and compilers warn about a function without one. */
static bool
add_functions(struct trial *t, const struct func *f, struct strbuf *out)
{
	struct strbuf text;
	bool good = true;

	strbuf_init(&text);
	func_print(f, SCRIPT_CURRENT, &text);
	/* The target's have their text. */
	for (int i = 0; i < t->m->funcs.n && good && !t->target; i++) {
		struct func *called = t->m->funcs.data[i];

		if (strstr(text.data, arena_printf(&t->m->arena, "\"%s\"",
						   called->name)) == NULL) {
			continue;
		}
		called = func_clone(called, called->name);
		good = lower_func(called, NULL);
		func_print(called, SCRIPT_CURRENT, out);
		strbuf_putc(out, '\n');
	}
	t->trouble = good ? t->trouble : TROUBLE_LOWER;
	strbuf_printf(out, "%s\n", text.data);
	strbuf_release(&text);
	return good;
}

bool
batch_init(struct batch *b, const char *target, const char *folder,
	   const char *cc)
{
	struct module *m = module_new();
	const struct target *t = target_load(m, target, NULL);
	const struct dialect *d = t ? dialect_load(m, t->dialect, NULL) : NULL;

	*b = (struct batch){ .folder = folder, .cc = cc };
	if (d) {
		snprintf(b->dialect, sizeof b->dialect, "%s", t->dialect);
		snprintf(b->target, sizeof b->target, "%.*s",
			 (int)strcspn(target, " "), target);
		b->has_tiles = t->n_products > 0 && t->max_threads > 1;
		b->kind.target = b->target;
		b->kind.facts = strchr(target, ' ');
		b->kind.device = d->device.rejected == NULL;
		b->kind.vectors = d->vectors.rejected == NULL;
		b->is_planned = b->kind.device && d->device.no_launch != NULL;
	} else {
		fprintf(stderr, "%s\n", m->diags.list.data[0].message);
	}
	module_free(m);
	return d != NULL;
}

/* Can the dialect's kernels have what the trial has come to? Symbols from
 * outside know nothing of a device's memory. */
static bool
is_for(const struct batch *b, const struct trial *t)
{
	/* Boxes that random steps make are only interpreted: few dialects have
	 * them, and of few arrays. */
	for (int i = 0; i < t->sched.trace.n && !t->target; i++) {
		if (strcmp(t->sched.trace.data[i].primitive->name,
			   "copy_box") == 0) {
			return false;
		}
	}
	return b->kind.device == t->for_device &&
	       !(b->is_planned && !t->target && t->intrins.calls.n > 0);
}

static void
drop_entry(struct batch_entry *x)
{
	strbuf_release(&x->text);
	free(x->expected);
	for (int k = 0; k < x->n_params; k++) {
		free(x->in[k]);
	}
}

bool
batch_add(struct batch *b, struct trial *t)
{
	struct batch_entry *x = &b->entries[b->n];
	const struct random_program *p = &t->program;
	struct func *f = is_for(b, t) ? trial_lowered(t) : NULL;
	struct run_arg packed[RANDOM_MAX_ARGS], out[RANDOM_MAX_ARGS];

	if (!f) {
		b->n_refused += b->kind.device;
		return t->trouble == TROUBLE_NONE;
	}
	*x = (struct batch_entry){
		.seed = t->seed,
		.n_params = p->n_params,
		.size = p->size,
		.has_size = p->dim != NULL,
		.output = p->output,
		.type = p->buffer[p->output]->type,
		.tolerance = t->tolerance,
	};
	strbuf_init(&x->text);
	f->name = arena_printf(&t->m->arena, "k%d", b->n);
	if (!add_functions(t, f, &x->text)) {
		strbuf_release(&x->text);
		return false;
	}
	trial_pack(t, packed, x->bytes);
	memcpy(out, packed, sizeof out);
	x->expected = malloc(x->bytes[x->output] + 1);
	memcpy(x->expected,
	       trial_only_source(t) ? t->args[x->output].data
				    : packed[x->output].data,
	       x->bytes[x->output]);
	out[x->output].data = x->expected;
	for (int i = 0; i < x->n_params; i++) {
		x->in[i] = packed[i].data;
	}
	if (b->kind.device) {
		if (!device_run(b, t, f, out, p->n_args, x)) {
			b->n_refused++;
			drop_entry(x);
			return t->trouble == TROUBLE_NONE;
		}
	} else if (!trial_only_source(t) && !interp_run(f, out, p->n_args)) {
		t->trouble = TROUBLE_LOWER_RUN;
		drop_entry(x);
		return false;
	}
	b->n++;
	return true;
}

static void
empty(struct batch *b)
{
	for (int i = 0; i < b->n; i++) {
		drop_entry(&b->entries[i]);
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
	for (int i = 0; i < x->n_between; i++) {
		fprintf(out, "\tp[%d] = make(%zu);\n", x->n_params + i,
			x->between[i]);
	}
	fprintf(out, "\tk%d(", number);
	for (int i = 0; i < x->n_params; i++) {
		fprintf(out, "%sp[%d]", i ? ", " : "", i);
	}
	if (x->has_size) {
		fprintf(out, ", %d", x->size);
	}
	for (int i = x->n_params; i < x->n_params + x->n_between; i++) {
		fprintf(out, ", p[%d]", i);
	}
	fprintf(out, ");\n\tfwrite(p[%d], 1, %zu, out);\n", x->output,
		x->bytes[x->output]);
	for (int i = 0; i < x->n_params + x->n_between; i++) {
		fprintf(out, "\tfree(p[%d]);\n", i);
	}
}

/* Pointers go to any type where C++ takes the source as well. */
static const char any_pointer[] = "typedef void *any;\n\n";

static const char any_pointer_of_a_host[] =
	"struct any {\n"
	"\tvoid *p;\n"
	"\ttemplate <class T> operator T *() const\n"
	"\t{\n"
	"\t\treturn static_cast<T *>(p);\n"
	"\t}\n"
	"};\n\n";

static const char harness[] =
	"static any\n"
	"make(size_t n)\n"
	"{\n"
	"\tany a = { aligned_alloc(64, (n + 64) / 64 * 64) };\n\n"
	"\treturn a;\n"
	"}\n\n"
	"static any\n"
	"take(FILE *in, size_t n)\n"
	"{\n"
	"\tany a = make(n);\n\n"
	"\tif (fread(a, 1, n, in) != n) {\n"
	"\t\texit(1);\n"
	"\t}\n"
	"\treturn a;\n"
	"}\n\n"
	"int\n"
	"main(int argc, char **argv)\n"
	"{\n"
	"\tFILE *in = argc > 2 ? fopen(argv[1], \"rb\") : NULL;\n"
	"\tFILE *out = argc > 2 ? fopen(argv[2], \"wb\") : NULL;\n"
	"\tany p[64];\n\n"
	"\tif (in == NULL || out == NULL) {\n"
	"\t\treturn 1;\n"
	"\t}\n";

static void
print_main(const struct batch *b, int from, int to, FILE *out)
{
	fprintf(out, "%s%s",
		b->kind.device ? any_pointer_of_a_host : any_pointer, harness);
	for (int i = from; i < to; i++) {
		print_call(&b->entries[i], i, out);
	}
	fputs("\tfclose(in);\n\treturn fclose(out);\n}\n", out);
}

static void
print_source(const struct batch *b, int from, int to, struct unit *unit,
	     const char *functions, FILE *out)
{
	struct strbuf helpers;

	strbuf_init(&helpers);
	unit_need(unit, "stdio.h");
	unit_need(unit, "stdlib.h");
	unit_print_helpers(unit, &helpers);
	fputs("#define _ISOC11_SOURCE\n", out);
	print_includes(out, unit);
	fprintf(out, "\n%s%s", helpers.data ? helpers.data : "", functions);
	print_main(b, from, to, out);
	strbuf_release(&helpers);
}

/* The functions of an entry, in front of which are those of others. */
static bool
read_entry(struct module *m, const struct batch_entry *x, int *first)
{
	struct source src = { "batch", x->text.data, x->text.len };

	*first = m->funcs.n;
	return script_read(m, &src);
}

static bool
write_functions(const struct batch *b, int from, int to, struct module *m,
		const struct dialect *d, FILE *out, int *bad)
{
	struct strbuf functions;
	struct unit unit;
	bool good = true;

	strbuf_init(&functions);
	unit_init(&unit, m, d);
	for (int i = from; i < to && good; i++) {
		int first;

		*bad = i;
		good = read_entry(m, &b->entries[i], &first);
		for (int k = first; k < m->funcs.n && good; k++) {
			good = unit_func(&unit, m->funcs.data[k], &functions);
			strbuf_putc(&functions, '\n');
		}
	}
	if (good) {
		print_source(b, from, to, &unit,
			     functions.data ? functions.data : "", out);
	}
	strbuf_release(&functions);
	return good;
}

/* Adds the functions of an entry, the last one split. */
static bool
add_parts(struct module *m, const struct batch_entry *x,
	  struct program_part *parts, int *n)
{
	int first;

	if (!read_entry(m, x, &first)) {
		return false;
	}
	for (int k = first, last = m->funcs.n - 1; k <= last; k++) {
		struct program_part *part = &parts[(*n)++];
		struct host_device *split;

		*part = (struct program_part){ .func = m->funcs.data[k] };
		if (k < last) {
			continue;
		}
		split = arena_new(&m->arena, struct host_device);
		if (!lower_split_host_device(m, m->funcs.data[k], NULL, NULL,
					     split)) {
			return false;
		}
		part->func = split->host;
		part->split = split;
	}
	return true;
}

/* Kernels, and what launches them: source, or a plan and files with data. */
static bool
write_kernels(const struct batch *b, int from, int to, struct module *m,
	      const struct dialect *d, const char *stem, FILE *out, int *bad)
{
	enum { MOST = 8 * BATCH_MAX };
	struct program_part parts[MOST];
	struct strbuf text;
	int n = 0, params = 0;
	bool good = true;

	strbuf_init(&text);
	if (b->is_planned) {
		fprintf(out, "source trials.text\n");
	}
	for (int i = from; i < to && good; i++) {
		*bad = i;
		good = n + 8 < MOST && add_parts(m, &b->entries[i], parts, &n);
		if (good && b->is_planned) {
			good = device_print_plan(b, i, parts[n - 1].func,
						 &params, out);
		}
	}
	good = good &&
	       emit_program(m, d,
			    &(struct program_text){ .origin = "from the tests",
						    .stem = "trials",
						    .parts = parts,
						    .n = n },
			    &text, NULL);
	if (good && b->is_planned) {
		FILE *f = fopen(arena_printf(&m->arena, "%s.text", stem), "w");

		good = f != NULL && fputs(text.data, f) >= 0 && fclose(f) == 0;
	} else if (good) {
		fputs("#include <stdio.h>\n#include <stdlib.h>\n", out);
		device_print_host(text.data, out);
		print_main(b, from, to, out);
	}
	strbuf_release(&text);
	return good;
}

static void
write_data(const struct batch *b, int from, int to, FILE *in)
{
	for (int i = from; i < to; i++) {
		const struct batch_entry *x = &b->entries[i];

		for (int k = 0; k < x->n_params; k++) {
			fwrite(x->in[k], 1, x->bytes[k], in);
		}
	}
}

static bool
write_files(const struct batch *b, int from, int to, const char *stem, int *bad)
{
	struct module *m = module_new();
	const struct dialect *d = dialect_load(m, b->dialect, NULL);
	FILE *in = fopen(arena_printf(&m->arena, "%s.in", stem), "wb");
	FILE *out = fopen(b->is_planned ? arena_printf(&m->arena, "%s/plan",
						       b->folder)
					: arena_printf(&m->arena, "%s.c", stem),
			  "w");
	bool good = d && in && out;

	*bad = from;
	good = good &&
	       (b->kind.device
			? write_kernels(b, from, to, m, d, stem, out, bad)
			: write_functions(b, from, to, m, d, out, bad));
	if (in) {
		write_data(b, from, to, in);
	}
	for (int i = 0; i < m->diags.list.n; i++) {
		fprintf(stderr, "%s\n", m->diags.list.data[i].message);
	}
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

		if (!dtype_is_float(x->type)
			    ? a.u != b.u
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
	} else if (b->is_planned && !command("%s '%s'", b->cc, b->folder)) {
		trouble = TROUBLE_COMPILE;
	} else if (b->is_planned) {
		*bad = compare(b, from, to, path.data);
		trouble = *bad < to ? TROUBLE_SOURCE_RESULT : TROUBLE_NONE;
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
	int bad = 0, other;
	enum trouble all = b->n > 0 ? run(b, 0, b->n, &bad) : TROUBLE_NONE;

	b->n_run += b->n;
	/* Which of them is it? */
	for (int i = 0; i < b->n && all != TROUBLE_NONE; i++) {
		enum trouble one = run(b, i, i + 1, &other);

		if (one != TROUBLE_NONE) {
			all = one;
			bad = i;
			break;
		}
	}
	if (all != TROUBLE_NONE) {
		*seed = b->entries[bad].seed;
	}
	empty(b);
	return all;
}
