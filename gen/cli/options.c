/* SPDX-License-Identifier: Apache-2.0 */
/* Options: one table for all verbs; each verb takes the rows that name it.
 * Help text is printed from the same table. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { COMPILE = 1, RUN = 2, TEST = 4, INSPECT = 8, PARTITION = 16,
       LOWER = 32, CODEGEN = 64, DIALECT = 128, VERSION = 256 };
#define MODEL_VERBS (COMPILE | RUN | TEST | INSPECT)
#define GRAPH_VERBS (MODEL_VERBS | PARTITION)
#define BUILD_VERBS (COMPILE | RUN | TEST)
#define PROGRAM_VERBS (LOWER | CODEGEN)

enum option_id {
	OPT_OUT = 'o', OPT_QUIET = 'q', OPT_HELP = 'h',
	OPT_TARGET = 256, OPT_DIALECT_PATH, OPT_NAME, OPT_WEIGHTS,
	OPT_SECTION, OPT_OPTIMIZE, OPT_REQUANT,
	OPT_INPUT_SHAPE, OPT_DIM, OPT_PRINT_AFTER,
	OPT_DEPFILE, OPT_JSON, OPT_CC, OPT_CFLAGS, OPT_INPUT, OPT_OUTPUT,
	OPT_REPEAT, OPT_RTOL, OPT_ATOL, OPT_KEEP, OPT_PRINT_PHASE,
	OPT_DISABLE_PASS, OPT_ADD_PASS, OPT_TIME_PASSES, OPT_SCHEDULE_FOR,
	OPT_SCRIPT_VERSION, OPT_SCHEDULE, OPT_PHASE, OPT_FROM_ONNX,
	OPT_KERNEL, OPT_UNSCHEDULED, OPT_SHOW_TRACE, OPT_PROFILE, OPT_FP,
	OPT_RUNNER, OPT_CONV, OPT_BYOC, OPT_BYOC_PATH, OPT_EACH_REGION,
	OPT_EXPLAIN, OPT_FORM
};

/* Where --repeat does not say. */
#define PROFILE_RUNS 20

struct option_row {
	enum option_id id;
	const char *name, *argument, *what;
	int verbs;
};

