/* SPDX-License-Identifier: Apache-2.0 */
/* Reads how a dialect spells short vectors, or why it has none. */
#include <string.h>

#include "dialect_load.h"

static void
read_parts(struct loader *l, struct json j, struct vector_forms *v)
{
	for (int i = 0; i < json_length(j); i++) {
		const char *name = json_text(json_at(j, i), false);
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

/* Reads the names of the language's own vector types; the keys are tirc's
 * names: f32x4. */
void
dialect_read_spelled(void *ctx, struct json j)
{
	struct loader *l = ctx;
	const cJSON *item;

	cJSON_ArrayForEach(item, j.value)
	{
		struct vector_name one = {
			.spelling = json_text(json_get(j, item->string), false),
		};

		if (dtype_from_name(item->string, &one.type)) {
			vec_push(&l->m->arena, &l->d->vectors.spelled, one);
		}
	}
}

static void
read_forms(struct loader *l, struct json rows, struct vector_forms *v)
{
	for (int i = 0; i < FORM_COUNT; i++) {
		struct json row = json_get(rows, form_key((enum form_id)i));

		if (row.value != NULL) {
			v->forms[i] = dialect_read_form(l, row);
			dialect_check_operands(row, v->forms[i],
					       (enum form_id)i);
			v->computes = true;
		}
	}
}

void
dialect_read_vectors(void *ctx, struct json j)
{
	struct loader *l = ctx;
	struct vector_forms *v = &l->d->vectors;

	v->file = json_file(json_get(j, "rejected"));
	if (v->rejected != NULL) {
		*v = (struct vector_forms){ .rejected = v->rejected,
					    .file = v->file };
		return;
	}
	if (v->read != NULL && v->write == NULL) {
		json_error(json_get(j, "write"), "is missing");
	}
	if (v->load_part != NULL && v->store_part == NULL) {
		json_error(json_get(j, "store_part"), "is missing");
	}
	if (v->load_part != NULL) {
		read_parts(l, json_get(j, "part_types"), v);
	}
	if (v->load_part != NULL && v->loop.n == 0) {
		json_error(json_get(j, "loop"), "loops over parts of vectors "
						"are wanted beside load_part");
	}
	read_forms(l, json_get(j, "expressions"), v);
	if (strcmp(l->fp, "strict") == 0) {
		/* no fused multiply-add in strict mode, where each operation is
		 * rounded */
		v->forms[FORM_FMA] = NULL;
	}
	/* There must be a vector type for elements of an array that has only
	 * the alignment of an element. */
	if (v->computes && v->name != NULL &&
	    strstr(v->name, "loose}}") == NULL) {
		json_error(json_get(j, "name"),
			   "vectors that lie where only "
			   "elements may have to be of another type: "
			   "{{#loose}}, which the name must tell, is set for "
			   "it, and its definition must not be aligned more");
	}
}
