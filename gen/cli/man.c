/* SPDX-License-Identifier: Apache-2.0 */
/* tirc help man: prints a manual page in the macros of man(7), made from the
 * tables of verbs and options. */
#include <string.h>

#include "help.h"

/* Prints the first character of the text, which has several bytes in UTF-8, in
 * the notation of troff. Returns the text after the character. */
static const char *
put_beyond_ascii(FILE *to, const char *text)
{
	char name[16];
	unsigned char first = (unsigned char)*text++;
	unsigned code = first >= 0xf0   ? first & 0x07
			: first >= 0xe0 ? first & 0x0f
					: first & 0x1f;

	for (; ((unsigned char)*text & 0xc0) == 0x80; text++) {
		code = code << 6 | ((unsigned char)*text & 0x3f);
	}
	snprintf(name, sizeof name, "\\[u%04X]", code);
	say(to, "%s", name);
	return text;
}

static bool
is_plain(char c)
{
	return (unsigned char)c < 0x80 && strchr("\\-`^~", c) == NULL;
}

/* Prints text with escapes, so that troff treats each character literally and
 * no line as a request. at_start: the text begins a line. */
static void
put(FILE *to, const char *text, bool at_start)
{
	while (*text != '\0') {
		size_t n = 0;

		if (at_start && (*text == '.' || *text == '\'')) {
			say(to, "\\&");
		}
		while (is_plain(text[n]) && (n == 0 || text[n - 1] != '\n')) {
			n++;
		}
		say_bytes(to, text, n);
		at_start = n > 0 && text[n - 1] == '\n';
		text += n;
		if (n > 0) {
			continue;
		}
		if ((unsigned char)*text >= 0x80) {
			text = put_beyond_ascii(to, text);
			continue;
		}
		say(to, *text == '-'   ? "\\-"
			: *text == '`' ? "\\(ga"
			: *text == '^' ? "\\(ha"
			: *text == '~' ? "\\(ti"
				       : "\\e");
		text++;
	}
}

static void
put_option(FILE *to, const struct option_row *row)
{
	say(to, ".TP\n\\fB");
	if (row->id < 256) {
		say(to, "\\-%c\\fR, \\fB", (char)row->id);
	}
	put(to, "--", false);
	put(to, row->name, false);
	say(to, "\\fR");
	if (row->argument != NULL) {
		say(to, "%s\\fI", cli_value_optional(row) ? "" : " ");
		put(to, row->argument, false);
		say(to, "\\fR");
	}
	say(to, "\n");
	put(to, row->what, true);
	say(to, "\n");
}

static void
put_verb(FILE *to, const struct verb *verb)
{
	int n;
	const struct option_row *rows = cli_option_rows(&n);

	say(to, ".SS tirc %s ", verb->name);
	put(to, verb->arguments, false);
	say(to, "\n");
	put(to, verb->what, true);
	say(to, ".\n");
	if (verb->help[0] != '\0') {
		say(to, ".PP\n.nf\n");
		put(to, verb->help, true);
		say(to, ".fi\n");
	}
	for (int i = 0; i < n; i++) {
		if (cli_verb_takes(verb, &rows[i]) && rows[i].id != OPT_HELP) {
			put_option(to, &rows[i]);
		}
	}
}

void
cli_manual(FILE *to)
{
	int n;
	const struct verb *verbs = cli_verbs(&n);

	say(to, ".TH TIRC 1 \"\" \"tirc %s\"\n", tirc_version());
	say(to,
	    ".SH NAME\n"
	    "tirc \\- writes readable C for machine\\-learning models\n"
	    ".SH SYNOPSIS\n"
	    ".B tirc\n.I VERB\n[\\fIoptions\\fR]\n"
	    ".SH DESCRIPTION\n"
	    "tirc reads an ONNX model, or a tensor program written for TVM, "
	    "and writes its source for a target.\n"
	    ".SH VERBS\n");
	for (int i = 0; i < n; i++) {
		put_verb(to, &verbs[i]);
	}
	say(to, ".SH EXIT STATUS\n"
		".TP\n0\ndone\n"
		".TP\n1\nthe input is at fault, or a comparison failed\n"
		".TP\n2\nthe command line is at fault\n"
		".TP\n3\na bug of tirc\n"
		".SH ENVIRONMENT\n"
		".TP\nCC\nthe C compiler of run and test, unless "
		"\\fB\\-\\-cc\\fR names one\n");
}
