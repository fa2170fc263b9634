/* SPDX-License-Identifier: Apache-2.0 */
/* lower CASES: the cases of lowering passes in a folder; REGEN=1 rewrites them.
 * See lower/README.md. */
#include "lower.h"
#include "case.h"

struct lower_case {
	const char *path;
	const char *pass, *title; /* from the first line */
	const char *fused;        /* the axes that a schedule fused, or NULL */
	const char *before;
	const char *after, *refused; /* NULL: no such section */
	bool unchanged;
	const char *computes; /* a program of the same meaning, or NULL */
	const char *not_run;  /* the reason; NULL: it is run */
};

/* -- files */

static bool
read_case(struct arena *a, const char *path, struct lower_case *c)
{
	const char *text = case_read_file(a, path);

	c->path = path;
	if (!case_title(a, text, &c->pass, &c->title)) {
		return false;
	}
	c->not_run = case_section(a, text, "not run");
	c->computes = case_section(a, text, "computes");
	c->fused = case_section(a, text, "fused");
	c->before = case_section(a, text, "before");
	c->after = case_section(a, text, "after");
	c->unchanged = case_section(a, text, "unchanged") != NULL;
	c->refused = case_section(a, text, "refused");
	return c->before != NULL;
}

static void
write_case(const struct lower_case *c)
{
	struct strbuf out;

	strbuf_init(&out);
	strbuf_printf(&out, "# %s: %s\n", c->pass, c->title);
	case_put_section(&out, "not run", c->not_run);
	case_put_section(&out, "computes", c->computes);
	case_put_section(&out, "fused", c->fused);
	case_put_section(&out, "before", c->before);
	case_put_section(&out, "after", c->after);
	case_put_section(&out, "unchanged", c->unchanged ? "" : NULL);
	case_put_section(&out, "refused", c->refused);
	case_write_file(c->path, out.data);
	strbuf_release(&out);
}

/* -- axes that a schedule fused: the one fact that TVMScript does not tell */

/* "NAME: DIGIT EXTENT, DIGIT EXTENT": an axis that was made of these. */
static bool
note_fused(struct func *f, char *line)
{
	enum { MOST = 8 };
	const char *names[MOST], *name = strtok(line, ": ");
	const struct expr *extents[MOST];
	struct module *m = f->module;
	int n = 0;

	for (char *digit; (digit = strtok(NULL, " ,")) && n < MOST; n++) {
		const char *extent = strtok(NULL, " ,");

		names[n] = arena_strdup(&m->arena, digit);
		extents[n] = expr_i32(m, extent ? atoi(extent) : 0);
	}
	if (!name || n < 2) {
		return false;
	}
	func_note_fused(f,
			var_new(m, arena_strdup(&m->arena, name),
				dtype_of(DT_I32)),
			n, names, extents);
	return true;
}

static struct func *
read_before(struct module *m, const struct lower_case *c)
{
	struct func *f = case_read_func(m, c->path, c->before);
	const char *at = c->fused ? c->fused : "", *end;

	for (; f && (end = strchr(at, '\n')); at = end + 1) {
		CHECK(note_fused(f, arena_strndup(&m->arena, at,
						  (size_t)(end - at))));
	}
	return f;
}

/* -- running */

static bool
run_from(struct func *f, int first)
{
	int n;
	const struct lower_pass *passes = lower_passes(&n);

	for (int i = first; i < n; i++) {
		if (!passes[i].run(f) || !func_verify(f)) {
			return false;
		}
	}
	return true;
}

/* f, which the pass in row `row` has made, computes what the case says: as it
 * is, and lowered to the end. Threads only then: before, nothing waits. */
static void
check_meaning(struct module *m, const struct lower_case *c, struct func *f,
	      int row)
{
	struct func *first = c->computes
				     ? case_read_func(m, c->path, c->computes)
				     : read_before(m, c);
	struct func *lowered = func_clone(f, f->name);
	bool threads = strstr(case_func_text(m, f), "thread_binding") != NULL;

	lowered->fused = f->fused;
	if (!CHECK(first != NULL)) {
		case_show_errors(&m->diags);
		return;
	}
	if (!threads) {
		case_same_results(m, first, f, interp_run);
	}
	if (CHECK(run_from(lowered, row + 1))) {
		case_same_results(m, first, lowered, interp_run_races);
	} else {
		case_show_errors(&m->diags);
	}
}

static int
find_pass(const char *name)
{
	int n;
	const struct lower_pass *passes = lower_passes(&n);

	for (int i = 0; i < n; i++) {
		if (strcmp(passes[i].name, name) == 0) {
			return i;
		}
	}
	return -1;
}

