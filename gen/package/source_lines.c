/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the file and line of each kernel's function. Templates place the text
 * anywhere, so a mark, a line of its own before the text, shows the place
 * afterwards. */
#include <ctype.h>
#include <stdlib.h>

#include "host_device.h"
#include "kernel.h"
#include "packer.h"

#define MARK '\6' /* then the kernel's number, on a line of its own */

const char *
place_marked(struct packer *k, int i, const char *text)
{
	return arena_printf(k->a, "%c%d\n%s", MARK, i, text);
}

static bool
is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Is `name (` of a definition on the line at p? */
static bool
defines(const char *p, const char *name)
{
	size_t n = strlen(name), length = strcspn(p, "\n");
	const char *at = strstr(p, name);

	while (at != NULL && at < p + length) {
		if (at[n] == '(' && (at == p || !is_word(at[-1])) &&
		    p[length - 1] != ';' && *p != ' ' && *p != '\t') {
			return true;
		}
		at = strstr(at + n, name);
	}
	return false;
}

static const char *
function_name(const struct kernel *kernel)
{
	return kernel->device != NULL && kernel->device->n_launches > 0
		       ? kernel->device->launches[0].kernel->name
		       : kernel->func->name;
}

/* The line with the name, searched from the mark on. */
static int
line_of(const char *p, int line, const char *name)
{
	int first = line;

	for (; *p != '\0'; p += strcspn(p, "\n"), p += *p == '\n', line++) {
		if (defines(p, name)) {
			return line;
		}
	}
	return first;
}

const char *
places_find(struct packer *k, const char *name, const char *text)
{
	char *out, *to;
	int line = 1;

	if (strchr(text, MARK) == NULL) {
		return text;
	}
	out = to = arena_strdup(k->a, text);
	for (const char *p = text; *p != '\0'; p++) {
		if (*p == MARK) {
			int i = atoi(p + 1);

			p += strcspn(p, "\n");
			k->kernel_places[i].file = name;
			/* A kernel's text contains no marks. */
			k->kernel_places[i].line =
				line_of(p + 1, line,
					function_name(k->p->kernels.data[i]));
			continue;
		}
		line += *p == '\n';
		*to++ = *p;
	}
	*to = '\0';
	return out;
}
