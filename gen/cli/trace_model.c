/* SPDX-License-Identifier: Apache-2.0 */
/* tirc compare TRACE MODEL: compares the tensors of a trace with those that the
 * interpreter computes on the same inputs, of the model as it was read (with
 * --requant tflite: after the passes that set the rounding). A tensor of the
 * compiled model is compared with the model's tensor of the same values; one
 * that only passes made is not compared. */
#include <limits.h>
#include <string.h>

#include "bisect.h"
#include "bisect_cmd.h"
#include "bisecting.h"
#include "data_set.h"
#include "interpreted.h"
#include "trace_cmd.h"
#include "verifying.h"

/* The runs of the interpreter that compare a run of the trace. */
struct against {
	struct cli cli; /* the user's options, without those that print */
	const struct trace *trace;
	struct harness h; /* has the compiled model; its runs are interpreted */
	struct traced_list shown;
	const struct trace_run *run; /* the present one */
	/* The model, with numbers for its symbolic sizes: as it was read, whose
	 * values are right; and after all passes over the graph, whose values on
	 * perturbed inputs show what rounding does to the compiled model. */
	struct tirc *model, *passed;
	const char **paths; /* the data sets of --data */
	int n_paths;
	/* the values of tensors, for as long as h */
	VEC(struct node_results *) results;
};

static struct arena *
arena_of(struct against *x)
{
	return &x->h.m->arena;
}

static bool refuse(const struct against *x, int line, const char *fmt, ...)
	TIRC_PRINTF(3, 4);

static bool
refuse(const struct against *x, int line, const char *fmt, ...)
{
	struct arena *a = &x->h.m->arena;
	const char *text;
	va_list ap;

	va_start(ap, fmt);
	text = arena_vprintf(a, fmt, ap);
	va_end(ap);
	return cli_error("%s:%d: %s", x->trace->file, line, text);
}

/* -- the compiled model -- */

/* Are the tensors of the run those that the compiled model shows? False after an
 * error message. */
static bool
is_of_model(struct against *x)
{
	const struct trace_run *run = x->run;
	const char *digest = tirc_graph(x->h.t)->digest;

	/* a header has the beginning of the digest */
	if (run->digest[0] != '\0' && digest != NULL &&
	    strncmp(run->digest, digest, strlen(run->digest)) != 0) {
		return refuse(x, run->line,
			      "the trace is of the model with digest %s, and "
			      "%s has %.16s",
			      run->digest, x->cli.model, digest);
	}
	for (int i = 0; i < run->records.n && i < x->shown.list.n; i++) {
		const struct trace_record *r = &run->records.data[i];
		const struct traced *s = &x->shown.list.data[i];
		const char *kernel = s->kernel != NULL ? s->kernel->name : "";
		const char *name = tensor_traced_name(s->tensor);

		if (strcmp(r->kernel, kernel) != 0 ||
		    strcmp(r->array.name, name) != 0) {
			return refuse(
				x, r->line,
				"tensor '%s' of kernel '%s' is here, "
				"where the compiled model shows '%s' of "
				"'%s'; give the options that compile had, "
				"--target among them",
				r->array.name, r->kernel, name, kernel);
		}
	}
	return run->records.n == x->shown.list.n ||
	       refuse(x, run->line,
		      "the run has %d tensors, where the compiled model shows "
		      "%d; give the options that compile had, --target among "
		      "them",
		      run->records.n, x->shown.list.n);
}

/* Can the interpreter run the model, and is the order of its tensors known? */
static bool
can_compare(const struct against *x, const struct graph *g)
{
	return (!graph_has_control(g) && graph_not_run(g) == NULL) ||
	       cli_error(
		       "%s: a model with branches, loops or sizes that depend "
		       "on values is not compared with the interpreter; give "
		       "a second trace, as of the same source on this "
		       "machine",
		       x->cli.model);
}

/* -- inputs -- */

/* The input or state of the run with this name; NULL if there is none. */
static const struct trace_record *
given_record(const struct against *x, const char *name)
{
	for (int i = 0; i < x->run->records.n; i++) {
		const struct trace_record *r = &x->run->records.data[i];

		if (r->kernel[0] == '\0' && strcmp(r->array.name, name) == 0) {
			return r;
		}
	}
	return NULL;
}

