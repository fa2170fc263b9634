/* SPDX-License-Identifier: Apache-2.0 */
/* The table of options of all verbs, and functions on its rows. */
#ifndef TIRC_OPTIONS_H
#define TIRC_OPTIONS_H

#include "cli.h"

/* Verbs as bits, in the order of cli_verbs(). TEST and RUN are `tirc test`
 * and `tirc run` of a model, TEST_PROGRAM and RUN_PROGRAM of a tensor program. */
enum {
	COMPILE = 1,
	RUN = 2,
	TEST = 4,
	INSPECT = 8,
	PARTITION = 16,
	LOWER = 32,
	CODEGEN = 64,
	DIALECT = 128,
	TARGETS = 256,
	PASSES = 512,
	HELP = 1024,
	VERSION = 2048,
	TVMC = 4096,
	TUNE = 8192,
	RECORDS = 16384,
	REPORT = 32768,
	DIFF = 65536,
	WORKER = 131072,
	VERIFY = 262144,
	BISECT = 524288,
	COMPARE = 1 << 20,
	TEST_PROGRAM = 1 << 21,
	RUN_PROGRAM = 1 << 22
};
#define MODEL_VERBS                                                            \
	(COMPILE | RUN | TEST | INSPECT | TUNE | REPORT | DIFF | VERIFY |      \
	 BISECT | COMPARE)
#define GRAPH_VERBS (MODEL_VERBS | PARTITION | RECORDS)
#define BUILD_VERBS                                                            \
	(COMPILE | RUN | TEST | TUNE | REPORT | DIFF | VERIFY | BISECT |       \
	 COMPARE)
#define PROGRAM_VERBS (LOWER | CODEGEN | TEST_PROGRAM | RUN_PROGRAM)
/* The verbs that run a model or a tensor program. */
#define RUNNING_VERBS (RUN | TEST | TEST_PROGRAM | RUN_PROGRAM)

enum option_id {
	OPT_OUT = 'o',
	OPT_QUIET = 'q',
	OPT_HELP = 'h',
	OPT_LAST_LETTER = 255,
#define FLAG(id, member) OPT_##id,
#define TEXT(id, member) OPT_##id,
#define LIST(id, member, count) OPT_##id,
#define READ(id) OPT_##id,
#include "options.def"
#undef FLAG
#undef TEXT
#undef LIST
#undef READ
};

/* An option of one or more verbs. An option that has another meaning for
 * another verb has a second row. */
struct option_row {
	/* the option; an id below 256 is also the letter of its short form */
	enum option_id id;
	const char *name;
	/* The option's argument. NULL: the option takes no argument. "[=…]": an
	 * argument that may be omitted and follows "=". "a|b|c": one of these
	 * words. Anything else: a name for the argument in the help. */
	const char *argument;
	const char *what; /* the description in the help */
	int verbs;        /* bits of the verbs that accept the option */
};

const struct option_row *cli_option_rows(int *n);
/* Does the option's argument have the form "[=…]", so that it may be
 * omitted? */
bool cli_value_optional(const struct option_row *row);
/* The bit of a verb in option_row.verbs: TEST for tirc test and RUN for tirc
 * run, whatever file they get. */
int cli_verb_bit(const struct verb *verb);
/* The bit that the verb has when its file is a tensor program; 0 if the verb
 * takes no programs, or only programs. */
int cli_program_bit(int verb_bit);
/* Does the verb take the option for models or for programs? */
bool cli_verb_takes(const struct verb *verb, const struct option_row *row);

#endif
