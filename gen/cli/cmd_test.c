/* SPDX-License-Identifier: Apache-2.0 */
/* tirc test: compares the emitted C with ONNX test data. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compare.h"

/* Files of data sets are found beside the model; who made it may have put a pipe
 * or a device there. */
bool
test_is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) != 0 || S_ISREG(st.st_mode) ||
	       cli_error(
		       "%s is no plain file; remove it, or name other folders "
		       "of data",
		       path);
}

bool
harness_read(struct harness *h, const char *folder, const char *kind, int i,
	     struct array *out)
{
	const char *path = arena_printf(&h->m->arena, "%s/%s_%d.pb", folder,
					kind, i);
	struct array *list;
	int n;

	if (!test_is_file(path) || !arrays_read(h->m, path, NULL, &list, &n)) {
		return false;
	}
	*out = list[0];
	return true;
}

/* The constant that is the model's input at this position; false: there is
 * none. */
static bool
constant_at(const struct harness *h, int position, struct tirc_const_input *out)
{
	for (int i = 0; i < tirc_const_input_count(h->t); i++) {
		*out = tirc_const_input(h->t, i);
		if (out->position == position) {
			return true;
		}
	}
	return false;
}

/* Is the array of the data set what the model was compiled for? */
static bool
check_constant(struct harness *h, const char *folder,
	       const struct tirc_const_input *c)
{
	struct array a;
	struct dtype type;
	bool same;

	if (!harness_read(h, folder, "input", c->position, &a)) {
		return false;
	}
	same = dtype_from_name(c->dtype, &type) && array_is(&a, type) &&
	       a.ndim == c->ndim;
	for (int d = 0; same && d < a.ndim; d++) {
		same = a.shape[d] == c->dims[d];
	}
	same = same && memcmp(a.data, c->data, (size_t)c->bytes) == 0;
	return same || cli_error("input '%s' of %s is not the constant that "
				 "--const-input gives",
				 c->name, folder);
}

/* Is the input at this position among the others, without constants, a state? */
static bool
is_state(const struct harness *h, int position)
{
	for (int i = 0; i < tirc_state_count(h->t); i++) {
		if (tirc_state(h->t, i).input == position) {
			return true;
		}
	}
	return false;
}

/* Reads the inputs of the data set that are neither constants nor states. */
static bool
read_inputs(struct harness *h, const char *folder, struct array *inputs)
{
	int n = tirc_input_count(h->t) + tirc_const_input_count(h->t) +
		tirc_state_count(h->t);
	struct tirc_const_input c;
	int next = 0, variable = 0;

	for (int i = 0; i < n; i++) {
		if (constant_at(h, i, &c)) {
			if (!check_constant(h, folder, &c)) {
				return false;
			}
		} else if (!is_state(h, variable++) &&
			   !harness_read(h, folder, "input", i,
					 &inputs[next++])) {
			return false;
		}
	}
	return true;
}

/* The state that is the model's output at this position; -1: none is. */
static int
state_at(const struct harness *h, int position)
{
	for (int i = 0; i < tirc_state_count(h->t); i++) {
		if (tirc_state(h->t, i).output == position) {
			return i;
		}
	}
	return -1;
}

/* The result of the model that its output at this position is. *next: the
 * number of the next output that is no state. */
static int
result_at(const struct harness *h, int position, int *next)
{
	int state = state_at(h, position);

	return state >= 0 ? tirc_output_count(h->t) + state : (*next)++;
}

/* The next data set runs with the states that this one leaves. */
static bool
test_folder(struct harness *h, const char *folder)
{
	int n_in = tirc_input_count(h->t), n_out = harness_results(h), next = 0;
	struct array *inputs = arena_array(&h->m->arena, struct array,
					   n_in + 1);
	struct array *got = arena_array(&h->m->arena, struct array, n_out + 1);
	struct array *want = arena_array(&h->m->arena, struct array, n_out + 1);
	struct pair *pairs = arena_array(&h->m->arena, struct pair, n_out + 1);
	const char *slash = strrchr(folder, '/');
	bool same;

	if (!read_inputs(h, folder, inputs) || !harness_run(h, inputs, got)) {
		return false;
	}
	for (int i = 0; i < n_out; i++) {
		int at = result_at(h, i, &next);

		if (!harness_read(h, folder, "output", i, &want[i])) {
			return false;
		}
		if (want[i].is_string && want[i].ndim == got[at].ndim) {
			/* strings that are too long differ in their shape */
			got[at].is_string = true;
			harness_fit_strings(h, &want[i],
					    got[at].shape[got[at].ndim - 1]);
		}
		pairs[at] = (struct pair){ .where = slash != NULL ? slash + 1
								  : folder,
					   .got = &got[at],
					   .want = &want[i] };
		if (at < tirc_output_count(h->t)) {
			pairs[at].step = tirc_output(h->t, at).step;
		}
	}
	same = harness_compare(h, inputs, pairs, n_out);
	return harness_set_states(h, got + tirc_output_count(h->t)) && same;
}

static int
by_name(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

static int
is_test_data(const struct dirent *entry)
{
	return strncmp(entry->d_name, "test_data_set_", 14) == 0;
}

int
test_folders(struct arena *a, const char *model, const char ***out)
{
	const char *slash = strrchr(model, '/');
	const char *beside = slash != NULL
				     ? arena_strndup(a, model,
						     (size_t)(slash - model))
				     : ".";
	struct dirent **entries;
	int n = scandir(beside, &entries, is_test_data, by_name);

	*out = arena_array(a, const char *, n < 0 ? 1 : n + 1);
	for (int i = 0; i < n; i++) {
		(*out)[i] = arena_printf(a, "%s/%s", beside,
					 entries[i]->d_name);
		free(entries[i]);
	}
	if (n >= 0) {
		free(entries);
	}
	return n < 0 ? 0 : n;
}

int
harness_folders(struct harness *h, const char ***out)
{
	return test_folders(&h->m->arena, h->cli->model, out);
}

/* A --const-input without a value has that of the first data set. */
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
			list[i] = arena_printf(a, "%s=@%s/input_*.pb", list[i],
					       folders[0]);
		}
	}
	c->tirc.const_inputs = list;
}

int
cmd_test(struct cli *c)
{
	struct harness h;
	struct arena names;
	const char **folders = c->rest;
	int n = c->n_rest, passed = 0;
	bool ok;

	cli_use_machine(c);
	c->has_summary = !c->each_region;
	if (c->each_region) {
		return test_each_region(c);
	}
	arena_init(&names);
	complete_const_inputs(&names, c);
	ok = harness_open(&h, c);

	if (ok && n == 0) {
		n = harness_folders(&h, &folders);
		if (n == 0) {
			say(stderr,
			    "error: there is no test_data_set_* beside "
			    "%s; give the folders to use\n",
			    c->model);
		}
	}
	ok = ok && harness_set_states(&h, NULL);
	for (int i = 0; ok && i < n; i++) {
		passed += test_folder(&h, folders[i]);
	}
	if (ok && n > 0 && tirc_summary(h.t).simulator != NULL) {
		ok = harness_board(&h);
	}
	if (ok && !c->quiet && n > 0) {
		cli_print_target(c);
		say(stdout, "%d of %d data set%s passed\n", passed, n,
		    n == 1 ? "" : "s");
	}
	harness_close(&h);
	arena_release(&names);
	return ok && n > 0 && passed == n ? CLI_DONE : CLI_INPUT;
}
