/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of the user's, split into words, and running them without a shell. */
#ifndef TIRC_PROCESS_H
#define TIRC_PROCESS_H

#include "arena.h"

/* The words of a command, which an arena owns. */
struct command {
	VEC(const char *) words;
};

/* Appends the words of a text, which are split as a POSIX shell splits them: by
 * blanks, with '...', "..." and \ around the characters of a word. Nothing is
 * expanded. False: a quote is not closed, and nothing was appended. */
bool command_add(struct arena *a, struct command *c, const char *text);
/* The message for a text whose quote is not closed. */
#define COMMAND_QUOTE_OPEN "`%s` has a quote that is not closed"
/* Appends one word as it is. */
void command_add_word(struct arena *a, struct command *c, const char *word);
/* The command as a text that command_add() splits into the same words. */
const char *command_text(struct arena *a, const struct command *c);
/* The word as a text that command_add() reads back: in quotes unless each of its
 * characters stands for itself in a shell. */
const char *command_quoted(struct arena *a, const char *word);

struct process {
	const struct command
		*command;   /* its first word is looked for in PATH */
	const char *folder; /* it runs in; NULL: the current one */
	const char *input;  /* its standard input; NULL: it has none */
	size_t input_bytes;
	struct strbuf *out; /* gets the standard output; NULL: the output goes
			     * to the messages */
	bool is_quiet;      /* its messages are dropped */
	int *status;        /* gets the exit status as a shell has it, 128 and
			     * the number of a signal that ended it; or NULL */
};

/* Runs the command and waits for its end. NULL: it ended with status 0; else how
 * it failed, as a message continues after its name: "cannot be started: ...",
 * "ended with status 3". */
const char *process_run(struct arena *a, const struct process *p);

#endif
