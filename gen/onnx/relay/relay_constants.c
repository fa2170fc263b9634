/* SPDX-License-Identifier: Apache-2.0 */
/* The constants of a module, which TVM prints behind the functions:
 *
 *	#[metadata]
 *	{ "root": 1, "nodes": [ …, { "type_key": "Map", "keys": ["relay.Constant"],
 *	  "data": [2] }, { "type_key": "Array", "data": [3, 4] },
 *	  { "type_key": "relay.Constant", "attrs": { "data": "0" } }, … ],
 *	  "b64ndarrays": ["P6G0lvBA3d0…", …] }
 *
 * Each array is in base64: a magic number, the device, the rank, the type, the
 * sizes, the number of bytes, the bytes. */
#include "json_read.h"
#include "relay_read.h"

#define MAGIC UINT64_C(0xdd5e40f096b4a13f)
enum { RANK_MAX = 32 };

/* -- base64 -- */

static int
digit_of(int c)
{
	return c >= 'A' && c <= 'Z'   ? c - 'A'
	       : c >= 'a' && c <= 'z' ? c - 'a' + 26
	       : c >= '0' && c <= '9' ? c - '0' + 52
	       : c == '+'             ? 62
	       : c == '/'             ? 63
				      : -1;
}

/* The bytes that the text stands for; NULL if it is not base64. */
static const uint8_t *
decoded(struct arena *a, const char *text, size_t *n)
{
	uint8_t *out = arena_alloc(a, strlen(text) / 4 * 3 + 4);
	uint32_t bits = 0;
	int have = 0;

	*n = 0;
	for (; *text != '\0' && *text != '='; text++) {
		int digit = digit_of((unsigned char)*text);

		if (digit < 0) {
			return NULL;
		}
		bits = bits << 6 | (uint32_t)digit;
		have += 6;
		if (have >= 8) {
			have -= 8;
			out[(*n)++] = (uint8_t)(bits >> have);
		}
	}
	return out;
}

/* -- arrays -- */

struct bytes {
	const uint8_t *at, *end;
};

/* Reads a number of `width` bytes, the lowest byte first; 0 behind the end,
 * which *ok then tells. */
static uint64_t
number(struct bytes *b, int width, bool *ok)
{
	uint64_t v = 0;

	if (b->end - b->at < width) {
		*ok = false;
		return 0;
	}
	for (int i = 0; i < width; i++) {
		v |= (uint64_t)b->at[i] << (8 * i);
	}
	b->at += width;
	return v;
}

static bool
type_of(struct arena *a, uint64_t code, uint64_t bits, struct dtype *out)
{
	static const char *const kinds[] = { "int", "uint", "float", NULL,
					     "bfloat" };
	const char *kind = code < sizeof kinds / sizeof *kinds ? kinds[code]
							       : NULL;

	if (code == 1 && bits == 1) {
		*out = dtype_of(DT_BOOL);
		return true;
	}
	return kind != NULL &&
	       dtype_from_name(arena_printf(a, "%s%d", kind, (int)bits), out) &&
	       dtype_bits(*out) >= 8;
}

/* Reads an array; false if the bytes are none that tirc supports. */
static bool
read_array(struct arena *a, struct bytes b, struct relay_constant *out)
{
	uint64_t code, bits, lanes, elems = 1;
	bool ok = true;

	if (number(&b, 8, &ok) != MAGIC) {
		return false;
	}
	number(&b, 8, &ok); /* reserved */
	number(&b, 8, &ok); /* the device */
	out->ndim = (int)(number(&b, 4, &ok) & 0xffff);
	code = number(&b, 1, &ok);
	bits = number(&b, 1, &ok);
	lanes = number(&b, 2, &ok);
	if (!ok || lanes != 1 || out->ndim > RANK_MAX ||
	    !type_of(a, code, bits, &out->type)) {
		return false;
	}
	out->dims = arena_array(a, int64_t, out->ndim + 1);
	for (int d = 0; ok && d < out->ndim; d++) {
		uint64_t size = number(&b, 8, &ok);

		if (size > INT32_MAX ||
		    (size > 0 && elems > INT32_MAX / size)) {
			return false;
		}
		out->dims[d] = (int64_t)size;
		elems *= size;
	}
	out->bytes = (size_t)number(&b, 8, &ok);
	out->data = b.at;
	return ok && out->bytes == elems * (size_t)dtype_bytes(out->type) &&
	       (size_t)(b.end - b.at) >= out->bytes;
}

