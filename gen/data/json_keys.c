/* SPDX-License-Identifier: Apache-2.0 */
/* Checks and reads data files by the table of their keys. */
#include "json_keys.h"

#include <assert.h>
#include <string.h>

#include "template.h"
#include "text.h"

/* -- rows -- */

static const char *
last_part(const char *pointer)
{
	return strrchr(pointer, '/') + 1;
}

bool
json_keys_is_below(const struct key *row, const char *place)
{
	for (;;) {
		size_t n = strcspn(place, " ");

		if (strncmp(row->pointer, place, n) == 0 &&
		    row->pointer[n] == '/' &&
		    strchr(row->pointer + n + 1, '/') == NULL) {
			return true;
		}
		if (place[n] == '\0') {
			return false;
		}
		place += n + 1;
	}
}

const struct key *
json_keys_element(const struct key_table *table, const struct key *list)
{
	for (int i = 0; i < table->n; i++) {
		const struct key *row = &table->rows[i];

		if (json_keys_is_below(row, list->pointer) &&
		    strcmp(last_part(row->pointer), "*") == 0) {
			return row;
		}
	}
	return NULL;
}

/* The row for the key `key` of an object at `place`, a JSON pointer; NULL if an
 * object there must not have this key. */
static const struct key *
json_keys_find(const struct key_table *table, const char *place,
	       const char *key)
{
	for (int i = 0; i < table->n; i++) {
		const struct key *row = &table->rows[i];

		if (!json_keys_is_below(row, place)) {
			continue;
		}
		if (strcmp(last_part(row->pointer), "*") == 0
			    ? row->names == NULL ||
				      json_has_word(row->names, key)
			    : strcmp(last_part(row->pointer), key) == 0) {
			return row;
		}
	}
	return NULL;
}

bool
json_keys_is_fact(const struct key_table *table, const char *key)
{
	const struct key *row = json_keys_find(table, "", key);

	return row != NULL &&
	       (row->fact || row->type == KEY_NUMBER || row->type == KEY_FLAG ||
		row->type == KEY_REAL || row->type == KEY_WORD);
}

const char *
json_keys_known(const struct key_table *table, struct arena *a,
		const char *place)
{
	const char *words = "";

	for (int i = 0; i < table->n; i++) {
		const struct key *row = &table->rows[i];
		const char *word = last_part(row->pointer);

		if (!json_keys_is_below(row, place) || row->type == KEY_GONE) {
			continue;
		}
		if (strcmp(word, "*") == 0 && row->names == NULL) {
			return NULL;
		}
		if (strcmp(word, "*") == 0) {
			word = row->names;
		}
		words = arena_printf(a, "%s%s%s", words,
				     words[0] != '\0' ? " " : "", word);
	}
	return words;
}

/* -- check -- */

struct check {
	const struct key_table *table;
	struct arena *arena;
};

static bool check_value(struct check *c, struct json j, cJSON *value,
			const struct key *row, const char *words);

static void
want_key(struct json j, const char *key)
{
	if (json_get(j, key).value == NULL) {
		json_error(json_get(j, key), "is missing");
	}
}

static void
want_needed(struct check *c, struct json j, const char *place)
{
	if (cJSON_IsString(json_get(j, "rejected").value)) {
		return;
	}
	for (int i = 0; i < c->table->n; i++) {
		const struct key *row = &c->table->rows[i];
		const char *with = row->with, *key;

		if (!json_keys_is_below(row, place)) {
			continue;
		}
		key = last_part(row->pointer);
		if (row->needed) {
			want_key(j, key);
		}
		if (with == NULL || json_get(j, key).value == NULL) {
			continue;
		}
		while ((key = text_next_word(c->arena, &with)) != NULL) {
			want_key(j, key);
		}
	}
}

static bool
check_object(struct check *c, struct json j, cJSON *value, const char *place,
	     const char *words)
{
	cJSON *item, *next;

	if (!json_is_object(j, true)) {
		return false;
	}
	want_needed(c, j, place);
	for (item = value->child; item != NULL; item = next) {
		struct json at = json_get(j, item->string);
		const struct key *row = json_keys_find(c->table, place,
						       item->string);

		next = item->next;
		if (row == NULL) {
			json_error(at, "unknown key; the known keys are: %s",
				   json_keys_known(c->table, c->arena, place));
		} else if (at.value == item &&
			   check_value(c, at, item, row, words)) {
			/* an unknown key, a repetition of a key and a key with
			 * a wrong value are removed below */
			continue;
		}
		cJSON_Delete(cJSON_DetachItemViaPointer(value, item));
	}
	return true;
}

