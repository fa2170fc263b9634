/* SPDX-License-Identifier: Apache-2.0 */
/* tirc test FILE.py: runs the source of a tensor program's functions, and
 * compares the results with those of the interpreter, which runs the functions
 * as they are before any schedule. */
#include <string.h>

#include "compare.h"
#include "program_harness.h"

/* If the function has scalars, whose values may be the cause, tells the user
 * how to give others: the interpreter has refused the run. */
static void
tell_undefined(const struct call *call)
{
	if (strchr(call->where, '(') != NULL) {
		cli_note("%s is not defined; give values at which the function "
			 "is with --dim NAME=VALUE",
			 call->where);
	}
}

/* Makes the inputs and the expected results, calls the built function, and
 * compares. *same: do the results agree? False if there are no results. */
static bool
compare_call(struct harness *h, struct call *call, int *told, bool *same)
{
	struct arena *a = &h->m->arena;
	int n = call->of.n_given;
	struct array *inputs = arena_array(a, struct array, n + 1);
	struct array *want = arena_array(a, struct array, n + 1);
	struct array *got = arena_array(a, struct array, n + 1);
	struct pair *pairs = arena_array(a, struct pair, n + 1);
	void **in = arena_array(a, void *, n + 1);
	void **out = arena_array(a, void *, n + 1);

	h->run = call_run;
	h->run_ctx = call;
	h->n_inputs = h->n_results = 0;
	if (!call_within_limit(h, call)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		struct tirc_parameter p = tirc_parameter(h->t, call->function,
							 i);
		int k = h->n_results;

		if (!p.is_array) {
			continue;
		}
		inputs[h->n_inputs] = call_array(h, call, i);
		in[i] = inputs[h->n_inputs++].data;
		want[i] = call_array(h, call, i);
		out[i] = want[i].data;
		if (p.written) {
			pairs[k] = (struct pair){ .where = call->where,
						  .result = k,
						  .got = &got[k],
						  .want = &want[i],
						  .arithmetic = p.arithmetic };
			h->n_results++;
		}
	}
	if (!tirc_function_make(h->t, call->function, call->run, in, out)) {
		cli_new_messages(h->t, told);
		tell_undefined(call);
		return false;
	}
	if (!harness_run(h, inputs, got)) {
		return false;
	}
	*same = harness_compare(h, inputs, pairs, h->n_results);
	return true;
}

/* Tests one run of a function, and prints the verdict, after the reasons of a
 * failure. False if it failed. */
static bool
test_call(struct harness *h, int function, int run, int *told)
{
	struct call call = call_of(h, function, run, 1);
	bool same = false;

	if (!compare_call(h, &call, told, &same)) {
		harness_messages(h);
		style_word(stdout, STYLE_RED, "FAIL");
		say(stdout, "  %s  not compared\n", call.where);
	}
	return same;
}

static void
print_verdict(const struct harness *h, int passed, int runs, int untested)
{
	const struct cli *c = h->cli;

	if (c->quiet) {
		return;
	}
	cli_print_program_target(c, h->t);
	say(stdout, "%d of %d run%s passed", passed, runs,
	    runs == 1 ? "" : "s");
	if (untested > 0) {
		say(stdout, "; %d function%s not tested", untested,
		    untested == 1 ? "" : "s");
	}
	say(stdout, "\n");
}

int
test_program(struct cli *c)
{
	struct tirc_program_options o = { .schedule = c->schedule };
	struct harness h = { 0 };
	int runs = 0, passed = 0, untested = 0, told = 0;
	bool ok;

	c->has_summary = true;
	ok = program_open(&h, c, &o, &told);
	for (int i = 0; ok && i < tirc_function_count(h.t); i++) {
		struct tirc_function f = tirc_function(h.t, i);

		untested += !f.tested;
		for (int k = 0; k < f.n_runs; k++) {
			passed += test_call(&h, i, k, &told);
			runs++;
		}
	}
	if (ok) {
		print_verdict(&h, passed, runs, untested);
	}
	harness_close(&h);
	return ok && passed == runs && untested == 0 ? CLI_DONE : CLI_INPUT;
}
