/* SPDX-License-Identifier: Apache-2.0 */
/* The members of a family of intrinsics, and their values. */
#include "intrinsic_family.h"

#include "text.h"

/* the largest N of a placeholder argument_N, the N-th argument of the call, in
 * the text of the member "begin" */
enum { ARGUMENTS_MAX = 64 };

struct value {
	const char *name, *text;
	const struct value_set *set; /* the set of values that contains it */
};

struct value_list {
	VEC(struct value) list;
};

struct value_set {
	const char *name;
	struct value_list values;
};

struct value_sets {
	VEC(const struct value_set *) list;
};

static const struct value *
find(const struct value_list *values, const char *name)
{
	for (int i = 0; i < values->list.n; i++) {
		if (strcmp(values->list.data[i].name, name) == 0) {
			return &values->list.data[i];
		}
	}
	return NULL;
}

static const struct value_set *
find_set(const struct value_sets *sets, const char *name)
{
	for (int i = 0; i < sets->list.n; i++) {
		if (strcmp(sets->list.data[i]->name, name) == 0) {
			return sets->list.data[i];
		}
	}
	return NULL;
}

/* ---- sets of values */

/* The value j as a text. A boolean is "1" or "", for the condition of a
 * section. */
static const char *
value_text(struct json j)
{
	if (cJSON_IsBool(j.value)) {
		return json_bool(j) ? "1" : "";
	}
	if (cJSON_IsNumber(j.value)) {
		return arena_printf(&j.reader->module->arena, "%lld",
				    (long long)json_int(j, INT32_MIN, INT32_MAX,
							0));
	}
	return json_text(j, true);
}

/* Is `name` a placeholder that all texts have, which a value must not
 * redefine? */
static bool
is_taken(const char *name)
{
	static const char *const words[] = { "intrinsic", "name",  "function",
					     "twin",      "first", "last" };
	bool taken = strncmp(name, "argument_", 9) == 0;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		taken |= strcmp(name, words[i]) == 0;
	}
	return taken;
}

static void
read_set(struct json j, struct value_sets *out)
{
	struct arena *a = &j.reader->module->arena;
	struct value_set *set = arena_new(a, struct value_set);

	set->name = arena_strdup(a, j.value->string);
	vec_push(a, &out->list, set);
	for (struct json at = json_first(j); at.value != NULL;
	     at = json_next(j, at)) {
		struct value v = { arena_strdup(a, at.value->string),
				   value_text(at), set };

		if (!text_is_identifier(v.name, "")) {
			json_error(at, "a value's name is a word of letters, "
				       "digits and _");
		} else if (is_taken(v.name)) {
			json_error(at,
				   "texts have a '%s' of their own; "
				   "choose another name",
				   v.name);
		}
		vec_push(a, &set->values.list, v);
	}
}

static void
add_set(const struct value_set *set, struct json at, struct value_list *out)
{
	for (int i = 0; i < set->values.list.n; i++) {
		const struct value *v = &set->values.list.data[i];
		const struct value *other = find(out, v->name);

		if (other != NULL) {
			json_error(at,
				   "the value '%s' is in the set '%s', "
				   "too",
				   v->name, other->set->name);
			return;
		}
		vec_push(&at.reader->module->arena, &out->list, *v);
	}
}

/* ---- members */

static bool
starts_with(const char *name, const char *folder)
{
	size_t n = strlen(folder);

	return strncmp(name, folder, n) == 0 &&
	       (name[n] == '\0' || name[n] == '_');
}

static void
read_member(const struct value_sets *sets, struct json j, const char *folder,
	    struct value_list *out)
{
	if (!text_is_identifier(j.value->string, "") ||
	    !starts_with(j.value->string, folder)) {
		json_error(j,
			   "a member's name is a word of letters, digits "
			   "and _ that starts with the folder's: %s_…",
			   folder);
	}
	for (struct json at = json_first(j); at.value != NULL;
	     at = json_next(j, at)) {
		const char *name = json_text(at, true);
		const struct value_set *set = find_set(sets, name);

		if (set == NULL) {
			json_error(at, "there is no set '%s' in /values", name);
		} else {
			add_set(set, at, out);
		}
	}
}

/* Reports an error if a member lacks a value that another member has: each text
 * is rendered for each member. */
static void
check_same(struct json at, const struct value_list *values, struct json other,
	   const struct value_list *others)
{
	for (int i = 0; i < others->list.n; i++) {
		const char *name = others->list.data[i].name;

		if (find(values, name) == NULL) {
			json_error(at, "it has no value '%s', which %s has",
				   name, other.value->string);
		}
	}
}

static struct tdata *
values_of(struct arena *a, const char *name, const struct value_list *values)
{
	struct tdata *data = tdata_new(a);

	tdata_text(data, "intrinsic", name);
	for (int i = 0; i < values->list.n; i++) {
		tdata_text(data, values->list.data[i].name,
			   values->list.data[i].text);
	}
	return data;
}

