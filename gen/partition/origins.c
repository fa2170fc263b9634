/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the model's nodes by the names of their first outputs. */
#include "origins.h"

#include <stdlib.h>
#include <string.h>

static int
by_name(const void *a, const void *b)
{
	const struct origin_name *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order != 0 ? order : x->at - y->at;
}

struct origin_name *
origins_by_name(struct graph *g)
{
	int n = g->origins.n;
	struct origin_name *list = arena_array(&g->module->arena,
					       struct origin_name, n + 1);

	for (int i = 0; i < n; i++) {
		const char *name = g->origins.data[i].output;

		list[i] = (struct origin_name){ name != NULL ? name : "", i };
	}
	qsort(list, (size_t)n, sizeof *list, by_name);
	return list;
}

int
origins_find(const struct origin_name *list, int n, const char *name)
{
	int low = 0, high = n;

	while (low < high) {
		int middle = (low + high) / 2;

		if (strcmp(list[middle].name, name) < 0) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < n && strcmp(list[low].name, name) == 0 ? low : n;
}
