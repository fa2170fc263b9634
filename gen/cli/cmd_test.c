/* SPDX-License-Identifier: Apache-2.0 */
/* tirc test: compares the results of the emitted C with those of data sets. For
 * a model without data sets and for a tensor program (test_program.c), compares
 * them with the interpreter's results on random inputs. */
#include <string.h>

#include "compare.h"
#include "data_set.h"
#include "interpreted.h"
#include "process.h"
#include "text.h"

/* Pads the strings of `want` with zeros to the length of the strings in `got`.
 * If a string of `want` is longer, the shapes stay different and the comparison
 * fails. */
static void
fit_strings(struct harness *h, struct array *got, struct array *want)
{
	if (want->is_string && want->ndim == got->ndim) {
		got->is_string = true;
		harness_fit_strings(&h->m->arena, want,
				    got->shape[got->ndim - 1]);
	}
}

/* A data set to test with. */
struct test_case {
	/* the data set's folder or file; NULL: the data set is given by the
	 * options --input and --expect */
	const char *path;
	/* The values of the symbolic sizes for a test on random inputs with the
	 * interpreter's results; NULL for a data set of the user. */
	const int64_t *sizes;
	/* the test with the other value of --requant, or NULL */
	struct other_rounding *other;
};

static bool
take_data_set(struct harness *h, const struct test_case *test,
	      struct data_set *d)
{
	if (test->sizes == NULL) {
		return data_set_read(h, test->path, false, d);
	}
	if (harness_set_states(h, NULL) &&
	    interpreted_read(h, test->sizes, d)) {
		return true;
	}
	cli_note("without the interpreter's results, name a data set: a folder "
		 "of input_*.pb and output_*.pb, or a .npz file of inputs and "
		 "outputs");
	return false;
}

/* Compares each result with the expected one and prints a line for each.
 * *equal: are all elements of all results equal? */
static enum pair_verdict
compare_pairs(struct harness *h, const struct test_case *test,
	      const struct array *inputs, struct pair *pairs, int n,
	      bool *equal)
{
	enum pair_verdict worst = PAIR_OK;
	const char *other = NULL;

	harness_observe(h, inputs, pairs, n);
	if (test->other != NULL) {
		other = other_rounding_try(test->other, h, inputs, pairs, n);
	}
	if (other != NULL && !other_rounding_agrees(h, inputs, pairs, n)) {
		other = NULL;
	}
	*equal = true;
	for (int i = 0; i < n; i++) {
		enum pair_verdict one;
		struct comparison f;

		pairs[i].equal_with = other;
		one = pair_report(h->cli, &pairs[i]);
		worst = one > worst ? one : worst;
		pair_compare(h->cli, &pairs[i], &f);
		*equal &= f.same_shape && f.bad == 0 && f.max_abs == 0;
	}
	return worst;
}

/* Runs the program on the data set and compares the results. The states of a
 * model that keeps states go from one data set to the next. */
static enum pair_verdict
run_data_set(struct harness *h, const struct test_case *test,
	     struct data_set *d, bool *equal)
{
	int n_out = harness_results(h), n = 0;
	struct array *got = arena_array(&h->m->arena, struct array, n_out + 1);
	struct pair *pairs = arena_array(&h->m->arena, struct pair, n_out + 1);
	enum pair_verdict verdict;

	if (!take_data_set(h, test, d) || !harness_run(h, d->inputs, got)) {
		return PAIR_FAILED;
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
	verdict = compare_pairs(h, test, d->inputs, pairs, n, equal);
	d->compared = true;
	return harness_set_states(h, got + tirc_output_count(h->t))
		       ? verdict
		       : PAIR_FAILED;
}

/* Runs one data set, counts its verdict, and, if it failed, prints the error
 * messages. */
static void
test_data_set(struct harness *h, const struct test_case *test,
	      struct tally *tally)
{
	struct data_set d = { 0 };
	bool equal = false;
	enum pair_verdict verdict = run_data_set(h, test, &d, &equal);

