/* SPDX-License-Identifier: Apache-2.0 */
/* Reads tensors: types, shapes, and constants, from the JSON or from the
 * constants' file, which stays mapped. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json_put.h"
#include "provenance.h"
#include "reading.h"
#include "size_text.h"

#define MAX_ELEMS ((int64_t)1 << 46)

bool
read_type(struct reading *in, struct json j, struct dtype *out)
{
	const char *name = json_text(j, true);

	(void)in;
	if (name == NULL) {
		return false;
	}
	if (!dtype_from_name(name, out) || out->lanes != 1 ||
	    !(dtype_is_int(*out) || dtype_is_float(*out) ||
	      out->kind == DT_BOOL)) {
		return json_error(j,
				  "'%s' is not an element type; write one such "
				  "as float32 or int8",
				  name);
	}
	return true;
}

/* -- numbers -- */

bool
read_int(struct json j, int64_t *out)
{
	double v = cJSON_IsNumber(j.value) ? j.value->valuedouble : 0.5;
	char *end;

	if (cJSON_IsString(j.value)) {
		errno = 0;
		*out = strtoll(j.value->valuestring, &end, 10);
		if (end != j.value->valuestring && *end == '\0' && errno == 0) {
			return true;
		}
	} else if (v == floor(v) && fabs(v) <= (double)JSON_EXACT) {
		*out = (int64_t)v;
		return true;
	}
	return json_error(j,
			  "an integer is expected here; beyond 2^53 write it "
			  "as a string");
}

static bool
read_uint(struct json j, uint64_t *out)
{
	int64_t v;
	char *end;

	if (cJSON_IsString(j.value) && j.value->valuestring[0] != '-') {
		errno = 0;
		*out = strtoull(j.value->valuestring, &end, 10);
		if (end != j.value->valuestring && *end == '\0' && errno == 0) {
			return true;
		}
	} else if (cJSON_IsNumber(j.value) && j.value->valuedouble >= 0 &&
		   read_int(j, &v)) {
		*out = (uint64_t)v;
		return true;
	}
	return json_error(j, "an integer of at least 0 is expected here");
}

bool
read_float(struct json j, double *out)
{
	if (cJSON_IsNumber(j.value)) {
		*out = j.value->valuedouble;
		return true;
	}
	if (cJSON_IsString(j.value)) {
		const char *text = j.value->valuestring;
		const char *plain = text + (text[0] == '-');

		if (strcmp(plain, "inf") == 0) {
			*out = text[0] == '-' ? -HUGE_VAL : HUGE_VAL;
			return true;
		}
		if (strcmp(text, "nan") == 0) {
			*out = (double)NAN;
			return true;
		}
	}
	return json_error(j, "a number, \"inf\", \"-inf\" or "
			     "\"nan\" is expected here");
}

static bool
read_number(struct json j, struct dtype t, union number *out)
{
	if (dtype_is_float(t)) {
		if (!read_float(j, &out->f)) {
			return false;
		}
		*out = number_round(t, *out);
		return true;
	}
	if (dtype_class(t) == DTC_UINT) {
		return read_uint(j, &out->u) &&
		       (out->u <= dtype_max_int(t) ||
			json_error(j, "the type cannot represent this number"));
	}
	if (t.kind == DT_BOOL && cJSON_IsBool(j.value)) {
		out->i = cJSON_IsTrue(j.value);
		return true;
	}
	return read_int(j, &out->i) &&
	       ((out->i >= dtype_min_int(t) &&
		 (out->i < 0 || (uint64_t)out->i <= dtype_max_int(t))) ||
		json_error(j, "the type cannot represent this number"));
}

/* -- constants -- */

static bool
open_weights(struct reading *in, struct json j)
{
	const char *why = "cannot be read: out of memory";

	if (in->weights != NULL) {
		return true;
	}
	if (in->weights_refused) {
		return false;
	}
	if (in->weights_name == NULL) {
		return json_error(j,
				  "the partition names no file of constants; "
				  "add the key weights at the top");
	}
	in->weights = onnx_file_map_beside(in->file, "partition", in->folder,
					   in->weights_name, &in->m->arena,
					   &why);
	in->weights_refused = in->weights == NULL;
	return !in->weights_refused ||
	       json_error(j, "the file of constants, %s, %s", in->weights_name,
			  why);
}

/* Makes v share the bytes of the constant `name` in the graph before the edit,
 * if they are equal; else copies the new bytes. */
static void
keep_bytes(struct reading *in, const char *name, struct value *v)
{
	const struct tensor *t = graph_find_tensor(in->before, name);
	const struct value *old = t != NULL ? t->value : NULL;

	if (old != NULL && old->data != NULL && old->bytes == v->bytes &&
	    dtype_equal(old->type, v->type) &&
	    memcmp(old->data, v->data, v->bytes) == 0) {
		v->data = old->data;
		v->mapped = old->mapped;
	} else {
		v->data = arena_copy(&in->m->arena, v->data, v->bytes);
		v->mapped = false;
	}
}

