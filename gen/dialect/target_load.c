/* SPDX-License-Identifier: Apache-2.0 */
/* Loads targets: their dialect, and the facts that schedules and plans need. */
#include <stdlib.h>

#include "intrinsics.h"
#include "requirement.h"
#include "reserved.h"
#include "target_files.h"
#include "target_keys.h"

struct target_loader {
	struct module *m;
	struct target *t;
	const char *dir; /* --dialect-path, or NULL */
	int widest;      /* size of the target's largest vector, in bytes */
	bool is_checked; /* the target is loaded only to check its file */
};

/* Reports an error for a target that stands for the machine at hand. Only the
 * command line may use such a target (target_at_hand.c), so that the results of
 * programs and files do not depend on the machine. */
void
target_read_resolves(void *ctx, struct json j)
{
	struct target_loader *l = ctx;

	for (struct json one = json_first(json_get(j, "to")); one.value != NULL;
	     one = json_next(json_get(j, "to"), one)) {
		const char *name = json_text(one, true);

		if (l->is_checked &&
		    target_file_find(l->m, name, l->dir) == NULL) {
			json_error(one, "there is no target '%s'", name);
		}
	}
	if (j.value != NULL && !l->is_checked) {
		diag_error(&l->m->diags, DIAG_BAD_OPTION,
			   (struct diag_place){ .file = l->t->name },
			   "it stands for the machine at hand, which only the "
			   "command line asks; give it as --target, or name "
			   "another target");
		j.reader->failed = true;
	}
}

void
target_read_attributes(void *ctx, struct json j)
{
	struct target_loader *l = ctx;

	for (struct json of = json_first(j); of.value != NULL;
	     of = json_next(j, of)) {
		for (struct json one = json_first(of); one.value != NULL;
		     one = json_next(of, one)) {
			const char *name = json_text(one, true);

			if (target_file_find(l->m, name, l->dir) == NULL) {
				json_error(one, "there is no target '%s'",
					   name);
			}
		}
	}
}

void
target_read_vectors(void *ctx, struct json j)
{
	struct target_loader *l = ctx;
	struct dtype *list = arena_array(&l->m->arena, struct dtype,
					 json_length(j) + 1);
	int n = 0;

	for (struct json one = json_first(j); one.value != NULL;
	     one = json_next(j, one)) {
		struct dtype t;

		if (!dtype_from_name(json_text(one, true), &t) || t.lanes < 2) {
			json_error(one, "vectors such as f32x4 are wanted "
					"here, best first");
			continue;
		}
		if (dtype_bytes(t) * t.lanes > l->t->vector_bytes) {
			continue;
		}
		list[n++] = t;
		if (dtype_bytes(t) * t.lanes > l->widest) {
			l->widest = dtype_bytes(t) * t.lanes;
		}
	}
	l->t->vectors = (struct dtype_list){ list, n };
}

/* Sets the alignment. Vectors are aligned to their size, so the alignment is at
 * least the size of the largest vector, also if the file inherits a smaller
 * alignment from a target with shorter vectors. */
void
target_read_alignment(void *ctx, struct json j)
{
	struct target_loader *l = ctx;
	struct target *t = l->t;

	t->align_bytes = t->align_bytes > l->widest ? t->align_bytes
						    : l->widest;
	if ((t->align_bytes & (t->align_bytes - 1)) != 0) {
		json_error(j, "a power of two is wanted here");
	}
}

/* Reads a list of requirements: the target's relies_on becomes the first
 * requirement whose vectors are not longer than the target's, or stays unset if
 * no requirement is like this. */
void
target_read_relies_on(void *ctx, struct json j)
{
	struct target_loader *l = ctx;
	struct requirement *r;

	for (struct json one = json_first(j); one.value != NULL;
	     one = json_next(j, one)) {
		if (json_int(json_get(one, "vector_bytes"), 1, INT32_MAX, 1) >
		    l->t->vector_bytes) {
			continue;
		}
		r = arena_new(&l->m->arena, struct requirement);
		r->macros = json_names(json_get(one, "macros"));
		r->flags = json_text(json_get(one, "flags"), true);
		r->otherwise = json_text(json_get(one, "otherwise"), true);
		l->t->relies_on = r;
		return;
	}
}

void
target_read_runtime(void *ctx, struct json j)
{
	struct target_loader *l = ctx;
	struct simulator *s = &l->t->simulator;
	const char **list;

	s->n_runtime = json_length(j);
	list = arena_array(&l->m->arena, const char *, s->n_runtime + 1);
	for (struct json one = json_first(j); one.value != NULL;
	     one = json_next(j, one)) {
		list[one.index] = json_text(one, true);
	}
	s->runtime = list;
}

/* Reads j, the name of a tensor intrinsic; reports an error if no intrinsic has
 * this name. NULL if j is absent. */