bool
family_read(struct json root, const char *folder, struct family *out)
{
	struct arena *a = &root.reader->module->arena;
	struct json values = json_get(root, "values");
	struct json members = json_get(root, "members");
	struct value_sets sets = { 0 };
	struct value_list first = { 0 };
	struct json first_at = { 0 };

	if (members.value == NULL && values.value != NULL) {
		json_error(values, "values are for members; there are none");
	}
	for (struct json row = json_first(values); row.value != NULL;
	     row = json_next(values, row)) {
		read_set(row, &sets);
	}
	for (struct json row = json_first(members);
	     row.value != NULL && !root.reader->failed;
	     row = json_next(members, row)) {
		struct value_list own = { 0 };
		struct family_member member = {
			.name = arena_strdup(a, row.value->string),
			.at = row,
		};

		read_member(&sets, row, folder, &own);
		if (first_at.value == NULL) {
			first = own;
			first_at = row;
		} else if (!root.reader->failed) {
			check_same(row, &own, first_at, &first);
			check_same(first_at, &first, row, &own);
		}
		member.values = values_of(a, member.name, &own);
		vec_push(a, &out->members, member);
	}
	return !root.reader->failed;
}

/* ---- texts */

/* Renders `text` with the values; returns the rendered text, NULL after a
 * diagnostic. */
static const char *
fill_text(struct json at, const char *text, const struct tdata *values)
{
	struct reader *r = at.reader;
	struct strbuf out;
	const char *filled = NULL;

	strbuf_init(&out);
	if (template_render(&r->module->diags, r->layers[0].file,
			    json_pointer(at), text, values, &out)) {
		filled = arena_strndup(&r->module->arena,
				       out.len > 0 ? out.data : "", out.len);
	} else {
		r->failed = true;
	}
	strbuf_release(&out);
	return filled;
}

/* Data for a template: the values, and for each {{argument_N}} the text
 * {{argument_N}} itself: the arguments of a call are only known where the call
 * is printed, which renders the text again. */
static const struct tdata *
with_arguments(struct arena *a, const struct tdata *values)
{
	struct tdata *data = tdata_new(a);

	tdata_outer(data, values);
	for (int i = 1; i <= ARGUMENTS_MAX; i++) {
		const char *name = arena_printf(a, "argument_%d", i);

		tdata_printf(data, name, "{{%s}}", name);
	}
	return data;
}

static cJSON *fill_value(struct json j, const struct tdata *values);

static void
fill_item(struct json j, const struct tdata *values, cJSON *to)
{
	struct arena *a = &j.reader->module->arena;
	const char *key = j.value->string;
	cJSON *item;

	if (key != NULL && strcmp(key, "begin") == 0) {
		values = with_arguments(a, values);
	}
	item = fill_value(j, values);
	if (item == NULL) {
		return;
	}
	if (key == NULL && cJSON_IsString(item) && *item->valuestring == '\0') {
		cJSON_Delete(item);
	} else if (key == NULL) {
		cJSON_AddItemToArray(to, item);
	} else {
		key = fill_text(j, key, values);
		cJSON_AddItemToObject(to, key != NULL ? key : "", item);
	}
}

static cJSON *
fill_value(struct json j, const struct tdata *values)
{
	const char *text;
	cJSON *to;

	if (cJSON_IsString(j.value)) {
		text = fill_text(j, j.value->valuestring, values);
		return text != NULL ? cJSON_CreateString(text) : NULL;
	}
	if (!cJSON_IsObject(j.value) && !cJSON_IsArray(j.value)) {
		return cJSON_Duplicate(j.value, true);
	}
	to = cJSON_IsObject(j.value) ? cJSON_CreateObject()
				     : cJSON_CreateArray();
	for (struct json item = json_first(j); item.value != NULL;
	     item = json_next(j, item)) {
		fill_item(item, values, to);
	}
	return to;
}

cJSON *
family_fill(struct json root, const struct tdata *values)
{
	cJSON *to = cJSON_CreateObject();

	for (struct json j = json_first(root); j.value != NULL;
	     j = json_next(root, j)) {
		if (strcmp(j.value->string, "values") != 0 &&
		    strcmp(j.value->string, "members") != 0) {
			fill_item(j, values, to);
		}
	}
	if (root.reader->failed) {
		cJSON_Delete(to);
		return NULL;
	}
	return to;
}

/* Does the JSON text have the key `quoted` with an array as its value, like
 * "members"? */
static bool
has_array(const char *text, const char *quoted)
{
	static const char blank[] = " \t\r\n";
	const char *p = text;

	while ((p = strstr(p, quoted)) != NULL) {
		p += strlen(quoted);
		p += strspn(p, blank);
		if (*p == ':' && p[1 + strspn(p + 1, blank)] == '[') {
			return true;
		}
	}
	return false;
}

bool
family_has(struct arena *a, const char *text, const char *folder,
	   const char *name)
{
	return strstr(text, "\"members\"") == NULL
		       ? strcmp(folder, name) == 0
		       : has_array(text, arena_printf(a, "\"%s\"", name));
}
