/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the folders of tensor intrinsics: intrinsic.json and the texts. */
#include "intrinsics.h"

#include <stdlib.h>

#include "intrinsic_family.h"
#include "text.h"

enum { ARGUMENTS_MAX = 64 }; /* of a call, that "begin" may name */

struct intrinsic_loader {
	struct module *m;
	const char *dir;
	struct reader reader;
	const char *folder;         /* at hand */
	const struct tdata *values; /* of a family's member, or NULL */
};

static const char *
folder_file(struct intrinsic_loader *l, const char *name, const char **file)
{
	return data_file(l->m, l->dir,
			 arena_printf(&l->m->arena, "intrinsics/%s/%s",
				      l->folder, name),
			 file);
}

/* A text, filled in with the values of the member at hand. */
static const char *
read_words(struct intrinsic_loader *l, struct json j, bool required)
{
	return family_fill(j, json_text(j, required), l->values);
}

/* The file that j names; a mistake if there is none. */
static const char *
read_file(struct intrinsic_loader *l, struct json j, const char **file)
{
	const char *name = read_words(l, j, true);
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

/* Of a family, those that a member's values leave empty are not there. */
static struct names
read_names(struct intrinsic_loader *l, struct json j)
{
	int total, n = 0;
	const char *const *texts = json_texts(j, &total);
	const char **list = arena_array(&l->m->arena, const char *, total + 1);

	for (int i = 0; i < total; i++) {
		const char *text = family_fill(json_at(j, i), texts[i],
					       l->values);

		if (text != NULL && (l->values == NULL || *text != '\0')) {
			list[n++] = text;
		}
	}
	return (struct names){ .data = list, .n = n };
}

/* The call's arguments are known where it is written, not here. */
static const char *
read_begin(struct intrinsic_loader *l, struct json j)
{
	const char *text = json_text(j, false);
	struct tdata *data;

	if (text == NULL || l->values == NULL) {
		return text;
	}
	data = tdata_new(&l->m->arena);
	tdata_outer(data, l->values);
	for (int i = 1; i <= ARGUMENTS_MAX; i++) {
		const char *name = arena_printf(&l->m->arena, "argument_%d", i);

		tdata_printf(data, name, "{{%s}}", name);
	}
	return family_fill(j, text, data);
}

static void
read_text(struct intrinsic_loader *l, struct intrinsic_symbol *s, struct json j)
{
	struct intrinsic_text t = {
		.dialect = family_fill(j,
				       arena_strdup(&l->m->arena,
						    j.value->string),
				       l->values)
	};

	if (!json_is_object(j, true) || t.dialect == NULL) {
		return;
	}
	json_check_keys(j, "file function needs uses begin end keeps");
	t.function = read_words(l, json_get(j, "function"), true);
	t.needs = read_names(l, json_get(j, "needs"));
	t.uses = read_names(l, json_get(j, "uses"));
	t.begin = read_begin(l, json_get(j, "begin"));
	t.end = read_words(l, json_get(j, "end"), false);
	t.keeps = json_bool(json_get(j, "keeps"));
	t.file = s->file;
	t.text = s->twin;
	if (json_get(j, "file").value != NULL) {
		t.text = read_file(l, json_get(j, "file"), &t.file);
	}
	vec_push(&l->m->arena, &s->texts, t);
}

/* Those of one file: what a symbol stands for would be that of the first. */
static void
check_symbol(const struct intrinsic_set *set, const struct intrinsic_data *d,
	     struct json j, const char *name)
{
	for (int i = set->list.n; i >= 0; i--) {
		const struct intrinsic_data *other =
			i < set->list.n ? &set->list.data[i] : d;

		for (int k = 0; other->file == d->file && k < other->symbols.n;
		     k++) {
			if (strcmp(other->symbols.data[k].name, name) == 0) {
				json_error(j, "'%s' is a symbol of %s already",
					   name, other->name);
				return;
			}
		}
	}
}

static void
read_symbol(struct intrinsic_loader *l, const struct intrinsic_set *set,
	    struct intrinsic_data *d, struct json j)
{
	struct intrinsic_symbol s = {
		.name = family_fill(j,
				    arena_strdup(&l->m->arena, j.value->string),
				    l->values),
		.values = l->values,
	};
	struct json dialects = json_get(j, "dialects");
	const cJSON *row;

	if (s.name == NULL) {
		return;
	}
	if (!text_is_identifier(s.name, "")) {
		json_error(j, "a symbol is a word of letters, digits and _");
	}
	check_symbol(set, d, j, s.name);
	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, "twin dialects");
	s.twin = read_file(l, json_get(j, "twin"), &s.file);
	if (json_is_object(dialects, true)) {
		cJSON_ArrayForEach(row, dialects.value)
		{
			read_text(l, &s, json_get(dialects, row->string));
		}
	}
	vec_push(&l->m->arena, &d->symbols, s);
}

