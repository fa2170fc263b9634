/* SPDX-License-Identifier: Apache-2.0 */
/* Targets: which dialect, and the facts that schedules and plans need. */
#include <stdlib.h>

#include "dialect.h"
#include "json_read.h"
#include "templates.h"

static const char *
read_vectors(struct module *m, struct json j)
{
	const char *text = "";

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
	}
	return text;
}

static const char *const fp_modes[] = { "default", "strict", "fast" };

static void
read_target(struct module *m, struct target *t, struct json j)
{
	const int64_t most = INT64_C(1) << 40;

	json_check_keys(j, "description default aliases dialect vector_bytes "
			"vector_registers block_elems vectors byte_dot "
			"unsigned_bytes l1_bytes "
			"prefetch_bytes "
			"l2_bytes cores core_gflops core_gbytes cache_gbytes "
			"fork_ns "
			"stack_limit_bytes align_bytes max_threads "
			"shared_bytes cc cflags ldflags fp_cflags");
	json_text(json_get(j, "description"), true);
	json_bool(json_get(j, "default"));
	for (int i = 0; i < json_length(json_get(j, "aliases")); i++) {
		json_text(json_at(json_get(j, "aliases"), i), true);
	}
	t->dialect = json_text(json_get(j, "dialect"), true);
	t->vector_bytes = (int)json_int(json_get(j, "vector_bytes"), 0, 4096,
					0);
	t->vector_registers = (int)json_int(json_get(j, "vector_registers"),
					    0, 4096, 0);
	t->block_elems = (int)json_int(json_get(j, "block_elems"), 0, 256, 0);
	t->vectors = read_vectors(m, json_get(j, "vectors"));
	t->byte_dot = json_text(json_get(j, "byte_dot"), false);
	t->unsigned_bytes = json_bool(json_get(j, "unsigned_bytes"));
	t->prefetch_bytes = (int)json_int(json_get(j, "prefetch_bytes"), 0,
					  4096, 0);
	t->l1_bytes = json_int(json_get(j, "l1_bytes"), 0, most, 0);
	t->l2_bytes = json_int(json_get(j, "l2_bytes"), 0, most, 0);
	t->cores = (int)json_int(json_get(j, "cores"), 0, 4096, 0);
	t->core_gflops = (int)json_int(json_get(j, "core_gflops"), 1, 1000000,
				       1);
	t->core_gbytes = (int)json_int(json_get(j, "core_gbytes"), 1, 1000000,
				       1);
	t->cache_gbytes = (int)json_int(json_get(j, "cache_gbytes"), 1,
					1000000, t->core_gbytes);
	t->fork_ns = (int)json_int(json_get(j, "fork_ns"), 0, 1000000000, 0);
	t->stack_limit_bytes = json_int(json_get(j, "stack_limit_bytes"), 0,
					most, 0);
	t->align_bytes = (int)json_int(json_get(j, "align_bytes"), 1, 4096,
				       1);
	t->max_threads = (int)json_int(json_get(j, "max_threads"), 0, 65536,
				       0);
	t->shared_bytes = json_int(json_get(j, "shared_bytes"), 0, most, 0);
	t->cc = json_text(json_get(j, "cc"), true);
	t->cflags = json_text(json_get(j, "cflags"), true);
	t->ldflags = json_text(json_get(j, "ldflags"), false);
	t->fp = fp_modes[0];
	if (json_get(j, "fp_cflags").value != NULL &&
	    json_is_object(json_get(j, "fp_cflags"), true)) {
		json_check_keys(json_get(j, "fp_cflags"), "strict fast");
		for (int i = 0; i < 2; i++) {
			t->fp_cflags[i] = json_text(json_get(json_get(j,
					"fp_cflags"), fp_modes[i + 1]), false);
		}
	}
	if ((t->align_bytes & (t->align_bytes - 1)) != 0) {
		json_error(json_get(j, "align_bytes"),
			   "a power of two is wanted here");
	}
}

