/* SPDX-License-Identifier: Apache-2.0 */
/* tirc tvmc compile|run|tune|micro: reads the options of TVM's program tvmc
 * (the table tvmc.def). */
#include <string.h>

#include "text.h"
#include "tvmc.h"

enum { TVMC_COMPILE = 1, TVMC_RUN = 2, TVMC_TUNE = 4 };

enum use {
	READ_TARGET,
	READ_SHAPES,
	READ_OUTPUT,
	READ_FORMAT,
	READ_EXECUTOR,
	READ_NAME,
	READ_CC,
	READ_INPUTS,
	READ_OUTPUTS,
	READ_FILL,
	READ_DEVICE,
	READ_MODEL_FORMAT,
	READ_RECORDS,
	READ_PRINT_TOP,
	READ_REPEAT,
	READ_NUMBER,
	READ_TRIALS,
	READ_PRINT_TIME,
	READ_VERBOSE,
	READ_HELP,
	NOTED,
	REFUSED
};

struct row {
	int commands;
	const char *name;
	char letter;
	/* the name of the option's argument in the help; NULL: the option takes
	 * no argument */
	const char *argument;
	enum use use;
	const char *words;
};

static const struct row rows[] = {
#define TVMC(commands, name, letter, argument, use, words)                     \
	{ commands, name, letter, argument, use, words },
#include "tvmc.def"
#undef TVMC
};

enum { N_ROWS = sizeof rows / sizeof *rows };

/* -- one option -- */

/* The table's row of the option "--name…" or "-x…" of the command, or NULL.
 * *value: the text after "=" or after the letter, or NULL. */
static const struct row *
row_of(int command, const char *arg, const char **value)
{
	size_t n = strcspn(arg + 2, "=");

	*value = NULL;
	for (int i = 0; i < N_ROWS; i++) {
		const struct row *row = &rows[i];

		if ((row->commands & command) == 0) {
			continue;
		}
		if (arg[1] != '-' && row->letter == arg[1]) {
			*value = arg[2] != '\0' ? arg + 2 : NULL;
			return row;
		}
		if (arg[1] == '-' && strlen(row->name) == n &&
		    strncmp(row->name, arg + 2, n) == 0) {
			*value = arg[n + 2] == '=' ? arg + n + 3 : NULL;
			return row;
		}
	}
	return NULL;
}

static int
unknown(int command, const char *arg)
{
	const char *names[N_ROWS], *near;
	int n = 0;

	for (int i = 0; i < N_ROWS; i++) {
		if ((rows[i].commands & command) != 0) {
			names[n++] = rows[i].name;
		}
	}
	near = arg[1] == '-' ? text_nearest(arg + 2, names, n) : NULL;
	cli_error("tvmc has no option %s%s%s%s", arg,
		  near != NULL ? "; did you mean --" : "",
		  near != NULL ? near : "",
		  near != NULL ? "?" : "; --help lists them");
	return CLI_USAGE;
}

/* Is `value` one of the words in `words`, a list such as "a|b|c"? */
static bool
is_word(const char *words, const char *value)
{
	size_t n = strlen(value);

	for (const char *at = words;; at++) {
		size_t length = strcspn(at, "|");

		if (length == n && strncmp(at, value, n) == 0) {
			return true;
		}
		at += length;
		if (*at == '\0') {
			return false;
		}
	}
}

static bool
read_number(const struct row *row, const char *value, int64_t *out)
{
	return (text_int(value, out) && *out >= 1 && *out <= 1000000) ||
	       cli_error("--%s cannot be %s; it is 1 to 1000000", row->name,
			 value);
}

static bool
set(struct tvmc *o, const struct row *row, const char *value)
{
	const char **texts[] = {
		[READ_TARGET] = &o->target,
		[READ_SHAPES] = &o->shapes,
		[READ_OUTPUT] = &o->output,
		[READ_FORMAT] = &o->format,
		[READ_EXECUTOR] = &o->executor,
		[READ_NAME] = &o->name,
		[READ_CC] = &o->cc,
		[READ_INPUTS] = &o->inputs,
		[READ_OUTPUTS] = &o->outputs,
		[READ_FILL] = &o->fill,
		[READ_DEVICE] = &o->device,
		[READ_MODEL_FORMAT] = &o->model_format,
		[READ_RECORDS] = &o->records,
	};

	switch (row->use) {
	case READ_PRINT_TOP:
		return read_number(row, value, &o->print_top);
	case READ_REPEAT:
		return read_number(row, value, &o->repeat);
	case READ_NUMBER:
		return read_number(row, value, &o->number);
	case READ_TRIALS:
		return read_number(row, value, &o->trials);
	case READ_PRINT_TIME:
		o->print_time = true;
		return true;
	case READ_VERBOSE:
		o->verbose = true;
		return true;
	case READ_HELP:
		o->help = true;
		return true;
	case NOTED:
		cli_note("--%s is not read: %s", row->name, row->words);
		return true;
	case REFUSED:
		return cli_error("tirc tvmc has no --%s: %s", row->name,
				 row->words);
	default:
		break;
	}
	if (strchr(row->argument, '|') != NULL &&
	    !is_word(row->argument, value)) {
		return cli_error("--%s cannot be %s; it is %s", row->name,
				 value, row->argument);
	}
	*texts[row->use] = value;
	return true;
}

