/* SPDX-License-Identifier: Apache-2.0 */
/* text_message [--functions] FILE: writes the message that ONNX's text in the file
 * becomes to standard output, or prints why it is none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_text.h"

static char *
read_all(const char *path, size_t *length)
{
	FILE *file = fopen(path, "rb");
	size_t cap = 1 << 24;
	char *text = malloc(cap);

	if (file == NULL || text == NULL) {
		exit(2);
	}
	*length = fread(text, 1, cap, file);
	fclose(file);
	return text;
}

int
main(int argc, char **argv)
{
	bool functions = argc > 2 && strcmp(argv[1], "--functions") == 0;
	struct source src = { .name = argv[argc - 1] };
	struct module *m = module_new();
	char *text = read_all(src.name, &src.length);
	struct strbuf out, why;
	bool ok;

	src.text = text;
	strbuf_init(&out);
	strbuf_init(&why);
	ok = functions ? onnx_text_functions(m, &src, &out)
		       : onnx_text_model(m, &src, &out);
	if (ok) {
		fwrite(out.data, 1, out.len, stdout);
	} else {
		diag_format(&m->diags.list.data[0], &why);
		fprintf(stderr, "%s\n", why.data);
	}
	strbuf_release(&why);
	strbuf_release(&out);
	free(text);
	module_free(m);
	return ok ? 0 : 1;
}
