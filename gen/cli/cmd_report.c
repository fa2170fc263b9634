/* SPDX-License-Identifier: Apache-2.0 */
/* tirc report: writes a report with the facts about the emitted source that a
 * reviewer needs. */
#include "cleanup.h"
#include "cli.h"

int
cmd_report(struct cli *c)
{
	struct tirc *t = cli_open(c);
	const char *text = NULL;
	bool ok;

	if (t == NULL) {
		return CLI_INPUT;
	}
	if (c->out != NULL) {
		cleanup_watch_output(c->out);
	}
	ok = tirc_compile(t);
	if (ok && c->out != NULL) {
		ok = tirc_write_report(t, c->out, c->markdown);
	} else if (ok) {
		text = tirc_report(t, c->markdown);
		ok = text != NULL;
	}
	cli_messages(t);
	cli_timings(t);
	if (text != NULL) {
		say_lines(stdout, text);
	}
	if (ok && !c->quiet && c->out != NULL) {
		say(stdout, "written: %s\n", c->out);
	}
	tirc_free(t);
	return ok ? CLI_DONE : CLI_INPUT;
}
