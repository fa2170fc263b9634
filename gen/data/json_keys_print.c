/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a table of keys as a JSON Schema, and as tables for docs/. */
#include <string.h>

#include "json_keys.h"

static const char *
last_part(const char *pointer)
{
	return strrchr(pointer, '/') + 1;
}

static bool
is_star(const struct key *row)
{
	return strcmp(last_part(row->pointer), "*") == 0;
}

/* -- schema -- */

struct schema {
	const struct key_table *table;
	struct arena *arena;
};

static cJSON *value_schema(struct schema *s, const struct key *row);

static cJSON *
typed(const char *type)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "type", type);
	return j;
}

static cJSON *
array_of(cJSON *items)
{
	cJSON *j = typed("array");

	cJSON_AddItemToObject(j, "items", items);
	return j;
}

static cJSON *
reference(struct schema *s, const char *name)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "$ref",
				arena_printf(s->arena, "#/definitions/%s",
					     name));
	return j;
}

static cJSON *
words_schema(struct schema *s, const char *words, char between)
{
	const char stop[] = { between, '\0' };
	cJSON *j = cJSON_CreateObject();
	cJSON *list = cJSON_AddArrayToObject(j, "enum");

	for (;;) {
		size_t n = strcspn(words, stop);

		cJSON_AddItemToArray(list, cJSON_CreateString(
						   arena_strndup(s->arena,
								 words, n)));
		if (words[n] == '\0') {
			return j;
		}
		words += n + 1;
	}
}

static cJSON *
number_schema(const struct key *row)
{
	cJSON *j = typed("integer");

	if (row->least > -JSON_EXACT) {
		cJSON_AddNumberToObject(j, "minimum", (double)row->least);
	}
	if (row->most < JSON_EXACT) {
		cJSON_AddNumberToObject(j, "maximum", (double)row->most);
	}
	if (row->type == KEY_NUMBER && row->absent >= row->least &&
	    row->absent <= row->most) {
		cJSON_AddNumberToObject(j, "default", (double)row->absent);
	}
	return j;
}

/* The name of the schema's definition for the objects in row->same. */
static const char *
same_name(struct schema *s, const struct key *row)
{
	return arena_strndup(s->arena, row->same + 1,
			     strcspn(row->same + 1, " "));
}

/* Adds to the schema of an object that its keys must be among `words`. */
static void
name_keys(struct schema *s, cJSON *object, const char *words)
{
	cJSON_AddItemToObject(object, "propertyNames",
			      words_schema(s, words, ' '));
}

/* Adds that the keys in row->with are required if the key of the row is
 * present. */
static void
add_dependency(cJSON *object, const struct key *row, struct arena *a)
{
	cJSON *all = cJSON_GetObjectItem(object, "dependencies");
	const char *words = row->with;
	cJSON *list;

	if (all == NULL) {
		all = cJSON_AddObjectToObject(object, "dependencies");
	}
	list = cJSON_AddArrayToObject(all, last_part(row->pointer));
	while (*words != '\0') {
		size_t n = strcspn(words, " ");

		cJSON_AddItemToArray(list, cJSON_CreateString(
						   arena_strndup(a, words, n)));
		words += n + (words[n] == ' ');
	}
}

/* The schema of an object at `place`. whole: the object must have all required
 * keys, because its file cannot inherit any. */
static cJSON *
object_schema(struct schema *s, const char *place, bool whole)
{
	cJSON *j = typed("object"), *properties = NULL, *others = NULL;
	cJSON *needed = cJSON_CreateArray();

	for (int i = 0; i < s->table->n; i++) {
		const struct key *row = &s->table->rows[i];

		if (!json_keys_is_below(row, place) || row->type == KEY_GONE) {
			continue;
		}
		if (is_star(row)) {
			others = value_schema(s, row);
			if (row->names != NULL) {
				name_keys(s, j, row->names);
			}
			continue;
		}
		if (properties == NULL) {
			properties = cJSON_AddObjectToObject(j, "properties");
		}
		cJSON_AddItemToObject(properties, last_part(row->pointer),
				      value_schema(s, row));
		if (row->with != NULL) {
			add_dependency(j, row, s->arena);
		}
		if (row->needed && (whole || row->own)) {
			cJSON_AddItemToArray(needed,
					     cJSON_CreateString(
						     last_part(row->pointer)));
		}
	}
	if (needed->child != NULL) {
		cJSON_AddItemToObject(j, "required", needed);
	} else {
		cJSON_Delete(needed);
	}
	cJSON_AddItemToObject(j, "additionalProperties",
			      others != NULL ? others : cJSON_CreateFalse());
	return j;
}

