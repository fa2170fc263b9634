/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a folder that tirc wrote. The files may come from anybody: a member
 * that is missing reads as empty, and a file that they name must lie in the
 * folder. */
#define _POSIX_C_SOURCE 200809L

#include "snapshot.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "json_read.h"
#include "onnx_file.h"
#include "text.h"

static bool
complain(struct snapshot *s, const char *text)
{
	return diag_error(&s->m->diags, DIAG_BAD_JSON,
			  (struct diag_place){ .file = s->file != NULL
							       ? s->file
							       : s->folder },
			  "%s", text);
}

/* The most bytes of a folder's NAME.json, of all its files with functions, and of
 * the texts that are joined from texts of NAME.json. */
enum {
	MOST_JSON_BYTES = 1 << 24,
	MOST_BYTES = 1 << 26,
	MOST_JOINED_BYTES = 1 << 26
};
/* The largest number of members that a row of a list in NAME.json may have,
 * because finding a member takes a walk over all of them. tirc writes about
 * 20. */
enum { MOST_MEMBERS = 256 };

/* Appends the text of a file in the folder, which must be a file and no link.
 * NULL, or why it cannot be read. */
static const char *
read_text(struct arena *a, const char *folder, const char *name, int64_t most,
	  struct strbuf *out)
{
	const char *why = "";
	int fd = beside_open(a, folder, folder, name, &why);
	char part[1 << 16];
	ssize_t n;

	if (fd < 0) {
		return why;
	}
	while ((n = read(fd, part, sizeof part)) > 0 &&
	       (int64_t)out->len <= most) {
		strbuf_write(out, part, (size_t)n);
	}
	close(fd);
	return n < 0                      ? "cannot be read"
	       : (int64_t)out->len > most ? "is too long to be compared"
					  : NULL;
}

cJSON *
snapshot_metadata(struct arena *a, const char *folder, const char *name)
{
	struct strbuf text;
	cJSON *json = NULL;

	strbuf_init(&text);
	strbuf_puts(&text, "");
	if (read_text(a, folder, name, MOST_JSON_BYTES, &text) == NULL) {
		json = json_parse_quietly(text.data, NULL);
	}
	strbuf_release(&text);
	if (!cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(json, "calls")) ||
	    !cJSON_IsString(
		    cJSON_GetObjectItemCaseSensitive(json, "generator"))) {
		cJSON_Delete(json);
		return NULL;
	}
	return json;
}

/* Reads the file, unless it is no metadata of a model. */
static void
try_file(struct snapshot *s, const char *name, int *found)
{
	cJSON *json = snapshot_metadata(&s->m->arena, s->folder, name);

	if (json == NULL) {
		return;
	}
	++*found;
	snapshot_close(s);
	s->json = json;
	s->file = arena_printf(&s->m->arena, "%s/%s", s->folder, name);
}

static bool
check_members(struct snapshot *s, const cJSON *object, const char *what,
	      const char *name)
{
	return !cJSON_IsObject(object) ||
	       cJSON_GetArraySize(object) <= MOST_MEMBERS ||
	       complain(s, arena_printf(&s->m->arena,
					"%s\"%s\" has more than %d members; "
					"compile the model again",
					what, name, MOST_MEMBERS));
}

/* Checks that "options", and each row of each list, have few enough members. Returns
 * false after a diagnostic. */
static bool
check_rows(struct snapshot *s)
{
	const cJSON *list, *row;

	cJSON_ArrayForEach(list, s->json)
	{
		if (strcmp(list->string, "options") == 0 &&
		    !check_members(s, list, "", list->string)) {
			return false;
		}
		cJSON_ArrayForEach(row, list)
		{
			if (!check_members(s, row, "a row of ", list->string)) {
				return false;
			}
		}
	}
	return true;
}

bool
snapshot_open(struct snapshot *s, struct module *m, struct texts *texts,
	      const char *folder)
{
	struct dirent *entry;
	DIR *dir = opendir(folder);
	int found = 0;

	*s = (struct snapshot){ .m = m, .texts = texts, .folder = folder };
	text_map_init(&s->source_names, &m->arena);
	if (dir == NULL) {
		return diag_error(&m->diags, DIAG_FILE_UNREADABLE,
				  (struct diag_place){ .file = folder },
				  "cannot be read: %s", strerror(errno));
	}
	while ((entry = readdir(dir)) != NULL) {
		if (text_ends_in(entry->d_name, ".json")) {
			try_file(s, entry->d_name, &found);
		}
	}
	closedir(dir);
	return found == 1
		       ? check_rows(s)
		       : complain(
				 s,
				 found == 0
					 ? "the folder has no NAME.json of a model; "
					   "give the folder that tirc compile wrote"
					 : "the folder has several models; compile "
					   "each into a folder of its own");
}

void
snapshot_close(struct snapshot *s)
{
	cJSON_Delete(s->json);
	s->json = NULL;
}

