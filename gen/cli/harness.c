/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the emitted program in its own folder, with the user's compiler, and
 * runs it; its inputs and outputs are raw files. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "harness.h"
#include "output_file.h"
#include "process.h"
#include "text.h"

/* The default of --repeat with --profile. */
enum { PROFILE_RUNS = 20 };

/* Runs a command in the folder of the harness; `step`, what it does, is shown as
 * progress. Its output goes to stderr (a library may print). NULL if it ended
 * with status 0, else how it failed. */
static const char *
run_there(const struct harness *h, const struct command *command,
	  const char *step, int *status)
{
	const struct process process = { .command = command,
					 .folder = h->folder,
					 .status = status };
	const char *failed;

	if (!h->cli->quiet) {
		style_step(step);
	}
	failed = process_run(&h->m->arena, &process);
	style_progress_end();
	cleanup_pause_if_interrupted();
	return failed;
}

static bool
add_words(const struct harness *h, struct command *command, const char *text)
{
	return text == NULL || command_add(&h->m->arena, command, text) ||
	       cli_error(COMMAND_QUOTE_OPEN, text);
}

char *
harness_path(const struct harness *h, const char *name)
{
	return arena_printf(&h->m->arena, "%s/%s", h->folder, name);
}

static bool
write_file(const char *path, const void *data, size_t bytes)
{
	struct output o;
	struct arena a;
	bool ok;

	arena_init(&a);
	ok = output_open(&o, &a, path);
	if (ok) {
		ok = fwrite(data, 1, bytes, o.file) == bytes;
		ok = output_close(&o, ok) && ok;
	}
	arena_release(&a);
	return ok || cli_error("cannot write %s", path);
}

/* Adds a source of the program to a command, or its object file (`object`). */
static void
add_source(const struct harness *h, struct command *command, const char *name,
	   bool object)
{
	const char *end = strrchr(name, '.');

	command_add_word(&h->m->arena, command,
			 object ? arena_printf(&h->m->arena, "%.*s.o",
					       (int)(end - name), name)
				: name);
}

static void
add_sources(const struct harness *h, struct command *command, bool objects)
{
	add_source(h, command, "harness.c", objects);
	for (int i = 0; i < tirc_file_count(h->t); i++) {
		struct tirc_file file = tirc_file(h->t, i);

		if (file.is_source) {
			add_source(h, command, file.name, objects);
		}
	}
	for (int i = 0; i < tirc_harness_file_count(h->t); i++) {
		struct tirc_file file = tirc_harness_file(h->t, i);

		if (file.is_source) {
			add_source(h, command, file.name, objects);
		}
	}
}

/* The command of the compiler with its flags. $CC is used only for programs of
 * this machine. */
static const char *
compiler(const struct harness *h)
{
	struct tirc_summary s = tirc_summary(h->t);
	const char *cc = h->cli->cc;
	const bool own = h->cli->cflags != NULL;

	if (cc == NULL && s.simulator == NULL) {
		cc = getenv("CC");
	}
	return arena_printf(&h->m->arena, "%s %s %s",
			    cc != NULL && *cc != '\0' ? cc : s.cc,
			    own ? h->cli->cflags : s.cflags,
			    own ? s.library_cflags : "");
}

/* If the compiler lacks instructions that the sources use, the definition of
 * TIRC_ANY_PROCESSOR makes them compile all the same; they are slow then. */
static const char *
compiler_of_any_processor(const struct harness *h)
{
	const char *cc = compiler(h);
	const char *lacking = tirc_flags_lacking(h->t, cc, "");

	cleanup_pause_if_interrupted();
	if (lacking == NULL) {
		return cc;
	}
	if (!h->cli->quiet) {
		cli_note("the source is slow: it is meant for %s, and the "
			 "compiler has other flags",
			 lacking);
	}
	return arena_printf(&h->m->arena, "%s -DTIRC_ANY_PROCESSOR", cc);
}

