/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the arguments of a verb: options in the forms "--name VALUE",
 * "--name=VALUE", "-o DIR" and "-oDIR", with files before, between and after
 * them. After "--" all arguments are files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "options.h"
#include "process.h"
#include "text.h"

/* -- messages -- */

static int usage(const struct verb *verb, const char *fmt, ...)
	TIRC_PRINTF(2, 3);

static int
usage(const struct verb *verb, const char *fmt, ...)
{
	va_list ap;

	say(stderr, "tirc %s: ", verb->name);
	va_start(ap, fmt);
	say_args(stderr, fmt, ap);
	va_end(ap);
	say(stderr, "; see `tirc %s --help`\n", verb->name);
	return CLI_USAGE;
}

/* The row of the option `name` for this verb, or, if this verb does not take
 * the option, the option's row for another verb; NULL if no verb has an option
 * of this name. */
static const struct option_row *
find_row(const struct verb *verb, const char *name, size_t length)
{
	const struct option_row *found = NULL;
	int n;
	const struct option_row *rows = cli_option_rows(&n);

	for (int i = 0; i < n; i++) {
		if (strlen(rows[i].name) == length &&
		    memcmp(rows[i].name, name, length) == 0 &&
		    (found == NULL || cli_verb_takes(verb, &rows[i]))) {
			found = &rows[i];
		}
	}
	return found;
}

static const struct option_row *
find_letter(const struct verb *verb, char letter)
{
	int n;
	const struct option_row *rows = cli_option_rows(&n);

	for (int i = 0; i < n; i++) {
		if ((int)rows[i].id == letter) {
			return find_row(verb, rows[i].name,
					strlen(rows[i].name));
		}
	}
	return NULL;
}

static int
unknown(const struct verb *verb, const char *arg)
{
	const char *word = arg + strspn(arg, "-");
	size_t length = strcspn(word, "=");
	int n, n_names = 0;
	const char *near;
	const struct option_row *rows = cli_option_rows(&n);
	const char **names = malloc(sizeof *names * (size_t)n);
	char *start = malloc(length + 1);

	if (names == NULL || start == NULL) {
		memory_exhausted();
	}
	memcpy(start, word, length);
	start[length] = '\0';
	for (int i = 0; i < n; i++) {
		if (cli_verb_takes(verb, &rows[i])) {
			names[n_names++] = rows[i].name;
		}
	}
	near = text_nearest(start, names, n_names);
	if (near != NULL) {
		usage(verb, "unknown option %s; did you mean --%s?", arg, near);
	} else if (arg[1] != '-' &&
		   cli_verb_takes(verb, find_row(verb, "cflags", 6))) {
		usage(verb,
		      "unknown option %s; flags of the C compiler are "
		      "given as --cflags \"%s\"",
		      arg, arg);
	} else {
		usage(verb, "unknown option %s", arg);
	}
	free(names);
	free(start);
	return CLI_USAGE;
}

static int
not_of_this_verb(const struct verb *verb, const struct option_row *row)
{
	int n;
	const struct verb *all = cli_verbs(&n);
	char list[256] = "";
	size_t used = 0;

	for (int i = 0; i < n; i++) {
		if (cli_verb_takes(&all[i], row) && used < sizeof list) {
			used += (size_t)snprintf(list + used,
						 sizeof list - used, "%s%s",
						 used > 0 ? " and " : "",
						 all[i].name);
		}
	}
	return usage(verb, "--%s is an option of %s, not of %s", row->name,
		     list, verb->name);
}

/* -- values -- */

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
	int64_t v;

	if (!text_int(text, &v) || v < 1 || v > 1000000) {
		return false;
	}
	*out = (int)v;
	return true;
}

/* Reads a size of at least one byte: "1500000000" or "1.5G", where k, M, G and
 * T are powers of 1000. Returns false for any other text. */
static bool
read_size(const char *text, int64_t *out)
{
	static const char letters[] = "kMGT";
	char *end;
	double v = strtod(text, &end);
	const char *letter = *end != '\0' ? strchr(letters, *end) : NULL;

	for (const char *l = letters; letter != NULL && l <= letter; l++) {
		v *= 1000;
	}
	end += letter != NULL;
	*out = v >= 1 && v < 1e18 ? (int64_t)v : 0;
	return end != text && *end == '\0' && *out > 0;
}

/* Reads a time above 0: "90s", "10m", "2h", or a number of seconds. Returns
 * false for any other text. */
static bool
read_seconds(const char *text, double *out)
{
	char *end;
	double v = strtod(text, &end);
	double unit = *end == 'm' ? 60 : *end == 'h' ? 3600 : 1;

	end += end != text && strchr("smh", *end) != NULL && *end != '\0';
	*out = v * unit;
	return end != text && *end == '\0' && v > 0 && *out < 1e9;
}

