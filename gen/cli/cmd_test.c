/* SPDX-License-Identifier: Apache-2.0 */
/* tirc test: compares the emitted C with ONNX test data. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"

bool
harness_read(struct harness *h, const char *folder, const char *kind, int i,
	     struct array *out)
{
	const char *path = arena_printf(&h->m->arena, "%s/%s_%d.pb", folder,
					kind, i);
	struct array *list;
	int n;

	if (!arrays_read(h->m, path, &list, &n)) {
		return false;
	}
	*out = list[0];
	return true;
}

static bool
test_folder(struct harness *h, const char *folder)
{
	int n_in = tirc_input_count(h->t);
	int n_out = tirc_output_count(h->t);
	struct array *inputs = arena_array(&h->m->arena, struct array,
					   n_in + 1);
	struct array *got = arena_array(&h->m->arena, struct array, n_out + 1);
	struct array *want = arena_array(&h->m->arena, struct array, n_out + 1);
	struct pair *pairs = arena_array(&h->m->arena, struct pair, n_out + 1);
	const char *slash = strrchr(folder, '/');

	for (int i = 0; i < n_in; i++) {
		if (!harness_read(h, folder, "input", i, &inputs[i])) {
			return false;
		}
	}
	if (!harness_run(h, inputs, got)) {
		return false;
	}
	for (int i = 0; i < n_out; i++) {
		if (!harness_read(h, folder, "output", i, &want[i])) {
			return false;
		}
		pairs[i] = (struct pair){ .where = slash != NULL ? slash + 1
								 : folder,
					  .got = &got[i],
					  .want = &want[i],
					  .step = tirc_output(h->t, i).step };
	}
	return harness_compare(h, inputs, pairs, n_out);
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
harness_folders(struct harness *h, const char ***out)
{
	const char *model = h->cli->model;
	const char *slash = strrchr(model, '/');
	const char *beside = slash != NULL
				     ? arena_strndup(&h->m->arena, model,
						     (size_t)(slash - model))
				     : ".";
	struct dirent **entries;
	int n = scandir(beside, &entries, is_test_data, by_name);

	*out = arena_array(&h->m->arena, const char *, n < 0 ? 1 : n + 1);
	for (int i = 0; i < n; i++) {
		(*out)[i] = arena_printf(&h->m->arena, "%s/%s", beside,
					 entries[i]->d_name);
		free(entries[i]);
	}
	if (n >= 0) {
		free(entries);
	}
	return n < 0 ? 0 : n;
}

int
cmd_test(struct cli *c)
{
	struct harness h;
	const char **folders = c->rest;
	int n = c->n_rest, passed = 0;
	bool ok;

	if (c->each_region) {
		return test_each_region(c);
	}
	ok = harness_open(&h, c);

	if (ok && n == 0) {
		n = harness_folders(&h, &folders);
		if (n == 0) {
			fprintf(stderr,
				"error: there is no test_data_set_* beside "
				"%s; give the folders to use\n",
				c->model);
		}
	}
	for (int i = 0; ok && i < n; i++) {
		passed += test_folder(&h, folders[i]);
	}
	if (ok && !c->quiet && n > 0) {
		printf("%d of %d data set%s passed\n", passed, n,
		       n == 1 ? "" : "s");
	}
	harness_close(&h);
	return ok && n > 0 && passed == n ? CLI_DONE : CLI_INPUT;
}
