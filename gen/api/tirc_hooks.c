/* SPDX-License-Identifier: Apache-2.0 */
/* The list of passes, and the options about it: printing, timing, skipping and
 * adding passes. */
#include <string.h>

#include "lower.h"
#include "text.h"
#include "tirc_context.h"

/* -- the passes, as a list: import, the graph passes, schedule, the lowering
 * passes -- */

int
tirc_pass_count(void)
{
	int graph, lower;

	graph_passes(&graph);
	lower_passes(&lower);
	return 1 + graph + 1 + lower;
}

struct pass_row {
	const char *name, *what;
	bool needed;
};

static struct pass_row
pass_row(int i)
{
	int n_graph, n_lower;
	const struct graph_pass *graph = graph_passes(&n_graph);
	const struct lower_pass *lower = lower_passes(&n_lower);

	if (i == 0) {
		return (struct pass_row){ "import", "the model as it was read",
					  true };
	}
	i--;
	if (i < n_graph) {
		return (struct pass_row){ graph[i].name, graph[i].what,
					  graph[i].needed };
	}
	i -= n_graph;
	if (i == 0) {
		return (struct pass_row){ "schedule",
					  "default schedule of each kernel",
					  true };
	}
	return (struct pass_row){ lower[i - 1].name, lower[i - 1].what,
				  lower[i - 1].needed };
}

const char *
tirc_pass_name(int i)
{
	return pass_row(i).name;
}

const char *
tirc_pass_what(int i)
{
	return pass_row(i).what;
}

bool
tirc_pass_needed(int i)
{
	return pass_row(i).needed;
}

/* -- checks -- */

static bool
find_pass(const char *name, bool *needed)
{
	for (int i = 0; i < tirc_pass_count(); i++) {
		if (strcmp(tirc_pass_name(i), name) == 0) {
			*needed = tirc_pass_needed(i);
			return true;
		}
	}
	return false;
}

static bool
unknown_pass(struct tirc *t, const char *option, const char *name,
	     const char *also)
{
	struct arena *a = &t->m->arena;
	int n = tirc_pass_count();
	const char **names = arena_array(a, const char *, n + 1);
	const char *near;

	for (int i = 0; i < n; i++) {
		names[i] = tirc_pass_name(i);
	}
	near = text_nearest(name, names, n);
	return context_bad_option(
		t, option, name,
		arena_printf(a,
			     "the name of a pass (`tirc passes` "
			     "lists them)%s%s%s",
			     also, near != NULL ? "; did you mean " : "",
			     near != NULL ? near : ""));
}

static bool
check_names(struct tirc *t)
{
	const struct tirc_options *o = &t->options;
	bool needed;

	for (int i = 0; i < o->n_print_after; i++) {
		if (strcmp(o->print_after[i], "all") != 0 &&
		    !find_pass(o->print_after[i], &needed)) {
			return unknown_pass(t, "--print-after",
					    o->print_after[i], " or all");
		}
	}
	for (int i = 0; i < o->n_disable_passes; i++) {
		if (!find_pass(o->disable_passes[i], &needed)) {
			return unknown_pass(t, "--disable-pass",
					    o->disable_passes[i], "");
		}
		if (needed) {
			return context_bad_option(
				t, "--disable-pass", o->disable_passes[i],
				"a pass that is not required");
		}
	}
	return true;
}

static bool
open_passes(struct tirc *t)
{
	if (t->passes_open) {
		return true;
	}
	t->passes_open = true;
	for (int i = 0; i < t->options.n_add_passes; i++) {
		struct user_pass pass = { 0 };
		bool ok = add_pass_open(t->m, t->options.add_passes[i], &pass);

		vec_push(&t->m->arena, &t->passes, pass);
		if (!ok) {
			return false;
		}
	}
	return true;
}

void
context_close_passes(struct tirc *t)
{
	for (int i = 0; i < t->passes.n; i++) {
		add_pass_close(&t->passes.data[i]);
	}
}

/* -- the hooks -- */

static bool
wants_text(const struct tirc *t, const char *pass)
{
	if (t->options.print == NULL) {
		return false;
	}
	for (int i = 0; i < t->options.n_print_after; i++) {
		if (strcmp(t->options.print_after[i], "all") == 0 ||
		    strcmp(t->options.print_after[i], pass) == 0) {
			return true;
		}
	}
	return false;
}

static void
print(struct tirc *t, const char *pass, struct strbuf *text)
{
	t->options.print(t->options.print_ctx, pass,
			 text->data != NULL ? text->data : "");
	strbuf_release(text);
}

static void
after_graph(void *ctx, const char *pass, const struct graph *g)
{
	struct tirc *t = ctx;
	struct strbuf text;

	if (wants_text(t, pass)) {
		strbuf_init(&text);
		graph_print(g, &text);
		print(t, pass, &text);
	}
}

static void
after_func(void *ctx, const char *pass, const struct func *f)
{
	struct tirc *t = ctx;
	struct strbuf text;

	if (wants_text(t, pass)) {
		strbuf_init(&text);
		func_print(f, SCRIPT_CURRENT, &text);
		print(t, pass, &text);
	}
}

static void
after_phase(void *ctx, int phase, const struct func *f)
{
	struct tirc *t = ctx;
	struct strbuf text;

	for (int i = 0; i < t->options.n_print_phases; i++) {
		if (t->options.print_phases[i] == phase &&
		    t->options.print != NULL) {
			strbuf_init(&text);
			func_print(f, SCRIPT_CURRENT, &text);
			print(t, arena_printf(&t->m->arena, "phase %d", phase),
			      &text);
		}
	}
}

static void
took(void *ctx, const char *pass, double seconds)
{
	struct tirc *t = ctx;
	int i = 0;

	while (i < t->timings.n && strcmp(t->timings.data[i].pass, pass) != 0) {
		i++;
	}
	if (i == t->timings.n) {
		struct tirc_timing row = { .pass = pass };

		vec_push(&t->m->arena, &t->timings, row);
	}
	t->timings.data[i].runs++;
	t->timings.data[i].seconds += seconds;
}

/* Schedules a kernel by hand, or with a record. */
static enum hook_schedule
schedule(void *ctx, const struct kernel *k, struct sched *s, const char **words)
{
	enum hook_schedule done = context_schedule(ctx, k, s);

	return done != HOOK_SCHEDULE_NONE
		       ? done
		       : context_schedule_record(ctx, k, s, words);
}

bool
context_hooks(struct tirc *t, struct pass_hooks *out)
{
	if (!check_names(t) || !open_passes(t) || !context_schedules(t) ||
	    !context_records(t)) {
		return false;
	}
	*out = (struct pass_hooks){
		.ctx = t,
		.schedule = t->by_hand.n + t->records.list.n > 0 ? schedule
								 : NULL,
		.after_rules = context_after_rules,
		.after_graph = after_graph,
		.after_func = t->options.n_print_after > 0 ? after_func : NULL,
		.after_phase = t->options.n_print_phases > 0 ? after_phase
							     : NULL,
		.took = t->options.time_passes ? took : NULL,
		.disabled = t->options.disable_passes,
		.n_disabled = t->options.n_disable_passes,
		.added = t->passes.data,
		.n_added = t->passes.n,
		.traced = t->options.trace,
	};
	return true;
}

int
tirc_timing_count(const struct tirc *t)
{
	return t->timings.n;
}

struct tirc_timing
tirc_timing(const struct tirc *t, int i)
{
	return t->timings.data[i];
}