static const struct option_row rows[] = {
	{ OPT_OUT, "out", "DIR", "folder for the files (default: .)",
	  COMPILE },
	{ OPT_OUT, "out", "FILE", "file for what is printed", LOWER },
	{ OPT_OUT, "out", "FILE.json",
	  "write the partition; constants go beside it, into FILE.weights",
	  PARTITION },
	{ OPT_OUT, "out", "DIR", "folder for the files; without it: print",
	  CODEGEN },
	{ OPT_OUT, "out", "DIR", "folder for the files of selftest", DIALECT },
	{ OPT_TARGET, "target", "NAME", "whose vectors selftest tries",
	  DIALECT },
	{ OPT_TARGET, "target", "NAME", "what to write, as \"NAME -KEY=VALUE …\"; the list is below",
	  GRAPH_VERBS | PROGRAM_VERBS },
	{ OPT_NAME, "name", "NAME",
	  "stem of files and symbols (default: the model's name)",
	  MODEL_VERBS },
	{ OPT_NAME, "name", "NAME",
	  "of the file, and of functions without one (default: FILE's)",
	  CODEGEN },
	{ OPT_PHASE, "phase", "N",
	  "print the functions after phase 0, 1, 2 or 3", LOWER },
	{ OPT_SCHEDULE, "schedule", "FILE",
	  "apply a schedule first: sch.…(…) lines or a trace in JSON",
	  PROGRAM_VERBS },
	{ OPT_FROM_ONNX, "from-onnx", "MODEL",
	  "take a kernel of a model instead of FILE", LOWER },
	{ OPT_KERNEL, "kernel", "NAME",
	  "which kernel of the model; without it: list them", LOWER },
	{ OPT_UNSCHEDULED, "unscheduled", NULL,
	  "print the kernel as its operators define it", LOWER },
	{ OPT_SHOW_TRACE, "show-trace", NULL,
	  "print the kernel's schedule: what --schedule-for takes", LOWER },
	{ OPT_SCRIPT_VERSION, "script-version", "WHICH",
	  "spelling of TVMScript: current (default) or old", LOWER },
	{ OPT_INPUT_SHAPE, "input-shape", "NAME:D0,D1,…",
	  "shape of an input", GRAPH_VERBS | LOWER },
	{ OPT_DIM, "dim", "NAME=N or NAME=MIN..MAX",
	  "size or bounds of a symbolic dimension", GRAPH_VERBS | LOWER },
	{ OPT_WEIGHTS, "weights", "FORM",
	  "c, incbin, file or section (default: by size)", BUILD_VERBS },
	{ OPT_FORM, "form", "FORM",
	  "aot: functions (default), or graph: kernels and the calls as JSON",
	  BUILD_VERBS },
	{ OPT_SECTION, "section", "NAME", "section for --weights section",
	  BUILD_VERBS },
	{ OPT_OPTIMIZE, "optimize", "WHAT",
	  "speed or memory, where they differ (default: speed)",
	  GRAPH_VERBS | LOWER },
	{ OPT_REQUANT, "requant", "HOW",
	  "round quantized results as onnx (once, default) or tflite does",
	  GRAPH_VERBS | LOWER },
	{ OPT_CONV, "conv", "HOW",
	  "direct, winograd where possible, or auto: the faster (default)",
	  MODEL_VERBS | LOWER },
	{ OPT_BYOC, "byoc", "NAME[:OPTION=VALUE,…]",
	  "let a backend compute what it can; the first is preferred",
	  GRAPH_VERBS },
	{ OPT_BYOC_PATH, "byoc-path", "DIR",
	  "folder with backends of your own", GRAPH_VERBS },
	{ OPT_EACH_REGION, "each-region", NULL,
	  "compare each region of --byoc with generated code", TEST },
	{ OPT_FP, "fp", "MODE",
	  "strict, default or fast floats (docs/output.md)",
	  BUILD_VERBS | CODEGEN },
	{ OPT_EXPLAIN, "explain", NULL,
	  "print for each node which backend took it, or why none did",
	  PARTITION },
	{ OPT_DIALECT_PATH, "dialect-path", "DIR",
	  "folder with dialects and targets of your own",
	  GRAPH_VERBS | PROGRAM_VERBS | DIALECT },
	{ OPT_PRINT_AFTER, "print-after", "PASS",
	  "print the program after a pass, or after all", GRAPH_VERBS | PROGRAM_VERBS },
	{ OPT_PRINT_PHASE, "print-phase", "N",
	  "print every function after lowering phase 0, 1, 2 or 3",
	  MODEL_VERBS | PROGRAM_VERBS },
	{ OPT_DISABLE_PASS, "disable-pass", "PASS",
	  "leave out a pass that is not marked *", GRAPH_VERBS | PROGRAM_VERBS },
	{ OPT_ADD_PASS, "add-pass", "N:WHAT",
	  "run ./object.so or a command over TVMScript after phase N",
	  MODEL_VERBS | PROGRAM_VERBS },
	{ OPT_SCHEDULE_FOR, "schedule-for", "KERNEL=FILE",
	  "schedule a kernel by FILE (.py or .json), not by the rules",
	  MODEL_VERBS | LOWER },
	{ OPT_TIME_PASSES, "time-passes", NULL,
	  "print how long each pass took", GRAPH_VERBS | PROGRAM_VERBS },
	{ OPT_DEPFILE, "depfile", "FILE",
	  "write a make-style dependency file", COMPILE },
	{ OPT_CC, "cc", "COMMAND", "C compiler (default: $CC, else the target's)",
	  RUN | TEST },
	{ OPT_CFLAGS, "cflags", "FLAGS",
	  "flags instead of the target's", RUN | TEST },
	{ OPT_RUNNER, "runner", "COMMAND",
	  "what runs the program, such as qemu-aarch64", RUN | TEST },
	{ OPT_KEEP, "keep", "DIR", "build in DIR and leave it there",
	  RUN | TEST },
	{ OPT_INPUT, "input", "[NAME=]FILE",
	  ".npz, .npy or .pb; without any: ramps of small numbers", RUN },
	{ OPT_OUTPUT, "output", "FILE", ".npz for all outputs", RUN },
	{ OPT_REPEAT, "repeat", "N", "run N times; print minimum and median",
	  RUN },
	{ OPT_PROFILE, "profile", NULL,
	  "print the time of each kernel and what bounds it", RUN },
	{ OPT_JSON, "json", "FILE", "write what --profile found", RUN },
	{ OPT_RTOL, "rtol", "X",
	  "accept |a-b| <= atol + rtol * |b| of each element (default: by type)",
	  TEST },
	{ OPT_ATOL, "atol", "X", "see --rtol", TEST },
	{ OPT_JSON, "json", NULL, "print JSON, for programs",
	  COMPILE | INSPECT | LOWER | DIALECT },
	{ OPT_QUIET, "quiet", NULL, "print nothing but errors",
	  GRAPH_VERBS | LOWER | DIALECT },
	{ OPT_HELP, "help", NULL, "this text",
	  GRAPH_VERBS | PROGRAM_VERBS | DIALECT | VERSION },
};

