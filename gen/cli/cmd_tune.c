/* SPDX-License-Identifier: Apache-2.0 */
/* tirc tune: finds faster schedules of a model's kernels by measuring
 * candidates. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "options.h"
#include "process.h"
#include "text.h"
#include "tune_runner.h"
#include "tuning.h"

/* DEFAULT_TRIALS and DEFAULT_GAIN are the defaults of --trials and
 * --least-gain. A kernel that takes less than LEAST_SHARE of the model's time
 * is not tuned. */
enum { DEFAULT_TRIALS = 60 };
#define DEFAULT_GAIN 0.02
#define LEAST_SHARE 0.005

struct view {
	struct cli *c;
	struct harness *h;
	struct tune_model model;
	struct tune_tasks tasks;
	struct tune_state *states;
	const char *out;
	/* the records that the file `out` had before this run */
	struct records earlier;
	const char *runner; /* the argument of --runner, or NULL */
	/* the time at which the tuning must end; 0: there is no limit */
	double end;
	int n_records;
	/* the number of lines of the table that the terminal shows now */
	int painted;
	bool failed; /* a record could not be written */
};

/* -- runners -- */

bool
tune_runner_open(struct harness *h, const char *word, struct tune_runner *out)
{
	if (word == NULL || strcmp(word, "local") == 0) {
		*out = tune_runner_local(h);
	} else if (strncmp(word, "cmd:", 4) == 0 && word[4] != '\0') {
		*out = tune_runner_command(h, word + 4);
	} else if (strncmp(word, "replay:", 7) == 0 && word[7] != '\0') {
		*out = tune_runner_replay(h, word + 7);
	} else {
		return cli_error("--runner %s: give local, cmd:PROGRAM or "
				 "replay:FILE",
				 word);
	}
	return out->ctx != NULL;
}

static bool
is_local(const struct view *v)
{
	return v->c->queue == NULL &&
	       (v->runner == NULL || strcmp(v->runner, "local") == 0);
}

/* -- where the model spends its time -- */

/* Reads the times of the kernels in the last run of the program. Sets times[i]
 * to the least time of kernel i over the repetitions. A simulator counts
 * instructions in place of times. */
static bool
read_profile(struct harness *h, double *times, int n)
{
	FILE *f = fopen(harness_path(h, "profile.txt"), "r");
	double skipped, value;
	int runs = h->cli->repeat, head = 5;
	bool ok = f != NULL;

	if (tirc_summary(h->t).simulator != NULL) {
		head = 0;
	}
	for (int i = 0; ok && i < head; i++) {
		ok = fscanf(f, "%lf", &skipped) == 1;
	}
	for (int r = 0; ok && r < runs; r++) {
		for (int i = 0; ok && i < n; i++) {
			ok = fscanf(f, "%lf", &value) == 1;
			if (ok && (r == 0 || value < times[i])) {
				times[i] = value;
			}
		}
	}
	if (f != NULL) {
		fclose(f);
	}
	return ok;
}

/* Runs the model once and measures the time of each kernel. */
static bool
measure_kernels(struct harness *h, double *times, int n)
{
	struct arena *a = &h->m->arena;
	int n_inputs = tirc_input_count(h->t);
	struct array *inputs = arena_array(a, struct array, n_inputs + 1);
	struct array *outputs = arena_array(a, struct array,
					    harness_results(h) + 1);

	if (!harness_arrays_fit(h)) {
		return false;
	}
	for (int i = 0; i < n_inputs; i++) {
		harness_ramp(h, i, &inputs[i]);
	}
	return harness_run(h, inputs, outputs) && read_profile(h, times, n);
}

static void
set_shares(struct view *v, const double *times, int n)
{
	double all = 0;

	for (int i = 0; i < n; i++) {
		all += times[i];
	}
	for (int i = 0; i < v->tasks.list.n; i++) {
		v->tasks.list.data[i].share = 0;
	}
	for (int i = 0; i < n && i < v->tasks.of_kernel.n; i++) {
		struct tune_task *t =
			&v->tasks.list.data[v->tasks.of_kernel.data[i]];

		t->share += all > 0 ? times[i] / all : 1.0 / n;
	}
}