static cJSON *
with_length(cJSON *array, const struct key *row)
{
	if (row->least > 0 || row->most > 0) {
		cJSON_AddNumberToObject(array, "minItems", (double)row->least);
	}
	if (row->most > 0) {
		cJSON_AddNumberToObject(array, "maxItems", (double)row->most);
	}
	return array;
}

static cJSON *
list_schema(struct schema *s, const struct key *row)
{
	const struct key *each = json_keys_element(s->table, row);
	const char *place = arena_printf(s->arena, "%s/*", row->pointer);

	return with_length(array_of(each != NULL
					    ? value_schema(s, each)
					    : object_schema(s, place, true)),
			   row);
}

/* The name of the schema's definition for a CHOICE. */
static const char *
choice_name(struct schema *s, const struct key *row)
{
	return arena_printf(s->arena, "%s_or_more", same_name(s, row));
}

static cJSON *
with_keys(cJSON *object, const struct key *row)
{
	if (row->least > 0) {
		cJSON_AddNumberToObject(object, "minProperties",
					(double)row->least);
	}
	return object;
}

/* A schema for values that match a or b; b may be NULL. */
static cJSON *
one_of(cJSON *a, cJSON *b)
{
	cJSON *j = cJSON_CreateObject();
	cJSON *list = cJSON_AddArrayToObject(j, "oneOf");

	cJSON_AddItemToArray(list, a);
	if (b != NULL) {
		cJSON_AddItemToArray(list, b);
	}
	return j;
}

/* The schema of an integer as the second allowed type of a key: with the range
 * in the row if the row is one for numbers. */
static cJSON *
integer_schema(const struct key *row)
{
	return row->type == KEY_NUMBER ? number_schema(row) : typed("integer");
}

/* Appends to list, a "oneOf", a schema for each type that the key may have
 * besides its main one (row->also). */
static void
add_others(struct schema *s, cJSON *list, const struct key *row)
{
	if ((row->also & OR_TEXT) != 0) {
		cJSON_AddItemToArray(list,
				     row->choices != NULL
					     ? words_schema(s, row->choices,
							    '|')
					     : typed("string"));
	}
	if ((row->also & OR_REAL) != 0) {
		cJSON_AddItemToArray(list, typed("number"));
	}
	if ((row->also & OR_INTEGER) != 0) {
		cJSON_AddItemToArray(list, integer_schema(row));
	}
	if ((row->also & OR_INTEGERS) != 0) {
		cJSON_AddItemToArray(list, array_of(integer_schema(row)));
	}
	if ((row->also & OR_FLAG) != 0) {
		cJSON_AddItemToArray(list, typed("boolean"));
	}
	if ((row->also & OR_NULL) != 0) {
		cJSON_AddItemToArray(list, typed("null"));
	}
}

static cJSON *
type_schema(struct schema *s, const struct key *row)
{
	switch (row->type) {
	case KEY_TEXTS:
		return with_length(array_of(typed("string")), row);
	case KEY_WORD:
		return words_schema(s, row->choices, '|');
	case KEY_WORDS:
		return array_of(words_schema(s, row->choices, '|'));
	case KEY_FLAG:
		return typed("boolean");
	case KEY_NUMBER:
		return number_schema(row);
	case KEY_NUMBERS:
		return array_of(number_schema(row));
	case KEY_REAL:
		return typed("number");
	case KEY_OBJECT:
		return with_keys(object_schema(s, row->pointer,
					       !s->table->extends),
				 row);
	case KEY_LIST:
		return list_schema(s, row);
	case KEY_SAME:
		return reference(s, same_name(s, row));
	case KEY_CHOICE:
		return reference(s, choice_name(s, row));
	default:
		return typed("string");
	}
}

static cJSON *
value_schema(struct schema *s, const struct key *row)
{
	cJSON *j = type_schema(s, row), *examples;

	if (row->also != 0) {
		j = one_of(j, NULL);
		add_others(s, cJSON_GetObjectItem(j, "oneOf"), row);
	}
	if (row->type == KEY_FLAG && row->absent > 0) {
		cJSON_AddTrueToObject(j, "default");
	}
	if (row->doc != NULL) {
		cJSON_AddStringToObject(j, "description", row->doc);
	}
	if (row->example != NULL) {
		examples = cJSON_AddArrayToObject(j, "examples");
		cJSON_AddItemToArray(examples,
				     json_parse_quietly(row->example, NULL));
	}
	return j;
}

