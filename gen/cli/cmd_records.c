/* SPDX-License-Identifier: Apache-2.0 */
/* tirc records: shows, merges, draws and checks records of tirc tune. */
#include <errno.h>
#include <string.h>

#include "cleanup.h"
#include "output_file.h"
#include "process.h"
#include "record_apply.h"
#include "records_plot.h"
#include "tune_runner.h"
#include "tuning.h"

struct shown {
	struct cli *c;
	struct module *m;
	struct records records;
	/* for each record, as records_mark_best() sets it: is it the best for
	 * its kernel? */
	const bool *is_best;
};

static int
usage(const char *problem)
{
	say(stderr, "tirc records: %s; see `tirc records --help`\n", problem);
	return CLI_USAGE;
}

/* Prints the module's messages; returns the number of errors. */
static int
tell(struct module *m)
{
	static const char *const words[] = { "note:", "warning:", "error:" };

	for (int i = 0; i < m->diags.list.n; i++) {
		const struct diag *d = &m->diags.list.data[i];
		struct strbuf text;

		strbuf_init(&text);
		diag_format(d, &text);
		style_word(stderr,
			   d->severity == DIAG_ERROR ? STYLE_RED : STYLE_BOLD,
			   words[d->severity]);
		say(stderr, " %s\n", text.data);
		strbuf_release(&text);
	}
	return m->diags.n_errors;
}

static bool
read_all(struct shown *s)
{
	bool ok = true;

	for (int i = 0; ok && i < s->c->n_rest; i++) {
		ok = records_read(s->m, s->c->rest[i], &s->records);
	}
	s->is_best = records_mark_best(&s->m->arena, &s->records);
	return tell(s->m) == 0 && ok;
}

/* -- best and show -- */

static const char *
time_text(struct arena *a, double time, const char *unit)
{
	if (strcmp(unit, "ns") != 0) {
		return arena_printf(a, "%.0f", time);
	}
	return time < 1e6 ? arena_printf(a, "%.1f us", time / 1e3)
			  : arena_printf(a, "%.2f ms", time / 1e6);
}

/* Does the verb list record i: is it of the kernel that the user named, if any,
 * and with only_best also marked as best? */
static bool
is_shown(const struct shown *s, int i, bool only_best)
{
	const struct record *r = &s->records.list.data[i];

	return (s->c->kernel == NULL || strcmp(s->c->kernel, r->kernel) == 0) &&
	       (!only_best || s->is_best[i]);
}

static void
print_table(struct shown *s, bool only_best)
{
	static const char *const header[] = { "kernel", "target", "rules",
					      "time",   "gain",   "decisions" };
	static const bool right[] = { false, false, true, true, true, false };
	struct arena *a = &s->m->arena;
	const char **cells = arena_array(a, const char *,
					 6 * s->records.list.n + 6);
	int n = 0;

	for (int i = 0; i < s->records.list.n; i++) {
		const struct record *r = &s->records.list.data[i];
		const char **row = &cells[6 * n];

		if (!is_shown(s, i, only_best)) {
			continue;
		}
		row[0] = r->kernel;
		row[1] = r->target;
		row[2] = r->error != NULL
				 ? "-"
				 : time_text(a, r->rules_time, r->unit);
		row[3] = r->error != NULL ? "-"
					  : time_text(a, r->time, r->unit);
		row[4] = r->error != NULL ? "-"
					  : arena_printf(a, "%.2fx",
							 1 / record_ratio(r));
		row[5] = record_words(a, r->decisions, r->n_decisions);
		if (r->error != NULL) {
			row[5] = arena_printf(a, "%s: %s", row[5], r->error);
		}
		n++;
	}
	style_table(stdout, 6, header, right, n, cells);
}

static bool
print_scripts(struct shown *s)
{
	for (int i = 0; i < s->records.list.n; i++) {
		const struct record *r = &s->records.list.data[i];
		const char *text;

		if (r->trace == NULL || !is_shown(s, i, true)) {
			continue;
		}
		text = record_script(s->m, r);
		if (text == NULL) {
			tell(s->m);
			return false;
		}
		say(stdout,
		    "# %s: %s, %.2fx\n# tirc compile MODEL "
		    "--schedule-for %s\n",
		    r->kernel, r->computes, 1 / record_ratio(r),
		    command_quoted(&s->m->arena,
				   arena_printf(&s->m->arena, "%s=FILE.py",
						r->kernel)));
		say_lines(stdout, text);
		say(stdout, "\n");
	}
	return true;
}

static bool
print_json(struct shown *s, FILE *f)
{
	for (int i = 0; i < s->records.list.n; i++) {
		struct strbuf text;

		if (!s->is_best[i]) {
			continue;
		}
		strbuf_init(&text);
		record_print(&s->records.list.data[i], &text);
		say_lines(f, text.data);
		strbuf_release(&text);
	}
	return !ferror(f);
}

/* Calls print() with the file of -o, or with the standard output if -o is
 * absent. Returns false after an error message. */
static bool
write_out(struct shown *s, bool (*print)(struct shown *s, FILE *f))
{
	struct output o;

	if (s->c->out == NULL) {
		return print(s, stdout);
	}
	cleanup_watch_output(s->c->out);
	if (!output_open(&o, &s->m->arena, s->c->out) ||
	    !output_close(&o, print(s, o.file))) {
		return cli_error("%s: cannot be written: %s", s->c->out,
				 strerror(errno));
	}
	return true;
}

