/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: verbs on top of the public interface (tirc.h). All messages
 * for users are printed in this folder; the libraries print nothing. */
#ifndef TIRC_CLI_H
#define TIRC_CLI_H

#include <stdio.h>

#include "arena.h"
#include "tirc.h"

/* Exit statuses of the program: success, an error in an input, a wrong use of
 * the command line, an error of tirc itself. */
enum { CLI_DONE = 0, CLI_INPUT = 1, CLI_USAGE = 2, CLI_BUG = 3 };

/* The values of the options; options.c lists the verbs that take each. */
struct cli {
	struct arena arena; /* owns the lists below */
	struct tirc_options tirc;
	const char *model;
	const char **rest; /* the positional arguments that follow the model */
	int n_rest;
	/* the options as given, quoted for a shell */
	const struct given_option *given;
	int n_given;
	const char *out; /* -o */
	bool quiet, json, help;
	bool markdown; /* report: --markdown */
	/* verify: --check and --data, or NULL */
	const char *certificate, *verify_data;
	/* show on a terminal what takes long, although quiet: another program
	 * that a verb builds beside that of the user's options */
	bool steps;
	/* If the target was the machine at hand: "native = x86-64-v3 ...", else
	 * NULL. has_summary: the verb prints that in its summary, with its
	 * results. */
	const char *at_hand;
	bool has_summary;
	const char *depfile_path;
	const char *json_path; /* run: --json=FILE */
	/* run, test */
	const char *cc, *cflags;
	/* --runner: a command that runs the built program, or NULL */
	const char *runner;
	const char *confine; /* --confine: "auto", "require" or "off" */
	/* --input of run and test: NAME=FILE or FILE */
	const char *const *inputs;
	int n_inputs;
	/* --expect of test: NAME=FILE or FILE, for outputs */
	const char *const *expected;
	int n_expected;
	const char *output; /* --output of run: a .npz file or a folder */
	int repeat;
	double rtol, atol; /* --rtol and --atol; negative: the default of the
			    * type */
	bool each_region, layers;
	const char *layers_file; /* --layers=FILE, or NULL */
	/* lower, codegen */
	const char *schedule;
	bool old_script;
	int phase; /* -1 if not given */
	const char *from_onnx, *kernel;
	bool execute; /* lower: calls on arrays without a limit of time */
	bool unscheduled, show_trace, explain_schedule, merged, names;
	/* tune: --trials, --least-gain in percent, --time in seconds; 0: not
	 * given */
	int trials;
	double least_gain, seconds;
	/* tune, worker: --queue, or NULL; a worker's --takeover is in seconds,
	 * too */
	const char *queue;
	bool script;      /* records: --script */
	const char *keep; /* --keep: the folder in which to build, which then
			   * stays */
};

/* An option that the command line gave; id: its enum option_id (options.h). */
struct given_option {
	int id;
	const char *words; /* "--dim n=4" */
};

struct verb {
	const char *name;
	const char *arguments; /* "MODEL.onnx [-o DIR]" */
	const char *what;      /* one line of help */
	const char *help;      /* paragraphs of help */
	int (*run)(struct cli *c);
};

const struct verb *cli_verbs(int *n);
int cmd_compile(struct cli *c);
int cmd_worker(struct cli *c);
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
/* Reads its own arguments, which are c->rest. */
int cmd_tvmc(struct cli *c);
int cmd_tune(struct cli *c);
int cmd_records(struct cli *c);
int cmd_report(struct cli *c);
/* Returns 0 if nothing differs, 1 if something does, 2 after an error, as the
 * program diff does. */
int cmd_diff(struct cli *c);
/* Returns 0 if the folder's source does what the model says, 1 if something
 * differs, 2 after an error. */
int cmd_verify(struct cli *c);

/* cmd_lower_kernel.c: tirc lower --from-onnx; prints to out. */
int cli_lower_kernel(struct cli *c, FILE *out);

/* options_read.c: parses the arguments of a verb into c. Returns CLI_DONE, or
 * CLI_USAGE after an error message. */
int cli_options(struct cli *c, const struct verb *verb, int argc, char **argv);
void cli_options_free(struct cli *c);

/* at_hand.c: replaces the target "native" by the target that fits this machine.
 * False after an error message. */
bool cli_find_target(struct cli *c);
/* Makes this machine the target if the user names none. */
void cli_use_machine(struct cli *c);
/* Prints the line "target" of a summary: the target of t; if cli_find_target()
 * replaced "native", that too; if it is the default, a remark. */
void cli_print_target(const struct cli *c, struct tirc *t);
/* Prints the line "target" of a summary of a tensor program: the target, and
 * what the program calls it. */
