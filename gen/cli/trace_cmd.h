/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the verb compare share. */
#ifndef TIRC_TRACE_CMD_H
#define TIRC_TRACE_CMD_H

#include "compare.h"
#include "traces.h"

/* Two runs, tensor by tensor. */
struct two_runs {
	struct cli *cli;
	struct arena *a;
	const char *where; /* "run 1" */
	/* the tensors that both have, in the order of the run */
	VEC(struct pair) pairs;
	VEC(const char *) writers; /* of each: "kernel conv1 (node Conv …)" */
	/* tensors of the trace that the other side does not have */
	VEC(const char *) alone;
	/* How the trace is another run from some tensor on, which is not in
	 * `pairs`; or NULL. */
	const char *parts;
};

/* cmd_compare.c: prints how two runs compare. Returns whether they are equal,
 * within the tolerances. */
bool two_runs_report(const struct two_runs *t);

/* trace_model.c: compares each run of the trace with the interpreter. c->model is
 * the model. Sets *differ if a tensor differs. False after an error message. */
bool trace_against_model(struct cli *c, const struct trace *trace,
			 bool *differ);

#endif
