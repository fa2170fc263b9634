/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the conditions of patterns on tensors and attributes. A condition that
 * can never hold is an error. */
#include <stdlib.h>

#include "loading.h"

enum { RANK_MAX = 64 };

bool
backend_is_word(const char *text)
{
	return text[0] >= 'a' && text[0] <= 'z' &&
	       text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_")] ==
		       '\0';
}

/* -- numbers -- */

static const int64_t most = INT64_C(1) << 53; /* exact in JSON */

static void
read_bounds(struct json j, struct limits *out)
{
	out->min = json_int(json_get(j, "min"), -most, most, INT64_MIN);
	out->max = json_int(json_get(j, "max"), -most, most, INT64_MAX);
	out->multiple = json_int(json_get(j, "multiple"), 1, most, 1);
	if (json_get(j, "one_of").value != NULL) {
		struct json list = json_get(j, "one_of");

		for (int i = 0; i < json_length(list); i++) {
			vec_push(&j.reader->module->arena, &out->one_of,
				 json_int(json_at(list, i), -most, most, 0));
		}
		if (out->one_of.n == 0) {
			json_error(list, "numbers are wanted here");
		}
	}
}

static bool
none_between(const struct limits *l)
{
	for (int i = 0; i < l->one_of.n; i++) {
		if (limits_hold(l, l->one_of.data[i])) {
			return false;
		}
	}
	return l->one_of.n > 0 || l->min > l->max;
}

/* backend_conditions.c */
static void
backend_read_limits(struct json j, struct limits *out)
{
	struct arena *a = &j.reader->module->arena;

	*out = (struct limits){ .min = INT64_MIN,
				.max = INT64_MAX,
				.multiple = 1 };
	if (j.value == NULL) {
		return;
	}
	out->set = true;
	if (cJSON_IsNumber(j.value)) {
		vec_push(a, &out->one_of, json_int(j, -most, most, 0));
	} else if (cJSON_IsArray(j.value)) {
		for (int i = 0; i < json_length(j); i++) {
			vec_push(a, &out->one_of,
				 json_int(json_at(j, i), -most, most, 0));
		}
	} else if (cJSON_IsObject(j.value)) {
		json_check_keys(j, "min max multiple one_of");
		read_bounds(j, out);
	} else {
		json_error(j, "a number, a list of numbers or an object with "
			      "min, max, multiple or one_of is wanted here");
		return;
	}
	if ((cJSON_IsArray(j.value) && out->one_of.n == 0) ||
	    none_between(out)) {
		json_error(j, "no number is so; the pattern cannot match");
	}
}

/* -- tensors -- */

static int
node_named(const struct pattern_scope *s, const char *id)
{
	for (int i = 0; i < s->n; i++) {
		if (strcmp(s->nodes[i].id, id) == 0) {
			return i;
		}
	}
	return s->has_before && strcmp(id, "before") == 0 ? BEFORE : -1;
}

/* "conv", or "conv.outputs.1" for a result other than the first. */
static bool
read_node(struct json j, const struct pattern_scope *s, const char *word,
	  struct tensor_condition *out)
{
	const char *tail = strstr(word, ".outputs.");
	char *end;
	const char *id = tail == NULL
				 ? word
				 : arena_strndup(&j.reader->module->arena, word,
						 (size_t)(tail - word));

	out->node = node_named(s, id);
	if (out->node == -1) {
		return false;
	}
	out->kind = TENSOR_NODE;
	if (tail != NULL) {
		long k = strtol(tail + 9, &end, 10);

		out->node_output = (int)k;
		if (end == tail + 9 || *end != '\0' || k < 0 || k > 255 ||
		    out->node == BEFORE) {
			json_error(j, "no such result of '%s'", id);
		}
	}
	return true;
}

static void
read_kind(struct json j, const struct pattern_scope *s,
	  struct tensor_condition *out)
{
	const char *word = json_text(j, true);

