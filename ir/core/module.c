/* SPDX-License-Identifier: Apache-2.0 */
/* A module, which owns all data of one compilation. */
#include "module.h"

#include <stdlib.h>

#include "func.h"

struct module *
module_new(void)
{
	struct module *m = calloc(1, sizeof *m);

	if (!m) {
		memory_exhausted();
	}
	arena_init(&m->arena);
	diags_init(&m->diags, &m->arena);
	return m;
}

void
module_free(struct module *m)
{
	if (!m) {
		return;
	}
	free(m->exprs.slot);
	arena_release(&m->arena);
	free(m);
}

struct func *
module_find_func(const struct module *m, const char *name)
{
	for (int i = 0; i < m->funcs.n; i++) {
		if (strcmp(m->funcs.data[i]->name, name) == 0) {
			return m->funcs.data[i];
		}
	}
	return NULL;
}
