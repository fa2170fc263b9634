/* SPDX-License-Identifier: Apache-2.0 */
/* tirc codegen: writes the source of a tensor program's functions. */
#include "cleanup.h"
#include "cli.h"
#include "process.h"

/* Prints the scratch arrays, which a caller of the emitted functions must
 * provide besides the arrays of the program. */
static void
print_scratch(struct tirc *t)
{
	for (int i = 0; i < tirc_function_count(t); i++) {
		struct tirc_function f = tirc_function(t, i);

		for (int k = f.n_given; k < f.n_parameters; k++) {
			struct tirc_parameter p = tirc_parameter(t, i, k);

			say(stdout,
			    "scratch  %s: %s, %s bytes, contents irrelevant, "
			    "one per %s\n",
			    f.name, p.name, p.bytes,
			    f.launches ? "stream" : "thread");
		}
	}
}

/* Prints the command that compiles each source, and the flags for the linker.
 * Sources of devices that are compiled at run time need no command. */
static void
print_compile(struct arena *a, const struct cli *c, struct tirc *t)
{
	struct tirc_summary s = tirc_summary(t);

	for (int i = 0; i < tirc_source_count(t); i++) {
		struct tirc_source x = tirc_source(t, i);

		if (!x.is_compiled) {
			continue;
		}
		say(stdout, "compile  %s %s -I%s -c %s\n", s.cc, s.cflags,
		    command_quoted(a, c->out),
		    command_quoted(a,
				   arena_printf(a, "%s/%s", c->out, x.name)));
		if (s.ldflags != NULL && s.ldflags[0] != '\0') {
			say(stdout, "link     with %s\n", s.ldflags);
		}
	}
}

static void
print_summary(struct cli *c, struct tirc *t)
{
	print_scratch(t);
	cli_print_program_target(c, t);
	say(stdout, "files   ");
	for (int i = 0; i < tirc_source_count(t); i++) {
		say(stdout, " %s/%s", c->out, tirc_source(t, i).name);
	}
	say(stdout, "\n");
	print_compile(&c->arena, c, t);
	if (tirc_function_count(t) > 0) {
		cli_print_next_of_program(c, t);
	}
}

int
cmd_codegen(struct cli *c)
{
	struct tirc_program_options o = { .schedule = c->schedule,
					  .header = c->out != NULL,
					  .notes = !c->quiet };
	struct tirc *t;
	bool ok;

	c->has_summary = c->out != NULL;
	t = cli_program(c);
	if (t == NULL) {
		return CLI_BUG;
	}
	if (!cli_is_program(c->model)) {
		tirc_free(t);
		return CLI_USAGE;
	}
	ok = tirc_program_sources(t, c->model, &o);
	if (ok && c->out != NULL) {
		cleanup_watch_output(c->out);
		ok = tirc_write_sources(t, c->out);
	}
	cli_messages(t);
	for (int i = 0; ok && c->out == NULL && i < tirc_source_count(t); i++) {
		say_lines(stdout, tirc_source(t, i).text);
	}
	if (ok && c->out != NULL && !c->quiet) {
		print_summary(c, t);
	}
	tirc_free(t);
	return ok ? CLI_DONE : CLI_INPUT;
}
