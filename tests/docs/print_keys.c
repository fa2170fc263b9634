/* SPDX-License-Identifier: Apache-2.0 */
/* print_keys TABLE schema: the JSON Schema of a kind of data file;
 * print_keys TABLE places: the pointer of each key that has a text, a line each;
 * print_keys TABLE manual "PLACE...": its keys below these places as a table. */
#include <stdio.h>

#include "backend_keys.h"
#include "dialect_keys.h"
#include "intrinsic_keys.h"
#include "target_keys.h"

static const struct {
	const char *name;
	const struct key_table *table;
} tables[] = {
	{ "backend", &backend_keys },
	{ "dialect", &dialect_keys },
	{ "intrinsic", &intrinsic_keys },
	{ "target", &target_keys },
};

/* The keys that have a text. */
static void
print_places(const struct key_table *table)
{
	for (int i = 0; i < table->n; i++) {
		if (table->rows[i].doc != NULL &&
		    table->rows[i].type != KEY_GONE) {
			puts(table->rows[i].pointer);
		}
	}
}

int
main(int argc, char **argv)
{
	struct module *m = module_new();
	int status = 2;

	for (size_t i = 0; argc > 2 && i < sizeof tables / sizeof *tables;
	     i++) {
		if (strcmp(argv[1], tables[i].name) != 0) {
			continue;
		}
		status = 0;
		if (strcmp(argv[2], "schema") == 0) {
			fputs(json_keys_schema(tables[i].table, &m->arena),
			      stdout);
		} else if (strcmp(argv[2], "places") == 0) {
			print_places(tables[i].table);
		} else {
			fputs(json_keys_manual(tables[i].table, &m->arena,
					       argc > 3 ? argv[3] : "/"),
			      stdout);
		}
	}
	module_free(m);
	return status;
}
