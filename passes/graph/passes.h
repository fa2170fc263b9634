/* SPDX-License-Identifier: Apache-2.0 */
/* Graph passes: each row of passes.def is one file, one function. */
#ifndef TIRC_GRAPH_PASSES_H
#define TIRC_GRAPH_PASSES_H

#include "graph.h"
#include "target.h"

struct graph_pass {
	const char *name; /* as --print-after takes it */
	const char *what; /* one line of help */
	bool (*run)(struct graph *g);
};

const struct graph_pass *graph_passes(int *n);

struct sched;

enum hook_schedule {
	HOOK_SCHEDULE_NONE,  /* leave it to the rules */
	HOOK_SCHEDULE_DONE,
	HOOK_SCHEDULE_FAILED /* reported on the module's diags */
};

struct pass_hooks {
	void *ctx;
	/* NULL, or: schedules a kernel in place of the rules. s holds its
	 * function as its operators define it. */
	enum hook_schedule (*schedule)(void *ctx, const char *kernel,
				       struct sched *s);
	/* Called after each pass, for --print-after and the verifier. */
	void (*after_graph)(void *ctx, const char *pass, const struct graph *g);
	void (*after_func)(void *ctx, const char *pass, const struct func *f);
};

/* Runs all passes in order, repeats the cleaning ones to a fixed point, then
 * fuses into groups. */
bool graph_optimize(struct graph *g, const struct pass_hooks *hooks);

/* A constant's bytes. If it has a recipe, evaluates it (and keeps the result
 * as t->value): use for small ones; weights go through const_stream. */
const struct value *tensor_value(struct graph *g, struct tensor *t);
/* The TE of a constant: a placeholder per source tensor that has bytes,
 * recipes as stages over them. sources: the tensors behind the placeholders,
 * in the order found. */
struct te_tensor *tensor_const_te(struct graph *g, struct tensor *t,
				  struct tensor ***sources,
				  struct te_tensor ***placeholders,
				  int *n_sources);

#endif