static bool
value_in_file(struct reading *in, struct json object, struct value *v)
{
	struct json bytes = json_get(object, "bytes");
	struct json digest = json_get(object, "digest");
	const char *text = json_text(digest, true);
	int64_t at, n;

	if (text == NULL || !read_int(json_get(object, "offset"), &at) ||
	    !read_int(bytes, &n) || !open_weights(in, object)) {
		return false;
	}
	if (n != (int64_t)v->bytes) {
		return json_error(bytes, "type and shape need %lld bytes",
				  (long long)v->bytes);
	}
	if (at < 0 || at > (int64_t)in->weights->length ||
	    n > (int64_t)in->weights->length - at) {
		return json_error(json_get(object, "offset"),
				  "%s has only %zu bytes; write the "
				  "partition again",
				  in->weights_name, in->weights->length);
	}
	v->data = in->weights->base + at;
	v->mapped = in->weights->kind == BYTES_MAPPED;
	if (strcmp(sha256_text_of(&in->m->arena, v->data, v->bytes, v->mapped),
		   text) != 0) {
		return json_error(digest,
				  "the bytes of %s have another digest; the "
				  "file belongs to another partition, or its "
				  "digest was not updated",
				  in->weights_name);
	}
	if (!number_bools_valid(v->type, v->data, v->elems, &n)) {
		return json_error(
			object,
			"element %lld of its bools in %s is neither 0 "
			"nor 1; write the partition again",
			(long long)n, in->weights_name);
	}
	if (in->before != NULL) {
		keep_bytes(in,
			   object.value->string != NULL ? object.value->string
							: "",
			   v);
	}
	return true;
}

static bool
value_in_text(struct reading *in, struct json list, struct value *v)
{
	char *data;

	if (!cJSON_IsArray(list.value) ||
	    cJSON_GetArraySize(list.value) != v->elems) {
		return json_error(list,
				  "the shape needs a list of %lld numbers "
				  "here",
				  (long long)v->elems);
	}
	data = arena_alloc(&in->m->arena, v->bytes + 1);
	for (struct json j = json_first(list); j.value;
	     j = json_next(list, j)) {
		union number x;

		if (!read_number(j, v->type, &x)) {
			return false;
		}
		number_store(v->type, data, (size_t)j.index, x);
	}
	v->data = data;
	return true;
}

bool
read_value(struct reading *in, struct json object, struct dtype type,
	   int64_t elems, const struct value **out)
{
	struct value *v = arena_new(&in->m->arena, struct value);
	struct json values = json_get(object, "values");
	struct json splat = json_get(object, "splat");
	struct json offset = json_get(object, "offset");
	bool ok;

	v->type = type;
	v->elems = elems;
	v->bytes = (size_t)elems * (size_t)dtype_bytes(type);
	if ((values.value != NULL) + (splat.value != NULL) +
		    (offset.value != NULL) !=
	    1) {
		return json_error(object, "a constant has exactly one of "
					  "values, splat and offset");
	}
	ok = values.value != NULL  ? value_in_text(in, values, v)
	     : splat.value != NULL ? read_number(splat, type, &v->fill)
				   : value_in_file(in, object, v);
	*out = v;
	return ok;
}

/* -- tensors -- */

static const struct expr *
read_size(struct reading *in, struct json j)
{
	int64_t v;
	const char *place;

	if (cJSON_IsString(j.value) &&
	    j.value->valuestring[strspn(j.value->valuestring, "-0123456789")] !=
		    '\0') {
		place = arena_printf(&in->m->arena, "%s: %s",
				     in->r.layers[0].file, json_pointer(j));
		return size_read(in->g, in->symbols,
				 arena_strdup(&in->m->arena,
					      j.value->valuestring),
				 place);
	}
	return read_int(j, &v) ? expr_index(in->m, v) : NULL;
}

static const struct expr **
read_sizes(struct reading *in, struct json list, int *n)
{
	const struct expr **sizes;

	if (!cJSON_IsArray(list.value)) {
		json_error(list, list.value == NULL
					 ? "is missing"
					 : "a list is expected here");
		return NULL;
	}
	*n = cJSON_GetArraySize(list.value);
	sizes = arena_exprs(&in->m->arena, *n + 1);
	for (struct json j = json_first(list); j.value;
	     j = json_next(list, j)) {
		sizes[j.index] = read_size(in, j);
		if (sizes[j.index] == NULL) {
			return NULL;
		}
	}
	return sizes;
}

