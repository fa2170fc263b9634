/* SPDX-License-Identifier: Apache-2.0 */
/* tirc partition: prints the graph with its regions of backends as a summary,
 * node by node, or as JSON. */
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "cli.h"

/* The summary shows at most this many regions, those with the most work. */
enum { SHOWN = 10 };

static int
by_work(const void *a, const void *b)
{
	const struct tirc_region *x = a, *y = b;

	return x->macs > y->macs   ? -1
	       : x->macs < y->macs ? 1
				   : y->nodes - x->nodes;
}

static void
print_regions(struct tirc *t, int64_t macs)
{
	int n = tirc_region_count(t);
	struct tirc_region *all = calloc((size_t)n + 1, sizeof *all);
	char count[32];

	for (int i = 0; all != NULL && i < n; i++) {
		all[i] = tirc_region(t, i);
	}
	if (all == NULL) {
		return;
	}
	qsort(all, (size_t)n, sizeof *all, by_work);
	for (int i = 0; i < n && i < SHOWN; i++) {
		say(stdout,
		    "%-12s %3d nodes, %sMAC (%.1f %%), %d in, %d out: "
		    "%s\n",
		    all[i].name, all[i].nodes,
		    style_count(count, (double)all[i].macs),
		    macs > 0 ? 100 * (double)all[i].macs / (double)macs : 0.0,
		    all[i].inputs, all[i].outputs, all[i].what);
	}
	if (n > SHOWN) {
		say(stdout, "and %d more regions of less work\n", n - SHOWN);
	}
	free(all);
}

static void
print_shares(struct tirc *t)
{
	struct tirc_shares s = tirc_shares(t);
	char part[32], whole[32];
	int n = tirc_region_count(t);

	say(stdout,
	    "%d region%s: %d of %d nodes (%.1f %%), %s of %sMAC "
	    "(%.1f %%)\n",
	    n, n == 1 ? "" : "s", s.region_nodes, s.nodes,
	    s.nodes > 0 ? 100.0 * s.region_nodes / s.nodes : 0.0,
	    style_count(part, (double)s.region_macs),
	    style_count(whole, (double)s.macs),
	    s.macs > 0 ? 100 * (double)s.region_macs / (double)s.macs : 0.0);
	print_regions(t, s.macs);
}

void
cli_note_backends(struct tirc *t)
{
	for (int i = 0; i < tirc_region_count(t); i++) {
		struct tirc_region r = tirc_region(t, i);
		bool said = r.differs == NULL;

		for (int k = 0; k < i && !said; k++) {
			said = strcmp(tirc_region(t, k).backend, r.backend) ==
			       0;
		}
		if (!said) {
			cli_note("results of the backend %s: %s", r.backend,
				 r.differs);
		}
	}
}

int
cmd_partition(struct cli *c)
{
	struct tirc *t = cli_open(c);
	bool ok;

	if (t == NULL) {
		return CLI_INPUT;
	}
	if (c->out != NULL) {
		cleanup_watch_output(c->out);
	}
	ok = tirc_partition(t) &&
	     (c->out == NULL || tirc_write_partition(t, c->out));
	cli_messages(t);
	cli_timings(t);
	if (ok && c->tirc.explain) {
		say_lines(stdout, tirc_explain(t));
	}
	if (ok && !c->quiet && !c->tirc.explain) {
		print_shares(t);
		cli_note_backends(t);
	}
	if (ok && !c->quiet && c->out != NULL) {
		say(stdout, "written: %s\n", c->out);
	}
	tirc_free(t);
	return ok ? CLI_DONE : CLI_INPUT;
}
