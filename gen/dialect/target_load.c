/* SPDX-License-Identifier: Apache-2.0 */
/* Targets: which dialect, and the facts that schedules and plans need. */
#include <stdlib.h>

#include "intrinsics.h"
#include "json_read.h"
#include "reserved.h"
#include "target_files.h"
#include "text.h"

/* *widest: bytes of the largest. */
static const char *
read_vectors(struct module *m, struct json j, int *widest)
{
	const char *text = "";

	*widest = 0;
	for (int i = 0; i < json_length(j); i++) {
		const char *name = json_text(json_at(j, i), true);
		struct dtype t;

		if (name == NULL) {
			continue;
		}
		if (!dtype_from_name(name, &t) || t.lanes < 2) {
			json_error(json_at(j, i), "vectors such as f32x4 are "
						  "wanted here, best first");
			continue;
		}
		text = arena_printf(&m->arena, "%s%s%sx%d", text,
				    i > 0 ? " " : "", dtype_name(t), t.lanes);
		if (dtype_bytes(t) * t.lanes > *widest) {
			*widest = dtype_bytes(t) * t.lanes;
		}
	}
	return text;
}

static const char *const fp_modes[] = { "default", "strict", "fast" };

static void
read_attributes(struct module *m, struct json j, const char *dir)
{
	const cJSON *attribute, *value;

	if (j.value == NULL || !json_is_object(j, true)) {
		return;
	}
	cJSON_ArrayForEach(attribute, j.value)
	{
		struct json values = json_get(j, attribute->string);

		if (!json_is_object(values, true)) {
			continue;
		}
		cJSON_ArrayForEach(value, values.value)
		{
			struct json one = json_get(values, value->string);
			const char *name = json_text(one, true);

			if (name != NULL &&
			    target_file_find(m, name, dir) == NULL) {
				json_error(one, "there is no target '%s'",
					   name);
			}
		}
	}
}

/* The name of a tensor intrinsic that there is. */
static const char *
read_intrinsic(struct module *m, struct json j, const char *dir, bool required)
{
	const char *name = json_text(j, required);

	if (name != NULL && !intrinsic_is_there(m, dir, name)) {
		json_error(j, "there is no tensor intrinsic '%s'", name);
	}
	return name;
}

static struct product_instr
read_product(struct module *m, struct json j, const char *dir)
{
	struct product_instr p = { .multiply = NULL };
	struct json load = json_get(j, "load");
	bool fills = json_get(j, "fill").value != NULL ||
		     json_get(j, "store").value != NULL || load.value != NULL;

	json_check_keys(j, "multiply fill load store");
	p.multiply = read_intrinsic(m, json_get(j, "multiply"), dir, true);
	p.fill = read_intrinsic(m, json_get(j, "fill"), dir, fills);
	p.store = read_intrinsic(m, json_get(j, "store"), dir, fills);
	if (load.value != NULL && json_length(load) != 2) {
		json_error(load, "two tensor intrinsics are wanted here: what "
				 "loads a, and what loads b");
		return p;
	}
	for (int i = 0; i < json_length(load); i++) {
		p.load[i] = read_intrinsic(m, json_at(load, i), dir, true);
	}
	return p;
}

static void
read_products(struct module *m, struct target *t, struct json j,
	      const char *dir)
{
	int n = json_length(j);
	struct product_instr *list = arena_array(&m->arena,
						 struct product_instr, n + 1);

	for (int i = 0; i < n; i++) {
		if (json_is_object(json_at(j, i), true)) {
			list[i] = read_product(m, json_at(j, i), dir);
		}
	}
	t->products = list;
	t->n_products = n;
}

/* Keys that there were, and what stands in their place. */
static const struct {
	const char *key, *now;
} old_keys[] = {
	{ "written_out", "it is called complete_unroll" },
	{ "byte_dot", "name the instruction in /products" },
	{ "byte_tile", "name the instruction in /products" },
	{ "brain_tile", "name the instruction in /products" },
	{ "tensor_products", "name the instructions in /products" },
	{ "tile_rows", "the description of the tensor intrinsic has /limits" },
	{ "tile_bytes", "the description of the tensor intrinsic has /limits" },
	{ "byte_block_elems", "blocks follow from /products" },
	{ "brain_block_elems", "blocks follow from /products" },
	{ "unsigned_bytes", "the sign follows from /products where "
			    "/shift_zero_points is true" },
	{ "signed_bytes", "the sign follows from /products where "
			  "/shift_zero_points is true" },
};

/* False, with messages, if the object has one of them. */
static bool
check_old_keys(struct json j)
{
	bool good = true;

	for (size_t i = 0; i < sizeof old_keys / sizeof *old_keys; i++) {
		struct json old = json_get(j, old_keys[i].key);

		if (old.value != NULL) {
			json_error(old, "there is no such key any more: %s",
				   old_keys[i].now);
			good = false;
		}
	}
	return good;
}

/* The multiple that the dialect's unit that copies boxes wants; 0: it has no
 * such unit. */
