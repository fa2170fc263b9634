/* SPDX-License-Identifier: Apache-2.0 */
/* The runner "replay": takes measurements from a file of records and does not
 * run anything. */
#include <string.h>

#include "tune_runner.h"
#include "tuning.h"

struct replay {
	struct tune_model model;
	struct records records;
};

static const char *
measure(void *ctx, struct arena *a, const struct tune_job *candidate,
	const struct tune_job *rules, struct measurement *out)
{
	const struct replay *p = ctx;

	(void)a;
	(void)rules;
	for (int i = 0; i < p->records.list.n; i++) {
		const struct record *r = &p->records.list.data[i];

		if (r->trace == NULL ||
		    strcmp(r->workload, candidate->task->workload) != 0 ||
		    strcmp(r->facts, p->model.facts) != 0 ||
		    strcmp(r->trace, candidate->trace) != 0) {
			continue;
		}
		out->machine = r->machine;
		out->compiler = r->compiler;
		out->unit = r->unit;
		out->rounds = r->rounds;
		out->n_rounds = r->n_rounds;
		return r->error;
	}
	return "no record of this schedule is replayed";
}

struct tune_runner
tune_runner_replay(struct harness *h, const char *file)
{
	struct replay *p = arena_new(&h->m->arena, struct replay);
	struct tune_runner r = { .ctx = p, .measure = measure };

	tirc_tune_model(h->t, &p->model);
	if (!records_read(tirc_module(h->t), file, &p->records)) {
		r.ctx = NULL;
	}
	return r;
}
