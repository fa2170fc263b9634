/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the folders of tensor intrinsics: intrinsic.json and the texts. */
#include "intrinsics.h"

#include <stdlib.h>

#include "json_read.h"
#include "text.h"

struct intrinsic_loader {
	struct module *m;
	const char *dir;
	struct reader reader;
	const char *name; /* of the folder at hand */
};

static const char *
folder_file(struct intrinsic_loader *l, const char *name, const char **file)
{
	return data_file(l->m, l->dir, arena_printf(&l->m->arena,
			"intrinsics/%s/%s", l->name, name), file);
}

/* The file that j names; a mistake if there is none. */
static const char *
read_file(struct intrinsic_loader *l, struct json j, const char **file)
{
	const char *name = json_text(j, true);
	const char *text;

	*file = NULL;
	if (name == NULL) {
		return NULL;
	}
	if (strpbrk(name, "/\\") != NULL) {
		json_error(j, "a file of the same folder is wanted here");
		return NULL;
	}
	text = folder_file(l, name, file);
	if (text == NULL) {
		json_error(j, "there is no file %s", *file);
	}
	return text;
}

static struct names
read_names(struct json j)
{
	struct names names;

	names.data = json_texts(j, &names.n);
	return names;
}

static void
read_text(struct intrinsic_loader *l, struct intrinsic_symbol *s,
	  struct json j)
{
	struct intrinsic_text t = {
		.dialect = arena_strdup(&l->m->arena, j.value->string)
	};

	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, "file function needs uses begin end keeps");
	t.function = json_text(json_get(j, "function"), true);
	t.needs = read_names(json_get(j, "needs"));
	t.uses = read_names(json_get(j, "uses"));
	t.begin = json_text(json_get(j, "begin"), false);
	t.end = json_text(json_get(j, "end"), false);
	t.keeps = json_bool(json_get(j, "keeps"));
	t.file = s->file;
	t.text = s->twin;
	if (json_get(j, "file").value != NULL) {
		t.text = read_file(l, json_get(j, "file"), &t.file);
	}
	vec_push(&l->m->arena, &s->texts, t);
}

static void
read_symbol(struct intrinsic_loader *l, struct intrinsic_data *d,
	    struct json j)
{
	struct intrinsic_symbol s = {
		.name = arena_strdup(&l->m->arena, j.value->string)
	};
	struct json dialects = json_get(j, "dialects");
	const cJSON *row;

	if (!text_is_identifier(s.name, "")) {
		json_error(j, "a symbol is a word of letters, digits and _");
	}
	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, "twin dialects");
	s.twin = read_file(l, json_get(j, "twin"), &s.file);
	if (json_is_object(dialects, true)) {
		cJSON_ArrayForEach(row, dialects.value) {
			read_text(l, &s, json_get(dialects, row->string));
		}
	}
	vec_push(&l->m->arena, &d->symbols, s);
}

static void
read_intrinsic(struct intrinsic_loader *l, struct intrinsic_data *d,
	       struct json j)
{
	struct json symbols = json_get(j, "symbols");
	const cJSON *row;

	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, "description script requires symbols");
	d->what = json_text(json_get(j, "description"), true);
	d->script = read_file(l, json_get(j, "script"), &d->script_file);
	d->requires = read_names(json_get(j, "requires"));
	if (json_is_object(symbols, false)) {
		cJSON_ArrayForEach(row, symbols.value) {
			read_symbol(l, d, json_get(symbols, row->string));
		}
	}
}

static bool
load_one(struct intrinsic_loader *l, struct intrinsic_set *set,
	 const char *name)
{
	struct intrinsic_data d = { .name = name };
	const char *text;
	cJSON *value;

	l->name = name;
	text = folder_file(l, "intrinsic.json", &d.file);
	value = text != NULL ? json_parse(l->m, d.file, text) : NULL;
	if (value == NULL) {
		return false;
	}
	l->reader = (struct reader){ .module = l->m, .n_layers = 1 };
	l->reader.layers[0].file = d.file;
	l->reader.layers[0].value = value;
	read_intrinsic(l, &d, json_root(&l->reader, value));
	cJSON_Delete(value);
	vec_push(&l->m->arena, &set->list, d);
	return !l->reader.failed;
}

/* ---- which there are */

struct name_list {
	VEC(const char *) list;
};

static void
add_name(struct module *m, struct name_list *l, const char *name)
{
	for (int i = 0; i < l->list.n; i++) {
		if (strcmp(l->list.data[i], name) == 0) {
			return;
		}
	}
	vec_push(&m->arena, &l->list, name);
}

/* Of dir, and, unless it stands for all that is embedded, of that. */
static void
find_names(struct module *m, const char *dir, struct name_list *out)
{
	bool whole = dir != NULL && data_folder_is_whole(m, dir);
	const char *const *names;
	int n = 0;

	if (dir != NULL) {
		names = data_names_in(m, whole ? arena_printf(&m->arena,
						"%s/intrinsics", dir) : dir,
				      "/intrinsic.json", &n);
		for (int i = 0; i < n; i++) {
			add_name(m, out, names[i]);
		}
	}
	names = data_names(m, "intrinsics/", "/intrinsic.json", &n);
	for (int i = 0; i < n && !whole; i++) {
		add_name(m, out, names[i]);
	}
	if (out->list.n > 0) {
		qsort(out->list.data, (size_t)out->list.n,
		      sizeof *out->list.data, text_compare);
	}
}

const struct intrinsic_set *
intrinsic_set_load(struct module *m, const char *dir)
{
	struct intrinsic_set *set = arena_new(&m->arena, struct intrinsic_set);
	struct intrinsic_loader l = { .m = m, .dir = dir };
	struct name_list names = { 0 };
	bool good = true;

	find_names(m, dir, &names);
	for (int i = 0; i < names.list.n; i++) {
		good &= load_one(&l, set, names.list.data[i]);
	}
	return good ? set : NULL;
}

/* ---- look-up */

const struct intrinsic_symbol *
intrinsic_set_symbol(const struct intrinsic_set *set, const char *name)
{
	for (int i = 0; i < set->list.n; i++) {
		const struct intrinsic_data *d = &set->list.data[i];

		for (int k = 0; k < d->symbols.n; k++) {
			if (strcmp(d->symbols.data[k].name, name) == 0) {
				return &d->symbols.data[k];
			}
		}
	}
	return NULL;
}

const struct intrinsic_text *
intrinsic_symbol_text(const struct intrinsic_symbol *s,
		      const struct dialect *d)
{
	for (int i = 0; i < d->chain.n; i++) {
		for (int k = 0; k < s->texts.n; k++) {
			const struct intrinsic_text *t = &s->texts.data[k];

			if (strcmp(t->dialect, d->chain.data[i]) == 0) {
				return t;
			}
		}
	}
	return NULL;
}

bool
intrinsic_text_print(struct module *m, const struct intrinsic_symbol *s,
		     const struct intrinsic_text *t, struct strbuf *out)
{
	struct tdata *data = tdata_new(&m->arena);
	struct strbuf twin;
	size_t end;
	bool good;

	strbuf_init(&twin);
	tdata_text(data, "name", s->name);
	tdata_text(data, "function", t->function);
	good = template_render(&m->diags, s->file, NULL, s->twin, data, &twin);
	end = twin.len;
	while (end > 0 && twin.data[end - 1] == '\n') {
		end--;
	}
	tdata_text(data, "twin", arena_strndup(&m->arena,
					       end ? twin.data : "", end));
	good = good && template_render(&m->diags, t->file, NULL, t->text,
				       data, out);
	strbuf_release(&twin);
	return good;
}