/* -- what is printed -- */

static const char *
time_text(char *buf, size_t size, double time, const char *unit)
{
	if (unit == NULL || time == 0) {
		snprintf(buf, size, "-");
	} else if (strcmp(unit, "ns") == 0) {
		snprintf(buf, size,
			 time < 1e3   ? "%.0f ns"
			 : time < 1e6 ? "%.1f us"
				      : "%.2f ms",
			 time < 1e3   ? time
			 : time < 1e6 ? time / 1e3
				      : time / 1e6);
	} else {
		snprintf(buf, size, "%.0f", time);
	}
	return buf;
}

/* The cells of the table of tasks. With `all`: the tasks that were tried or
 * cannot be tuned; else the tasks that are being tuned. */
enum { COLUMNS = 7 };

static const char *const header[COLUMNS] = { "kernel",   "share", "trials",
					     "rules",    "best",  "gain",
					     "decisions" };
static const bool right[COLUMNS] = {
	false, true, true, true, true, true, false
};

static const char **
table_cells(struct view *v, struct arena *a, bool all, int *rows)
{
	int n = v->tasks.list.n;
	const char **cells = arena_array(a, const char *, COLUMNS *n + COLUMNS);
	char buf[48];

	*rows = 0;
	for (int i = 0; i < n; i++) {
		const struct tune_state *s = &v->states[i];
		const struct tune_task *t = s->task;
		const char **row = &cells[COLUMNS * *rows];

		if (s->trials == 0 && (!all || t->obstacle == NULL)) {
			continue;
		}
		row[0] = t->n_kernels == 1 ? t->kernel->name
					   : arena_printf(a, "%s and %d alike",
							  t->kernel->name,
							  t->n_kernels - 1);
		row[1] = arena_printf(a, "%.0f %%", 100 * t->share);
		row[2] = arena_printf(a, "%d", s->trials);
		row[3] = arena_strdup(a, time_text(buf, sizeof buf,
						   s->rules_time, s->unit));
		row[4] = arena_strdup(a,
				      time_text(buf, sizeof buf,
						s->rules_time * s->best_ratio,
						s->unit));
		row[5] = s->best != NULL
				 ? arena_printf(a, "%.2fx", 1 / s->best_ratio)
				 : "";
		row[6] = t->obstacle != NULL ? t->obstacle
			 : s->best != NULL   ? s->best
					     : "";
		++*rows;
	}
	return cells;
}

/* Shows the progress of the tuning: on a terminal the table of all tasks,
 * elsewhere one line if a better schedule was found. */
static void
show(struct view *v, const struct tune_state *s, const char *what)
{
	char rules[48], best[48];
	const struct tune_task *t = s->task;

	if (isatty(fileno(stderr))) {
		struct arena a;
		const char **cells;
		int rows;

		arena_init(&a);
		cells = table_cells(v, &a, false, &rows);
		v->painted = style_repaint(COLUMNS, header, right, rows, cells,
					   v->painted);
		arena_release(&a);
	} else if (what[0] != '\0') {
		say(stderr,
		    "%s  %.0f %% of the model, trial %d: rules %s, best %s "
		    "(%.2fx)  %s\n",
		    t->kernel->name, 100 * t->share, s->trials,
		    time_text(rules, sizeof rules, s->rules_time, s->unit),
		    time_text(best, sizeof best, s->rules_time * s->best_ratio,
			      s->unit),
		    1 / s->best_ratio, what);
	}
}

