/* SPDX-License-Identifier: Apache-2.0 */
/* Reads how a dialect spells kernels that many threads run, and their
 * launches. */
#include "dialect_keys.h"
#include "dialect_load.h"

static struct dtype
type_called(struct json at, const char *name)
{
	for (int k = 0; k < DT_COUNT; k++) {
		struct dtype t = dtype_of((enum dtype_kind)k);

		if (strcmp(dtype_short(t), name) == 0) {
			return t;
		}
	}
	json_error(at, "no type is called '%s'", name);
	return dtype_of(DT_VOID);
}

/* Reads "wmma.accumulator": { "f32": { "spelling": …, "tile": [16, 16] } } */
static void
read_fragment(struct loader *l, const char *scope, struct json row,
	      const char *type)
{
	struct json tile = json_get(row, "tile");
	struct fragment_form f = { .scope = arena_strdup(&l->m->arena, scope) };

	json_keys_read(&dialect_keys, row, "/device/fragments/*/*", &f, l);
	f.type = type_called(row, type);
	if (json_length(tile) != 2) {
		json_error(row, "a tile of two extents is wanted");
		return;
	}
	for (int i = 0; i < 2; i++) {
		f.tile[i] = json_int(json_at(tile, i), 1, 1024, 1);
	}
	vec_push(&l->m->arena, &l->d->device.fragments, f);
}

void
dialect_read_fragments(void *ctx, struct json j)
{
	const cJSON *scope, *type;

	cJSON_ArrayForEach(scope, j.value)
	{
		struct json types = json_get(j, scope->string);

		cJSON_ArrayForEach(type, types.value)
		{
			read_fragment(ctx, scope->string,
				      json_get(types, type->string),
				      type->string);
		}
	}
}

void
dialect_read_instructions(void *ctx, struct json j)
{
	struct loader *l = ctx;
	const cJSON *one;

	cJSON_ArrayForEach(one, j.value)
	{
		struct instruction_form f = {
			.name = arena_strdup(&l->m->arena, one->string),
		};

		json_keys_read(&dialect_keys, json_get(j, one->string),
			       "/device/instructions/*", &f, l);
		if ((f.text == NULL) == (f.helper == NULL)) {
			json_error(json_get(j, one->string),
				   "exactly one of text and helper");
		} else if (f.helper != NULL &&
			   dialect_helper(l->d, f.helper) == NULL) {
			json_error(json_get(j, one->string),
				   "no helper is called '%s'", f.helper);
		}
		vec_push(&l->m->arena, &l->d->device.instructions, f);
	}
}

void
dialect_read_letters(void *ctx, struct json j)
{
	struct loader *l = ctx;
	const cJSON *item;

	cJSON_ArrayForEach(item, j.value)
	{
		struct json row = json_get(j, item->string);
		struct box_type letter = {
			.type = type_called(row, item->string),
			.name = json_text(row, false),
		};

		vec_push(&l->m->arena, &l->d->device.assembly.letters, letter);
	}
}

void
dialect_read_assembly_words(void *ctx, struct json j)
{
	struct loader *l = ctx;
	const cJSON *item;

	cJSON_ArrayForEach(item, j.value)
	{
		struct assembly_word word = {
			.from = arena_strdup(&l->m->arena, item->string),
			.to = json_text(json_get(j, item->string), false),
		};

		if (*word.from == '\0') {
			json_error(j, "nothing stands for an empty word");
			return;
		}
		vec_push(&l->m->arena, &l->d->device.assembly.words, word);
	}
}

void
dialect_read_families(void *ctx, struct json j)
{
	struct loader *l = ctx;
	const cJSON *item;

	cJSON_ArrayForEach(item, j.value)
	{
		struct assembly_family family = {
			.begins = arena_strdup(&l->m->arena, item->string),
			.operands = json_text(json_get(j, item->string), false),
		};

		vec_push(&l->m->arena, &l->d->device.assembly.families, family);
	}
}

void
dialect_check_models(void *ctx, struct json j)
{
	const struct device_forms *f = &((struct loader *)ctx)->d->device;

	if (j.value == NULL) {
		return;
	}
	if (f->host == NULL && f->model_launch == NULL) {
		json_error(json_get(j, "launch"), "is missing");
	}
	if (f->pointer != NULL && f->number == NULL) {
		json_error(json_get(j, "number"), "is missing");
	}
	if (f->reader != NULL && f->read == NULL) {
		json_error(json_get(j, "read"), "is missing");
	}
}

void
dialect_read_async_bytes(void *ctx, struct json j)
{
	struct device_forms *f = &((struct loader *)ctx)->d->device;

	for (int i = 0; i < json_length(j); i++) {
		f->async_bytes |= json_int(json_at(j, i), 1, 4096, 0);
	}
}

void
dialect_want_helper(void *ctx, struct json j)
{
	const char *key = json_text(j, false);

	if (key != NULL &&
	    dialect_helper(((struct loader *)ctx)->d, key) == NULL) {
		json_error(j, "no helper is called '%s'", key);
	}
}

/* Reads "ranks": { "2": "copy_2d" } */
void
dialect_read_box_ranks(void *ctx, struct json j)
{
	struct loader *l = ctx;
	const cJSON *item;

	cJSON_ArrayForEach(item, j.value)
	{
		struct json row = json_get(j, item->string);
		struct box_rank rank = { .helper = json_text(row, false) };

		dialect_want_helper(l, row);
		if (item->string[0] < '1' || item->string[0] > '9' ||
		    item->string[1] != '\0') {
			json_error(row, "a number of dimensions from 1 to 9 is "
					"wanted");
		}
		rank.rank = item->string[0] - '0';
		vec_push(&l->m->arena, &l->d->device.boxes.ranks, rank);
	}
}

void
dialect_read_box_layouts(void *ctx, struct json j)
{
	struct loader *l = ctx;
	const cJSON *item;

	cJSON_ArrayForEach(item, j.value)
	{
		struct box_layout layout = {
			.scope = arena_strdup(&l->m->arena, item->string),
		};

		json_keys_read(&dialect_keys, json_get(j, item->string),
			       "/device/boxes/layouts/*", &layout, l);
		vec_push(&l->m->arena, &l->d->device.boxes.layouts, layout);
	}
}

void
dialect_read_box_types(void *ctx, struct json j)
{
	struct loader *l = ctx;
	const cJSON *item;

	cJSON_ArrayForEach(item, j.value)
	{
		struct json row = json_get(j, item->string);
		struct box_type type = {
			.type = type_called(row, item->string),
			.name = json_text(row, false),
		};

		vec_push(&l->m->arena, &l->d->device.boxes.types, type);
	}
}

void
dialect_read_device(void *ctx, struct json j)
{
	((struct loader *)ctx)->d->device.file = json_file(
		json_get(j, "rejected"));
}
