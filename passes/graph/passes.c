/* SPDX-License-Identifier: Apache-2.0 */
/* The pass manager of graphs: runs the rows of passes.def in order, the
 * cleaning passes to a fixed point. */
#include "passes.h"

#include "graph_text.h"
#include "rewrite.h"
#include "script.h"

enum stage { CLEAN, ONCE, REGIONS, CHOICE, GROUP };

#define MAX_ROUNDS 16

static const struct graph_pass rows[] = {
#define PASS(id, name, what, stage)                                            \
	{ name, what, stage == REGIONS || stage == GROUP, graph_##id },
#include "passes.def"
#undef PASS
};

static const enum stage stages[] = {
#define PASS(id, name, what, stage) stage,
#include "passes.def"
#undef PASS
};

#define N_ROWS ((int)(sizeof rows / sizeof *rows))

const struct graph_pass *
graph_passes(int *n)
{
	*n = N_ROWS;
	return rows;
}

/* Runs the passes of the rows whose stage is from `first` to `last`, in the
 * order of the rows. False after a diagnostic. */
static bool
run_stages(struct graph *g, enum stage first, enum stage last,
	   const struct pass_hooks *hooks)
{
	for (int i = 0; i < N_ROWS; i++) {
		double start = hooks_start(hooks);

		if (stages[i] < first || stages[i] > last ||
		    hooks_disable(hooks, rows[i].name)) {
			continue;
		}
		if (!rows[i].run(g) ||
		    !quota_check_memory(g->module,
					(struct diag_place){ .file = g->file },
					0) ||
		    (TIRC_VERIFY && !graph_verify(g)) ||
		    (TIRC_VERIFY_TEXT && !graph_verify_text(g))) {
			return false;
		}
		hooks_took(hooks, rows[i].name, start);
		if (hooks && hooks->after_graph) {
			hooks->after_graph(hooks->ctx, rows[i].name, g);
		}
		if (hooks && hooks->ends_graph &&
		    hooks->ends_graph(hooks->ctx, rows[i].name)) {
			return false;
		}
	}
	return true;
}

bool
graph_to_partition(struct graph *g, const struct pass_hooks *hooks)
{
	for (int round = 0; round < MAX_ROUNDS; round++) {
		int before = g->edits;

		if (!run_stages(g, CLEAN, CLEAN, hooks)) {
			return false;
		}
		if (g->edits == before) {
			break;
		}
	}
	return run_stages(g, ONCE, REGIONS, hooks);
}

bool
graph_to_groups(struct graph *g, const struct pass_hooks *hooks)
{
	return run_stages(g, CHOICE, GROUP, hooks);
}

bool
graph_optimize(struct graph *g, const struct pass_hooks *hooks)
{
	return graph_to_partition(g, hooks) && graph_to_groups(g, hooks);
}