/* Appends a text to a list, in the arena of the options. */
static void
push(struct cli *c, const char *const **list, int *n, const char *text)
{
	const char **grown = arena_array(&c->arena, const char *, *n + 1);

	for (int i = 0; i < *n; i++) {
		grown[i] = (*list)[i];
	}
	grown[(*n)++] = text;
	*list = grown;
}

void
cli_options_free(struct cli *c)
{
	arena_release(&c->arena);
}

static bool
push_phase(struct cli *c, const char *text)
{
	struct tirc_options *o = &c->tirc;
	int *grown = arena_array(&c->arena, int, o->n_print_phases + 1);

	if (text[0] < '0' || text[0] > '3' || text[1] != '\0') {
		return false;
	}
	for (int i = 0; i < o->n_print_phases; i++) {
		grown[i] = o->print_phases[i];
	}
	grown[o->n_print_phases++] = text[0] - '0';
	o->print_phases = grown;
	return true;
}

/* Stores the argument of an option in c. Returns false if the option does not
 * accept this argument. */
static bool
set_option(struct cli *c, enum option_id id, const char *arg)
{
	switch (id) {
	case OPT_OUT:
		c->out = arg;
		return strcmp(arg, "-") != 0; /* not a name for stdout */
	case OPT_QUIET:
		c->quiet = true;
		return true;
	case OPT_HELP:
		c->help = true;
		return true;
	case OPT_PRINT_PHASE:
		return push_phase(c, arg);
	case OPT_TRIALS:
		return read_count(arg, &c->trials);
	case OPT_TIME:
		return read_seconds(arg, &c->seconds);
	case OPT_LEAST_GAIN:
		return read_double(arg, &c->least_gain) && c->least_gain > 0 &&
		       c->least_gain < 100;
	case OPT_MAX_OUTPUT:
		return read_size(arg, &c->tirc.max_output_bytes);
	case OPT_MAX_MEMORY:
		return read_size(arg, &c->tirc.max_memory_bytes);
	case OPT_JSON:
		c->json = true;
		c->json_path = arg;
		return true;
	case OPT_LAYERS:
		c->layers = true;
		c->layers_file = arg;
		return arg == NULL || text_ends_in(arg, ".npz");
	case OPT_EXPLAIN_SCHEDULE:
		c->kernel = arg;
		c->explain_schedule = true;
		return true;
	case OPT_PHASE:
		c->phase = arg[0] - '0';
		return arg[0] >= '0' && arg[0] <= '3' && arg[1] == '\0';
	case OPT_SCRIPT_VERSION:
		c->old_script = strcmp(arg, "old") == 0;
		return c->old_script || strcmp(arg, "current") == 0;
	case OPT_REPEAT:
		return read_count(arg, &c->repeat);
	case OPT_RTOL:
		return read_double(arg, &c->rtol);
	case OPT_ATOL:
		return read_double(arg, &c->atol);
#define FLAG(id, member)                                                       \
	case OPT_##id:                                                         \
		c->member = true;                                              \
		return true;
#define TEXT(id, member)                                                       \
	case OPT_##id:                                                         \
		c->member = arg;                                               \
		return true;
#define LIST(id, member, count)                                                \
	case OPT_##id:                                                         \
		push(c, &c->member, &c->count, arg);                           \
		return true;
#define READ(id)
#include "options.def"
#undef FLAG
#undef TEXT
#undef LIST
#undef READ
	case OPT_LAST_LETTER:
		break; /* a bound of the enum, not an option */
	}
	return false;
}

/* -- the arguments -- */

struct reader {
	struct cli *c;
	const struct verb *verb;
	int argc;
	char **argv;
	int at;
	const char **files;
	int n_files;
};

/* The row of the option in the argument arg, which has the form "--name",
 * "--name=VALUE" or "-oVALUE"; NULL if there is no such option. *value: the
 * VALUE in arg, or NULL. */
static const struct option_row *
row_of(const struct reader *r, const char *arg, const char **value)
{
	const struct option_row *row;
	const char *equals;

	*value = NULL;
	if (arg[1] == '-') {
		equals = strchr(arg, '=');
		*value = equals != NULL ? equals + 1 : NULL;
		return find_row(r->verb, arg + 2, strcspn(arg + 2, "="));
	}
	/* "-optimize" is a mistake for "--optimize", and not -o with the
	 * argument "ptimize". */
	if (find_row(r->verb, arg + 1, strcspn(arg + 1, "=")) != NULL) {
		return NULL;
	}
	row = find_letter(r->verb, arg[1]);
	if (row == NULL || arg[2] == '\0') {
		return row;
	}
	*value = arg + 2;
	return row->argument != NULL ? row : NULL;
}

