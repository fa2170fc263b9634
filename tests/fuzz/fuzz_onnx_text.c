/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a model, as functions and as a module of Relay: a message comes out whose slim copy the
 * importer can make, or a refusal with the line. */
#include <stdlib.h>

#include "onnx_text.h"
#include "relay_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef bool read_fn(struct module *m, const struct source *src,
		     struct strbuf *out);

static void
check(read_fn *read, const uint8_t *data, size_t size)
{
	const struct source src = { "fuzz.onnxtxt", (const char *)data, size };
	struct module *m = module_new();
	struct strbuf out, slim;
	const char *why;
	size_t bad;

	strbuf_init(&out);
	strbuf_init(&slim);
	if (!read(m, &src, &out)) {
		if (m->diags.n_errors != 1 ||
		    m->diags.list.data[0].place.line < 1) {
			abort();
		}
	} else if (!wire_slim((const uint8_t *)out.data, out.len, WIRE_MODEL,
			      &slim, &bad, &why)) {
		abort();
	}
	strbuf_release(&slim);
	strbuf_release(&out);
	module_free(m);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	(void)onnx_is_text(data, size);
	check(onnx_text_model, data, size);
	check(onnx_text_functions, data, size);
	(void)relay_is_text(data, size);
	check(relay_text_model, data, size);
	return 0;
}
