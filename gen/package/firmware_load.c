/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a kind of firmware package: package.json and the templates that it
 * names. If the folder of the kind does not have a template, the template
 * templates/packages/NAME, which all kinds share, is used. */
#include <string.h>

#include "firmware.h"
#include "json_read.h"
#include "template.h"
#include "text.h"

static const char *const *
own_names(struct module *m, const char *dir, int *n)
{
	*n = 0;
	return dir == NULL ? NULL
			   : data_names_in(m,
					   data_folder_is_whole(m, dir)
						   ? arena_printf(&m->arena,
								  "%s/packages",
								  dir)
						   : dir,
					   "/package.json", n);
}

const char *const *
firmware_names(struct module *m, const char *dir, int *n)
{
	int n_own, n_built_in, at = 0;
	const char *const *own = own_names(m, dir, &n_own);
	const char *const *built_in = data_names(m, "packages/",
						 "/package.json", &n_built_in);
	const char **all = arena_array(&m->arena, const char *,
				       n_own + n_built_in + 1);

	*n = 0;
	for (int i = 0; i < n_own || at < n_built_in;) {
		int order = i == n_own         ? 1
			    : at == n_built_in ? -1
					       : strcmp(own[i], built_in[at]);

		all[(*n)++] = order <= 0 ? own[i] : built_in[at];
		i += order <= 0;
		at += order >= 0;
	}
	return all;
}

static bool
unknown_kind(struct module *m, const char *name, const char *dir)
{
	struct strbuf s;
	const char *list;
	int n;
	const char *const *names = firmware_names(m, dir, &n);

	strbuf_init(&s);
	for (int i = 0; i < n; i++) {
		strbuf_printf(&s, "%s%s", i > 0 ? ", " : "", names[i]);
	}
	list = arena_strdup(&m->arena, s.data != NULL ? s.data : "none");
	strbuf_release(&s);
	return diag_error(&m->diags, DIAG_BAD_OPTION, (struct diag_place){ 0 },
			  "--package %s: there is no such kind of package; the "
			  "kinds are %s",
			  name, list);
}

bool
firmware_stays_below(const char *path)
{
	return path[0] != '/' && strstr(path, "..") == NULL;
}

/* Reports an error if a template of a file that is not C inserts a value
 * without a filter for the file's language. */
static void
check_template(struct reader *r, const struct firmware_file *f)
{
	bool is_c = text_ends_in(f->to, ".c") || text_ends_in(f->to, ".h") ||
		    text_ends_in(f->to, ".ino");

	r->failed |= !template_check_file(&r->module->diags, f->file, f->text,
					  NULL, !is_c);
}

static const char *
read_folder(struct json emitted, const char *key)
{
	struct json j = json_get(emitted, key);
	const char *folder = json_text(j, false);

	if (folder != NULL && !firmware_stays_below(folder)) {
		json_error(j, "a folder must be below the package");
	}
	return folder;
}

static void
read_file(struct module *m, struct firmware_kind *k, const char *dir,
	  struct json at)
{
	struct firmware_file f = { .to = at.value->string };
	const char *name = json_text(at, true);

	if (name == NULL) {
		return;
	}
	if (!firmware_stays_below(f.to) || !firmware_stays_below(name)) {
		json_error(at, "a path must be below the package");
		return;
	}
	f.to = arena_strdup(&m->arena, f.to);
	f.text = data_file(m, dir,
			   arena_printf(&m->arena, "packages/%s/%s", k->name,
					name),
			   &f.file);
	if (f.text == NULL) {
		f.text = data_file(m, NULL,
				   arena_printf(&m->arena, "packages/%s", name),
				   &f.file);
	}
	if (f.text == NULL) {
		json_error(at, "there is no template %s", name);
		return;
	}
	check_template(at.reader, &f);
	vec_push(&m->arena, &k->files, f);
}

static void
read_kind(struct module *m, struct firmware_kind *k, const char *dir,
	  struct json root)
{
	struct json emitted, files;

	json_check_once(root);
	json_check_keys(root, "description next emitted files");
	k->description = json_text(json_get(root, "description"), true);
	k->next = json_text(json_get(root, "next"), false);
	emitted = json_get(root, "emitted");
	files = json_get(root, "files");
	if (!json_is_object(emitted, true) || !json_is_object(files, true)) {
		return;
	}
	json_check_keys(emitted, "sources headers reports");
	k->sources = read_folder(emitted, "sources");
	k->headers = read_folder(emitted, "headers");
	k->reports = read_folder(emitted, "reports");
	if (k->sources == NULL || k->headers == NULL) {
		json_error(emitted, "the keys sources and headers are needed");
	}
	for (struct json f = json_first(files); f.value != NULL;
	     f = json_next(files, f)) {
		read_file(m, k, dir, f);
	}
}

const struct firmware_kind *
firmware_load(struct module *m, const char *name, const char *dir)
{
	struct firmware_kind *k = arena_new(&m->arena, struct firmware_kind);
	struct reader r = { .module = m, .id = DIAG_BAD_PACKAGE };
	const char *text;
	cJSON *value;

	k->name = name;
	text = strchr(name, '/') != NULL
		       ? NULL
		       : data_file(m, dir,
				   arena_printf(&m->arena,
						"packages/%s/package.json",
						name),
				   &k->file);
	if (text == NULL) {
		unknown_kind(m, name, dir);
		return NULL;
	}
	value = json_parse(m, k->file, text);
	if (value == NULL) {
		return NULL;
	}
	r.n_layers = 1;
	r.layers[0].file = k->file;
	r.layers[0].value = value;
	read_kind(m, k, dir, json_root(&r, value));
	cJSON_Delete(value);
	return r.failed ? NULL : k;
}
