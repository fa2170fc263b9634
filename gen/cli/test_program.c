/* SPDX-License-Identifier: Apache-2.0 */
/* tirc test FILE.py: runs the emitted source of a tensor program's functions
 * and compares the results with the interpreter's results for the functions
 * before any schedule. Before anything is compiled, the interpreter also runs
 * the functions in their emitted form on the same arrays, to check that the
 * emitted functions are safe to run. */
#include <string.h>

#include "compare.h"
#include "program_harness.h"

/* Called if the interpreter reported an error in a run. If the function has
 * scalar parameters, whose values may be the cause, tells the user how to
 * choose other values. */
static void
tell_undefined(const struct call *call)
{
	if (strchr(call->where, '(') != NULL) {
		cli_note("%s is not defined; give values at which the function "
			 "is with --dim NAME=VALUE",
			 call->where);
	}
}

/* A call with its array arguments, in the order of the parameters, and the
 * results that are compared after the call. */
struct planned {
	struct call call;
	bool made; /* the interpreter has computed the expected results */
	struct array *inputs, *got;
	struct pair *pairs;
	int n_inputs, n_results;
};

struct plan {
	VEC(struct planned) calls;
	/* the number of the program's messages that are already printed */
	int told;
	bool refused; /* the check found an error, so that no source may run */
};

/* Makes the inputs and the expected results of a call, and has the interpreter
 * check the function's emitted form on them. */
static void
make_call(struct harness *h, struct plan *plan, struct planned *p)
{
	struct arena *a = &h->m->arena;
	struct call *call = &p->call;
	int n = call->of.n_given;
	struct array *want = arena_array(a, struct array, n + 1);
	void **in = arena_array(a, void *, n + 1);
	void **out = arena_array(a, void *, n + 1);

	p->inputs = arena_array(a, struct array, n + 1);
	p->got = arena_array(a, struct array, n + 1);
	p->pairs = arena_array(a, struct pair, n + 1);
	if (!call_within_limit(h, call)) {
		return;
	}
	for (int i = 0; i < n; i++) {
		struct tirc_parameter of = tirc_parameter(h->t, call->function,
							  i);
		int k = p->n_results;

		if (!of.is_array) {
			continue;
		}
		p->inputs[p->n_inputs] = call_array(h, call, i);
		in[i] = p->inputs[p->n_inputs++].data;
		want[i] = call_array(h, call, i);
		out[i] = want[i].data;
		if (of.written) {
			p->pairs[k] = (struct pair){
				.where = call->where,
				.result = k,
				.got = &p->got[k],
				.want = &want[i],
				.arithmetic = of.arithmetic
			};
			p->n_results++;
		}
	}
	call_note_work(h, call);
	p->made = tirc_function_make(h->t, call->function, call->run, in, out);
	plan->refused = p->made && !tirc_function_check(h->t, call->function,
							call->run, in);
	cli_new_messages(h->t, &plan->told);
	if (!p->made) {
		tell_undefined(call);
	}
}

/* Plans one run of each function at each set of its sizes. Returns false if the
 * source may not run. */
static bool
make_plan(struct harness *h, struct plan *plan)
{
	for (int i = 0; i < tirc_function_count(h->t); i++) {
		struct tirc_function f = tirc_function(h->t, i);

		for (int k = 0; k < f.n_runs && !plan->refused; k++) {
			struct planned p = { .call = call_of(h, i, k, 1) };

			make_call(h, plan, &p);
			vec_push(&h->m->arena, &plan->calls, p);
		}
	}
	return !plan->refused;
}

/* Calls the built function and prints the verdict; if the call failed, prints
 * the reasons first. Returns false if it failed. */
static bool
test_call(struct harness *h, struct planned *p)
{
	h->run = call_run;
	h->run_ctx = &p->call;
	h->n_inputs = p->n_inputs;
	h->n_results = p->n_results;
	if (p->made && harness_run(h, p->inputs, p->got)) {
		return harness_compare(h, p->inputs, p->pairs, h->n_results);
	}
	harness_messages(h);
	style_word(stdout, STYLE_RED, "FAIL");
	say(stdout, "  %s  not compared\n", p->call.where);
	return false;
}

static void
print_verdict(const struct harness *h, int passed, int runs, int untested)
{
	const struct cli *c = h->cli;
	int unchecked = tirc_unchecked_asserts(h->t);

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
	if (unchecked > 0) {
		say(stdout, "; %d assert%s of the program not checked",
		    unchecked, unchecked == 1 ? "" : "s");
	}
	say(stdout, "\n");
}

int
test_program(struct cli *c)
{
	struct tirc_program_options o = { .schedule = c->schedule };
	struct harness h = { 0 };
	struct plan plan = { 0 };
	int passed = 0, untested = 0;
	bool ok;

	c->has_summary = true;
	ok = program_open(&h, c, &o, &plan.told) && make_plan(&h, &plan) &&
	     program_compile(&h);
	for (int i = 0; ok && i < plan.calls.n; i++) {
		passed += test_call(&h, &plan.calls.data[i]);
	}
	for (int i = 0; ok && i < tirc_function_count(h.t); i++) {
		untested += !tirc_function(h.t, i).tested;
	}
	if (ok) {
		print_verdict(&h, passed, plan.calls.n, untested);
	}
	harness_close(&h);
	return ok && passed == plan.calls.n && untested == 0 ? CLI_DONE
							     : CLI_INPUT;
}
