/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the conditions of patterns on tensors and attributes. A condition that
 * no tensor or attribute can fulfil is an error. */
#include <math.h>
#include <stdlib.h>

#include "backend_keys.h"
#include "loading.h"

enum { RANK_MAX = 64 };

bool
backend_is_word(const char *text)
{
	return text[0] >= 'a' && text[0] <= 'z' &&
	       text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_")] ==
		       '\0';
}

void
backend_want_word(struct json j, const char *name)
{
	if (!backend_is_word(name)) {
		json_error(j, "a name in lower case is wanted here");
	}
}

/* -- numbers -- */

/* Sets *out to the integers of a list, or to the single integer j. */
static void
read_integers(struct json j, struct limits *out)
{
	struct arena *a = &j.reader->module->arena;

	if (cJSON_IsNumber(j.value)) {
		vec_push(a, &out->one_of, (int64_t)j.value->valuedouble);
	}
	for (struct json item = json_first(j); item.value != NULL;
	     item = json_next(j, item)) {
		vec_push(a, &out->one_of, (int64_t)item.value->valuedouble);
	}
}

static void
read_bounds(struct json j, struct limits *out)
{
	struct json list = json_get(j, "one_of");

	json_keys_read(&backend_keys, j, "#range", out, NULL);
	read_integers(list, out);
	if (list.value != NULL && out->one_of.n == 0) {
		json_error(list, "numbers are wanted here");
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

static void
read_limits(struct json j, struct limits *out)
{
	*out = (struct limits){ .set = j.value != NULL };
	if (cJSON_IsNumber(j.value) || cJSON_IsArray(j.value)) {
		read_integers(j, out);
		j.value = NULL;
	}
	read_bounds(j, out);
	if (out->set &&
	    (none_between(out) || (j.value == NULL && out->one_of.n == 0))) {
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

/* Reads a reference to a result: "conv", or "conv.outputs.1" for one other than
 * the first. */
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
			json_error(j, "'%s' has no output with this index", id);
		}
	}
	return true;
}

static void
read_kind(struct json j, const struct pattern_scope *s,
	  struct tensor_condition *out)
{
	const char *word = json_text(j, true);

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
			   "'%s' is neither an earlier node nor any, "
			   "constant, variable, optional or absent%s",
			   word, s->has_before ? ", nor before" : "");
	}
}

static void
read_dtype(struct json j, struct tensor_condition *out)
{
	const char *name = json_text(j, true);
	struct dtype t;

	if (!dtype_from_name(name, &t) || t.lanes != 1) {
		json_error(j,
			   "'%s' is not a type; a type such as f32, i8 or "
			   "bf16 is wanted here",
			   name);
	} else {
		out->dtypes |= (uint64_t)1 << t.kind;
	}
}

static void
read_dtypes(struct json j, struct tensor_condition *out)
{
	if (cJSON_IsString(j.value)) {
		read_dtype(j, out);
		return;
	}
	for (struct json item = json_first(j); item.value != NULL;
	     item = json_next(j, item)) {
		read_dtype(item, out);
	}
	if (j.value != NULL && j.value->child == NULL) {
		json_error(j, "no type is so; the pattern cannot match");
	}
}

static void
read_shape(struct json j, struct json other, struct tensor_condition *out)
{
	out->dims = arena_array(&j.reader->module->arena, struct limits,
				json_length(j) + 1);
	for (struct json item = json_first(j); item.value != NULL;
	     item = json_next(j, item)) {
		struct json row = item;

		if (cJSON_IsString(row.value)) {
			if (strcmp(row.value->valuestring, "...") != 0 ||
			    row.value->next != NULL) {
				json_error(row,
					   "a number, limits, null or, at "
					   "the end, \"...\" is expected here");
			}
			out->more_dims = true;
			continue;
		}
		if (cJSON_IsNull(row.value)) {
			row.value = NULL;
		}
		read_limits(row, &out->dims[out->n_dims++]);
	}
	if (out->other_dims.set && !out->more_dims) {
		json_error(other, "the shape has no other dimensions: it "
				  "does not end with \"...\"");
	}
	if (out->rank.set && j.value != NULL) {
		bool possible = false;

		for (int r = out->n_dims; r <= RANK_MAX; r++) {
			possible = possible ||
				   ((r == out->n_dims || out->more_dims) &&
				    limits_hold(&out->rank, r));
		}
		if (!possible) {
			json_error(j, "no shape fulfils this and the rank; "
				      "the pattern cannot match");
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
			   "'%s' is neither this node, an earlier one, nor "
			   "an input of one (ID.inputs.N)",
			   text);
		ref.node = -1;
	}
	return ref;
}

static unsigned
layout_of(const cJSON *word)
{
	return strcmp(word->valuestring, "rows") == 0 ? LAYOUT_ROWS
						      : LAYOUT_COLUMNS;
}

static void
read_layouts(struct json j, struct tensor_condition *out)
{
	if (cJSON_IsString(j.value)) {
		out->layouts = layout_of(j.value);
	}
	for (struct json item = json_first(j); item.value != NULL;
	     item = json_next(j, item)) {
		out->layouts |= layout_of(item.value);
	}
}

/* Reports a condition for columns that no input or output can meet, and drops
 * the condition where all are row-major. Inputs and outputs of regions stay
 * row-major: an operand can be column-major only if a node of the pattern
 * transposes it (exchanges). */