/* What the pass makes of f, as sections of the case. */
static bool
run_pass(struct arena *a, struct func *f, int row, struct lower_case *now)
{
	struct diags *diags = &f->module->diags;
	int n;

	now->after = now->refused = NULL;
	now->unchanged = false;
	if (!lower_passes(&n)[row].run(f)) {
		CHECK(diags->n_errors == 1);
		now->refused = arena_printf(a, "%s\n",
					    diags->list.data[diags->list.n - 1]
						    .message);
		return false;
	}
	if (!CHECK(func_verify(f)) || !CHECK(func_verify_text(f))) {
		case_show_errors(diags);
		return false;
	}
	now->after = arena_strdup(a, case_func_text(f->module, f));
	if (strcmp(now->after, now->before) == 0) {
		now->after = NULL;
		now->unchanged = true;
	}
	return true;
}

/* Fills in what the case gives now. */
static bool
run_case(struct arena *a, const struct lower_case *c, struct lower_case *now)
{
	struct module *m = module_new();
	struct func *f = read_before(m, c);
	int row = find_pass(c->pass);
	bool ok = CHECK(f != NULL) && CHECK(func_verify(f));

	if (ok) {
		*now = *c;
		now->before = arena_strdup(a, case_func_text(m, f));
		if (run_pass(a, f, row, now) && !c->not_run) {
			check_meaning(m, c, f, row);
		}
	} else {
		case_show_errors(&m->diags);
	}
	module_free(m);
	return ok;
}

static bool
same_case(const struct lower_case *x, const struct lower_case *y)
{
	return case_same_text(x->before, y->before) &&
	       case_same_text(x->after, y->after) &&
	       case_same_text(x->refused, y->refused) &&
	       x->unchanged == y->unchanged;
}

static void
check_case(struct arena *a, struct lower_case *c, bool regen)
{
	struct lower_case now;
	int failed = check_failed;

	if (find_pass(c->pass) < 0) {
		CHECK(!"the title begins with a pass");
	} else if (run_case(a, c, &now)) {
		if (!regen) {
			CHECK_STR_EQ(now.before, c->before);
			CHECK_STR_EQ(now.after, c->after);
			CHECK_STR_EQ(now.refused, c->refused);
			CHECK_EQ(now.unchanged, c->unchanged);
		} else if (!same_case(&now, c)) {
			write_case(&now);
		}
		*c = now;
	}
	if (check_failed > failed) {
		fprintf(stderr, "^ %s\n", c->path);
	}
}

/* -- all of them */

struct lower_cases {
	VEC(struct lower_case) list;
};

static void
read_cases(struct arena *a, const char *folder, struct lower_cases *out)
{
	struct case_paths paths = case_paths(a, folder);

	for (int i = 0; i < paths.list.n; i++) {
		struct lower_case c = { 0 };
		const char *name = strrchr(paths.list.data[i], '/') + 1;

		if (CHECK(read_case(a, paths.list.data[i], &c)) &&
		    CHECK(strncmp(name, c.pass, strlen(c.pass)) == 0)) {
			vec_push(a, &out->list, c);
		} else {
			fprintf(stderr, "^ %s\n", paths.list.data[i]);
		}
	}
}

/* Each pass: a program that it changes, and one that it leaves or refuses. */
static void
check_complete(const struct lower_cases *cases)
{
	int n;
	const struct lower_pass *passes = lower_passes(&n);

	for (int i = 0; i < n; i++) {
		bool changes = false, leaves = false;

		for (int k = 0; k < cases->list.n; k++) {
			const struct lower_case *c = &cases->list.data[k];

			if (strcmp(c->pass, passes[i].name) == 0) {
				changes |= c->after != NULL;
				leaves |= c->unchanged || c->refused;
			}
		}
		if (!CHECK(changes) || !CHECK(leaves)) {
			fprintf(stderr, "%s lacks a case\n", passes[i].name);
		}
	}
}

int
main(int argc, char **argv)
{
	struct arena a;
	struct lower_cases cases = { 0 };
	const char *only = getenv("CASE"); /* part of a file's name */

	if (argc != 2) {
		fprintf(stderr, "usage: %s cases\n", argv[0]);
		return 2;
	}
	arena_init(&a);
	read_cases(&a, argv[1], &cases);
	CHECK(cases.list.n > 0);
	for (int i = 0; i < cases.list.n; i++) {
		if (!only || strstr(cases.list.data[i].path, only)) {
			check_case(&a, &cases.list.data[i],
				   getenv("REGEN") != NULL);
		}
	}
	if (!only) {
		check_complete(&cases);
	}
	arena_release(&a);
	return check_done();
}