static int
read_box_bytes(struct module *m, const char *dialect, const char *dir)
{
	int bytes = 0;

	for (int i = 0; dialect != NULL && bytes == 0 && i < JSON_LAYERS_MAX;
	     i++) {
		const char *file;
		const char *text =
			data_file(m, dir,
				  arena_printf(&m->arena,
					       "dialects/%s/dialect.json",
					       dialect),
				  &file);
		cJSON *value = text != NULL ? json_parse_quietly(text, NULL)
					    : NULL;
		const cJSON *boxes =
			cJSON_GetObjectItem(cJSON_GetObjectItem(value,
								"device"),
					    "boxes");
		const cJSON *extends = cJSON_GetObjectItem(value, "extends");

		if (cJSON_IsNumber(cJSON_GetObjectItem(boxes, "bytes"))) {
			bytes = cJSON_GetObjectItem(boxes, "bytes")->valueint;
		}
		dialect = cJSON_IsString(extends)
				  ? arena_strdup(&m->arena,
						 extends->valuestring)
				  : NULL;
		cJSON_Delete(value);
	}
	return bytes;
}

static void
read_target(struct module *m, struct target *t, struct json j, const char *dir)
{
	const int64_t most = INT64_C(1) << 40;
	int widest;

	if (!check_old_keys(j)) {
		return;
	}
	json_check_keys(
		j, "extends description default aliases attributes "
		   "dialect vector_bytes vector_registers "
		   "without_fma block_elems vectors byte_vectors "
		   "products tf32 shift_zero_points l1_bytes "
		   "complete_unroll prefetch_bytes l2_bytes cores core_gflops "
		   "core_gbytes cache_gbytes fork_ns "
		   "stack_limit_bytes align_bytes align_tensors "
		   "int_bits char_bits object_bytes "
		   "scalar_accumulators max_threads block_threads "
		   "max_blocks copy_ahead_registers shared_bytes "
		   "warp_size units async_stages "
		   "cc cflags ldflags device_cflags fp_cflags");
	json_text(json_get(j, "description"), true);
	json_bool(json_get(j, "default"));
	for (int i = 0; i < json_length(json_get(j, "aliases")); i++) {
		json_text(json_at(json_get(j, "aliases"), i), true);
	}
	read_attributes(m, json_get(j, "attributes"), dir);
	t->dialect = json_text(json_get(j, "dialect"), true);
	t->vector_bytes = (int)json_int(json_get(j, "vector_bytes"), 0, 4096,
					0);
	t->vector_registers = (int)json_int(json_get(j, "vector_registers"), 0,
					    4096, 0);
	t->without_fma = json_bool(json_get(j, "without_fma"));
	t->block_elems = (int)json_int(json_get(j, "block_elems"), 0, 256, 0);
	t->vectors = read_vectors(m, json_get(j, "vectors"), &widest);
	t->byte_vectors = json_bool(json_get(j, "byte_vectors"));
	read_products(m, t, json_get(j, "products"), dir);
	t->tf32 = json_bool(json_get(j, "tf32"));
	t->shift_zero_points = json_bool(json_get(j, "shift_zero_points"));
	t->complete_unroll = (int)json_int(json_get(j, "complete_unroll"), 0,
					   4096, 0);
	t->prefetch_bytes = (int)json_int(json_get(j, "prefetch_bytes"), 0,
					  4096, 0);
	t->l1_bytes = json_int(json_get(j, "l1_bytes"), 0, most, 0);
	t->l2_bytes = json_int(json_get(j, "l2_bytes"), 0, most, 0);
	t->cores = (int)json_int(json_get(j, "cores"), 0, 4096, 0);
	t->core_gflops = (int)json_int(json_get(j, "core_gflops"), 1, 1000000,
				       1);
	t->core_gbytes = (int)json_int(json_get(j, "core_gbytes"), 1, 1000000,
				       1);
	t->cache_gbytes = (int)json_int(json_get(j, "cache_gbytes"), 1, 1000000,
					t->core_gbytes);
	t->fork_ns = (int)json_int(json_get(j, "fork_ns"), 0, 1000000000, 0);
	t->stack_limit_bytes = json_int(json_get(j, "stack_limit_bytes"), 0,
					most, 0);
	t->align_bytes = (int)json_int(json_get(j, "align_bytes"), 1, 4096, 1);
	/* What it extends may have had shorter vectors. */
	t->align_bytes = t->align_bytes > widest ? t->align_bytes : widest;
	t->align_tensors = json_bool(json_get(j, "align_tensors"));
	t->scalar_accumulators = json_bool(json_get(j, "scalar_accumulators"));
	t->int_bits = (int)json_int(json_get(j, "int_bits"), 16, 64, 0);
	t->char_bits = (int)json_int(json_get(j, "char_bits"), 8, 32, 0);
	t->object_bytes = json_int(json_get(j, "object_bytes"), 1,
				   INT64_C(1) << 62, 0);
	t->max_threads = (int)json_int(json_get(j, "max_threads"), 0, 65536, 0);
	t->shared_bytes = json_int(json_get(j, "shared_bytes"), 0, most, 0);
	t->warp_size = (int)json_int(json_get(j, "warp_size"), 0, 1024, 0);
	t->units = (int)json_int(json_get(j, "units"), 0, 65536, 0);
	t->block_threads = (int)json_int(json_get(j, "block_threads"), 1, 65536,
					 0);
	t->max_blocks = (int)json_int(json_get(j, "max_blocks"), 0, INT32_MAX,
				      0);
	t->copy_ahead_registers = (int)
		json_int(json_get(j, "copy_ahead_registers"), 0, 4096, 0);
	t->box_bytes = read_box_bytes(m, t->dialect, dir);
	t->async_stages = (int)json_int(json_get(j, "async_stages"), 0, 64, 0);
	t->cc = json_text(json_get(j, "cc"), true);
	t->cflags = json_text(json_get(j, "cflags"), true);
	t->ldflags = json_text(json_get(j, "ldflags"), false);
	t->device_cflags = json_text(json_get(j, "device_cflags"), false);
	t->device_cflags = t->device_cflags != NULL ? t->device_cflags : "";
	t->fp = fp_modes[0];
	if (json_get(j, "fp_cflags").value != NULL &&
	    json_is_object(json_get(j, "fp_cflags"), true)) {
		json_check_keys(json_get(j, "fp_cflags"), "strict fast");
		for (int i = 0; i < 2; i++) {
			t->fp_cflags[i] =
				json_text(json_get(json_get(j, "fp_cflags"),
						   fp_modes[i + 1]),
					  false);
		}
	}
	if ((t->align_bytes & (t->align_bytes - 1)) != 0) {
		json_error(json_get(j, "align_bytes"),
			   "a power of two is wanted here");
	}
}

