/* SPDX-License-Identifier: Apache-2.0 */
/* How a dialect spells vectors of a few numbers, or why it does not. */
#include "dialect_load.h"

void
dialect_read_vectors(struct loader *l, struct json j)
{
	struct vector_forms *v = &l->d->vectors;
	struct json rows = json_get(j, "expressions");
	const char *words[FORM_COUNT];

	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, "rejected before name define elements "
			"expressions");
	v->rejected = json_text(json_get(j, "rejected"), false);
	if (v->rejected != NULL) {
		return;
	}
	v->before = dialect_read_names(json_get(j, "before"));
	v->name = json_text(json_get(j, "name"), true);
	v->define = json_text(json_get(j, "define"), true);
	v->elements = json_text(json_get(j, "elements"), true);
	if (!json_is_object(rows, true)) {
		return;
	}
	for (int i = 0; i < FORM_COUNT; i++) {
		words[i] = form_key((enum form_id)i);
	}
	json_check_keys(rows, dialect_joined(l, words, FORM_COUNT));
	for (int i = 0; i < FORM_COUNT; i++) {
		struct json row = json_get(rows, words[i]);

		if (row.value != NULL && json_is_object(row, true)) {
			v->forms[i] = dialect_read_form(l, row);
		}
	}
}
