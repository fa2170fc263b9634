/* SPDX-License-Identifier: Apache-2.0 */
/* Reads data sets: the files input_*.pb and output_*.pb of a folder, or files
 * whose arrays have the names of inputs and outputs. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "data_set.h"
#include "slots.h"
#include "text.h"

bool
test_is_plain(const char *path, bool follow)
{
	struct stat st;

	return follow ? stat(path, &st) != 0 || S_ISREG(st.st_mode)
		      : lstat(path, &st) != 0 ||
				(S_ISREG(st.st_mode) && st.st_nlink == 1);
}

/* Is the path that of a regular file, or of no file? For any other file prints
 * an error message and returns false, because opening a pipe or a device may
 * block or change it. */
bool
test_is_file(const char *path)
{
	return test_is_plain(path, true) ||
	       cli_error("%s is not a regular file; copy its contents to one",
			 path);
}

/* Is the archive a regular file without links, or absent? Returns false after
 * an error message otherwise: an archive beside a model may come from a
 * stranger, and a link in its place could lead to a private file elsewhere. */
static bool
is_no_link(const char *path)
{
	return test_is_plain(path, false) ||
	       cli_error("%s is a link or not a regular file; copy it, or name "
			 "it on the command line",
			 path);
}

/* -- folders -- */

/* Reads file number i of a kind, "input" or "output", in a folder. */
static bool
read_pb(struct harness *h, const char *folder, const char *kind, int i,
	struct array *out)
{
	return arrays_read_set(h->m, folder,
			       arena_printf(&h->m->arena, "%s_%d.pb", kind, i),
			       out);
}

bool
test_constant_at(const struct harness *h, int position,
		 struct tirc_const_input *out)
{
	for (int i = 0; i < tirc_const_input_count(h->t); i++) {
		*out = tirc_const_input(h->t, i);
		if (out->position == position) {
			return true;
		}
	}
	return false;
}

/* Is the array of the data set equal to the constant that --const-input gives?
 * Returns false after an error message otherwise. */
static bool
check_constant(const struct array *a, const char *where,
	       const struct tirc_const_input *c)
{
	struct dtype type;
	bool same;

	same = dtype_from_name(c->dtype, &type) && array_is(a, type) &&
	       a->ndim == c->ndim;
	for (int d = 0; same && d < a->ndim; d++) {
		same = a->shape[d] == c->dims[d];
	}
	same = same && memcmp(a->data, c->data, (size_t)c->bytes) == 0;
	return same || cli_error("input '%s' of %s is not the constant that "
				 "--const-input gives",
				 c->name, where);
}

/* Reads the inputs that the program has: it leaves out states, and compares
 * constants of --const-input with those of the compilation. Returns false after
 * an error. */
static bool
read_inputs(struct harness *h, const char *folder, struct array *inputs)
{
	int n = tirc_input_count(h->t) + tirc_const_input_count(h->t) +
		tirc_state_count(h->t);
	struct tirc_const_input c;
	int next = 0, variable = 0;

	for (int i = 0; i < n; i++) {
		struct array a = { 0 };

		if (test_constant_at(h, i, &c)) {
			if (!read_pb(h, folder, "input", i, &a) ||
			    !check_constant(&a, folder, &c)) {
				return false;
			}
		} else if (state_of_input(h->t, variable++) < 0 &&
			   !read_pb(h, folder, "input", i, &inputs[next++])) {
			return false;
		}
	}
	return true;
}

/* Reads the expected outputs, which are in the order of the model, to
 * out->want, where the states come after all other outputs. Returns false after
 * an error. */
static bool
read_outputs(struct harness *h, const char *folder, struct data_set *out)
{
	int next = 0;

	for (int i = 0; i < harness_results(h); i++) {
		int state = state_of_output(h->t, i);
		int at = state >= 0 ? tirc_output_count(h->t) + state : next++;

		if (!read_pb(h, folder, "output", i, &out->want[at])) {
			return false;
		}
		out->expected[at] = true;
	}
	return true;
}

/* -- arrays by name -- */

static bool
have_inputs(const struct slots *s, const char *path)
{
	for (int i = 0; i < s->n; i++) {
		if (!s->given[i]) {
			return path != NULL
				       ? cli_error("%s has no array '%s', "
						   "which is an input",
						   path, s->tensors[i].name)
				       : cli_error("no data for input '%s'; "
						   "give --input %s=FILE",
						   s->tensors[i].name,
						   s->tensors[i].name);
		}
	}
	return true;
}

/* Notes the outputs for which the file has no array: they are not compared.
 * Returns false after an error message if no array of the file is for an
 * output. */
static bool
have_outputs(struct harness *h, const struct slots *s, const char *where)
{
	int n = 0;

	for (int i = 0; i < s->n; i++) {
		n += s->given[i];
	}
	if (n == 0) {
		return cli_error("%s: no array is an output; the first one of "
				 "the model is '%s'",
				 where, s->n > 0 ? s->tensors[0].name : "");
	}
	for (int i = 0; i < s->n && !h->cli->quiet; i++) {
		if (!s->given[i]) {
			cli_note("%s has no values for output '%s', which is "
				 "not compared",
				 where, s->tensors[i].name);
		}
	}
	return true;
}