const char *
member_text(const cJSON *object, const char *key)
{
	const cJSON *x = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsString(x) ? x->valuestring : "";
}

const cJSON *
member_list(const cJSON *object, const char *key)
{
	const cJSON *x = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsArray(x) ? x : NULL;
}

const cJSON *
snapshot_options(const struct snapshot *s)
{
	const cJSON *x = cJSON_GetObjectItemCaseSensitive(s->json, "options");

	return cJSON_IsObject(x) ? x : NULL;
}

static struct item_index *
index_of(struct snapshot *s, const char *list, const char *key)
{
	struct item_index fresh = { .list = list, .key = key };
	const cJSON *item;

	for (int i = 0; i < s->indices.n; i++) {
		struct item_index *x = &s->indices.data[i];

		if (strcmp(x->list, list) == 0 && strcmp(x->key, key) == 0) {
			return x;
		}
	}
	text_map_init(&fresh.map, &s->m->arena);
	cJSON_ArrayForEach(item, member_list(s->json, list))
	{
		if (text_map_add(&fresh.map, member_text(item, key),
				 fresh.items.n)) {
			vec_push(&s->m->arena, &fresh.items, item);
		}
	}
	vec_push(&s->m->arena, &s->indices, fresh);
	return &s->indices.data[s->indices.n - 1];
}

const cJSON *
snapshot_item(struct snapshot *s, const char *list, const char *key,
	      const char *text)
{
	const struct item_index *x = index_of(s, list, key);
	int at = text_map_get(&x->map, text, -1);

	return at < 0 ? NULL : x->items.data[at];
}

const char *
snapshot_joined(struct snapshot *s, const struct strbuf *text)
{
	s->joined_bytes += (int64_t)text->len;
	if (s->joined_bytes > MOST_JOINED_BYTES) {
		complain(s, "its outputs or schedules are too long to be "
			    "compared");
		return NULL;
	}
	return texts_add(s->texts, text->data, text->len);
}

/* -- functions -- */

static void
find_lines(struct arena *a, struct source_text *f)
{
	const char *at = f->text;

	while (*at != '\0') {
		vec_push(a, &f->starts, (size_t)(at - f->text));
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	vec_push(a, &f->starts, (size_t)(at - f->text));
	f->lines = arena_array(a, const char *, f->starts.n);
}

/* The file with this name in the folder; NULL after a diagnostic. */
static struct source_text *
source_of(struct snapshot *s, const char *name)
{
	int at = text_map_get(&s->source_names, name, -1);
	struct source_text fresh = { .name = name };
	struct strbuf text;
	const char *why;

	if (at >= 0) {
		return &s->sources.data[at];
	}
	strbuf_init(&text);
	strbuf_puts(&text, "");
	why = read_text(&s->m->arena, s->folder, name, MOST_BYTES - s->bytes,
			&text);
	if (why == NULL) {
		s->bytes += (int64_t)text.len;
		fresh.text = arena_strndup(&s->m->arena, text.data, text.len);
		find_lines(&s->m->arena, &fresh);
		text_map_add(&s->source_names, name, s->sources.n);
		vec_push(&s->m->arena, &s->sources, fresh);
	}
	strbuf_release(&text);
	if (why != NULL) {
		complain(s, arena_printf(&s->m->arena, "the file %s %s", name,
					 why));
		return NULL;
	}
	return &s->sources.data[s->sources.n - 1];
}

static int
member_line(const cJSON *object, const char *key)
{
	const cJSON *x = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsNumber(x) ? x->valueint : 0;
}

/* The lines `first` to `last` of the file; the caller has checked that the file
 * has these lines. */
static struct text_lines
cut_lines(struct snapshot *s, struct source_text *f, int first, int last)
{
	for (int i = first - 1; i < last; i++) {
		const char *at = f->text + f->starts.data[i];

		if (f->lines[i] == NULL) {
			f->lines[i] = texts_add(s->texts, at,
						strcspn(at, "\n"));
		}
	}
	return (struct text_lines){ f->lines + first - 1, last - first + 1 };
}

bool
snapshot_function(struct snapshot *s, const char *name, struct text_lines *out)
{
	const cJSON *f = snapshot_item(s, "functions", "name", name);
	int first = member_line(f, "line"), last = member_line(f, "last");
	struct source_text *source;

	if (f == NULL || first < 1 || last < first) {
		return complain(s, arena_printf(&s->m->arena,
						"it does not say which lines "
						"the function %s has; compile "
						"the model again",
						name));
	}
	source = source_of(s, member_text(f, "file"));
	if (source == NULL) {
		return false;
	}
	if (last > source->starts.n - 1) {
		return complain(s, arena_printf(&s->m->arena,
						"%s has no lines %d to %d",
						source->name, first, last));
	}
	*out = cut_lines(s, source, first, last);
	return true;
}
