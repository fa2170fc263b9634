/* SPDX-License-Identifier: Apache-2.0 */
/* Searches the table of embedded templates, which templates/embed.py writes
 * sorted by path. */
#include "templates.h"

#include <string.h>

extern const struct template_file template_table[];
extern const int template_table_count;

const struct template_file *
template_find(const char *path)
{
	int low = 0;
	int high = template_table_count;

	while (low < high) {
		int middle = low + (high - low) / 2;
		int order = strcmp(path, template_table[middle].path);

		if (order == 0) {
			return &template_table[middle];
		}
		if (order < 0) {
			high = middle;
		} else {
			low = middle + 1;
		}
	}
	return NULL;
}

const struct template_file *
template_files(int *n)
{
	*n = template_table_count;
	return template_table;
}
