/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the sizes that a model leaves open, from the shapes of the user's data:
 *
 *   frames is 16 in a.npz, 501 in b.npz     --dim frames=16..501
 *
 * The model is loaded with a range for each open size. A size has the name that
 * --dim takes. */
#include <string.h>

#include "data_set.h"
#include "process.h"
#include "text.h"

struct found {
	/* has the model with open sizes; no program is built */
	struct harness h;
	/* for each input: its shape in the present data set; ndim is 0 if the
	 * shape is not known */
	struct array *inputs;
	/* for each symbolic size: the least and the largest value found so far;
	 * 0: no value was found */
	int64_t *least, *most;
};

/* Is called for each array of an archive: notes its shape if the array is an
 * input, and leaves out its data. */
static enum array_use
note_shape(void *ctx, const struct array *a, int n)
{
	struct found *f = ctx;

	(void)n;
	for (int i = 0; i < tirc_input_count(f->h.t); i++) {
		struct tirc_tensor x = tirc_input(f->h.t, i);

		if (a->name != NULL && (strcmp(a->name, x.name) == 0 ||
					strcmp(a->name, x.identifier) == 0)) {
			f->inputs[i] = *a;
			f->inputs[i].shape =
				arena_copy(&f->h.m->arena, a->shape,
					   sizeof *a->shape * (size_t)a->ndim);
		}
	}
	return ARRAY_LEFT_OUT;
}

/* Reads the shape of the array in the file of an option --input. text: "FILE",
 * which is for input i, or "NAME=FILE". */
static bool
read_option(struct found *f, const char *text, int i)
{
	struct array_filter filter = { note_shape, f };
	const char *equals = strchr(text, '=');
	struct array *list;
	int n;

	for (int k = 0; equals != NULL && k < tirc_input_count(f->h.t); k++) {
		const char *name = tirc_input(f->h.t, k).name;

		if (strncmp(name, text, (size_t)(equals - text)) == 0 &&
		    name[equals - text] == '\0') {
			i = k;
			text = equals + 1;
			break;
		}
	}
	if (!test_is_plain(text, true) ||
	    !arrays_read(f->h.m, text,
			 text_ends_in(text, ".npz") ? &filter : NULL, &list,
			 &n)) {
		return false;
	}
	if (n == 1 && !text_ends_in(text, ".npz") &&
	    i < tirc_input_count(f->h.t)) {
		f->inputs[i] = list[0];
	}
	return true;
}

/* Reads input_0.pb, … of a folder. The positions of the files count the states,
 * which are still inputs of the model here, and the constants of --const-input,
 * which are not. Returns false after an error message. */
static bool
read_folder(struct found *f, const char *folder)
{
	struct tirc_const_input constant;
	int next = 0;

	for (int i = 0; next < tirc_input_count(f->h.t); i++) {
		if (test_constant_at(&f->h, i, &constant)) {
			continue;
		}
		if (state_of_input(f->h.t, next) < 0 &&
		    !arrays_read_set(f->h.m, folder,
				     arena_printf(&f->h.m->arena, "input_%d.pb",
						  i),
				     &f->inputs[next])) {
			return false;
		}
		next++;
	}
	return true;
}

static bool
read_shapes(struct found *f, const char *path)
{
	struct array_filter filter = { note_shape, f };
	struct array *list;
	bool ok = true;
	int n;

	f->inputs = arena_array(&f->h.m->arena, struct array,
				tirc_input_count(f->h.t) + 1);
	if (path == NULL) {
		for (int i = 0; ok && i < f->h.cli->n_inputs; i++) {
			ok = read_option(f, f->h.cli->inputs[i], i);
		}
		return ok;
	}
	return text_ends_in(path, ".npz")
		       ? test_is_plain(path, f->h.cli->n_rest > 0) &&
				 arrays_read(f->h.m, path, &filter, &list, &n)
		       : read_folder(f, path);
}

/* Widens the range of each size whose value follows from the shapes of this
 * data set. */
