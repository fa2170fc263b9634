/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a job of the tuner as files into a folder, and reads its results. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output_file.h"
#include "process.h"
#include "tune_runner.h"

bool
tune_write(const char *folder, const char *name, const void *data, size_t bytes)
{
	struct output o;
	struct arena a;
	const char *path;
	bool ok;

	arena_init(&a);
	path = arena_printf(&a, "%s/%s", folder, name);
	ok = output_open(&o, &a, path);
	if (ok) {
		ok = fwrite(data, 1, bytes, o.file) == bytes;
		ok = output_close(&o, ok) && ok;
	}
	ok = ok || cli_error("cannot write %s", path);
	arena_release(&a);
	return ok;
}

bool
tune_write_arguments(const struct tune_job *job, const char *folder, long calls)
{
	struct strbuf text;
	bool ok;

	strbuf_init(&text);
	strbuf_printf(&text, "%ld %s\n", calls, job->arguments);
	ok = tune_write(folder, "arguments.txt", text.data, text.len);
	strbuf_release(&text);
	return ok;
}

const char *
tune_folder(struct harness *h, const struct tune_job *job, long calls)
{
	char *folder = arena_printf(&h->m->arena, "%s/job-XXXXXX", h->folder);
	bool ok = mkdtemp(folder) != NULL ||
		  cli_error("cannot make a folder in %s", h->folder);

	for (int i = 0; ok && i < job->files.n; i++) {
		const struct tune_file *f = &job->files.data[i];

		ok = tune_write(folder, f->name, f->data, f->bytes);
	}
	for (int i = 0; ok && i < tirc_harness_file_count(h->t); i++) {
		struct tirc_file f = tirc_harness_file(h->t, i);

		ok = f.text == NULL ||
		     tune_write(folder, f.name, f.text, (size_t)f.bytes);
	}
	return ok && tune_write_arguments(job, folder, calls) ? folder : NULL;
}

const char *
tune_read_outputs(struct arena *a, const struct tune_job *job,
		  const char *folder, const void *const **out)
{
	const void **list = arena_array(a, const void *, job->outputs.n + 1);

	for (int i = 0; i < job->outputs.n; i++) {
		const struct tune_output *o = &job->outputs.data[i];
		void *data = arena_alloc(a, o->bytes + 1);
		FILE *f = fopen(arena_printf(a, "%s/%s", folder, o->name),
				"rb");
		bool ok = f != NULL && fread(data, 1, o->bytes, f) == o->bytes;

		if (f != NULL) {
			fclose(f);
		}
		if (!ok) {
			return arena_printf(a, "it wrote no %s of %zu bytes",
					    o->name, o->bytes);
		}
		list[i] = data;
	}
	*out = list;
	return NULL;
}

struct command
tune_compile_command(struct harness *h, const struct tune_job *job)
{
	struct arena *a = &h->m->arena;
	struct tirc_summary s = tirc_summary(h->t);
	struct command c = { 0 };

	command_add(a, &c, harness_compiler(h));
	command_add(a, &c, "-o harness");
	for (int i = 0; i < job->sources.n; i++) {
		command_add_word(a, &c, job->sources.data[i]);
	}
	for (int i = 0; i < tirc_harness_file_count(h->t); i++) {
		struct tirc_file f = tirc_harness_file(h->t, i);

		if (f.is_source) {
			command_add_word(a, &c, f.name);
		}
	}
	command_add(a, &c, tirc_harness_ldflags(h->t));
	command_add(a, &c, "-lm");
	command_add(a, &c, s.ldflags);
	return c;
}

const char *
tune_machine(struct arena *a)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	const char *found = "unknown";
	char line[512];

	while (f != NULL && fgets(line, sizeof line, f) != NULL) {
		const char *colon = strchr(line, ':');

		if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
			found = arena_strndup(a, colon + 2,
					      strcspn(colon + 2, "\n"));
			break;
		}
	}
	if (f != NULL) {
		fclose(f);
	}
	return found;
}

const char *
tune_compiler(struct harness *h)
{
	struct arena *a = &h->m->arena;
	struct command words = { 0 }, ask = { 0 };
	struct strbuf out;
	const char *text;
	const struct process p = { .command = &ask,
				   .out = &out,
				   .is_quiet = true };

	command_add(a, &words, harness_compiler(h));
	if (words.words.n > 0) {
		command_add_word(a, &ask, words.words.data[0]);
	}
	command_add_word(a, &ask, "--version");
	strbuf_init(&out);
	text = process_run(a, &p) == NULL && out.len > 0
		       ? arena_strndup(a, out.data, strcspn(out.data, "\n"))
		       : "unknown";
	strbuf_release(&out);
	words.words.data += words.words.n > 0;
	words.words.n -= words.words.n > 0;
	return arena_printf(a, "%s %s", text, command_text(a, &words));
}
