/* SPDX-License-Identifier: Apache-2.0 */
/* Reads data files in JSON: unknown keys are errors, and each error names the
 * file and the JSON pointer. */
#ifndef TIRC_JSON_READ_H
#define TIRC_JSON_READ_H

#include <cjson/cJSON.h>

#include "data_files.h"
#include "module.h"

/* A place in a JSON tree: a key of an object, or, if key is NULL, an index of
 * an array. The object or array is at the place `parent` (NULL: the root). A
 * message shows a place as a JSON pointer, "/types/f32". */
struct json_place {
	const struct json_place *parent;
	const char *key;
	int index;
};

/* A value in a JSON tree, with its place for messages. */
struct json {
	struct reader *reader;
	const cJSON *value;             /* NULL if absent */
	const struct json_place *place; /* NULL: the root */
	int index; /* of an item that json_first or json_next returned */
};

/* The largest number of layers that can be merged: a file, and the files that
 * it extends. */
#define JSON_LAYERS_MAX 8

/* The number of errors after which no more are reported: a file may have a
 * mistake in each of its values. */
#define JSON_ERRORS_MAX 20

/* The state while one file, or several merged layers, are read. A diagnostic
 * names the first layer with a value at the place in question. */
struct reader {
	struct module *module;
	struct {
		const char *file;
		const cJSON *value;
	} layers[JSON_LAYERS_MAX];
	int n_layers;
	/* the kind of the reader's diagnostics; 0: DIAG_BAD_DIALECT */
	enum diag_id id;
	bool failed; /* a diagnostic was reported */
};

/* Parses a text; NULL after DIAG_BAD_JSON with the line. Free it with
 * cJSON_Delete. */
cJSON *json_parse(struct module *m, const char *file, const char *text);
/* Parses a text without a diagnostic; NULL if it is not JSON. Unless `end` is
 * NULL, sets *end to the position where the parser stopped. Free the value with
 * cJSON_Delete. */
cJSON *json_parse_quietly(const char *text, const char **end);
/* Parses a data file (see data_file) without a diagnostic; NULL if the file
 * does not exist or is not JSON. Free the value with cJSON_Delete. */
cJSON *json_parse_file(struct module *m, const char *dir, const char *path);
/* A copy of the text that `object` has as the value of `key`; NULL if it has no
 * such text. */
const char *json_member(struct module *m, const cJSON *object, const char *key);
/* Merges `over` into `base`: objects key by key; any other value replaces the
 * one in `base`. */
void json_merge(cJSON *base, const cJSON *over);

struct json json_root(struct reader *r, const cJSON *value);
struct json json_get(struct json object, const char *key);
struct json json_at(struct json array, int index);
/* The first item of an array or an object, and the item after `item`. After the
 * last item, the returned value is NULL. An absent value has no items. */
struct json json_first(struct json of);
struct json json_next(struct json of, struct json item);
/* The name of the file that contains the place `at`: that of the first of the
 * merged layers with a value there, or of layer 0 if none has one. Layer 0
 * overrides the layers after it. */
const char *json_file(struct json at);
/* The place of the value as a JSON pointer, in the arena; "/" for the root. */
const char *json_pointer(struct json at);
/* Reports a diagnostic at the place, unless JSON_ERRORS_MAX are reported
 * already. Returns false. */
bool json_error(struct json at, const char *fmt, ...) TIRC_PRINTF(2, 3);
/* Reports an error for each key of the object that is not one of the words in
 * `allowed` ("a b c"). */
void json_check_keys(struct json object, const char *allowed);
/* Reports an error for each key that occurs twice in an object of the tree. */
void json_check_once(struct json tree);
/* Reports an error for each key and text of the tree with a control character
 * (see text_control): texts of data files become parts of sources. */
void json_check_characters(struct json tree);
/* Reports an error, and returns false, if the text of `file`, which the value
 * `at` names, has a control character. */
bool json_check_file(struct json at, const char *file, const char *text);

bool json_is_object(struct json j, bool required);
/* the text is in the arena; NULL if the key is absent */
const char *json_text(struct json j, bool required);
int64_t json_int(struct json j, int64_t min, int64_t max, int64_t absent);
bool json_bool(struct json j);
int json_length(struct json array); /* 0 if absent */
/* The elements of an array of texts; *n: their number. */
const char *const *json_texts(struct json j, int *n);

/* Is the word one of `words`, which are separated by spaces? */
bool json_has_word(const char *words, const char *word);

#endif