static const char *
read_intrinsic(const struct target_loader *l, struct json j)
{
	const char *name = json_text(j, false);

	if (name != NULL && !intrinsic_is_there(l->m, l->dir, name)) {
		json_error(j, "there is no tensor intrinsic '%s'", name);
	}
	return name;
}

void
target_read_products(void *ctx, struct json j)
{
	struct target_loader *l = ctx;
	struct target *t = l->t;
	struct product_instr *list;

	t->n_products = json_length(j);
	list = arena_array(&l->m->arena, struct product_instr,
			   t->n_products + 1);
	for (struct json one = json_first(j); one.value != NULL;
	     one = json_next(j, one)) {
		struct json load = json_get(one, "load");

		list[one.index] = (struct product_instr){
			.multiply = read_intrinsic(l,
						   json_get(one, "multiply")),
			.fill = read_intrinsic(l, json_get(one, "fill")),
			.store = read_intrinsic(l, json_get(one, "store")),
			.load = { read_intrinsic(l, json_at(load, 0)),
				  read_intrinsic(l, json_at(load, 1)) },
		};
	}
	t->products = list;
}

/* The size of a row in bytes must be a multiple of this number if the dialect's
 * device has a unit that copies boxes (TMA); else 0. */
static int
read_box_bytes(struct module *m, const char *dialect, const char *dir)
{
	int bytes = 0;

	for (int i = 0; dialect != NULL && bytes == 0 && i < JSON_LAYERS_MAX;
	     i++) {
		cJSON *value =
			json_parse_file(m, dir,
					arena_printf(&m->arena,
						     "dialects/%s/dialect.json",
						     dialect));
		const cJSON *boxes =
			cJSON_GetObjectItem(cJSON_GetObjectItem(value,
								"device"),
					    "boxes");

		if (cJSON_IsNumber(cJSON_GetObjectItem(boxes, "bytes"))) {
			bytes = cJSON_GetObjectItem(boxes, "bytes")->valueint;
		}
		dialect = json_member(m, value, "extends");
		cJSON_Delete(value);
	}
	return bytes;
}

static void
read_target(struct module *m, struct target *t, struct json j, cJSON *tree,
	    const char *dir, bool is_checked)
{
	struct target_loader l = { m, t, dir, 0, is_checked };

	json_keys_check(&target_keys, j, tree);
	json_keys_read(&target_keys, j, "", t, &l);
	if (t->cache_gbytes == 0) {
		t->cache_gbytes = t->core_gbytes;
	}
	t->box_bytes = read_box_bytes(m, t->dialect, dir);
	t->fp = "default";
	t->goal = "speed";
}

/* Reads the reserved words of all languages and dialects: names must not depend
 * on the dialect in which a model is emitted. */
static void
read_reserved(struct module *m, struct target *t, const char *dir)
{
	static const char *const keys[] = { "reserved", "entry_names" };
	struct word_list words = { 0 };
	int n;
	const char *const *names = dialect_names(m, &n);

	reserved_add(m, &words, "words");
	reserved_add(m, &words, "functions");
	reserved_add(m, &words, "system");
	for (int i = 0; i < n; i++) {
		cJSON *value =
			json_parse_file(m, dir,
					arena_printf(&m->arena,
						     "dialects/%s/dialect.json",
						     names[i]));

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

static const struct target *
load(struct module *m, const char *name, const char *dir, const char *file,
     bool facts_only, bool is_checked)
{
	struct target_files files = { .reader = { .module = m },
				      .dir = dir,
				      .file = file,
				      .facts_only = facts_only };
	struct target *t = arena_new(&m->arena, struct target);
	cJSON *merged = NULL;

	name = target_files_choose(&files, name, &t->name);
	if (name == NULL) {
		target_files_free(&files);
		return NULL;
	}
	merged = target_files_merged(&files, name);
	if (merged != NULL) {
		read_target(m, t, json_root(&files.reader, merged), merged, dir,
			    is_checked);
		read_reserved(m, t, dir);
	} else {
		files.reader.failed = true;
	}
	cJSON_Delete(merged);
	target_files_free(&files);
	return files.reader.failed ? NULL : t;
}

const struct target *
target_load(struct module *m, const char *name, const char *dir)
{
	return load(m, name, dir, NULL, false, false);
}

const struct target *
target_load_from(struct module *m, const char *name, const char *dir,
		 const char *file)
{
	return load(m, name, dir, file, file != NULL, false);
}

const struct target *
target_load_named(struct module *m, const char *text, const char *dir)
{
	return load(m, text, dir, NULL, true, false);
}

const struct target *
target_check(struct module *m, const char *name, const char *dir)
{
	return load(m, name, dir, NULL, false, true);
}