/* Handles the option "--target-KIND-OPTION=VALUE": adds "-OPTION=VALUE" to the
 * string of the target. Returns false after an error message. */
static bool
add_target_option(struct cli *c, struct tvmc *o, const char *text)
{
	const char *option = strchr(text, '-');

	if (option == NULL || strchr(option, '=') == NULL) {
		return cli_error("--target-%s is not of the form "
				 "--target-KIND-OPTION=VALUE",
				 text);
	}
	if (o->target == NULL) {
		o->target = arena_strndup(&c->arena, text,
					  (size_t)(option - text));
	}
	o->target = arena_printf(&c->arena, "%s %s", o->target, option);
	return true;
}

static int
read_options(struct cli *c, int command, int argc, const char *const *argv,
	     struct tvmc *o)
{
	for (int i = 0; i < argc; i++) {
		const char *arg = argv[i], *value;
		const struct row *row;

		if (arg[0] != '-' || arg[1] == '\0') {
			if (o->file != NULL) {
				cli_error("only one file is allowed; remove %s",
					  arg);
				return CLI_USAGE;
			}
			o->file = arg;
			continue;
		}
		row = row_of(command, arg, &value);
		if (row == NULL && strncmp(arg, "--target-", 9) == 0) {
			if (!add_target_option(c, o, arg + 9)) {
				return CLI_USAGE;
			}
			continue;
		}
		if (row == NULL) {
			return unknown(command, arg);
		}
		if (row->argument != NULL && value == NULL && ++i < argc) {
			value = argv[i];
		}
		if ((row->argument == NULL) != (value == NULL)) {
			cli_error("--%s %s %s", row->name,
				  value == NULL ? "needs"
						: "takes no argument:",
				  value == NULL ? row->argument : value);
			return CLI_USAGE;
		}
		if (!set(o, row, value)) {
			return CLI_USAGE;
		}
	}
	return CLI_DONE;
}

/* -- commands -- */

static int
help(int command, const char *word)
{
	say(stdout, "usage: tirc tvmc %s %s [options]\n\noptions:\n", word,
	    command == TVMC_RUN ? "PACKAGE.tar" : "MODEL.onnx");
	for (int i = 0; i < N_ROWS; i++) {
		const struct row *row = &rows[i];

		if ((row->commands & command) == 0 || row->use >= NOTED) {
			continue;
		}
		say(stdout, "  --%s%s%s\n      %s\n", row->name,
		    row->argument != NULL ? " " : "",
		    row->argument != NULL ? row->argument : "", row->words);
	}
	say(stdout,
	    "\nOther options of tvmc are accepted with a note, or refused "
	    "with tirc's own\n(docs/from-tvm.md).\n");
	return CLI_DONE;
}

static int
micro(void)
{
	cli_error("projects for boards are firmware packages of tirc: tirc "
		  "compile MODEL.onnx --target cortex-m4 --package cmake -o "
		  "DIR (docs/how-to/packages.md)");
	return CLI_INPUT;
}

int
cmd_tvmc(struct cli *c)
{
	static const struct {
		const char *word;
		int bit;
	} commands[] = {
		{ "compile", TVMC_COMPILE },
		{ "run", TVMC_RUN },
		{ "tune", TVMC_TUNE },
	};
	const char *word = c->n_rest > 0 ? c->rest[0] : "--help";
	struct tvmc o = { 0 };
	int bit = 0, status;

	if (strcmp(word, "micro") == 0) {
		return micro();
	}
	if (strcmp(word, "--version") == 0) {
		return cmd_version(c);
	}
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
		bit = strcmp(commands[i].word, word) == 0 ? commands[i].bit
							  : bit;
	}
	if (bit == 0) {
		bool asks = strcmp(word, "--help") == 0 ||
			    strcmp(word, "-h") == 0;

		say(asks ? stdout : stderr,
		    "usage: tirc tvmc compile|run|tune|micro [options] FILE\n");
		return asks ? CLI_DONE : CLI_USAGE;
	}
	status = read_options(c, bit, c->n_rest - 1, c->rest + 1, &o);
	if (status != CLI_DONE) {
		return status;
	}
	if (o.help) {
		return help(bit, word);
	}
	if (o.file == NULL) {
		cli_error("no %s is given",
			  bit == TVMC_RUN ? "package" : "model");
		return CLI_USAGE;
	}
	return bit == TVMC_RUN    ? tvmc_run(c, &o)
	       : bit == TVMC_TUNE ? tvmc_tune_model(c, &o)
				  : tvmc_compile(c, &o);
}
