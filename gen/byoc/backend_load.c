/* SPDX-License-Identifier: Apache-2.0 */
/* Reads backend.json, except for its patterns. */

#include "backend_keys.h"
#include "loading.h"
#include "text.h"

/* Returns the path of the file `name` in the backend's folder. NULL after a
 * diagnostic if `name` contains the name of a folder. */
static const char *
own_file(struct backend_loader *l, const char *name, const char **file)
{
	struct arena *a = &l->m->arena;

	if (l->b->folder == NULL) {
		return data_file(l->m, NULL,
				 arena_printf(a, "byoc/%s/%s", l->b->name,
					      name),
				 file);
	}
	*file = arena_printf(a, "%s/%s", l->b->folder, name);
	return data_read(l->m, *file);
}

/* -- parts of the file -- */

/* The text of the file that j names, in the backend's folder; NULL after a
 * diagnostic. */
static const char *
read_file(struct backend_loader *l, struct json j, const char **file)
{
	const char *name = json_text(j, true), *text;

	*file = NULL;
	if (*name == '\0' || strpbrk(name, "/\\") != NULL) {
		json_error(j, "a file of the same folder is expected here");
		return NULL;
	}
	text = own_file(l, name, file);
	if (text == NULL) {
		json_error(j, "there is no file %s", *file);
	}
	return text;
}

void
backend_read_templates(void *ctx, struct json j)
{
	struct backend_loader *l = ctx;

	l->b->templates = arena_array(&l->m->arena, struct backend_file,
				      cJSON_GetArraySize(j.value) + 1);
	for (struct json item = json_first(j); item.value != NULL;
	     item = json_next(j, item)) {
		struct backend_file *f = &l->b->templates[l->b->n_templates++];

		f->key = arena_strdup(&l->m->arena, item.value->string);
		f->name = json_text(item, true);
		f->text = read_file(l, item, &f->file);
		f->shared = strncmp(f->key, "shared", 6) == 0;
	}
}

/* Reads into *f a runtime file, which is in the backend's folder or in
 * runtime-c. */
static void
read_runtime_file(struct backend_loader *l, struct json item,
		  struct backend_file *f)
{
	f->name = json_text(item, true);
	if (*f->name == '\0' || strpbrk(f->name, "/\\") != NULL) {
		json_error(item, "a file of the same folder or of runtime-c is "
				 "wanted here");
		return;
	}
	f->text = own_file(l, f->name, &f->file);
	if (f->text == NULL) {
		f->text = data_file(l->m, NULL,
				    arena_printf(&l->m->arena, "runtime/%s",
						 f->name),
				    &f->file);
	}
	if (f->text == NULL) {
		json_error(item,
			   "there is no file %s in the folder or in runtime-c",
			   f->name);
	} else if (!json_check_file(item, f->file, f->text)) {
		f->text = NULL;
	}
}

void
backend_read_runtime(void *ctx, struct json j)
{
	struct backend_loader *l = ctx;

	l->b->n_runtime = json_length(j);
	l->b->runtime = arena_array(&l->m->arena, struct backend_file,
				    l->b->n_runtime + 1);
	for (struct json item = json_first(j); item.value != NULL;
	     item = json_next(j, item)) {
		read_runtime_file(l, item, &l->b->runtime[item.index]);
	}
}

bool
backend_takes(const struct backend_option *o, const char *value)
{
	for (int i = 0; i < o->n_values; i++) {
		if (strcmp(o->values[i], value) == 0) {
			return true;
		}
	}
	return o->values == NULL && text_control(value) == NULL;
}

void
backend_read_options(void *ctx, struct json j)
{
	struct backend_loader *l = ctx;

	l->b->options = arena_array(&l->m->arena, struct backend_option,
				    cJSON_GetArraySize(j.value) + 1);
	for (struct json row = json_first(j); row.value != NULL;
	     row = json_next(j, row)) {
		struct backend_option *o = &l->b->options[l->b->n_options++];
		struct json values = json_get(row, "values");

		backend_want_word(row, row.value->string);
		o->name = arena_strdup(&l->m->arena, row.value->string);
		json_keys_read(&backend_keys, row, "/options/*", o, l);
		o->otherwise = o->value;
		if (values.value != NULL) {
			o->values = json_texts(values, &o->n_values);
		}
		if (!backend_takes(o, o->value)) {
			json_error(json_get(row, "default"),
				   "this is none of the values");
		}
	}
}

static enum region_stage
read_stage(struct json j)
{
	static const char *const stages[] = {
		[REGION_ANNOTATED] = "annotated",
		[REGION_MERGED] = "merged",
		[REGION_PARTITIONED] = "partitioned",
	};
	const char *after = json_text(j, true);
	size_t stage = 0;

	while (strcmp(stages[stage], after) != 0) {
		stage++;
	}
	return (enum region_stage)stage;
}

static void
read_pass(struct backend_loader *l, struct json j, struct region_pass *p)
{
	json_keys_read(&backend_keys, j, "/passes/*", p, l);
	p->after = read_stage(json_get(j, "after"));
	if ((p->object == NULL) == (p->command == NULL)) {
		json_error(j, "either object or command is expected here");
		return;
	}
	if (p->command != NULL) {
		p->run = l->run_command;
		return;
	}
	if (l->b->folder != NULL && p->object[0] != '/') {
		p->object = arena_printf(&l->m->arena, "%s/%s", l->b->folder,
					 p->object);
	}
	backend_open_object(l->m, json_get(j, "object"), p);
}

