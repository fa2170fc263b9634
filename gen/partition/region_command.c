/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a region pass that is a command. The command reads the partition's JSON
 * from standard input and writes that of the edited graph to standard output.
 * The constants are in a file while the command runs; the command's output may
 * name another file. */
#define _XOPEN_SOURCE 700

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "partition.h"
#include "process.h"

struct command_pass {
	struct graph *g;
	const struct backend *b;
	const struct region_pass *pass;
};

static bool
fail(const struct command_pass *c, const char *problem)
{
	struct module *m = c->g->module;

	return diag_error(&m->diags, DIAG_TOOL,
			  (struct diag_place){ .file = c->b->file,
					       .item = c->pass->name },
			  "%s: %s", c->pass->command, problem);
}

/* Replaces the graph by the one in `text`, the output of the command. False
 * after a diagnostic. */
static bool
take_result(const struct command_pass *c, const struct strbuf *text)
{
	struct module *m = c->g->module;
	struct partition_facts facts = {
		.before = c->g,
	};
	struct onnx_file *file;
	struct graph *edited =
		partition_read_text(m,
				    arena_printf(&m->arena,
						 "output of pass %s of %s (%s)",
						 c->pass->name, c->b->name,
						 c->pass->command),
				    NULL, text->len > 0 ? text->data : "",
				    &facts, &file);

	if (edited == NULL) {
		return false;
	}
	onnx_file_close(file);
	if (edited->is_partitioned != c->g->is_partitioned) {
		return fail(c, "its output has another stage; do not change "
			       "the stage");
	}
	partition_adopt(c->g, edited);
	return true;
}

static bool
run(const struct command_pass *c, const struct strbuf *in)
{
	struct module *m = c->g->module;
	struct command command = { 0 };
	struct strbuf out;
	const struct process process = {
		.command = &command,
		.folder = c->b->folder,
		.input = in->data,
		.input_bytes = in->len,
		.out = &out,
	};
	const char *failed;
	bool ok;

	if (!command_add(&m->arena, &command, c->pass->command)) {
		return fail(c, "a quote is not closed");
	}
	strbuf_init(&out);
	failed = process_run(&m->arena, &process);
	if (failed != NULL) {
		ok = fail(c, arena_printf(&m->arena,
					  "the command %s; see its own message",
					  failed));
	} else {
		ok = take_result(c, &out);
	}
	strbuf_release(&out);
	return ok;
}

bool
partition_run_command(struct graph *g, const struct backend *b,
		      const struct region_pass *p)
{
	const char *tmp = getenv("TMPDIR");
	struct arena *a = &g->module->arena;
	struct command_pass c = { g, b, p };
	char *path = arena_printf(a, "%s/tirc-XXXXXX",
				  tmp != NULL && *tmp == '/' ? tmp : "/tmp");
	const struct partition_facts facts = { 0 };
	struct strbuf in;
	int fd = mkstemp(path), errors = g->module->diags.n_errors;
	FILE *file = fd >= 0 ? fdopen(fd, "wb") : NULL;
	bool ok;

	if (file == NULL) {
		fail(&c, arena_printf(a,
				      "the file for its constants cannot be "
				      "made in %.*s (%s); TMPDIR may name "
				      "another folder",
				      (int)(strrchr(path, '/') - path), path,
				      strerror(errno)));
		if (fd >= 0) {
			close(fd);
			unlink(path);
		}
		return false;
	}
	strbuf_init(&in);
	ok = partition_text(g, &facts, path, file, &in);
	ok = fclose(file) == 0 && ok;
	if (!ok && g->module->diags.n_errors == errors) {
		fail(&c, arena_printf(a,
				      "its constants cannot be written to "
				      "%s (%s); TMPDIR may name another folder",
				      path, strerror(errno)));
	}
	ok = ok && run(&c, &in);
	strbuf_release(&in);
	unlink(path);
	return ok;
}
