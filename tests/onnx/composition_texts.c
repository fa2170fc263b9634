/* SPDX-License-Identifier: Apache-2.0 */
/* composition_texts [FILE]: checks the texts of compositions that are a part of
 * tirc, or the function in the file. Status 1: one is wrong. */
#include <stdio.h>
#include <stdlib.h>

#include "text_body.h"

#define LONGEST (1 << 16) /* bytes of a file */

static bool
check_file(struct importer *imp, const char *path)
{
	FILE *file = fopen(path, "rb");
	char *text = arena_array(&imp->m->arena, char, LONGEST + 1);
	struct composition_text row = { "", "Text", "text", text };

	if (!file) {
		exit(2);
	}
	(void)!fread(text, 1, LONGEST, file);
	fclose(file);
	return composition_text_check(imp, &row);
}

static bool
check_all(struct importer *imp)
{
	const struct composition_text *rows;
	bool ok = true;
	int n;

	rows = composition_texts(&n);
	for (int i = 0; i < n; i++) {
		ok = composition_text_check(imp, &rows[i]) && ok;
	}
	return ok;
}

int
main(int argc, char **argv)
{
	struct importer imp = { .m = module_new() };
	struct strbuf text;
	bool ok;

	arena_init(&imp.tmp);
	strbuf_init(&text);
	ok = argc > 1 ? check_file(&imp, argv[1]) : check_all(&imp);
	for (int i = 0; i < imp.m->diags.list.n; i++) {
		diag_format(&imp.m->diags.list.data[i], &text);
		strbuf_putc(&text, '\n');
	}
	if (text.len > 0) {
		fputs(text.data, stderr);
	}
	strbuf_release(&text);
	arena_release(&imp.tmp);
	module_free(imp.m);
	return ok ? 0 : 1;
}
