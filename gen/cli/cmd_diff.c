/* SPDX-License-Identifier: Apache-2.0 */
/* tirc diff: prints what differs between two models, or between two folders
 * that tirc compile wrote. */
#include <sys/stat.h>

#include "cleanup.h"
#include "cli.h"

/* The exit statuses of tirc diff: equal, different, error. */
enum { DIFF_SAME = 0, DIFF_OTHER = 1, DIFF_TROUBLE = 2 };

/* The folder with the emitted files of `path`: if `path` is a folder, the path
 * itself; if it is a model, a folder in the temporary folder, into which the
 * model is compiled. Returns NULL after an error message. */
static const char *
folder_of(struct cli *c, const char *path, const char *name)
{
	const char *scratch, *folder;
	struct tirc *t;
	struct stat st;
	bool ok;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		return path;
	}
	scratch = cleanup_scratch();
	c->model = path;
	t = scratch != NULL ? cli_open(c) : NULL;
	if (t == NULL) {
		return NULL;
	}
	folder = arena_printf(&c->arena, "%s/%s", scratch, name);
	ok = tirc_compile(t) && tirc_write(t, folder);
	cli_messages(t);
	tirc_free(t);
	return ok ? folder : NULL;
}

int
cmd_diff(struct cli *c)
{
	const char *old = folder_of(c, c->model, "old");
	const char *new = old != NULL ? folder_of(c, c->rest[0], "new") : NULL;
	const char *text;
	struct tirc *t;
	bool differ = false;

	if (new == NULL) {
		return DIFF_TROUBLE;
	}
	t = tirc_new(NULL);
	text = tirc_difference(t, old, new, c->json, &differ);
	cli_messages(t);
	if (text != NULL && !c->quiet) {
		say_lines(stdout, text);
	}
	tirc_free(t);
	return text == NULL ? DIFF_TROUBLE : differ ? DIFF_OTHER : DIFF_SAME;
}