static int
compare_words(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The reserved words of all dialects, so that names do not depend on which
 * of them a model is emitted in. */
static void
read_reserved(struct module *m, struct target *t, const char *dir)
{
	static const char *const keys[] = { "reserved", "entry_names" };
	VEC(const char *) words = { 0 };
	int n, kept = 0;
	const char *const *names = dialect_names(m, &n);

	for (int i = 0; i < n; i++) {
		const char *file;
		const char *text = data_file(m, dir, arena_printf(&m->arena,
			"dialects/%s/dialect.json", names[i]), &file);
		cJSON *value = text != NULL ? json_parse_quietly(text, NULL)
					    : NULL;

		for (int k = 0; k < 2; k++) {
			const cJSON *list = cJSON_GetObjectItem(value, keys[k]);
			const cJSON *word;

			cJSON_ArrayForEach(word, list) {
				if (cJSON_IsString(word)) {
					vec_push(&m->arena, &words,
						 arena_strdup(&m->arena,
							word->valuestring));
				}
			}
		}
		cJSON_Delete(value);
	}
	if (words.n > 0) {
		qsort(words.data, (size_t)words.n, sizeof *words.data,
		      compare_words);
	}
	for (int i = 0; i < words.n; i++) {
		if (kept == 0 || strcmp(words.data[kept - 1],
					words.data[i]) != 0) {
			words.data[kept++] = words.data[i];
		}
	}
	t->reserved = words.data;
	t->n_reserved = kept;
}

/* The embedded target that says it is the default. */
static const char *
default_target(struct module *m)
{
	int n;
	const char *const *names = target_names(m, &n);

	for (int i = 0; i < n; i++) {
		const char *file;
		const char *text = data_file(m, NULL, arena_printf(&m->arena,
			"targets/%s.json", names[i]), &file);
		cJSON *value = text != NULL ? json_parse_quietly(text, NULL)
					    : NULL;
		bool is_default = cJSON_IsTrue(cJSON_GetObjectItem(value,
								"default"));

		cJSON_Delete(value);
		if (is_default) {
			return names[i];
		}
	}
	return n > 0 ? names[0] : "none";
}

/* The embedded target that is also called that, or name itself. */
static const char *
target_called(struct module *m, const char *name)
{
	int n;
	const char *const *names = target_names(m, &n);

	for (int i = 0; i < n; i++) {
		const char *file;
		const char *text = data_file(m, NULL, arena_printf(&m->arena,
			"targets/%s.json", names[i]), &file);
		cJSON *value = text != NULL ? json_parse_quietly(text, NULL)
					    : NULL;
		const cJSON *alias;
		bool found = false;

		cJSON_ArrayForEach(alias, cJSON_GetObjectItem(value,
							      "aliases")) {
			found = found || (cJSON_IsString(alias) &&
				strcmp(alias->valuestring, name) == 0);
		}
		cJSON_Delete(value);
		if (found) {
			return names[i];
		}
	}
	return name;
}

const struct target *
target_load(struct module *m, const char *name, const char *dir)
{
	struct reader r = { .module = m };
	struct target *t = arena_new(&m->arena, struct target);
	struct diag_place place = { .file = name };
	const char *file, *text = NULL;
	cJSON *value;

	if (name == NULL) {
		name = default_target(m);
		place.file = name;
	}
	if (name[0] != '\0' && strpbrk(name, "/\\") == NULL) {
		text = data_file(m, dir, arena_printf(&m->arena,
					"targets/%s.json", name), &file);
	}
	if (text == NULL && strcmp(target_called(m, name), name) != 0) {
		return target_load(m, target_called(m, name), dir);
	}
	if (text == NULL) {
		int n;
		const char *const *known = target_names(m, &n);
		struct strbuf s;

		strbuf_init(&s);
		for (int i = 0; i < n; i++) {
			strbuf_printf(&s, " %s", known[i]);
		}
		diag_error(&m->diags, DIAG_BAD_OPTION, place,
			   "there is no such target; there are:%s",
			   s.data != NULL ? s.data : " none");
		strbuf_release(&s);
		return NULL;
	}
	value = json_parse(m, file, text);
	if (value == NULL) {
		return NULL;
	}
	r.layers[0].file = file;
	r.layers[0].value = value;
	r.n_layers = 1;
	t->name = arena_strdup(&m->arena, name);
	if (json_is_object(json_root(&r, value), true)) {
		read_target(m, t, json_root(&r, value));
		read_reserved(m, t, dir);
	}
	cJSON_Delete(value);
	return r.failed ? NULL : t;
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
				   "target", fp);
			return NULL;
		}
		own->fp = fp_modes[i + 1];
		if (t->fp_cflags[i][0] != '\0') {
			own->cflags = arena_printf(&m->arena, "%s %s",
						   t->cflags,
						   t->fp_cflags[i]);
		}
		return own;
	}
	place.file = "--fp";
	diag_error(&m->diags, DIAG_BAD_OPTION, place,
		   "'%s' is none of strict, default and fast", fp);
	return NULL;
}

/* Embedded paths that have prefix and suffix around one name. */
static const char *const *
names_between(struct module *m, const char *prefix, const char *suffix, int *n)
{
	int total;
	const struct template_file *files = template_files(&total);
	const char **list = arena_array(&m->arena, const char *, total + 1);
	size_t head = strlen(prefix), tail = strlen(suffix);

	*n = 0;
	for (int i = 0; i < total; i++) {
		const char *path = files[i].path;
		size_t length = strlen(path);

		if (length > head + tail &&
		    strncmp(path, prefix, head) == 0 &&
		    strcmp(path + length - tail, suffix) == 0) {
			list[(*n)++] = arena_strndup(&m->arena, path + head,
						     length - head - tail);
		}
	}
	return list;
}

const char *const *
dialect_names(struct module *m, int *n)
{
	return names_between(m, "dialects/", "/dialect.json", n);
}

/* Those whose dialect is there. */
const char *const *
target_names(struct module *m, int *n)
{
	int total;
	const char *const *all = names_between(m, "targets/", ".json",
					       &total);
	const char **list = arena_array(&m->arena, const char *, total + 1);

	*n = 0;
	for (int i = 0; i < total; i++) {
		const char *file;
		const char *text = data_file(m, NULL, arena_printf(&m->arena,
			"targets/%s.json", all[i]), &file);
		cJSON *value = text != NULL ? json_parse_quietly(text, NULL)
					    : NULL;
		const cJSON *dialect = cJSON_GetObjectItem(value, "dialect");

		if (cJSON_IsString(dialect) &&
		    template_find(arena_printf(&m->arena,
				"dialects/%s/dialect.json",
				dialect->valuestring)) != NULL) {
			list[(*n)++] = all[i];
		}
		cJSON_Delete(value);
	}
	return list;
}
