/* SPDX-License-Identifier: Apache-2.0 */
/* Weights, places, inputs and outputs, numbers and options: objects of NAME.json
 * with a name, whose members are compared. */
#include "json_put.h"
#include "snapshot.h"

/* A list of objects: the member that names each, and the members that are
 * compared ("a b c"), of which a change is told with both values. */
struct list_row {
	enum difference_part part;
	const char *list, *what, *key;
	const char *members[8];
};

static const struct list_row lists[] = {
	{ PART_WEIGHTS,
	  "weights",
	  "",
	  "symbol",
	  { "dtype", "shape", "element", "recipe", "digest" } },
	{ PART_MEMORY,
	  "workspace",
	  "place ",
	  "name",
	  { "offset", "bytes", "first_call", "last_call" } },
	{ PART_INTERFACE,
	  "inputs",
	  "input ",
	  "field",
	  { "name", "dtype", "shape", "scale", "zero_point",
	    "workspace_offset" } },
	{ PART_INTERFACE,
	  "outputs",
	  "output ",
	  "field",
	  { "name", "dtype", "shape", "scale", "zero_point",
	    "workspace_offset" } },
	{ PART_INTERFACE,
	  "states",
	  "state ",
	  "field",
	  { "name", "dtype", "shape", "scale", "zero_point" } },
	{ PART_INTERFACE,
	  "dims",
	  "size ",
	  "name",
	  { "field", "min", "max", "multiple_of" } },
};

/* The kernels without their code. */
static const struct list_row kernels = {
	PART_KERNELS, "kernels", "", "name", { "title", "schedule" },
};

/* Single values: of the object `in`, or of the file itself (NULL). */
static const struct {
	enum difference_part part;
	const char *in, *member;
} values[] = {
	{ PART_MEMORY, "memory", "workspace_bytes" },
	{ PART_MEMORY, "memory", "workspace_align" },
	{ PART_MEMORY, "memory", "local_array_bytes" },
	{ PART_MEMORY, "memory", "weights_bytes" },
	{ PART_INTERFACE, NULL, "model" },
	{ PART_OPTIONS, NULL, "generator" },
	{ PART_OPTIONS, NULL, "digest" },
	{ PART_OPTIONS, NULL, "target" },
	{ PART_OPTIONS, NULL, "dialect" },
	{ PART_OPTIONS, NULL, "optimize" },
	{ PART_OPTIONS, NULL, "fp" },
	{ PART_OPTIONS, NULL, "requant" },
	{ PART_OPTIONS, NULL, "weights_form" },
	{ PART_OPTIONS, NULL, "traced" },
	{ PART_OPTIONS, NULL, "cc" },
};

/* The value of a member of the object, as JSON writes it, but a text without
 * quotes; "none" if the member is absent. */
static const char *
value_text(struct arena *a, const cJSON *object, const char *member)
{
	const cJSON *x = cJSON_GetObjectItemCaseSensitive(object, member);
	struct strbuf s;
	const char *text;

	if (x == NULL || cJSON_IsString(x)) {
		return x != NULL ? x->valuestring : "none";
	}
	strbuf_init(&s);
	json_put(&s, x, false);
	text = arena_strdup(a, s.data);
	strbuf_release(&s);
	return text;
}

/* The items of a list, with their names. */
struct items {
	VEC(const cJSON *) list;
	VEC(const char *) names;
	/* by name: the index of the first item with this name */
	struct text_map places;
};

/* Lists items. The names of weights begin with the name of the model, which is
 * left out: else all weights of two models with different names would
 * differ. */
static void
list_items(struct comparing *c, const struct snapshot *s,
	   const struct list_row *row, struct items *out)
{
	const char *model = member_text(s->json, "model");
	size_t n = strlen(model);
	const cJSON *item;

	text_map_init(&out->places, c->a);
	cJSON_ArrayForEach(item, member_list(s->json, row->list))
	{
		const char *name = member_text(item, row->key);

		if (row->part == PART_WEIGHTS && strncmp(name, model, n) == 0 &&
		    name[n] == '_') {
			name += n + 1;
		}
		text_map_add(&out->places, name, out->list.n);
		vec_push(c->a, &out->list, item);
		vec_push(c->a, &out->names, name);
	}
}

