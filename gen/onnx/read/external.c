/* SPDX-License-Identifier: Apache-2.0 */
/* External data: the data of a tensor is in a separate file in the model's
 * folder (beside.c), at an offset and with a length. */
#include <errno.h>
#include <stdlib.h>

#include "importer.h"

struct external {
	const char *location;
	uint64_t offset, length;
	bool has_length;
};

static bool
parse_size(const char *text, uint64_t *value)
{
	char *end;

	if (text[0] < '0' || text[0] > '9') {
		return false;
	}
	errno = 0;
	unsigned long long v = strtoull(text, &end, 10);
	*value = v;
	return errno == 0 && *end == '\0';
}

static bool
parse_entries(const struct tensor_source *source, const Onnx__TensorProto *p,
	      struct diag_place place, struct external *e)
{
	struct module *m = source->module;

	for (size_t i = 0; i < p->n_external_data; i++) {
		const char *key = p->external_data[i]->key;
		const char *value = p->external_data[i]->value;
		uint64_t *number = NULL;

		if (!key || !value) {
			continue;
		}
		if (strcmp(key, "location") == 0) {
			e->location = value;
		} else if (strcmp(key, "offset") == 0) {
			number = &e->offset;
		} else if (strcmp(key, "length") == 0) {
			number = &e->length;
			e->has_length = true;
		}
		if (number && !parse_size(value, number)) {
			return diag_error(
				&m->diags, DIAG_EXTERNAL_DATA, place,
				"its external data has %s %s; it must be a "
				"number of bytes",
				key, import_quote(&m->arena, value));
		}
	}
	if (!e->location) {
		return diag_error(
			&m->diags, DIAG_EXTERNAL_DATA, place,
			"its external data has no location; export the model "
			"again");
	}
	return true;
}

bool
external_find(const struct tensor_source *source, const Onnx__TensorProto *p,
	      const char *item, const uint8_t **data, size_t *length,
	      bool *mapped)
{
	struct module *m = source->module;
	struct diag_place place = { .file = source->path, .item = item };
	struct external e = { 0 };
	const struct onnx_map *map;
	const char *why = "cannot be read: out of memory";

	if (!parse_entries(source, p, place, &e)) {
		return false;
	}
	const char *shown = import_quote(&m->arena, e.location);
	if (!source->folder) {
		return diag_error(
			&m->diags, DIAG_EXTERNAL_DATA, place,
			"its data is in the file %s; give the model as a file "
			"beside it",
			shown);
	}
	map = onnx_file_map_beside(source->file, "model", source->folder,
				   e.location, &m->arena, &why);
	if (!map) {
		return diag_error(&m->diags, DIAG_EXTERNAL_DATA, place,
				  "its data file %s %s", shown, why);
	}
	if (e.offset > map->length ||
	    (e.has_length && e.length > map->length - e.offset)) {
		return diag_error(
			&m->diags, DIAG_EXTERNAL_DATA, place,
			"its data is %llu bytes from byte %llu of %s, which "
			"has only %zu bytes; copy the whole file",
			(unsigned long long)e.length,
			(unsigned long long)e.offset, shown, map->length);
	}
	*data = map->base + e.offset;
	*mapped = map->kind == BYTES_MAPPED;
	*length = e.has_length ? (size_t)e.length
			       : map->length - (size_t)e.offset;
	return true;
}