static bool
compile(const struct harness *h, const struct command *command)
{
	const char *failed = run_there(h, command, "the C compiler", NULL);

	return failed == NULL || cli_error("the C compiler %s: %s", failed,
					   command_text(&h->m->arena, command));
}

static bool
compile_objects(const struct harness *h, const char *cc)
{
	struct command command = { 0 };

	if (!add_words(h, &command, cc)) {
		return false;
	}
	command_add_word(&h->m->arena, &command, "-c");
	add_sources(h, &command, false);
	return compile(h, &command);
}

static bool
build(struct harness *h)
{
	struct tirc_summary s = tirc_summary(h->t);
	const char *cc = compiler_of_any_processor(h);
	const bool objects = s.simulator != NULL;
	struct command command = { 0 };

	if ((objects && !compile_objects(h, cc)) ||
	    !add_words(h, &command, cc)) {
		return false;
	}
	add_words(h, &command, "-o harness");
	add_sources(h, &command, objects);
	return add_words(h, &command, tirc_harness_ldflags(h->t)) &&
	       add_words(h, &command, "-lm") &&
	       add_words(h, &command, s.ldflags) && compile(h, &command);
}

/* Writes the files of runtime-c that the program needs. */
static bool
write_runtime(struct harness *h)
{
	for (int i = 0; i < tirc_harness_file_count(h->t); i++) {
		struct tirc_file file = tirc_harness_file(h->t, i);

		if (file.text == NULL) {
			return cli_error("there is no file of runtime-c "
					 "called %s",
					 file.name);
		}
		if (!write_file(harness_path(h, file.name), file.text,
				(size_t)file.bytes)) {
			return false;
		}
	}
	return true;
}

/* The number of runs to time. Simulators count the same instructions in each
 * run; times vary. */
static int
default_repeat(const struct harness *h)
{
	return h->cli->tirc.profile && tirc_summary(h->t).simulator == NULL
		       ? PROFILE_RUNS
		       : 1;
}

bool
harness_open(struct harness *h, struct cli *c)
{
	const char *scratch = cleanup_scratch();
	const char *text;

	memset(h, 0, sizeof *h);
	h->cli = c;
	h->m = module_new();
	h->m->quota.memory_bytes = c->tirc.max_memory_bytes;
	h->t = cli_open(c);
	if (h->t == NULL || scratch == NULL) {
		return false;
	}
	if (c->keep != NULL) {
		if (!harness_may_keep(c->keep)) {
			return false;
		}
		cleanup_watch_output(c->keep);
		h->folder = strdup(c->keep);
	} else {
		h->folder = strdup(
			arena_printf(&h->m->arena, "%s/build-XXXXXX", scratch));
		if (h->folder == NULL || mkdtemp(h->folder) == NULL) {
			return cli_error("cannot make a folder in %s", scratch);
		}
	}
	if (!tirc_compile(h->t) || !tirc_write(h->t, h->folder)) {
		cli_messages(h->t);
		return false;
	}
	cli_messages(h->t);
	cli_timings(h->t);
	if (c->repeat == 0) {
		c->repeat = default_repeat(h);
	}
	if (!harness_find_tools(h)) {
		return false;
	}
	text = tirc_harness(h->t);
	if (text == NULL) {
		cli_messages(h->t);
		return false;
	}
	return write_file(harness_path(h, "harness.c"), text, strlen(text)) &&
	       write_runtime(h) && build(h);
}

/* Sets values[d], the value of symbolic size d, if it follows from the shape of
 * an input and the values known so far; else returns false. */
static bool
match_dim(const struct harness *h, const struct array *inputs, int d,
	  int64_t *values)
{
	for (int i = 0; i < tirc_input_count(h->t); i++) {
		struct tirc_tensor x = tirc_input(h->t, i);

		for (int k = 0; k < x.ndim && k < inputs[i].ndim; k++) {
			int64_t v = tirc_dim_value(h->t, d, values, i, k,
						   inputs[i].shape[k]);

			if (v >= 0) {
				values[d] = v;
				return true;
			}
		}
	}
	return false;
}

