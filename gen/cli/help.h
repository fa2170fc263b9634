/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that are made from the table of options: help, manual page, and
 * completion scripts for shells. */
#ifndef TIRC_HELP_H
#define TIRC_HELP_H

#include "options.h"

/* The names that an option accepts as its argument; name(t, i) is name number i
 * of n. */
struct name_list {
	int n;
	const char *(*name)(struct tirc *t, int i);
};

/* Sets *out to the names of targets, backends, kinds of packages or passes if
 * the option's argument is one of these names. Returns false for any other
 * option. */
bool cli_option_names(struct tirc *t, const struct option_row *row,
		      struct name_list *out);
/* Prints the help of a verb with its options. */
void cli_verb_help(FILE *to, const struct verb *verb);
/* Prints an overview of all verbs. */
void cli_overview(FILE *to);
/* man.c: prints the manual page of tirc in the format of man. */
void cli_manual(FILE *to);
/* completion.c: print scripts by which a shell completes command lines. */
void cli_complete_bash(FILE *to);
void cli_complete_zsh(FILE *to);
/* main.c: prints that there is no such verb, and names the verb with the
 * nearest spelling. Returns CLI_USAGE. */
int cli_no_such_verb(const char *word);

#endif