static void
compare_items(struct comparing *c, const struct list_row *row, const char *key,
	      const cJSON *old, const cJSON *new)
{
	const char *was = "", *is = "";
	const char *name = arena_printf(c->a, "%s%s", row->what, key);

	for (int i = 0; i < 8 && row->members[i] != NULL; i++) {
		const char *member = row->members[i];
		const char *x = value_text(c->a, old, member);
		const char *y = value_text(c->a, new, member);
		const char *between = was[0] != '\0' ? ", " : "";

		if (strcmp(x, y) != 0) {
			was = arena_printf(c->a, "%s%s%s %s", was, between,
					   member, x);
			is = arena_printf(c->a, "%s%s%s %s", is, between,
					  member, y);
		}
	}
	if (was[0] != '\0') {
		add_change(c, row->part, CHANGE_OTHER, name, was, is);
	} else {
		add_change(c, row->part, CHANGE_NONE, name, NULL, NULL);
	}
}

static void
add_item(struct comparing *c, const struct list_row *row, enum change change,
	 const char *key)
{
	add_change(c, row->part, change,
		   arena_printf(c->a, "%s%s", row->what, key), NULL, NULL);
}

static void
compare_list(struct comparing *c, const struct list_row *row)
{
	struct items old = { 0 }, new = { 0 };

	list_items(c, c->old, row, &old);
	list_items(c, c->new, row, &new);
	for (int k = 0; k < old.list.n; k++) {
		const char *name = old.names.data[k];
		int at = text_map_get(&new.places, name, -1);

		if (at >= 0) {
			compare_items(c, row, name, old.list.data[k],
				      new.list.data[at]);
		} else {
			add_item(c, row, CHANGE_REMOVED, name);
		}
	}
	for (int k = 0; k < new.list.n; k++) {
		if (text_map_get(&old.places, new.names.data[k], -1) < 0) {
			add_item(c, row, CHANGE_ADDED, new.names.data[k]);
		}
	}
}

/* Compares a member of two objects. */
static void
compare_value(struct comparing *c, enum difference_part part,
	      const char *member, const cJSON *old, const cJSON *new)
{
	const char *x = value_text(c->a, old, member);
	const char *y = value_text(c->a, new, member);

	if (strcmp(x, y) != 0) {
		add_change(c, part, CHANGE_OTHER, member, x, y);
	}
}

static const cJSON *
object_of(const struct snapshot *s, const char *name)
{
	return name == NULL ? s->json
			    : cJSON_GetObjectItemCaseSensitive(s->json, name);
}

/* Compares the lists "options" of the two descriptions, option by option. */
static void
compare_options(struct comparing *c)
{
	const cJSON *old = snapshot_options(c->old), *x;
	const cJSON *new = snapshot_options(c->new);

	cJSON_ArrayForEach(x, old)
	{
		compare_value(c, PART_OPTIONS, x->string, old, new);
	}
	cJSON_ArrayForEach(x, new)
	{
		if (!cJSON_HasObjectItem(old, x->string)) {
			compare_value(c, PART_OPTIONS, x->string, old, new);
		}
	}
}

void
compare_lists(struct comparing *c)
{
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		compare_value(c, values[i].part, values[i].member,
			      object_of(c->old, values[i].in),
			      object_of(c->new, values[i].in));
	}
	compare_options(c);
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		compare_list(c, &lists[i]);
	}
}

void
compare_kernel_names(struct comparing *c)
{
	compare_list(c, &kernels);
}

/* Have two lists the same number of items, of which these members are equal? */
static bool
same_members(const struct comparing *c, const char *list,
	     const char *const *members, int n)
{
	const cJSON *old = member_list(c->old->json, list), *x;
	const cJSON *y = member_list(c->new->json, list);

	if (cJSON_GetArraySize(old) != cJSON_GetArraySize(y)) {
		return false;
	}
	y = y != NULL ? y->child : NULL;
	cJSON_ArrayForEach(x, old)
	{
		for (int i = 0; i < n; i++) {
			/* as texts: to compare objects as such takes a time
			 * that grows with the square of their members */
			if (strcmp(value_text(c->a, x, members[i]),
				   value_text(c->a, y, members[i])) != 0) {
				return false;
			}
		}
		y = y->next;
	}
	return true;
}

bool
same_calls(const struct comparing *c)
{
	static const char *const calls[] = { "kernel", "arguments" };
	static const char *const weights[] = { "symbol", "dtype", "shape",
					       "element" };

	return same_members(c, "calls", calls, 2) &&
	       same_members(c, "weights", weights, 4);
}
