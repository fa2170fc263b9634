/* SPDX-License-Identifier: Apache-2.0 */
/* tirc dialect: lists the dialects, shows or checks one of them, or writes its
 * self-test as source for a compiler on another machine. */
#include <string.h>

#include "cli.h"

static int
usage(const char *problem)
{
	say(stderr, "tirc dialect: %s; see `tirc dialect --help`\n", problem);
	return CLI_USAGE;
}

static bool
print(const char *text)
{
	if (text != NULL) {
		say_lines(stdout, text);
	}
	return text != NULL;
}

static bool
check(struct cli *c, struct tirc *t, const char *folder)
{
	const char *checked = tirc_dialect_check(t, folder);

	if (checked != NULL && !c->quiet) {
		say(stdout, "%s: no mistake\n", checked);
	}
	return checked != NULL;
}

static bool
selftest(struct cli *c, struct tirc *t, const char *name)
{
	if (!tirc_dialect_selftest(t, name) || !tirc_write_sources(t, c->out)) {
		return false;
	}
	if (!c->quiet) {
		say(stdout, "%d files in %s; see README.md there\n",
		    tirc_source_count(t), c->out);
	}
	return true;
}

int
cmd_dialect(struct cli *c)
{
	const char *what = c->model;
	const char *name = c->n_rest > 0 ? c->rest[0] : NULL;
	bool lists = strcmp(what, "list") == 0;
	struct tirc *t;
	bool ok;

	if (!lists && strcmp(what, "show") != 0 && strcmp(what, "check") != 0 &&
	    strcmp(what, "selftest") != 0) {
		return usage("list, show, check or selftest is expected");
	}
	if (c->n_rest != (lists ? 0 : 1)) {
		return usage(lists ? "list takes no name"
				   : "give the name of a dialect, or its "
				     "folder");
	}
	if (strcmp(what, "selftest") == 0 && c->out == NULL) {
		return usage("selftest needs a folder for its files (-o DIR)");
	}
	if (c->merged && strcmp(what, "show") != 0) {
		return usage("--merged is an option of show");
	}
	t = cli_program(c);
	if (t == NULL) {
		return CLI_BUG;
	}
	ok = lists ? print(tirc_dialect_list(t, c->json))
	     : what[1] == 'h' && what[0] == 's'
		     ? print(c->merged ? tirc_dialect_merged(t, name)
				       : tirc_dialect_show(t, name, c->json))
	     : what[0] == 'c' ? check(c, t, name)
			      : selftest(c, t, name);
	cli_messages(t);
	tirc_free(t);
	return ok ? CLI_DONE : CLI_INPUT;
}
