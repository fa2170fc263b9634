/* SPDX-License-Identifier: Apache-2.0 */
/* Reading data files: JSON with unknown keys refused, each mistake reported
 * with its file and JSON pointer. */
#ifndef TIRC_JSON_READ_H
#define TIRC_JSON_READ_H

#include <cjson/cJSON.h>

#include "data_files.h"
#include "module.h"

/* A value and its position. */
struct json {
	struct reader *reader;
	const cJSON *value;  /* NULL: absent */
	const char *pointer; /* "/types/f32" */
	int index;           /* as an item of json_first, json_next */
};

/* One file, or several layers merged: a message names the first layer that
 * contains the position of the mistake. */
#define JSON_LAYERS_MAX 8

struct reader {
	struct module *module;
	struct {
		const char *file;
		const cJSON *value;
	} layers[JSON_LAYERS_MAX];
	int n_layers;
	enum diag_id id; /* of mistakes; 0: DIAG_BAD_DIALECT */
	bool failed;     /* some mistake was reported */
};

/* Parses; NULL with DIAG_BAD_JSON and the line. cJSON_Delete when done. */
cJSON *json_parse(struct module *m, const char *file, const char *text);
/* The same without a message; *end (unless NULL): where the parser stopped. */
cJSON *json_parse_quietly(const char *text, const char **end);
/* Lays `over` on `base`: objects key by key, all else replaced. */
void json_merge(cJSON *base, const cJSON *over);

struct json json_root(struct reader *r, const cJSON *value);
struct json json_get(struct json object, const char *key);
struct json json_at(struct json array, int index);
/* The items of an array or an object in turn; the value behind the last one is
 * NULL. An absent value has no items. */
struct json json_first(struct json of);
struct json json_next(struct json of, struct json item);
/* The file that has the place: the first layer where it is, else the first. */
const char *json_file(struct json at);
/* Returns false. */
bool json_error(struct json at, const char *fmt, ...) TIRC_PRINTF(2, 3);
/* Objects: every key must be one of the words of `allowed` ("a b c"). */
void json_check_keys(struct json object, const char *allowed);
/* No object of the tree may have a key twice. */
void json_check_once(struct json tree);

bool json_is_object(struct json j, bool required);
const char *json_text(struct json j, bool required); /* arena; NULL: absent */
int64_t json_int(struct json j, int64_t min, int64_t max, int64_t absent);
bool json_bool(struct json j);
int json_length(struct json array); /* 0 if absent */
/* An array of texts; *n its length. */
const char *const *json_texts(struct json j, int *n);

/* Is the word one of `words`, which blanks separate? */
bool json_has_word(const char *words, const char *word);

#endif