#define N_ROWS (sizeof rows / sizeof *rows)

static const struct verb verbs[] = {
	{ "compile", "MODEL.onnx [-o DIR]", "write the source of a model",
	  "Reads an ONNX model and writes NAME.h, NAME.c, the weights,\n"
	  "NAME.json and build files into DIR, then says how to compile them.\n",
	  cmd_compile },
	{ "run", "MODEL.onnx [--input FILE]…",
	  "compile a model, build it with cc and execute it",
	  "Inputs come from .npz, .npy or ONNX .pb files, in order or by name.\n",
	  cmd_run },
	{ "test", "MODEL.onnx [DIR…]",
	  "compare with expected outputs, as ONNX test data has them",
	  "Runs the model on input_*.pb of each DIR (default: every\n"
	  "test_data_set_* beside the model) and compares with output_*.pb.\n"
	  "Exit status 1 on a mismatch.\n\n"
	  "An element a passes for an expected b if |a-b| <= atol + rtol * |b|.\n"
	  "Without --rtol, rtol is 1e-4 (float32), 1e-7 (float64), 1e-2\n"
	  "(float16), two units in the last place (bfloat16) or one (8 bits).\n"
	  "Without --atol, atol is 1e-7 (float64: 1e-14) plus a part of the\n"
	  "output's mean |b|, for sums whose terms cancel: 1e-5 of it (float32),\n"
	  "1e-9 (float64), 1e-3 (float16), 8e-3 (bfloat16), 1e-2 (8 bits).\n"
	  "Integers are exact, but for those that quantizing nodes give: one\n"
	  "step, as the order of a sum decides where it rounds to.\n",
	  cmd_test },
	{ "inspect", "MODEL.onnx", "nodes, shapes, work, memory",
	  "Prints the model's nodes with shapes, multiply-accumulates and\n"
	  "parameters, where each is computed, and the memory plan.\n",
	  cmd_inspect },
	{ "partition", "MODEL.onnx [-o FILE.json]",
	  "the graph after cleaning, and which parts backends compute",
	  "Writes it as JSON, for programs and people to look at and change:\n"
	  "compile, run, test and inspect take the file in place of the model\n"
	  "and go on from there (docs/byoc.md).\n",
	  cmd_partition },
	{ "lower", "FILE.py [--schedule FILE] [--phase N] | --from-onnx MODEL",
	  "run a tensor program; print what it prints",
	  "Reads a program as it is written for TVM (te, topi, tir.Schedule,\n"
	  "TVMScript) and prints what its print() calls print. A file that\n"
	  "prints nothing gets its functions printed, lowered. Neither TVM nor\n"
	  "Python is needed; docs/programs.md says what is understood.\n"
	  "With --from-onnx, prints a kernel of a model, or its schedule, to be\n"
	  "changed and given back: tirc compile MODEL --schedule-for NAME=FILE.\n",
	  cmd_lower },
	{ "codegen", "FILE.py [--target NAME] [-o DIR]",
	  "write the source of a tensor program",
	  "Writes the functions that the program builds (tvm.build; else those\n"
	  "that it lowers, else those that it creates) for a target.\n",
	  cmd_codegen },
	{ "dialect", "list|show NAME|check DIR|selftest NAME -o DIR",
	  "dialects: what they spell, what is wrong with them",
	  "list      which there are, what they extend, which targets use them\n"
	  "show      what one spells: operations by types, limits, statements\n"
	  "check     reports every mistake in a dialect's folder, or in a folder\n"
	  "          of dialects and targets\n"
	  "selftest  writes a program in C that tries every operation of every\n"
	  "          type, for a compiler that is not here\n\n"
	  "NAME may be the folder of a dialect, too.\n",
	  cmd_dialect },
	{ "version", "", "the version of this program", "", cmd_version },
};

