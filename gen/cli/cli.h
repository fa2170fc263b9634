/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: its verbs call the public interface (tirc.h). All messages
 * for users are printed in this folder, because the libraries print nothing. */
#ifndef TIRC_CLI_H
#define TIRC_CLI_H

#include <stdio.h>

#include "arena.h"
#include "tirc.h"

/* Exit statuses of the program: success, an error in an input, an error in the
 * use of the command line, an internal error of tirc. */
enum { CLI_DONE = 0, CLI_INPUT = 1, CLI_USAGE = 2, CLI_BUG = 3 };

/* The values of the options; the table in options.c says which verbs take which
 * option. */
struct node_results;

struct cli {
	struct arena arena; /* has the lists of this struct */
	struct tirc_options tirc;
	const char *model;
	const char **rest; /* the positional arguments that follow the model */
	int n_rest;
	/* the options that the user gave, quoted for a shell */
	const struct given_option *given;
	int n_given;
	const char *out; /* -o */
	bool quiet, json, help;
	bool markdown; /* report: --markdown */
	/* verify: --check and --data, or NULL */
	const char *certificate, *verify_data;
	/* bisect: the results of nodes that the interpreter has run, or NULL */
	struct node_results *results;
	/* Shows the progress of long steps on a terminal even with --quiet. Set
	 * for a program that a verb builds for itself besides the user's. */
	bool steps;
	/* The text "native = x86-64-v3 ..." if the target "native" was
	 * replaced, else NULL. If has_summary is set, the verb prints this text
	 * in its summary, else as a note. */
	const char *at_hand;
	bool has_summary;
	const char *depfile_path;
	const char *json_path; /* run: --json=FILE */
	/* run, test: the compiler and its flags */
	const char *cc, *cflags;
	/* --runner: the command that starts the built program, or NULL */
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
	/* --rtol and --atol; negative: use the default of the elements' type */
	double rtol, atol;
	bool each_region, layers;
	const char *layers_file; /* --layers=FILE, or NULL */
	/* lower, codegen: the options from here to `names` */
	const char *schedule;
	bool old_script;
	int phase; /* --print-phase; -1 if it is absent */
	const char *from_onnx, *kernel;
	/* lower: calls of functions on arrays run without a limit of time */
	bool execute;
	bool unscheduled, show_trace, explain_schedule, merged, names;
	/* tune: --trials, --least-gain in percent, --time in seconds; 0 if
	 * absent */
	int trials;
	double least_gain, seconds;
	/* tune, worker: --queue, or NULL. A worker stores --takeover in
	 * `seconds`. */
	const char *queue;
	bool script; /* records: --script */
	/* --keep: the folder in which the program is built and which is not
	 * removed */
	const char *keep;
};