/* Checks the value of a row of type KEY_CHOICE: an object with the keys of
 * row->same, or an object whose keys are in row->choice and whose values are
 * objects with the keys of row->same. False if the value must be removed from
 * the tree. */
static bool
check_choice(struct check *c, struct json j, cJSON *value,
	     const struct key *row, const char *words)
{
	const char *keys = row->choice;
	cJSON *item, *next;

	if (!json_is_object(j, true)) {
		return false;
	}
	for (item = value->child; item != NULL; item = item->next) {
		if (json_keys_find(c->table, row->same, item->string)) {
			return check_object(c, j, value, row->same, words);
		}
	}
	for (item = value->child; item != NULL; item = next) {
		struct json at = json_get(j, item->string);

		next = item->next;
		if (!json_has_word(keys, item->string)) {
			json_error(at, "unknown key; the known keys are: %s",
				   keys);
		} else if (check_object(c, at, item, row->same, words)) {
			continue;
		}
		cJSON_Delete(cJSON_DetachItemViaPointer(value, item));
	}
	return true;
}

/* Is the number of elements of the array within the limits of the row? False
 * after a diagnostic. */
static bool
check_length(struct json j, const struct key *row, const char *what)
{
	const int64_t n = cJSON_GetArraySize(j.value);
	const long long least = row->least, most = row->most;

	if (n >= least && (most == 0 || n <= most)) {
		return true;
	}
	if (most == 0) {
		json_error(j, "%lld or more %s are expected here", least, what);
	} else if (least == most) {
		json_error(j, "%lld %s are expected here, not %lld", least,
			   what, (long long)n);
	} else {
		json_error(j, "%lld to %lld %s are expected here", least, most,
			   what);
	}
	return false;
}

static bool
check_list(struct check *c, struct json j, cJSON *value, const struct key *row,
	   const char *words)
{
	const char *place = arena_printf(c->arena, "%s/*", row->pointer);
	const struct key *each = json_keys_element(c->table, row);
	bool good = true;
	struct json at;

	if (!cJSON_IsArray(value)) {
		json_error(j, "an array is expected here");
		return false;
	}
	if (!check_length(j, row, "objects")) {
		return false;
	}
	at = json_first(j);
	for (cJSON *item = value->child; item != NULL;
	     item = item->next, at = json_next(j, at)) {
		good &= each != NULL ? check_value(c, at, item, each, words)
				     : check_object(c, at, item, place, words);
	}
	return good;
}

struct text_place {
	struct json at;
	const char *words;
};

static void
say_problem(void *ctx, int line, const char *problem, const char *name,
	    size_t length)
{
	struct text_place *p = ctx;

	(void)line;
	json_error(p->at, "%s '%.*s'; %s%s", problem, (int)length, name,
		   p->words[0] != '\0' ? "known here are: "
				       : "this text has none",
		   p->words);
}

/* The words in `choices` for a message: "left or right". */
static const char *
spoken(struct arena *a, const char *choices)
{
	const char *text = "";

	while (*choices != '\0') {
		size_t n = strcspn(choices, "|");
		bool last = choices[n] == '\0';

		if (n == 0) {
			choices++;
			continue;
		}
		text = arena_printf(a, "%s%s%.*s", text,
				    text[0] == '\0' ? ""
				    : last          ? " or "
						    : ", ",
				    (int)n, choices);
		choices += n + !last;
	}
	return text;
}

static bool
is_choice(const char *choices, const char *text)
{
	size_t length = strlen(text);

	while (*choices != '\0') {
		size_t n = strcspn(choices, "|");

		if (n == length && memcmp(choices, text, n) == 0) {
			return true;
		}
		choices += n + (choices[n] == '|');
	}
	return false;
}

static const char *wanted_words(struct check *c, const struct key *row);

static bool
check_text(struct check *c, struct json j, const struct key *row,
	   const char *words)
{
	struct text_place place = { j, words };
	const char *text = json_text(j, true);
	bool one = row->type == KEY_WORD || row->type == KEY_WORDS;

	if (text != NULL && one && !is_choice(row->choices, text)) {
		json_error(j, "%s is expected here",
			   row->also != 0 ? wanted_words(c, row)
					  : spoken(c->arena, row->choices));
		return false;
	}
	if (text != NULL && !one && words != NULL && row->type != KEY_PROSE) {
		template_check(text, words, false, say_problem, &place);
	}
	return text != NULL;
}

