/* SPDX-License-Identifier: Apache-2.0 */
/* tirc run FILE.py: prints the times of a tensor program's functions on random
 * arrays. Before the functions are timed, the interpreter runs their emitted
 * form on the same arrays, to check that no access is out of bounds. */
#include <stdlib.h>

#include "program_harness.h"

/* The default of --repeat. */
enum { PROGRAM_RUNS = 10 };

/* Prints how many operations per second a call executes, if their number is
 * known. */
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

/* A call with its array arguments, in the order of the parameters. */
struct timed {
	struct call call;
	struct array *inputs;
};

struct timing {
	VEC(struct timed) calls;
	bool all; /* every function of the program can be timed */
};

/* Makes the random arrays of a call, and has the interpreter check the
 * function's emitted form on them. Returns false after a message. */
static bool
make_call(struct harness *h, struct timed *x)
{
	struct arena *a = &h->m->arena;
	struct call *call = &x->call;
	void **in = arena_array(a, void *, call->of.n_given + 1);
	int n = 0;

	x->inputs = arena_array(a, struct array, call->of.n_given + 1);
	if (!call_within_limit(h, call)) {
		return false;
	}
	for (int i = 0; i < call->of.n_given; i++) {
		if (tirc_parameter(h->t, call->function, i).is_array) {
			x->inputs[n] = call_array(h, call, i);
			in[i] = x->inputs[n++].data;
		}
	}
	call_note_work(h, call);
	return tirc_function_make(h->t, call->function, call->run, in, NULL) &&
	       tirc_function_check(h->t, call->function, call->run, in);
}

/* Makes the calls to be timed. Returns false after a message. */
static bool
make_calls(struct harness *h, struct timing *t, int *told)
{
	bool ok = true;

	t->all = true;
	for (int i = 0; ok && i < tirc_function_count(h->t); i++) {
		struct timed x;

		if (!tirc_function(h->t, i).tested) {
			/* a message has already given the reason */
			t->all = false;
			continue;
		}
		x = (struct timed){ .call = call_of(h, i, 0, h->cli->repeat) };
		ok = make_call(h, &x);
		vec_push(&h->m->arena, &t->calls, x);
	}
	cli_new_messages(h->t, told);
	return ok;
}

/* Calls a function and prints its times. Returns false after an error
 * message. */
static bool
time_call(struct harness *h, struct timed *x)
{
	h->run_ctx = &x->call;
	if (!call_run(h, x->inputs, NULL) ||
	    !harness_read_times(h, x->call.calls)) {
		return false;
	}
	if (!h->cli->quiet) {
		print_times(h, &x->call);
	}
	return true;
}

/* The name of the target "this machine", for a program that names no target;
 * NULL if the user gave --target. */
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
	struct timing timing = { 0 };
	int told = 0;
	bool ok;

	c->has_summary = true;
	c->repeat = c->repeat > 0 ? c->repeat : PROGRAM_RUNS;
	o.machine = machine(c);
	ok = program_open(&h, c, &o, &told) && make_calls(&h, &timing, &told) &&
	     program_compile(&h);
	for (int i = 0; ok && i < timing.calls.n; i++) {
		ok = time_call(&h, &timing.calls.data[i]);
	}
	if (ok && !c->quiet) {
		cli_print_program_target(c, h.t);
	}
	harness_close(&h);
	return ok && timing.all ? CLI_DONE : CLI_INPUT;
}