/* Of one's own come before those that ship; else a name is one intrinsic's. */
static void
add(struct intrinsic_loader *l, struct intrinsic_set *set,
    const struct intrinsic_data *d, struct json at)
{
	for (int i = 0; i < set->list.n; i++) {
		struct intrinsic_data *other = &set->list.data[i];

		if (strcmp(other->name, d->name) != 0) {
			continue;
		}
		if (other->own == d->own) {
			json_error(at, "%s has an intrinsic '%s', too",
				   other->file, d->name);
		} else if (d->own) {
			*other = *d;
		}
		return;
	}
	vec_push(&l->m->arena, &set->list, *d);
}

/* The largest values of variables. */
static void
read_limits(struct intrinsic_loader *l, struct intrinsic_data *d, struct json j)
{
	struct intrin_limit *list;
	const cJSON *row;

	if (!json_is_object(j, false)) {
		return;
	}
	list = arena_array(&l->m->arena, struct intrin_limit,
			   cJSON_GetArraySize(j.value) + 1);
	cJSON_ArrayForEach(row, j.value)
	{
		list[d->n_limits++] = (struct intrin_limit){
			arena_strdup(&l->m->arena, row->string),
			json_int(json_get(j, row->string), 1, INT32_MAX, 1),
		};
	}
	d->limits = list;
}

static void
read_rounding(struct intrinsic_loader *l, struct intrinsic_data *d,
	      struct json j)
{
	const char *text = read_words(l, j, false);

	if (text == NULL || *text == '\0') {
		return;
	}
	if (strcmp(text, "tf32") != 0) {
		json_error(j, "operands are rounded to 'tf32', or not at all");
	}
	d->rounds_to = text;
}

/* at: of the member, or of the whole file. */
static void
read_intrinsic(struct intrinsic_loader *l, struct intrinsic_set *set,
	       struct intrinsic_data *d, struct json root, struct json at)
{
	struct json symbols = json_get(root, "symbols");
	const cJSON *row;

	d->values = l->values;
	d->what = read_words(l, json_get(root, "description"), true);
	d->script = read_file(l, json_get(root, "script"), &d->script_file);
	d->requires = read_names(l, json_get(root, "requires"));
	d->threads = (int)json_int(json_get(root, "threads"), 1, 1024, 0);
	read_rounding(l, d, json_get(root, "rounds_to"));
	d->limits = NULL;
	d->n_limits = 0;
	read_limits(l, d, json_get(root, "limits"));
	if (json_is_object(symbols, false)) {
		cJSON_ArrayForEach(row, symbols.value)
		{
			read_symbol(l, set, d, json_get(symbols, row->string));
		}
	}
	add(l, set, d, at);
}

static void
read_folder(struct intrinsic_loader *l, struct intrinsic_set *set,
	    struct intrinsic_data d, struct json root)
{
	struct family family = { 0 };

	json_check_once(root);
	if (!json_is_object(root, true)) {
		return;
	}
	json_check_keys(root, "description script requires threads rounds_to "
			      "limits symbols values members");
	if (!family_read(root, l->folder, &family)) {
		return;
	}
	l->values = NULL;
	if (family.members.n == 0) {
		d.name = l->folder;
		read_intrinsic(l, set, &d, root, root);
	}
	/* A mistake in one is in all. */
	for (int i = 0; i < family.members.n && !l->reader.failed; i++) {
		struct intrinsic_data member = d;

		member.name = family.members.data[i].name;
		l->values = family.members.data[i].values;
		read_intrinsic(l, set, &member, root,
			       family.members.data[i].at);
	}
}