/* Repeats, because one value may follow from another. A size that does not
 * follow gets its largest value. */
void
harness_dims(const struct harness *h, const struct array *inputs,
	     int64_t *values)
{
	int n = tirc_dim_count(h->t);
	bool found = true;

	for (int d = 0; d < n; d++) {
		values[d] = -1;
	}
	while (found) {
		found = false;
		for (int d = 0; d < n; d++) {
			found |= values[d] < 0 &&
				 match_dim(h, inputs, d, values);
		}
	}
	for (int d = 0; d < n; d++) {
		values[d] = values[d] < 0 ? tirc_dim(h->t, d).max : values[d];
	}
}

bool
harness_fit_strings(struct harness *h, struct array *a, int64_t bytes)
{
	int64_t has = a->shape[a->ndim - 1], n = has > 0 ? a->elems / has : 0;
	const uint8_t *from = a->data;
	uint8_t *to = arena_alloc(&h->m->arena, (size_t)(n * bytes) + 1);

	for (int64_t i = 0; i < n; i++) {
		size_t length = strnlen((const char *)from + i * has,
					(size_t)has);

		if ((int64_t)length > bytes) {
			return false;
		}
		memcpy(to + i * bytes, from + i * has, length);
	}
	a->shape[a->ndim - 1] = bytes;
	a->elems = n * bytes;
	a->data = to;
	return true;
}

/* Pads the strings of a file to the number of bytes of the input's strings. */
static bool
fit_input(struct harness *h, int i, struct array *a)
{
	struct tirc_tensor x = tirc_input(h->t, i);

	return !a->is_string || x.ndim != a->ndim ||
	       harness_fit_strings(h, a, x.dims[x.ndim - 1]) ||
	       cli_error(
		       "a string of input '%s' is longer than its %lld bytes; "
		       "give --string-length %s=BYTES",
		       x.name, (long long)x.dims[x.ndim - 1], x.name);
}

/* Two shapes as text: "2,3" and "n,3". */
static const char *
shape_text(const struct harness *h, const struct array *a)
{
	const char *text = "";

	for (int d = 0; d < a->ndim; d++) {
		text = arena_printf(&h->m->arena, "%s%s%lld", text,
				    d > 0 ? "," : "", (long long)a->shape[d]);
	}
	return text;
}

static const char *
words_text(const struct harness *h, const struct tirc_tensor *x)
{
	const char *text = "";

	for (int d = 0; d < x->ndim; d++) {
		text = arena_printf(&h->m->arena, "%s%s%s", text,
				    d > 0 ? "," : "", x->words[d]);
	}
	return text;
}

bool
harness_check_input(const struct harness *h, int i, const struct array *a)
{
	struct tirc_tensor x = tirc_input(h->t, i);
	struct dtype type;
	bool same = dtype_from_name(x.dtype, &type) && array_is(a, type) &&
		    x.ndim == a->ndim;

	for (int d = 0; same && d < x.ndim; d++) {
		int64_t fixed;

		same = !text_int(x.words[d], &fixed) || fixed == a->shape[d];
	}
	return same ||
	       cli_error("input '%s' is %s [%s]; the file has %s%s [%s]",
			 x.name, x.dtype, words_text(h, &x),
			 a->is_bits ? "the bits of " : "", dtype_name(a->type),
			 shape_text(h, a));
}

static bool
read_times(struct harness *h)
{
	FILE *f = fopen(harness_path(h, "times.txt"), "r");

	h->times_ns = arena_array(&h->m->arena, double, h->cli->repeat + 1);
	if (f == NULL) {
		return cli_error("the program wrote no times");
	}
	for (int i = 0; i < h->cli->repeat; i++) {
		if (fscanf(f, "%lf", &h->times_ns[i]) != 1) {
			fclose(f);
			return cli_error("the program wrote no times");
		}
	}
	fclose(f);
	return true;
}