const struct verb *
cli_verbs(int *n)
{
	*n = (int)(sizeof verbs / sizeof *verbs);
	return verbs;
}

static int
verb_bit(const struct verb *verb)
{
	return 1 << (verb - verbs);
}

void
cli_verb_help(FILE *to, const struct verb *verb)
{
	fprintf(to, "usage: tirc %s %s [options]\n\n%s", verb->name,
		verb->arguments, verb->help);
	fprintf(to, "\noptions:\n");
	for (size_t i = 0; i < N_ROWS; i++) {
		char left[80];

		if ((rows[i].verbs & verb_bit(verb)) == 0) {
			continue;
		}
		snprintf(left, sizeof left, "%s%c%s --%s%s%s",
			 rows[i].id < 256 ? "-" : " ",
			 rows[i].id < 256 ? (char)rows[i].id : ' ',
			 rows[i].id < 256 ? "," : " ", rows[i].name,
			 rows[i].argument != NULL ? " " : "",
			 rows[i].argument != NULL ? rows[i].argument : "");
		fprintf(to, "  %-30s %s\n", left, rows[i].what);
	}
	if ((verb_bit(verb) & (COMPILE | PARTITION)) != 0) {
		struct tirc *t = tirc_new(NULL);
		int n = tirc_backend_count(t);

		fprintf(to, n > 0 ? "\nbackends:" : "");
		for (int i = 0; i < n; i++) {
			fprintf(to, " %s", tirc_backend(t, i));
		}
		fprintf(to, n > 0 ? "\n" : "");
		tirc_free(t);
	}
	if ((verb_bit(verb) & (COMPILE | PROGRAM_VERBS)) != 0) {
		struct tirc *t = tirc_new(NULL);

		fprintf(to, "\ntargets:\n");
		for (int i = 0; i < tirc_target_count(t); i++) {
			fprintf(to, "  %-12s %s\n", tirc_target(t, i),
				tirc_target_what(t, i));
		}
		if ((verb_bit(verb) & COMPILE) != 0) {
			fprintf(to, "\npasses, in order (* needed):\n");
		}
		for (int i = 0; (verb_bit(verb) & COMPILE) != 0 &&
				i < tirc_pass_count(); i++) {
			fprintf(to, "  %-20s %s%s\n", tirc_pass_name(i),
				tirc_pass_what(i),
				tirc_pass_needed(i) ? " *" : "");
		}
		tirc_free(t);
	}
}

static int
usage(const struct verb *verb, const char *problem, const char *what)
{
	fprintf(stderr, "tirc %s: %s%s%s; `tirc %s --help` tells more\n",
		verb->name, problem, what != NULL ? " " : "",
		what != NULL ? what : "", verb->name);
	return CLI_USAGE;
}

static bool
read_double(const char *text, double *out)
{
	char *end;

	errno = 0;
	*out = strtod(text, &end);
	return end != text && *end == '\0' && errno == 0 && *out >= 0;
}

static bool
read_count(const char *text, int *out)
{
	char *end;
	long v = strtol(text, &end, 10);

	*out = (int)v;
	return end != text && *end == '\0' && v >= 1 && v <= 1000000;
}

static void
push(const char *const **list, int *n, const char *text)
{
	const char **grown = realloc((void *)*list,
				     sizeof *grown * (size_t)(*n + 1));

	if (grown != NULL) {
		grown[(*n)++] = text;
		*list = grown;
	}
}

