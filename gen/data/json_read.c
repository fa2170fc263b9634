/* SPDX-License-Identifier: Apache-2.0 */
/* Parses, merges and reads data files, with positions for diagnostics. */
#include "json_read.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "quota.h"
#include "text.h"

/* cJSON's parser stores the position of an error in a global variable: only one
 * thread at a time may parse. */
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
json_parse_file(struct module *m, const char *dir, const char *path)
{
	const char *file;
	const char *text = data_file(m, dir, path, &file);

	return text != NULL ? json_parse_quietly(text, NULL) : NULL;
}

const char *
json_member(struct module *m, const cJSON *object, const char *key)
{
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsString(value)
		       ? arena_strdup(&m->arena, value->valuestring)
		       : NULL;
}

/* An upper bound of the bytes of the tree that is made of the text: for a list
 * of short numbers, the tree takes many times the bytes of the text. */
static int64_t
tree_bytes(const char *text)
{
	/* the bytes of a value of cJSON, and what an allocator adds to the
	 * value and to its text */
	const int64_t each = (int64_t)sizeof(cJSON) + 32;
	int64_t values = 1;
	const char *p = text;

	for (; *p != '\0'; p++) {
		values += *p == ',' || *p == '[' || *p == '{';
	}
	return quota_plus(p - text, quota_times(values, each));
}

cJSON *
json_parse(struct module *m, const char *file, const char *text)
{
	const char *end = text;
	struct diag_place place = { .file = file, .line = 1, .col = 1 };
	cJSON *value;

	if (!quota_check_memory(m, (struct diag_place){ .file = file },
				tree_bytes(text))) {
		return NULL;
	}
	value = json_parse_quietly(text, &end);
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

	/* a row of `over` that spells a form replaces the "rejected" in the
	 * base */
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
	return (struct json){ r, value, NULL, 0 };
}

/* The value `value` (NULL: absent) inside the object or list `of`, at the key
 * `key`, or, if key is NULL, at the index. */
static struct json
inside(struct json of, const cJSON *value, const char *key, int index)
{
	struct json_place place = { of.place, key, index };
	struct json j = { of.reader, value, NULL, index };

	j.place = arena_copy(&of.reader->module->arena, &place, sizeof place);
	return j;
}

struct json
json_get(struct json object, const char *key)
{
	const cJSON *value =
		cJSON_IsObject(object.value)
			? cJSON_GetObjectItemCaseSensitive(object.value, key)
			: NULL;

	return inside(object, value,
		      value != NULL
			      ? value->string
			      : arena_strdup(&object.reader->module->arena,
					     key),
		      0);
}

struct json
json_at(struct json array, int index)
{
	return inside(array, cJSON_GetArrayItem(array.value, index), NULL,
		      index);
}

static struct json
item_of(struct json of, const cJSON *item, int i)
{
	return inside(of, item, item != NULL ? item->string : NULL, i);
}

struct json
json_first(struct json of)
{
	return item_of(of, of.value != NULL ? of.value->child : NULL, 0);
}

struct json
json_next(struct json of, struct json item)
{
	return item_of(of, item.value->next, item.index + 1);
}

/* The value at `place` in the tree; NULL if the tree has no value there. */
static const cJSON *
value_at(const cJSON *tree, const struct json_place *place)
{
	if (place == NULL) {
		return tree;
	}
	tree = value_at(tree, place->parent);
	return tree == NULL || tree->child == NULL ? NULL
	       : place->key != NULL
		       ? cJSON_GetObjectItemCaseSensitive(tree, place->key)
		       : cJSON_GetArrayItem(tree, place->index);
}

/* Appends the place as a JSON pointer. */
static void
put_pointer(struct strbuf *out, const struct json_place *place)
{
	if (place->parent != NULL) {
		put_pointer(out, place->parent);
	}
	if (place->key != NULL) {
		strbuf_printf(out, "/%s", place->key);
	} else {
		strbuf_printf(out, "/%d", place->index);
	}
}

const char *
json_file(struct json at)
{
	for (int i = 0; i < at.reader->n_layers; i++) {
		if (value_at(at.reader->layers[i].value, at.place) != NULL) {
			return at.reader->layers[i].file;
		}
	}
	return at.reader->layers[0].file;
}

const char *
json_pointer(struct json at)
{
	struct strbuf s;
	const char *text = "/";

	strbuf_init(&s);
	if (at.place != NULL) {
		put_pointer(&s, at.place);
		text = arena_strdup(&at.reader->module->arena, s.data);
	}
	strbuf_release(&s);
	return text;
}

