/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes: the names of a program and their values. */
#include "eval.h"

#include <string.h>

struct pval *
eval_scope_find(struct eval *ev, struct scope *s, const char *name)
{
	const struct scope *first = s;

	for (; s; s = s->parent) {
		if (s->of && s != first) {
			continue;
		}
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

	for (int i = 0; i < s->links.n; i++) {
		if (strcmp(s->links.data[i].name, name) == 0) {
			s = s->links.data[i].to;
			break;
		}
	}

	ev->steps += s->names.n / 16;
	for (int i = 0; i < s->names.n; i++) {
		if (strcmp(s->names.data[i].name, name) == 0) {
			s->names.data[i].value = *v;
			return;
		}
	}
	vec_push(ev->a, &s->names, entry);
}

bool
scope_has(const struct scope *s, const char *name)
{
	for (int i = 0; i < s->names.n; i++) {
		if (strcmp(s->names.data[i].name, name) == 0) {
			return true;
		}
	}
	return false;
}

bool
scope_delete(struct scope *s, const char *name)
{
	for (int i = 0; i < s->names.n; i++) {
		if (strcmp(s->names.data[i].name, name) == 0) {
			s->names.data[i] = s->names.data[--s->names.n];
			return true;
		}
	}
	return false;
}