	if (word == NULL) {
		return;
	}
	if (strcmp(word, "any") == 0) {
		out->kind = TENSOR_ANY;
	} else if (strcmp(word, "constant") == 0) {
		out->kind = TENSOR_CONSTANT;
	} else if (strcmp(word, "variable") == 0) {
		out->kind = TENSOR_VARIABLE;
	} else if (strcmp(word, "absent") == 0) {
		out->kind = TENSOR_ABSENT;
	} else if (strcmp(word, "optional") == 0) {
		out->optional = true;
	} else if (!read_node(j, s, word, out)) {
		json_error(j,
			   "'%s' is no node before this one, nor one of "
			   "any, constant, variable, optional and absent%s",
			   word, s->has_before ? ", nor before" : "");
	}
}

static void
read_dtypes(struct json j, struct tensor_condition *out)
{
	int n = cJSON_IsString(j.value) ? 1 : json_length(j);

	for (int i = 0; i < n; i++) {
		struct json row = cJSON_IsString(j.value) ? j : json_at(j, i);
		const char *name = json_text(row, true);
		struct dtype t;

		if (name != NULL &&
		    (!dtype_from_name(name, &t) || t.lanes != 1)) {
			json_error(row,
				   "'%s' is no type; such as f32, i8, "
				   "bf16 are wanted here",
				   name);
		} else if (name != NULL) {
			out->dtypes |= (uint64_t)1 << t.kind;
		}
	}
	if (j.value != NULL && n == 0) {
		json_error(j, "no type is so; the pattern cannot match");
	}
}

static void
read_shape(struct json j, struct json other, struct tensor_condition *out)
{
	int n = json_length(j);

	out->dims = arena_array(&j.reader->module->arena, struct limits, n + 1);
	for (int i = 0; i < n; i++) {
		struct json row = json_at(j, i);

		if (cJSON_IsString(row.value)) {
			if (strcmp(row.value->valuestring, "...") != 0 ||
			    i != n - 1) {
				json_error(row,
					   "\"...\" at the end, a number, "
					   "limits or null are wanted here");
			}
			out->more_dims = true;
			continue;
		}
		if (cJSON_IsNull(row.value)) {
			row.value = NULL;
		}
		backend_read_limits(row, &out->dims[out->n_dims++]);
	}
	if (out->other_dims.set && !out->more_dims) {
		json_error(other, "there are no others: the shape does not "
				  "end with \"...\"");
	}
	if (out->rank.set && j.value != NULL) {
		bool possible = false;

		for (int r = out->n_dims; r <= RANK_MAX; r++) {
			possible = possible ||
				   ((r == out->n_dims || out->more_dims) &&
				    limits_hold(&out->rank, r));
		}
		if (!possible) {
			json_error(j, "no shape has that and the rank; the "
				      "pattern cannot match");
		}
	}
}

static struct tensor_ref
read_ref(struct json j, const struct pattern_scope *s)
{
	struct tensor_ref ref = { -1, -1 };
	const char *text = json_text(j, false), *tail;
	const char *id = text;
	char *end;

	if (text == NULL) {
		return ref;
	}
	tail = strstr(text, ".inputs.");
	if (tail != NULL) {
		long k = strtol(tail + 8, &end, 10);

		id = arena_strndup(&j.reader->module->arena, text,
				   (size_t)(tail - text));
		ref.input = (int)k;
		if (end == tail + 8 || *end != '\0' || k < 0 || k > 255) {
			id = "";
		}
	}
	ref.node = s->self != NULL && strcmp(s->self, id) == 0
			   ? s->n
			   : node_named(s, id);
	if (ref.node == -1 || (ref.node == BEFORE && tail != NULL)) {
		json_error(j,
			   "'%s' is no node up to this one, nor an input "
			   "of one (ID.inputs.N)",
			   text);
		ref.node = -1;
	}
	return ref;
}

static int
read_choice(struct json j)
{
	return j.value == NULL ? -1 : json_bool(j);
}

