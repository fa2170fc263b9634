/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the folders of tensor intrinsics: intrinsic.json and its texts. */
#include "intrinsics.h"

#include <stdlib.h>

#include "intrinsic_family.h"
#include "intrinsic_keys.h"
#include "text.h"

struct intrinsic_loader {
	struct module *m;
	const char *dir;
	struct reader reader;
	struct intrinsic_set *set;
	const char *folder;         /* name of the folder that is being read */
	const struct tdata *values; /* values of the member of a family, or
				     * NULL */
	struct intrinsic_data *d;   /* the intrinsic that is being read */
};

static const char *
folder_file(struct intrinsic_loader *l, const char *name, const char **file)
{
	return data_file(l->m, l->dir,
			 arena_printf(&l->m->arena, "intrinsics/%s/%s",
				      l->folder, name),
			 file);
}

/* The text of the file that j names; NULL after a diagnostic. */
static const char *
read_file(struct intrinsic_loader *l, struct json j, const char **file)
{
	const char *name = json_text(j, true);
	const char *text;

	*file = NULL;
	if (strpbrk(name, "/\\") != NULL) {
		json_error(j, "a file of the same folder is wanted here");
		return NULL;
	}
	text = folder_file(l, name, file);
	if (text == NULL) {
		json_error(j, "there is no file %s", *file);
		return NULL;
	}
	return json_check_file(j, *file, text) ? text : NULL;
}

void
intrinsic_read_script(void *ctx, struct json j)
{
	struct intrinsic_loader *l = ctx;

	l->d->script = read_file(l, j, &l->d->script_file);
}

/* -- symbols -- */

static void
read_text(struct intrinsic_loader *l, struct intrinsic_symbol *s, struct json j)
{
	struct intrinsic_text t = {
		.dialect = arena_strdup(&l->m->arena, j.value->string),
		.file = s->file,
		.text = s->twin,
	};

	json_keys_read(&intrinsic_keys, j, "/symbols/*/dialects/*", &t, l);
	if (json_get(j, "file").value != NULL) {
		t.text = read_file(l, json_get(j, "file"), &t.file);
	}
	vec_push(&l->m->arena, &s->texts, t);
}

/* Reports an error if an intrinsic of the same file already has a symbol of
 * this name: the text of the symbol is printed only once, with the values of
 * the first intrinsic. */
static void
check_symbol(const struct intrinsic_loader *l, struct json j, const char *name)
{
	const struct intrinsic_set *set = l->set;

	for (int i = set->list.n; i >= 0; i--) {
		const struct intrinsic_data *other =
			i < set->list.n ? &set->list.data[i] : l->d;

		for (int k = 0;
		     other->file == l->d->file && k < other->symbols.n; k++) {
			if (strcmp(other->symbols.data[k].name, name) == 0) {
				json_error(j, "'%s' is a symbol of %s already",
					   name, other->name);
				return;
			}
		}
	}
}

void
intrinsic_read_symbols(void *ctx, struct json symbols)
{
	struct intrinsic_loader *l = ctx;

	for (struct json j = json_first(symbols); j.value != NULL;
	     j = json_next(symbols, j)) {
		struct intrinsic_symbol s = {
			.name = arena_strdup(&l->m->arena, j.value->string),
			.values = l->values,
		};
		struct json dialects = json_get(j, "dialects");

		if (!text_is_identifier(s.name, "")) {
			json_error(j, "a symbol is a word of letters, digits "
				      "and _");
		}
		check_symbol(l, j, s.name);
		s.twin = read_file(l, json_get(j, "twin"), &s.file);
		for (struct json row = json_first(dialects); row.value != NULL;
		     row = json_next(dialects, row)) {
			read_text(l, &s, row);
		}
		vec_push(&l->m->arena, &l->d->symbols, s);
	}
}

/* -- intrinsics -- */

/* Adds an intrinsic to the set. An intrinsic of the user's folder replaces an
 * embedded intrinsic of the same name; any other repetition of a name is an
 * error. */
static void
add(struct intrinsic_set *set, const struct intrinsic_data *d, struct json at)
{
	struct module *m = at.reader->module;

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
	vec_push(&m->arena, &set->list, *d);
}

