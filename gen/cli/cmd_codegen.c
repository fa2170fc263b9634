/* SPDX-License-Identifier: Apache-2.0 */
/* tirc codegen: the source of what a tensor program builds. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

/* The file and its folder; unchanged files are written all the same: they are
 * small. */
static bool
write_source(const char *verb, const char *folder, struct tirc_source source)
{
	size_t n = strlen(folder) + strlen(source.name) + 2;
	char *path = malloc(n);
	bool ok = false;
	FILE *f;

	if (path == NULL) {
		return false;
	}
	snprintf(path, n, "%s/%s", folder, source.name);
	f = fopen(path, "wb");
	if (f != NULL) {
		ok = fputs(source.text, f) >= 0;
		ok = fclose(f) == 0 && ok;
	}
	if (!ok) {
		fprintf(stderr, "tirc %s: %s cannot be written\n", verb, path);
	}
	free(path);
	return ok;
}

bool
cli_write_sources(struct cli *c, struct tirc *t, const char *folder)
{
	bool ok = true;

	if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
		fprintf(stderr, "tirc %s: %s cannot be made\n", c->verb,
			folder);
		return false;
	}
	for (int i = 0; ok && i < tirc_source_count(t); i++) {
		ok = write_source(c->verb, folder, tirc_source(t, i));
	}
	return ok;
}

int
cmd_codegen(struct cli *c)
{
	struct tirc *t = cli_program(c);
	struct tirc_program_options o = { .schedule = c->schedule,
					  .header = c->out != NULL };
	bool ok;

	if (t == NULL) {
		return CLI_BUG;
	}
	ok = tirc_program_sources(t, c->model, &o);
	cli_messages(t);
	if (ok && c->out != NULL) {
		ok = cli_write_sources(c, t, c->out);
	}
	for (int i = 0; ok && c->out == NULL && i < tirc_source_count(t);
	     i++) {
		fputs(tirc_source(t, i).text, stdout);
	}
	tirc_free(t);
	return ok ? CLI_DONE : CLI_INPUT;
}
