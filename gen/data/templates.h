/* SPDX-License-Identifier: Apache-2.0 */
/* The files of templates/, embedded in the program at build time, so that an
 * installed tirc is one relocatable file. */
#ifndef TEMPLATES_H
#define TEMPLATES_H

#include <stddef.h>

struct template_file {
	const char *path; /* below templates/: "dialects/NAME/dialect.json" */
	const unsigned char
		*bytes; /* followed by a NUL, which length does not count */
	size_t length;
};

/* The embedded file of that path, or NULL. */
const struct template_file *template_find(const char *path);

/* All embedded files, sorted by path (strcmp order); *n is their number. */
const struct template_file *template_files(int *n);

#endif
