/* SPDX-License-Identifier: Apache-2.0 */
/* tirc compile: compiles a model to source files and prints a summary. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "bisecting.h"
#include "cleanup.h"
#include "cli.h"
#include "left_over.h"
#include "output_file.h"
#include "quote.h"
#include "text.h"

static void
print_text(void *ctx, const char *pass, const char *text)
{
	(void)ctx;
	say(stdout, "# after %s\n", pass);
	say_lines(stdout, text);
	say(stdout, "\n");
}

/* A message is not printed again if its text equals one of the last
 * NEAR_MESSAGES messages, because several steps may report the same error of a
 * file that each of them loads. */
enum { NEAR_MESSAGES = 64 };

static bool
is_repeated(struct tirc *t, int first, int i)
{
	const char *text = tirc_message(t, i).text;

	for (int k = i - 1; k >= first && k >= i - NEAR_MESSAGES; k--) {
		if (strcmp(tirc_message(t, k).text, text) == 0) {
			return true;
		}
	}
	return false;
}

void
cli_messages(struct tirc *t)
{
	int told = 0;

	cli_new_messages(t, &told);
}

void
cli_new_messages(struct tirc *t, int *told)
{
	const int first = *told;

	style_progress_end();
	cleanup_pause_if_interrupted();
	*told = tirc_message_count(t);
	for (int i = first; i < tirc_message_count(t); i++) {
		struct tirc_message m = tirc_message(t, i);
		const char *kind = m.severity == TIRC_ERROR     ? "error:"
				   : m.severity == TIRC_WARNING ? "warning:"
								: "note:";

		if (is_repeated(t, first, i)) {
			continue;
		}
		style_word(stderr,
			   m.severity == TIRC_ERROR ? STYLE_RED : STYLE_BOLD,
			   kind);
		say(stderr, " %s\n", m.text);
		if (m.excerpt != NULL) {
			say_lines(stderr, m.excerpt);
			say(stderr, "\n");
		}
	}
}

void
cli_timings(struct tirc *t)
{
	static const char *const header[] = { "pass", "runs", "ms", "share" };
	static const bool right[] = { false, true, true, true };
	int n = tirc_timing_count(t);
	char(*text)[4][48] = calloc((size_t)n + 1, sizeof *text);
	const char **cells = calloc((size_t)n + 1, 4 * sizeof *cells);
	double total = 0;

	for (int i = 0; i < n; i++) {
		total += tirc_timing(t, i).seconds;
	}
	for (int i = 0; text != NULL && cells != NULL && i < n; i++) {
		struct tirc_timing one = tirc_timing(t, i);

		snprintf(text[i][0], 48, "%s", one.pass);
		snprintf(text[i][1], 48, "%d", one.runs);
		snprintf(text[i][2], 48, "%.2f", 1e3 * one.seconds);
		snprintf(text[i][3], 48, "%.0f %%",
			 total > 0 ? 100 * one.seconds / total : 0);
		for (int k = 0; k < 4; k++) {
			cells[4 * i + k] = text[i][k];
		}
	}
	if (n > 0 && text != NULL && cells != NULL) {
		style_table(stderr, 4, header, right, n, cells);
		say(stderr, "all      %.2f ms\n", 1e3 * total);
	}
	free(text);
	free(cells);
}

bool
cli_is_program(const char *path)
{
	return !(text_ends_in(path, ".onnx") ||
		 text_ends_in(path, ".onnxtxt")) ||
	       cli_error("%s is an ONNX model, not a program; write its source "
			 "with tirc compile %s, or print its kernels with tirc "
			 "lower --from-onnx %s",
			 path, path, path);
}

struct tirc *
cli_program(struct cli *c)
{
	if (!c->quiet) {
		c->tirc.progress = style_progress;
	}
	c->tirc.print = print_text;
	return cli_find_target(c) ? tirc_new(&c->tirc) : NULL;
}

struct tirc *
cli_open(struct cli *c)
{
	struct tirc *t;

	if (text_ends_in(c->model, ".py")) {
		cli_error("%s is a program, not an ONNX model; print what it "
			  "prints with tirc lower %s, write its source with "
			  "tirc codegen %s, compare its source with the "
			  "interpreter with tirc test %s, or time it with tirc "
			  "run %s",
			  c->model, c->model, c->model, c->model, c->model);
		return NULL;
	}
	if (!c->quiet && !c->json) {
		c->tirc.progress = style_progress;
	}
	c->tirc.print = print_text;
	if (!cli_find_target(c)) {
		return NULL;
	}
	t = tirc_new(&c->tirc);
	if (c->results != NULL) {
		tirc_run_nodes_by(t, node_results_run, c->results);
	}
	if (tirc_load(t, c->model)) {
		return t;
	}
	cli_messages(t);
	tirc_free(t);
	return NULL;
}

