/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as TVMScript: a refusal is one message with a place, and what is
 * taken is sound and survives being printed and read. */
#include <stdlib.h>

#include "script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct module *m = module_new();
	struct source src = { "fuzz.py", (const char *)data, size };

	if (!script_read(m, &src)) {
		if (m->diags.n_errors != 1 || m->funcs.n != 0 ||
		    m->diags.list.data[0].place.line < 1 ||
		    !m->diags.list.data[0].place.excerpt) {
			abort();
		}
	} else {
		for (int i = 0; i < m->funcs.n; i++) {
			if (!func_verify(m->funcs.data[i]) ||
			    !func_verify_text(m->funcs.data[i])) {
				abort();
			}
		}
	}
	module_free(m);
	return 0;
}
