/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a dialect, in each mode of floating point, and as a target: a
 * refusal has a message. */
#define _DEFAULT_SOURCE
#include "fuzz_folder.h"

#include "dialects.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool
is_good(const char *mode)
{
	struct module *m = module_new();
	bool good = (mode != NULL ? (const void *)dialect_load_fp(m, "fuzz",
								  fuzz_folder(),
								  mode)
				  : (const void *)target_load(m, "fuzz",
							      fuzz_folder())) !=
		    NULL;

	if (good != (m->diags.n_errors == 0)) {
		abort();
	}
	module_free(m);
	return good;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_write("fuzz/dialect.json", data, size);
	if (is_good("default")) {
		is_good("strict");
		is_good("fast");
	} else {
		fuzz_write("fuzz.json", data, size);
		is_good(NULL);
	}
	return 0;
}
