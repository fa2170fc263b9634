/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled model for tirc verify. */
#include <string.h>

#include "backend_load.h"
#include "report.h"
#include "tirc_context.h"
#include "verifying.h"

struct program *
tirc_compiled_program(struct tirc *t)
{
	return &t->program;
}

const struct package *
tirc_compiled_package(const struct tirc *t)
{
	return &t->package;
}

struct tirc_tensor
tirc_compiled_tensor(struct tirc *t, const struct tensor *x)
{
	return context_tensor(t, x);
}

int
tirc_read_files(struct tirc *t, const struct tirc_read_file **out)
{
	int n = t->file != NULL ? onnx_file_count(t->file) : 0;
	struct report_file *files = arena_array(&t->m->arena,
						struct report_file, n + 1);
	struct tirc_read_file *list;

	n = 0;
	if (!context_read_files(t, files, &n)) {
		return -1;
	}
	list = arena_array(&t->m->arena, struct tirc_read_file, n + 1);
	for (int i = 0; i < n; i++) {
		list[i] = (struct tirc_read_file){ files[i].path,
						   files[i].sha256 };
	}
	*out = list;
	return n;
}

int64_t
tirc_read_bytes(const struct tirc *t)
{
	return t->m->quota.input_bytes;
}

bool
tirc_is_stated_target(struct tirc *t, const char *text, const char *file)
{
	return target_load_from(t->m, text, t->options.dialect_path, file) !=
	       NULL;
}

bool
tirc_is_stated_backend(struct tirc *t, const char *text)
{
	const char *name = arena_strndup(&t->m->arena, text,
					 strcspn(text, "=:"));

	return text[strlen(name)] != '=' && backend_is_embedded(t->m, name);
}
