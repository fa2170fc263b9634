/* SPDX-License-Identifier: Apache-2.0 */
/* --add-pass PHASE:OBJECT or PHASE:COMMAND: a shared object with a tirc_pass
 * function, or a command that reads and writes TVMScript. */
#include "add_pass.h"

#include <dlfcn.h>
#include <string.h>

#include "process.h"
#include "script.h"
#include "tirc_pass.h"

struct added {
	void *object; /* handle from dlopen; NULL for a command */
	bool (*pass)(struct func *f);
	const char *text; /* the command */
	struct command command;
};

static bool
fail(struct module *m, enum diag_id id, const char *pass, const char *problem)
{
	return diag_error(&m->diags, id,
			  (struct diag_place){ .item = "--add-pass" }, "%s: %s",
			  pass, problem);
}

/* -- shared objects -- */

static bool
run_object(void *ctx, struct func *f)
{
	const struct added *a = ctx;

	return a->pass(f);
}

static bool
open_object(struct module *m, const char *path, struct added *a)
{
	const int *interface;
	void *symbol;

	/* dlopen would search a name without '/' in the folders of the
	 * system. */
	if (strchr(path, '/') == NULL) {
		path = arena_printf(&m->arena, "./%s", path);
	}
	a->object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (a->object == NULL) {
		return fail(m, DIAG_FILE_UNREADABLE, path, dlerror());
	}
	interface = dlsym(a->object, "tirc_pass_interface");
	symbol = dlsym(a->object, "tirc_pass");
	if (interface == NULL || symbol == NULL) {
		return fail(m, DIAG_BAD_OPTION, path,
			    "it defines no pass; define one with TIRC_PASS "
			    "of tirc_pass.h");
	}
	if (*interface != TIRC_PASS_INTERFACE) {
		return fail(m, DIAG_BAD_OPTION, path,
			    "built for another version of tirc; compile it "
			    "again with this one's headers");
	}
	/* ISO C has no conversion from object to function pointers. */
	memcpy(&a->pass, &symbol, sizeof symbol);
	return true;
}

/* -- commands -- */

struct func *
add_pass_read(struct module *m, const struct source *src, int *made)
{
	struct func **kept = m->funcs.data, *g;
	int n = m->funcs.n, cap = m->funcs.cap;
	bool good;

	m->funcs.data = NULL;
	m->funcs.n = m->funcs.cap = 0;
	good = script_read(m, src);
	*made = good ? m->funcs.n : -1;
	g = m->funcs.n > 0 ? m->funcs.data[0] : NULL;
	m->funcs.data = kept;
	m->funcs.n = n;
	m->funcs.cap = cap;
	return good ? g : NULL;
}

/* Replaces the body of f by that of the only function in `text`, the output of
 * a command. False after a diagnostic. */
static bool
take_result(struct func *f, const char *command, const struct strbuf *text)
{
	struct module *m = f->module;
	const struct source src = {
		.name = arena_printf(&m->arena, "output of %s", command),
		.text = arena_strndup(&m->arena,
				      text->len > 0 ? text->data : "",
				      text->len),
		.length = text->len,
	};
	int made;
	struct func *g = add_pass_read(m, &src, &made);

	if (g == NULL && made != 0) {
		return false;
	}
	if (made != 1 || strcmp(g->name, f->name) != 0) {
		return fail(m, DIAG_BAD_PROGRAM, command,
			    arena_printf(&m->arena,
					 "its output must be a single "
					 "function named %s",
					 f->name));
	}
	return func_adopt(f, g);
}

static bool
run_command(void *ctx, struct func *f)
{
	const struct added *a = ctx;
	struct module *m = f->module;
	struct strbuf before, text;
	struct process process = { .command = &a->command, .out = &text };
	const char *failed;
	bool ok;

	strbuf_init(&before);
	strbuf_init(&text);
	func_print(f, SCRIPT_CURRENT, &before);
	process.input = before.data;
	process.input_bytes = before.len;
	failed = process_run(&m->arena, &process);
	strbuf_release(&before);
	if (failed != NULL) {
		ok = fail(m, DIAG_TOOL, a->text,
			  arena_printf(&m->arena,
				       "for the function %s, the command %s; "
				       "see its own message",
				       f->name, failed));
	} else {
		ok = take_result(f, a->text, &text);
	}
	strbuf_release(&text);
	return ok;
}

/* -- both -- */

static bool
is_object(const char *text)
{
	size_t n = strlen(text);

	return n > 3 && strcmp(text + n - 3, ".so") == 0 &&
	       strchr(text, ' ') == NULL;
}

bool
add_pass_open(struct module *m, const char *text, struct user_pass *out)
{
	struct added *a = arena_new(&m->arena, struct added);

	if (text[0] < '0' || text[0] > '0' + LAST_PHASE || text[1] != ':' ||
	    text[2] == '\0') {
		return fail(m, DIAG_BAD_OPTION, text,
			    "not understood; expected PHASE:./object.so or "
			    "PHASE:\"command\" with a phase from 0 to 3");
	}
	*out = (struct user_pass){ .name = text + 2,
				   .phase = text[0] - '0',
				   .ctx = a };
	if (is_object(text + 2)) {
		out->run = run_object;
		return open_object(m, text + 2, a);
	}
	a->text = text + 2;
	out->run = run_command;
	return command_add(&m->arena, &a->command, a->text) ||
	       fail(m, DIAG_BAD_OPTION, a->text, "a quote is not closed");
}

void
add_pass_close(struct user_pass *pass)
{
	struct added *a = pass->ctx;

	if (a != NULL && a->object != NULL) {
		dlclose(a->object);
		a->object = NULL;
	}
}
