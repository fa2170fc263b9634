/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a tensor program: it comes to an end within its budget, a
 * refusal has a message, and what was made holds together. */
#include <stdlib.h>

#include "program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
print(void *ctx, const char *text, size_t length)
{
	size_t *total = ctx;

	*total += length + (text[0] != '\0');
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct module *m = module_new();
	struct source src = { "fuzz.py", (const char *)data, size };
	size_t total = 0;
	struct program_options o = {
		.stem = "fuzz",
		.max_steps = 30000,
		.max_bytes = 64 << 20,
		.print = print,
		.ctx = &total,
	};
	struct program_result result;
	struct strbuf text;

	if (!program_run(m, &src, &o, &result)) {
		if (m->diags.n_errors == 0) {
			abort();
		}
	} else {
		for (int i = 0; i < result.funcs.n; i++) {
			if (!func_verify(result.funcs.data[i].func)) {
				abort();
			}
		}
	}
	strbuf_init(&text);
	for (int i = 0; i < m->diags.list.n; i++) {
		if (m->diags.list.data[i].id == DIAG_VERIFY) {
			abort();
		}
		diag_format(&m->diags.list.data[i], &text);
	}
	strbuf_release(&text);
	module_free(m);
	return 0;
}
