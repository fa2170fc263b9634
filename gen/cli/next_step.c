/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the last line of a summary, which tells a new user the next step. */
#include <string.h>

#include "options.h"
#include "process.h"

/* If `tirc compile` or `tirc codegen` had this option, does `tirc test` need
 * it, too, to build the same source? It needs all such options that it accepts,
 * except options about messages and output. test: TEST or TEST_PROGRAM. */
static bool
is_of_source(int id, int test)
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
		if ((int)rows[i].id == id && (rows[i].verbs & test) != 0) {
			return true;
		}
	}
	return false;
}

bool
cli_is_of_model(int option)
{
	switch (option) {
	case OPT_OUT:
	case OPT_SEED:
	case OPT_RECORDS:
	case OPT_CC:
	case OPT_CFLAGS:
		return false;
	default:
		return is_of_source(option, COMPILE);
	}
}

static bool
is_graph(const struct cli *c)
{
	return c->tirc.form != NULL && strcmp(c->tirc.form, "graph") == 0;
}

/* Can `tirc test` build and run the source on this machine? Not if a vendor's
 * compiler builds the source for a processor for which tirc knows no simulator,
 * and not for a graph whose executor does not run on simulated boards. */
static bool
can_test(const struct cli *c, struct tirc_summary s)
{
	return s.simulator != NULL ? !is_graph(c) : strcmp(s.cc, "cc") == 0;
}

/* Prints the command that builds the same source and compares its results. The
 * line is left open, so that the caller can add options. */
static void
print_test(const struct cli *c, int test)
{
	struct arena a;

	arena_init(&a);
	say(stdout, "next     tirc test %s", command_quoted(&a, c->model));
	for (int i = 0; i < c->n_given; i++) {
		if (is_of_source(c->given[i].id, test)) {
			say(stdout, " %s", c->given[i].words);
		}
	}
	arena_release(&a);
}

void
cli_print_next_of_program(const struct cli *c, struct tirc *t)
{
	if (can_test(c, tirc_summary(t))) {
		print_test(c, TEST_PROGRAM);
		say(stdout, "\n");
	}
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
	} else if (can_test(c, s) && c->tirc.package == NULL) {
		print_test(c, TEST);
		if (c->tirc.target == NULL && !tirc_is_partition(c->model)) {
			say(stdout, " --target %s", tirc_target_default(t));
		}
		say(stdout, "\n");
	} else if (is_graph(c)) {
		say(stdout,
		    "next     the executor of runtime-c runs %s_graph.json; "
		    "see docs/how-to/graph-form.md\n",
		    s.name);
	} else {
		say(stdout, "next     %s.h declares %s_run() and the rest\n",
		    s.name, s.name);
	}
}