static unsigned
read_layout(struct json j)
{
	const char *text = json_text(j, true);

	if (text != NULL && strcmp(text, "rows") == 0) {
		return LAYOUT_ROWS;
	}
	if (text != NULL && strcmp(text, "columns") == 0) {
		return LAYOUT_COLUMNS;
	}
	json_error(j, "rows, columns or a list of these are wanted here");
	return 0;
}

static void
read_layouts(struct json j, struct tensor_condition *out)
{
	if (j.value != NULL && !cJSON_IsArray(j.value)) {
		out->layouts = read_layout(j);
		return;
	}
	for (int i = 0; i < json_length(j); i++) {
		out->layouts |= read_layout(json_at(j, i));
	}
}

/* Layouts are chosen after the partition, and inputs and outputs of regions
 * stay row-major; so only a node of the pattern that transposes can give a
 * column-major operand. */
void
backend_check_layout(struct json j, bool exchanges, struct tensor_condition *c)
{
	if (c->layouts == LAYOUT_COLUMNS && !exchanges) {
		json_error(json_get(j, "layout"),
			   "columns are what a Transpose "
			   "of the pattern gives; the pattern cannot match");
	}
	if (!exchanges) {
		c->layouts = 0;
	}
}

void
backend_any_tensor(struct json j, struct tensor_condition *out)
{
	*out = (struct tensor_condition){
		.node = -1,
		.is_static = -1,
		.is_parameter = -1,
		.same_shape = { -1, -1 },
		.broadcasts_to = { -1, -1 },
		.row_of = { -1, -1 },
		.same_dtype = { -1, -1 },
		.pointer = j.pointer,
	};
	for (int i = 0; i < 4; i++) {
		backend_read_limits((struct json){ .reader = j.reader },
				    i == 0   ? &out->rank
				    : i == 1 ? &out->elems
				    : i == 2 ? &out->users
					     : &out->other_dims);
	}
}

void
backend_read_tensor(struct json j, const struct pattern_scope *s,
		    struct tensor_condition *out)
{
	struct json value;

	backend_any_tensor(j, out);
	if (cJSON_IsString(j.value)) {
		read_kind(j, s, out);
		return;
	}
	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j,
			"is optional dtype rank elems users shape other_dims "
			"static layout value parameter same_shape "
			"broadcasts_to row_of same_dtype");
	if (json_get(j, "is").value != NULL) {
		read_kind(json_get(j, "is"), s, out);
	}
	out->optional = json_bool(json_get(j, "optional")) || out->optional;
	read_dtypes(json_get(j, "dtype"), out);
	backend_read_limits(json_get(j, "rank"), &out->rank);
	backend_read_limits(json_get(j, "elems"), &out->elems);
	backend_read_limits(json_get(j, "users"), &out->users);
	backend_read_limits(json_get(j, "other_dims"), &out->other_dims);
	read_shape(json_get(j, "shape"), json_get(j, "other_dims"), out);
	out->is_static = read_choice(json_get(j, "static"));
	read_layouts(json_get(j, "layout"), out);
	out->is_parameter = read_choice(json_get(j, "parameter"));
	out->same_shape = read_ref(json_get(j, "same_shape"), s);
	out->broadcasts_to = read_ref(json_get(j, "broadcasts_to"), s);
	out->row_of = read_ref(json_get(j, "row_of"), s);
	out->same_dtype = read_ref(json_get(j, "same_dtype"), s);
	value = json_get(j, "value");
	if (value.value != NULL && !cJSON_IsNumber(value.value)) {
		json_error(value, "a number is wanted here");
	} else if (value.value != NULL) {
		out->has_value = true;
		out->value = value.value->valuedouble;
		if (out->kind == TENSOR_VARIABLE || out->kind == TENSOR_NODE ||
		    out->kind == TENSOR_ABSENT) {
			json_error(value, "what is computed has no value yet; "
					  "the pattern cannot match");
		}
	}
}

/* -- attributes -- */