/* Sets inputs[] to the inputs of the run: of the data set, or of the trace. */
static bool
find_inputs(struct against *x, const char *path, struct array *inputs)
{
	struct harness *h = &x->h;
	struct data_set d;

	if (path != NULL) {
		if (!data_set_read(h, path, true, &d)) {
			harness_messages(h);
			return false;
		}
		memcpy(inputs, d.inputs, sizeof *inputs * (size_t)h->n_inputs);
		return true;
	}
	for (int i = 0; i < h->n_inputs; i++) {
		const struct tensor *t = x->shown.list.data[i].tensor;

		inputs[i] = x->run->records.data[i].array;
		inputs[i].is_string = t->is_string;
		if (!harness_fit_input(arena_of(x), h->t, i, &inputs[i])) {
			return false;
		}
	}
	return true;
}

/* The elements of the inputs of the model; NULL after an error message. */
static const void **
input_data(struct against *x, struct tirc *model, const struct array *inputs)
{
	struct arena *a = arena_of(x);
	int n = tirc_input_count(model), next = 0;
	const void **data = arena_array(a, const void *, n + 1);

	for (int i = 0; i < n; i++) {
		struct tirc_tensor t = tirc_input(model, i);
		struct array one;

		if (state_of_input(model, i) < 0) {
			one = inputs[next++];
		} else if (given_record(x, t.name) != NULL) {
			one = given_record(x, t.name)->array;
		} else {
			one = harness_zeros(a, t);
		}
		if (!harness_fit_input(a, model, i, &one)) {
			return NULL;
		}
		data[i] = one.data;
	}
	return data;
}

/* -- the interpreter -- */

/* Runs the model in the interpreter. outputs: for each tensor that the compiled
 * model shows, the tensor of `model` with the same name in the model as read;
 * without data if there is none. */
static bool
interpret(struct against *x, struct tirc *model, const struct array *inputs,
	  struct array *outputs)
{
	struct harness *h = &x->h;
	struct graph *g = tirc_graph(model);
	struct arena *a = arena_of(x);
	struct node_results *results = arena_new(a, struct node_results);
	const void **data = input_data(x, model, inputs);
	struct right_values right;
	int next = 0;

	node_results_init(results);
	vec_push(a, &x->results, results);
	if (data == NULL || !right_values_find(g, data, results, a, &right)) {
		cli_messages(model);
		return false;
	}
	for (int i = 0; i < x->shown.list.n; i++) {
		const struct traced *s = &x->shown.list.data[i];
		const char *name = tensor_traced_name(s->tensor);

		outputs[i] = (struct array){ .data = NULL };
		if (s->kernel != NULL) {
			right_values_array(g, &right, a, name, &outputs[i]);
		} else if (next < h->n_inputs) {
			outputs[i] = inputs[next++];
		} else {
			outputs[i] = x->run->records.data[i].array;
		}
	}
	return true;
}

/* A run on perturbed inputs (harness.run). */
static bool
run_perturbed(struct harness *h, const struct array *inputs,
	      struct array *outputs)
{
	struct against *x = h->run_ctx;

	return interpret(x, x->passed, inputs, outputs);
}

/* Loads the model with the sizes that the inputs have, twice. */
static bool
load_model(struct against *x, const struct array *inputs)
{
	const char *const *names;

	if (x->model != NULL && tirc_dim_count(x->h.t) == 0) {
		return true;
	}
	tirc_free(x->model);
	tirc_free(x->passed);
	x->passed = NULL;
	x->model = interpreted_sized(&x->h, &x->cli, inputs);
	if (x->model != NULL) {
		x->passed = interpreted_sized(&x->h, &x->cli, inputs);
	}
	if (x->passed == NULL) {
		return false;
	}
	if (tirc_graph_passes(x->passed, INT_MAX, &names) < 0) {
		cli_messages(x->passed);
		return false;
	}
	return interpreted_round(x->h.t, x->model) &&
	       can_compare(x, tirc_graph(x->model));
}

/* -- a run -- */

/* Adds tensor i of the run and its right value to t. False after an error
 * message. */