static bool
read_shape(struct reading *in, struct json j, struct tensor *t)
{
	const struct expr **shape = read_sizes(in, j, &t->ndim);
	int64_t elems, v;

	if (shape == NULL) {
		t->ndim = -1;
		return false;
	}
	t->shape = shape;
	if (t->ndim > ONNX_MAX_RANK) {
		return json_error(j, "the tensor has more dimensions than "
				     "any operator supports");
	}
	for (int d = 0; d < t->ndim; d++) {
		if (!size_is_index(shape[d]->type) ||
		    (expr_is_int(shape[d], &v) && v < 0)) {
			return json_error(json_at(j, d),
					  "sizes are integers of at least 0, "
					  "of the type int32 or int64");
		}
	}
	return (tensor_max_elems(t, &elems) && elems <= MAX_ELEMS) ||
	       json_error(j, "the tensor has more elements than any machine "
			     "can address");
}

/* Reads the formula with which a constant was computed from the model's
 * constants. False after a diagnostic. */
static bool
read_maker(struct reading *in, struct json j, struct tensor *t)
{
	const char *recipe = json_text(json_get(j, "recipe"), false);
	struct json sources = json_get(j, "sources");
	struct json origins = json_get(j, "origins");
	struct constant_sources from = { 0 };
	struct origin_list of = { 0 };
	int origin;

	if (recipe == NULL) {
		return true;
	}
	if (json_length(sources) > 0) {
		for (struct json one = json_first(sources); one.value;
		     one = json_next(sources, one)) {
			const char *name = json_text(one, true);

			if (name == NULL) {
				return false;
			}
			vec_push(&in->m->arena, &from.names, name);
		}
	}
	if (json_length(origins) > 0) {
		for (struct json one = json_first(origins); one.value;
		     one = json_next(origins, one)) {
			if (!read_origin(in, one, &origin)) {
				return false;
			}
			vec_push(&in->m->arena, &of.list, origin);
		}
	}
	provenance_restore(in->g, t, recipe, &from, &of);
	return true;
}

/* Reads the elements of t, a tensor of sizes that are known when the code is
 * generated. False after a diagnostic. */
static bool
read_known(struct reading *in, struct json list, struct tensor *t)
{
	int64_t elems;

	t->elems = read_sizes(in, list, &t->n_elems);
	if (t->elems == NULL) {
		return false;
	}
	if (!tensor_const_elems(t, &elems) || elems != t->n_elems) {
		return json_error(list,
				  "%d elements do not fit the shape; give one "
				  "for each element",
				  t->n_elems);
	}
	for (int i = 0; i < t->n_elems; i++) {
		if (!size_is_element(t->type, t->elems[i])) {
			return json_error(
				json_at(list, i),
				"this is not an element of a tensor of "
				"type %s; write a number, or make "
				"the type int64",
				dtype_name(t->type));
		}
	}
	return true;
}

/* Reads the dimensions of t whose sizes are assumed. False after a diagnostic. */
static bool
read_assumed(struct json list, struct tensor *t)
{
	for (int i = 0; i < json_length(list); i++) {
		int64_t d = json_int(json_at(list, i), 0, t->ndim - 1, -1);

		if (d < 0) {
			return false;
		}
		t->assumed_dims |= (uint32_t)1 << d;
	}
	return true;
}

bool
read_tensor(struct reading *in, struct json j, const char *name)
{
	struct json known = json_get(j, "known");
	struct json model_name = json_get(j, "model_name");
	struct tensor *t;
	const char *from;
	int64_t elems;

	json_check_keys(j, "type shape from values splat offset bytes digest "
			   "known model_name recipe sources origins assumed");
	if (*name == '\0' || graph_find_tensor(in->g, name) != NULL) {
		return json_error(j, *name == '\0'
					     ? "the tensor has no name"
					     : "this name is given twice; "
					       "remove one");
	}
	t = graph_tensor(in->g, name);
	if (!read_type(in, json_get(j, "type"), &t->type) ||
	    !read_shape(in, json_get(j, "shape"), t) ||
	    !read_assumed(json_get(j, "assumed"), t)) {
		return false;
	}
	t->typed = true;
	t->model_name = model_name.value == NULL ? t->name
			: cJSON_IsNull(model_name.value)
				? NULL
				: json_text(model_name, false);
	if (known.value != NULL) {
		return read_known(in, known, t);
	}
	if (json_get(j, "values").value == NULL &&
	    json_get(j, "splat").value == NULL &&
	    json_get(j, "offset").value == NULL) {
		return true;
	}
	if (!tensor_const_elems(t, &elems)) {
		return json_error(json_get(j, "shape"),
				  "the sizes of a constant must be numbers");
	}
	from = json_text(json_get(j, "from"), false);
	t->from = from;
	return read_maker(in, j, t) &&
	       read_value(in, j, t->type, elems, &t->value);
}
