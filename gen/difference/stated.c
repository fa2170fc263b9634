/* SPDX-License-Identifier: Apache-2.0 */
/* The options with which a folder's source was made, as the folder's NAME.json
 * states them. */
#include <math.h>

#include "snapshot.h"

/* The most dimensions of an input. */
enum { MOST_DIMS = 64 };

static const char *
text_of(struct module *m, const cJSON *json, const char *key)
{
	const char *text = member_text(json, key);

	return text[0] != '\0' ? arena_strdup(&m->arena, text) : NULL;
}

static bool
whole(const cJSON *row, const char *key, double least, long long *out)
{
	const cJSON *x = cJSON_GetObjectItemCaseSensitive(row, key);

	if (!cJSON_IsNumber(x) || x->valuedouble < least ||
	    x->valuedouble > 1e15 || floor(x->valuedouble) != x->valuedouble) {
		return false;
	}
	*out = (long long)x->valuedouble;
	return true;
}

/* Adds the range of a size as an option: "batch=1..8:2". */
static bool
add_dim(struct module *m, const cJSON *row, struct stated *out)
{
	const char *name = member_text(row, "name"), *text;
	long long least, most, step;

	if (name[0] == '\0' || strlen(name) > 1000 ||
	    !whole(row, "min", 0, &least) || !whole(row, "max", 0, &most)) {
		return false;
	}
	text = arena_printf(&m->arena, "%s=%lld..%lld", name, least, most);
	if (whole(row, "multiple_of", 1, &step)) {
		text = arena_printf(&m->arena, "%s:%lld", text, step);
	}
	vec_push(&m->arena, &out->dims, text);
	return true;
}

/* Does the list "assumed" of an input contain dimension d? */
static bool
is_assumed(const cJSON *input, int d)
{
	const cJSON *x;

	cJSON_ArrayForEach(x, member_list(input, "assumed"))
	{
		if (cJSON_IsNumber(x) && x->valuedouble == d) {
			return true;
		}
	}
	return false;
}

/* Adds the shape of an input as an option: "data:8,?,5", where a size that is no
 * number, or that was assumed, is "?". */
static bool
add_shape(struct module *m, const cJSON *row, struct stated *out)
{
	const char *name = member_text(row, "name");
	const char *text = arena_printf(&m->arena, "%s:", name);
	const cJSON *size;
	int n = 0, numbers = 0;

	if (name[0] == '\0' || strlen(name) > 1000) {
		return false;
	}
	cJSON_ArrayForEach(size, member_list(row, "shape"))
	{
		bool number = cJSON_IsNumber(size);

		if (n == MOST_DIMS ||
		    (number &&
		     (size->valuedouble < 0 || size->valuedouble > 1e15 ||
		      floor(size->valuedouble) != size->valuedouble))) {
			return false;
		}
		number = number && !is_assumed(row, n);
		text = arena_printf(&m->arena, "%s%s%s", text,
				    n++ > 0 ? "," : "",
				    number ? arena_printf(&m->arena, "%lld",
							  (long long)size
								  ->valuedouble)
					   : "?");
		numbers += number;
	}
	if (numbers > 0) {
		vec_push(&m->arena, &out->shapes, text);
	}
	return true;
}

bool
difference_stated(struct module *m, const char *folder, struct stated *out)
{
	struct snapshot s;
	struct texts texts;
	const cJSON *row;
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
	cJSON_ArrayForEach(row, member_list(s.json, "dims"))
	{
		if (ok && !add_dim(m, row, out)) {
			ok = diag_error(&m->diags, DIAG_BAD_JSON,
					(struct diag_place){ .file = s.file },
					"a size in dims has no name, or no "
					"whole numbers min and max");
		}
	}
	cJSON_ArrayForEach(row, member_list(s.json, "inputs"))
	{
		if (ok && !add_shape(m, row, out)) {
			ok = diag_error(&m->diags, DIAG_BAD_JSON,
					(struct diag_place){ .file = s.file },
					"an input has no name, or no shape of "
					"whole numbers and texts");
		}
	}
	snapshot_close(&s);
	return ok;
}