void
backend_read_passes(void *ctx, struct json j)
{
	struct backend_loader *l = ctx;

	l->b->passes = arena_array(&l->m->arena, struct region_pass,
				   json_length(j) + 1);
	for (struct json item = json_first(j); item.value != NULL;
	     item = json_next(j, item)) {
		read_pass(l, item, &l->b->passes[l->b->n_passes++]);
	}
}

void
backend_read_includes(void *ctx, struct json j)
{
	struct backend *b = ((struct backend_loader *)ctx)->b;

	b->includes = json_texts(j, &b->n_includes);
}

void
backend_read_header_includes(void *ctx, struct json j)
{
	struct backend *b = ((struct backend_loader *)ctx)->b;

	b->header_includes = json_texts(j, &b->n_header_includes);
}

void
backend_read_input_counts(void *ctx, struct json j)
{
	struct backend_loader *l = ctx;

	l->b->input_counts = backend_read_counts(l, j, &l->b->n_input_counts);
}

void
backend_read_output_counts(void *ctx, struct json j)
{
	struct backend_loader *l = ctx;

	l->b->output_counts = backend_read_counts(l, j, &l->b->n_output_counts);
}

void
backend_keep_chains(void *ctx, struct json j)
{
	((struct backend_loader *)ctx)->chains = j;
}

static void
read_backend(struct backend_loader *l, cJSON *tree)
{
	struct json j = json_root(&l->reader, tree);

	json_check_once(j);
	json_keys_check(&backend_keys, j, tree);
	if (!l->reader.failed) {
		json_keys_read(&backend_keys, j, "", l->b, l);
	}
}

/* -- options of the command line -- */

/* Sets the option that `text`, "option=value" of --byoc, names. False after a
 * diagnostic if the backend has no such option, or if the option cannot have
 * this value. */
static bool
set_option(struct backend_loader *l, const char *text)
{
	struct backend *b = l->b;
	const char *equals = strchr(text, '=');
	size_t length = equals != NULL ? (size_t)(equals - text) : strlen(text);
	struct diag_place place = { .file = "--byoc", .item = b->name };
	const char *known = "";

	for (int i = 0; i < b->n_options; i++) {
		struct backend_option *o = &b->options[i];
		const char *values = "";

		known = arena_printf(&l->m->arena, "%s%s%s", known,
				     i > 0 ? ", " : "", o->name);
		if (strlen(o->name) != length ||
		    strncmp(o->name, text, length) != 0) {
			continue;
		}
		for (int k = 0; k < o->n_values; k++) {
			values = arena_printf(&l->m->arena, "%s%s%s", values,
					      k > 0 ? ", " : "", o->values[k]);
		}
		if (equals == NULL || !backend_takes(o, equals + 1)) {
			return diag_error(&l->m->diags, DIAG_BAD_OPTION, place,
					  "%s is not understood; %s is %s%s",
					  text, o->name,
					  o->values != NULL
						  ? "one of "
						  : "a text without control "
						    "characters",
					  values);
		}
		o->value = equals + 1;
		return true;
	}
	return diag_error(&l->m->diags, DIAG_BAD_OPTION, place,
			  "it has no option %.*s; its options are: %s",
			  (int)length, text, *known != '\0' ? known : "none");
}

static bool
set_options(struct backend_loader *l, const char *text)
{
	while (text != NULL) {
		const char *comma = strchr(text, ',');
		const char *one = comma == NULL
					  ? text
					  : arena_strndup(&l->m->arena, text,
							  (size_t)(comma -
								   text));

		if (!set_option(l, one)) {
			return false;
		}
		text = comma != NULL ? comma + 1 : NULL;
	}
	return true;
}

/* -- the backend -- */

void
backend_close(const struct backend *b)
{
	for (int i = 0; i < b->n_passes; i++) {
		backend_close_object(&b->passes[i]);
	}
}

const struct backend *
backend_load(struct module *m, const char *text, const char *dir,
	     region_command_fn *run_command)
{
	struct found_backend found;
	struct backend_loader l = {
		.m = m,
		.b = arena_new(&m->arena, struct backend),
		.run_command = run_command,
		.reader = { .module = m, .id = DIAG_BAD_BACKEND },
	};
	const char *json;
	cJSON *tree;
	bool ok;

	if (!backend_find(m, text, dir, &found)) {
		return NULL;
	}
	l.b->name = found.name;
	l.b->folder = found.folder;
	json = own_file(&l, "backend.json", &l.b->file);
	tree = json != NULL ? json_parse(m, l.b->file, json) : NULL;
	if (tree == NULL) {
		if (json == NULL) {
			diag_error(&m->diags, DIAG_FILE_UNREADABLE,
				   (struct diag_place){ .file = l.b->file },
				   "cannot be read");
		}
		return NULL;
	}
	l.reader.layers[0].file = l.b->file;
	l.reader.layers[0].value = tree;
	l.reader.n_layers = 1;
	read_backend(&l, tree);
	cJSON_Delete(tree);
	ok = !l.reader.failed && backend_check_templates(m, l.b) &&
	     set_options(&l, found.options);
	if (!ok) {
		backend_close(l.b);
	}
	return ok ? l.b : NULL;
}
