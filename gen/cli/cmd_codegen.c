/* SPDX-License-Identifier: Apache-2.0 */
/* tirc codegen: the source of a tensor program's functions. */
#include "cleanup.h"
#include "cli.h"

int
cmd_codegen(struct cli *c)
{
	struct tirc *t = cli_program(c);
	struct tirc_program_options o = { .schedule = c->schedule,
					  .header = c->out != NULL };
	bool ok;

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
	tirc_free(t);
	return ok ? CLI_DONE : CLI_INPUT;
}
