/* SPDX-License-Identifier: Apache-2.0 */
/* tirc partition: the cleaned graph and its regions, as JSON. */
#include "cli.h"

int
cmd_partition(struct cli *c)
{
	struct tirc *t = cli_open(c);
	bool ok;

	if (t == NULL) {
		return CLI_INPUT;
	}
	ok = tirc_partition(t) &&
	     (c->out == NULL || tirc_write_partition(t, c->out));
	cli_messages(t);
	cli_timings(t);
	tirc_free(t);
	return ok ? CLI_DONE : CLI_INPUT;
}
