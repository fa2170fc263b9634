/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a folder that tirc wrote. Its files may be anybody's: what they lack is
 * empty, and what they name must lie in the folder. */
#define _POSIX_C_SOURCE 200809L

#include "snapshot.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "json_read.h"
#include "onnx_file.h"
#include "source_load.h"
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

/* Reads the file, unless it is no metadata of a model. */
static void
try_file(struct snapshot *s, const char *name, int *found)
{
	const char *path = arena_printf(&s->m->arena, "%s/%s", s->folder, name);
	cJSON *json = json_parse_file(s->m, s->folder, name);

	if (json == NULL) {
		return;
	}
	if (!cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(json, "calls")) ||
	    !cJSON_IsString(
		    cJSON_GetObjectItemCaseSensitive(json, "generator"))) {
		cJSON_Delete(json);
		return;
	}
	++*found;
	snapshot_close(s);
	s->json = json;
	s->file = path;
}

bool
snapshot_open(struct snapshot *s, struct module *m, const char *folder)
{
	struct dirent *entry;
	DIR *dir = opendir(folder);
	int found = 0;

	*s = (struct snapshot){ .m = m, .folder = folder };
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
	return found == 1 ||
	       complain(s, found == 0
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
item_named(const cJSON *list, const char *key, const char *text)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, list)
	{
		if (strcmp(member_text(item, key), text) == 0) {
			return item;
		}
	}
	return NULL;
}

/* Reads a file in the folder as a text. False after a diagnostic. */
static bool
read_file(struct snapshot *s, const char *name, struct strbuf *out)
{
	const char *why = "";
	int fd = beside_open(&s->m->arena, s->file, s->folder, name, &why);
	char part[4096];
	ssize_t n;

	if (fd < 0) {
		return complain(s, arena_printf(&s->m->arena, "the file %s %s",
						name, why));
	}
	while ((n = read(fd, part, sizeof part)) > 0) {
		strbuf_write(out, part, (size_t)n);
	}
	close(fd);
	return true;
}

/* Adds the lines first..last of the text, if it has them. */
static bool
cut_lines(struct snapshot *s, const char *at, int first, int last,
	  struct text_lines *out)
{
	for (int line = 1; at != NULL && *at != '\0' && line <= last; line++) {
		size_t n = strcspn(at, "\n");

		if (line >= first) {
			vec_push(&s->m->arena, &out->list,
				 arena_strndup(&s->m->arena, at, n));
		}
		at += n + (at[n] == '\n');
	}
	return out->list.n > 0 && out->list.n == last - first + 1;
}

static int
member_line(const cJSON *object, const char *key)
{
	const cJSON *x = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsNumber(x) ? x->valueint : 0;
}

bool
snapshot_function(struct snapshot *s, const char *name, struct text_lines *out)
{
	const cJSON *f = item_named(member_list(s->json, "functions"), "name",
				    name);
	int first = member_line(f, "line"), last = member_line(f, "last");
	struct strbuf text;
	bool ok;

	if (f == NULL || first < 1 || last < first) {
		return complain(s, arena_printf(&s->m->arena,
						"it does not say which lines "
						"the function %s has; compile "
						"the model again",
						name));
	}
	strbuf_init(&text);
	ok = read_file(s, member_text(f, "file"), &text) &&
	     (cut_lines(s, text.data, first, last, out) ||
	      complain(s, arena_printf(&s->m->arena, "%s has no lines %d to %d",
				       member_text(f, "file"), first, last)));
	strbuf_release(&text);
	return ok;
}
