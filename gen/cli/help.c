/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of tirc --help and tirc VERB --help; the verbs targets, passes and
 * help. */
#include <string.h>

#include "help.h"

/* The column in which the descriptions of options begin, and the last column of
 * a line. */
enum { TEXT_COLUMN = 30, LAST_COLUMN = 80 };

/* -- lists of names -- */

static const char *
pass_name(struct tirc *t, int i)
{
	(void)t;
	return tirc_pass_name(i);
}

bool
cli_option_names(struct tirc *t, const struct option_row *row,
		 struct name_list *out)
{
	switch ((int)row->id) {
	case OPT_TARGET:
		*out = (struct name_list){ tirc_target_count(t), tirc_target };
		return true;
	case OPT_PACKAGE:
		*out = (struct name_list){ tirc_package_count(t),
					   tirc_package };
		return true;
	case OPT_BYOC:
		*out = (struct name_list){ tirc_backend_count(t),
					   tirc_backend };
		return true;
	case OPT_PRINT_AFTER:
	case OPT_DISABLE_PASS:
		*out = (struct name_list){ tirc_pass_count(), pass_name };
		return true;
	default:
		return false;
	}
}

/* -- options -- */

/* The number of columns that the text takes on a terminal. The text is in
 * UTF-8; bytes: its number of bytes. */
static int
width_of(const char *text, size_t bytes)
{
	int width = 0;

	for (size_t i = 0; i < bytes; i++) {
		width += ((unsigned char)text[i] & 0xc0) != 0x80;
	}
	return width;
}

/* Prints words from TEXT_COLUMN on and breaks lines at LAST_COLUMN; each new
 * line begins in TEXT_COLUMN. */
static void
print_words(FILE *to, const char *text)
{
	int column = TEXT_COLUMN;

	while (*text != '\0') {
		size_t bytes = strcspn(text, " ");
		int width = width_of(text, bytes);

		if (column > TEXT_COLUMN && column + 1 + width > LAST_COLUMN) {
			say(to, "\n%*s", TEXT_COLUMN, "");
			column = TEXT_COLUMN;
		} else if (column > TEXT_COLUMN) {
			say(to, " ");
			column++;
		}
		say(to, "%.*s", (int)bytes, text);
		column += width;
		text += bytes + strspn(text + bytes, " ");
	}
	say(to, "\n");
}

/* Prints an option in the left column and its description beside it, or on the
 * next line if the option is too long. */
static void
print_option(FILE *to, const struct option_row *row)
{
	const bool has_letter = row->id < 256;
	char left[80];
	int width;

	snprintf(left, sizeof left, "%c%c%s --%s%s%s", has_letter ? '-' : ' ',
		 has_letter ? (char)row->id : ' ', has_letter ? "," : " ",
		 row->name,
		 row->argument != NULL && !cli_value_optional(row) ? " " : "",
		 row->argument != NULL ? row->argument : "");
	width = width_of(left, strlen(left));
	say(to, "  %s", left);
	if (width + 3 > TEXT_COLUMN) {
		say(to, "\n%*s", TEXT_COLUMN, "");
	} else {
		say(to, "%*s", TEXT_COLUMN - width - 2, "");
	}
	print_words(to, row->what);
}

/* -- the lists at the end -- */

static void
print_name(FILE *to, const char *name, const char *what, const char *mark)
{
	say(to, "  %-20s %s%s\n", name, what, mark);
}

static void
print_targets(FILE *to, struct tirc *t)
{
	const char *of_compile = tirc_target_default(t);
	const char *of_run = tirc_target_of_machine(t);

	for (int i = 0; i < tirc_target_count(t); i++) {
		const char *name = tirc_target(t, i);
		const char *mark = "";

		if (of_compile != NULL && strcmp(name, of_compile) == 0) {
			mark = " (default)";
		} else if (of_run != NULL && strcmp(name, of_run) == 0) {
			mark = " (default of run and test)";
		}
		print_name(to, name, tirc_target_what(t, i), mark);
	}
}

