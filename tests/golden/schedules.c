/* SPDX-License-Identifier: Apache-2.0 */
/* schedules CASES DOCS: the cases in a folder, and the page made of them;
 * REGEN=1 rewrites both. See schedules/README.md. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "../unit/check.h"
#include "interp.h"
#include "intrinsic_make.h"
#include "intrinsics.h"
#include "lower.h"
#include "schedules.h"
#include "script.h"
#include "trace_json.h"

/* -- files */

static const char *
read_text(struct arena *a, const char *path)
{
	FILE *file = fopen(path, "rb");
	struct strbuf text;
	const char *copy;
	char part[4096];
	size_t n;

	if (!file) {
		return NULL;
	}
	strbuf_init(&text);
	strbuf_puts(&text, "");
	while ((n = fread(part, 1, sizeof part, file)) > 0) {
		strbuf_write(&text, part, n);
	}
	fclose(file);
	copy = arena_strndup(a, text.data, text.len);
	strbuf_release(&text);
	return copy;
}

static void
write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "wb");

	if (CHECK(file != NULL)) {
		fputs(text, file);
		fclose(file);
	}
}

/* The text between the line "## name" and the next such line. */
static const char *
section(struct arena *a, const char *text, const char *name)
{
	const char *heading = arena_printf(a, "\n## %s\n", name);
	const char *at = strstr(text, heading), *end;

	if (!at) {
		return NULL;
	}
	at += strlen(heading);
	end = strstr(at - 1, "\n## ");
	return arena_strndup(a, at, end ? (size_t)(end + 1 - at) : strlen(at));
}

static bool
read_case(struct arena *a, const char *path, struct schedule_case *c)
{
	const char *text = read_text(a, path), *colon, *end;

	colon = text ? strstr(text, ": ") : NULL;
	end = text ? strchr(text, '\n') : NULL;
	if (!colon || !end || colon > end || strncmp(text, "# ", 2) != 0) {
		return false;
	}
	c->path = path;
	c->primitive = arena_strndup(a, text + 2, (size_t)(colon - text - 2));
	c->title = arena_strndup(a, colon + 2, (size_t)(end - colon - 2));
	c->intrinsic = section(a, text, "intrinsic");
	c->before = section(a, text, "before");
	c->steps = section(a, text, "steps");
	c->after = section(a, text, "after");
	c->refused = section(a, text, "refused");
	c->not_run = section(a, text, "not run");
	return c->before && c->steps;
}

static void
write_case(const struct schedule_case *c)
{
	struct strbuf out;

	strbuf_init(&out);
	strbuf_printf(&out, "# %s: %s\n", c->primitive, c->title);
	if (c->not_run) {
		strbuf_printf(&out, "## not run\n%s", c->not_run);
	}
	if (c->intrinsic) {
		strbuf_printf(&out, "## intrinsic\n%s", c->intrinsic);
	}
	strbuf_printf(&out, "## before\n%s## steps\n%s## %s\n%s", c->before,
		      c->steps, c->after ? "after" : "refused",
		      c->after ? c->after : c->refused);
	write_text(c->path, out.data);
	strbuf_release(&out);
}

/* -- functions */

static struct func *
read_func(struct module *m, const struct schedule_case *c)
{
	struct source src = { c->path, c->before, strlen(c->before) };
	struct func *f = NULL;

	if (script_read(m, &src) && m->funcs.n > 0) {
		f = m->funcs.data[m->funcs.n - 1];
		m->funcs.n = 0; /* the next may have its name */
	}
	return f;
}

static const char *
text_of(struct module *m, const struct func *f)
{
	struct strbuf out;
	const char *text;

	strbuf_init(&out);
	func_print(f, SCRIPT_CURRENT, &out);
	text = strstr(out.data, "@T.prim_func");
	text = arena_strdup(&m->arena, text ? text : out.data);
	strbuf_release(&out);
	return text;
}

static void
show_errors(const struct diags *diags)
{
	for (int i = 0; i < diags->list.n; i++) {
		struct strbuf text;

		strbuf_init(&text);
		diag_format(&diags->list.data[i], &text);
		fprintf(stderr, "%s\n", text.data);
		strbuf_release(&text);
	}
}

