/* SPDX-License-Identifier: Apache-2.0 */
/* A model, or a kernel, after some of the passes, for tirc bisect. */
#include <limits.h>

#include "bisecting.h"
#include "tirc_context.h"

struct graph *
tirc_graph(struct tirc *t)
{
	return t->graph;
}

void
tirc_run_nodes_by(struct tirc *t,
		  bool (*run)(void *ctx, struct graph *g, const struct node *n),
		  void *ctx)
{
	t->run_node = run;
	t->run_node_ctx = ctx;
}

static bool
ends_graph(void *ctx, const char *pass)
{
	struct tirc *t = ctx;

	vec_push(&t->m->arena, &t->pass_runs, pass);
	return t->pass_runs.n >= t->most_runs;
}

int
tirc_graph_passes(struct tirc *t, int most, const char *const **names)
{
	struct pass_hooks hooks;
	bool done;

	t->most_runs = most;
	t->pass_runs.n = 0;
	if (!context_hooks(t, &hooks) || !context_prepare(t)) {
		return -1;
	}
	hooks.ends_graph = ends_graph;
	done = most <= 0 ||
	       ((t->partitioned || graph_to_partition(t->graph, &hooks)) &&
		graph_to_groups(t->graph, &hooks));
	*names = t->pass_runs.data;
	return done || t->pass_runs.n >= most ? t->pass_runs.n : -1;
}

/* The caller's function, beside the context to which the other hooks belong. */
struct observing {
	void (*after)(void *ctx, const char *pass, const struct func *f);
	void *ctx;
	struct pass_hooks own;
};

static enum hook_schedule
schedule(void *ctx, const struct kernel *k, struct sched *s, const char **words)
{
	struct observing *o = ctx;

	return o->own.schedule(o->own.ctx, k, s, words);
}

static bool
after_rules(void *ctx, const char *kernel, struct func *f)
{
	struct observing *o = ctx;

	return o->own.after_rules(o->own.ctx, kernel, f);
}

static void
after_func(void *ctx, const char *pass, const struct func *f)
{
	struct observing *o = ctx;

	o->after(o->ctx, pass, f);
}

bool
tirc_lower_again(struct tirc *t, const struct kernel *k,
		 void (*after)(void *ctx, const char *pass,
			       const struct func *f),
		 void *ctx, struct kernel_again *out)
{
	struct observing o = { .after = after, .ctx = ctx };
	struct pass_hooks hooks;

	if (!context_hooks(t, &o.own)) {
		return false;
	}
	hooks = (struct pass_hooks){
		.ctx = &o,
		.schedule = o.own.schedule != NULL ? schedule : NULL,
		.after_rules = after_rules,
		.after_func = after_func,
		.disabled = o.own.disabled,
		.n_disabled = o.own.n_disabled,
		.added = o.own.added,
		.n_added = o.own.n_added,
	};
	return kernel_again(&t->program, k, out) &&
	       kernel_again_observed(&t->program, out, &hooks);
}
