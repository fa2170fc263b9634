/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a backend; one that is good takes what it can of a model, all the
 * way to the text of its regions: a refusal has a message, and nothing is a bug
 * of ours. */
#define _GNU_SOURCE
#include "fuzz_folder.h"

#include <string.h>

#include "backend_load.h"
#include "fuzz_model.h"

static const char text[] =
	"{{#matches}}/* {{nodes}} */{{#steps}}{{op}}{{/steps}}\n{{/matches}}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool
has(const uint8_t *data, size_t size, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= size; i++) {
		if (memcmp(data + i, word, n) == 0) {
			return true;
		}
	}
	return false;
}

static bool
is_good(void)
{
	struct module *m = module_new();
	const struct backend *b = backend_load(m, "fuzz", fuzz_folder(), NULL);
	bool good = b != NULL;

	if (good != (m->diags.n_errors == 0)) {
		abort();
	}
	if (good) {
		backend_close(b);
	}
	module_free(m);
	return good;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const files[] = {
		"fuzz/region.tmpl",
		"fuzz/members.tmpl",
		"fuzz/shared.tmpl",
		"fuzz/shared_members.tmpl",
	};
	static const char *const names[] = { "fuzz" };
	const struct tirc_options options = {
		.byoc = names,
		.n_byoc = 1,
		.byoc_path = fuzz_folder(),
		.explain = true,
	};

	/* What such a pass says is run. */
	if (has(data, size, "command") || has(data, size, "object") ||
	    has(data, size, "\\u")) {
		return -1;
	}
	fuzz_write("fuzz/backend.json", data, size);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		fuzz_write(files[i], text, sizeof text - 1);
	}
	if (is_good()) {
		fuzz_compile(&options, FUZZ_MODEL);
	}
	return 0;
}
