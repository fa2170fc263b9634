/* SPDX-License-Identifier: Apache-2.0 */
/* What is printed from the table of options: help, a manual page, completions of
 * shells. */
#ifndef TIRC_CLI_HELP_H
#define TIRC_CLI_HELP_H

#include "options.h"

/* The names that an option takes, in order, each with a line about it. */
struct name_list {
	int n;
	const char *(*name)(struct tirc *t, int i);
	const char *(*what)(struct tirc *t, int i); /* NULL: no lines */
};

/* The targets, backends, kinds of packages or passes that the option names; false:
 * it takes something else. */
bool cli_option_names(struct tirc *t, const struct option_row *row,
		      struct name_list *out);
/* All verbs. */
void cli_overview(FILE *to);
/* man.c: a manual page, for man. */
void cli_manual(FILE *to);
/* completion.c: the script that completes words of a command line. */
void cli_complete_bash(FILE *to);
void cli_complete_zsh(FILE *to);
/* main.c: says so, with the nearest verb. Returns CLI_USAGE. */
int cli_no_such_verb(const char *word);

#endif