static void
keep_given(struct cli *c, const struct option_row *row, const char *value)
{
	struct arena *a = &c->arena;
	struct given_option *grown = arena_array(a, struct given_option,
						 c->n_given + 1);
	const char *words = arena_printf(a, "--%s", row->name);

	if (value != NULL) {
		words = arena_printf(a, "%s%s%s", words,
				     cli_value_optional(row) ? "=" : " ",
				     command_quoted(a, value));
	}
	for (int i = 0; i < c->n_given; i++) {
		grown[i] = c->given[i];
	}
	grown[c->n_given++] = (struct given_option){ (int)row->id, words };
	c->given = grown;
}

/* The argument of an option in the words of a message: "DIR". For --package,
 * whose values are few, also the values: "KIND, one of arduino, cmake". */
static const char *
argument_of(struct reader *r, const struct option_row *row)
{
	struct arena *a = &r->c->arena;
	const char *text = row->argument;
	struct tirc *t;

	if ((int)row->id != OPT_PACKAGE) {
		return text;
	}
	t = tirc_new(NULL);
	for (int i = 0; i < tirc_package_count(t); i++) {
		text = arena_printf(a, "%s%s%s", text,
				    i == 0 ? ", one of " : ", ",
				    tirc_package(t, i));
	}
	tirc_free(t);
	return text;
}

static int
read_option(struct reader *r)
{
	const char *arg = r->argv[r->at++];
	const char *value;
	const struct option_row *row = row_of(r, arg, &value);
	char name[64];

	if (row == NULL) {
		return unknown(r->verb, arg);
	}
	if (!cli_verb_takes(r->verb, row)) {
		return not_of_this_verb(r->verb, row);
	}
	snprintf(name, sizeof name, "%.*s",
		 arg[1] == '-' ? (int)strcspn(arg, "=") : 2, arg);
	if (row->argument == NULL && value != NULL) {
		return usage(r->verb, "%s takes no argument, but got %s", name,
			     value);
	}
	if (row->argument != NULL && value == NULL &&
	    !cli_value_optional(row)) {
		const char *next = r->at < r->argc ? r->argv[r->at] : NULL;

		if (next == NULL ||
		    (strncmp(next, "--", 2) == 0 &&
		     find_row(r->verb, next + 2, strcspn(next + 2, "=")) !=
			     NULL)) {
			return usage(r->verb, "%s needs an argument: %s %s",
				     name, name, argument_of(r, row));
		}
		value = next;
		r->at++;
	}
	keep_given(r->c, row, value);
	if (!set_option(r->c, row->id, value)) {
		return usage(r->verb, "%s cannot be %s; %s %s: %s", name, value,
			     name, row->argument, row->what);
	}
	return CLI_DONE;
}

static int
read_arguments(struct reader *r)
{
	bool files_only = false;

	while (r->at < r->argc) {
		const char *arg = r->argv[r->at];
		int status;

		if (files_only || arg[0] != '-' || arg[1] == '\0') {
			r->files[r->n_files++] = arg;
			r->at++;
		} else if (strcmp(arg, "--") == 0) {
			files_only = true;
			r->at++;
		} else if ((status = read_option(r)) != CLI_DONE) {
			return status;
		}
	}
	return CLI_DONE;
}

/* Checks the given options of `tirc test` or `tirc run` against the kind of
 * `file`, a model or a tensor program: the verb must take each of them for this
 * kind. Returns CLI_DONE, or CLI_USAGE after an error message. */
static int
check_kind(const struct cli *c, const struct verb *verb, const char *file)
{
	const bool program = text_ends_in(file, ".py");
	const int model_bit = cli_verb_bit(verb);
	const int bit = program ? cli_program_bit(model_bit) : model_bit;
	int n;
	const struct option_row *rows = cli_option_rows(&n);

	for (int i = 0; i < c->n_given; i++) {
		const struct option_row *of = NULL;
		bool takes = false;

		for (int k = 0; k < n; k++) {
			if ((int)rows[k].id == c->given[i].id) {
				of = &rows[k];
				takes |= (rows[k].verbs & bit) != 0;
			}
		}
		if (!takes) {
			return usage(verb,
				     program ? "--%s is for models, and %s is "
					       "a program; remove it"
					     : "--%s is for programs, and %s "
					       "is a model; remove it",
				     of->name, file);
		}
	}
	return CLI_DONE;
}

/* Checks combinations of options, and the number of files. Returns CLI_DONE, or
 * CLI_USAGE after an error message. */
