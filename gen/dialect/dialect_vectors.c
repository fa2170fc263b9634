/* SPDX-License-Identifier: Apache-2.0 */
/* How a dialect spells vectors of a few numbers, or why it does not. */
#include <string.h>

#include "dialect_load.h"

static void
read_parts(struct loader *l, struct json j, struct vector_forms *v)
{
	for (int i = 0; i < json_length(j); i++) {
		const char *name = json_text(json_at(j, i), true);
		struct dtype t;

		if (name != NULL && dtype_from_name(name, &t) && t.lanes > 1) {
			vec_push(&l->m->arena, &v->parts, t);
		} else {
			json_error(json_at(j, i), "a vector such as f32x4 is "
						  "wanted here");
		}
	}
	if (v->parts.n == 0) {
		json_error(j, "the vectors that load_part is for are wanted "
			      "here");
	}
}

/* Types that the language names itself, by our names: f32x4. */
static void
read_spelled(struct loader *l, struct json j, struct vector_forms *v)
{
	enum { LANES_MOST = 16, WIDTHS = 4 };
	const char *words[DT_COUNT * WIDTHS];
	int n = 0;

	if (j.value == NULL || !json_is_object(j, true)) {
		return;
	}
	for (int kind = 0; kind < DT_COUNT; kind++) {
		for (int lanes = 2; lanes <= LANES_MOST; lanes *= 2) {
			struct vector_name one = {
				{ (uint16_t)kind, (uint16_t)lanes }, NULL
			};
			const char *word = arena_printf(&l->m->arena, "%sx%d",
							dtype_short(one.type),
							lanes);

			words[n++] = word;
			one.spelling = json_text(json_get(j, word), false);
			if (one.spelling != NULL) {
				vec_push(&l->m->arena, &v->spelled, one);
			}
		}
	}
	json_check_keys(j, dialect_joined(l, words, n));
}

void
dialect_read_vectors(struct loader *l, struct json j)
{
	struct vector_forms *v = &l->d->vectors;
	struct json rows = json_get(j, "expressions");
	const char *words[FORM_COUNT];

	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, "rejected before spelled name define elements store "
			   "load_part store_part part_types loop loop_end "
			   "read write expressions");
	v->rejected = json_text(json_get(j, "rejected"), false);
	v->file = json_file(json_get(j, "rejected"));
	if (v->rejected != NULL) {
		return;
	}
	v->before = dialect_read_names(json_get(j, "before"));
	read_spelled(l, json_get(j, "spelled"), v);
	v->name = json_text(json_get(j, "name"), true);
	v->define = json_text(json_get(j, "define"), true);
	v->elements = json_text(json_get(j, "elements"), true);
	v->store = json_text(json_get(j, "store"), false);
	v->read = json_text(json_get(j, "read"), false);
	v->write = json_text(json_get(j, "write"), v->read != NULL);
	v->load_part = json_text(json_get(j, "load_part"), false);
	v->store_part = json_text(json_get(j, "store_part"),
				  v->load_part != NULL);
	v->loop = dialect_read_names(json_get(j, "loop"));
	v->loop_end = dialect_read_names(json_get(j, "loop_end"));
	if (v->load_part != NULL) {
		read_parts(l, json_get(j, "part_types"), v);
	}
	if (v->load_part != NULL && v->loop.n == 0) {
		json_error(json_get(j, "loop"), "loops over parts of vectors "
						"are wanted beside load_part");
	}
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
			dialect_check_operands(row, v->forms[i],
					       (enum form_id)i);
			v->computes = true;
		}
	}
	if (strcmp(l->fp, "strict") == 0) {
		v->forms[FORM_FMA] = NULL; /* each operation is rounded */
	}
	/* Arrays of vectors may lie where their elements may. */
	if (v->computes && v->name != NULL &&
	    strstr(v->name, "loose}}") == NULL) {
		json_error(json_get(j, "name"),
			   "vectors that lie where only "
			   "elements may have to be of another type: "
			   "{{#loose}}, which the name must tell, is set for "
			   "it, and its definition must not be aligned more");
	}
}
