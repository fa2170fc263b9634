/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a model: import, upgrade, inference. A graph that comes out
 * holds together, and its text reads back; a refusal has a message. */
#include <stdlib.h>

#include "graph_text.h"
#include "onnx_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct module *m = module_new();
	struct onnx_file *file;
	struct graph *g = onnx_import_bytes(m, "fuzz.onnx", data, size, NULL,
					    &file);
	struct strbuf text;

	if (g ? !graph_verify(g) || !graph_verify_text(g)
	      : m->diags.n_errors == 0) {
		abort();
	}
	strbuf_init(&text);
	if (g) {
		graph_print(g, &text);
	}
	for (int i = 0; i < m->diags.list.n; ++i) {
		diag_format(&m->diags.list.data[i], &text);
	}
	strbuf_release(&text);
	onnx_file_close(file);
	module_free(m);
	return 0;
}