static void
print_tensor(const char *label, struct tirc_tensor x)
{
	say(stdout, "%-8s %s", label, x.name);
	if (strcmp(x.name, x.identifier) != 0) {
		say(stdout, " (in C: %s)", x.identifier);
	}
	say(stdout, "  %s [", x.dtype);
	for (int d = 0; d < x.ndim; d++) {
		say(stdout, "%s%s", d > 0 ? ", " : "", x.words[d]);
	}
	say(stdout, "]\n");
}

static int
by_work(const void *a, const void *b)
{
	const struct tirc_kernel *x = a, *y = b;

	if (x->macs != y->macs) {
		return x->macs > y->macs ? -1 : 1;
	}
	return x->operations > y->operations ? -1
					     : x->operations < y->operations;
}

/* Prints the number of kernels, and the three kernels with the most
 * multiply-accumulate operations; in a model without such operations, the three
 * kernels with the most operations of any kind. */
static void
print_heaviest(struct tirc *t, struct tirc_summary s)
{
	int n = tirc_kernel_count(t);
	struct tirc_kernel *all = calloc((size_t)n + 1, sizeof *all);
	char count[32];

	if (all == NULL) {
		memory_exhausted();
	}
	for (int i = 0; i < n; i++) {
		all[i] = tirc_kernel(t, i);
	}
	qsort(all, (size_t)n, sizeof *all, by_work);
	say(stdout, "kernels  %d; the heaviest:\n", n);
	for (int i = 0; i < n && i < 3; i++) {
		double part = s.macs > 0 ? (double)all[i].macs
					 : all[i].operations;
		double whole = s.macs > 0 ? (double)s.macs : s.operations;

		if (i > 0 && part == 0) {
			break;
		}
		say(stdout, "         %-28s %6s%s  %2.0f %%  %s\n", all[i].name,
		    style_count(count, part), s.macs > 0 ? "MAC" : "OP",
		    whole > 0 ? 100 * part / whole : 0, all[i].title);
	}
	free(all);
}

/* Weights that are emitted as C text longer than this take most of the
 * compiler's time. */
enum { LONG_TEXT_BYTES = 1 << 20 };

/* Prints for how many cores the loops are planned, and who provides the
 * threads. Without threads, if the target is the machine itself or has a number of
 * cores, says where to read about them. */
static void
print_threads(const struct cli *c, struct tirc_summary s)
{
	if (s.cores > 0) {
		say(stdout,
		    "threads  loops are planned for %d core%s (-cores=N in "
		    "--target); %s\n",
		    s.cores, s.cores == 1 ? "" : "s",
		    s.takes_threads ? "the caller provides the threads"
		    : strstr(s.ldflags, "-fopenmp") != NULL
			    ? "-fopenmp is linked"
			    : "the compiler provides the threads");
	} else if (c->at_hand != NULL || s.unused_cores > 0) {
		say(stdout, "threads  one; for several see docs/how-to/"
			    "threads.md\n");
	}
}

/* Prints the kernels whose schedules come from records of tirc tune. */
static void
print_records(const struct cli *c, struct tirc *t)
{
	int n = tirc_record_count(t);

	if (c->tirc.n_records == 0) {
		return;
	}
	say(stdout, "records  %d of %d kernels have a better schedule%s\n", n,
	    tirc_kernel_count(t), n > 0 ? ":" : "");
	for (int i = 0; i < n; i++) {
		struct tirc_record r = tirc_record(t, i);

		say(stdout, "         %-28s %.2fx  %s  (%s:%d)\n", r.kernel,
		    1 / r.ratio, r.decisions, r.file, r.line);
	}
}

/* Prints how the results of quantized operators are rounded, if the model has
 * such operators. */
static void
print_rounding(struct tirc_summary s)
{
	if (s.rounding != NULL) {
		say(stdout, "rounds   quantized results as %s (--requant %s)\n",
		    strcmp(s.rounding, "tflite") == 0 ? "TensorFlow Lite does"
						      : "ONNX defines",
		    s.rounding);
	}
}

void
cli_note_tflite(struct tirc *t)
{
	const char *by = tirc_summary(t).from_tflite;

	if (by != NULL) {
		cli_note("made by %s: --requant tflite gives the results of "
			 "TensorFlow Lite's reference kernels, bit for bit but "
			 "for Softmax, which may be a step off; the default "
			 "rounds as ONNX defines, as onnxruntime does. Take "
			 "the one whose results the device must give; tirc "
			 "test, with --requant tflite and without, shows with "
			 "which of the two a data set was recorded",
			 by);
	}
}