/* -- running */

enum { SYMBOLIC_SIZE = 13 };

/* Arguments of small integers, the same for the same signature. NULL where a
 * size is not known. */
static struct run_arg *
make_args(struct module *m, const struct func *f, int64_t *bytes)
{
	int n = f->params.n;
	struct run_arg *args = arena_array(&m->arena, struct run_arg, n + 1);
	struct var_map sizes = { 0 };
	unsigned state = 1;

	sizes.from = arena_array(&m->arena, struct var *, n + 1);
	sizes.to = arena_array(&m->arena, const struct expr *, n + 1);
	for (int i = 0; i < n; i++) {
		if (!f->params.data[i].buffer) {
			args[i].scalar = SYMBOLIC_SIZE;
			sizes.from[sizes.n] = f->params.data[i].var;
			sizes.to[sizes.n++] =
				expr_int(m, f->params.data[i].var->type,
					 SYMBOLIC_SIZE);
		}
	}
	for (int i = 0; i < n; i++) {
		const struct buffer *b = f->params.data[i].buffer;
		int64_t elems = 1, extent;

		bytes[i] = 0;
		for (int d = 0; b && d < b->ndim; d++) {
			if (!expr_is_int(expr_substitute(m, b->shape[d],
							 &sizes),
					 &extent)) {
				return NULL;
			}
			elems *= extent;
		}
		if (!b) {
			continue;
		}
		bytes[i] = elems * dtype_bytes(b->type);
		args[i].data = arena_alloc(&m->arena, (size_t)bytes[i] + 1);
		for (int64_t k = 0; k < elems; k++) {
			union number v;

			state = state * 1103515245u + 12345u;
			v.i = (int)(state >> 16) % 9;
			if (dtype_is_float(b->type)) {
				v.f = (double)(v.i - 4);
			}
			number_store(b->type, args[i].data, (size_t)k, v);
		}
	}
	return args;
}

static struct run_arg *
run(struct module *m, struct func *f, int64_t *bytes)
{
	struct run_arg *args = make_args(m, f, bytes);

	return args && interp_run(f, args, f->params.n) ? args : NULL;
}

static void
check_same_results(struct module *m, struct func *first, struct func *second)
{
	int n = first->params.n;
	int64_t *bytes = arena_array(&m->arena, int64_t, n + 1);
	int64_t *again = arena_array(&m->arena, int64_t, n + 1);
	struct run_arg *x = run(m, first, bytes);
	struct run_arg *y = second->params.n == n ? run(m, second, again)
						  : NULL;

	if (!CHECK(x != NULL) || !CHECK(y != NULL)) {
		show_errors(&m->diags);
		return;
	}
	for (int i = 0; i < n; i++) {
		if (CHECK_EQ(again[i], bytes[i]) && bytes[i] > 0) {
			CHECK(memcmp(x[i].data, y[i].data, (size_t)bytes[i]) ==
			      0);
		}
	}
}

/* -- one case */

static bool
apply_steps(struct sched *s, const struct schedule_case *c)
{
	struct source src = { c->path, c->steps, strlen(c->steps) };

	return trace_read_python(s, &src);
}

/* The intrinsic that the case brings along, by the name "own". */
static void
add_own(struct module *m, const struct schedule_case *c,
	struct tensor_intrins *known)
{
	struct intrinsic_data own = {
		.name = "own",
		.what = "of the case",
		.script_file = c->path,
		.script = c->intrinsic,
	};

	if (!CHECK(intrinsic_register(m, &own, known))) {
		show_errors(&m->diags);
	}
}

/* A schedule of f; where the steps tensorize, with the intrinsics that come
 * with tirc and the case's own. */
