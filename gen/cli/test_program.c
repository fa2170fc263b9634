/* SPDX-License-Identifier: Apache-2.0 */
/* tirc test FILE.py: runs the source of a tensor program's functions, and
 * compares the results with those of the interpreter, which runs the functions
 * as they are before any schedule. */
#include <string.h>

#include "compare.h"
#include "text.h"

/* One run of one function; harness.run_ctx points to it. */
struct call {
	int function, run;
	struct tirc_function of;
	const char *where; /* "row_squares(n=33)" */
};

/* Writes the sources of the program's functions into the folder, and builds the
 * program that calls them. Adds to *told the number of messages that are
 * printed. False after a message. */
static bool
open_program(struct harness *h, struct cli *c, int *told)
{
	struct tirc_program_options o = { .schedule = c->schedule };
	bool ok;

	h->cli = c;
	h->m = module_new();
	h->m->quota.memory_bytes = c->tirc.max_memory_bytes;
	h->tried_factors = true; /* no second attempt: only models have factors
				  * (observe.c) */
	h->t = cli_program(c);
	if (h->t == NULL || !harness_begin(h, c)) {
		return false;
	}
	ok = tirc_program_tests(h->t, c->model, &o);
	cli_new_messages(h->t, told);
	cli_timings(h->t);
	/* there is no source if no function of the program can be tested */
	if (!ok || tirc_source_count(h->t) == 0 ||
	    !tirc_write_sources(h->t, h->folder)) {
		cli_new_messages(h->t, told);
		return false;
	}
	for (int i = 0; i < tirc_source_count(h->t); i++) {
		const char *name = tirc_source(h->t, i).name;

		if (text_ends_in(name, ".c")) {
			harness_add_source(h, name);
		}
	}
	return harness_find_tools(h) && harness_build(h, tirc_harness(h->t));
}

/* A new array of zeros for parameter i, at the sizes of the run. */
static struct array
array_of(struct harness *h, const struct call *call, int i)
{
	struct arena *a = &h->m->arena;
	struct tirc_parameter p = tirc_parameter(h->t, call->function, i);
	struct array x = { .name = p.name, .elems = 1 };
	const int64_t *dims = tirc_parameter_dims(h->t, call->function,
						  call->run, i, &x.ndim);

	dtype_from_name(p.dtype, &x.type);
	x.shape = arena_copy(a, dims, sizeof *dims * (size_t)x.ndim);
	for (int d = 0; d < x.ndim; d++) {
		x.elems = quota_times(x.elems, dims[d]);
	}
	x.data = arena_alloc(a,
			     (size_t)x.elems * (size_t)dtype_bytes(x.type) + 1);
	return x;
}

/* Runs the built program with this call. inputs: the arrays of the function's
 * parameters, in order; results: those of them that the function writes,
 * afterwards. False after an error message. (harness.run) */
static bool
run_call(struct harness *h, const struct array *inputs, struct array *results)
{
	const struct call *call = h->run_ctx;
	struct arena *a = &h->m->arena;
	const char *arguments = tirc_function_arguments(h->t, call->function,
							call->run);
	int in = 0, out = 0;

	for (int i = 0; i < call->of.n_given; i++) {
		if (tirc_parameter(h->t, call->function, i).is_array &&
		    !harness_write_array(h, arena_printf(a, "array_%d.bin", i),
					 &inputs[in++])) {
			return false;
		}
	}
	if (!harness_write(h, "arguments.txt", arguments, strlen(arguments)) ||
	    !harness_execute(h, "")) {
		return false;
	}
	for (int i = 0; i < call->of.n_given; i++) {
		if (tirc_parameter(h->t, call->function, i).written) {
			results[out] = array_of(h, call, i);
			if (!harness_read_array(h,
						arena_printf(a, "result_%d.bin",
							     i),
						&results[out++])) {
				return false;
			}
		}
	}
	return true;
}

/* Are the arrays of the run within the limit of bytes (--max-output)? False
 * after a message of h. */
static bool
within_limit(struct harness *h, const struct call *call)
{
	int64_t bytes = 0;

	for (int i = 0; i < call->of.n_parameters; i++) {
		struct tirc_parameter p = tirc_parameter(h->t, call->function,
							 i);
		struct dtype type;
		const int64_t *dims;
		int64_t size;
		int ndim;

		if (!p.is_array) {
			continue;
		}
		dtype_from_name(p.dtype, &type);
		dims = tirc_parameter_dims(h->t, call->function, call->run, i,
					   &ndim);
		size = dtype_bytes(type);
		for (int d = 0; d < ndim; d++) {
			size = quota_times(size, dims[d]);
		}
		bytes = quota_plus(bytes, size);
	}
	h->m->quota.output_bytes = h->cli->tirc.max_output_bytes;
	quota_of_input(h->m, 0);
	return quota_check_output(h->m,
				  (struct diag_place){ .file = h->cli->model,
						       .item = call->of.name },
				  "the arrays of all parameters", bytes);
}

/* "row_squares(n=33)" */
static const char *
call_name(struct harness *h, const struct call *call)
{
	struct arena *a = &h->m->arena;
	const char *text = call->of.name, *before = "(";

	for (int i = 0; i < call->of.n_given; i++) {
		struct tirc_parameter p = tirc_parameter(h->t, call->function,
							 i);

		if (!p.is_array) {
			text = arena_printf(a, "%s%s%s=%lld", text, before,
					    p.name,
					    (long long)tirc_parameter_value(
						    h->t, call->function,
						    call->run, i));
			before = ",";
		}
	}
	return *before == ',' ? arena_printf(a, "%s)", text) : text;
}

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

	h->run = run_call;
	h->run_ctx = call;
	h->n_inputs = h->n_results = 0;
	if (!within_limit(h, call)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		struct tirc_parameter p = tirc_parameter(h->t, call->function,
							 i);
		int k = h->n_results;

		if (!p.is_array) {
			continue;
		}
		inputs[h->n_inputs] = array_of(h, call, i);
		in[i] = inputs[h->n_inputs++].data;
		want[i] = array_of(h, call, i);
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
	struct call call = { .function = function,
			     .run = run,
			     .of = tirc_function(h->t, function) };
	bool same = false;

	call.where = call_name(h, &call);
	if (!compare_call(h, &call, told, &same)) {
		harness_messages(h);
		style_word(stdout, STYLE_RED, "FAIL");
		say(stdout, "  %s  not compared\n", call.where);
	}
	return same;
}

static void
print_verdict(const struct cli *c, int passed, int runs, int untested)
{
	if (c->quiet) {
		return;
	}
	cli_print_target(c);
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
	struct harness h = { 0 };
	int runs = 0, passed = 0, untested = 0, told = 0;
	bool ok;

	c->has_summary = true;
	ok = open_program(&h, c, &told);
	for (int i = 0; ok && i < tirc_function_count(h.t); i++) {
		struct tirc_function f = tirc_function(h.t, i);

		untested += !f.tested;
		for (int k = 0; k < f.n_runs; k++) {
			passed += test_call(&h, i, k, &told);
			runs++;
		}
	}
	if (ok) {
		print_verdict(c, passed, runs, untested);
	}
	harness_close(&h);
	return ok && passed == runs && untested == 0 ? CLI_DONE : CLI_INPUT;
}
