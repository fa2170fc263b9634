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

/* Reads the data set at `path`. If there is no path, and no option names files,
 * makes one with random inputs and the interpreter's results. */
static bool
take_data_set(struct harness *h, const char *path, struct data_set *d)
{
	const struct cli *c = h->cli;

	if (path == NULL && c->n_inputs + c->n_expected == 0) {
		return interpreted_read(h, d) ||
		       cli_error("there are no results to compare with; name a "
				 "folder of input_*.pb and output_*.pb, or a "
				 ".npz file of inputs and outputs by name");
	}
	return data_set_read(h, path, false, d);
}

/* Runs the program on the data set and compares the results; `other` may be
 * NULL. The states after this run are the first states of the next data set. */
static bool
run_data_set(struct harness *h, const char *path, struct other_rounding *other,
	     struct data_set *d)
{
	int n_out = harness_results(h), n = 0;
	struct array *got = arena_array(&h->m->arena, struct array, n_out + 1);
	struct pair *pairs = arena_array(&h->m->arena, struct pair, n_out + 1);
	bool same;

	if (!take_data_set(h, path, d) || !harness_run(h, d->inputs, got)) {
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
	if (other != NULL && !h->cli->quiet) {
		other_rounding_try(other, h, d->inputs, pairs, n);
	}
	d->compared = true;
	return harness_set_states(h, got + tirc_output_count(h->t)) && same;
}

/* Runs and compares one data set, and prints the verdict, after the reasons of
 * a failure. False if it failed. */
static bool
test_data_set(struct harness *h, const char *path, struct other_rounding *other)
{
	struct data_set d = { 0 };

	if (run_data_set(h, path, other, &d)) {
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
complete_const_inputs(struct arena *a, struct cli *c)
{
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
note_made(struct harness *h)
{
	struct arena *a = &h->m->arena;
	int n = tirc_input_count(h->t);
	const char *sizes = "";

	for (int d = 0; d < tirc_dim_count(h->t); d++) {
		struct tirc_dim dim = tirc_dim(h->t, d);

		sizes = arena_printf(a, "%s, %s = %lld", sizes, dim.name,
				     (long long)dim.max);
	}
	cli_note("there is no test_data_set_* beside %s: one run with random "
		 "values for %d input%s%s, compared with the interpreter of "
		 "tirc; with data of yours: tirc test %s data.npz "
		 "(docs/how-to/verify.md)",
		 h->cli->model, n, n == 1 ? "" : "s", sizes,
		 command_quoted(a, h->cli->model));
}

int
cmd_test(struct cli *c)
{
	struct harness h;
	struct other_rounding other = { 0 };
	struct arena names;
	const char *none = NULL, **paths = NULL;
	int n = 0, passed = 0;
	bool ok, made = false;

	if (text_ends_in(c->model, ".py")) {
		return test_program(c);
	}
	cli_use_machine(c);
	c->has_summary = !c->each_region && !c->layers;
	if (c->each_region || c->layers) {
		return c->layers ? test_layers(c) : test_each_region(c);
	}
	arena_init(&names);
	complete_const_inputs(&names, c);
	ok = harness_open(&h, c);

	if (ok) {
		if (!c->quiet) {
			cli_note_tflite(h.t);
		}
		n = data_set_list(&h, &paths);
		made = n == 0;
	}
	if (made) {
		paths = &none;
		n = 1;
	}
	if (made && !c->quiet) {
		note_made(&h);
	}
	ok = ok && harness_set_states(&h, NULL);
	for (int i = 0; ok && i < n; i++) {
		passed += test_data_set(&h, paths[i], made ? NULL : &other);
	}
	if (ok) {
		other_rounding_end(&other, &h);
	}
	if (ok && tirc_summary(h.t).simulator != NULL) {
		ok = harness_board(&h);
	}
	if (ok && !c->quiet && made) {
		cli_print_target(c);
		say(stdout, "random inputs %s\n",
		    passed == n ? "passed" : "failed");
	} else if (ok && !c->quiet) {
		cli_print_target(c);
		say(stdout, "%d of %d data set%s passed\n", passed, n,
		    n == 1 ? "" : "s");
	}
	harness_close(&h);
	arena_release(&names);
	return ok && passed == n ? CLI_DONE : CLI_INPUT;
}
