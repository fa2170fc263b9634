/* SPDX-License-Identifier: Apache-2.0 */
/* The last line of the summary of `tirc compile`: the next step for a new
 * user. */
#include <string.h>

#include "options.h"
#include "process.h"

/* Does this option of `tirc compile` change the source, so that `tirc test`
 * must get it, too? True for the options that `tirc test` accepts, except those
 * about messages and output. */
static bool
is_of_source(int id)
{
	int n;
	const struct option_row *rows = cli_option_rows(&n);

	switch (id) {
	case OPT_QUIET:
	case OPT_FORCE:
	case OPT_PRINT_AFTER:
	case OPT_PRINT_PHASE:
	case OPT_TIME_PASSES:
		return false;
	default:
		break;
	}
	for (int i = 0; i < n; i++) {
		if ((int)rows[i].id == id && (rows[i].verbs & TEST) != 0) {
			return true;
		}
	}
	return false;
}

/* Can `tirc test` build and run the source on this machine? False if a vendor's
 * compiler builds it for a processor without a simulator. */
static bool
can_test(struct tirc_summary s)
{
	return strcmp(s.cc, "cc") == 0 || s.simulator != NULL;
}

/* Prints the command `tirc test` that builds the same source and compares its
 * results. */
static void
print_test(const struct cli *c, struct tirc *t)
{
	struct arena a;

	arena_init(&a);
	say(stdout, "next     tirc test %s", command_quoted(&a, c->model));
	for (int i = 0; i < c->n_given; i++) {
		if (is_of_source(c->given[i].id)) {
			say(stdout, " %s", c->given[i].words);
		}
	}
	if (c->tirc.target == NULL && !tirc_is_partition(c->model)) {
		say(stdout, " --target %s", tirc_target_default(t));
	}
	say(stdout, "\n");
	arena_release(&a);
}

void
cli_print_next(const struct cli *c, struct tirc *t)
{
	struct tirc_summary s = tirc_summary(t);

	if (s.next != NULL) {
		struct arena a;

		arena_init(&a);
		say(stdout, "next     cd %s && %s\n",
		    command_quoted(&a, c->out), s.next);
		arena_release(&a);
	} else if (can_test(s) && c->tirc.package == NULL) {
		print_test(c, t);
	} else {
		say(stdout, "next     %s.h declares %s_run() and the rest\n",
		    s.name, s.name);
	}
}