static void
begin(struct sched *s, const struct schedule_case *c, struct func *f)
{
	struct module *m = f->module;
	const struct intrinsic_set *set;

	sched_init(s, f);
	if (!strstr(c->steps, "tensorize")) {
		return;
	}
	s->intrins = arena_new(&m->arena, struct tensor_intrins);
	tensor_intrins_init(s->intrins, &m->arena);
	set = intrinsic_set_load(m, NULL);
	CHECK(set && intrinsic_set_register(m, set, s->intrins));
	if (c->intrinsic) {
		add_own(m, c, s->intrins);
	}
}

/* What is done again gives the same text. */
static void
check_again(struct module *m, const struct schedule_case *c,
	    const struct sched *s, const char *text)
{
	struct sched again, fork;
	struct strbuf form;
	struct source src = { .name = "the trace" };

	begin(&again, c, read_func(m, c));
	if (!CHECK(sched_replay(&again, s->trace.data, s->trace.n))) {
		show_errors(&again.diags);
	}
	CHECK_STR_EQ(text_of(m, again.func), text);
	sched_fork(s, &fork);
	CHECK_STR_EQ(text_of(m, fork.func), text);
	strbuf_init(&form);
	trace_print_python(s, SCRIPT_CURRENT, &form);
	src.text = form.data;
	src.length = form.len;
	begin(&again, c, read_func(m, c));
	if (!CHECK(trace_read_python(&again, &src))) {
		show_errors(&m->diags);
		fputs(form.data, stderr);
	}
	CHECK_STR_EQ(text_of(m, again.func), text);
	form.len = 0;
	trace_json_write(s, SCRIPT_CURRENT, &form);
	src.text = form.data;
	src.length = form.len;
	begin(&again, c, read_func(m, c));
	if (!CHECK(trace_json_read(&again, &src))) {
		show_errors(&m->diags);
		fputs(form.data, stderr);
	}
	CHECK_STR_EQ(text_of(m, again.func), text);
	strbuf_release(&form);
}

static void
check_meaning(struct module *m, const struct schedule_case *c,
	      const struct sched *s)
{
	struct func *f = s->func, *first = read_func(m, c);
	struct func *lowered = func_clone(f, f->name);
	const char *why = NULL;

	/* What instructions do, for the interpreter. */
	if (s->intrins && !CHECK(intrinsic_references(m, s->intrins, &why))) {
		fprintf(stderr, "%s\n", why);
	}
	check_same_results(m, first, func_clone(f, f->name));
	if (CHECK(lower_func(lowered, NULL))) {
		check_same_results(m, first, lowered);
	} else {
		show_errors(&m->diags);
	}
}

static const char *
trace_text(struct arena *a, const struct sched *s,
	   void (*print)(const struct sched *s, enum script_version version,
			 struct strbuf *out))
{
	struct strbuf text;
	const char *copy;

	strbuf_init(&text);
	print(s, SCRIPT_CURRENT, &text);
	copy = arena_strdup(a, text.data);
	strbuf_release(&text);
	return copy;
}

/* Fills in what the case gives now. */
static bool
run_case(struct arena *a, const struct schedule_case *c,
	 struct schedule_case *now)
{
	struct module *m = module_new();
	struct func *f = read_func(m, c);
	struct sched s;
	bool done;

	if (!CHECK(f != NULL) || !CHECK(func_verify(f))) {
		show_errors(&m->diags);
		module_free(m);
		return false;
	}
	*now = *c;
	now->before = arena_strdup(a, text_of(m, f));
	now->after = now->refused = NULL;
	begin(&s, c, f);
	done = apply_steps(&s, c);
	if (done) {
		now->after = arena_strdup(a, text_of(m, f));
		now->python = trace_text(a, &s, trace_print_python);
		now->json = trace_text(a, &s, trace_json_write);
	} else {
		const struct diag *d = &m->diags.list.data[m->diags.list.n - 1];

		now->refused = arena_printf(a, "%s\n", d->message);
		m->diags.list.n = m->diags.n_errors = 0;
	}
	if (!CHECK(func_verify(f))) {
		show_errors(&m->diags);
	}
	check_again(m, c, &s, text_of(m, f));
	if (done && !c->not_run) {
		check_meaning(m, c, &s);
	}
	module_free(m);
	return true;
}