static bool
check_number(struct json j, const struct key *row)
{
	const int64_t none = INT64_MIN;

	return json_int(j, row->least, row->most, none) != none;
}

static bool
check_array(struct check *c, struct json j, const struct key *row,
	    const char *words)
{
	const bool texts = row->type == KEY_TEXTS;
	bool is_list = json_length(j) >= 0 && cJSON_IsArray(j.value);
	bool good = is_list && (!texts || check_length(j, row, "texts"));

	for (struct json at = json_first(j); is_list && at.value != NULL;
	     at = json_next(j, at)) {
		good &= row->type == KEY_NUMBERS
				? check_number(at, row)
				: check_text(c, at, row, words);
	}
	return good;
}

/* -- values of several types -- */

/* The type of a value as bits of enum key_other. */
static unsigned
kinds_of(const cJSON *value)
{
	if (cJSON_IsArray(value)) {
		return value->child == NULL || cJSON_IsNumber(value->child)
			       ? OR_INTEGERS
			       : 0;
	}
	return cJSON_IsString(value)   ? OR_TEXT
	       : cJSON_IsNumber(value) ? OR_REAL | OR_INTEGER
	       : cJSON_IsBool(value)   ? OR_FLAG
	       : cJSON_IsNull(value)   ? OR_NULL
				       : 0;
}

/* Has the value the first type that the row allows (a row may also allow a
 * second type)? */
static bool
is_first_type(const struct key *row, const cJSON *value)
{
	switch (row->type) {
	case KEY_TEXT:
	case KEY_WORD:
		return cJSON_IsString(value);
	case KEY_TEXTS:
	case KEY_WORDS:
	case KEY_LIST:
		return cJSON_IsArray(value);
	case KEY_NUMBER:
		return cJSON_IsNumber(value);
	default:
		return cJSON_IsObject(value);
	}
}

static const char *
first_type_words(struct check *c, const struct key *row)
{
	switch (row->type) {
	case KEY_TEXT:
		return "a text";
	case KEY_WORD:
		return spoken(c->arena, row->choices);
	case KEY_TEXTS:
		return "a list of texts";
	case KEY_WORDS:
		return "a list of these";
	case KEY_LIST:
		return "a list";
	case KEY_NUMBER:
		return "a number";
	default:
		return arena_printf(c->arena, "an object with %s",
				    json_keys_known(c->table, c->arena,
						    row->same));
	}
}

/* The types of a row for a message: "a number, a text or an object with min
 * max". */
static const char *
wanted_words(struct check *c, const struct key *row)
{
	const struct {
		unsigned kinds;
		const char *words;
	} others[] = {
		{ OR_REAL | OR_INTEGER, "a number" },
		{ OR_TEXT, row->type == KEY_WORDS
				   ? spoken(c->arena, row->choices)
				   : "a text" },
		{ OR_FLAG, "true or false" },
		{ OR_NULL, "null" },
		{ OR_INTEGERS, "a list of integers" },
	};
	const char *text = "";

	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		if ((row->also & others[i].kinds) != 0) {
			text = arena_printf(c->arena, "%s%s%s", text,
					    text[0] != '\0' ? ", " : "",
					    others[i].words);
		}
	}
	return arena_printf(c->arena, "%s or %s", text,
			    first_type_words(c, row));
}

/* Checks a value that has one of the row's other types (row->also), not its
 * first one. False if the value must be removed from the tree. */
static bool
check_other(struct check *c, struct json j, const struct key *row,
	    const char *words)
{
	static const struct key exact = { .least = -JSON_EXACT,
					  .most = JSON_EXACT };
	const struct key *range = row->type == KEY_NUMBER ? row : &exact;
	bool good = true;

	if (cJSON_IsString(j.value)) {
		return check_text(c, j, row, words);
	}
	if (cJSON_IsNumber(j.value)) {
		return (row->also & OR_REAL) != 0 || check_number(j, range);
	}
	for (struct json at = json_first(j);
	     cJSON_IsArray(j.value) && at.value != NULL;
	     at = json_next(j, at)) {
		good &= check_number(at, range);
	}
	return good;
}