static bool
read_archive(struct harness *h, const char *path, bool inputs_only,
	     struct data_set *out)
{
	struct slots lists[] = { slots_of_inputs(h), slots_of_constants(h),
				 slots_of_results(h) };

	if ((h->cli->n_rest == 0 && !is_no_link(path)) || !test_is_file(path) ||
	    !slots_take_archive(h, lists, inputs_only ? 2 : 3, inputs_only,
				path) ||
	    !have_inputs(&lists[0], path)) {
		return false;
	}
	for (int i = 0; i < lists[1].n; i++) {
		struct tirc_const_input c = tirc_const_input(h->t, i);

		if (lists[1].given[i] &&
		    !check_constant(&lists[1].arrays[i], path, &c)) {
			return false;
		}
	}
	out->inputs = lists[0].arrays;
	out->want = lists[2].arrays;
	out->expected = lists[2].given;
	return inputs_only || have_outputs(h, &lists[2], path);
}

static bool
read_options(struct harness *h, bool inputs_only, struct data_set *out)
{
	const struct cli *c = h->cli;
	struct slots inputs = slots_of_inputs(h);
	struct slots results = slots_of_results(h);

	for (int i = 0; i < c->n_inputs; i++) {
		if (!slots_take(h, &inputs, c->inputs[i])) {
			return false;
		}
	}
	for (int i = 0; !inputs_only && i < c->n_expected; i++) {
		if (!slots_take(h, &results, c->expected[i])) {
			return false;
		}
	}
	out->inputs = inputs.arrays;
	out->want = results.arrays;
	out->expected = results.given;
	return have_inputs(&inputs, NULL) &&
	       (inputs_only || have_outputs(h, &results, "--expect"));
}

/* Reads a data set, whose inputs may not have the model's types and shapes. */
static bool
read_arrays(struct harness *h, const char *path, bool inputs_only,
	    struct data_set *out)
{
	struct arena *a = &h->m->arena;
	int n = harness_results(h);

	if (path == NULL) {
		return read_options(h, inputs_only, out);
	}
	if (text_ends_in(path, ".npz")) {
		return read_archive(h, path, inputs_only, out);
	}
	out->inputs = arena_array(a, struct array, tirc_input_count(h->t) + 1);
	out->want = arena_array(a, struct array, n + 1);
	out->expected = arena_array(a, bool, n + 1);
	return read_inputs(h, path, out->inputs) &&
	       (inputs_only || read_outputs(h, path, out));
}

bool
data_set_read(struct harness *h, const char *path, bool inputs_only,
	      struct data_set *out)
{
	const char *slash = path != NULL ? strrchr(path, '/') : NULL;

	*out = (struct data_set){ .where = slash != NULL && slash[1] != '\0'
						   ? slash + 1
						   : path };
	if (path == NULL) {
		out->where = inputs_only ? "--input" : "--expect";
	}
	if (!read_arrays(h, path, inputs_only, out)) {
		return false;
	}
	for (int i = 0; i < tirc_input_count(h->t); i++) {
		if (!harness_fit_input(&h->m->arena, h->t, i,
				       &out->inputs[i])) {
			return false;
		}
	}
	return true;
}

bool
data_sets_check(struct harness *h, const char *const *paths, int n)
{
	struct data_set d;
	bool ok = true;

	for (int i = 0; ok && i < n; i++) {
		ok = data_set_read(h, paths[i], false, &d);
	}
	harness_messages(h);
	return ok;
}

/* -- lists -- */

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

/* Sets *out to the paths of the folders test_data_set_* in `folder`, sorted by
 * their numbers, and returns their number. */
static int
folders_in(struct arena *a, const char *folder, const char ***out)
{
	struct dirent **entries;
	int n = scandir(folder, &entries, is_test_data, by_name);

	*out = arena_array(a, const char *, n < 0 ? 1 : n + 1);
	for (int i = 0; i < n; i++) {
		(*out)[i] = arena_printf(a, "%s/%s", folder,
					 entries[i]->d_name);
		free(entries[i]);
	}
	if (n >= 0) {
		free(entries);
	}
	return n < 0 ? 0 : n;
}

int
test_folders(struct arena *a, const char *model, const char ***out)
{
	const char *slash = strrchr(model, '/');

	return folders_in(a,
			  slash != NULL ? arena_strndup(a, model,
							(size_t)(slash - model))
					: ".",
			  out);
}

void
data_set_open_folders(struct cli *c)
{
	VEC(const char *) paths = { 0 };

	for (int i = 0; i < c->n_rest; i++) {
		const char **found;
		int n = folders_in(&c->arena, c->rest[i], &found);

		for (int k = 0; k < n; k++) {
			vec_push(&c->arena, &paths, found[k]);
		}
		if (n == 0) {
			vec_push(&c->arena, &paths, c->rest[i]);
		}
	}
	c->rest = paths.data;
	c->n_rest = paths.n;
}

int
data_set_list(struct harness *h, const char ***out)
{
	const struct cli *c = h->cli;

	if (c->n_rest > 0) {
		*out = c->rest;
		return c->n_rest;
	}
	if (c->n_inputs > 0 || c->n_expected > 0) {
		*out = arena_array(&h->m->arena, const char *, 1);
		return 1;
	}
	return test_folders(&h->m->arena, c->model, out);
}
