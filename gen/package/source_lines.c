/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the file and the lines of each kernel. A template may print the text of
 * a kernel anywhere; anchors in the result show its position. */
#include <ctype.h>

#include "host_device.h"
#include "kernel.h"
#include "packer.h"

static bool
is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Is the line at p the first line of the definition of a function `name`? */
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

/* The number of the line that defines the function `name`, searched from p on;
 * if no line defines it, `line`. line: the number of the line at p. */
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

void
places_find(struct packer *k, const char *name, const char *text,
	    const struct anchors *anchors)
{
	const char *at = text;
	int line = 1;

	for (int i = 0; i < anchors->list.n; i++) {
		const struct anchor *x = &anchors->list.data[i];
		struct source_place *place;

		if (x->kind != ANCHOR_KERNEL_COMMENT &&
		    x->kind != ANCHOR_KERNEL && x->kind != ANCHOR_KERNEL_END) {
			continue;
		}
		for (; at < text + x->at; at++) {
			line += *at == '\n';
		}
		place = &k->kernel_places[x->index];
		if (x->kind == ANCHOR_KERNEL_COMMENT) {
			*place = (struct source_place){ .file = name,
							.first = line };
		} else if (x->kind == ANCHOR_KERNEL_END) {
			place->last = line;
		} else {
			if (place->file != name || place->first == 0) {
				place->first = line;
			}
			place->file = name;
			place->line =
				line_of(at, line,
					function_name(
						k->p->kernels.data[x->index]));
		}
	}
}
