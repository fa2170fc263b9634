/* SPDX-License-Identifier: Apache-2.0 */
/* tirc run FILE.py: the times of a tensor program's functions, on random
 * arrays. */
#include <stdlib.h>
#include <string.h>

#include "program_harness.h"

/* The default of --repeat. */
enum { PROGRAM_RUNS = 10 };

/* Prints the operations of a call per second, if they are known. */
static void
print_rate(struct harness *h, const struct call *call, double least_ns)
{
	double floats, ints;
	bool known = tirc_function_operations(h->t, call->function, call->run,
					      &floats, &ints);

	if (known && floats + ints > 0 && least_ns > 0) {
		say(stdout, ", %.4g %s",
		    (floats > 0 ? floats : ints) / least_ns,
		    floats > 0 ? "GFLOP/s" : "GOP/s");
	}
}

static void
print_times(struct harness *h, const struct call *call)
{
	const char *of = call->calls == 1 ? "run" : "runs";
	double least, median;

	qsort(h->times_ns, (size_t)call->calls, sizeof *h->times_ns,
	      cli_compare_doubles);
	least = h->times_ns[0];
	median = h->times_ns[call->calls / 2];
	if (tirc_summary(h->t).simulator != NULL) {
		say(stdout,
		    "%s  minimum %.0f instructions, median %.0f of %d %s\n",
		    call->where, least, median, call->calls, of);
		return;
	}
	say(stdout, "%s  minimum %.4g ms, median %.4g ms of %d %s", call->where,
	    least / 1e6, median / 1e6, call->calls, of);
	print_rate(h, call, least);
	say(stdout, "\n");
	fflush(stdout); /* the next function may take long */
}

/* Calls a function on random arrays, and prints its times. */
static bool
time_call(struct harness *h, struct call *call, int *told)
{
	struct arena *a = &h->m->arena;
	struct array *inputs = arena_array(a, struct array,
					   call->of.n_given + 1);
	void **in = arena_array(a, void *, call->of.n_given + 1);
	int n = 0;

	if (!call_within_limit(h, call)) {
		return false;
	}
	for (int i = 0; i < call->of.n_given; i++) {
		if (tirc_parameter(h->t, call->function, i).is_array) {
			inputs[n] = call_array(h, call, i);
			in[i] = inputs[n++].data;
		}
	}
	h->run_ctx = call;
	if (!tirc_function_make(h->t, call->function, call->run, in, NULL)) {
		cli_new_messages(h->t, told);
		return false;
	}
	if (!call_run(h, inputs, NULL) || !harness_read_times(h, call->calls)) {
		return false;
	}
	if (!h->cli->quiet) {
		print_times(h, call);
	}
	return true;
}

/* The target for a program that names none of its own. */
static const char *
machine(struct cli *c)
{
	const char *text;

	if (c->tirc.target != NULL) {
		return NULL;
	}
	cli_use_machine(c);
	if (!cli_find_target(c)) {
		return NULL;
	}
	text = c->tirc.target;
	c->tirc.target = NULL;
	return text;
}

int
run_program(struct cli *c)
{
	struct tirc_program_options o = { .schedule = c->schedule,
					  .notes = !c->quiet,
					  .timed = true };
	struct harness h = { 0 };
	bool ok, all = true;
	int told = 0;

	c->has_summary = true;
	c->repeat = c->repeat > 0 ? c->repeat : PROGRAM_RUNS;
	o.machine = machine(c);
	ok = program_open(&h, c, &o, &told);
	for (int i = 0; ok && i < tirc_function_count(h.t); i++) {
		if (tirc_function(h.t, i).tested) {
			struct call call = call_of(&h, i, 0, c->repeat);

			ok = time_call(&h, &call, &told);
		} else {
			all = false; /* a message has said why */
		}
	}
	if (ok && !c->quiet) {
		cli_print_program_target(c, h.t);
	}
	harness_close(&h);
	return ok && all ? CLI_DONE : CLI_INPUT;
}
