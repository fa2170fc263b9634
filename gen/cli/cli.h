/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: verbs over the public interface. All messages for people
 * are printed here; the libraries print nothing. */
#ifndef TIRC_CLI_H
#define TIRC_CLI_H

#include <stdio.h>

#include "arena.h"
#include "tirc.h"

/* Exit statuses. */
enum { CLI_DONE = 0, CLI_INPUT = 1, CLI_USAGE = 2, CLI_BUG = 3 };

/* The values of the options; options.c lists the verbs that take each. */
struct cli {
	const char *verb;
	struct arena arena; /* of the lists below */
	struct tirc_options tirc;
	const char *model;
	const char **files; /* all positional arguments */
	const char **rest;  /* positional arguments after the model */
	int n_rest;
	/* the options as they were given, each as the words of a shell */
	const struct given_option *given;
	int n_given;
	const char *out; /* -o */
	bool quiet, json, depfile, help;
	/* "native = x86-64-v3 ...", where the target stood for the machine at
	 * hand; has_summary: the verb prints it with its results. */
	const char *at_hand;
	bool has_summary;
	const char *depfile_path;
	const char *json_path; /* run */
	/* run, test */
	const char *cc, *cflags;
	/* a command prefix for the built program, or NULL */
	const char *runner;
	const char *const *inputs; /* run, test: name=file or file */
	int n_inputs;
	const char *const *expected; /* test: the same, of outputs */
	int n_expected;
	const char *output; /* run: .npz or folder */
	int repeat;
	double rtol, atol; /* negative: by dtype */
	bool each_region, layers;
	const char *layers_file; /* of --layers, or NULL */
	/* lower, codegen */
	const char *schedule;
	bool old_script;
	int phase; /* -1: not given */
	const char *from_onnx, *kernel;
	bool unscheduled, show_trace, explain_schedule, merged, names;
	const char *keep; /* folder to build in and leave behind */
};

/* An option on the command line; options.h has its identifier. */
struct given_option {
	int id;
	const char *words; /* "--dim n=4" */
};

struct verb {
	const char *name;
	const char *arguments; /* "MODEL.onnx [-o DIR]" */
	const char *what;      /* one line */
	const char *help;      /* paragraphs */
	int (*run)(struct cli *c);
};

const struct verb *cli_verbs(int *n);
int cmd_compile(struct cli *c);
int cmd_run(struct cli *c);
int cmd_test(struct cli *c);
int cmd_inspect(struct cli *c);
int cmd_partition(struct cli *c);
int cmd_lower(struct cli *c);
int cmd_codegen(struct cli *c);
int cmd_dialect(struct cli *c);
int cmd_targets(struct cli *c);
int cmd_passes(struct cli *c);
int cmd_help(struct cli *c);
int cmd_version(struct cli *c);

/* cmd_lower_kernel.c: lower --from-onnx, printed to out. */
int cli_lower_kernel(struct cli *c, FILE *out);

/* options_read.c: parses a verb's argv. Returns CLI_DONE, or CLI_USAGE after a
 * message. */
int cli_options(struct cli *c, const struct verb *verb, int argc, char **argv);
void cli_options_free(struct cli *c);
void cli_verb_help(FILE *to, const struct verb *verb);

/* at_hand.c: a target that stands for the machine at hand becomes one that fits
 * it. False: reported. */
bool cli_find_target(struct cli *c);
/* Where the user names no target, the machine at hand is the target. */
void cli_use_machine(struct cli *c);
/* The line of a summary with the target that was found. */
void cli_print_target(const struct cli *c);

/* style.c: the line of a summary, after its label, with what Winograd's
 * algorithm takes; none without convolutions by it. */
void cli_print_winograd(const char *label, struct tirc_summary s);

/* board.c: the bytes of inputs and outputs that are arrays of the caller; of
 * symbolic sizes at most. */
int64_t cli_io_bytes(struct tirc *t);
/* profile.c: for qsort, the smallest first. */
int cli_compare_doubles(const void *a, const void *b);

/* package.c: arranges the compiled model as the firmware package of the options,
 * with the values of its self-test. False: reported, by t's messages or else. */
bool cli_package(struct cli *c, struct tirc *t);

/* next_step.c: the line of a summary with what to do next with the compiled
 * model. */
void cli_print_next(const struct cli *c, struct tirc *t);

/* say.c: everything that the command line prints. Characters that no reader sees,
 * or that control a terminal, are printed in their visible form
 * (text_put_visible). */
/* Like fprintf; the texts among the arguments stay on their line: a newline in
 * one is printed as \n. Conversions: s c d i u x f g e %. */
void say(FILE *f, const char *fmt, ...) TIRC_PRINTF(2, 3);
void say_args(FILE *f, const char *fmt, va_list ap);
/* A text of several lines; `length` bytes of one. */
void say_lines(FILE *f, const char *text);
void say_bytes(FILE *f, const char *text, size_t length);

/* style.c: terminals, units, tables. */
/* "error: ..." on standard error; the text has no newline. Returns false. */
bool cli_error(const char *fmt, ...) TIRC_PRINTF(1, 2);
/* "note: ..." on standard error. */
void cli_note(const char *fmt, ...) TIRC_PRINTF(1, 2);
enum style { STYLE_BOLD, STYLE_RED, STYLE_GREEN };
/* Prints a word in a style, where f is a terminal. */
void style_word(FILE *f, enum style style, const char *word);
/* "7.2 MB", "410 kB", "96 bytes"; buf holds at least 32. */
const char *style_bytes(char *buf, int64_t bytes);
/* "231.2 M", "4.1 G". */
const char *style_count(char *buf, double count);
/* Prints a table with a header, columns aligned; right[i]: column i is
 * right-aligned. */
void style_table(FILE *f, int columns, const char *const *header,
		 const bool *right, int rows, const char *const *cells);
/* A progress line, rewritten in place, on a terminal only. */
void style_progress(void *ctx, const char *step, int done, int total);
void style_progress_end(void);

/* cmd_compile.c: a context for the verb's model; messages go to stderr. */
struct tirc *cli_open(struct cli *c); /* NULL: reported, status CLI_INPUT */
/* Whether the path can name a tensor program. For the path of an ONNX model it
 * reports an error that names the verbs for models, and returns false. */
bool cli_is_program(const char *path);
/* A context for a tensor program. */
struct tirc *cli_program(struct cli *c);
void cli_messages(struct tirc *t);
/* The table of --time-passes, to stderr; nothing without it. */
void cli_timings(struct tirc *t);

#endif
