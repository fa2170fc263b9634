/* SPDX-License-Identifier: Apache-2.0 */
/* Reserved words (see the header). A file contains words separated by white
 * space; "#" starts a comment that ends with the line. */
#include "reserved.h"

#include <assert.h>
#include <stdlib.h>

#include "templates.h"
#include "text.h"

#define SPACE " \t\r\n"

void
reserved_add(struct module *m, struct word_list *words, const char *name)
{
	const struct template_file *file = template_find(
		arena_printf(&m->arena, "reserved/%s.txt", name));
	const char *p;

	assert(file != NULL);
	p = (const char *)file->bytes;
	while (*(p += strspn(p, SPACE)) != '\0') {
		size_t n = strcspn(p, *p == '#' ? "\n" : SPACE);

		if (*p != '#') {
			vec_push(&m->arena, &words->list,
				 arena_strndup(&m->arena, p, n));
		}
		p += n;
	}
}

void
reserved_sort(struct word_list *words)
{
	int kept = 0;

	if (words->list.n > 0) {
		qsort(words->list.data, (size_t)words->list.n,
		      sizeof *words->list.data, text_compare);
	}
	for (int i = 0; i < words->list.n; i++) {
		if (kept == 0 || strcmp(words->list.data[kept - 1],
					words->list.data[i]) != 0) {
			words->list.data[kept++] = words->list.data[i];
		}
	}
	words->list.n = kept;
}
