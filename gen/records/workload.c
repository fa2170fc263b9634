/* SPDX-License-Identifier: Apache-2.0 */
/* The key of a kernel: it identifies the computation with the types and shapes
 * of the arrays. */
#include "digest.h"
#include "records.h"

const char *
workload_key(const struct func *f, const bool *is_weight)
{
	struct module *m = f->module;
	struct func *same = func_clone(f, "main");
	struct digest d;
	struct strbuf text;

	strbuf_init(&text);
	func_print(same, SCRIPT_CURRENT, &text);
	for (int i = 0; i < f->params.n; i++) {
		strbuf_putc(&text, is_weight[i] ? 'w' : '-');
	}
	digest_start(&d);
	digest_add(&d, text.data, text.len);
	strbuf_release(&text);
	return arena_printf(&m->arena, "%016llx",
			    (unsigned long long)digest_end(&d));
}