/* Adds to `to` the schemas to which others refer: those of the objects in
 * row->same, and those of the values of rows of type KEY_CHOICE. */
static void
add_definitions(struct schema *s, cJSON *to)
{
	for (int i = 0; i < s->table->n; i++) {
		const struct key *row = &s->table->rows[i];
		const char *name = row->same != NULL ? same_name(s, row) : NULL;
		cJSON *each;

		if (name != NULL && cJSON_GetObjectItem(to, name) == NULL) {
			cJSON_AddItemToObject(
				to, name,
				object_schema(s, row->same,
					      !s->table->extends));
		}
		if (row->type == KEY_CHOICE) {
			each = typed("object");
			name_keys(s, each, row->choice);
			cJSON_AddItemToObject(each, "additionalProperties",
					      reference(s, name));
			cJSON_AddItemToObject(to, choice_name(s, row),
					      one_of(reference(s, name), each));
		}
	}
}

const char *
json_keys_schema(const struct key_table *table, struct arena *a)
{
	struct schema s = { table, a };
	cJSON *j = cJSON_CreateObject(), *whole, *definitions;
	const char *text;
	struct strbuf print;

	cJSON_AddStringToObject(j, "$schema",
				"http://json-schema.org/draft-07/schema#");
	cJSON_AddStringToObject(j, "$comment",
				"SPDX-License-Identifier: Apache-2.0");
	cJSON_AddStringToObject(j, "title", table->title);
	cJSON_AddStringToObject(j, "description", table->doc);
	whole = object_schema(&s, "", !table->extends);
	while (whole->child != NULL) {
		cJSON *item = cJSON_DetachItemViaPointer(whole, whole->child);

		cJSON_AddItemToObject(j, arena_strdup(a, item->string), item);
	}
	cJSON_Delete(whole);
	definitions = cJSON_CreateObject();
	add_definitions(&s, definitions);
	if (definitions->child != NULL) {
		cJSON_AddItemToObject(j, "definitions", definitions);
	} else {
		cJSON_Delete(definitions);
	}
	strbuf_init(&print);
	json_put(&print, j, true);
	text = arena_printf(a, "%s\n", print.data);
	strbuf_release(&print);
	cJSON_Delete(j);
	return text;
}

/* -- manual -- */

/* The first type that a row allows for its key, in words for the manual:
 * "texts", "0 to 8, else 4". "" for the types of words. */
static const char *
first_type_words(struct arena *a, const struct key_table *table,
		 const struct key *row)
{
	switch (row->type) {
	case KEY_TEXTS:
		return "texts";
	case KEY_WORD:
	case KEY_WORDS:
		return "";
	case KEY_FLAG:
		return row->absent > 0 ? "true or false, else true"
				       : "true or false";
	case KEY_NUMBER:
		return row->absent >= row->least && row->most < JSON_EXACT
			       ? arena_printf(a, "%lld to %lld, else %lld",
					      (long long)row->least,
					      (long long)row->most,
					      (long long)row->absent)
			       : "integer";
	case KEY_NUMBERS:
		return "integers";
	case KEY_REAL:
		return "number";
	case KEY_LIST:
		return json_keys_element(table, row) != NULL
			       ? "list"
			       : "list of objects";
	case KEY_OBJECT:
	case KEY_SAME:
	case KEY_CHOICE:
		return "object";
	default:
		return "text";
	}
}

/* The types of a row in a table: "text or texts", "number, text or object". */
static const char *
type_words(struct arena *a, const struct key_table *table,
	   const struct key *row)
{
	static const struct {
		enum key_other other;
		const char *word;
	} words[] = {
		{ OR_REAL, "number" }, { OR_INTEGER, "integer" },
		{ OR_TEXT, "text" },   { OR_FLAG, "true or false" },
		{ OR_NULL, "null" },   { OR_INTEGERS, "integers" },
	};
	const char *first = first_type_words(a, table, row), *text = "";

	if (row->also == 0 || row->choices != NULL) {
		return first;
	}
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if ((row->also & words[i].other) != 0) {
			text = arena_printf(a, "%s%s%s", text,
					    text[0] != '\0' ? ", " : "",
					    words[i].word);
		}
	}
	return arena_printf(a, "%s or %s", text, first);
}

