/* SPDX-License-Identifier: Apache-2.0 */
/* Data files: parsed, merged, and read with places for messages. */
#include "json_read.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>

/* cJSON notes the place of an error in a variable of its own at every parse;
 * contexts in several threads must not do so at once. */
static pthread_mutex_t parsing = PTHREAD_MUTEX_INITIALIZER;

cJSON *
json_parse_quietly(const char *text, const char **end)
{
	cJSON *value;

	pthread_mutex_lock(&parsing);
	value = cJSON_ParseWithOpts(text, end, true);
	pthread_mutex_unlock(&parsing);
	return value;
}

cJSON *
json_parse(struct module *m, const char *file, const char *text)
{
	const char *end = text;
	cJSON *value = json_parse_quietly(text, &end);
	struct diag_place place = { .file = file, .line = 1, .col = 1 };

	if (value != NULL) {
		return value;
	}
	for (const char *p = text; p < end; p++) {
		place.col = *p == '\n' ? 1 : place.col + 1;
		place.line += *p == '\n';
	}
	diag_error(&m->diags, DIAG_BAD_JSON, place, "not well-formed JSON");
	return NULL;
}

void
json_merge(cJSON *base, const cJSON *over)
{
	const cJSON *item;

	/* What is spelled here is no longer rejected. */
	if (cJSON_GetArraySize(over) > 0 &&
	    cJSON_GetObjectItemCaseSensitive(over, "rejected") == NULL) {
		cJSON_DeleteItemFromObjectCaseSensitive(base, "rejected");
	}

	cJSON_ArrayForEach(item, over)
	{
		cJSON *old = cJSON_GetObjectItemCaseSensitive(base,
							      item->string);

		if (cJSON_IsObject(old) && cJSON_IsObject(item)) {
			json_merge(old, item);
		} else if (old != NULL) {
			cJSON_ReplaceItemInObjectCaseSensitive(
				base, item->string,
				cJSON_Duplicate(item, true));
		} else {
			cJSON_AddItemToObject(base, item->string,
					      cJSON_Duplicate(item, true));
		}
	}
}

/* -- values -- */

struct json
json_root(struct reader *r, const cJSON *value)
{
	return (struct json){ r, value, "" };
}

struct json
json_get(struct json object, const char *key)
{
	struct json j = { object.reader, NULL, NULL };

	j.pointer = arena_printf(&object.reader->module->arena, "%s/%s",
				 object.pointer, key);
	if (cJSON_IsObject(object.value)) {
		j.value = cJSON_GetObjectItemCaseSensitive(object.value, key);
	}
	return j;
}

struct json
json_at(struct json array, int index)
{
	struct json j = { array.reader, NULL, NULL };

	j.pointer = arena_printf(&array.reader->module->arena, "%s/%d",
				 array.pointer, index);
	j.value = cJSON_GetArrayItem(array.value, index);
	return j;
}

/* Does the tree have a value at the pointer? */
static bool
has_place(const cJSON *tree, const char *pointer)
{
	while (tree != NULL && *pointer == '/') {
		size_t n = strcspn(++pointer, "/");
		const cJSON *child = tree->child;
		int index = 0;

		for (; child != NULL; child = child->next, index++) {
			char number[16];
			const char *key = child->string;

			if (key == NULL) {
				snprintf(number, sizeof number, "%d", index);
				key = number;
			}
			if (strlen(key) == n && memcmp(key, pointer, n) == 0) {
				break;
			}
		}
		tree = child;
		pointer += n;
	}
	return tree != NULL;
}

const char *
json_file(struct json at)
{
	for (int i = 0; i < at.reader->n_layers; i++) {
		if (has_place(at.reader->layers[i].value, at.pointer)) {
			return at.reader->layers[i].file;
		}
	}
	return at.reader->layers[0].file;
}

void
json_error(struct json at, const char *fmt, ...)
{
	struct module *m = at.reader->module;
	struct diag_place place = { .file = json_file(at) };
	va_list ap;

	place.item = at.pointer[0] != '\0' ? at.pointer : "/";
	va_start(ap, fmt);
	diag_error(&m->diags, at.reader->id ? at.reader->id : DIAG_BAD_DIALECT,
		   place, "%s", arena_vprintf(&m->arena, fmt, ap));
	va_end(ap);
	at.reader->failed = true;
}

static bool
has_word(const char *words, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = words; n > 0 && (p = strstr(p, word)) != NULL;
	     p++) {
		if ((p == words || p[-1] == ' ') &&
		    (p[n] == ' ' || p[n] == '\0')) {
			return true;
		}
	}
	return false;
}

void
json_check_keys(struct json object, const char *allowed)
{
	const cJSON *item;

	if (!cJSON_IsObject(object.value)) {
		return; /* told by json_is_object */
	}
	cJSON_ArrayForEach(item, object.value)
	{
		if (!has_word(allowed, item->string)) {
			json_error(json_get(object, item->string),
				   "unknown key; known are: %s", allowed);
		}
	}
}

void
json_check_once(struct json tree)
{
	const cJSON *item;
	int i = 0;

	cJSON_ArrayForEach(item, tree.value)
	{
		const cJSON *other = item->string != NULL ? item->next : NULL;

		while (other != NULL &&
		       strcmp(other->string, item->string) != 0) {
			other = other->next;
		}
		if (other != NULL) {
			json_error(json_get(tree, item->string),
				   "is there twice; leave one");
		} else {
			json_check_once(item->string != NULL
						? json_get(tree, item->string)
						: json_at(tree, i));
		}
		i++;
	}
}

bool
json_is_object(struct json j, bool required)
{
	if (cJSON_IsObject(j.value)) {
		return true;
	}
	if (j.value != NULL || required) {
		json_error(j, j.value != NULL ? "an object is wanted here"
					      : "is missing");
	}
	return false;
}

const char *
json_text(struct json j, bool required)
{
	if (cJSON_IsString(j.value)) {
		return arena_strdup(&j.reader->module->arena,
				    j.value->valuestring);
	}
	if (j.value != NULL || required) {
		json_error(j, j.value != NULL ? "a text is wanted here"
					      : "is missing");
	}
	return NULL;
}

int64_t
json_int(struct json j, int64_t min, int64_t max, int64_t absent)
{
	double v;

	if (j.value == NULL) {
		return absent;
	}
	v = cJSON_IsNumber(j.value) ? j.value->valuedouble : 0.5;
	if (v != floor(v) || v < (double)min || v > (double)max) {
		json_error(j, "an integer from %lld to %lld is wanted here",
			   (long long)min, (long long)max);
		return absent;
	}
	return (int64_t)v;
}

bool
json_bool(struct json j)
{
	if (j.value != NULL && !cJSON_IsBool(j.value)) {
		json_error(j, "true or false is wanted here");
	}
	return cJSON_IsTrue(j.value);
}

int
json_length(struct json array)
{
	if (array.value != NULL && !cJSON_IsArray(array.value)) {
		json_error(array, "an array is wanted here");
		return 0;
	}
	return cJSON_GetArraySize(array.value);
}

const char *const *
json_texts(struct json j, int *n)
{
	struct arena *a = &j.reader->module->arena;
	const char **list;
	int i = 0;
	const cJSON *item;

	*n = json_length(j);
	list = arena_array(a, const char *, *n + 1);
	if (*n == 0) {
		return list;
	}
	cJSON_ArrayForEach(item, j.value)
	{
		list[i] = json_text((struct json){ j.reader, item,
						   arena_printf(a, "%s/%d",
								j.pointer, i) },
				    true);
		if (list[i] == NULL) {
			list[i] = "";
		}
		i++;
	}
	return list;
}
