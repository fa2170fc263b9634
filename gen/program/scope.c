/* SPDX-License-Identifier: Apache-2.0 */
/* The names of a program and their values. */
#include "eval.h"

#include <string.h>

struct pval *
eval_scope_find(struct eval *ev, struct scope *s, const char *name)
{
	for (; s; s = s->parent) {
		ev->steps += s->names.n / 16;
		for (int i = s->names.n - 1; i >= 0; i--) {
			if (strcmp(s->names.data[i].name, name) == 0) {
				return &s->names.data[i].value;
			}
		}
	}
	return NULL;
}

void
eval_scope_set(struct eval *ev, struct scope *s, const char *name,
	       const struct pval *v)
{
	struct scope_entry entry = { name, *v };

	ev->steps += s->names.n / 16;
	for (int i = 0; i < s->names.n; i++) {
		if (strcmp(s->names.data[i].name, name) == 0) {
			s->names.data[i].value = *v;
			return;
		}
	}
	vec_push(ev->a, &s->names, entry);
}
