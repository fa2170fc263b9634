/* SPDX-License-Identifier: Apache-2.0 */
/* tirc run: runs the emitted C of a model on the user's data. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "harness.h"
#include "text.h"

static int
input_index(struct tirc *t, const char *name)
{
	for (int i = 0; i < tirc_input_count(t); i++) {
		struct tirc_tensor x = tirc_input(t, i);

		if (strcmp(x.name, name) == 0 ||
		    strcmp(x.identifier, name) == 0) {
			return i;
		}
	}
	return -1;
}

static bool
no_such_input(struct tirc *t, const char *file, const char *name)
{
	int n = tirc_input_count(t);
	const char **names = calloc((size_t)n + 1, sizeof *names), *near;

	if (names == NULL) {
		memory_exhausted();
	}
	for (int i = 0; i < n; i++) {
		names[i] = tirc_input(t, i).name;
	}
	near = text_nearest(name, names, n);
	cli_error("%s: '%s' is no input of the model; %s '%s'", file, name,
		  near != NULL ? "did you mean"
		  : n > 1      ? "the first one is"
			       : "its input is",
		  near != NULL ? near
		  : n > 0      ? names[0]
			       : "");
	free(names);
	return false;
}

/* A file of arrays for the inputs. */
struct input_file {
	struct harness *h;
	const char *path;
	int at;    /* the input that the option names, or -1 */
	int *next; /* the first input without an array */
};

/* The input that an array of the file is for, one of n; -1: reported. */
static int
input_of(const struct input_file *f, const struct array *a, int n)
{
	int to = f->at;

	if (to < 0 && a->name != NULL && n > 1) {
		to = input_index(f->h->t, a->name);
		if (to < 0) {
			no_such_input(f->h->t, f->path, a->name);
			return -1;
		}
	}
	to = to < 0 ? *f->next : to;
	if (to >= tirc_input_count(f->h->t)) {
		cli_error("%s: the model has only %d input(s)", f->path,
			  tirc_input_count(f->h->t));
		return -1;
	}
	return to;
}

/* Of a member of an archive, before it is unpacked. */
static bool
accepts(void *ctx, const struct array *a, int n)
{
	struct input_file *f = ctx;
	int to = input_of(f, a, n);
	struct tirc_tensor x;

	if (to < 0 || !harness_check_input(f->h, to, a)) {
		return false;
	}
	x = tirc_input(f->h->t, to);
	return a->elems <= x.elems ||
	       cli_error("%s: input '%s' has at most %lld elements, and the "
			 "file has %lld",
			 f->path, x.name, (long long)x.elems,
			 (long long)a->elems);
}

/* "name=file" or "file"; a name is recognised only if it is an input's. */
static bool
take_file(struct harness *h, const char *text, struct array *inputs,
	  bool *given, int *next)
{
	const char *equals = strchr(text, '=');
	struct input_file f = { .h = h, .at = -1, .next = next };
	struct array_filter filter = { accepts, &f };
	struct array *list;
	int n;

	if (equals != NULL) {
		f.at = input_index(h->t,
				   arena_strndup(&h->m->arena, text,
						 (size_t)(equals - text)));
		if (f.at >= 0) {
			text = equals + 1;
		} else if (access(text, F_OK) != 0) {
			return no_such_input(h->t, "--input",
					     arena_strndup(&h->m->arena, text,
							   (size_t)(equals -
								    text)));
		}
	}
	f.path = text;
	if (!arrays_read(h->m, text, &filter, &list, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		int to = input_of(&f, &list[i], n);

		if (to < 0) {
			return false;
		}
		if (f.at < 0 && (list[i].name == NULL || n == 1)) {
			(*next)++;
		}
		inputs[to] = list[i];
		given[to] = true;
	}
	return true;
}

static void
print_array(const struct array *a)
{
	say(stdout, "%s  %s [", a->name, dtype_name(a->type));
	for (int d = 0; d < a->ndim; d++) {
		say(stdout, "%s%lld", d > 0 ? ", " : "",
		    (long long)a->shape[d]);
	}
	say(stdout, "]\n ");
	for (int64_t i = 0; i < a->elems && i < 10; i++) {
		union number v = number_load(a->type, a->data, (size_t)i);

		if (dtype_is_float(a->type)) {
			say(stdout, " %.7g", v.f);
		} else {
			say(stdout, " %lld", (long long)v.i);
		}
	}
	say(stdout, "%s\n", a->elems > 10 ? " …" : "");
}

static void
print_times(struct harness *h)
{
	int n = h->cli->repeat;

	qsort(h->times_ns, (size_t)n, sizeof *h->times_ns, cli_compare_doubles);
	cli_print_target(h->cli);
	say(stdout, "time  minimum %.4g ms, median %.4g ms of %d run%s\n",
	    h->times_ns[0] / 1e6, h->times_ns[n / 2] / 1e6, n,
	    n == 1 ? "" : "s");
}

static bool
execute(struct harness *h)
{
	int n_in = tirc_input_count(h->t);
	int n_out = tirc_output_count(h->t);
	struct array *inputs = arena_array(&h->m->arena, struct array,
					   n_in + 1);
	struct array *outputs = arena_array(&h->m->arena, struct array,
					    harness_results(h) + 1);
	bool *given = arena_array(&h->m->arena, bool, n_in + 1);
	int next = 0;

	if (h->cli->output != NULL && !arrays_can_save(h->cli->output, n_out)) {
		return cli_error("--output %s: the model has %d output%s; "
				 "give a .npz file%s",
				 h->cli->output, n_out, n_out == 1 ? "" : "s",
				 n_out == 1 ? " or a .npy file" : "");
	}
	for (int i = 0; i < h->cli->n_inputs; i++) {
		if (!take_file(h, h->cli->inputs[i], inputs, given, &next)) {
			return false;
		}
	}
	for (int i = 0; i < n_in; i++) {
		if (given[i]) {
			continue;
		}
		if (h->cli->n_inputs > 0) {
			return cli_error("no data for input '%s'; give "
					 "--input %s=FILE",
					 tirc_input(h->t, i).name,
					 tirc_input(h->t, i).name);
		}
		harness_ramp(h, i, &inputs[i]);
	}
	if (!harness_run(h, inputs, outputs)) {
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
			print_times(h);
		}
		if (h->cli->tirc.profile && !harness_profile(h)) {
			return false;
		}
	}
	return h->cli->output == NULL ||
	       arrays_save(h->m, h->cli->output, outputs, n_out);
}

/* The arrays are files between tirc and the program. */
static bool
arrays_within_limit(struct harness *h)
{
	struct stat st;

	h->m->quota.output_bytes = h->cli->tirc.max_output_bytes;
	quota_of_input(h->m, stat(h->cli->model, &st) == 0 ? st.st_size : 0);
	return quota_check_output(h->m,
				  (struct diag_place){ .file = h->cli->model },
				  "the arrays of all inputs and outputs",
				  cli_io_bytes(h->t));
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

	if (c->output != NULL) {
		cleanup_watch_output(c->output);
	}
	cli_use_machine(c);
	c->has_summary = true;
	ok = harness_open(&h, c) && json_allowed(&h) &&
	     arrays_within_limit(&h) && execute(&h);
	harness_close(&h);
	return ok ? CLI_DONE : CLI_INPUT;
}