static int
check(struct cli *c, const struct verb *verb, const struct reader *r)
{
	int bit = cli_verb_bit(verb);

	if (c->json && bit == RUN && !c->tirc.profile &&
	    c->tirc.target == NULL) {
		return usage(verb, "--json needs --profile, or a target with a "
				   "simulator");
	}
	if (c->help) {
		return CLI_DONE;
	}
	if (bit == HELP) {
		return r->n_files < 2
			       ? CLI_DONE
			       : usage(verb, "one verb is expected; remove %s",
				       r->files[1]);
	}
	if ((bit & (TARGETS | PASSES | VERSION | WORKER)) != 0) {
		return r->n_files == 0
			       ? CLI_DONE
			       : usage(verb, "it takes no argument, but got %s",
				       r->files[0]);
	}
	if ((c->kernel != NULL || c->unscheduled || c->show_trace) &&
	    c->from_onnx == NULL && bit != RECORDS) {
		return usage(verb, "--%s needs a model; give --from-onnx MODEL",
			     c->explain_schedule ? "explain-schedule"
						 : "kernel");
	}
	if (c->kernel == NULL && (c->unscheduled || c->show_trace)) {
		return usage(verb, "no kernel is given; add --kernel NAME");
	}
	if (c->from_onnx != NULL && bit != RECORDS) {
		return r->n_files == 0
			       ? CLI_DONE
			       : usage(verb,
				       "give a program or a model, not both; remove "
				       "%s",
				       r->files[0]);
	}
	if (r->n_files == 0) {
		return usage(verb, "%s",
			     bit == DIALECT
				     ? "list, show, check or selftest is "
				       "expected"
			     : bit == RECORDS
				     ? "best, show, merge or check is expected"
			     : (bit & PROGRAM_VERBS) != 0
				     ? "no program is given; add a .py file"
				     : "no model is given; add an .onnx file");
	}
	if ((bit & RUNNING_VERBS) != 0 &&
	    check_kind(c, verb, r->files[0]) != CLI_DONE) {
		return CLI_USAGE;
	}
	if (bit == TEST && r->n_files > 1 && text_ends_in(r->files[0], ".py")) {
		return usage(verb,
			     "a program is tested with random arrays, not with "
			     "files; remove %s",
			     r->files[1]);
	}
	if (bit == TEST && r->n_files > 1 && c->n_inputs + c->n_expected > 0) {
		return usage(verb,
			     "--input and --expect are a data set; remove %s, "
			     "or test it by itself",
			     r->files[1]);
	}
	if (bit == BISECT && c->layers && c->layers_file == NULL) {
		return usage(verb, "--layers needs a file here; give "
				   "--layers=FILE.npz");
	}
	if (c->layers && c->each_region) {
		return usage(verb, "--layers and --each-region are different "
				   "tests; remove one");
	}
	if ((c->layers || c->each_region) && c->n_expected > 0) {
		return usage(verb, "--%s does not read --expect; remove it",
			     c->layers ? "layers" : "each-region");
	}
	if (bit == TEST && !c->each_region && !c->layers &&
	    (c->n_inputs > 0) != (c->n_expected > 0)) {
		return usage(verb, c->n_inputs > 0
					   ? "--input needs the expected "
					     "outputs; add --expect FILE"
					   : "--expect needs the inputs; add "
					     "--input FILE");
	}
	if (bit == DIFF && r->n_files != 2) {
		return usage(verb,
			     "two models or folders are expected, the old "
			     "and the new one");
	}
	if (bit == VERIFY && r->n_files != 2) {
		return usage(verb, "a model and the folder of its source are "
				   "expected");
	}
	if (bit == COMPARE && r->n_files != 2) {
		return usage(verb, "a trace and a model, or two traces, are "
				   "expected");
	}
	if (r->n_files > 1 &&
	    (bit & (TEST | DIALECT | RECORDS | DIFF | VERIFY | COMPARE)) == 0) {
		return usage(verb, "only one file is allowed; remove %s",
			     r->files[1]);
	}
	return CLI_DONE;
}

int
cli_options(struct cli *c, const struct verb *verb, int argc, char **argv)
{
	struct reader r = {
		.c = c, .verb = verb, .argc = argc, .argv = argv, .at = 1
	};
	int status;

	r.files = arena_array(&c->arena, const char *, argc + 1);
	c->rtol = c->atol = -1;
	c->phase = -1;
	status = read_arguments(&r);
	if (status == CLI_DONE) {
		status = check(c, verb, &r);
	}
	if (status == CLI_DONE && r.n_files > 0) {
		c->model = r.files[0];
		c->rest = r.files + 1;
		c->n_rest = r.n_files - 1;
	}
	return status;
}