/* Reads the key "limits" of an intrinsic: the largest values of the variables
 * in its shapes. */
void
intrinsic_read_limits(void *ctx, struct json j)
{
	struct intrinsic_loader *l = ctx;
	struct intrin_limit *list = arena_array(&l->m->arena,
						struct intrin_limit,
						cJSON_GetArraySize(j.value) +
							1);

	for (struct json row = json_first(j); row.value != NULL;
	     row = json_next(j, row)) {
		list[l->d->n_limits++] = (struct intrin_limit){
			arena_strdup(&l->m->arena, row.value->string),
			json_int(row, 1, INT32_MAX, 1),
		};
	}
	l->d->limits = list;
}

void
intrinsic_read_rounding(void *ctx, struct json j)
{
	struct intrinsic_data *d = ((struct intrinsic_loader *)ctx)->d;

	if (d->rounds_to != NULL && *d->rounds_to == '\0') {
		d->rounds_to = NULL;
	}
	if (d->rounds_to != NULL && strcmp(d->rounds_to, "tf32") != 0) {
		json_error(j, "operands are rounded to 'tf32', or not at all");
	}
}

/* Reads one intrinsic. at: the JSON of the member, or of the whole file. */
static void
read_intrinsic(struct intrinsic_loader *l, struct intrinsic_data d,
	       struct json root, struct json at)
{
	d.values = l->values;
	l->d = &d;
	json_keys_read(&intrinsic_keys, root, "", &d, l);
	add(l->set, &d, at);
}

static void
read_member(struct intrinsic_loader *l, struct intrinsic_data d,
	    struct json root, const struct family_member *member)
{
	cJSON *filled = family_fill(root, member->values);

	d.name = member->name;
	l->values = member->values;
	if (filled != NULL) {
		read_intrinsic(l, d, json_root(&l->reader, filled), member->at);
	}
	cJSON_Delete(filled);
}

static void
read_folder(struct intrinsic_loader *l, struct intrinsic_data d, cJSON *tree)
{
	struct json root = json_root(&l->reader, tree);
	struct family family = { 0 };

	json_check_once(root);
	json_keys_check(&intrinsic_keys, root, tree);
	if (l->reader.failed || !family_read(root, l->folder, &family)) {
		return;
	}
	l->values = NULL;
	if (family.members.n == 0) {
		d.name = l->folder;
		read_intrinsic(l, d, root, root);
	}
	/* After a mistake in one member, the other members are skipped, because
	 * each would have the same mistake. */
	for (int i = 0; i < family.members.n && !l->reader.failed; i++) {
		read_member(l, d, root, &family.members.data[i]);
	}
}

static bool
load_folder(struct intrinsic_loader *l, const char *folder, bool own)
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
	read_folder(l, d, value);
	cJSON_Delete(value);
	return !l->reader.failed;
}

/* ---- the folders of intrinsics */

struct folder {
	const char *name; /* first member, for text_compare */
	bool own;         /* in dir, not embedded */
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

/* Lists the folders of intrinsics: those in dir, and the embedded ones unless
 * dir replaces all embedded files. */
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
	struct intrinsic_loader l = { .m = m, .dir = dir, .set = set };
	struct folders folders = { 0 };
	bool good = true;

	find_folders(m, dir, &folders);
	for (int i = 0; i < folders.list.n; i++) {
		good &= load_folder(&l, folders.list.data[i].name,
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
	/* The folder of an intrinsic has its name; the folder of a family has a
	 * name with which the names of its members start. So tries `name` and
	 * shorter and shorter starts of it. */
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
		     const struct intrinsic_text *t, const struct dialect *d,
		     struct strbuf *out)
{
	struct tdata *data = tdata_new(&m->arena);
	struct strbuf twin;
	size_t end;
	bool good;

	strbuf_init(&twin);
	tdata_outer(data, s->values);
	tdata_text(data, "name", s->name);
	tdata_text(data, "function",
		   d != NULL && d->inlines
			   ? arena_printf(&m->arena, "%s %s", t->function,
					  d->functions.inlined_symbol)
			   : t->function);
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
