/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that a program made, as source. */
#include "emit.h"

#include "program.h"

bool
program_source(struct module *m, const struct program_result *list,
	       const struct program_options *o, const char *target,
	       struct strbuf *out)
{
	const struct target *t = target_load(m, target, o->dialect_path);
	const struct dialect *d = t ? dialect_load(m, t->dialect,
						   o->dialect_path) : NULL;

	for (int i = 0; d && i < list->funcs.n; i++) {
		strbuf_puts(out, i ? "\n" : "");
		if (!emit_func(m, d, list->funcs.data[i].func, out)) {
			return false;
		}
	}
	return d != NULL;
}

const char *
program_source_name(struct module *m, const struct program_options *o,
		    const char *target)
{
	(void)m; (void)target;
	return o->stem;
}