static const char *
numbered_path(const struct harness *h, const char *stem, int i)
{
	return harness_path(h,
			    arena_printf(&h->m->arena, "%s_%d.bin", stem, i));
}

/* Reads result i: an output, or after the outputs a state. */
static bool
read_result(struct harness *h, int i, const int64_t *dim_values,
	    struct array *out)
{
	int n_out = tirc_output_count(h->t), state = i - n_out;
	struct tirc_tensor x = state < 0 ? tirc_output(h->t, i)
					 : tirc_state(h->t, state).tensor;
	const char *path = state < 0 ? numbered_path(h, "output", i)
				     : numbered_path(h, "next_state", state);
	FILE *f = fopen(path, "rb");
	size_t bytes;
	bool ok;

	out->name = arena_strdup(&h->m->arena, x.name);
	dtype_from_name(x.dtype, &out->type);
	out->ndim = x.ndim;
	out->shape = arena_array(&h->m->arena, int64_t, x.ndim + 1);
	if (state < 0) {
		tirc_output_dims(h->t, i, dim_values, out->shape);
	} else {
		tirc_state_dims(h->t, state, dim_values, out->shape);
	}
	out->elems = 1;
	for (int d = 0; d < x.ndim; d++) {
		out->elems *= out->shape[d];
	}
	bytes = (size_t)out->elems * (size_t)dtype_bytes(out->type);
	out->data = arena_alloc(&h->m->arena, bytes + 1);
	if (f == NULL) {
		return cli_error("the program did not write %s", path);
	}
	ok = fread(out->data, 1, bytes, f) == bytes;
	fclose(f);
	return ok || cli_error("the program wrote too little to %s", path);
}

int
state_of_input(struct tirc *t, int position)
{
	for (int i = 0; i < tirc_state_count(t); i++) {
		if (tirc_state(t, i).input == position) {
			return i;
		}
	}
	return -1;
}

int
state_of_output(struct tirc *t, int position)
{
	for (int i = 0; i < tirc_state_count(t); i++) {
		if (tirc_state(t, i).output == position) {
			return i;
		}
	}
	return -1;
}

int
harness_results(const struct harness *h)
{
	return tirc_output_count(h->t) + tirc_state_count(h->t);
}

bool
harness_set_states(struct harness *h, const struct array *states)
{
	h->states = states;
	for (int i = 0; i < tirc_state_count(h->t); i++) {
		const char *path = numbered_path(h, "state", i);

		if (states == NULL) {
			unlink(path);
		} else if (!write_file(path, states[i].data,
				       (size_t)states[i].elems *
					       (size_t)dtype_bytes(
						       states[i].type))) {
			return false;
		}
	}
	return true;
}

/* Reads the output sizes that the program computed. */
static bool
read_sizes(const struct harness *h, int64_t *values)
{
	FILE *f;

	if (tirc_size_count(h->t) == 0) {
		return true;
	}
	f = fopen(harness_path(h, "sizes.txt"), "r");
	for (int i = 0; i < tirc_size_count(h->t); i++) {
		long long v;

		if (f == NULL || fscanf(f, "%lld", &v) != 1) {
			if (f != NULL) {
				fclose(f);
			}
			return cli_error("the program wrote no sizes");
		}
		values[i] = v;
	}
	fclose(f);
	return true;
}

/* Adds the command that runs the program. A simulator takes the program's
 * arguments as one word. */
