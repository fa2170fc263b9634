/* SPDX-License-Identifier: Apache-2.0 */
/* The files of templates/, embedded in the program at build time, so that tirc
 * is a single file that works in any folder. */
#ifndef TIRC_TEMPLATES_H
#define TIRC_TEMPLATES_H

#include <stddef.h>

struct template_file {
	/* relative to templates/: "dialects/NAME/dialect.json" */
	const char *path;
	const unsigned char
		*bytes; /* the content; a zero byte follows it, which is not
			 * counted in length */
	size_t length;
};

/* The embedded file with this path, or NULL. */
const struct template_file *template_find(const char *path);

/* All embedded files, sorted by path (strcmp); *n: their number. */
const struct template_file *template_files(int *n);

#endif