static bool
print_plot(struct shown *s, FILE *f)
{
	struct strbuf text;

	strbuf_init(&text);
	records_plot(&s->m->arena, &s->records, &text);
	say_lines(f, text.data);
	strbuf_release(&text);
	return !ferror(f);
}

static bool
plot(struct shown *s)
{
	return s->records.list.n > 0
		       ? write_out(s, print_plot)
		       : cli_error("there are no records to draw");
}

/* -- check -- */

struct checking {
	struct shown *s;
	struct harness *h;
	struct tune_model model;
	struct tune_tasks tasks;
	struct tune_runner runner;
	int applied, wrong, elsewhere;
};

static const char *
check_result(struct checking *x, const struct tune_job *job)
{
	struct tune_job rules;
	struct measurement of = { 0 };
	const char *why = tune_job_make(&x->model, job->task, NULL, 0, NULL,
					NULL, &rules);

	if (why == NULL) {
		why = x->runner.measure(x->runner.ctx, &x->h->m->arena, job,
					&rules, &of);
	}
	for (int i = 0; why == NULL && of.outputs != NULL && i < job->outputs.n;
	     i++) {
		why = tune_check(&x->model, job->task, &job->outputs.data[i],
				 of.outputs[i]);
	}
	return why;
}

static void
check_record(struct checking *x, const struct record *r)
{
	struct tune_task *task = NULL;
	struct tune_job job;
	const char *why;

	for (int i = 0; i < x->tasks.list.n; i++) {
		if (strcmp(x->tasks.list.data[i].workload, r->workload) == 0) {
			task = &x->tasks.list.data[i];
		}
	}
	if (task == NULL || strcmp(r->facts, x->model.facts) != 0) {
		x->elsewhere++;
		return;
	}
	if (task->in == NULL && task->obstacle == NULL) {
		tune_task_prepare(&x->model, task, 1);
	}
	why = task->obstacle != NULL
		      ? task->obstacle
		      : tune_job_of_record(&x->model, task, r, &job);
	if (why == NULL) {
		why = check_result(x, &job);
	}
	x->applied++;
	if (why != NULL) {
		x->wrong++;
		say(stdout, "%s:%d: %s: %s\n", r->file, r->line, r->kernel,
		    why);
	}
}

static bool
check_with_model(struct shown *s)
{
	struct harness h = { 0 };
	struct checking x = { .s = s, .h = &h };
	struct cli *c = s->c;
	const char *runner = c->runner;
	bool ok;

	c->model = c->from_onnx;
	c->out = c->runner = NULL;
	if (runner == NULL) {
		cli_use_machine(c);
	}
	h.cli = c;
	h.m = harness_module(c);
	h.t = cli_open(c);
	ok = h.t != NULL && harness_begin(&h, c) && tirc_compile(h.t);
	if (ok) {
		tirc_tune_model(h.t, &x.model);
		ok = tune_list(&x.model, &x.tasks) &&
		     tune_runner_open(&h, runner, &x.runner);
	}
	for (int i = 0; ok && i < s->records.list.n; i++) {
		if (s->records.list.data[i].error == NULL) {
			check_record(&x, &s->records.list.data[i]);
		}
	}
	if (h.t != NULL) {
		cli_messages(h.t);
	}
	if (ok && !c->quiet) {
		say(stdout,
		    "%d of %d records right, %d for other kernels or "
		    "targets\n",
		    x.applied - x.wrong, x.applied, x.elsewhere);
	}
	harness_close(&h);
	return ok && x.wrong == 0;
}

static bool
check(struct shown *s)
{
	if (s->c->from_onnx != NULL && !check_with_model(s)) {
		return false;
	}
	if (!s->c->quiet && s->c->from_onnx == NULL) {
		say(stdout, "%d records, %d bad lines\n", s->records.list.n,
		    s->records.n_bad);
	}
	return s->records.n_bad == 0;
}

static bool
act(struct shown *s, const char *what)
{
	if (strcmp(what, "merge") == 0) {
		return write_out(s, print_json);
	}
	if (strcmp(what, "plot") == 0) {
		return plot(s);
	}
	if (strcmp(what, "check") == 0) {
		return check(s);
	}
	if (s->c->script) {
		return print_scripts(s);
	}
	print_table(s, strcmp(what, "best") == 0);
	return true;
}

int
cmd_records(struct cli *c)
{
	struct shown s = { .c = c, .m = module_new() };
	const char *what = c->model;
	bool ok;

	if (strcmp(what, "best") != 0 && strcmp(what, "show") != 0 &&
	    strcmp(what, "merge") != 0 && strcmp(what, "check") != 0 &&
	    strcmp(what, "plot") != 0) {
		module_free(s.m);
		return usage("best, show, merge, plot or check is expected");
	}
	if (c->n_rest == 0) {
		module_free(s.m);
		return usage("give a file of records");
	}
	ok = read_all(&s) && act(&s, what);
	module_free(s.m);
	return ok ? CLI_DONE : CLI_INPUT;
}
