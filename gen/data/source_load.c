/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a text file as a whole. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "source_load.h"

/* The largest file in bytes: larger than any program or schedule that a person
 * writes. */
#define MAX_SOURCE ((size_t)1 << 28)

static bool
fail(struct module *m, const char *path, const char *problem)
{
	return diag_error(&m->diags, DIAG_FILE_UNREADABLE,
			  (struct diag_place){ .file = path }, "%s", problem);
}

bool
source_load(struct module *m, const char *path, struct source *out)
{
	FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
	char chunk[65536];
	struct strbuf text;
	size_t n;
	bool ok = true;

	if (f == NULL) {
		return fail(m, path, strerror(errno));
	}
	strbuf_init(&text);
	while ((n = fread(chunk, 1, sizeof chunk, f)) > 0) {
		if (text.len + n > MAX_SOURCE) {
			ok = fail(m, path,
				  "the file has more than 256 MiB, too "
				  "many for tirc to read it");
			break;
		}
		strbuf_write(&text, chunk, n);
	}
	if (ok && ferror(f)) {
		ok = fail(m, path, strerror(errno));
	}
	if (f != stdin) {
		fclose(f);
	}
	*out = (struct source){
		.name = strcmp(path, "-") == 0 ? "standard input"
					       : arena_strdup(&m->arena, path),
		.text = arena_strndup(&m->arena, text.len > 0 ? text.data : "",
				      text.len),
		.length = text.len,
	};
	strbuf_release(&text);
	return ok;
}
