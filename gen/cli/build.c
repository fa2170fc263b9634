/* SPDX-License-Identifier: Apache-2.0 */
/* Builds an emitted program in a folder of its own, with the user's compiler,
 * and runs it there. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "harness.h"
#include "output_file.h"
#include "process.h"

/* Runs a command in the folder of the harness, confined unless `confined` is
 * NULL, and shows the word `step` on the terminal, if there is one, while it
 * runs. The command's output goes to stderr, since libraries may print. Returns
 * NULL if the command ended with status 0, else a text that says how it failed.
 * *status: the exit status. */
static const char *
run_there(const struct harness *h, const struct command *command,
	  const struct confinement *confined, const char *step, int *status)
{
	const struct process process = { .command = command,
					 .confined = confined,
					 .folder = h->folder,
					 .most_seconds = h->most_seconds,
					 .status = status };
	const char *failed;

	if (!h->cli->quiet || h->cli->steps) {
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

bool
harness_write(const struct harness *h, const char *name, const void *data,
	      size_t bytes)
{
	const char *path = harness_path(h, name);
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

bool
harness_write_array(const struct harness *h, const char *name,
		    const struct array *a)
{
	return harness_write(h, name, a->data,
			     (size_t)a->elems * (size_t)dtype_bytes(a->type));
}

bool
harness_read_array(const struct harness *h, const char *name, struct array *a)
{
	size_t bytes = (size_t)a->elems * (size_t)dtype_bytes(a->type);
	const char *path = harness_path(h, name);
	FILE *f = fopen(path, "rb");
	bool ok;

	a->data = arena_alloc(&h->m->arena, bytes + 1);
	if (f == NULL) {
		return cli_error("the program did not write %s", path);
	}
	ok = fread(a->data, 1, bytes, f) == bytes;
	fclose(f);
	return ok || cli_error("the program wrote too little to %s", path);
}

/* -- building -- */

/* Adds the file name of a source to a command; if `object` is set, the name of
 * its object file. */
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
	for (int i = 0; i < h->sources.n; i++) {
		add_source(h, command, h->sources.data[i], objects);
	}
}

/* The command of the compiler without flags. */
static const char *
bare_compiler(const struct harness *h)
{
	struct tirc_summary s = tirc_summary(h->t);
	const char *cc = h->cli->cc;

	if (cc == NULL && s.simulator == NULL) {
		cc = getenv("CC");
	}
	return cc != NULL && *cc != '\0' ? cc : s.cc;
}

/* The compiler's flags. */
static const char *
compiler_flags(const struct harness *h)
{
	struct tirc_summary s = tirc_summary(h->t);
	const bool own = h->cli->cflags != NULL;

	return arena_printf(&h->m->arena, "%s %s",
			    own ? h->cli->cflags : s.cflags,
			    own ? s.library_cflags : "");
}

const char *
harness_compiler(const struct harness *h)
{
	return arena_printf(&h->m->arena, "%s %s", bare_compiler(h),
			    compiler_flags(h));
}

/* The command of the compiler. If the compiler's flags lack instructions that
 * the sources use, the command defines TIRC_ANY_PROCESSOR, with which the
 * sources compile to slower code without these instructions. */
static const char *
compiler_of_any_processor(const struct harness *h)
{
	const char *cc = harness_compiler(h);
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
	const char *step = arena_printf(&h->m->arena, "compiling %s …",
					h->sources.data[0]);
	const char *failed = run_there(h, command, NULL, step, NULL);

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
build(const struct harness *h)
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

/* Writes the files of runtime-c that the program needs into the folder. Returns
 * false after an error message. */
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
		if (!harness_write(h, file.name, file.text,
				   (size_t)file.bytes)) {
			return false;
		}
		if (file.is_source) {
			harness_add_source(h, file.name);
		}
	}
	return true;
}

void
harness_add_source(struct harness *h, const char *name)
{
	vec_push(&h->m->arena, &h->sources, name);
}

bool
harness_begin(struct harness *h, struct cli *c)
{
	const char *scratch = cleanup_scratch();

	if (scratch == NULL) {
		return false;
	}
	if (c->keep != NULL) {
		if (!harness_may_keep(c->keep)) {
			return false;
		}
		cleanup_watch_output(c->keep);
		h->folder = strdup(c->keep);
		return true;
	}
	h->folder = strdup(
		arena_printf(&h->m->arena, "%s/build-XXXXXX", scratch));
	return (h->folder != NULL && mkdtemp(h->folder) != NULL) ||
	       cli_error("cannot make a folder in %s", scratch);
}

bool
harness_build(struct harness *h, const char *text)
{
	const char *name = tirc_harness_name(h->t);

	harness_add_source(h, name);
	return harness_write(h, name, text, strlen(text)) && write_runtime(h) &&
	       build(h);
}

/* -- running -- */

/* Adds to `command` the words that run the program. A simulator takes all
 * arguments of the program as one word. Returns false after an error
 * message. */
static bool
add_run(const struct harness *h, const char *arguments, struct command *command)
{
	struct tirc_summary s = tirc_summary(h->t);
	struct arena *a = &h->m->arena;

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

/* The exit status with which a shell reports a program that was ended by the
 * signal for an illegal instruction. */
enum { ILLEGAL_INSTRUCTION = 128 + SIGILL };

/* The exit status of a program for which the dynamic loader does not find a
 * library. */
enum { NOT_LOADED = 127 };

/* The exit status of a program made from templates/ if its arrays do not fit into the
 * memory of the machine, which may be a simulated board. */
enum { NO_MEMORY = 3 };

void
harness_expect_none(struct harness *h)
{
	h->results.n = 0;
}

bool
harness_expect(struct harness *h, const char *name)
{
	vec_push(&h->m->arena, &h->results, name);
	return harness_write(h, name, "", 0);
}

/* What to do about a program for another processor. */
static const char *
other_processor(const struct harness *h)
{
	return h->cli->runner != NULL
		       ? "give --runner a processor that has them, or another "
			 "--target"
		       : "give --target native, or run it elsewhere with "
			 "--runner COMMAND";
}

bool
harness_fits_processor(const struct harness *h)
{
	const char *lacking;

	if (h->cli->runner != NULL || tirc_summary(h->t).simulator != NULL) {
		return true;
	}
	lacking = tirc_processor_lacks(h->t, bare_compiler(h),
				       compiler_flags(h));
	cleanup_pause_if_interrupted();
	return lacking == NULL ||
	       cli_error("the program would have instructions that this "
			 "processor lacks (%s); %s",
			 lacking, other_processor(h));
}

bool
harness_lacks_instructions(int status)
{
	return status == ILLEGAL_INSTRUCTION;
}

bool
harness_lacks_memory(int status)
{
	return status == NO_MEMORY;
}

static bool
program_failed(const struct harness *h, const char *failed, int status,
	       bool is_confined)
{
	if (status == NOT_LOADED && is_confined) {
		return cli_error("the program %s; unless --confine off is "
				 "given, it may read only libraries of the "
				 "system",
				 failed);
	}
	if (harness_lacks_memory(status)) {
		return cli_error("the machine that the program runs on has too "
				 "little memory for the model's arrays");
	}
	if (status != ILLEGAL_INSTRUCTION) {
		return cli_error("the program %s", failed);
	}
	return cli_error(
		"the program %s: it has instructions that this processor lacks; "
		"%s",
		failed, other_processor(h));
}

const char *
harness_try(struct harness *h, const char *arguments, int *status)
{
	const struct confinement *confined = NULL;
	struct command command = { 0 };
	bool is_missing = false;
	struct strbuf out;
	struct process p = { .command = &command,
			     .is_missing = &is_missing,
			     .folder = h->folder,
			     .out = &out,
			     .is_quiet = true,
			     .most_seconds = h->most_seconds,
			     .status = status };
	const char *failed;

	if (!add_run(h, arguments, &command) ||
	    !harness_confine(h, &command, &confined)) {
		return "cannot be confined";
	}
	p.confined = confined;
	strbuf_init(&out);
	failed = process_run(&h->m->arena, &p);
	strbuf_release(&out);
	cleanup_pause_if_interrupted();
	*status = is_missing ? -1 : *status;
	return failed;
}

bool
harness_execute(struct harness *h, const char *arguments)
{
	const struct confinement *confined = NULL;
	struct command command = { 0 };
	const char *failed;
	int status = 0;

	if (!add_run(h, arguments, &command) ||
	    !harness_confine(h, &command, &confined)) {
		return false;
	}
	failed = run_there(h, &command, confined, "running the program …",
			   &status);
	return failed == NULL ||
	       program_failed(h, failed, status, confined != NULL);
}