static bool
add_run(const struct harness *h, const int64_t *values, struct command *command)
{
	struct tirc_summary s = tirc_summary(h->t);
	struct arena *a = &h->m->arena;
	const char *arguments = arena_printf(a, "%d", h->cli->repeat);

	for (int d = 0; d < tirc_dim_count(h->t); d++) {
		arguments = arena_printf(a, "%s %lld", arguments,
					 (long long)values[d]);
	}
	if (!add_words(h, command,
		       h->cli->runner != NULL ? h->cli->runner : s.simulator)) {
		return false;
	}
	command_add_word(a, command, "./harness");
	if (s.simulator == NULL) {
		return add_words(h, command, arguments);
	}
	if (!add_words(h, command, s.simulator_argument)) {
		return false;
	}
	command_add_word(a, command, arguments);
	return true;
}

/* The exit status, as a shell reports it, of a program that an illegal
 * instruction ended. */
enum { ILLEGAL_INSTRUCTION = 128 + SIGILL };

static bool
program_failed(const struct harness *h, const char *failed, int status)
{
	if (status != ILLEGAL_INSTRUCTION) {
		return cli_error("the program %s", failed);
	}
	return cli_error(
		"the program %s: it has instructions that this processor lacks; "
		"%s",
		failed,
		h->cli->runner != NULL
			? "give --runner a processor that has them, or another "
			  "--target"
			: "give --target native, or run it elsewhere with "
			  "--runner COMMAND");
}

bool
harness_run(struct harness *h, const struct array *inputs,
	    struct array *outputs)
{
	struct command command = { 0 };
	const char *failed;
	int status = 0;
	int64_t *values = arena_array(&h->m->arena, int64_t,
				      tirc_dim_count(h->t) +
					      tirc_size_count(h->t) + 1);

	for (int i = 0; i < tirc_input_count(h->t); i++) {
		struct array a = inputs[i];

		if (!fit_input(h, i, &a) || !harness_check_input(h, i, &a) ||
		    !write_file(harness_path(h,
					     arena_printf(&h->m->arena,
							  "input_%d.bin", i)),
				a.data,
				(size_t)a.elems *
					(size_t)dtype_bytes(a.type))) {
			return false;
		}
	}
	harness_dims(h, inputs, values);
	if (!add_run(h, values, &command)) {
		return false;
	}
	failed = run_there(h, &command, "the program", &status);
	if (failed != NULL) {
		return program_failed(h, failed, status);
	}
	if (!read_sizes(h, values + tirc_dim_count(h->t))) {
		return false;
	}
	for (int i = 0; i < harness_results(h); i++) {
		if (!read_result(h, i, values, &outputs[i])) {
			return false;
		}
	}
	return read_times(h) &&
	       (tirc_summary(h->t).simulator == NULL || harness_read_board(h));
}

struct array
harness_zeros(struct arena *a, struct tirc_tensor x)
{
	struct array y = { .name = x.name, .ndim = x.ndim, .elems = x.elems };

	dtype_from_name(x.dtype, &y.type);
	y.shape = arena_copy(a, x.dims, sizeof *x.dims * (size_t)x.ndim);
	y.data = arena_alloc(a,
			     (size_t)y.elems * (size_t)dtype_bytes(y.type) + 1);
	return y;
}

void
harness_ramp(struct harness *h, int i, struct array *a)
{
	*a = harness_zeros(&h->m->arena, tirc_input(h->t, i));
	for (int64_t k = 0; k < a->elems; k++) {
		union number v;

		if (dtype_is_float(a->type)) {
			v.f = (double)(k % 17 - 8) / 8;
		} else {
			v.i = k % 2;
		}
		number_store(a->type, a->data, (size_t)k, v);
	}
}

void
harness_messages(struct harness *h)
{
	while (h->n_told < h->m->diags.list.n) {
		struct strbuf s;

		strbuf_init(&s);
		diag_format(&h->m->diags.list.data[h->n_told++], &s);
		cli_error("%s", s.data);
		strbuf_release(&s);
	}
}

void
harness_close(struct harness *h)
{
	if (h->factors != NULL) {
		harness_close(h->factors);
	}
	harness_messages(h);
	free(h->folder);
	tirc_free(h->t);
	module_free(h->m);
}