static void
print_passes(FILE *to)
{
	for (int i = 0; i < tirc_pass_count(); i++) {
		print_name(to, tirc_pass_name(i), tirc_pass_what(i),
			   tirc_pass_needed(i) ? " *" : "");
	}
}

static void
print_packages(FILE *to, struct tirc *t)
{
	for (int i = 0; i < tirc_package_count(t); i++) {
		print_name(to, tirc_package(t, i), tirc_package_what(t, i), "");
	}
}

/* Prints the names that the options of compile accept. */
static void
print_lists(FILE *to)
{
	struct tirc *t = tirc_new(NULL);

	say(to, "\ntargets:\n");
	print_targets(to, t);
	say(to, "\npackages:\n");
	print_packages(to, t);
	say(to, "\nbackends:");
	for (int i = 0; i < tirc_backend_count(t); i++) {
		say(to, " %s", tirc_backend(t, i));
	}
	say(to, "\n\n`tirc passes` lists the passes.\n");
	tirc_free(t);
}

void
cli_verb_help(FILE *to, const struct verb *verb)
{
	int n;
	const struct option_row *rows = cli_option_rows(&n);

	say(to, "usage: tirc %s%s%s [options]\n\n", verb->name,
	    verb->arguments[0] != '\0' ? " " : "", verb->arguments);
	say_lines(to, verb->help);
	if (verb->help[0] != '\0') {
		say(to, "\n");
	}
	say(to, "options:\n");
	for (int i = 0; i < n; i++) {
		if (cli_verb_takes(verb, &rows[i])) {
			print_option(to, &rows[i]);
		}
	}
	if (cli_verb_bit(verb) == COMPILE) {
		print_lists(to);
	}
}

void
cli_overview(FILE *to)
{
	int n;
	const struct verb *verbs = cli_verbs(&n);

	say(to,
	    "tirc %s: machine-learning models in, readable C out\n\n"
	    "usage: tirc VERB [options]\n\n",
	    tirc_version());
	for (int i = 0; i < n; i++) {
		say(to, "  %-9s %s\n", verbs[i].name, verbs[i].what);
	}
	say(to, "\n`tirc VERB --help` tells more. Try:\n\n"
		"  tirc compile model.onnx -o out    write C source\n"
		"  tirc test model.onnx              compile, run, compare\n"
		"  tirc lower program.py             a tensor program\n"
		"\nExit status: 0 done, 1 the input's fault, 2 usage, "
		"3 a bug of tirc.\n");
}

/* -- the verbs -- */

int
cmd_targets(struct cli *c)
{
	struct tirc *t = tirc_new(&c->tirc);

	if (c->names) {
		for (int i = 0; i < tirc_target_count(t); i++) {
			say(stdout, "%s\n", tirc_target(t, i));
		}
	} else {
		print_targets(stdout, t);
	}
	tirc_free(t);
	return CLI_DONE;
}

int
cmd_passes(struct cli *c)
{
	if (c->names) {
		for (int i = 0; i < tirc_pass_count(); i++) {
			say(stdout, "%s\n", tirc_pass_name(i));
		}
		return CLI_DONE;
	}
	say(stdout, "In order; * is needed and cannot be left out.\n\n");
	print_passes(stdout);
	return CLI_DONE;
}

int
cmd_help(struct cli *c)
{
	int n;
	const struct verb *verbs = cli_verbs(&n);
	const char *word = c->model;

	if (word == NULL) {
		cli_overview(stdout);
		return CLI_DONE;
	}
	for (int i = 0; i < n; i++) {
		if (strcmp(word, verbs[i].name) == 0) {
			cli_verb_help(stdout, &verbs[i]);
			return CLI_DONE;
		}
	}
	if (strcmp(word, "man") == 0) {
		cli_manual(stdout);
	} else if (strcmp(word, "bash") == 0) {
		cli_complete_bash(stdout);
	} else if (strcmp(word, "zsh") == 0) {
		cli_complete_zsh(stdout);
	} else {
		return cli_no_such_verb(word);
	}
	return CLI_DONE;
}