static bool
load_folder(struct intrinsic_loader *l, struct intrinsic_set *set,
	    const char *folder, bool own)
{
	struct intrinsic_data d = { .own = own };
	const char *text;
	cJSON *value;

	l->folder = folder;
	text = folder_file(l, "intrinsic.json", &d.file);
	value = text != NULL ? json_parse(l->m, d.file, text) : NULL;
	if (value == NULL) {
		return false;
	}
	l->reader = (struct reader){ .module = l->m, .n_layers = 1 };
	l->reader.layers[0].file = d.file;
	l->reader.layers[0].value = value;
	read_folder(l, set, d, json_root(&l->reader, value));
	cJSON_Delete(value);
	return !l->reader.failed;
}

/* ---- which there are */

struct folder {
	const char *name; /* first, for text_compare */
	bool own;         /* of dir, not embedded */
};

struct folders {
	VEC(struct folder) list;
};

static void
add_folders(struct module *m, struct folders *out, bool own,
	    const char *const *names, int n)
{
	const int before = out->list.n;

	for (int i = 0; i < n; i++) {
		struct folder f = { names[i], own };
		int k = 0;

		while (k < before &&
		       strcmp(out->list.data[k].name, f.name) != 0) {
			k++;
		}
		if (k == before) {
			vec_push(&m->arena, &out->list, f);
		}
	}
}

/* Of dir, and, unless it stands for all that is embedded, of that. */
static void
find_folders(struct module *m, const char *dir, struct folders *out)
{
	bool whole = dir != NULL && data_folder_is_whole(m, dir);
	const char *const *names;
	int n = 0;

	if (dir != NULL) {
		names = data_names_in(m,
				      whole ? arena_printf(&m->arena,
							   "%s/intrinsics", dir)
					    : dir,
				      "/intrinsic.json", &n);
		add_folders(m, out, true, names, n);
	}
	if (!whole) {
		names = data_names(m, "intrinsics/", "/intrinsic.json", &n);
		add_folders(m, out, false, names, n);
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
	struct folders folders = { 0 };
	bool good = true;

	find_folders(m, dir, &folders);
	for (int i = 0; i < folders.list.n; i++) {
		good &= load_folder(&l, set, folders.list.data[i].name,
				    folders.list.data[i].own);
	}
	if (set->list.n > 0) {
		qsort(set->list.data, (size_t)set->list.n,
		      sizeof *set->list.data, text_compare);
	}
	return good ? set : NULL;
}

bool
intrinsic_is_there(struct module *m, const char *dir, const char *name)
{
	/* The folder has the name, or its start: of a family, then. */
	for (size_t n = strlen(name); n > 0; n--) {
		const char *folder, *text, *file;

		if (name[n] != '\0' && name[n] != '_') {
			continue;
		}
		folder = arena_strndup(&m->arena, name, n);
		text = data_file(m, dir,
				 arena_printf(&m->arena,
					      "intrinsics/%s/intrinsic.json",
					      folder),
				 &file);
		if (text != NULL && family_has(&m->arena, text, folder, name)) {
			return true;
		}
	}
	return false;
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
intrinsic_symbol_text(const struct intrinsic_symbol *s, const struct dialect *d)
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
	tdata_outer(data, s->values);
	tdata_text(data, "name", s->name);
	tdata_text(data, "function", t->function);
	good = template_render(&m->diags, s->file, NULL, s->twin, data, &twin);
	end = twin.len;
	while (end > 0 && twin.data[end - 1] == '\n') {
		end--;
	}
	tdata_text(data, "twin",
		   arena_strndup(&m->arena, end ? twin.data : "", end));
	good = good &&
	       template_render(&m->diags, t->file, NULL, t->text, data, out);
	strbuf_release(&twin);
	return good;
}