static void
print_summary(struct cli *c, struct tirc *t)
{
	struct tirc_summary s = tirc_summary(t);
	char ram[32], flash[32], bound[32];

	for (int i = 0; i < tirc_input_count(t); i++) {
		print_tensor("input", tirc_input(t, i));
	}
	for (int i = 0; i < tirc_output_count(t); i++) {
		print_tensor("output", tirc_output(t, i));
	}
	for (int i = 0; i < tirc_state_count(t); i++) {
		print_tensor("state", tirc_state(t, i).tensor);
	}
	say(stdout, "memory   workspace %s (lower bound %s), weights %s (%s)\n",
	    style_bytes(ram, s.workspace_bytes),
	    style_bytes(bound, s.bound_bytes),
	    style_bytes(flash, s.weights_bytes), s.weights);
	if (strcmp(s.weights, "c") == 0 && s.weights_bytes >= LONG_TEXT_BYTES) {
		say(stdout,
		    "note     compilers take longer for the text of the weights "
		    "than for the code; --weights incbin or --weights file has "
		    "none\n");
	}
	print_rounding(s);
	cli_print_winograd("winograd ", s);
	print_heaviest(t, s);
	print_records(c, t);
	cli_print_target(c, t);
	print_threads(c, s);
	for (int i = 0; i < tirc_assumption_count(t); i++) {
		say(stdout, "note     %s\n", tirc_assumption(t, i));
	}
	say(stdout, "files   ");
	for (int i = 0; i < tirc_file_count(t); i++) {
		say(stdout, " %s/%s", c->out, tirc_file(t, i).name);
	}
	if (c->tirc.package != NULL) {
		say(stdout, "\npackage  %s\n", c->tirc.package);
	} else {
		say(stdout, "\ncompile  %s\n", s.compile_line);
	}
	if (tirc_region_count(t) > 0 && s.ldflags[0] != '\0') {
		say(stdout, "link     with %s\n", s.ldflags);
	}
	cli_print_next(c, t);
}

/* Prints the metadata file. */
static void
print_metadata(struct tirc *t)
{
	for (int i = 0; i < tirc_file_count(t); i++) {
		struct tirc_file f = tirc_file(t, i);

		if (f.is_metadata) {
			say_lines(stdout, f.text);
		}
	}
}

/* Writes a path to a dependency file in the syntax of make and ninja. Returns
 * false after an error message if the path has a character that a dependency
 * file cannot hold. */
static bool
put_path(FILE *f, const char *path)
{
	struct strbuf s;
	bool ok;

	strbuf_init(&s);
	ok = quote_find("depfile", strlen("depfile"))->put(path, &s);
	if (ok && s.len > 0) {
		fputs(s.data, f);
	}
	strbuf_release(&s);
	return ok ||
	       cli_error("--depfile: the name %s has a control character, one "
			 "of ; = \\ * ? [ ], or begins with ~, which a "
			 "dependency file cannot hold; rename the file",
			 path);
}

static bool
write_depfile(struct cli *c, struct tirc *t)
{
	struct output o;
	struct arena a;
	bool ok = true;

	arena_init(&a);
	if (!output_open(&o, &a, c->depfile_path)) {
		arena_release(&a);
		return cli_error("%s: cannot be written: %s", c->depfile_path,
				 strerror(errno));
	}
	for (int i = 0; ok && i < tirc_file_count(t); i++) {
		fputs(i > 0 ? " " : "", o.file);
		ok = put_path(o.file, c->out);
		fputc('/', o.file);
		ok = ok && put_path(o.file, tirc_file(t, i).name);
	}
	for (int i = 0; ok && i < tirc_dependency_count(t); i++) {
		fputs(i > 0 ? " " : ": ", o.file);
		ok = put_path(o.file, tirc_dependency(t, i));
	}
	if (!ok) {
		output_close(&o, false);
		arena_release(&a);
		return false;
	}
	fputc('\n', o.file);
	ok = output_close(&o, true);
	arena_release(&a);
	return ok || cli_error("%s: cannot be written: %s", c->depfile_path,
			       strerror(errno));
}

/* Writes the files of the compiled model. Returns false after a message of t. */
static bool
write_files(struct cli *c, struct tirc *t)
{
	struct earlier_files earlier;

	left_over_find(t, c->out, &earlier);
	if (!tirc_write(t, c->out)) {
		return false;
	}
	if (!c->quiet) {
		left_over_note(t, c->out, &earlier);
	}
	return true;
}

int
cmd_compile(struct cli *c)
{
	struct tirc *t;
	bool ok;

	if (c->out == NULL) {
		c->out = ".";
	}
	c->has_summary = !c->json;
	cleanup_watch_output(c->out);
	t = cli_open(c);
	if (t == NULL) {
		return CLI_INPUT;
	}
	ok = tirc_compile(t) &&
	     (c->tirc.package == NULL || cli_package(c, t)) &&
	     write_files(c, t) &&
	     (c->depfile_path == NULL || write_depfile(c, t));
	cli_messages(t);
	cli_timings(t);
	if (ok && c->json) {
		print_metadata(t);
	} else if (ok && !c->quiet) {
		print_summary(c, t);
		cli_note_tflite(t);
	}
	tirc_free(t);
	return ok ? CLI_DONE : CLI_INPUT;
}

int
cmd_version(struct cli *c)
{
	(void)c;
	say(stdout, "tirc %s\n", tirc_version());
	return CLI_DONE;
}
