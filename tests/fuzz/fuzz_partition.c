/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a partition: what comes in holds together, goes out as text and
 * comes in again; a refusal has a message. */
#include <stdlib.h>

#include "partition.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct graph *
read(struct module *m, const char *text, struct onnx_file **file)
{
	struct partition_facts facts = { 0 };
	struct graph *g = partition_read_text(m, "fuzz.json", NULL, text,
					      &facts, file);

	if (g ? !graph_verify(g) : m->diags.n_errors == 0) {
		abort();
	}
	return g;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct partition_facts none = { 0 };
	struct module *m = module_new();
	struct onnx_file *file, *again = NULL;
	char *text = arena_strndup(&m->arena, (const char *)data, size);
	struct graph *g = read(m, text, &file);
	struct strbuf out;

	strbuf_init(&out);
	/* Large constants would only take time. */
	for (int i = 0; g && i < g->tensors.n; ++i) {
		const struct tensor *t = g->tensors.data[i];

		if (t->value && t->value->elems > 1 << 20) {
			g = NULL;
		}
	}
	if (g && partition_text(g, &none, "/dev/null", NULL, &out) &&
	    strstr(out.data, "\"offset\"") == NULL) {
		if (!read(m, out.data, &again)) {
			abort();
		}
	}
	strbuf_release(&out);
	onnx_file_close(again);
	onnx_file_close(file);
	module_free(m);
	return 0;
}
