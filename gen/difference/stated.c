/* SPDX-License-Identifier: Apache-2.0 */
/* The options with which a folder's source was made, as the folder's NAME.json
 * states them. */
#include "snapshot.h"

static const char *
text_of(struct module *m, const cJSON *json, const char *key)
{
	const char *text = member_text(json, key);

	return text[0] != '\0' ? arena_strdup(&m->arena, text) : NULL;
}

/* Adds the option whose member of "options" is x: a text, or a list of texts. False if
 * it is something else. */
static bool
add_option(struct module *m, const cJSON *x, struct stated *out)
{
	struct stated_option one = { .name = arena_strdup(&m->arena,
							  x->string) };
	const cJSON *list = cJSON_IsArray(x) ? x : NULL, *item;

	if (cJSON_IsString(x)) {
		vec_push(&m->arena, &one.values,
			 arena_strdup(&m->arena, x->valuestring));
	}
	cJSON_ArrayForEach(item, list)
	{
		if (!cJSON_IsString(item)) {
			return false;
		}
		vec_push(&m->arena, &one.values,
			 arena_strdup(&m->arena, item->valuestring));
	}
	vec_push(&m->arena, &out->options, one);
	return one.values.n > 0;
}

bool
difference_stated(struct module *m, const char *folder, struct stated *out)
{
	struct snapshot s;
	struct texts texts;
	const cJSON *options, *row;
	bool ok = true;

	*out = (struct stated){ .file = NULL };
	texts_init(&texts, &m->arena);
	if (!snapshot_open(&s, m, &texts, folder)) {
		snapshot_close(&s);
		return false;
	}
	out->file = s.file;
	out->name = text_of(m, s.json, "model");
	out->target = text_of(m, s.json, "target");
	out->optimize = text_of(m, s.json, "optimize");
	out->fp = text_of(m, s.json, "fp");
	out->requant = text_of(m, s.json, "requant");
	out->weights = text_of(m, s.json, "weights_form");
	out->generator = text_of(m, s.json, "generator");
	out->traced = cJSON_IsTrue(
		cJSON_GetObjectItemCaseSensitive(s.json, "traced"));
	if (out->name == NULL || out->target == NULL || out->optimize == NULL ||
	    out->fp == NULL) {
		ok = diag_error(&m->diags, DIAG_BAD_JSON,
				(struct diag_place){ .file = s.file },
				"it does not state model, target, optimize and "
				"fp as texts; give the folder as tirc compile "
				"wrote it");
	}
	options = snapshot_options(&s);
	cJSON_ArrayForEach(row, options)
	{
		if (ok && !add_option(m, row, out)) {
			ok = diag_error(&m->diags, DIAG_BAD_JSON,
					(struct diag_place){ .file = s.file },
					"an option in options is neither a "
					"text nor a list of texts");
		}
	}
	snapshot_close(&s);
	return ok;
}
