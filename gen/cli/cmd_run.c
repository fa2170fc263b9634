/* SPDX-License-Identifier: Apache-2.0 */
/* tirc run: runs the emitted C of a model on the user's data. run_program.c
 * does the same for a tensor program. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include "cleanup.h"
#include "data_set.h"
#include "slots.h"
#include "text.h"

/* The number of elements of each output that are printed; the file of --output
 * has all elements. */
enum { SHOWN_ELEMENTS = 16 };

static void
print_array(const struct array *a)
{
	say(stdout, "%s  %s [", a->name, dtype_name(a->type));
	for (int d = 0; d < a->ndim; d++) {
		say(stdout, "%s%lld", d > 0 ? ", " : "",
		    (long long)a->shape[d]);
	}
	say(stdout, "]\n ");
	for (int64_t i = 0; i < a->elems && i < SHOWN_ELEMENTS; i++) {
		union number v = number_load(a->type, a->data, (size_t)i);

		if (dtype_is_float(a->type)) {
			say(stdout, " %.7g", v.f);
		} else {
			say(stdout, " ");
			array_print(a, i, 0);
		}
	}
	if (a->elems > SHOWN_ELEMENTS) {
		say(stdout, " … %lld in all", (long long)a->elems);
	}
	say(stdout, "\n");
}

/* Prints the minimum and the median of the runs' times, and the values of the
 * symbolic sizes in these runs. */
static void
print_times(struct harness *h, const struct array *inputs)
{
	int n = h->cli->repeat, n_dims = tirc_dim_count(h->t);
	int64_t *dims = arena_array(&h->m->arena, int64_t, n_dims + 1);

	qsort(h->times_ns, (size_t)n, sizeof *h->times_ns, cli_compare_doubles);
	cli_print_target(h->cli, h->t);
	say(stdout, "time  minimum %.4g ms, median %.4g ms of %d run%s",
	    h->times_ns[0] / 1e6, h->times_ns[n / 2] / 1e6, n,
	    n == 1 ? "" : "s");
	harness_dims(h, inputs, dims);
	for (int i = 0; i < n_dims; i++) {
		say(stdout, "%s%s=%lld", i == 0 ? " with " : ", ",
		    tirc_dim(h->t, i).name, (long long)dims[i]);
	}
	if (n_dims > 0 && h->cli->n_inputs == 0) {
		say(stdout, " (the largest; another: --dim %s=%lld)",
		    tirc_dim(h->t, 0).name, (long long)tirc_dim(h->t, 0).min);
	}
	say(stdout, "\n");
}

static bool
take_inputs(struct harness *h, struct slots *s)
{
	for (int i = 0; i < h->cli->n_inputs; i++) {
		if (!slots_take(h, s, h->cli->inputs[i])) {
			return false;
		}
	}
	if (s->n > 0 && h->cli->n_inputs == 0 && !h->cli->quiet) {
		cli_note("no --input: the elements of each input are -1, "
			 "-0.875, … 1, of integers 0, 1, 0, …; give data with "
			 "--input %s=FILE",
			 s->tensors[0].name);
	}
	for (int i = 0; i < s->n; i++) {
		if (s->given[i]) {
			continue;
		}
		if (h->cli->n_inputs > 0) {
			return cli_error("no data for input '%s'; give "
					 "--input %s=FILE",
					 s->tensors[i].name,
					 s->tensors[i].name);
		}
		harness_ramp(h, i, &s->arrays[i]);
	}
	return true;
}

static bool
execute(struct harness *h)
{
	int n_out = tirc_output_count(h->t);
	struct slots inputs = slots_of_inputs(h);
	struct array *outputs = arena_array(&h->m->arena, struct array,
					    harness_results(h) + 1);

	if (h->cli->output != NULL && !arrays_can_save(h->cli->output, n_out)) {
		return cli_error("--output %s: the model has %d output%s; "
				 "give a .npz file%s",
				 h->cli->output, n_out, n_out == 1 ? "" : "s",
				 n_out == 1 ? " or a .npy file" : "");
	}
	if (!take_inputs(h, &inputs) ||
	    !harness_run(h, inputs.arrays, outputs)) {
		return false;
	}
	for (int i = 0; i < n_out && !h->cli->quiet; i++) {
		print_array(&outputs[i]);
	}
	if (tirc_summary(h->t).simulator != NULL) {
		if (!harness_board(h)) {
			return false;
		}
	} else {
		if (!h->cli->quiet) {
			print_times(h, inputs.arrays);
		}
		if (h->cli->tirc.profile && !harness_profile(h)) {
			return false;
		}
	}
	return h->cli->output == NULL ||
	       arrays_save(h->m, h->cli->output, outputs, n_out);
}

static bool
json_allowed(const struct harness *h)
{
	return h->cli->json_path == NULL || h->cli->tirc.profile ||
	       tirc_summary(h->t).simulator != NULL ||
	       cli_error("--json needs --profile, or a target with a "
			 "simulator");
}

int
cmd_run(struct cli *c)
{
	struct harness h;
	bool ok;

	if (text_ends_in(c->model, ".py")) {
		return run_program(c);
	}
	if (c->output != NULL) {
		cleanup_watch_output(c->output);
	}
	cli_use_machine(c);
	c->has_summary = true;
	if (c->n_inputs > 0) {
		data_sizes(c);
	}
	ok = harness_open(&h, c) && json_allowed(&h) &&
	     harness_arrays_fit(&h) && execute(&h);
	harness_close(&h);
	return ok ? CLI_DONE : CLI_INPUT;
}