void cli_print_program_target(const struct cli *c, struct tirc *t);

/* style.c: prints the line of a summary, after its label, about convolutions by
 * Winograd's algorithm: the bytes of their weights and tiles. Prints nothing if
 * there are none. */
void cli_print_winograd(const char *label, struct tirc_summary s);

/* board.c: the bytes of the model's inputs and outputs that the caller
 * allocates, not those in the workspace; at the largest values of symbolic
 * sizes. */
int64_t cli_io_bytes(struct tirc *t);
/* profile.c: the order of two doubles for qsort, smaller ones first. */
int cli_compare_doubles(const void *a, const void *b);

/* cmd_compile.c: prints a note that TensorFlow Lite rounds in another way, if the
 * model was converted from TensorFlow Lite and the user has not chosen a
 * rounding. */
void cli_note_tflite(struct tirc *t);
/* cmd_partition.c: prints a note for each backend that computes a region and says
 * that some of its results differ from those of the operators. */
void cli_note_backends(struct tirc *t);

/* package.c: arranges the compiled model as the firmware package of the
 * options, with the values of its self-test. False after an error, which is in
 * t's messages or printed. */
bool cli_package(struct cli *c, struct tirc *t);

/* next_step.c: prints the last line of a summary, what to do next with the
 * compiled model, or with the source of a tensor program. */
void cli_print_next(const struct cli *c, struct tirc *t);
/* Does the option (enum option_id) belong to the model, so that each verb that
 * compiles the same kernels needs it? */
bool cli_is_of_model(int option);
void cli_print_next_of_program(const struct cli *c, struct tirc *t);

/* say.c: all output of the command line. Characters that are invisible or
 * control a terminal are printed in a visible form (text_put_visible). */
/* Like fprintf, but a newline in a text argument is printed as \n, so that it
 * cannot start a line. Conversions: s c d i u x f g e %. */
void say(FILE *f, const char *fmt, ...) TIRC_PRINTF(2, 3);
void say_args(FILE *f, const char *fmt, va_list ap);
/* Prints a text of several lines as say() does; the second function prints its
 * first `length` bytes. */
void say_lines(FILE *f, const char *text);
void say_bytes(FILE *f, const char *text, size_t length);

/* style.c: terminals, units, tables. */
/* Prints "error: ..." on standard error; the text has no newline. Returns
 * false. */
bool cli_error(const char *fmt, ...) TIRC_PRINTF(1, 2);
/* Prints "note: ..." on standard error. */
void cli_note(const char *fmt, ...) TIRC_PRINTF(1, 2);
enum style { STYLE_BOLD, STYLE_RED, STYLE_GREEN };
/* Prints a word, in the style if f is a terminal that shows colours. */
void style_word(FILE *f, enum style style, const char *word);
/* Writes a size as text to buf, which has at least 32 bytes, and returns it:
 * "7.2 MB", "410 kB", "96 bytes". */
const char *style_bytes(char *buf, int64_t bytes);
/* Writes a number as text to buf, which has at least 32 bytes, and returns it:
 * "231.2 M", "4.1 G". */
const char *style_count(char *buf, double count);
/* Prints a table with a header and aligned columns. right[i]: column i is
 * right-aligned. */
void style_table(FILE *f, int columns, const char *const *header,
		 const bool *right, int rows, const char *const *cells);
/* Prints a progress line that replaces the one before, if stderr is a
 * terminal. */
void style_progress(void *ctx, const char *step, int done, int total);
/* As style_progress(), for a step that has no numbered parts. */
void style_step(const char *step);
void style_progress_end(void);
/* Prints a table on the standard error, a terminal, in place of the `painted` lines
 * that the last call printed, cut to the size of the terminal. Returns the number
 * of lines that it printed. */
int style_repaint(int columns, const char *const *header, const bool *right,
		  int rows, const char *const *cells, int painted);

/* cmd_compile.c: a context with the verb's model loaded; messages go to stderr.
 * NULL after an error message; the verb then returns CLI_INPUT. */
struct tirc *cli_open(struct cli *c);
/* Is the file at the path a tensor program? False after an error message if it
 * is an ONNX model; the message names the verbs for models. */
bool cli_is_program(const char *path);
/* A context for a tensor program; NULL after an error message. */
struct tirc *cli_program(struct cli *c);
/* Prints the messages of t to stderr; a message with the text of another one
 * shortly before is left out. */
void cli_messages(struct tirc *t);
/* As cli_messages(), without the first *told messages; then sets *told to the
 * number of all messages. */
void cli_new_messages(struct tirc *t, int *told);
/* With --time-passes, prints the table of times to stderr. */
void cli_timings(struct tirc *t);

#endif
