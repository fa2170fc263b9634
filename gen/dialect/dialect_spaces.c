/* SPDX-License-Identifier: Apache-2.0 */
/* Qualifiers of memories in declarations of arrays and pointers, for machines
 * that read several memories in different ways. */
#include <string.h>

#include "dialect_load.h"

const char *
memory_space_name(enum memory_space s)
{
	static const char *const names[SPACE_COUNT] = {
		"interface",
		"workspace",
		"weights",
		"local",
	};

	return names[s];
}

/* Reports an error if the text of the key does not contain {{space}}: this text
 * declares or casts a pointer, which must have the qualifier of its memory
 * space. */
static void
want_slot(struct json section, const char *key)
{
	struct json row = json_get(section, key);
	struct json line = json_get(row, "line");
	const char *text;

	row = line.value != NULL ? line : row;
	text = json_text(row, false);
	if (text != NULL && strstr(text, "{{space}}") == NULL) {
		json_error(row,
			   "it has no {{space}}, and this dialect has a "
			   "word for memory (/spaces): pointers would lose it");
	}
}

static void
check_texts(struct loader *l, struct json root)
{
	static const struct {
		const char *section, *key;
	} rows[] = {
		{ "functions", "array" },
		{ "functions", "external_pointer" },
		{ "access", "array_cast" },
		{ "access", "pointer_cast" },
		{ "statements", "let_pointer" },
		{ "statements", "let_const_pointer" },
		{ "weights", "declare" },
		{ "weights", "define" },
		{ "tasks", "array" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		want_slot(json_get(root, rows[i].section), rows[i].key);
	}
	if (l->d->vectors.rejected == NULL) {
		want_slot(json_get(root, "vectors"), "elements");
	}
}

void
dialect_read_spaces(void *ctx, struct json j)
{
	struct loader *l = ctx;
	struct dialect *d = l->d;
	bool any = false;

	for (int i = 0; i < SPACE_LOCAL; i++) {
		if (d->spaces[i] != NULL && d->spaces[i][0] == '\0') {
			d->spaces[i] = NULL;
		}
		any |= d->spaces[i] != NULL;
	}
	if (!any) {
		return;
	}
	check_texts(l, l->root);
	if (d->device.rejected == NULL) {
		json_error(j, "the memory of kernels for threads is said in "
			      "/device/array");
	}
	d->graph.rejected = "kernels of a graph take pointers to one memory";
	d->regions.rejected = "functions of libraries take pointers to one "
			      "memory";
	if (d->spaces[SPACE_WEIGHTS] != NULL) {
		/* Only the compiler can place constants in this memory, so
		 * weights must be C text. */
		d->weights.forms[WEIGHTS_FILE] = false;
		d->weights.forms[WEIGHTS_INCBIN] = false;
		d->weights.large = WEIGHTS_C;
	}
}

bool
dialect_wants_interface_apart(const struct dialect *d)
{
	const char *a = d->spaces[SPACE_INTERFACE];
	const char *b = d->spaces[SPACE_WORKSPACE];

	return strcmp(a != NULL ? a : "", b != NULL ? b : "") != 0;
}
