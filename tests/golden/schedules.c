/* SPDX-License-Identifier: Apache-2.0 */
/* schedules CASES DOCS: the cases in a folder, and the page made of them;
 * REGEN=1 rewrites both. See schedules/README.md. */
#include "schedules.h"
#include "case.h"
#include "intrinsic_make.h"
#include "intrinsics.h"
#include "lower.h"
#include "trace_json.h"
#include "trace_python.h"

/* -- files */

static bool
read_case(struct arena *a, const char *path, struct schedule_case *c)
{
	const char *text = case_read_file(a, path);

	c->path = path;
	if (!case_title(a, text, &c->primitive, &c->title)) {
		return false;
	}
	c->intrinsic = case_section(a, text, "intrinsic");
	c->before = case_section(a, text, "before");
	c->steps = case_section(a, text, "steps");
	c->after = case_section(a, text, "after");
	c->refused = case_section(a, text, "refused");
	c->not_run = case_section(a, text, "not run");
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
	case_write_file(c->path, out.data);
	strbuf_release(&out);
}

/* Arguments of small integers, the same for the same signature. NULL where a
 * size is not known. */
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
		case_show_errors(&m->diags);
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

	begin(&again, c, case_read_func(m, c->path, c->before));
	if (!CHECK(sched_replay(&again, s->trace.data, s->trace.n))) {
		case_show_errors(&again.diags);
	}
	CHECK_STR_EQ(case_func_text(m, again.func), text);
	sched_fork(s, &fork);
	CHECK_STR_EQ(case_func_text(m, fork.func), text);
	strbuf_init(&form);
	trace_print_python(s, SCRIPT_CURRENT, &form);
	src.text = form.data;
	src.length = form.len;
	begin(&again, c, case_read_func(m, c->path, c->before));
	if (!CHECK(trace_read_python(&again, &src))) {
		case_show_errors(&m->diags);
		fputs(form.data, stderr);
	}
	CHECK_STR_EQ(case_func_text(m, again.func), text);
	form.len = 0;
	trace_json_write(s, SCRIPT_CURRENT, &form);
	src.text = form.data;
	src.length = form.len;
	begin(&again, c, case_read_func(m, c->path, c->before));
	if (!CHECK(trace_json_read(&again, &src))) {
		case_show_errors(&m->diags);
		fputs(form.data, stderr);
	}
	CHECK_STR_EQ(case_func_text(m, again.func), text);
	strbuf_release(&form);
}

static void
check_meaning(struct module *m, const struct schedule_case *c,
	      const struct sched *s)
{
	struct func *f = s->func,
		    *first = case_read_func(m, c->path, c->before);
	struct func *lowered = func_clone(f, f->name);
	const char *why = NULL;

	/* What instructions do, for the interpreter. */
	if (s->intrins && !CHECK(intrinsic_references(m, s->intrins, &why))) {
		fprintf(stderr, "%s\n", why);
	}
	case_same_results(m, first, func_clone(f, f->name), interp_run);
	if (CHECK(lower_func(lowered, NULL))) {
		case_same_results(m, first, lowered, interp_run);
	} else {
		case_show_errors(&m->diags);
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
	struct func *f = case_read_func(m, c->path, c->before);
	struct sched s;
	bool done;

	if (!CHECK(f != NULL) || !CHECK(func_verify(f))) {
		case_show_errors(&m->diags);
		module_free(m);
		return false;
	}
	*now = *c;
	now->before = arena_strdup(a, case_func_text(m, f));
	now->after = now->refused = NULL;
	begin(&s, c, f);
	done = apply_steps(&s, c);
	if (done) {
		now->after = arena_strdup(a, case_func_text(m, f));
		now->python = trace_text(a, &s, trace_print_python);
		now->json = trace_text(a, &s, trace_json_write);
	} else {
		const struct diag *d = &m->diags.list.data[m->diags.list.n - 1];

		now->refused = arena_printf(a, "%s\n", d->message);
		m->diags.list.n = m->diags.n_errors = 0;
	}
	if (!CHECK(func_verify(f))) {
		case_show_errors(&m->diags);
	}
	check_again(m, c, &s, case_func_text(m, f));
	if (done && !c->not_run) {
		check_meaning(m, c, &s);
	}
	module_free(m);
	return true;
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
		} else if (!case_same_text(now.before, c->before) ||
			   !case_same_text(now.after, c->after) ||
			   !case_same_text(now.refused, c->refused)) {
			write_case(&now);
		}
		/* As the printer writes it, its names are other ones. */
		again = regen && !case_same_text(now.before, c->before);
		if (getenv("DUMP") && now.json) {
			const char *stem = strrchr(c->path, '/') + 1;
			const char *file = arena_printf(a, "%s/%.*s",
							getenv("DUMP"),
							(int)strlen(stem) - 4,
							stem);

			case_write_file(arena_printf(a, "%s.json", file),
					now.json);
			case_write_file(arena_printf(a, "%s.py", file),
					now.before);
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

static void
read_cases(struct arena *a, const char *folder, struct schedule_cases *out)
{
	struct case_paths paths = case_paths(a, folder);

	for (int i = 0; i < paths.list.n; i++) {
		struct schedule_case c = { 0 };

		if (CHECK(read_case(a, paths.list.data[i], &c))) {
			vec_push(a, &out->list, c);
		} else {
			fprintf(stderr, "^ %s\n", paths.list.data[i]);
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
		case_write_file(argv[2], docs.data);
	} else if (!only) {
		CHECK_STR_EQ(case_read_file(&a, argv[2]), docs.data);
	}
	strbuf_release(&docs);
	arena_release(&a);
	return check_done();
}