static bool
read_text(struct arena *a, const cJSON *text, struct relay_constant *out)
{
	const uint8_t *bytes;
	size_t n = 0;

	bytes = cJSON_IsString(text) ? decoded(a, text->valuestring, &n) : NULL;
	return bytes != NULL &&
	       read_array(a, (struct bytes){ bytes, bytes + n }, out);
}

/* -- the tree of nodes -- */

/* The number that a value is: JSON's, or a text with one; -1: neither. */
static int
index_of(const cJSON *v)
{
	int64_t i = 0;

	if (cJSON_IsNumber(v)) {
		return v->valuedouble >= 0 && v->valuedouble < INT32_MAX
			       ? (int)v->valuedouble
			       : -1;
	}
	if (!cJSON_IsString(v) || *v->valuestring == '\0') {
		return -1;
	}
	for (const char *p = v->valuestring; *p != '\0'; p++) {
		if (*p < '0' || *p > '9' || i > INT32_MAX / 10) {
			return -1;
		}
		i = i * 10 + (*p - '0');
	}
	return i <= INT32_MAX ? (int)i : -1;
}

/* The items of an array of JSON, for constant time of access. */
struct items {
	const cJSON **list;
	int n;
};

static struct items
items_of(struct arena *a, const cJSON *array)
{
	struct items out = { NULL, 0 };
	const cJSON *one;

	if (cJSON_IsArray(array)) {
		out.list = arena_array(a, const cJSON *,
				       cJSON_GetArraySize(array) + 1);
		cJSON_ArrayForEach(one, array)
		{
			out.list[out.n++] = one;
		}
	}
	return out;
}

static const cJSON *
node_at(const struct items *nodes, const cJSON *reference)
{
	int i = index_of(reference);

	return i >= 0 && i < nodes->n ? nodes->list[i] : NULL;
}

/* The list of the constants' nodes. */
static const cJSON *
constants_of(const struct items *nodes, const cJSON *root)
{
	const cJSON *map = node_at(nodes, root), *keys, *data, *key;
	int i = 0;

	keys = cJSON_GetObjectItemCaseSensitive(map, "keys");
	data = cJSON_GetObjectItemCaseSensitive(map, "data");
	cJSON_ArrayForEach(key, keys)
	{
		if (cJSON_IsString(key) &&
		    strcmp(key->valuestring, "relay.Constant") == 0) {
			return cJSON_GetObjectItemCaseSensitive(
				node_at(nodes, cJSON_GetArrayItem(data, i)),
				"data");
		}
		i++;
	}
	return NULL;
}

static bool
read_tree(struct relay_reader *r, const cJSON *tree,
	  struct relay_constants *out)
{
	const struct items nodes =
		items_of(r->tmp,
			 cJSON_GetObjectItemCaseSensitive(tree, "nodes"));
	const struct items arrays =
		items_of(r->tmp,
			 cJSON_GetObjectItemCaseSensitive(tree, "b64ndarrays"));
	const cJSON *list =
		constants_of(&nodes,
			     cJSON_GetObjectItemCaseSensitive(tree, "root"));
	/* each array is decoded once */
	struct relay_constant *read = arena_array(r->tmp, struct relay_constant,
						  arrays.n + 1);
	const cJSON *one;

	cJSON_ArrayForEach(one, list)
	{
		const cJSON *attrs =
			cJSON_GetObjectItemCaseSensitive(node_at(&nodes, one),
							 "attrs");
		int i = index_of(
			cJSON_GetObjectItemCaseSensitive(attrs, "data"));

		if (i < 0 || i >= arrays.n ||
		    (read[i].data == NULL &&
		     !read_text(r->tmp, arrays.list[i], &read[i]))) {
			return false;
		}
		vec_push(r->tmp, &out->list, read[i]);
	}
	return true;
}

bool
relay_read_constants(struct relay_reader *r, struct relay_constants *out)
{
	static const char head[] = "\n#[metadata]";
	const char *text = arena_strndup(r->tmp, r->src->text, r->src->length);
	const char *at = strstr(text, head);
	struct relay_token place = { 0 };
	cJSON *tree;
	bool ok;

	if (at == NULL) {
		return true;
	}
	place.from = (size_t)(at - text) + 1;
	place.to = place.from + strlen(head) - 1;
	tree = json_parse_quietly(at + strlen(head), NULL);
	ok = tree != NULL && read_tree(r, tree, out);
	cJSON_Delete(tree);
	return ok || relay_fail(r, &place,
				"the metadata is not TVM's, or has an array of "
				"a type that is not supported");
}