void
cli_options_free(struct cli *c)
{
	free((void *)c->tirc.input_shapes);
	free((void *)c->tirc.dims);
	free((void *)c->tirc.print_after);
	free((void *)c->tirc.print_phases);
	free((void *)c->tirc.disable_passes);
	free((void *)c->tirc.add_passes);
	free((void *)c->tirc.schedule_for);
	free((void *)c->tirc.byoc);
	free((void *)c->inputs);
}

static bool
push_phase(struct tirc_options *o, const char *text)
{
	int *grown;

	if (text[0] < '0' || text[0] > '3' || text[1] != '\0') {
		return false;
	}
	grown = realloc((void *)o->print_phases,
			sizeof *grown * (size_t)(o->n_print_phases + 1));
	if (grown == NULL) {
		return false;
	}
	grown[o->n_print_phases++] = text[0] - '0';
	o->print_phases = grown;
	return true;
}

static bool
set_option(struct cli *c, enum option_id id, const char *arg)
{
	switch (id) {
	case OPT_OUT: c->out = arg; return true;
	case OPT_QUIET: c->quiet = true; return true;
	case OPT_HELP: c->help = true; return true;
	case OPT_TARGET: c->tirc.target = arg; return true;
	case OPT_DIALECT_PATH: c->tirc.dialect_path = arg; return true;
	case OPT_NAME: c->tirc.name = arg; return true;
	case OPT_WEIGHTS: c->tirc.weights = arg; return true;
	case OPT_FORM: c->tirc.form = arg; return true;
	case OPT_SECTION: c->tirc.section = arg; return true;
	case OPT_OPTIMIZE: c->tirc.optimize = arg; return true;
	case OPT_REQUANT: c->tirc.requant = arg; return true;
	case OPT_FP: c->tirc.fp = arg; return true;
	case OPT_CONV: c->tirc.conv = arg; return true;
	case OPT_INPUT_SHAPE:
		push(&c->tirc.input_shapes, &c->tirc.n_input_shapes, arg);
		return true;
	case OPT_DIM:
		push(&c->tirc.dims, &c->tirc.n_dims, arg);
		return true;
	case OPT_PRINT_AFTER:
		push(&c->tirc.print_after, &c->tirc.n_print_after, arg);
		return true;
	case OPT_PRINT_PHASE: return push_phase(&c->tirc, arg);
	case OPT_DISABLE_PASS:
		push(&c->tirc.disable_passes, &c->tirc.n_disable_passes, arg);
		return true;
	case OPT_ADD_PASS:
		push(&c->tirc.add_passes, &c->tirc.n_add_passes, arg);
		return true;
	case OPT_SCHEDULE_FOR:
		push(&c->tirc.schedule_for, &c->tirc.n_schedule_for, arg);
		return true;
	case OPT_BYOC:
		push(&c->tirc.byoc, &c->tirc.n_byoc, arg);
		return true;
	case OPT_BYOC_PATH: c->tirc.byoc_path = arg; return true;
	case OPT_EACH_REGION: c->each_region = true; return true;
	case OPT_EXPLAIN: c->tirc.explain = true; return true;
	case OPT_TIME_PASSES: c->tirc.time_passes = true; return true;
	case OPT_DEPFILE: c->depfile_path = arg; return true;
	case OPT_JSON:
		c->json = true;
		c->json_path = arg;
		return true;
	case OPT_PROFILE: c->tirc.profile = true; return true;
	case OPT_CC: c->cc = arg; return true;
	case OPT_RUNNER: c->runner = arg; return true;
	case OPT_CFLAGS: c->cflags = arg; return true;
	case OPT_INPUT:
		push((const char *const **)&c->inputs, &c->n_inputs, arg);
		return true;
	case OPT_OUTPUT: c->output = arg; return true;
	case OPT_KEEP: c->keep = arg; return true;
	case OPT_SCHEDULE: c->schedule = arg; return true;
	case OPT_FROM_ONNX: c->from_onnx = arg; return true;
	case OPT_KERNEL: c->kernel = arg; return true;
	case OPT_UNSCHEDULED: c->unscheduled = true; return true;
	case OPT_SHOW_TRACE: c->show_trace = true; return true;
	case OPT_PHASE:
		c->phase = arg[0] - '0';
		return arg[0] >= '0' && arg[0] <= '3' && arg[1] == '\0';
	case OPT_SCRIPT_VERSION:
		c->old_script = strcmp(arg, "old") == 0;
		return c->old_script || strcmp(arg, "current") == 0;
	case OPT_REPEAT: return read_count(arg, &c->repeat);
	case OPT_RTOL: return read_double(arg, &c->rtol);
	case OPT_ATOL: return read_double(arg, &c->atol);
	}
	return false;
}