static bool
take_record(void *ctx, const struct tune_state *s, const struct record *r)
{
	struct view *v = ctx;
	bool better = r->error == NULL && s->best != NULL &&
		      record_ratio(r) < 1 && r->n_decisions >= 0 &&
		      strcmp(s->best,
			     record_words(&v->h->m->arena, r->decisions,
					  r->n_decisions)) == 0;

	cleanup_pause_if_interrupted();
	if (cleanup_was_stopped()) {
		/* the measurement may be wrong, because the signal ended its
		 * program */
		return false;
	}
	if (!record_append(tirc_module(v->h->t), v->out, r)) {
		v->failed = true;
		return false;
	}
	v->n_records++;
	if (!v->c->quiet) {
		show(v, s, better ? s->best : "");
	}
	return true;
}

static bool
go_on(void *ctx, const struct tune_state *s)
{
	struct view *v = ctx;

	if (s != NULL && !v->c->quiet && isatty(fileno(stderr))) {
		show(v, s, "");
	}
	return !cleanup_was_stopped() &&
	       (v->end == 0 || process_clock() < v->end);
}

static void
print_table(struct view *v)
{
	int rows;
	const char **cells = table_cells(v, &v->h->m->arena, true, &rows);

	style_table(stdout, COLUMNS, header, right, rows, cells);
}

/* The expected time of the model with the best schedules so far, divided by the
 * time with the schedules at the beginning. */
static double
expected(const struct view *v)
{
	double rest = 1;

	for (int i = 0; i < v->tasks.list.n; i++) {
		rest -= v->tasks.list.data[i].share *
			(1 - v->states[i].best_ratio);
	}
	return rest;
}

static bool
has_given(const struct cli *c, int id)
{
	for (int i = 0; i < c->n_given; i++) {
		if (c->given[i].id == id) {
			return true;
		}
	}
	return false;
}

static void
print_next(const struct view *v)
{
	struct arena *a = &v->h->m->arena;

	say(stdout, "next     tirc compile %s", command_quoted(a, v->c->model));
	for (int i = 0; i < v->c->n_given; i++) {
		if (cli_is_of_model(v->c->given[i].id)) {
			say(stdout, " %s", v->c->given[i].words);
		}
	}
	if (v->c->at_hand != NULL && !has_given(v->c, OPT_TARGET)) {
		say(stdout, " --target native");
	}
	say(stdout, " --records %s\n", command_quoted(a, v->out));
}

static void
print_summary(struct view *v)
{
	int found = 0, known = 0;

	style_progress_end();
	print_table(v);
	for (int i = 0; i < v->tasks.list.n; i++) {
		found += v->states[i].best != NULL;
		known += v->states[i].known;
	}
	cli_print_target(v->c, v->h->t);
	say(stdout, "records  %d written to %s", v->n_records, v->out);
	say(stdout, known > 0 ? ", %d were there\n" : "\n", known);
	if (found == 0) {
		say(stdout, "found    nothing faster than the rules' "
			    "schedules\n");
		return;
	}
	say(stdout,
	    "found    faster schedules of %d kernel%s; the model should take "
	    "%.0f %% of its time\n",
	    found, found == 1 ? "" : "s", 100 * expected(v));
	print_next(v);
}

/* -- the verb -- */

static bool
open_model(struct view *v)
{
	struct cli *c = v->c;
	struct harness *h = v->h;

	if (is_local(v)) {
		c->tirc.profile = true;
		return harness_open(h, c);
	}
	h->cli = c;
	h->m = harness_module(c);
	h->t = cli_open(c);
	if (h->t == NULL || !harness_begin(h, c)) {
		return false;
	}
	if (!tirc_compile(h->t)) {
		cli_messages(h->t);
		return false;
	}
	return true;
}

static bool
sizes_are_known(struct view *v)
{
	struct tirc *t = v->h->t;

	if (tirc_dim_count(t) == 0) {
		return true;
	}
	return cli_error("the size %s of the model is open, and a schedule is "
			 "measured at one size; give it with --dim %s=%lld, "
			 "here and to tirc compile",
			 tirc_dim(t, 0).name, tirc_dim(t, 0).name,
			 (long long)tirc_dim(t, 0).max);
}