/* Prints the words of a list in Markdown's code font, separated by commas:
 * "a|b" as "`a`, `b`", if `between` is '|'. */
static void
put_words(struct strbuf *s, const char *words, char between)
{
	const char stop[] = { between, '\0' };
	bool first = true;

	while (*words != '\0') {
		size_t n = strcspn(words, stop);

		if (n > 0) {
			strbuf_printf(s, "%s`%.*s`", first ? "" : ", ", (int)n,
				      words);
			first = false;
		}
		words += n + (words[n] == between);
	}
}

/* Prints a list of placeholders, "a b c", in Markdown's code font. If the list
 * begins with a set of placeholders that has a name (struct key_words), prints
 * this name in place of the set. */
static void
put_placeholders(struct strbuf *s, const struct key_table *table,
		 const char *words)
{
	for (int i = 0; i < table->n_sets; i++) {
		size_t n = strlen(table->sets[i].words);

		if (strncmp(words, table->sets[i].words, n) == 0 &&
		    (words[n] == ' ' || words[n] == '\0')) {
			strbuf_puts(s, table->sets[i].name);
			if (words[n] != '\0') {
				strbuf_puts(s, ", ");
				put_words(s, words + n + 1, ' ');
			}
			return;
		}
	}
	put_words(s, words, ' ');
}

/* Prints the name of a key for the manual: "`limits.int_bits`"; or "`literal`
 * of a type". */
static void
put_key(struct strbuf *s, const char *pointer)
{
	const char *p = pointer[0] == '#' ? strchr(pointer, '/') : pointer;

	strbuf_puts(s, "`");
	for (p++; *p != '\0'; p++) {
		strbuf_putc(s, *p == '/' ? '.' : *p);
	}
	strbuf_puts(s, "`");
	if (pointer[0] == '#') {
		strbuf_puts(s, strchr("aeiou", pointer[1]) != NULL ? " of an "
								   : " of a ");
		for (p = pointer + 1; *p != '/'; p++) {
			strbuf_putc(s, *p == '_' ? ' ' : *p);
		}
	}
}

static void
put_row(struct strbuf *s, const struct key_table *table, const struct key *row,
	struct arena *a)
{
	strbuf_puts(s, "| ");
	put_key(s, row->pointer);
	strbuf_printf(s, " | %s", type_words(a, table, row));
	if (row->choices != NULL) {
		put_words(s, row->choices, '|');
	}
	strbuf_printf(s, " | %s", row->doc);
	if (row->words != NULL && row->words[0] != '\0') {
		strbuf_puts(s, "; placeholders: ");
		put_placeholders(s, table, row->words);
	}
	if (row->example != NULL) {
		strbuf_printf(s, "; for example `%s`", row->example);
	}
	strbuf_puts(s, " |\n");
}

/* Does the table for a place show the row? It shows the keys of the object at
 * `place`, and the keys of objects below it whose pointers have a * in place of
 * a key or an index. */
static bool
is_shown(const struct key *row, const char *place)
{
	size_t n = strlen(place);
	const char *rest = row->pointer + n;

	if (row->doc == NULL || row->type == KEY_GONE ||
	    strncmp(row->pointer, place, n) != 0 || *rest != '/') {
		return false;
	}
	while (strncmp(rest, "/*/", 3) == 0) {
		rest += 2;
	}
	return strchr(rest + 1, '/') == NULL;
}

const char *
json_keys_manual(const struct key_table *table, struct arena *a,
		 const char *places)
{
	struct strbuf s;
	const char *text;

	strbuf_init(&s);
	strbuf_puts(&s, "| key | value | is |\n|---|---|---|\n");
	while (*places != '\0') {
		size_t n = strcspn(places, " ");
		const char *place = arena_strndup(a, places, n);

		place = strcmp(place, "/") == 0 ? "" : place;
		for (int i = 0; i < table->n; i++) {
			if (is_shown(&table->rows[i], place)) {
				put_row(&s, table, &table->rows[i], a);
			}
		}
		places += n + (places[n] == ' ');
	}
	text = arena_strdup(a, s.data);
	strbuf_release(&s);
	return text;
}
