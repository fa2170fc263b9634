/* SPDX-License-Identifier: Apache-2.0 */
#include "program_harness.h"

#include <string.h>

#include "text.h"

bool
program_open(struct harness *h, struct cli *c,
	     const struct tirc_program_options *o, int *told)
{
	bool ok;

	h->cli = c;
	h->m = harness_module(c);
	/* a tensor program has no factors; only a model can */
	h->tried_factors = true;
	h->t = cli_program(c);
	if (h->t == NULL || !harness_begin(h, c)) {
		return false;
	}
	ok = tirc_program_tests(h->t, c->model, o);
	cli_new_messages(h->t, told);
	cli_timings(h->t);
	/* If no function of the program can be tested, there is no source to
	 * build. */
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
	return harness_find_tools(h) && harness_fits_processor(h);
}

bool
program_compile(struct harness *h)
{
	return harness_build(h, tirc_harness(h->t));
}

struct array
call_array(struct harness *h, const struct call *call, int i)
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

static const char *
result_file(struct harness *h, int parameter)
{
	return arena_printf(&h->m->arena, "result_%d.bin", parameter);
}

static bool
expect_results(struct harness *h, const struct call *call)
{
	bool ok;

	harness_expect_none(h);
	ok = harness_expect(h, "times.txt") &&
	     (tirc_summary(h->t).simulator == NULL ||
	      harness_expect(h, "board.txt"));
	for (int i = 0; ok && i < call->of.n_given; i++) {
		ok = !tirc_parameter(h->t, call->function, i).is_array ||
		     harness_expect(h, result_file(h, i));
	}
	return ok;
}

bool
call_run(struct harness *h, const struct array *inputs, struct array *results)
{
	const struct call *call = h->run_ctx;
	struct arena *a = &h->m->arena;
	const char *arguments = tirc_function_arguments(h->t, call->function,
							call->run, call->calls);
	int in = 0, out = 0;

	for (int i = 0; i < call->of.n_given; i++) {
		if (tirc_parameter(h->t, call->function, i).is_array &&
		    !harness_write_array(h, arena_printf(a, "array_%d.bin", i),
					 &inputs[in++])) {
			return false;
		}
	}
	if (!harness_write(h, "arguments.txt", arguments, strlen(arguments)) ||
	    !expect_results(h, call) || !harness_execute(h, "")) {
		return false;
	}
	for (int i = 0; results != NULL && i < call->of.n_given; i++) {
		if (tirc_parameter(h->t, call->function, i).written) {
			results[out] = call_array(h, call, i);
			if (!harness_read_array(h, result_file(h, i),
						&results[out++])) {
				return false;
			}
		}
	}
	return true;
}

bool
call_within_limit(struct harness *h, const struct call *call)
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
	h->array_bytes = bytes > h->array_bytes ? bytes : h->array_bytes;
	return quota_check_output(h->m,
				  (struct diag_place){ .file = h->cli->model,
						       .item = call->of.name },
				  "the arrays of all parameters", bytes);
}

/* Statements that the interpreter runs in some seconds. */
enum { QUICK_STATEMENTS = 100000000 };

void
call_note_work(const struct harness *h, const struct call *call)
{
	double n = tirc_function_statements(h->t, call->function, call->run);
	bool sized = strchr(call->where, '(') != NULL;

	if (!h->cli->quiet && n > QUICK_STATEMENTS) {
		cli_note("%s: before its source runs, the interpreter runs "
			 "about %.3g statements, which takes a while; smaller "
			 "sizes%s take less",
			 call->where, n,
			 sized ? " (--dim)" : " in the program");
	}
}

/* The text "row_squares(n=33)": the function's name, with the values of its
 * scalar parameters. */
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

struct call
call_of(struct harness *h, int function, int run, int calls)
{
	struct call call = { .function = function,
			     .run = run,
			     .calls = calls,
			     .of = tirc_function(h->t, function) };

	call.where = call_name(h, &call);
	return call;
}