static void
read_list(struct json j, struct attribute_condition *out)
{
	int n = json_length(j);
	int64_t *list = arena_array(&j.reader->module->arena, int64_t, n + 1);

	for (int i = 0; i < n; i++) {
		list[i] = json_int(json_at(j, i), -most, most, 0);
	}
	out->has_list = true;
	out->list = list;
	out->n_list = n;
}

static void
read_attribute_object(struct json j, struct attribute_condition *out)
{
	struct json one = json_get(j, "one_of");
	struct json list = json_get(j, "list"), value = json_get(j, "value");

	json_check_keys(j, "min max multiple one_of list length value "
			   "or_absent absent");
	out->or_absent = json_bool(json_get(j, "or_absent"));
	out->must_be_absent = json_bool(json_get(j, "absent"));
	if (out->must_be_absent && cJSON_GetArraySize(j.value) > 1) {
		json_error(j, "what is absent has no value; leave the other "
			      "conditions out");
	}
	backend_read_limits(json_get(j, "length"), &out->length);
	if (list.value != NULL) {
		read_list(list, out);
	}
	if (value.value != NULL) {
		out->has_float = cJSON_IsNumber(value.value);
		out->real = value.value->valuedouble;
		if (!out->has_float) {
			json_error(value, "a number is wanted here");
		}
	}
	if (cJSON_IsString(cJSON_GetArrayItem(one.value, 0))) {
		out->texts = json_texts(one, &out->n_texts);
		return;
	}
	out->number.set = true;
	read_bounds(j, &out->number);
	if (none_between(&out->number)) {
		json_error(j, "no number is so; the pattern cannot match");
	}
}

void
backend_read_attribute(struct json j, const char *name,
		       struct attribute_condition *out)
{
	struct arena *a = &j.reader->module->arena;

	*out = (struct attribute_condition){ .name = name };
	backend_read_limits((struct json){ .reader = j.reader }, &out->number);
	backend_read_limits((struct json){ .reader = j.reader }, &out->length);
	if (cJSON_IsString(j.value)) {
		const char **texts = arena_array(a, const char *, 1);

		texts[0] = json_text(j, true);
		out->texts = texts;
		out->n_texts = 1;
	} else if (cJSON_IsNumber(j.value)) {
		out->has_float = true;
		out->real = j.value->valuedouble;
	} else if (cJSON_IsArray(j.value)) {
		read_list(j, out);
	} else if (cJSON_IsObject(j.value)) {
		read_attribute_object(j, out);
	} else {
		json_error(j, "a number, a text, a list or an object is wanted "
			      "here");
	}
}

/* -- facts -- */

static void
read_default(struct json j, struct fact *out)
{
	if (cJSON_IsString(j.value)) {
		out->kind = FACT_TEXT;
		out->text = json_text(j, true);
	} else if (cJSON_IsNumber(j.value)) {
		double v = j.value->valuedouble;

		out->kind = FACT_FLOAT;
		out->f = v;
		if (v >= -(double)most && v <= (double)most &&
		    v == (double)(int64_t)v) {
			out->kind = FACT_INT;
			out->i = (int64_t)v;
		}
	} else {
		json_error(j, "a number or a text is wanted here");
	}
}

void
backend_read_fact(struct json j, const char *name, struct fact_rule *out)
{
	struct json value = json_get(j, "default");

	*out = (struct fact_rule){ .name = name, .input = -1 };
	if (!cJSON_IsObject(j.value)) {
		out->has_default = true;
		read_default(j, &out->value);
		return;
	}
	json_check_keys(j, "attribute input default");
	out->attribute = json_text(json_get(j, "attribute"), false);
	out->input = (int)json_int(json_get(j, "input"), 0, 255, -1);
	if (value.value != NULL) {
		out->has_default = true;
		read_default(value, &out->value);
	}
	if ((out->attribute == NULL) == (out->input < 0)) {
		json_error(j, "either attribute or input is wanted here");
	}
}
