/* SPDX-License-Identifier: Apache-2.0 */
/* tirc test: compares the results of the emitted C with data sets; without data
 * sets, and for tensor programs (test_program.c), with the interpreter on random
 * inputs. */
#include <string.h>

#include "compare.h"
#include "data_set.h"
#include "interpreted.h"
#include "process.h"
#include "text.h"

/* Pads the strings of `want` with zeros to the length of those in `got`. If one
 * is longer, the shapes stay different, and the comparison fails. */
static void
fit_strings(struct harness *h, struct array *got, struct array *want)
{
	if (want->is_string && want->ndim == got->ndim) {
		got->is_string = true;
		harness_fit_strings(h, want, got->shape[got->ndim - 1]);
	}
}

/* A data set to test with. */
struct test_case {
	const char *path; /* NULL: the options --input and --expect */
	/* Its inputs are random, with these symbolic sizes, and its results the
	 * interpreter's; else NULL. */
	const int64_t *sizes;
	struct other_rounding *other; /* NULL: rounded as --requant says */
};

static bool
take_data_set(struct harness *h, const struct test_case *test,
	      struct data_set *d)
{
	if (test->sizes != NULL) {
		return (harness_set_states(h, NULL) &&
			interpreted_read(h, test->sizes, d)) ||
		       cli_error("there are no results to compare with; name a "
				 "folder of input_*.pb and output_*.pb, or a "
				 ".npz file of inputs and outputs by name");
	}
	return data_set_read(h, test->path, false, d);
}

/* Runs the program on the data set and compares the results. The states after
 * this run are the first states of the next data set. */
static bool
run_data_set(struct harness *h, const struct test_case *test,
	     struct data_set *d)
{
	int n_out = harness_results(h), n = 0;
	struct array *got = arena_array(&h->m->arena, struct array, n_out + 1);
	struct pair *pairs = arena_array(&h->m->arena, struct pair, n_out + 1);
	bool same;

	if (!take_data_set(h, test, d) || !harness_run(h, d->inputs, got)) {
		return false;
	}
	for (int i = 0; i < n_out; i++) {
		if (!d->expected[i]) {
			continue;
		}
		fit_strings(h, &got[i], &d->want[i]);
		pairs[n] = (struct pair){ .where = d->where,
					  .result = i,
					  .got = &got[i],
					  .want = &d->want[i] };
		if (i < tirc_output_count(h->t)) {
			struct tirc_tensor y = tirc_output(h->t, i);

			pairs[n].step = y.step;
			pairs[n].arithmetic = y.arithmetic;
		}
		n++;
	}
	same = harness_compare(h, d->inputs, pairs, n);
	if (test->other != NULL && !h->cli->quiet) {
		other_rounding_try(test->other, h, d->inputs, pairs, n);
	}
	d->compared = true;
	return harness_set_states(h, got + tirc_output_count(h->t)) && same;
}

/* Runs and compares one data set, and prints the verdict, after the reasons of
 * a failure. False if it failed. */
static bool
test_data_set(struct harness *h, const struct test_case *test)
{
	struct data_set d = { 0 };

	if (run_data_set(h, test, &d)) {
		return true;
	}
	harness_messages(h);
	if (!d.compared) {
		style_word(stdout, STYLE_RED, "FAIL");
		say(stdout, "  %s  not compared\n", d.where);
	}
	return false;
}

/* Gives each --const-input without a value the file with that input in the
 * first data set. */
static void
complete_const_inputs(struct cli *c)
{
	struct arena *a = &c->arena;
	const char **folders = c->rest;
	int n = c->n_rest > 0 ? c->n_rest : test_folders(a, c->model, &folders);
	const char **list = arena_array(a, const char *,
					c->tirc.n_const_inputs + 1);

	for (int i = 0; i < c->tirc.n_const_inputs; i++) {
		list[i] = c->tirc.const_inputs[i];
		if (n > 0 && strchr(list[i], '=') == NULL) {
			list[i] = arena_printf(a,
					       text_ends_in(folders[0], ".npz")
						       ? "%s=@%s"
						       : "%s=@%s/input_*.pb",
					       list[i], folders[0]);
		}
	}
	c->tirc.const_inputs = list;
}

/* Tells the user that there are no data sets, that random inputs take their
 * place, and how to give other inputs. */
static void
note_made(struct harness *h, int runs)
{
	int n = tirc_input_count(h->t);

	cli_note("there is no test_data_set_* beside %s: %s with random values "
		 "for %d input%s, compared with the interpreter of tirc; with "
		 "data of yours: tirc test %s data.npz "
		 "(docs/how-to/verify.md)",
		 h->cli->model,
		 runs == 3 ? "three runs, at the largest sizes, the smallest "
			     "and between,"
		 : runs == 2
			 ? "two runs, at the largest and the smallest sizes,"
			 : "one run",
		 n, n == 1 ? "" : "s",
		 command_quoted(&h->m->arena, h->cli->model));
}

/* Tests random inputs. *n: the number of runs. Returns how many passed. */
static int
test_made(struct harness *h, int *n)
{
	int64_t *sizes[INTERPRETED_SIZES];
	int runs = interpreted_sizes(h, sizes), passed = 0;

	*n = 0;
	if (!h->cli->quiet) {
		note_made(h, runs);
	}
	for (int i = 0; i < runs; i++) {
		struct test_case test = { .sizes = sizes[i] };

		/* The model may need larger sizes than its ranges have. */
		if (i > 0 && !interpreted_takes(h, sizes[i])) {
			continue;
		}
		passed += test_data_set(h, &test);
		++*n;
	}
	return passed;
}

/* Tests the data sets; returns how many passed. */
static int
test_given(struct harness *h, const char *const *paths, int n)
{
	struct other_rounding other = { 0 };
	int passed = 0;

	if (!harness_set_states(h, NULL)) {
		return 0;
	}
	for (int i = 0; i < n; i++) {
		struct test_case test = { .path = paths[i], .other = &other };

		passed += test_data_set(h, &test);
	}
	other_rounding_end(&other, h);
	return passed;
}

int
cmd_test(struct cli *c)
{
	struct harness h;
	const char **paths = NULL;
	int n = 0, passed = 0;
	bool ok, made;

	if (text_ends_in(c->model, ".py")) {
		return test_program(c);
	}
	cli_use_machine(c);
	c->has_summary = !c->each_region && !c->layers;
	complete_const_inputs(c);
	data_sizes(c);
	if (c->each_region || c->layers) {
		return c->layers ? test_layers(c) : test_each_region(c);
	}
	ok = harness_open(&h, c);

	if (ok && !c->quiet) {
		cli_note_tflite(h.t);
	}
	n = ok ? data_set_list(&h, &paths) : 0;
	made = n == 0;
	if (ok) {
		passed = made ? test_made(&h, &n) : test_given(&h, paths, n);
	}
	/* Without a run there is nothing to tell of the board. */
	if (ok && tirc_summary(h.t).simulator != NULL && h.times_ns != NULL) {
		ok = harness_board(&h);
	}
	if (ok && !c->quiet && made) {
		cli_print_target(c, h.t);
		say(stdout, "random inputs %s\n",
		    passed == n ? "passed" : "failed");
	} else if (ok && !c->quiet) {
		cli_print_target(c, h.t);
		say(stdout, "%d of %d data set%s passed\n", passed, n,
		    n == 1 ? "" : "s");
	}
	harness_close(&h);
	return ok && passed == n ? CLI_DONE : CLI_INPUT;
}