static bool
same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static void
check_case(struct arena *a, struct schedule_case *c, bool regen)
{
	struct schedule_case now;
	int failed = check_failed;
	bool again;

	if (!sched_primitive_find(c->primitive)) {
		CHECK(!"the title begins with a primitive");
	} else if (run_case(a, c, &now)) {
		if (!regen) {
			CHECK_STR_EQ(now.before, c->before);
			CHECK_STR_EQ(now.after, c->after);
			CHECK_STR_EQ(now.refused, c->refused);
		} else if (!same_text(now.before, c->before) ||
			   !same_text(now.after, c->after) ||
			   !same_text(now.refused, c->refused)) {
			write_case(&now);
		}
		/* As the printer writes it, its names are other ones. */
		again = regen && !same_text(now.before, c->before);
		if (getenv("DUMP") && now.json) {
			const char *stem = strrchr(c->path, '/') + 1;
			const char *file = arena_printf(a, "%s/%.*s",
							getenv("DUMP"),
							(int)strlen(stem) - 4,
							stem);

			write_text(arena_printf(a, "%s.json", file), now.json);
			write_text(arena_printf(a, "%s.py", file), now.before);
		}
		*c = now;
		if (again) {
			check_case(a, c, regen);
		}
	}
	if (check_failed > failed) {
		fprintf(stderr, "^ %s\n", c->path);
	}
}

/* -- all of them */

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void
read_cases(struct arena *a, const char *folder, struct schedule_cases *out)
{
	DIR *dir = opendir(folder);
	VEC(const char *) names = { 0 };

	for (struct dirent *e; dir && (e = readdir(dir));) {
		size_t n = strlen(e->d_name);

		if (n > 4 && strcmp(e->d_name + n - 4, ".txt") == 0) {
			vec_push(a, &names,
				 arena_printf(a, "%s/%s", folder, e->d_name));
		}
	}
	if (dir) {
		closedir(dir);
	}
	if (names.n > 0) {
		qsort(names.data, (size_t)names.n, sizeof *names.data, by_name);
	}
	for (int i = 0; i < names.n; i++) {
		struct schedule_case c = { 0 };

		if (CHECK(read_case(a, names.data[i], &c))) {
			vec_push(a, &out->list, c);
		} else {
			fprintf(stderr, "^ %s\n", names.data[i]);
		}
	}
}

/* Each primitive: what it does, and what it refuses. */
static void
check_complete(const struct schedule_cases *cases)
{
	int n;
	const struct primitive *list = sched_primitives(&n);

	for (int i = 0; i < n; i++) {
		bool works = false, refuses = false;

		for (int k = 0; k < cases->list.n; k++) {
			const struct schedule_case *c = &cases->list.data[k];

			if (strcmp(c->primitive, list[i].name) == 0) {
				works |= c->after != NULL;
				refuses |= c->refused != NULL;
			}
		}
		if (!CHECK(works) || !CHECK(refuses)) {
			fprintf(stderr, "%s lacks a case\n", list[i].name);
		}
	}
}

int
main(int argc, char **argv)
{
	struct arena a;
	struct schedule_cases cases = { 0 };
	struct strbuf docs;
	bool regen = getenv("REGEN") != NULL;
	const char *only = getenv("CASE"); /* part of a file's name */

	if (argc != 3) {
		fprintf(stderr, "usage: %s cases docs\n", argv[0]);
		return 2;
	}
	arena_init(&a);
	read_cases(&a, argv[1], &cases);
	CHECK(cases.list.n > 0);
	for (int i = 0; i < cases.list.n; i++) {
		if (!only || strstr(cases.list.data[i].path, only)) {
			check_case(&a, &cases.list.data[i], regen);
		}
	}
	check_complete(&cases);
	strbuf_init(&docs);
	schedules_docs(&a, &cases, &docs);
	if (regen) {
		write_text(argv[2], docs.data);
	} else if (!only) {
		CHECK_STR_EQ(read_text(&a, argv[2]), docs.data);
	}
	strbuf_release(&docs);
	arena_release(&a);
	return check_done();
}