	tally->n++;
	tally->passed += verdict == PAIR_OK;
	tally->equal += verdict == PAIR_OK && equal;
	tally->undecided += verdict == PAIR_UNDECIDED;
	if (verdict != PAIR_FAILED) {
		return;
	}
	if (tally->failed_path == NULL && tally->failed_sizes == NULL) {
		tally->failed_path = test->path;
		tally->failed_sizes = test->sizes;
	}
	harness_messages(h);
	if (!d.compared) {
		style_word(stdout, STYLE_RED, "FAIL");
		say(stdout, "  %s  not compared\n", d.where);
	}
}

/* Completes each --const-input that names no file: the input gets the value
 * that it has in the first data set. */
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

/* Does an input have integers wider than 8 bits? Their random values are only 0
 * and 1 (interpreted_fill), and a note tells the user so. */
static bool
has_wide_integers(const struct harness *h)
{
	for (int i = 0; i < tirc_input_count(h->t); i++) {
		struct dtype type;

		if (dtype_from_name(tirc_input(h->t, i).dtype, &type) &&
		    dtype_is_int(type) && dtype_bits(type) > 8) {
			return true;
		}
	}
	return false;
}

/* Tells the user that random inputs are used because the model has no data
 * sets, and how to give other inputs. */
static void
note_made(struct harness *h)
{
	int64_t *sizes[INTERPRETED_SIZES];
	int n = tirc_input_count(h->t), runs = interpreted_sizes(h, sizes);

	cli_note("there is no test_data_set_* beside %s: %s with random values "
		 "for %d input%s%s, compared with the interpreter of tirc; "
		 "with data of yours: tirc test %s data.npz "
		 "(docs/how-to/verify.md)",
		 h->cli->model,
		 runs == 3 ? "three runs, at the largest sizes, the smallest "
			     "and between,"
		 : runs == 2
			 ? "two runs, at the largest and the smallest sizes,"
			 : "one run",
		 n, n == 1 ? "" : "s",
		 has_wide_integers(h)
			 ? " (integers wider than 8 bits are 0 or 1)"
			 : "",
		 command_quoted(&h->m->arena, h->cli->model));
}

/* Tests the program on random inputs, at several sets of sizes. */
static void
test_made(struct harness *h, struct tally *tally)
{
	int64_t *sizes[INTERPRETED_SIZES];
	int runs = interpreted_sizes(h, sizes);

	for (int i = 0; i < runs; i++) {
		struct test_case test = { .sizes = sizes[i] };

		/* A model may be undefined at sizes that its declared ranges
		 * allow. The interpreter then rejects the sizes, and the run is
		 * left out. */
		if (i > 0 && !interpreted_takes(h, sizes[i])) {
			continue;
		}
		test_data_set(h, &test, tally);
	}
}

/* For a model that was converted from TensorFlow Lite: if the outputs of all data
 * sets equal the expected ones, and the user gave no --requant, prints the value of
 * --requant that was used. */
static void
note_rounding(const struct harness *h, const struct tally *tally)
{
	struct tirc_summary s = tirc_summary(h->t);

	if (s.from_tflite != NULL && s.rounding != NULL &&
	    tally->equal == tally->n && !h->cli->quiet) {
		cli_note("all data sets are equal with --requant %s",
			 s.rounding);
	}
}

/* Tests the program on the data sets of the user. */
static void
test_given(struct harness *h, const char *const *paths, int n,
	   struct tally *tally)
{
	struct other_rounding other = { 0 };

	if (!harness_set_states(h, NULL)) {
		tally->n = n;
		return;
	}
	for (int i = 0; i < n; i++) {
		struct test_case test = { .path = paths[i], .other = &other };

		test_data_set(h, &test, tally);
	}
	other_rounding_end(&other, h);
	note_rounding(h, tally);
}

void
test_on_data(struct harness *h, const char *const *paths, int n,
	     struct tally *tally)
{
	if (n == 0) {
		test_made(h, tally);
	} else {
		test_given(h, paths, n, tally);
	}
}

/* Prints the lines at the end of the output: the target and the tally. */
static void
print_tally(struct harness *h, const struct tally *tally, bool made)
{
	cli_print_target(h->cli, h->t);
	if (made) {
		say(stdout, "random inputs %s\n",
		    tally->passed == tally->n ? "passed" : "failed");
		return;
	}
	say(stdout, "%d of %d data set%s passed", tally->passed, tally->n,
	    tally->n == 1 ? "" : "s");
	if (tally->undecided > 0) {
		say(stdout, ", %d not decided", tally->undecided);
	}
	say(stdout, "\n");
}

/* Did the test pass: no data set failed, and, if there are data sets, at least
 * one of them passed? */
static bool
is_passed(const struct tally *tally)
{
	return tally->passed + tally->undecided == tally->n &&
	       (tally->passed > 0 || tally->n == 0);
}

int
cmd_test(struct cli *c)
{
	struct harness h;
	const char **paths = NULL;
	struct tally tally = { 0 };
	int n = 0;
	bool ok, made;

	if (text_ends_in(c->model, ".py")) {
		return test_program(c);
	}
	cli_use_machine(c);
	c->has_summary = !c->each_region && !c->layers;
	data_set_open_folders(c);
	complete_const_inputs(c);
	data_sizes(c);
	if (c->each_region || c->layers) {
		return c->layers ? test_layers(c) : test_each_region(c);
	}
	ok = harness_open(&h, c);

	if (ok && !c->quiet) {
		cli_note_tflite(h.t);
		cli_note_backends(h.t);
	}
	n = ok ? data_set_list(&h, &paths) : 0;
	made = n == 0;
	if (ok && made && !c->quiet) {
		note_made(&h);
	}
	if (ok) {
		test_on_data(&h, paths, n, &tally);
	}
	/* A program that did not run reported no numbers of instructions. */
	if (ok && tirc_summary(h.t).simulator != NULL && h.times_ns != NULL) {
		ok = harness_board(&h);
	}
	if (ok && !c->quiet) {
		print_tally(&h, &tally, made);
	}
	harness_close(&h);
	return ok && is_passed(&tally) ? CLI_DONE : CLI_INPUT;
}