/* An option of the command line. id: enum option_id (options.h). */
struct given_option {
	int id;
	/* the option and its argument as the user wrote them, such as "--dim
	 * n=4" */
	const char *words;
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
/* The verb tvmc has a table of options of its own; cmd_tvmc() reads its options
 * from c->rest. */
int cmd_tvmc(struct cli *c);
int cmd_tune(struct cli *c);
int cmd_records(struct cli *c);
int cmd_report(struct cli *c);
/* The exit status is that of the program diff: 0 if the models are equal, 1 if
 * they differ, 2 after an error. */
int cmd_diff(struct cli *c);
/* tirc verify. Returns the exit status: 0 if the source in the folder computes
 * what the model defines, 1 if a result or a file differs, 2 after an error. */
int cmd_verify(struct cli *c);
/* The exit status is that of the program diff. */
int cmd_compare(struct cli *c);
/* Returns 0 if nothing is wrong, 1 if something is, 2 after an error. */
int cmd_bisect(struct cli *c);

/* cmd_lower_kernel.c: tirc lower --from-onnx; prints to out. */
int cli_lower_kernel(struct cli *c, FILE *out);

/* options_read.c: parses the arguments of a verb into c. Returns CLI_DONE, or
 * CLI_USAGE after an error message. */
int cli_options(struct cli *c, const struct verb *verb, int argc, char **argv);
void cli_options_free(struct cli *c);

/* at_hand.c: replaces the target "native" by the target that fits this machine.
 * Returns false after an error message. */
bool cli_find_target(struct cli *c);
/* Makes this machine the target if the user names none. */
void cli_use_machine(struct cli *c);
/* Prints the line "target" of a summary: the target of t, the text `at_hand` if
 * "native" was replaced, and a remark if the user chose no target. */
void cli_print_target(const struct cli *c, struct tirc *t);
/* Prints the line "target" of the summary of a tensor program: the target of
 * tirc, and the name by which the program calls it. */
void cli_print_program_target(const struct cli *c, struct tirc *t);

/* style.c: prints the line of a summary about convolutions by Winograd's
 * algorithm, after `label`: the bytes of their weights and tiles. Prints
 * nothing if the model has no such convolution. */
void cli_print_winograd(const char *label, struct tirc_summary s);

/* board.c: the bytes of those inputs and outputs that the caller allocates
 * outside of the workspace, at the largest values of symbolic sizes. */
int64_t cli_io_bytes(struct tirc *t);
/* profile.c: compares two doubles for qsort, which then sorts them in ascending
 * order. */
int cli_compare_doubles(const void *a, const void *b);

/* cmd_compile.c: if the model was converted from TensorFlow Lite and the user
 * chose no rounding, prints a note that TensorFlow Lite rounds in another way. */
void cli_note_tflite(struct tirc *t);
/* cmd_partition.c: for each backend that computes a region and declares that
 * its results may differ from those of the operators, prints a note with that
 * declaration. */
void cli_note_backends(struct tirc *t);

/* package.c: arranges the compiled model as the firmware package that the
 * options choose, with the values of its self-test. Returns false after an
 * error, which is printed or is a message of t. */
bool cli_package(struct cli *c, struct tirc *t);

/* next_step.c: cli_print_next prints the last line of a summary, which says
 * what the user can do next with the compiled model; cli_print_next_of_program
 * prints this line for the source of a tensor program. */
void cli_print_next(const struct cli *c, struct tirc *t);
/* Does the option (enum option_id) change the compiled model? Then a verb that
 * is to compile the same kernels as another one needs the same option. */
bool cli_is_of_model(int option);
void cli_print_next_of_program(const struct cli *c, struct tirc *t);

/* say.c: prints all output of the command line. Characters that are invisible
 * or control a terminal are printed in a visible form (text_put_visible). */
/* Like fprintf, but a newline in a text argument is printed as \n, so that it
 * cannot start a line. Conversions: s c d i u x f g e %. */
void say(FILE *f, const char *fmt, ...) TIRC_PRINTF(2, 3);
void say_args(FILE *f, const char *fmt, va_list ap);
/* say_lines prints a text of several lines in the way of say(); say_bytes
 * prints only the first `length` bytes of the text. */
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
/* Prints a table with a header and aligned columns. right[i]: the cells of
 * column i are aligned to the right. */
void style_table(FILE *f, int columns, const char *const *header,
		 const bool *right, int rows, const char *const *cells);
/* Prints a progress line in place of the previous one if stderr is a terminal;
 * else prints nothing. */
void style_progress(void *ctx, const char *step, int done, int total);
/* Prints the progress line for a step that has no numbered parts. */
void style_step(const char *step);
void style_progress_end(void);
/* Prints a table on stderr, which must be a terminal, in place of the `painted`
 * lines that the previous call printed, and cuts it to the size of the
 * terminal. Returns the number of printed lines. */
int style_repaint(int columns, const char *const *header, const bool *right,
		  int rows, const char *const *cells, int painted);

/* cmd_compile.c: makes a context with the model of the command line loaded;
 * messages go to stderr. Returns NULL after an error message; the verb then
 * returns CLI_INPUT. */
struct tirc *cli_open(struct cli *c);
/* Is the file a tensor program? Returns false if it is an ONNX model, after an
 * error message that names the verbs for models. */
bool cli_is_program(const char *path);
/* Makes a context for a tensor program. Returns NULL after an error message. */
struct tirc *cli_program(struct cli *c);
/* Prints the messages of t to stderr. A message is left out if one of the last
 * messages before it has the same text. */
void cli_messages(struct tirc *t);
/* Prints the messages of t after the first *told ones in the way of
 * cli_messages(), and sets *told to the number of all messages. */
void cli_new_messages(struct tirc *t, int *told);
/* Prints the table of the times of passes to stderr if --time-passes is given. */
void cli_timings(struct tirc *t);

#endif
