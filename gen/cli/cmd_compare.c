/* SPDX-License-Identifier: Apache-2.0 */
/* tirc compare: compares a trace with the interpreter, or with another trace. */
#include <string.h>

#include "data_set.h"
#include "trace_cmd.h"

/* The exit statuses of tirc compare: equal, different, error. */
enum { RUNS_EQUAL = 0, RUNS_DIFFER = 1, RUNS_TROUBLE = 2 };

/* The names of tensors that a line lists at most. */
enum { MOST_NAMES = 8 };

static void
say_names(const char *const *names, int n)
{
	for (int i = 0; i < n && i < MOST_NAMES; i++) {
		say(stdout, "%s%s", i > 0 ? ", " : "", names[i]);
	}
	if (n > MOST_NAMES) {
		say(stdout, " and %d more", n - MOST_NAMES);
	}
	say(stdout, "\n");
}

/* Prints the first tensor that differs, who wrote it, and the names of those
 * after it. */
static void
report_first(const struct two_runs *t, const int *far, int n)
{
	struct pair x = t->pairs.data[far[0]];
	const char **names = arena_array(t->a, const char *, n);

	x.where = t->where;
	pair_report(t->cli, &x);
	say(stdout, "      written by %s, tensor %d of %d\n",
	    t->writers.data[far[0]], far[0] + 1, t->pairs.n);
	for (int i = 1; i < n; i++) {
		names[i - 1] = t->pairs.data[far[i]].got->name;
	}
	if (n > 1) {
		say(stdout, "      %d later tensor%s too: ", n - 1,
		    n == 2 ? " differs," : "s differ,");
		say_names(names, n - 1);
	}
}

/* Prints the line of two equal runs, with the largest error. */
static void
report_equal(const struct two_runs *t)
{
	int n_equal = 0, worst = -1;
	double most = 0;

	for (int i = 0; i < t->pairs.n; i++) {
		struct comparison f;

		pair_compare(t->cli, &t->pairs.data[i], &f);
		n_equal += f.max_abs == 0;
		if (f.max_abs > most) {
			most = f.max_abs;
			worst = i;
		}
	}
	style_word(stdout, STYLE_GREEN, "ok  ");
	say(stdout, "  %s  %d tensors: %d equal, %d within the tolerance",
	    t->where, t->pairs.n, n_equal, t->pairs.n - n_equal);
	if (worst >= 0) {
		say(stdout, ", largest error %.3g, of '%s'", most,
		    t->pairs.data[worst].got->name);
	}
	say(stdout, "\n");
}

bool
two_runs_report(const struct two_runs *t)
{
	int *far = arena_array(t->a, int, t->pairs.n + 1), n = 0;

	for (int i = 0; i < t->pairs.n; i++) {
		if (!pair_near(t->cli, &t->pairs.data[i])) {
			far[n++] = i;
		}
	}
	if (n > 0) {
		report_first(t, far, n);
	} else if (t->parts == NULL && !t->cli->quiet) {
		report_equal(t);
	}
	if (t->parts != NULL) {
		style_word(stdout, STYLE_RED, "FAIL");
		say(stdout, "  %s  %s\n", t->where, t->parts);
	}
	if (t->alone.n > 0 && !t->cli->quiet) {
		say(stdout,
		    "      not compared, because the model has no such tensor: ");
		say_names(t->alone.data, t->alone.n);
	}
	return n == 0 && t->parts == NULL;
}

/* -- two traces -- */

/* "tensor 'relu1' of kernel 'conv1'", "input 'x'" or "the end of the run" */
static const char *
record_text(struct arena *a, const struct trace_run *run, int i)
{
	const struct trace_record *x;

	if (i >= run->records.n) {
		return "the end of the run";
	}
	x = &run->records.data[i];
	return x->kernel[0] == '\0'
		       ? arena_printf(a, "input '%s'", x->array.name)
		       : arena_printf(a, "tensor '%s' of kernel '%s'",
				      x->array.name, x->kernel);
}

static bool
same_record(const struct trace_run *x, const struct trace_run *y, int i)
{
	return i < x->records.n && i < y->records.n &&
	       strcmp(x->records.data[i].kernel, y->records.data[i].kernel) ==
		       0 &&
	       strcmp(x->records.data[i].array.name,
		      y->records.data[i].array.name) == 0;
}

static bool
compare_runs(struct cli *c, struct arena *a, const struct trace *got,
	     const struct trace *want, int i)
{
	const struct trace_run *x = &got->runs.data[i],
			       *y = &want->runs.data[i];
	struct two_runs t = { .cli = c, .a = a };
	int n = 0;

	t.where = arena_printf(a, "run %d", i + 1);
	for (; same_record(x, y, n); n++) {
		const char *kernel = x->records.data[n].kernel;
		struct pair pair = { .got = &x->records.data[n].array,
				     .want = &y->records.data[n].array };

		vec_push(a, &t.pairs, pair);
		vec_push(a, &t.writers,
			 kernel[0] == '\0'
				 ? "the caller"
				 : arena_printf(a, "kernel %s", kernel));
	}
	if (n < x->records.n || n < y->records.n) {
		t.parts = arena_printf(a,
				       "after %d tensors comes %s, in the "
				       "other trace %s",
				       n, record_text(a, x, n),
				       record_text(a, y, n));
	}
	return two_runs_report(&t);
}

static bool
are_comparable(const struct trace *x, const struct trace *y)
{
	const char *one = x->runs.data[0].digest, *two = y->runs.data[0].digest;

	if (one[0] != '\0' && two[0] != '\0' && strcmp(one, two) != 0) {
		return cli_error("%s is of the model with digest %s, %s of "
				 "another one, with %s",
				 x->file, one, y->file, two);
	}
	return x->runs.n == y->runs.n ||
	       cli_error("%s has %d runs, %s %d; record the same runs", x->file,
			 x->runs.n, y->file, y->runs.n);
}

static bool
trace_against_trace(struct cli *c, struct module *m, const struct trace *got,
		    const struct trace *want, bool *differ)
{
	if (c->verify_data != NULL) {
		return cli_error(
			"--data gives inputs to the interpreter, which "
			"two traces do not need; remove it");
	}
	if (!are_comparable(got, want)) {
		return false;
	}
	for (int i = 0; i < got->runs.n; i++) {
		*differ |= !compare_runs(c, &m->arena, got, want, i);
	}
	return true;
}

static bool
compare(struct cli *c, struct harness *h, const char *got, const char *want,
	bool *differ)
{
	struct trace trace, other;

	if (!trace_read(h->m, got, &trace)) {
		return false;
	}
	if (!trace_is(want)) {
		c->model = want;
		return trace_against_model(c, &trace, differ);
	}
	return trace_read(h->m, want, &other) &&
	       trace_against_trace(c, h->m, &trace, &other, differ);
}

int
cmd_compare(struct cli *c)
{
	const char *got = c->model, *want = c->rest[0];
	struct harness h = { .cli = c };
	bool differ = false, ok;

	h.m = harness_module(c);
	c->rest = NULL;
	c->n_rest = 0;
	ok = test_is_file(got) && test_is_file(want) &&
	     compare(c, &h, got, want, &differ);
	harness_close(&h);
	if (ok && !c->quiet) {
		say(stdout, "%s\n", differ ? "differs" : "equal");
	}
	return !ok ? RUNS_TROUBLE : differ ? RUNS_DIFFER : RUNS_EQUAL;
}
