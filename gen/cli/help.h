/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that are made from the table of options: help, a manual page,
 * completions for shells. */
#ifndef TIRC_HELP_H
#define TIRC_HELP_H

#include "options.h"

/* The names that an option accepts: names 0 to n - 1. */
struct name_list {
	int n;
	const char *(*name)(struct tirc *t, int i);
};

/* Sets *out to the targets, backends, kinds of packages or passes, if the
 * option accepts the names of one of these. False if it accepts anything
 * else. */
bool cli_option_names(struct tirc *t, const struct option_row *row,
		      struct name_list *out);
/* Prints the options of a verb. */
void cli_verb_help(FILE *to, const struct verb *verb);
/* Prints an overview of all verbs. */
void cli_overview(FILE *to);
/* man.c: prints a manual page, for man. */
void cli_manual(FILE *to);
/* completion.c: print scripts that complete the words of a command line. */
void cli_complete_bash(FILE *to);
void cli_complete_zsh(FILE *to);
/* main.c: reports that there is no such verb, and the nearest one. Returns
 * CLI_USAGE. */
int cli_no_such_verb(const char *word);

#endif
