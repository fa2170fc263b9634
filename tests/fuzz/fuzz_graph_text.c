/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the text of a graph: a refusal is one message with a place, and
 * what is taken reads back from its own text. */
#include <stdlib.h>

#include "graph_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct module *m = module_new();
	struct source src = { "fuzz.txt", (const char *)data, size };
	struct graph *g = graph_read(m, &src, size % 2 == 0);

	if (g ? !graph_verify_text(g)
	      : m->diags.n_errors != 1 ||
			    m->diags.list.data[0].place.line < 1) {
		abort();
	}
	module_free(m);
	return 0;
}