static bool
add_pair(struct against *x, struct two_runs *t, int i, struct array *got,
	 const struct array *want)
{
	const struct traced *s = &x->shown.list.data[i];
	const struct trace_record *r = &x->run->records.data[i];
	struct tirc_tensor about = tirc_compiled_tensor(x->h.t, s->tensor);
	struct pair pair = { .result = i,
			     .got = got,
			     .want = want,
			     .step = about.step,
			     .arithmetic = about.arithmetic };
	bool is_halo;
	const char *why = traced_elements(t->a, s->tensor, &r->array, got,
					  &is_halo);
	const char *writer = s->kernel == NULL
				     ? "the caller"
				     : kernel_nodes_text(t->a,
							 tirc_graph(x->h.t),
							 s->kernel);

	if (why != NULL && !is_halo) {
		return refuse(x, r->line,
			      "tensor '%s' %s; give the options that compile "
			      "had, --target among them",
			      r->array.name, why);
	}
	if (why != NULL && t->parts == NULL) {
		t->parts = arena_printf(t->a, "%s, written by %s, %s",
					r->array.name, writer, why);
	}
	if (want->data == NULL || !dtype_equal(want->type, got->type)) {
		vec_push(t->a, &t->alone, r->array.name);
		return true;
	}
	vec_push(t->a, &t->pairs, pair);
	vec_push(t->a, &t->writers, writer);
	return true;
}

static bool
compare_run(struct against *x, int index, bool *differ)
{
	struct arena *a = arena_of(x);
	int n = x->shown.list.n;
	struct two_runs t = { .cli = &x->cli, .a = a };
	struct array *inputs = arena_array(a, struct array, x->h.n_inputs + 1);
	struct array *got = arena_array(a, struct array, n + 1);
	struct array *want = arena_array(a, struct array, n + 1);

	x->run = &x->trace->runs.data[index];
	t.where = arena_printf(a, "run %d", index + 1);
	if (!is_of_model(x) ||
	    !find_inputs(x, x->paths != NULL ? x->paths[index] : NULL,
			 inputs) ||
	    !load_model(x, inputs) || !interpret(x, x->model, inputs, want)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (!add_pair(x, &t, i, &got[i], &want[i])) {
			return false;
		}
	}
	harness_observe(&x->h, inputs, t.pairs.data, t.pairs.n);
	*differ |= !two_runs_report(&t);
	return true;
}

/* -- all runs -- */

static bool
list_data(struct against *x)
{
	struct cli *c = &x->cli;

	if (c->verify_data == NULL) {
		return true;
	}
	c->rest = &c->verify_data;
	c->n_rest = 1;
	data_set_open_folders(c);
	x->paths = c->rest;
	x->n_paths = c->n_rest;
	return x->n_paths == x->trace->runs.n ||
	       cli_error("%s has %d runs, and --data gives %d data sets; give "
			 "one for each run",
			 x->trace->file, x->trace->runs.n, x->n_paths);
}

static bool
begin(struct against *x)
{
	x->cli.tirc.trace = true;
	if (!harness_emit(&x->h, &x->cli) || !list_data(x)) {
		return false;
	}
	x->cli.tirc.n_print_after = x->cli.tirc.n_print_phases = 0;
	x->cli.tirc.time_passes = false;
	traced_find(arena_of(x), tirc_compiled_program(x->h.t), &x->shown);
	x->h.run = run_perturbed;
	x->h.run_ctx = x;
	x->h.n_results = x->shown.list.n;
	x->h.twin = x->h.tried_factors = true;
	return can_compare(x, tirc_graph(x->h.t));
}

bool
trace_against_model(struct cli *c, const struct trace *trace, bool *differ)
{
	struct against x = { .cli = *c, .trace = trace };
	bool ok = cli_find_target(&x.cli) && begin(&x);

	for (int i = 0; ok && i < trace->runs.n; i++) {
		ok = compare_run(&x, i, differ);
	}
	tirc_free(x.model);
	tirc_free(x.passed);
	for (int i = 0; i < x.results.n; i++) {
		node_results_release(x.results.data[i]);
	}
	if (x.h.m != NULL) {
		harness_close(&x.h);
	}
	return ok;
}