void
backend_check_layout(struct json j, bool exchanges, struct tensor_condition *c)
{
	if (c->layouts == LAYOUT_COLUMNS && !exchanges) {
		json_error(json_get(j, "layout"),
			   "only a Transpose in the pattern gives columns; "
			   "the pattern cannot match");
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
		.pointer = json_pointer(j),
	};
	for (int i = 0; i < 4; i++) {
		read_limits((struct json){ .reader = j.reader },
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
	json_keys_read(&backend_keys, j, "#tensor", out, NULL);
	if (json_get(j, "is").value != NULL) {
		read_kind(json_get(j, "is"), s, out);
	}
	read_dtypes(json_get(j, "dtype"), out);
	read_limits(json_get(j, "rank"), &out->rank);
	read_limits(json_get(j, "elems"), &out->elems);
	read_limits(json_get(j, "users"), &out->users);
	read_limits(json_get(j, "other_dims"), &out->other_dims);
	read_shape(json_get(j, "shape"), json_get(j, "other_dims"), out);
	read_layouts(json_get(j, "layout"), out);
	out->same_shape = read_ref(json_get(j, "same_shape"), s);
	out->broadcasts_to = read_ref(json_get(j, "broadcasts_to"), s);
	out->row_of = read_ref(json_get(j, "row_of"), s);
	out->same_dtype = read_ref(json_get(j, "same_dtype"), s);
	value = json_get(j, "value");
	if (value.value != NULL) {
		out->has_value = true;
		out->value = value.value->valuedouble;
		if (out->kind == TENSOR_VARIABLE || out->kind == TENSOR_NODE ||
		    out->kind == TENSOR_ABSENT) {
			json_error(value, "only a constant has a value; the "
					  "pattern cannot match");
		}
	}
}

/* -- attributes -- */

static void
read_list(struct json j, struct attribute_condition *out)
{
	int64_t *list = arena_array(&j.reader->module->arena, int64_t,
				    json_length(j) + 1);

	for (struct json item = json_first(j); item.value != NULL;
	     item = json_next(j, item)) {
		list[item.index] = (int64_t)item.value->valuedouble;
	}
	out->has_list = true;
	out->list = list;
	out->n_list = json_length(j);
}

static void
read_attribute_object(struct json j, struct attribute_condition *out)
{
	struct json one = json_get(j, "one_of");
	struct json list = json_get(j, "list"), value = json_get(j, "value");

	json_keys_read(&backend_keys, j, "#attribute", out, NULL);
	if (out->must_be_absent && cJSON_GetArraySize(j.value) > 1) {
		json_error(j, "an absent attribute has no value; remove the "
			      "other conditions");
	}
	read_limits(json_get(j, "length"), &out->length);
	if (list.value != NULL) {
		read_list(list, out);
	}
	if (value.value != NULL) {
		out->has_float = true;
		out->real = value.value->valuedouble;
	}
	if (cJSON_IsString(cJSON_GetArrayItem(one.value, 0))) {
		out->texts = json_texts(one, &out->n_texts);
		return;
	}
	out->number.set = true;
	read_bounds(j, &out->number);
	if (none_between(&out->number)) {
		json_error(j, "no number fulfils this; the pattern cannot "
			      "match");
	}
}

void
backend_read_attribute(struct json j, const char *name,
		       struct attribute_condition *out)
{
	struct arena *a = &j.reader->module->arena;

	*out = (struct attribute_condition){ .name = name };
	read_limits((struct json){ .reader = j.reader }, &out->number);
	read_limits((struct json){ .reader = j.reader }, &out->length);
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
	} else {
		read_attribute_object(j, out);
	}
}

/* -- facts -- */

static void
read_default(struct json j, struct fact *out)
{
	double v = j.value->valuedouble;

	if (cJSON_IsString(j.value)) {
		out->kind = FACT_TEXT;
		out->text = json_text(j, true);
		if (strcmp(out->text, "inf") != 0 &&
		    strcmp(out->text, "-inf") != 0) {
			return;
		}
		v = out->text[0] == '-' ? -(double)INFINITY : (double)INFINITY;
	}
	out->kind = FACT_FLOAT;
	out->f = v;
	if (v >= -(double)JSON_EXACT && v <= (double)JSON_EXACT &&
	    v == (double)(int64_t)v) {
		out->kind = FACT_INT;
		out->i = (int64_t)v;
	}
}

static void
read_choices(struct json list, struct fact_rule *out)
{
	bool is_default = false;

	out->choices = json_texts(list, &out->n_choices);
	for (int i = 0; i < out->n_choices; i++) {
		is_default |= out->has_default &&
			      out->value.kind == FACT_TEXT &&
			      strcmp(out->choices[i], out->value.text) == 0;
	}
	if (!is_default || out->attribute != NULL || out->input >= 0) {
		json_error(list, "a decision has a default, one of these "
				 "texts, and neither attribute nor input");
	}
}

void
backend_read_fact(struct json j, const char *name, struct fact_rule *out)
{
	bool is_object = cJSON_IsObject(j.value);
	struct json value = is_object ? json_get(j, "default") : j;

	*out = (struct fact_rule){ .name = name, .input = -1 };
	if (value.value != NULL) {
		out->has_default = true;
		read_default(value, &out->value);
	}
	if (!is_object) {
		return;
	}
	json_keys_read(&backend_keys, j, "#fact", out, NULL);
	if (json_get(j, "one_of").value != NULL) {
		read_choices(json_get(j, "one_of"), out);
	} else if ((out->attribute == NULL) == (out->input < 0)) {
		json_error(j, "either attribute or input is expected here");
	}
}