static void
note_sizes(struct found *f)
{
	int n = tirc_dim_count(f->h.t);
	int64_t *values = arena_array(&f->h.m->arena, int64_t, n + 1);

	harness_known_dims(&f->h, f->inputs, values);
	for (int d = 0; d < n; d++) {
		if (values[d] > 0) {
			f->least[d] = f->least[d] == 0 ||
						      values[d] < f->least[d]
					      ? values[d]
					      : f->least[d];
			f->most[d] = values[d] > f->most[d] ? values[d]
							    : f->most[d];
		}
	}
}

static bool
is_given(const struct cli *c, const char *name)
{
	for (int i = 0; i < c->tirc.n_dims; i++) {
		size_t length = strcspn(c->tirc.dims[i], "=");

		if (strncmp(c->tirc.dims[i], name, length) == 0 &&
		    name[length] == '\0') {
			return true;
		}
	}
	return false;
}

/* Adds an option --dim for each size that was found and that the user did not
 * give. */
static void
add_dims(struct found *f, struct cli *c)
{
	struct arena *a = &c->arena;
	int n = tirc_dim_count(f->h.t), kept = c->tirc.n_dims;
	const char **list = arena_array(a, const char *, kept + n + 1);
	const char *text = "";
	/* a size is not 1, which is what tirc compile assumes of a batch */
	bool others = false;

	for (int i = 0; i < kept; i++) {
		list[i] = c->tirc.dims[i];
	}
	for (int d = 0; d < n; d++) {
		const char *name = tirc_dim(f->h.t, d).name;

		if (f->most[d] == 0 || is_given(c, name)) {
			continue;
		}
		list[kept] = f->least[d] == f->most[d]
				     ? arena_printf(a, "%s=%lld", name,
						    (long long)f->most[d])
				     : arena_printf(a, "%s=%lld..%lld", name,
						    (long long)f->least[d],
						    (long long)f->most[d]);
		others |= f->most[d] != 1;
		text = arena_printf(a, "%s --dim %s", text,
				    command_quoted(a, list[kept]));
		kept++;
	}
	if (kept > c->tirc.n_dims && !c->quiet) {
		cli_note("sizes that the model leaves open are those of the "
			 "data:%s%s",
			 text,
			 others ? "; tirc compile writes the same source only "
				  "with these sizes"
				: "");
	}
	c->tirc.dims = list;
	c->tirc.n_dims = kept;
}

/* Sets *out to the paths of the data sets: those that the command line names;
 * if it names none, those beside the model. Returns the number of paths. */
static int
list_paths(struct cli *c, const char ***out)
{
	if (c->n_rest > 0 || c->n_inputs > 0) {
		*out = arena_array(&c->arena, const char *, c->n_rest + 1);
		for (int i = 0; i < c->n_rest; i++) {
			(*out)[i] = c->rest[i];
		}
		return c->n_rest > 0 ? c->n_rest : 1;
	}
	return test_folders(&c->arena, c->model, out);
}

void
data_sizes(struct cli *c)
{
	struct tirc_options open = c->tirc;
	struct found f = { .h = { .cli = c } };
	const char **paths;
	int n = list_paths(c, &paths), dims;

	if (n == 0 || tirc_is_partition(c->model)) {
		return;
	}
	open.open_sizes = true;
	open.n_print_after = 0;
	open.progress = NULL;
	f.h.t = tirc_new(&open);
	f.h.m = harness_module(c);
	/* No error is printed here, since the model and the data are read
	 * again. */
	if (tirc_load(f.h.t, c->model) && tirc_dim_count(f.h.t) > 0) {
		dims = tirc_dim_count(f.h.t);
		f.least = arena_array(&f.h.m->arena, int64_t, dims + 1);
		f.most = arena_array(&f.h.m->arena, int64_t, dims + 1);
		for (int i = 0; i < n; i++) {
			if (read_shapes(&f, paths[i])) {
				note_sizes(&f);
			}
		}
		add_dims(&f, c);
	}
	tirc_free(f.h.t);
	module_free(f.h.m);
}