/* Checks a value by its row; words: the placeholders of the enclosing object,
 * which texts may use. False if the value must be removed from the tree. */
static bool
check_value(struct check *c, struct json j, cJSON *value, const struct key *row,
	    const char *words)
{
	words = row->words != NULL ? row->words : words;
	if ((row->also & kinds_of(value)) != 0) {
		return check_other(c, j, row, words);
	}
	if (row->also != 0 && !is_first_type(row, value)) {
		return json_error(j, "%s is expected here",
				  wanted_words(c, row));
	}
	switch (row->type) {
	case KEY_PROSE:
	case KEY_TEXT:
	case KEY_WORD:
		return check_text(c, j, row, words);
	case KEY_TEXTS:
	case KEY_WORDS:
	case KEY_NUMBERS:
		return check_array(c, j, row, words);
	case KEY_FLAG:
		json_bool(j);
		return cJSON_IsBool(value);
	case KEY_NUMBER:
		return check_number(j, row);
	case KEY_REAL:
		return cJSON_IsNumber(value) ||
		       json_error(j, "a number is expected here");
	case KEY_OBJECT:
		if (cJSON_IsObject(value) &&
		    !check_length(j, row, row->least > 1 ? "keys" : "key")) {
			return false;
		}
		return check_object(c, j, value, row->pointer, words);
	case KEY_LIST:
		return check_list(c, j, value, row, words);
	case KEY_SAME:
		return check_object(c, j, value, row->same, words);
	case KEY_CHOICE:
		return check_choice(c, j, value, row, words);
	case KEY_GONE:
		return json_error(j, "there is no such key any more: %s",
				  row->doc);
	}
	return true;
}

void
json_keys_check(const struct key_table *table, struct json root, cJSON *tree)
{
	struct check c = { table, &root.reader->module->arena };

	json_check_characters(root);
	check_object(&c, root, tree, "", table->templates ? "" : NULL);
}

/* -- read -- */

struct names
json_names(struct json j)
{
	struct names names;

	names.data = json_texts(j, &names.n);
	return names;
}

static void
store(const struct key *row, struct json j, void *field)
{
	switch (row->type) {
	case KEY_PROSE:
	case KEY_TEXT:
	case KEY_WORD:
		assert(row->size == sizeof(const char *));
		*(const char **)field = cJSON_IsString(j.value)
						? json_text(j, false)
						: row->otherwise;
		break;
	case KEY_TEXTS:
		assert(row->size == sizeof(struct names));
		*(struct names *)field = json_names(j);
		break;
	case KEY_FLAG:
		assert(row->size == sizeof(bool) || row->size == sizeof(int));
		if (row->size == sizeof(int)) {
			*(int *)field = j.value != NULL ? json_bool(j)
							: (int)row->absent;
		} else {
			*(bool *)field = j.value != NULL ? json_bool(j)
							 : row->absent != 0;
		}
		break;
	case KEY_NUMBER:
		assert(row->size == sizeof(int64_t) ||
		       row->size == sizeof(int));
		if (row->size == sizeof(int64_t)) {
			*(int64_t *)field = json_int(j, row->least, row->most,
						     row->absent);
		} else {
			*(int *)field = (int)json_int(j, row->least, row->most,
						      row->absent);
		}
		break;
	default:
		assert(!"a field of another type");
	}
}

int64_t
json_keys_number(const struct key *row, const void *from)
{
	const void *field = (const char *)from + row->offset;

	assert(row->type == KEY_NUMBER && row->size > 0);
	return row->size == sizeof(int64_t) ? *(const int64_t *)field
					    : *(const int *)field;
}

void
json_keys_read(const struct key_table *table, struct json j, const char *place,
	       void *to, void *ctx)
{
	for (int i = 0; i < table->n; i++) {
		const struct key *row = &table->rows[i];
		struct json at;

		if (!json_keys_is_below(row, place) ||
		    strcmp(last_part(row->pointer), "*") == 0) {
			continue;
		}
		at = json_get(j, last_part(row->pointer));
		if (row->size > 0) {
			store(row, at, (char *)to + row->offset);
		} else if (row->type == KEY_OBJECT) {
			json_keys_read(table, at, row->pointer, to, ctx);
		}
		if (row->read != NULL) {
			row->read(ctx, at);
		}
	}
}