bool
json_error(struct json at, const char *fmt, ...)
{
	struct module *m = at.reader->module;
	struct diag_place place = { 0 };
	va_list ap;

	at.reader->failed = true;
	if (m->diags.n_errors >= JSON_ERRORS_MAX) {
		return false;
	}
	place.file = json_file(at);
	place.item = json_pointer(at);
	va_start(ap, fmt);
	diag_error(&m->diags, at.reader->id ? at.reader->id : DIAG_BAD_DIALECT,
		   place, "%s", arena_vprintf(&m->arena, fmt, ap));
	va_end(ap);
	return false;
}

bool
json_has_word(const char *words, const char *word)
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
	if (!cJSON_IsObject(object.value)) {
		return; /* json_is_object reports that */
	}
	for (struct json j = json_first(object); j.value != NULL;
	     j = json_next(object, j)) {
		if (!json_has_word(allowed, j.value->string)) {
			json_error(j, "unknown key; the known keys are: %s",
				   allowed);
		}
	}
}

/* Orders two keys of an object by name, then by their position in the file, for
 * qsort. */
static int
compare_keys(const void *a, const void *b)
{
	const struct json *x = a, *y = b;
	int order = strcmp(x->value->string, y->value->string);

	return order != 0 ? order : x->index - y->index;
}

static void
check_keys_once(struct json object)
{
	int n = cJSON_GetArraySize(object.value);
	struct json *items = arena_array(&object.reader->module->arena,
					 struct json, n + 1);

	for (struct json j = json_first(object); j.value != NULL;
	     j = json_next(object, j)) {
		items[j.index] = j;
	}
	qsort(items, (size_t)n, sizeof *items, compare_keys);
	for (int i = 1; i < n; i++) {
		if (strcmp(items[i - 1].value->string,
			   items[i].value->string) == 0) {
			json_error(items[i - 1],
				   "this key is given twice; remove one");
		}
	}
}

void
json_check_once(struct json tree)
{
	if (cJSON_IsObject(tree.value)) {
		check_keys_once(tree);
	}
	for (struct json j = json_first(tree); j.value != NULL;
	     j = json_next(tree, j)) {
		json_check_once(j);
	}
}

void
json_check_characters(struct json tree)
{
	const char *text = cJSON_IsString(tree.value) ? tree.value->valuestring
						      : "";
	const char *key = tree.value->string;
	const char *bad = text_control(text);

	if (bad == NULL && key != NULL) {
		bad = text_control(key);
	}
	if (bad != NULL) {
		json_error(tree,
			   "control characters (here 0x%02x) are not "
			   "allowed in texts of data files",
			   (unsigned char)*bad);
	}
	for (struct json j = json_first(tree); j.value != NULL;
	     j = json_next(tree, j)) {
		json_check_characters(j);
	}
}

bool
json_check_file(struct json at, const char *file, const char *text)
{
	const char *bad = text_control(text);

	return bad == NULL ||
	       json_error(at,
			  "%s, line %d: control characters (here 0x%02x) "
			  "are not allowed in texts of data files",
			  file, text_line(text, bad), (unsigned char)*bad);
}

bool
json_is_object(struct json j, bool required)
{
	if (cJSON_IsObject(j.value)) {
		return true;
	}
	if (j.value != NULL || required) {
		json_error(j, j.value != NULL ? "an object is expected here"
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
		json_error(j, j.value != NULL ? "a string is expected here"
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
		json_error(j, "an integer from %lld to %lld is expected here",
			   (long long)min, (long long)max);
		return absent;
	}
	return (int64_t)v;
}

bool
json_bool(struct json j)
{
	if (j.value != NULL && !cJSON_IsBool(j.value)) {
		json_error(j, "true or false is expected here");
	}
	return cJSON_IsTrue(j.value);
}

int
json_length(struct json array)
{
	if (array.value != NULL && !cJSON_IsArray(array.value)) {
		json_error(array, "an array is expected here");
		return 0;
	}
	return cJSON_GetArraySize(array.value);
}

const char *const *
json_texts(struct json j, int *n)
{
	const char **list;

	*n = json_length(j);
	list = arena_array(&j.reader->module->arena, const char *, *n + 1);
	for (struct json item = *n > 0 ? json_first(j) : (struct json){ 0 };
	     item.value != NULL; item = json_next(j, item)) {
		const char *text = json_text(item, true);

		list[item.index] = text != NULL ? text : "";
	}
	return list;
}