/* An option may take an argument with one verb and none with another. */
static const struct option_row *
row_for(const struct verb *verb, const struct option_row *row)
{
	for (size_t i = 0; i < N_ROWS; i++) {
		if (rows[i].id == row->id &&
		    (rows[i].verbs & verb_bit(verb)) != 0) {
			return &rows[i];
		}
	}
	return row;
}

int
cli_options(struct cli *c, const struct verb *verb, int argc, char **argv)
{
	struct option longs[N_ROWS + 1];
	int id;

	memset(longs, 0, sizeof longs);
	for (size_t i = 0; i < N_ROWS; i++) {
		longs[i].name = rows[i].name;
		longs[i].has_arg = row_for(verb, &rows[i])->argument != NULL
			? required_argument : no_argument;
		longs[i].val = (int)rows[i].id;
	}
	c->verb = verb->name;
	c->rtol = c->atol = -1;
	c->phase = -1;
	opterr = 0;
	while ((id = getopt_long(argc, argv, ":o:qh", longs, NULL)) != -1) {
		const struct option_row *row = NULL;

		if (id == '?' || id == ':') {
			return usage(verb, id == '?' ? "unknown option"
				     : "an argument is missing after",
				     argv[optind - 1]);
		}
		for (size_t i = 0; i < N_ROWS; i++) {
			if ((int)rows[i].id == id &&
			    (row == NULL ||
			     (rows[i].verbs & verb_bit(verb)) != 0)) {
				row = &rows[i];
			}
		}
		if (row == NULL || (row->verbs & verb_bit(verb)) == 0) {
			return usage(verb, "this verb does not take",
				     argv[optind - 1]);
		}
		if (!set_option(c, row->id, optarg)) {
			return usage(verb, "not a sensible value:", optarg);
		}
	}
	if (c->repeat == 0) {
		c->repeat = c->tirc.profile ? PROFILE_RUNS : 1;
	}
	if (c->json && verb->run == cmd_run && !c->tirc.profile) {
		return usage(verb, "--json is for what --profile finds", NULL);
	}
	if (c->help || verb->run == cmd_version) {
		return optind == argc || c->help ? CLI_DONE
			: usage(verb, "takes no argument", NULL);
	}
	if ((c->kernel != NULL || c->unscheduled || c->show_trace) &&
	    c->from_onnx == NULL) {
		return usage(verb, "kernels are of a model; name it with "
			     "--from-onnx", NULL);
	}
	if (c->kernel == NULL && (c->unscheduled || c->show_trace)) {
		return usage(verb, "which kernel? (--kernel NAME)", NULL);
	}
	if (c->from_onnx != NULL) {
		return optind == argc ? CLI_DONE
			: usage(verb, "a program or a model, not both; what is",
				argv[optind]);
	}
	if (optind == argc) {
		return usage(verb, verb->run == cmd_dialect
			     ? "list, show, check or selftest is wanted"
			     : (verb_bit(verb) & PROGRAM_VERBS) != 0
			     ? "which program? (a .py file)"
			     : "which model? (an .onnx file)", NULL);
	}
	c->model = argv[optind++];
	c->rest = (const char **)argv + optind;
	c->n_rest = argc - optind;
	if (c->n_rest > 0 && verb->run != cmd_test &&
	    verb->run != cmd_dialect) {
		return usage(verb, "one file at a time; what is", c->rest[0]);
	}
	return CLI_DONE;
}
