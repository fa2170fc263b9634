/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a model and as functions: a message comes out that is well-formed in
 * protobuf's wire format, or a refusal with the line. */
#include <stdlib.h>

#include "onnx_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef bool read_fn(struct module *m, const struct source *src,
		     struct strbuf *out);

static void
check(read_fn *read, const uint8_t *data, size_t size)
{
	const struct source src = { "fuzz.onnxtxt", (const char *)data, size };
	struct module *m = module_new();
	struct wire_reader r;
	struct strbuf out;
	struct wire_field f;

	strbuf_init(&out);
	if (!read(m, &src, &out)) {
		if (m->diags.n_errors != 1 ||
		    m->diags.list.data[0].place.line < 1) {
			abort();
		}
	} else {
		r.at = (const uint8_t *)out.data;
		r.end = r.at + out.len;
		while (wire_next(&r, &f)) {
		}
		if (r.at != r.end) {
			abort();
		}
	}
	strbuf_release(&out);
	module_free(m);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	(void)onnx_is_text(data, size);
	check(onnx_text_model, data, size);
	check(onnx_text_functions, data, size);
	return 0;
}
