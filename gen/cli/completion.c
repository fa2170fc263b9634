/* SPDX-License-Identifier: Apache-2.0 */
/* tirc help bash, tirc help zsh: print scripts by which a shell completes a
 * command line, made from the tables of verbs and options. */
#include <string.h>

#include "help.h"

/* Does the option accept only certain words? The argument in its row lists them
 * with bars between, or they are the names of targets, backends, kinds of
 * packages or passes. */
static bool
has_values(struct tirc *t, const struct option_row *row)
{
	struct name_list names;

	return row->argument != NULL &&
	       (strchr(row->argument, '|') != NULL ||
		(t != NULL && cli_option_names(t, row, &names)));
}

/* Prints the words that an option accepts (has_values), with a space before
 * each. */
static void
put_values(FILE *to, struct tirc *t, const struct option_row *row)
{
	struct name_list names = { 0 };

	if (t == NULL || !cli_option_names(t, row, &names)) {
		for (const char *p = row->argument; *p != '\0';) {
			size_t n = strcspn(p, "|");

			say(to, " %.*s", (int)n, p);
			p += n + (p[n] == '|');
		}
	}
	for (int i = 0; i < names.n; i++) {
		say(to, " %s", names.name(t, i));
	}
}

static void
put_verbs(FILE *to)
{
	int n;
	const struct verb *verbs = cli_verbs(&n);

	for (int i = 0; i < n; i++) {
		say(to, "%s%s", i > 0 ? " " : "", verbs[i].name);
	}
}

static void
line(FILE *to, const char *text)
{
	say_lines(to, text);
	say(to, "\n");
}

/* -- bash -- */

static void
put_bash_verb(FILE *to, struct tirc *t, const struct verb *verb)
{
	int n;
	const struct option_row *rows = cli_option_rows(&n);

	say(to, "\t%s)\n", verb->name);
	line(to, "\t\tcase $before in");
	for (int i = 0; i < n; i++) {
		if (cli_verb_takes(verb, &rows[i]) && has_values(t, &rows[i])) {
			say(to, "\t\t--%s) words=\"", rows[i].name);
			put_values(to, t, &rows[i]);
			line(to, "\" ;;");
		}
	}
	say(to, "\t\t*) words=\"");
	for (int i = 0; i < n; i++) {
		if (cli_verb_takes(verb, &rows[i])) {
			say(to, " --%s", rows[i].name);
		}
	}
	line(to, "\" ;;");
	line(to, "\t\tesac");
	line(to, "\t\t;;");
}

void
cli_complete_bash(FILE *to)
{
	int n;
	const struct verb *verbs = cli_verbs(&n);
	struct tirc *t = tirc_new(NULL);

	say(to,
	    "# Completions of tirc %s for bash; `tirc help bash` prints this.\n",
	    tirc_version());
	line(to, "_tirc() {");
	line(to, "\tlocal word=${COMP_WORDS[COMP_CWORD]}");
	line(to, "\tlocal before=${COMP_WORDS[COMP_CWORD - 1]} words=");
	line(to, "\tCOMPREPLY=()");
	line(to, "\tif [ \"$COMP_CWORD\" -eq 1 ]; then");
	say(to, "\t\tmapfile -t COMPREPLY < <(compgen -W \"");
	put_verbs(to);
	line(to, "\" -- \"$word\")");
	line(to, "\t\treturn");
	line(to, "\tfi");
	line(to, "\tcase ${COMP_WORDS[1]} in");
	for (int i = 0; i < n; i++) {
		put_bash_verb(to, t, &verbs[i]);
	}
	line(to, "\tesac");
	line(to, "\tif [[ $word == -* || ($before == --* && "
		 "$words != *\" --\"*) ]]; then");
	line(to, "\t\tmapfile -t COMPREPLY < "
		 "<(compgen -W \"$words\" -- \"$word\")");
	line(to, "\tfi");
	line(to, "}");
	line(to, "complete -o default -F _tirc tirc");
	tirc_free(t);
}

/* -- zsh -- */

/* Prints a text that stands between single quotes and within "[…]" or after ":"
 * of a zsh specification, with the special characters escaped. */
static void
put_zsh(FILE *to, const char *text)
{
	while (*text != '\0') {
		size_t n = strcspn(text, "'[]:\\");

		say_bytes(to, text, n);
		text += n;
		if (*text == '\'') {
			say(to, "'\\''");
		} else if (*text != '\0') {
			say(to, "\\%c", *text);
		}
		text += *text != '\0';
	}
}

static void
put_zsh_option(FILE *to, struct tirc *t, const struct option_row *row)
{
	const char *end = row->argument == NULL     ? ""
			  : cli_value_optional(row) ? "=-"
						    : "=";

	if (row->id < 256) {
		say(to, " \\\n\t\t\t'-%c%s[", (char)row->id,
		    row->argument != NULL ? "+" : "");
		put_zsh(to, row->what);
		say(to, "]%s'", row->argument != NULL ? ":file:_files" : "");
	}
	say(to, " \\\n\t\t\t'*--%s%s[", row->name, end);
	put_zsh(to, row->what);
	say(to, "]");
	if (row->argument != NULL) {
		say(to, "%s", cli_value_optional(row) ? "::" : ":");
		put_zsh(to, row->argument);
		say(to, ":");
		if (has_values(t, row)) {
			say(to, "(");
			put_values(to, t, row);
			say(to, ")");
		} else {
			say(to, "_files");
		}
	}
	say(to, "'");
}

static void
put_zsh_verb(FILE *to, struct tirc *t, const struct verb *verb)
{
	int n;
	const struct option_row *rows = cli_option_rows(&n);

	say(to, "\t%s)\n\t\t_arguments", verb->name);
	for (int i = 0; i < n; i++) {
		if (cli_verb_takes(verb, &rows[i])) {
			put_zsh_option(to, t, &rows[i]);
		}
	}
	line(to, " \\");
	line(to, "\t\t\t'*:file:_files'");
	line(to, "\t\t;;");
}

void
cli_complete_zsh(FILE *to)
{
	int n;
	const struct verb *verbs = cli_verbs(&n);
	struct tirc *t = tirc_new(NULL);

	say(to,
	    "#compdef tirc\n"
	    "# Completions of tirc %s for zsh; `tirc help zsh` prints this.\n",
	    tirc_version());
	line(to, "_tirc() {");
	line(to, "\tlocal -a verbs=(");
	for (int i = 0; i < n; i++) {
		say(to, "\t\t'%s:", verbs[i].name);
		put_zsh(to, verbs[i].what);
		line(to, "'");
	}
	line(to, "\t)");
	line(to, "\tif (( CURRENT == 2 )); then");
	line(to, "\t\t_describe verb verbs");
	line(to, "\t\treturn");
	line(to, "\tfi");
	line(to, "\tlocal verb=$words[2]");
	line(to, "\tshift words");
	line(to, "\t(( CURRENT-- ))");
	line(to, "\tcase $verb in");
	for (int i = 0; i < n; i++) {
		put_zsh_verb(to, t, &verbs[i]);
	}
	line(to, "\tesac");
	line(to, "}");
	line(to, "_tirc \"$@\"");
	tirc_free(t);
}