static bool
find_tasks(struct view *v)
{
	struct tirc *t = v->h->t;
	int n = tirc_kernel_count(t);
	double *times = arena_array(&v->h->m->arena, double, n + 1);

	tirc_tune_model(t, &v->model);
	if (!tune_list(&v->model, &v->tasks)) {
		cli_messages(t);
		return false;
	}
	if (!is_local(v)) {
		for (int i = 0; i < n; i++) {
			times[i] = tirc_kernel(t, i).operations;
		}
	} else if (!measure_kernels(v->h, times, n)) {
		return false;
	}
	set_shares(v, times, n);
	return true;
}

/* Reads --seed, the seed of the search, to *seed; the default is 1. Removes the
 * seed from the model's options, which would give it to the random operators of
 * the model. Returns false after an error message. */
static bool
read_seed(struct cli *c, uint64_t *seed)
{
	int64_t value = 1;

	if (c->tirc.seed != NULL && !text_int(c->tirc.seed, &value)) {
		return cli_error("--seed %s: give an integer", c->tirc.seed);
	}
	c->tirc.seed = NULL;
	*seed = (uint64_t)value;
	return true;
}

static bool
open_runner(struct view *v, struct tune_runner *out)
{
	if (v->c->queue == NULL) {
		return tune_runner_open(v->h, v->runner, out);
	}
	*out = tune_runner_queue(v->h, v->c->queue, v->runner);
	return out->ctx != NULL;
}

/* Reads the records that the output file has from earlier runs. Returns false after
 * an error message if it is a link, or has text but no record. */
static bool
read_earlier(struct view *v)
{
	struct stat st;

	if (lstat(v->out, &st) != 0) {
		return true;
	}
	if (!S_ISREG(st.st_mode)) {
		return cli_error("%s is a link or not a regular file; name the "
				 "file of records itself with -o",
				 v->out);
	}
	if (!records_read(tirc_module(v->h->t), v->out, &v->earlier)) {
		return false;
	}
	return v->earlier.list.n > 0 || st.st_size == 0 ||
	       cli_error("%s has other text than records, to which records "
			 "are not appended; name another file with -o",
			 v->out);
}

static bool
tune(struct view *v, uint64_t seed)
{
	const struct cli *c = v->c;
	struct tune_options o = {
		.seed = seed,
		.trials = c->trials > 0 ? c->trials : DEFAULT_TRIALS,
		.least_gain = c->least_gain > 0 ? c->least_gain / 100
						: DEFAULT_GAIN,
		.least_share = LEAST_SHARE,
		.ctx = v,
		.record = take_record,
		.go_on = go_on,
	};
	struct tune_runner runner;

	if (!read_earlier(v) || !open_runner(v, &runner)) {
		cli_messages(v->h->t);
		return false;
	}
	cleanup_stop_first();
	o.earlier = &v->earlier;
	v->end = c->seconds > 0 ? process_clock() + c->seconds : 0;
	v->states = arena_array(&v->h->m->arena, struct tune_state,
				v->tasks.list.n + 1);
	tune_run(&v->model, &v->tasks, &runner, &o, v->states);
	if (isatty(fileno(stderr))) {
		style_repaint(COLUMNS, header, right, 0, NULL, v->painted);
	}
	cli_messages(v->h->t);
	return !v->failed;
}

int
cmd_tune(struct cli *c)
{
	struct harness h = { 0 };
	struct view v = { .c = c,
			  .h = &h,
			  .out = c->out != NULL ? c->out : "records.jsonl",
			  .runner = c->runner };
	uint64_t seed = 1;
	bool ok;

	if (!read_seed(c, &seed)) {
		return CLI_USAGE;
	}
	c->out = c->runner = NULL;
	c->has_summary = true;
	if (is_local(&v)) {
		cli_use_machine(c);
	}
	ok = open_model(&v) && sizes_are_known(&v) && find_tasks(&v) &&
	     tune(&v, seed);
	if (ok && !c->quiet) {
		print_summary(&v);
	}
	harness_close(&h);
	fflush(stdout);
	cleanup_end_if_stopped();
	return ok ? CLI_DONE : CLI_INPUT;
}