/* The words of all languages and dialects, so that names do not depend on which
 * of them a model is emitted in. */
static void
read_reserved(struct module *m, struct target *t, const char *dir)
{
	static const char *const keys[] = { "reserved", "entry_names" };
	struct word_list words = { 0 };
	int n;
	const char *const *names = dialect_names(m, &n);

	reserved_add(m, &words, "words");
	reserved_add(m, &words, "functions");
	for (int i = 0; i < n; i++) {
		const char *file;
		const char *text =
			data_file(m, dir,
				  arena_printf(&m->arena,
					       "dialects/%s/dialect.json",
					       names[i]),
				  &file);
		cJSON *value = text != NULL ? json_parse_quietly(text, NULL)
					    : NULL;

		for (int k = 0; k < 2; k++) {
			const cJSON *list = cJSON_GetObjectItem(value, keys[k]);
			const cJSON *word;

			cJSON_ArrayForEach(word, list)
			{
				if (cJSON_IsString(word)) {
					vec_push(&m->arena, &words.list,
						 arena_strdup(
							 &m->arena,
							 word->valuestring));
				}
			}
		}
		cJSON_Delete(value);
	}
	reserved_sort(&words);
	t->reserved = words.list.data;
	t->n_reserved = words.list.n;
}

const struct target *
target_load(struct module *m, const char *name, const char *dir)
{
	struct target_files files = { .reader = { .module = m }, .dir = dir };
	struct target *t = arena_new(&m->arena, struct target);
	cJSON *merged = NULL;

	name = target_files_choose(&files, name, &t->name);
	if (name == NULL) {
		target_files_free(&files);
		return NULL;
	}
	merged = target_files_merged(&files, name);
	if (merged != NULL &&
	    json_is_object(json_root(&files.reader, merged), true)) {
		read_target(m, t, json_root(&files.reader, merged), dir);
		read_reserved(m, t, dir);
	} else {
		files.reader.failed = true;
	}
	cJSON_Delete(merged);
	target_files_free(&files);
	return files.reader.failed ? NULL : t;
}

const struct target *
target_with_fp(struct module *m, const struct target *t, const char *fp)
{
	struct target *own = arena_copy(&m->arena, t, sizeof *t);
	struct diag_place place = { .file = t->name };

	if (fp == NULL || strcmp(fp, fp_modes[0]) == 0) {
		return t;
	}
	for (int i = 0; i < 2; i++) {
		if (strcmp(fp, fp_modes[i + 1]) != 0) {
			continue;
		}
		if (t->fp_cflags[i] == NULL) {
			diag_error(&m->diags, DIAG_BAD_OPTION, place,
				   "the target does not say what --fp %s is; "
				   "leave the option out or take another "
				   "target",
				   fp);
			return NULL;
		}
		own->fp = fp_modes[i + 1];
		if (t->fp_cflags[i][0] != '\0') {
			own->cflags = arena_printf(&m->arena, "%s %s",
						   t->cflags, t->fp_cflags[i]);
		}
		return own;
	}
	place.file = "--fp";
	diag_error(&m->diags, DIAG_BAD_OPTION, place,
		   "'%s' is none of strict, default and fast", fp);
	return NULL;
}
