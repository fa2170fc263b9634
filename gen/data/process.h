/* SPDX-License-Identifier: Apache-2.0 */
/* Splits commands of the user into words, and runs them without a shell. */
#ifndef TIRC_PROCESS_H
#define TIRC_PROCESS_H

#include "confine.h"

/* The words of a command: the program and its arguments. */
struct command {
	VEC(const char *) words;
};

/* Appends the words of a text to c. They are split as a POSIX shell splits
 * them: at blanks, with '...', "..." and \ for quoting. No variable or wildcard
 * is expanded. If a quote is not closed, appends nothing and returns false. */
bool command_add(struct arena *a, struct command *c, const char *text);
/* The format of the message about a text that command_add() refuses. */
#define COMMAND_QUOTE_OPEN "`%s` has a quote that is not closed"
/* Appends one word, unchanged. */
void command_add_word(struct arena *a, struct command *c, const char *word);
/* A text that command_add() splits into the words of c. */
const char *command_text(struct arena *a, const struct command *c);
/* A text that command_add() reads as this word: in quotes, if any character has
 * a special meaning in a shell. */
const char *command_quoted(struct arena *a, const char *word);

struct process {
	/* the program, which is searched in PATH, and its arguments */
	const struct command *command;
	/* how the program is confined, or NULL: not at all. confined->program
	 * is then the file that is executed. */
	const struct confinement *confined;
	/* the working folder of the program; NULL: the current folder */
	const char *folder;
	/* the text of the program's standard input; NULL: the input is empty */
	const char *input;
	size_t input_bytes;
	/* gets the program's standard output; NULL: this output goes to
	 * stderr */
	struct strbuf *out;
	/* what the program writes to standard error is discarded */
	bool is_quiet;
	/* the program's standard error goes where its standard output goes */
	bool is_together;
	/* after this many seconds, the program and its children are killed; 0:
	 * there is no limit */
	double most_seconds;
	/* unless NULL: gets the exit status as a shell reports it (128 plus the
	 * number of a signal that ended the program) */
	int *status;
	/* unless NULL: set to true if the program could not be started */
	bool *is_missing;
};

/* Runs the command and waits for its end. NULL if it ended with status 0; else
 * the reason, as the end of a sentence: "cannot be started: ...", "cannot be
 * confined: ...", "ended with status 3". */
const char *process_run(struct arena *a, const struct process *p);

/* The seconds of a clock that is never set back. */
double process_clock(void);

#endif
