/* SPDX-License-Identifier: Apache-2.0 */
/* text_message [--functions] FILE …: writes to FILE.pb the message that ONNX's text in
 * the file becomes, or to FILE.why the reason that it is none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_text.h"

static char *
read_all(const char *path, size_t *length)
{
	FILE *file = fopen(path, "rb");
	long size = -1;
	char *text;

	if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
		size = ftell(file);
	}
	text = size >= 0 ? malloc((size_t)size + (size == 0)) : NULL;
	if (text == NULL) {
		exit(2);
	}
	rewind(file);
	*length = fread(text, 1, (size_t)size, file);
	fclose(file);
	return text;
}

static void
write_all(const char *path, const char *ending, const struct strbuf *text)
{
	char name[4096];
	FILE *file;

	snprintf(name, sizeof name, "%s%s", path, ending);
	file = fopen(name, "wb");
	if (file == NULL ||
	    fwrite(text->data, 1, text->len, file) != text->len) {
		exit(2);
	}
	fclose(file);
}

static void
convert(const char *path, bool functions)
{
	struct source src = { .name = path };
	struct module *m = module_new();
	char *text = read_all(path, &src.length);
	struct strbuf out, why;

	src.text = text;
	strbuf_init(&out);
	strbuf_init(&why);
	if (functions ? onnx_text_functions(m, &src, &out)
		      : onnx_text_model(m, &src, &out)) {
		write_all(path, ".pb", &out);
	} else {
		diag_format(&m->diags.list.data[0], &why);
		write_all(path, ".why", &why);
	}
	strbuf_release(&why);
	strbuf_release(&out);
	free(text);
	module_free(m);
}

int
main(int argc, char **argv)
{
	bool functions = argc > 1 && strcmp(argv[1], "--functions") == 0;

	for (int i = 1 + functions; i < argc; i++) {
		convert(argv[i], functions);
	}
	return 0;
}
